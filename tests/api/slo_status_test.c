/* slo_status_test.c - the SLOs as `status` shows them. */
#include "admin/json_status.h"
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

static const dn_slo_row rows[] = {
    {.name = "fast", .description = "How fast", .measure = "p95", .unit = DN_SLO_MS, .limit = 300},
    {.name = "full", .measure = "full", .description = "How full", .limit = 1},
    {.name = "missed",
     .measure = "missed",
     .description = "Missed",
     .unit = DN_SLO_SHARE,
     .limit = 0.01},
    {.name = "burnt", .measure = "rate", .description = "Burnt", .off = true},
};

TEST(each_slo_that_is_on_is_shown_with_its_state_and_its_sentence) {
    dn_slo_report report = {.len = 4};

    for (int i = 0; i < 4; i++)
        report.slo[i] = (dn_slo_status){.row = &rows[i], .minutes = 15, .worst = -1};
    report.slo[0].now = (dn_slo_judgement){.measured = true, .value = 1.5};
    report.slo[2].now = (dn_slo_judgement){.measured = true, .value = 0.5};
    report.slo[2].breached = true;
    report.slo[2].streak = 4;
    report.slo[2].worst = 485;
    json_t *list = json_of_slo_report(&report);
    CHECK_UINT(json_array_size(list), 3);
    CHECK_STR(text(item_of(list, "fast"), "state"), "ok");
    CHECK_STR(text(item_of(list, "fast"), "description"), "How fast");
    CHECK_STR(text(item_of(list, "fast"), "unit"), "ms");
    CHECK_STR(text(item_of(list, "fast"), "sentence"),
              "p95 1.5 ms over the last 15 minutes, limit 300 ms");
    CHECK(json_real_value(json_object_get(item_of(list, "fast"), "value")) == 1.5);
    CHECK_PTR(json_object_get(item_of(list, "fast"), "worst_due"), NULL);
    CHECK_STR(text(item_of(list, "full"), "state"), "no_data");
    CHECK(json_is_null(json_object_get(item_of(list, "full"), "value")));
    CHECK_STR(text(item_of(list, "missed"), "state"), "breached");
    CHECK_STR(text(item_of(list, "missed"), "worst_due"), "08:05");
    CHECK_INT(json_integer_value(json_object_get(item_of(list, "missed"), "streak")), 4);
    CHECK_PTR(item_of(list, "burnt"), NULL);
    json_decref(list);
}
