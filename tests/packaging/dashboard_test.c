/* dashboard_test.c - the rules and the dashboard ask for metrics there are, and a dashboard is one that Grafana reads. */
#include "test.h"

#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

/* ---- The metrics there are ---- */

typedef struct metric {
    const char *name;
    bool        histogram;
} metric;

static const metric metrics[] = {
    {"diurnal_tick_duration_seconds", true},
    {"diurnal_tick_users_scanned", false},
    {"diurnal_tick_users_eligible", false},
    {"diurnal_tick_users_enqueued", false},
    {"diurnal_queue_depth", false},
    {"diurnal_executor_in_flight", false},
    {"diurnal_executor_max_concurrency", false},
    {"diurnal_job_duration_seconds", true},
    {"diurnal_jobs_total", false},
    {"diurnal_finalizations_total", false},
    {"diurnal_late_successes_total", false},
    {"diurnal_missed_total", false},
    {"diurnal_users", false},
    {"diurnal_store_commit_seconds", true},
    {"diurnal_store_failures_total", false},
    {"diurnal_slo_value", false},
    {"diurnal_slo_threshold", false},
    {"diurnal_slo_breached", false},
    {"diurnal_actor_mailbox_depth", false},
    {"diurnal_actor_handled_total", false},
    {"diurnal_actor_restarts_total", false},
    {"diurnal_actor_heap_bytes", false},
    {"diurnal_dead_letters_total", false},
    {"diurnal_build_info", false},
    {"process_cpu_seconds_total", false},
    {"process_open_fds", false},
    {"process_max_fds", false},
    {"process_resident_memory_bytes", false},
    {"process_start_time_seconds", false},
};
enum { METRICS = sizeof metrics / sizeof *metrics };

/* Of a histogram only the series that Prometheus keeps, and of all others only themselves. */
static int metric_of(const char *word) {
    static const char *const parts[] = {"_bucket", "_count", "_sum"};

    for (int i = 0; i < METRICS; i++) {
        const size_t len = strlen(metrics[i].name);
        if (strncmp(word, metrics[i].name, len) != 0) continue;
        if (!metrics[i].histogram && word[len] == '\0') return i;
        for (int k = 0; k < 3; k++)
            if (metrics[i].histogram && strcmp(word + len, parts[k]) == 0) return i;
    }
    return -1;
}

/* ---- The files ---- */

enum { FILE_MAX = 1 << 18 };

static char *text_of(const char *name) {
    char  path[512];
    char *text = calloc(1, FILE_MAX);

    snprintf(path, sizeof path, "%s/%s", DIURNAL_PROMETHEUS, name);
    FILE *file = fopen(path, "re");
    CHECK_MSG(file && text, "%s", path);
    const size_t len = fread(text, 1, FILE_MAX - 1, file);
    CHECK(len > 0 && len < FILE_MAX - 1);
    fclose(file);
    return text;
}

static bool is_of_word(char c) { return isalnum((unsigned char)c) || c == '_' || c == ':'; }

/* The next word of PromQL, or NULL; *at moves behind it. */
static const char *next_word(const char **at, char word[128]) {
    while (**at && !is_of_word(**at)) ++*at;
    const char *from = *at;
    while (is_of_word(**at)) ++*at;
    const size_t len = (size_t)(*at - from);
    if (len == 0) return NULL;
    snprintf(word, 128, "%.*s", (int)len, from);
    return word;
}

static bool names_series(const char *word) {
    return strncmp(word, "diurnal_", 8) == 0 || strncmp(word, "process_", 8) == 0 ||
           strncmp(word, "instance:", 9) == 0;
}

/* used: NULL, or one for each metric. */
static void check_words(const char *text, const char *where, bool *used) {
    static char *recorded;
    char         word[128], record[160];

    if (!recorded) recorded = text_of("recording.rules.yml");
    while (next_word(&text, word)) {
        if (!names_series(word)) continue;
        const int which = metric_of(word);
        snprintf(record, sizeof record, "record: %s\n", word);
        CHECK_MSG(which >= 0 || strstr(recorded, record), "%s asks for %s", where, word);
        if (which >= 0 && used) used[which] = true;
    }
}

