/* scrape.c - the actor behind /metrics: collects reports from the loops and actors, then replies with the text.
 * A scrape that arrives during a collection waits for the same one. A crash costs the scrapes in progress and no counts,
 * because the counters belong to the process. */
#include "scrape.h"

#include "daily/daily_messages.h"
#include "metric_set.h"
#include "obs/slo_watcher.h"
#include "web.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    METRICS_DEADLINE = MSG_OWN, /* timer: stop waiting for replies */
    WAITING_MAX = DN_WEB_CONNS_MOST,
    PATIENCE_MS = 250,
    ACTORS_MAX = 64, /* in a loop's report; named actors come first */
};

/* The last totals reported under a name. */
typedef struct known {
    char     name[DN_NAME_MAX + 1];
    uint64_t handled, restarts;
} known;

typedef struct metrics {
    const dn_service_config *config;
    dn_msg                  *waiting[WAITING_MAX];
    uint32_t                 waiting_len;
    uint32_t                 asked;   /* replies still missing */
    dn_call_id               reports; /* the first report of this collection */
    uint64_t                 round;   /* of collections; the deadline's message has its number */
} metrics;

/* Static, like the counters that the differences go into, so that a restarted actor continues from here. */
static struct {
    known    actors[ACTORS_MAX];
    uint32_t actors_len;
    known    loops[DN_SERVICE_LOOPS]; /* handled: dead letters */
} counted;

static int metrics_init(dn_self *self, void *state, const void *config);
static int metrics_on_scrape(dn_self *self, void *state, const dn_msg *msg);
static int metrics_on_report(dn_self *self, void *state, const dn_msg *msg);
static int metrics_on_status(dn_self *self, void *state, const dn_msg *msg);
static int metrics_on_slo(dn_self *self, void *state, const dn_msg *msg);
static int metrics_on_nothing(dn_self *self, void *state, const dn_msg *msg);
static int metrics_on_deadline(dn_self *self, void *state, const dn_msg *msg);

static const dn_handler metrics_handlers[] = {
    {DN_METRICS_SCRAPE, metrics_on_scrape}, /* web: a scrape */
    {DN_MSG_REPORT, metrics_on_report},     /* the actors of a loop */
    {MSG_STATUS, metrics_on_status},        /* tick */
    {DN_SLO_REPORT, metrics_on_slo},        /* the watcher */
    {DN_MSG_CALL_FAILED, metrics_on_nothing}, {METRICS_DEADLINE, metrics_on_deadline},
};

static const dn_class metrics_class = {
    .name = DN_METRICS,
    .state_size = sizeof(metrics),
    .init = metrics_init,
    .handlers = DN_SLICE(metrics_handlers),
};

static int metrics_init(dn_self *self, void *state, const void *config) {
    metrics *m = state;

    (void)self;
    m->config = config;
    metric_set_max_concurrency(m->config->max_concurrency);
    return DN_OK;
}

/* ---- Collecting ---- */

static void ask_around(dn_self *self, metrics *m) {
    m->asked = DN_SERVICE_LOOPS;
    m->reports = dn_inspect(self, dn_service_loops[0], ACTORS_MAX);
    for (int i = 1; i < DN_SERVICE_LOOPS; i++)
        (void)dn_inspect(self, dn_service_loops[i], ACTORS_MAX);
    if (dn_call(self, dn_name(self, ACTOR_TICK), MSG_ASK_STATUS, NULL, 0, PATIENCE_MS, NULL) ==
        DN_OK)
        m->asked++;
    if (dn_call(self, dn_name(self, DN_SLO_WATCHER), DN_SLO_ASK, NULL, 0, PATIENCE_MS, NULL) ==
        DN_OK)
        m->asked++;
    dn_timer_after(self, PATIENCE_MS, METRICS_DEADLINE, ++m->round);
}

/* A request beyond WAITING_MAX gets no reply; its caller times out. */
static int metrics_on_scrape(dn_self *self, void *state, const dn_msg *msg) {
    metrics *m = state;

    if (!dn_msg_is_request(msg) || m->waiting_len == WAITING_MAX) return DN_OK;
    m->waiting[m->waiting_len++] = dn_msg_keep(self, msg);
    if (m->waiting_len == 1) ask_around(self, m);
    return DN_OK;
}

/* The page in one format, made on first use. text is NULL if memory ran out. */
typedef struct page {
    char  *text;
    size_t len;
    bool   made;
} page;

static void page_make(page *p, dn_metrics_format format) {
    if (!p->made && dn_metrics_text(format, &p->text, &p->len) < 0) *p = (page){.text = NULL};
    p->made = true;
}

