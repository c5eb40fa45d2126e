/* scrape_test.c - the actor behind /metrics in a simulation: many who scrape, in either format, who is asked by it, and who does not answer. */
#include "admin/scrape.h"

#include "daily/daily_messages.h"
#include "diurnal/sim.h"
#include "obs/metrics.h"
#include "obs/slo_watcher.h"
#include "test.h"
#include "web.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE_MAX = 1 << 16, PATIENCE_MS = 250 };

static struct {
    dn_sim            *sim;
    dn_service_config  service;
    dn_child_spec      children[5];
    dn_supervisor_spec top;
    int64_t            asked_ms, answered_ms;
    int                answers, refusals, open_answers; /* in OpenMetrics */
    char               page[PAGE_MAX];                  /* the last one */
    bool               differ;                          /* two of one burst did */
} w;

/* ---- Whoever scrapes ---- */

enum { STAGE_SCRAPE = 1, STAGE_LOSE, STAGE_SPAWN, LETTERS = 5 };

enum { IN_TURN = 100 };

/* So many at once, in a format, or in each in turn. */
typedef struct burst {
    uint32_t many, format;
} burst;

static int stage_on_scrape(dn_self *self, void *state, const dn_msg *msg) {
    const burst *b = DN_BODY(burst, msg);

    (void)state;
    for (uint32_t i = 0; i < b->many; i++) {
        const uint32_t format = b->format == IN_TURN ? i % 2 : b->format;
        CHECK_INT(dn_call(self, dn_name(self, DN_METRICS), DN_METRICS_SCRAPE, &format,
                          sizeof format, 2000, NULL),
                  DN_OK);
    }
    return DN_OK;
}

static int stage_on_lose(dn_self *self, void *state, const dn_msg *msg) {
    (void)state, (void)msg;
    for (int i = 0; i < LETTERS; i++)
        CHECK_INT(dn_send(self, dn_name(self, "nobody"), 1, NULL, 0), DN_EDEAD);
    return DN_OK;
}

static const dn_class task_class = {.name = "task"};

static int stage_on_spawn(dn_self *self, void *state, const dn_msg *msg) {
    (void)state, (void)msg;
    CHECK_INT(dn_spawn(self, &(dn_spawn_spec){.actor_class = &task_class}, NULL), DN_OK);
    return DN_OK;
}

static int stage_on_page(dn_self *self, void *state, const dn_msg *msg) {
    const size_t len = dn_msg_size(msg);

    (void)self, (void)state;
    CHECK(len > 0 && len < PAGE_MAX);
    if (w.answers++ > 0)
        w.differ |= strlen(w.page) != len || memcmp(w.page, dn_msg_body_borrow(msg), len) != 0;
    memcpy(w.page, dn_msg_body_borrow(msg), len);
    w.page[len] = '\0';
    w.open_answers += strcmp(w.page + len - 6, "# EOF\n") == 0;
    w.answered_ms = dn_sim_mono_ms(w.sim);
    return DN_OK;
}

static int stage_on_refusal(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state, (void)msg;
    w.refusals++;
    return DN_OK;
}

static const dn_handler stage_rows[] = {{STAGE_SCRAPE, stage_on_scrape},
                                        {STAGE_LOSE, stage_on_lose},
                                        {STAGE_SPAWN, stage_on_spawn},
                                        {DN_METRICS_PAGE, stage_on_page},
                                        {DN_MSG_CALL_FAILED, stage_on_refusal}};
static const dn_class   stage_class = {
      .name = "stage", .handlers = DN_SLICE(stage_rows), .mailbox_max = 4096};

/* ---- Whoever is asked ---- */

static int tick_on_ask(dn_self *self, void *state, const dn_msg *msg) {
    const dn_tick_status status = {.users = 12};

    (void)state;
    dn_reply(self, msg, MSG_STATUS, &status, sizeof status);
    return DN_OK;
}

static int watcher_on_ask(dn_self *self, void *state, const dn_msg *msg) {
    static const dn_slo_row row = {.name = "saturation", .limit = 0.75};
    const dn_slo_report     report = {.len = 1, .slo = {{.row = &row}}};

    (void)state;
    dn_reply(self, msg, DN_SLO_REPORT, &report, sizeof report);
    return DN_OK;
}

/* The caller hears nothing. */
static int silent_on_ask(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    (void)dn_msg_keep(self, msg);
    return DN_OK;
}

