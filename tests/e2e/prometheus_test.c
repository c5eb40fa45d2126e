/* prometheus_test.c - a real Prometheus (Debian's) beside a running daemon: it scrapes it every second for a minute, loads
 * our rules, and answers for every series and every rule.
 * The builds with a sanitizer do without it: what a long time shows is Prometheus' and not the daemon's. */
#define _GNU_SOURCE
#include "contract_metrics.h"
#include "place.h"

#include <ctype.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SCRAPES = 60 };

#define RECORDING "recording.rules.yml"
#define ALERTS    "alerts.rules.yml"

static place   *p;
static pid_t    prometheus;
static uint16_t port; /* its own */

/* ---- Starting it ---- */

static const char *path_in_place(const char *name) {
    static char path[PLACE_PATH];

    (void)snprintf(path, sizeof path, "%.400s/%s", p->dir, name);
    return path;
}

static char *rules_of(const char *name) {
    char path[PLACE_PATH];

    (void)snprintf(path, sizeof path, "%s/%s", DIURNAL_PROMETHEUS, name);
    char *text = place_read(path);
    CHECK_MSG(*text, "there is no %s", path);
    return text;
}

/* A copy of the rules that is evaluated each second: a minute would see them once, and too early. */
static void copy_rules(const char *name) {
    static const char slow[] = "interval: 1m\n", quick[] = "interval: 1s\n";
    char             *text = rules_of(name), *at = strstr(text, slow);

    if (at) memcpy(at, quick, sizeof quick - 1);
    (void)place_write(p, name, text, strlen(text));
}

static void starts_prometheus(void) {
    char config[1024], flags[3][PLACE_PATH + 64];

    copy_rules(RECORDING);
    copy_rules(ALERTS);
    const int len = snprintf(config, sizeof config,
                             "global: {scrape_interval: 1s, evaluation_interval: 1s}\n"
                             "rule_files: ['*.rules.yml']\n"
                             "scrape_configs:\n"
                             "  - job_name: diurnal\n"
                             "    static_configs: [{targets: ['127.0.0.1:%u']}]\n",
                             place_port(p));
    (void)snprintf(flags[0], sizeof flags[0], "--config.file=%s",
                   place_write(p, "prometheus.yml", config, (size_t)len));
    (void)snprintf(flags[1], sizeof flags[1], "--storage.tsdb.path=%s", path_in_place("tsdb"));
    (void)snprintf(flags[2], sizeof flags[2], "--web.listen-address=127.0.0.1:0");
    prometheus =
        place_begin_other(p, "prometheus", ARGS(flags[0], flags[1], flags[2]), "prometheus.log");
}

/* Its log names the port it was given. */
static bool is_listening(void) {
    static const char mark[] = "msg=\"Listening on\" address=127.0.0.1:";
    int               status;
    const char       *said = place_read(path_in_place("prometheus.log"));
    const char       *at = strstr(said, mark);

    if (waitpid(prometheus, &status, WNOHANG) == prometheus) {
        CHECK_MSG(!WIFEXITED(status) || WEXITSTATUS(status) != 127,
                  "there is no prometheus: ./dev test fetches it (Debian: prometheus)");
        CHECK_MSG(false, "prometheus has ended: %s", said);
    }
    if (!at || !strchr(at, '\n')) return false;
    port = (uint16_t)strtol(at + sizeof mark - 1, NULL, 10);
    return true;
}

static void ends_prometheus(void) {
    int status;

    CHECK(kill(prometheus, SIGTERM) == 0);
    CHECK(waitpid(prometheus, &status, 0) == prometheus);
    CHECK_MSG(WIFEXITED(status) && WEXITSTATUS(status) == 0, "prometheus: %s",
              place_read(path_in_place("prometheus.log")));
}

/* ---- Asking it ---- */

/* "data" of the answer of its API, or NULL while it does not answer. */
static json_t *data_at(const char *path) {
    const char *answer = place_gets_at(port, path), *body = strstr(answer, "\r\n\r\n");

    if (strncmp(answer, "HTTP/1.0 200", 12) != 0 || !body) return NULL;
    json_t *all = json_loads(body + 4, 0, NULL);
    CHECK_MSG(all, "no JSON: %s", body + 4);
    json_t *data = json_incref(json_object_get(all, "data"));
    json_decref(all);
    return data;
}

