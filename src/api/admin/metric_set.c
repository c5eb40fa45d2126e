/* metric_set.c - creates the metrics and attaches the telemetry handlers that count.
 * Each sample is bound to its labels once at the start, so that a handler adds to it without a lookup. */
#include "metric_set.h"

#include "daily/daily_events.h"
#include "engine/engine_events.h"

#include <math.h>
#include <string.h>

enum { RESULTS = 3, CLASSES = 4, STATUSES = 2 };

/* The label values, in the order of the samples in `set`. */
static const char *const results[RESULTS] = {"ok", "error", "timeout"};
static const char *const classes[CLASSES] = {"req", "llm", "parse", "unknown"};
static const char *const statuses[STATUSES] = {"success", "cutoff_reached"};

static struct {
    prom_metric_sample_histogram_t *tick_s, *job_s[RESULTS], *commit_s;
    prom_metric_sample_t           *scanned, *eligible, *enqueued, *depth, *in_flight, *max;
    prom_metric_sample_t           *ok, *timeout, *errors[CLASSES];
    prom_metric_sample_t           *finalized[STATUSES], *late, *missed, *failures, *users;
    prom_gauge_t                   *slo_value, *slo_threshold, *slo_breached;
    bool                            slo_measured[DN_SLO_ROWS_MAX]; /* at least once */
    prom_gauge_t                   *actor_depth, *actor_heap;
    prom_counter_t                 *actor_handled, *actor_restarts;
    prom_metric_sample_t           *dead_letters;
} set;

/* ---- Creating ---- */

typedef enum shape { COUNTER, GAUGE, HISTOGRAM } shape;

/* In seconds. */
static prom_histogram_buckets_t *tick_buckets(void) {
    return prom_histogram_buckets_new(12, 0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                      0.1, 0.3, 1.0, 5.0);
}

static prom_histogram_buckets_t *job_buckets(void) {
    return prom_histogram_buckets_new(13, 0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
                                      30.0, 60.0, 300.0);
}

static prom_histogram_buckets_t *commit_buckets(void) {
    return prom_histogram_buckets_new(12, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                      0.25, 0.5, 1.0, 5.0);
}

/* After a failure rc is negative and name is the metric that failed. */
typedef struct maker {
    const char *name;
    int         rc;
} maker;

static void unmake(shape s, prom_metric_t *metric) {
    if (s == COUNTER) (void)prom_counter_destroy(metric);
    else if (s == GAUGE) (void)prom_gauge_destroy(metric);
    else (void)prom_histogram_destroy(metric);
}

static prom_metric_t *make(maker *m, shape s, const char *name, const char *help, const char *label,
                           const char *second, prom_histogram_buckets_t *(*buckets)(void)) {
    const char    *labels[] = {label, second};
    const size_t   len = (size_t)(label != NULL) + (second != NULL);
    prom_metric_t *metric = NULL;

    if (m->rc < 0) return NULL;
    m->name = name;
    m->rc = DN_ENOMEM;
    if (s == COUNTER) metric = prom_counter_new(name, help, len, labels);
    else if (s == GAUGE) metric = prom_gauge_new(name, help, len, labels);
    else metric = prom_histogram_new(name, help, buckets(), len, labels);
    if (!metric) return NULL;
    if (prom_collector_registry_register_metric(metric) == 0) {
        m->rc = DN_OK;
        return metric;
    }
    m->rc = DN_EINVAL;
    unmake(s, metric);
    return NULL;
}

static prom_metric_sample_t *bind(maker *m, prom_metric_t *metric, const char *value,
                                  const char *second) {
    const char *values[] = {value, second};

    if (m->rc < 0) return NULL;
    prom_metric_sample_t *sample = prom_metric_sample_from_labels(metric, value ? values : NULL);
    if (!sample) m->rc = DN_ENOMEM;
    return sample;
}

static prom_metric_sample_histogram_t *bind_histogram(maker *m, prom_metric_t *metric,
                                                      const char *value) {
    const char *values[] = {value};

    if (m->rc < 0) return NULL;
    prom_metric_sample_histogram_t *sample =
        prom_metric_sample_histogram_from_labels(metric, value ? values : NULL);
    if (!sample) m->rc = DN_ENOMEM;
    return sample;
}

static prom_metric_sample_t *single(maker *m, shape s, const char *name, const char *help) {
    return bind(m, make(m, s, name, help, NULL, NULL, NULL), NULL, NULL);
}