static const dn_handler tick_rows[] = {{MSG_ASK_STATUS, tick_on_ask}},
                        watcher_rows[] = {{DN_SLO_ASK, watcher_on_ask}},
                        silent_rows[] = {{DN_KIND_ANY, silent_on_ask}};
static const dn_class tick_class = {.name = ACTOR_TICK, .handlers = DN_SLICE(tick_rows)},
                      watcher_class = {.name = DN_SLO_WATCHER, .handlers = DN_SLICE(watcher_rows)},
                      silent_class = {.name = "silent", .handlers = DN_SLICE(silent_rows)};

/* ---- Life ---- */

static void silence(void *context, const dn_notice *notice) { (void)context, (void)notice; }

/* With whoever is to be asked; NULL: nobody is there. */
static void begins_with(const dn_class *tick, const dn_class *watcher) {
    const dn_sim_config sim = {.seed = test_seed(), .notice = silence};
    const dn_spawn_spec root = {
        .actor_class = &dn_supervisor_class, .config = &w.top, .name = "top"};
    char why[DN_METRICS_WHY];

    CHECK_INT(dn_daemon_metrics_start("1.0", "abc", why), DN_OK);
    w.service = (dn_service_config){.max_concurrency = 64};
    w.children[0] = dn_metrics_child(&w.service);
    w.children[0].loop = NULL;
    w.children[1] = (dn_child_spec){.name = "stage", .actor_class = &stage_class};
    w.children[2] = (dn_child_spec){.name = "another", .actor_class = &stage_class};
    size_t len = 3;
    if (tick) w.children[len++] = (dn_child_spec){.name = ACTOR_TICK, .actor_class = tick};
    if (watcher)
        w.children[len++] = (dn_child_spec){.name = DN_SLO_WATCHER, .actor_class = watcher};
    w.top = (dn_supervisor_spec){.intensity = 1000, .children = {w.children, len}};
    CHECK_INT(dn_sim_new(&sim, &w.sim), DN_OK);
    CHECK_INT(dn_sim_boot(w.sim, &root), DN_OK);
}

static void begins(void) { begins_with(NULL, NULL); }

static double value_of(const char *series) {
    const char *at = strstr(w.page, series);

    CHECK_MSG(at, "%s is not in: %s", series, w.page);
    return strtod(at + strlen(series), NULL);
}

static void tells(const char *name, burst b) {
    dn_runtime *rt = dn_sim_runtime(w.sim);

    CHECK_INT(dn_post(rt, dn_runtime_name(rt, name), STAGE_SCRAPE, &b, sizeof b), DN_OK);
}

static void passes(int ms) { (void)dn_sim_run(w.sim, dn_sim_mono_ms(w.sim) + ms); }

static void tells_stage(uint32_t kind) {
    dn_runtime *rt = dn_sim_runtime(w.sim);

    CHECK_INT(dn_post(rt, dn_runtime_name(rt, "stage"), kind, NULL, 0), DN_OK);
}

static void scrapes(burst b) {
    w.asked_ms = dn_sim_mono_ms(w.sim);
    w.answers = w.refusals = w.open_answers = 0;
    w.differ = false;
    tells("stage", b);
    passes(3000);
}

/* ---- Tests ---- */

TEST(as_many_as_the_door_has_places_may_scrape_at_once_and_read_the_same_page) {
    begins();
    scrapes((burst){DN_WEB_CONNS_MOST, DN_METRICS_TEXT});
    CHECK_INT(w.answers, DN_WEB_CONNS_MOST);
    CHECK_INT(w.refusals, 0);
    CHECK(!w.differ);
    CHECK(strstr(w.page, "diurnal_build_info{version=\"1.0\",revision=\"abc\"} 1\n"));
    CHECK(strstr(w.page, "\ndiurnal_executor_max_concurrency 64\n")); /* without any job */
    /* They were answered with one round of questions: few messages beside their own. */
    scrapes((burst){1, DN_METRICS_TEXT});
    CHECK(value_of("\ndiurnal_actor_handled_total{actor=\"metrics\"} ") < DN_WEB_CONNS_MOST + 20);
    dn_sim_free(w.sim);
}