/* Without the comments: what they name is named for people. */
static void check_rules(const char *name) {
    char *text = text_of(name), *rest = text;

    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        const char *expr = strstr(line, "expr:");
        const char *more = strstr(line, "instance:diurnal_");
        if (expr) check_words(expr + 5, name, NULL);
        else if (more && !strstr(line, "record:")) check_words(more, name, NULL);
    }
    free(text);
}

static json_t *dashboard(void) {
    json_error_t error;
    char        *text = text_of("grafana-dashboard.json");
    json_t      *d = json_loads(text, JSON_REJECT_DUPLICATES, &error);

    CHECK_MSG(d, "line %d: %s", error.line, error.text);
    free(text);
    return d;
}

static size_t panels_of(const json_t *d) { return json_array_size(json_object_get(d, "panels")); }

static json_t *panel_of(const json_t *d, size_t i) {
    return json_array_get(json_object_get(d, "panels"), i);
}

static const char *string_of(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : "";
}

/* ---- Promises ---- */

TEST(the_rules_ask_for_metrics_there_are) {
    check_rules("recording.rules.yml");
    check_rules("alerts.rules.yml");
}

TEST(the_dashboard_asks_for_metrics_there_are_and_shows_each_of_diurnals) {
    bool    used[METRICS] = {false};
    json_t *d = dashboard();

    for (size_t i = 0; i < panels_of(d); i++) {
        const json_t *panel = panel_of(d, i), *targets = json_object_get(panel, "targets");
        for (size_t k = 0; k < json_array_size(targets); k++)
            check_words(string_of(json_array_get(targets, k), "expr"), string_of(panel, "title"),
                        used);
    }
    for (int m = 0; m < METRICS; m++)
        CHECK_MSG(used[m] || strncmp(metrics[m].name, "process_", 8) == 0, "no panel shows %s",
                  metrics[m].name);
    json_decref(d);
}

TEST(each_slo_has_its_panel) {
    static const char *const slos[] = {"tick_budget", "saturation", "queue_pressure", "job_latency",
                                       "cutoff_miss_rate"};
    char                    *text = text_of("grafana-dashboard.json"), wanted[128];

    for (int i = 0; i < 5; i++) {
        snprintf(wanted, sizeof wanted, "slo=\\\"%s\\\"", slos[i]);
        CHECK_MSG(strstr(text, wanted), "%s", slos[i]);
    }
    free(text);
}

TEST(every_panel_has_a_title_an_id_a_place_of_its_own_and_a_query) {
    static const char *panel_at[1000][24];
    json_t            *d = dashboard();
    json_int_t         last_id = 0;

    CHECK(string_of(d, "uid")[0] && string_of(d, "title")[0]);
    CHECK(panels_of(d) > 20);
    for (size_t i = 0; i < panels_of(d); i++) {
        json_t     *panel = panel_of(d, i);
        json_int_t  x = -1, y = -1, w = -1, h = -1;
        const char *title = string_of(panel, "title");
        CHECK(title[0]);
        CHECK_MSG(json_integer_value(json_object_get(panel, "id")) > last_id, "%s", title);
        last_id = json_integer_value(json_object_get(panel, "id"));
        CHECK_INT(json_unpack(panel, "{s:{s:I,s:I,s:I,s:I}}", "gridPos", "x", &x, "y", &y, "w", &w,
                              "h", &h),
                  0);
        CHECK_MSG(x >= 0 && y >= 0 && w > 0 && h > 0 && x + w <= 24 && y + h <= 1000, "%s", title);
        for (json_int_t row = y; row < y + h; row++)
            for (json_int_t column = x; column < x + w; column++) {
                CHECK_MSG(!panel_at[row][column], "%s lies on %s", title, panel_at[row][column]);
                panel_at[row][column] = title;
            }
        if (strcmp(string_of(panel, "type"), "row") == 0) continue;
        CHECK_MSG(string_of(panel, "description")[0], "%s", title);
        CHECK_MSG(json_array_size(json_object_get(panel, "targets")) > 0, "%s", title);
    }
    json_decref(d);
}
