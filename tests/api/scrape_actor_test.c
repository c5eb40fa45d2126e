/* scrape_actor_test.c - the actor behind /metrics, in a simulation: what it is asked for, and what its end costs. */
#include "admin/scrape.h"
#include "diurnal/sim.h"
#include "obs/metrics.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { STAGE_POKE = 1, STAGE_ASK, POKES = 500, TIME_MS = 60000 };

static dn_sim *sim;
static char    page[1 << 17];
static bool    answered;

static int stage_on_poke(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state, (void)msg;
    return DN_OK;
}

static int stage_on_ask(dn_self *self, void *state, const dn_msg *msg) {
    const uint32_t format = DN_METRICS_TEXT;

    (void)state, (void)msg;
    return dn_call(self, dn_name(self, DN_METRICS), DN_METRICS_SCRAPE, &format, sizeof format, 5000,
                   NULL);
}

static int stage_on_answer(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state;
    CHECK_INT(dn_msg_kind(msg), DN_METRICS_PAGE);
    CHECK(dn_msg_size(msg) < sizeof page);
    memcpy(page, dn_msg_body_borrow(msg), dn_msg_size(msg));
    page[dn_msg_size(msg)] = '\0';
    answered = true;
    return DN_OK;
}

static const dn_handler stage_rows[] = {
    {STAGE_POKE, stage_on_poke}, {STAGE_ASK, stage_on_ask}, {DN_KIND_ANY, stage_on_answer}};
static const dn_class stage_class = {.name = "stage", .handlers = DN_SLICE(stage_rows)};

static void tells_stage(uint32_t kind) {
    dn_runtime *rt = dn_sim_runtime(sim);

    CHECK_INT(dn_post(rt, dn_runtime_name(rt, "stage"), kind, NULL, 0), DN_OK);
}

/* Until the actors have nothing to do, or for a minute. */
static void runs(void) { (void)dn_sim_run(sim, dn_sim_mono_ms(sim) + TIME_MS); }

static void scrapes(void) {
    answered = false;
    tells_stage(STAGE_ASK);
    runs();
    CHECK(answered);
}

static void runs_for(int64_t ms) { (void)dn_sim_run(sim, dn_sim_mono_ms(sim) + ms); }

/* And no longer. */
static void scrapes_until_answered(void) {
    dn_sim_end end;

    answered = false;
    tells_stage(STAGE_ASK);
    while (!answered) CHECK(dn_sim_step(sim, dn_sim_mono_ms(sim) + TIME_MS, &end));
}

static double value_of(const char *series) {
    const char *at = strstr(page, series);

    CHECK_MSG(at, "%s is not in: %s", series, page);
    return strtod(at + strlen(series), NULL);
}

/* ---- Reports that are late ---- */

enum {
    ROUNDS = 20,
    REPORT_MS_MAX = 450 /* longer than a scrape waits, shorter than two of them */
};

static bool reports_dawdle;

/* From the instant of the scrape to that of its page, messages take their time. */
static void make_late(void *context, const dn_sim_event *e) {
    const dn_sim_faults late = {.delay_ppm = 1000000, .delay_ms_max = REPORT_MS_MAX}, none = {0};

    (void)context;
    if (!reports_dawdle || e->kind != DN_SIM_HANDLE) return;
    if (e->msg_kind == DN_METRICS_SCRAPE) dn_sim_set_faults(sim, &late);
    else dn_sim_set_faults(sim, &none);
}

