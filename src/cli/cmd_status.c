/* cmd_status.c - prints the state of the daemon. */
#include "client.h"

#include "api/words.h"

#include <stdio.h>
#include <string.h>

static json_int_t number(const json_t *answer, const char *part, const char *key) {
    return json_integer_value(json_object_get(json_object_get(answer, part), key));
}

static const char *text(const json_t *answer, const char *part, const char *key) {
    const char *value = json_string_value(json_object_get(json_object_get(answer, part), key));

    return value ? value : "-";
}

static int64_t instant(const json_t *answer, const char *part, const char *key) {
    const char *value = text(answer, part, key);
    int64_t     ms = 0;

    (void)!dn_instant_read(value, strlen(value), &ms);
    return ms;
}

/* "WARNING:  job_latency: p95 301 ms over the last minute, limit 100 ms; worst at 08:00" */
static void print_slo(const json_t *slo) {
    const char *const name = json_string_value(json_object_get(slo, "name"));
    const char *const sentence = json_string_value(json_object_get(slo, "sentence"));
    const char *const due = json_string_value(json_object_get(slo, "worst_due"));

    printf("WARNING:  %s: %s%s%s\n", name ? name : "-", sentence ? sentence : "breached",
           due ? "; worst at " : "", due ? due : "");
}

/* A line for each breached SLO; if there is none, one line for all. */
static void print_slos(const json_t *slos) {
    size_t  i, measured = 0, breached = 0;
    json_t *slo;

    if (!json_is_array(slos)) {
        printf("SLOs:     unknown, because the SLO watcher is restarting\n");
        return;
    }
    json_array_foreach(slos, i, slo) {
        const char *const state = json_string_value(json_object_get(slo, "state"));
        measured += state && strcmp(state, "no_data") != 0;
        if (!state || strcmp(state, "breached") != 0) continue;
        breached++;
        print_slo(slo);
    }
    if (breached == 0)
        printf("SLOs:     %zu of %zu measured, none breached\n", measured, json_array_size(slos));
}

static void print_status(const json_t *a, const char *url) {
    const int64_t now_ms = instant(a, "daemon", "now");
    char          up[DN_WORDS], next[DN_WORDS];

    printf("diurnal %s, process %lld, up for %s\n", text(a, "daemon", "version"),
           (long long)number(a, "daemon", "pid"),
           dn_words_duration(now_ms - instant(a, "daemon", "started_at"), up));
    printf("data:     %s\n", text(a, "daemon", "data"));
    printf("runner:   %s\n", text(a, "daemon", "runner"));
    printf("listens:  %s://%s\n", strncmp(url, "https", 5) == 0 ? "https" : "http",
           text(a, "daemon", "listen"));
    printf("users:    %lld\n", (long long)number(a, "store", "users"));
    if (json_is_true(json_object_get(json_object_get(a, "tick"), "loaded")))
        printf(
            "tick:     every %lld ms; last took %lld us, %lld attempts, %lld cutoffs; next in %s\n",
            (long long)number(a, "daemon", "tick_ms"), (long long)number(a, "tick", "took_us"),
            (long long)number(a, "tick", "eligible_in_window"),
            (long long)number(a, "tick", "cutoff_finalized"),
            dn_words_duration(instant(a, "tick", "next_at") - now_ms, next));
    else printf("tick:     none yet, still loading users\n");
    printf("queue:    %lld waiting (peak %lld)\n", (long long)number(a, "queue", "queued"),
           (long long)number(a, "queue", "queued_peak"));
    printf("jobs:     %lld of %lld running; since the start %lld ok, %lld error, %lld timeout\n",
           (long long)number(a, "executor", "in_flight"),
           (long long)number(a, "executor", "max_concurrency"),
           (long long)number(a, "executor", "ok"), (long long)number(a, "executor", "error"),
           (long long)number(a, "executor", "timeout"));
    if (json_is_true(json_object_get(json_object_get(a, "store"), "full")))
        printf("store:    THE DISK IS FULL: %lld writes wait in memory; make room\n",
               (long long)number(a, "store", "waiting_writes"));
    else
        printf("store:    %lld writes in %lld commits\n", (long long)number(a, "store", "writes"),
               (long long)number(a, "store", "commits"));
    print_slos(json_object_get(a, "slo"));
}

int cmd_status(const call *c) {
    int exit_code = DN_EXIT_DONE;
    DN_AUTO(client) asked = client_of(c, &exit_code);

    if (!asked) return exit_code;
    json_t *answer = client_get(asked, "/api/v1/status", json_object(), "daemon", &exit_code);
    if (!answer) return exit_code;
    if (c->json) return print_json(answer);
    print_status(answer, client_url(asked));
    json_decref(answer);
    return DN_EXIT_DONE;
}