/* How many series the query has, and the value of the first. */
static size_t results_of(const char *query, double *out_value) {
    char   path[900] = "/api/v1/query?query=";
    size_t len = strlen(path);

    for (const char *c = query; *c; c++) {
        CHECK(len + 4 < sizeof path);
        len += (size_t)snprintf(path + len, 4, isalnum((unsigned char)*c) ? "%c" : "%%%02X",
                                (unsigned char)*c);
    }
    json_t      *data = data_at(path);
    const size_t n = json_array_size(json_object_get(data, "result"));
    if (n > 0 && out_value) {
        const json_t *first = json_array_get(json_object_get(data, "result"), 0);
        const char   *text = json_string_value(json_array_get(json_object_get(first, "value"), 1));
        CHECK(text);
        *out_value = strtod(text, NULL);
    }
    json_decref(data);
    return n;
}

static double value_of(const char *query) {
    double value = -1;

    (void)results_of(query, &value);
    return value;
}

/* ---- What is looked at ---- */

static void check_scrapes(void) {
    json_t       *data = data_at("/api/v1/targets");
    const json_t *targets = json_object_get(data, "activeTargets"),
                 *target = json_array_get(targets, 0);

    CHECK_INT(json_array_size(targets), 1);
    CHECK_STR(json_string_value(json_object_get(target, "lastError")), "");
    CHECK_STR(json_string_value(json_object_get(target, "health")), "up");
    json_decref(data);
    CHECK_INT(value_of("min_over_time(up{job=\"diurnal\"}[10m])"), 1);
    CHECK_INT(value_of("min_over_time(scrape_samples_scraped[10m]) > 0") > CONTRACT_METRICS, 1);
    CHECK(value_of("max_over_time(scrape_samples_scraped[10m])") <= 300);
}

/* Now, or soon: the share of a window that was watched grows with time. */
static void check_one(const char *query) {
    const int64_t until = mono_ms() + 60000;

    while (results_of(query, NULL) != 1) {
        CHECK_MSG(mono_ms() < until, "%zu series for %s", results_of(query, NULL), query);
        pause_ms(100);
    }
}

/* Those of the file, by the words before their names. */
static int check_each_record(const char *text) {
    static const char mark[] = "- record: ";
    char              name[128];
    int               n = 0;

    for (const char *at = text; (at = strstr(at, mark)); n++) {
        at += sizeof mark - 1;
        (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(at, "\n"), at);
        check_one(name);
    }
    return n;
}

static int count(const char *text, const char *words) {
    int n = 0;

    for (; (text = strstr(text, words)); text++) n++;
    return n;
}

/* All rules of both files are there, evaluated, and well. */
static void check_rules(int wanted) {
    json_t *data = data_at("/api/v1/rules"), *group, *rule;
    size_t  i, k;
    int     seen = 0;

    json_array_foreach(json_object_get(data, "groups"), i, group) {
        json_array_foreach(json_object_get(group, "rules"), k, rule) {
            const char *name = json_string_value(json_object_get(rule, "name"));
            const char *health = json_string_value(json_object_get(rule, "health"));
            const char *error = json_string_value(json_object_get(rule, "lastError"));
            CHECK_MSG(health && strcmp(health, "ok") == 0, "%s is %s: %s", name, health,
                      error ? error : "");
            seen++;
        }
    }
    CHECK_INT(seen, wanted);
    json_decref(data);
}

TEST(a_prometheus_scrapes_a_daemon_for_a_minute_and_has_every_series_and_every_rule) {
    char wanted[256];

    p = place_new(NULL);
    /* Each level is measured after half of that window. */
    place_serve(p,
                ARGS("--demo", "--tick-ms=1000", "--slo-window-minutes=1", "--slo-eval-ms=1000"));
    starts_prometheus();
    WAIT_FOR(is_listening(), 20000);
    (void)snprintf(wanted, sizeof wanted, "count_over_time(up{job=\"diurnal\"}[10m]) >= %d",
                   SCRAPES);
    WAIT_FOR(results_of(wanted, NULL) == 1, 75000);
    check_scrapes();
    for (int i = 0; i < CONTRACT_METRICS; i++) check_one(contract_metrics[i]);
    /* It is not only there: it moves. */
    CHECK(value_of("increase(diurnal_tick_duration_seconds_count[10m])") > SCRAPES * 0.5);
    CHECK(value_of("sum(increase(diurnal_jobs_total[10m]))") > 0);

    const int records = check_each_record(rules_of(RECORDING));
    CHECK_INT(records, count(rules_of(RECORDING), "record:"));
    CHECK(records >= 10);
    check_rules(records + count(rules_of(ALERTS), "alert:"));
    CHECK_INT(results_of("ALERTS{alertname=~\"Diurnal(Down|Gone|NotTicking|StoreFails)\"}", NULL),
              0);
    ends_prometheus();
    place_signal(p, SIGTERM);
    CHECK_INT(place_wait(p), 0);
}