TEST(a_report_that_comes_after_its_scrape_does_not_stand_for_one_of_the_next) {
    static const char        handled[] = "diurnal_actor_handled_total{actor=\"stage\"} ";
    const dn_service_config  service = {.max_concurrency = 64};
    const dn_child_spec      children[] = {{.name = "stage", .actor_class = &stage_class},
                                           dn_metrics_child(&service)};
    const dn_supervisor_spec top = {.intensity = 10, .children = {children, 2}};
    const dn_spawn_spec root = {.actor_class = &dn_supervisor_class, .config = &top, .name = "top"};
    const dn_sim_config config = {.seed = test_seed(), .on_event = make_late};
    char                why[DN_METRICS_WHY];
    double              poked = 0;

    CHECK_INT(dn_daemon_metrics_start("1", "2", why), DN_OK);
    CHECK_INT(dn_sim_new(&config, &sim), DN_OK);
    CHECK(dn_sim_boot(sim, &root) >= 0);
    runs();
    for (int round = 0; round < ROUNDS; round++) {
        reports_dawdle = true;
        scrapes_until_answered();
        reports_dawdle = false;
        for (int i = 0; i < POKES; i++) tells_stage(STAGE_POKE);
        poked += POKES;
        runs_for(1);
        scrapes_until_answered();
        CHECK_MSG(value_of(handled) >= poked, "round %d: of %g it says %g", round, poked,
                  value_of(handled));
        runs();
    }
    dn_sim_free(sim);
}

TEST(what_was_counted_of_actors_is_not_counted_again_by_a_new_one) {
    static const char        handled[] = "diurnal_actor_handled_total{actor=\"stage\"} ";
    static const char        restarts[] = "diurnal_actor_restarts_total{actor=\"metrics\"} ";
    const dn_service_config  service = {.max_concurrency = 64};
    const dn_child_spec      children[] = {{.name = "stage", .actor_class = &stage_class},
                                           dn_metrics_child(&service)};
    const dn_supervisor_spec top = {.intensity = 10, .children = {children, 2}};
    const dn_spawn_spec root = {.actor_class = &dn_supervisor_class, .config = &top, .name = "top"};
    const dn_sim_config config = {.seed = test_seed()};
    char                why[DN_METRICS_WHY];

    CHECK_INT(dn_daemon_metrics_start("1", "2", why), DN_OK);
    CHECK_INT(dn_sim_new(&config, &sim), DN_OK);
    CHECK(dn_sim_boot(sim, &root) >= 0);
    runs();
    for (int i = 0; i < POKES; i++) tells_stage(STAGE_POKE);
    runs();
    scrapes();
    const double before = value_of(handled);
    CHECK(before >= POKES);
    scrapes();
    CHECK(value_of(handled) > before && value_of(handled) < before + POKES);

    for (int i = 1; i <= 3; i++) {
        dn_sim_crash_actor_at(sim, DN_METRICS, 1);
        tells_stage(STAGE_POKE);
        dn_runtime *rt = dn_sim_runtime(sim);
        CHECK_INT(dn_post(rt, dn_runtime_name(rt, DN_METRICS), DN_METRICS_SCRAPE, NULL, 0), DN_OK);
        runs();
        scrapes();
        CHECK(value_of(handled) < before + POKES);
        CHECK_INT((int64_t)value_of(restarts), i);
    }

    /* One that begins anew goes on from what it had. */
    const double had = value_of(handled);
    dn_sim_crash_actor_at(sim, "stage", 1);
    tells_stage(STAGE_POKE);
    runs();
    for (int i = 0; i < 50; i++) tells_stage(STAGE_POKE);
    runs();
    scrapes();
    CHECK_MSG(value_of(handled) >= had + 40 && value_of(handled) < had + 100, "%g after %g",
              value_of(handled), had);
    dn_sim_free(sim);
}

TEST(a_metric_that_is_there_already_is_named) {
    char why[DN_METRICS_WHY];

    CHECK_INT(prom_collector_registry_default_init(), 0);
    prom_gauge_t *other = prom_gauge_new("diurnal_users", "Somebody else's.", 0, NULL);
    CHECK(other);
    CHECK_INT(prom_collector_registry_register_metric(other), 0);
    CHECK_INT(dn_daemon_metrics_start("1.0", "abc", why), DN_EINVAL);
    CHECK_STR(why, "metrics: diurnal_users is a duplicate or an invalid name");
}