static void make_ticks(maker *m) {
    set.tick_s = bind_histogram(m,
                                make(m, HISTOGRAM, "diurnal_tick_duration_seconds",
                                     "Time a tick took to plan.", NULL, NULL, tick_buckets),
                                NULL);
    set.scanned = single(m, GAUGE, "diurnal_tick_users_scanned", "Users scanned by the last tick.");
    set.eligible = single(m, GAUGE, "diurnal_tick_users_eligible",
                          "Users the last tick found in need of an attempt.");
    set.enqueued =
        single(m, GAUGE, "diurnal_tick_users_enqueued", "Users the last tick added to the queue.");
}

static void make_jobs(maker *m) {
    prom_metric_t *seconds = make(m, HISTOGRAM, "diurnal_job_duration_seconds", "Time a job ran.",
                                  "result", NULL, job_buckets);
    prom_metric_t *jobs =
        make(m, COUNTER, "diurnal_jobs_total", "Jobs that ended.", "result", "error_class", NULL);

    for (int i = 0; i < RESULTS; i++) set.job_s[i] = bind_histogram(m, seconds, results[i]);
    set.ok = bind(m, jobs, "ok", "");
    set.timeout = bind(m, jobs, "timeout", "");
    for (int i = 0; i < CLASSES; i++) set.errors[i] = bind(m, jobs, "error", classes[i]);
    set.depth = single(m, GAUGE, "diurnal_queue_depth", "Users waiting for a slot.");
    set.in_flight = single(m, GAUGE, "diurnal_executor_in_flight", "Jobs running.");
    set.max = single(m, GAUGE, "diurnal_executor_max_concurrency",
                     "Number of slots: the most jobs that run at once.");
}

static void make_days(maker *m) {
    prom_metric_t *finalized = make(m, COUNTER, "diurnal_finalizations_total",
                                    "User-days finalized.", "status", NULL, NULL);

    for (int i = 0; i < STATUSES; i++) set.finalized[i] = bind(m, finalized, statuses[i], NULL);
    set.late = single(m, COUNTER, "diurnal_late_successes_total",
                      "Successes that came after their day was finalized.");
    set.missed = single(m, COUNTER, "diurnal_missed_total",
                        "User-days whose cutoff passed while the daemon was not running.");
    set.users = single(m, GAUGE, "diurnal_users", "Registered users.");
}

static void make_store(maker *m) {
    set.commit_s = bind_histogram(m,
                                  make(m, HISTOGRAM, "diurnal_store_commit_seconds",
                                       "Time a commit took.", NULL, NULL, commit_buckets),
                                  NULL);
    set.failures = single(m, COUNTER, "diurnal_store_failures_total",
                          "Commits that failed because the disk was full.");
}

static void make_slo(maker *m) {
    set.slo_value =
        make(m, GAUGE, "diurnal_slo_value", "Measured value over the window.", "slo", NULL, NULL);
    set.slo_threshold =
        make(m, GAUGE, "diurnal_slo_threshold", "Limit of the value.", "slo", NULL, NULL);
    set.slo_breached = make(m, GAUGE, "diurnal_slo_breached",
                            "1 from the breach until the recovery, else 0.", "slo", NULL, NULL);
}

static void make_actors(maker *m) {
    set.actor_depth = make(m, GAUGE, "diurnal_actor_mailbox_depth",
                           "Messages waiting in the mailbox of an actor.", "actor", NULL, NULL);
    set.actor_heap = make(m, GAUGE, "diurnal_actor_heap_bytes",
                          "Memory of an actor: its state and its arena.", "actor", NULL, NULL);
    set.actor_handled = make(m, COUNTER, "diurnal_actor_handled_total",
                             "Messages handled by an actor.", "actor", NULL, NULL);
    set.actor_restarts = make(m, COUNTER, "diurnal_actor_restarts_total", "Restarts of an actor.",
                              "actor", NULL, NULL);
    set.dead_letters =
        single(m, COUNTER, "diurnal_dead_letters_total", "Messages to actors that did not exist.");
}

/* ---- Counting, on the emitting thread. Values are in the order of daily_events.h and engine_events.h ---- */

static int index_of(const char *word, const char *const *words, int len) {
    int i = 0;

    while (i < len && strcmp(words[i], word) != 0) i++;
    return i;
}

static int count_tick(void *context, const dn_event *event, const dn_value *v) {
    (void)context, (void)event;
    (void)prom_metric_sample_histogram_observe(set.tick_s, v[0].real / 1e3);
    (void)prom_metric_sample_set(set.scanned, (double)v[1].integer);
    (void)prom_metric_sample_set(set.eligible, (double)v[2].integer);
    (void)prom_metric_sample_set(set.enqueued, (double)v[3].integer);
    return DN_OK;
}

static int count_depth(void *context, const dn_event *event, const dn_value *v) {
    (void)context, (void)event;
    (void)prom_metric_sample_set(set.depth, (double)v[0].integer);
    return DN_OK;
}