/* While they wait for somebody who does not answer. */
TEST(one_more_than_that_is_told_that_there_is_no_page_for_it) {
    begins_with(&silent_class, NULL);
    tells("stage", (burst){DN_WEB_CONNS_MOST, DN_METRICS_TEXT});
    passes(PATIENCE_MS / 2);
    CHECK_INT(w.answers + w.refusals, 0);
    tells("another", (burst){1, DN_METRICS_TEXT});
    passes(PATIENCE_MS / 4);
    CHECK_INT(w.refusals, 1);
    passes(3000);
    CHECK_INT(w.answers, DN_WEB_CONNS_MOST);
    CHECK_INT(w.refusals, 1);
    dn_sim_free(w.sim);
}

TEST(who_asks_for_a_page_and_does_not_wait_for_it_does_no_harm) {
    dn_runtime *rt;

    begins();
    rt = dn_sim_runtime(w.sim);
    CHECK_INT(dn_post(rt, dn_runtime_name(rt, DN_METRICS), DN_METRICS_SCRAPE, NULL, 0), DN_OK);
    scrapes((burst){1, DN_METRICS_TEXT});
    CHECK_INT(w.answers, 1);
    CHECK_INT(value_of("\ndiurnal_actor_restarts_total{actor=\"metrics\"} "), 0);
    dn_sim_free(w.sim);
}

TEST(a_page_is_in_the_format_it_was_asked_in) {
    begins();
    scrapes((burst){2, DN_METRICS_OPENMETRICS});
    CHECK_INT(w.answers, 2);
    CHECK_STR(w.page + strlen(w.page) - 6, "# EOF\n");
    scrapes((burst){1, DN_METRICS_TEXT});
    CHECK(!strstr(w.page, "# EOF"));
    scrapes((burst){5, IN_TURN});
    CHECK_INT(w.answers, 5);
    CHECK_INT(w.open_answers, 2);
    dn_sim_free(w.sim);
}

TEST(what_they_answer_is_shown_as_soon_as_all_have_answered) {
    begins_with(&tick_class, &watcher_class);
    scrapes((burst){1, DN_METRICS_TEXT});
    CHECK(w.answered_ms - w.asked_ms < PATIENCE_MS);
    CHECK_INT(value_of("\ndiurnal_users "), 12);
    CHECK(value_of("\ndiurnal_slo_threshold{slo=\"saturation\"} ") == 0.75);
    dn_sim_free(w.sim);
}

TEST(who_does_not_answer_in_time_is_not_waited_for_longer) {
    begins_with(&silent_class, &watcher_class);
    scrapes((burst){1, DN_METRICS_TEXT});
    CHECK_INT(w.answers, 1);
    CHECK_INT(w.answered_ms - w.asked_ms, PATIENCE_MS);
    CHECK(value_of("\ndiurnal_slo_threshold{slo=\"saturation\"} ") == 0.75);
    dn_sim_free(w.sim);
}

TEST(a_letter_to_nobody_is_counted_once_however_often_somebody_scrapes) {
    static const char dead[] = "\ndiurnal_dead_letters_total ";

    begins_with(&tick_class, &watcher_class);
    scrapes((burst){1, DN_METRICS_TEXT});
    CHECK_INT(value_of(dead), 0);
    tells_stage(STAGE_LOSE);
    for (int i = 0; i < 3; i++) {
        scrapes((burst){1, DN_METRICS_TEXT});
        CHECK_INT(value_of(dead), LETTERS);
    }
    dn_sim_free(w.sim);
}

/* They come and go: a series of each would be one too many. */
TEST(an_actor_without_a_name_has_no_series) {
    begins();
    tells_stage(STAGE_SPAWN);
    scrapes((burst){1, DN_METRICS_TEXT});
    CHECK(strstr(w.page, "diurnal_actor_heap_bytes{actor=\"stage\"} "));
    CHECK_MSG(!strstr(w.page, "task"), "%s", w.page);
    dn_sim_free(w.sim);
}

/* Without the service there is nobody to say how many users there are, nor how the SLOs are. */
TEST(who_is_not_there_is_not_waited_for_and_what_is_not_known_has_no_series) {
    begins();
    scrapes((burst){1, DN_METRICS_TEXT});
    CHECK_INT(w.answers, 1);
    CHECK(w.answered_ms - w.asked_ms < PATIENCE_MS);
    CHECK(strstr(w.page, "\n# TYPE diurnal_slo_value gauge\n"));
    CHECK(!strstr(w.page, "\ndiurnal_slo_"));
    dn_sim_free(w.sim);
}
