/* cmd_replay.c - runs a trace in virtual time, and prints a summary. */
#include "cli_text.h"
#include "command.h"
#include "progress.h"

#include "obs/log.h"
#include "replay/compare.h"
#include "replay/replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct watch {
    progress bar;
    double   began_s;
} watch;

static double now_s(void) {
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void progressed(void *context, int64_t done_ms, int64_t total_ms) {
    watch       *w = context;
    const double spent_s = now_s() - w->began_s, done = (double)done_ms / (double)total_ms;
    char         said[96];

    (void)snprintf(said, sizeof said,
                   "hours simulated, %.0f times as fast as real time, %.0f s left",
                   (double)done_ms / 1e3 / (spent_s > 0 ? spent_s : 1),
                   done > 0 ? spent_s / done - spent_s : 0.0);
    w->bar.total = total_ms;
    progress_at(&w->bar, done_ms, done_ms / 3600000, said);
}

/* Splits "a=1,b=2" in place. For free(); NULL: out of memory. */
static const char **sets_of(char *text, size_t *out_len) {
    const char **sets = calloc(strlen(text) + 1, sizeof *sets);
    char        *rest = text;

    *out_len = 0;
    for (char *one; sets && (one = strsep(&rest, ","));) sets[(*out_len)++] = one;
    return sets;
}

static json_t *json_of(const replay_result *r, const compare *beside, double took_s) {
    json_t *violations = json_array(), *all;

    for (size_t i = 0; i < r->violation_texts_len; i++)
        (void)json_array_append_new(violations, json_string(r->violation_texts[i]));
    all = json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:o}", "users", (json_int_t)r->users, "days",
        (json_int_t)r->days, "success", (json_int_t)r->totals.success, "cutoff_reached",
        (json_int_t)r->totals.cutoff_reached, "late_success", (json_int_t)r->totals.late_success,
        "missed", (json_int_t)r->totals.missed, "starts", (json_int_t)r->totals.starts,
        "simulated_ms", (json_int_t)r->simulated_ms, "took_s", took_s, "invariant_violations",
        violations);
    if (beside) (void)json_object_set_new(all, "compare", compare_json(beside));
    return all;
}

static void print_count(uint64_t n, const char *one, const char *several, const char *after) {
    printf("%llu %s%s", (unsigned long long)n, n == 1 ? one : several, after);
}

static void print(const replay_result *r, const char *out, double took_s) {
    const uint64_t ended = r->totals.success + r->totals.cutoff_reached + r->totals.missed;

    print_count(r->users, "user", "users", ", ");
    print_count(r->days, "day", "days", ": ");
    print_count(r->totals.success, "success", "successes", ", ");
    print_count(r->totals.cutoff_reached, "cutoff", "cutoffs", ", ");
    print_count(r->totals.missed, "missed", "missed", " (");
    print_count(r->totals.late_success, "late success", "late successes", "), ");
    print_count(r->totals.starts, "start", "starts", "\n");
    printf("%.1f hours in %.2f s: %.0f user-days a second\n", (double)r->simulated_ms / 3.6e6,
           took_s, (double)ended / (took_s > 0 ? took_s : 1));
    if (out)
        printf("report: %s/report.html (beside it events.ndjson, users.ndjson and summary.json)\n",
               out);
    if (r->violations == 0) return;
    print_count(r->violations, "invariant violation", "invariant violations", "; the first:\n");
    for (size_t i = 0; i < r->violation_texts_len && i < 10; i++)
        printf("  %s\n", r->violation_texts[i]);
}

static int seed_of(const call *c, uint64_t *out_seed) {
    const char *text = call_flag(c, "seed");

    *out_seed = 0;
    if (!text || text_whole(text, "", out_seed)) return DN_EXIT_DONE;
    return complain(
        DN_EXIT_USAGE,
        "--seed: invalid number \"%.64s\"; use a whole number below 2^64, for example 1 or 0x1f",
        text);
}

/* Without --compare, *out_compare stays NULL. */
static int open_compare(const call *c, compare **out_compare) {
    const char *other = call_flag(c, "compare"), *out = call_flag(c, "out");
    char        why[COMPARE_WHY];

    if (!other) return DN_EXIT_DONE;
    if (!out)
        return complain(DN_EXIT_USAGE, "--compare: needs the files of this run; add --out DIR");
    const int rc = compare_open(other, out, out_compare, why);
    if (rc == DN_OK) return DN_EXIT_DONE;
    return complain(rc == DN_EINVAL ? DN_EXIT_USAGE : DN_EXIT_FAILED, "--compare: %s", why);
}

/* Prints the result of the run, and of the comparison if there is one. */
static int say(const call *c, const replay *run, compare *beside, const char *out, double took_s) {
    const replay_result *result = replay_result_borrow(run);
    char                 why[COMPARE_WHY];
    int                  code = DN_EXIT_DONE;

    const int rc = beside ? compare_read(beside, why) : DN_OK;
    if (rc < 0) beside = NULL;
    if (c->json) code = print_json(json_of(result, beside, took_s));
    else print(result, out, took_s);
    if (beside && !c->json) compare_print(beside, stdout);
    if (rc < 0)
        code = complain(rc == DN_EINVAL ? DN_EXIT_USAGE : DN_EXIT_FAILED, "--compare: %s", why);
    return code == DN_EXIT_DONE && result->violations > 0 ? DN_EXIT_VIOLATED : code;
}

static int run(const call *c, replay_config *config, compare *beside) {
    watch        w = {.began_s = now_s()};
    replay      *run = NULL;
    char         why[REPLAY_WHY];
    const char  *flag = call_flag(c, "set");
    char        *set = flag ? strdup(flag) : NULL;
    const char **sets = set ? sets_of(set, &config->sets_len) : NULL;

    if (flag && !sets) {
        free(set);
        return complain(DN_EXIT_FAILED, "out of memory");
    }
    config->sets = sets;
    progress_begin(&w.bar, 0);
    if (w.bar.shown || call_flag(c, "progress")) {
        w.bar.shown = true;
        config->progress = progressed;
        config->context = &w; /* cppcheck-suppress autoVariables; unused after the run */
    }
    const int rc = replay_run(config, &run, why);
    progress_end(&w.bar);
    free(sets);
    free(set);
    if (rc < 0) return complain(rc == DN_EINVAL ? DN_EXIT_USAGE : DN_EXIT_FAILED, "%s", why);
    const int code = say(c, run, beside, config->out, now_s() - w.began_s);
    replay_free(run);
    return code;
}

int cmd_replay(const call *c) {
    replay_config config = {
        .trace = c->operands[0],
        .out = call_flag(c, "out"),
        .version = DIURNAL_VERSION,
    };
    compare *beside = NULL;
    int      code = seed_of(c, &config.seed);

    if (config.out && *config.out == '\0')
        code = complain(DN_EXIT_USAGE, "--out: the name is empty; name a directory for the files");
    if (code == DN_EXIT_DONE) code = open_compare(c, &beside);
    if (code != DN_EXIT_DONE) return code;
    dn_log_threshold(DN_LOG_NONE); /* the log would be of simulated days: events.ndjson has them */
    code = run(c, &config, beside);
    compare_free(beside);
    return code;
}