static void answer_all(dn_self *self, metrics *m) {
    page pages[] = {[DN_METRICS_TEXT] = {.text = NULL}, [DN_METRICS_OPENMETRICS] = {.text = NULL}};

    for (uint32_t i = 0; i < m->waiting_len; i++) {
        const uint32_t format = *DN_BODY(uint32_t, m->waiting[i]);
        page          *p = &pages[format == DN_METRICS_OPENMETRICS ? format : DN_METRICS_TEXT];
        page_make(p, (dn_metrics_format)format);
        dn_reply(self, m->waiting[i], DN_METRICS_PAGE, p->text, p->len);
    }
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) free(pages[i].text);
    m->waiting_len = 0;
    m->round++;
}

static int answered_one(dn_self *self, metrics *m) {
    if (m->waiting_len > 0 && --m->asked == 0) answer_all(self, m);
    return DN_OK;
}

static int metrics_on_nothing(dn_self *self, void *state, const dn_msg *msg) {
    (void)msg;
    return answered_one(self, state);
}

static int metrics_on_deadline(dn_self *self, void *state, const dn_msg *msg) {
    metrics *m = state;

    if (*DN_BODY(uint64_t, msg) == m->round) answer_all(self, m);
    return DN_OK;
}

/* ---- Replies ---- */

static known *known_of(const char *name) {
    for (uint32_t i = 0; i < counted.actors_len; i++)
        if (strcmp(counted.actors[i].name, name) == 0) return &counted.actors[i];
    if (counted.actors_len == ACTORS_MAX) return NULL;
    known *fresh = &counted.actors[counted.actors_len++];
    *fresh = (known){0};
    snprintf(fresh->name, sizeof fresh->name, "%s", name);
    return fresh;
}

/* The increase since the last report. A smaller total means that the actor restarted at zero. */
static uint64_t more(uint64_t *before, uint64_t now) {
    const uint64_t by = now >= *before ? now - *before : now;

    *before = now;
    return by;
}

/* Unnamed actors, such as executions, come and go; each would be a series of its own. */
static bool has_a_name(dn_self *self, const dn_actor_report *a) {
    return dn_ref_equal(dn_whereis(self, dn_name(self, a->name)), a->who);
}

static void take_report(dn_self *self, const dn_report *r) {
    for (size_t i = 0; i < r->actors_len; i++) {
        const dn_actor_report *a = &r->rows[i];
        known                 *k = has_a_name(self, a) ? known_of(a->name) : NULL;
        if (!k) continue;
        metric_set_actor(a->name, a->depth, a->heap_bytes, more(&k->handled, a->handled),
                         more(&k->restarts, a->restarts));
    }
    for (int i = 0; i < DN_SERVICE_LOOPS; i++)
        if (strcmp(dn_service_loops[i], r->loop) == 0)
            metric_set_dead_letters(more(&counted.loops[i].handled, r->dead_letters));
}

/* A late report of an earlier collection is counted, but the current collection still waits for its own. */
static int metrics_on_report(dn_self *self, void *state, const dn_msg *msg) {
    metrics *m = state;

    if (dn_msg_size(msg) > 0) take_report(self, dn_msg_body_borrow(msg));
    return dn_msg_call(msg) >= m->reports ? answered_one(self, m) : DN_OK;
}

static int metrics_on_status(dn_self *self, void *state, const dn_msg *msg) {
    metric_set_users(DN_BODY(dn_tick_status, msg)->users);
    return answered_one(self, state);
}

static int metrics_on_slo(dn_self *self, void *state, const dn_msg *msg) {
    metric_set_slos(DN_BODY(dn_slo_report, msg));
    return answered_one(self, state);
}

/* ---- Start ---- */

int dn_daemon_metrics_start(const char *version, const char *revision, char *why) {
    const char *what = "";
    const int   rc = metric_set_start(version, revision, &what);

    if (rc == DN_EINVAL)
        snprintf(why, DN_METRICS_WHY, "metrics: %s is a duplicate or an invalid name", what);
    else if (rc < 0) snprintf(why, DN_METRICS_WHY, "metrics: %s: %s", what, dn_error_text(rc));
    return rc;
}

dn_child_spec dn_metrics_child(const dn_service_config *config) {
    return (dn_child_spec){.name = DN_METRICS,
                           .actor_class = &metrics_class,
                           .config = config,
                           .loop = "main",
                           .backoff = {.min_ms = 100, .max_ms = 10000, .stable_ms = 60000}};
}
