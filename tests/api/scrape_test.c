/* scrape_test.c - the actor behind /metrics in a simulation: many who scrape, in either format, and who does not answer it. */
#include "metrics.h"

#include "diurnal/sim.h"
#include "obs/metrics.h"
#include "test.h"
#include "web.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE_MAX = 1 << 16 };

static struct {
    dn_sim            *sim;
    dn_service_config  service;
    dn_child_spec      children[2];
    dn_supervisor_spec top;
    int                answers, refusals;
    char               page[PAGE_MAX]; /* the last one */
    bool               differ;         /* two of one burst did */
} w;

/* ---- Whoever scrapes ---- */

enum { STAGE_SCRAPE = 1 };

/* So many at once, in a format. */
typedef struct burst {
    uint32_t many, format;
} burst;

static int stage_on_scrape(dn_self *self, void *state, const dn_msg *msg) {
    const burst *b = DN_BODY(burst, msg);

    (void)state;
    w.answers = w.refusals = 0;
    w.differ = false;
    for (uint32_t i = 0; i < b->many; i++)
        CHECK_INT(dn_call(self, dn_name(self, DN_METRICS), DN_METRICS_SCRAPE, &b->format,
                          sizeof b->format, 2000, NULL),
                  DN_OK);
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
    return DN_OK;
}

static int stage_on_refusal(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state, (void)msg;
    w.refusals++;
    return DN_OK;
}

static const dn_handler stage_rows[] = {{STAGE_SCRAPE, stage_on_scrape},
                                        {DN_METRICS_PAGE, stage_on_page},
                                        {DN_MSG_CALL_FAILED, stage_on_refusal}};
static const dn_class   stage_class = {
      .name = "stage", .handlers = DN_SLICE(stage_rows), .mailbox_max = 4096};

/* ---- Life ---- */

static void silence(void *context, const dn_notice *notice) { (void)context, (void)notice; }

static void begins(void) {
    const dn_sim_config sim = {.seed = test_seed(), .notice = silence};
    const dn_spawn_spec root = {.cls = &dn_supervisor_class, .config = &w.top, .name = "top"};
    char                why[DN_METRICS_WHY];

    CHECK_INT(dn_daemon_metrics_start("1.0", "abc", why), DN_OK);
    w.service = (dn_service_config){.max_concurrency = 64};
    w.children[0] = dn_metrics_child(&w.service);
    w.children[0].loop = NULL;
    w.children[1] = (dn_child_spec){.name = "stage", .cls = &stage_class};
    w.top = (dn_supervisor_spec){.intensity = 1000, .children = DN_SLICE(w.children)};
    CHECK_INT(dn_sim_new(&sim, &w.sim), DN_OK);
    CHECK_INT(dn_sim_boot(w.sim, &root), DN_OK);
}

static void scrapes(burst b) {
    dn_runtime *rt = dn_sim_runtime(w.sim);

    CHECK_INT(dn_post(rt, dn_runtime_name(rt, "stage"), STAGE_SCRAPE, &b, sizeof b), DN_OK);
    (void)dn_sim_run(w.sim, dn_sim_mono_ms(w.sim) + 3000);
}

/* ---- Tests ---- */

TEST(as_many_as_the_door_has_places_may_scrape_at_once_and_read_the_same_page) {
    begins();
    scrapes((burst){DN_WEB_CONNS_MOST, DN_METRICS_TEXT});
    CHECK_INT(w.answers, DN_WEB_CONNS_MOST);
    CHECK_INT(w.refusals, 0);
    CHECK(!w.differ);
    CHECK(strstr(w.page, "diurnal_build_info{version=\"1.0\",revision=\"abc\"} 1\n"));
    dn_sim_free(w.sim);
}

TEST(a_page_is_in_the_format_it_was_asked_in) {
    begins();
    scrapes((burst){2, DN_METRICS_OPENMETRICS});
    CHECK_INT(w.answers, 2);
    CHECK_STR(w.page + strlen(w.page) - 6, "# EOF\n");
    scrapes((burst){1, DN_METRICS_TEXT});
    CHECK(!strstr(w.page, "# EOF"));
    dn_sim_free(w.sim);
}

/* Without the service there is nobody to say how many users there are, nor how the SLOs are. */
TEST(who_does_not_answer_is_not_waited_for_and_what_is_not_known_has_no_series) {
    begins();
    scrapes((burst){1, DN_METRICS_TEXT});
    CHECK_INT(w.answers, 1);
    CHECK(strstr(w.page, "\n# TYPE diurnal_slo_value gauge\n"));
    CHECK(!strstr(w.page, "\ndiurnal_slo_"));
    dn_sim_free(w.sim);
}
