/* slo_status_test.c - the service levels as `status` shows them. */
#include "json_status.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

static const json_t *item_of(const json_t *list, const char *name) {
    size_t  i;
    json_t *item;

    json_array_foreach(list, i, item) {
        if (strcmp(json_string_value(json_object_get(item, "name")), name) == 0) return item;
    }
    return NULL;
}

static const char *text(const json_t *item, const char *key) {
    return json_string_value(json_object_get(item, key));
}

TEST(each_service_level_that_is_on_is_shown_with_its_state_and_what_was_measured) {
    dn_slo_report report;

    memset(&report, 0, sizeof report);
    for (int i = 0; i < DN_SLO_NAMES; i++) {
        report.slo[i].on = i < DN_SLO_CUTOFF_BURN_FAST;
        report.slo[i].worst_due = -1;
        report.slo[i].threshold = 300;
        report.slo[i].window_minutes = 15;
    }
    report.slo[DN_SLO_TICK_BUDGET].measured = true;
    report.slo[DN_SLO_TICK_BUDGET].value = 1.5;
    report.slo[DN_SLO_CUTOFF_MISS_RATE].measured = report.slo[DN_SLO_CUTOFF_MISS_RATE].breached =
        true;
    report.slo[DN_SLO_CUTOFF_MISS_RATE].streak = 4;
    report.slo[DN_SLO_CUTOFF_MISS_RATE].worst_due = 485;
    json_t *list = json_of_slo_report(&report);
    CHECK_UINT(json_array_size(list), 5);
    CHECK_STR(text(item_of(list, "tick_budget"), "state"), "ok");
    CHECK(json_real_value(json_object_get(item_of(list, "tick_budget"), "value")) == 1.5);
    CHECK_PTR(json_object_get(item_of(list, "tick_budget"), "worst_due"), NULL);
    CHECK_STR(text(item_of(list, "saturation"), "state"), "no_data");
    CHECK(json_is_null(json_object_get(item_of(list, "saturation"), "value")));
    CHECK_STR(text(item_of(list, "cutoff_miss_rate"), "state"), "breached");
    CHECK_STR(text(item_of(list, "cutoff_miss_rate"), "worst_due"), "08:05");
    CHECK_INT(json_integer_value(json_object_get(item_of(list, "cutoff_miss_rate"), "streak")), 4);
    CHECK_PTR(item_of(list, "cutoff_burn_fast"), NULL);
    json_decref(list);
}