static int count_in_flight(void *context, const dn_event *event, const dn_value *v) {
    (void)context, (void)event;
    (void)prom_metric_sample_set(set.in_flight, (double)v[0].integer);
    (void)prom_metric_sample_set(set.max, (double)v[1].integer);
    return DN_OK;
}

static int count_job(void *context, const dn_event *event, const dn_value *v) {
    const int result = index_of(v[1].text, results, RESULTS);
    const int cls = v[2].text ? index_of(v[2].text, classes, CLASSES) : CLASSES;

    (void)context, (void)event;
    if (result == RESULTS) return DN_EINVAL;
    (void)prom_metric_sample_histogram_observe(set.job_s[result], v[0].real / 1e3);
    (void)prom_metric_sample_add(cls < CLASSES ? set.errors[cls]
                                 : result == 0 ? set.ok
                                               : set.timeout,
                                 1);
    return DN_OK;
}

static int count_finalized(void *context, const dn_event *event, const dn_value *v) {
    const int status = index_of(v[0].text, statuses, STATUSES);

    (void)context, (void)event;
    if (status == STATUSES) return DN_EINVAL;
    (void)prom_metric_sample_add(set.finalized[status], 1);
    return DN_OK;
}

static int count_late(void *context, const dn_event *event, const dn_value *v) {
    (void)context, (void)event, (void)v;
    (void)prom_metric_sample_add(set.late, 1);
    return DN_OK;
}

static int count_missed(void *context, const dn_event *event, const dn_value *v) {
    (void)context, (void)event;
    (void)prom_metric_sample_add(set.missed, (double)v[0].integer);
    return DN_OK;
}

static int count_commit(void *context, const dn_event *event, const dn_value *v) {
    (void)context, (void)event;
    if (strcmp(v[2].text, "ok") != 0) (void)prom_metric_sample_add(set.failures, 1);
    else (void)prom_metric_sample_histogram_observe(set.commit_s, v[0].real / 1e3);
    return DN_OK;
}

static int attach_all(const char **out_what) {
    static const struct {
        const dn_event  *event;
        dn_telemetry_fn *count;
    } rows[] = {
        {&dn_tick_stop, count_tick},      {&dn_queue_depth, count_depth},
        {&dn_in_flight, count_in_flight}, {&dn_job_stop, count_job},
        {&dn_finalize, count_finalized},  {&dn_late_success, count_late},
        {&dn_days_missed, count_missed},  {&dn_commit_stop, count_commit},
    };
    dn_telemetry_id id;
    int             rc = DN_OK;

    for (size_t i = 0; i < sizeof rows / sizeof *rows && rc == DN_OK; i++) {
        *out_what = rows[i].event->name;
        rc = dn_telemetry_attach("metrics", rows[i].event->name, rows[i].count, NULL, &id);
    }
    return rc;
}

int metric_set_start(const char *version, const char *revision, const char **out_what) {
    maker m = {.name = "diurnal_build_info", .rc = dn_metrics_start(version, revision)};

    make_ticks(&m);
    make_jobs(&m);
    make_days(&m);
    make_store(&m);
    make_slo(&m);
    make_actors(&m);
    *out_what = m.name;
    return m.rc == DN_OK ? attach_all(out_what) : m.rc;
}

/* ---- Gauges set at a scrape ---- */

void metric_set_max_concurrency(uint32_t max) { (void)prom_metric_sample_set(set.max, max); }

void metric_set_users(uint64_t users) { (void)prom_metric_sample_set(set.users, (double)users); }

/* A row that is off has no series. The value is missing before the first measurement and NaN while the window has none,
 * because 0 would be a measurement. */
void metric_set_slos(const dn_slo_report *report) {
    for (size_t i = 0; i < report->len; i++) {
        const dn_slo_status *s = &report->slo[i];
        const char          *values[] = {s->row->name};
        if (s->row->off) continue;
        set.slo_measured[i] |= s->now.measured;
        if (set.slo_measured[i])
            (void)prom_gauge_set(set.slo_value, s->now.measured ? s->now.value : NAN, values);
        (void)prom_gauge_set(set.slo_threshold, s->row->limit, values);
        (void)prom_gauge_set(set.slo_breached, s->breached, values);
    }
}

void metric_set_actor(const char *name, uint64_t depth, size_t heap_bytes, uint64_t handled,
                      uint64_t restarts) {
    const char *values[] = {name};

    (void)prom_gauge_set(set.actor_depth, (double)depth, values);
    (void)prom_gauge_set(set.actor_heap, (double)heap_bytes, values);
    (void)prom_counter_add(set.actor_handled, (double)handled, values);
    (void)prom_counter_add(set.actor_restarts, (double)restarts, values);
}

void metric_set_dead_letters(uint64_t more) {
    (void)prom_metric_sample_add(set.dead_letters, (double)more);
}
