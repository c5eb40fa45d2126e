/* slo_table_test.c - an SLO is one row: events of any program, rows of any kind. tests/daily has the rules themselves. */
#include "obs/slo_table.h"
#include "test.h"

#include <string.h>

#define TASK_START(MEASUREMENT, METADATA)                                                          \
    MEASUREMENT(REAL, late_ms) METADATA(INTEGER, priority) METADATA(TEXT, type)
DN_EVENT_DECLARE(task_start, TASK_START)
DN_EVENT_DEFINE(task_start, "test.task.start", TASK_START)

/* ---- Rows ---- */

static bool is_prompt(dn_value late_ms) { return late_ms.real <= 60000; }
static bool is_urgent(dn_value priority) { return priority.integer <= 3; }

static const dn_slo_source urgent_starts = {"test.task.start",
                                            DN_SLO_OUTCOMES,
                                            .value = {"late_ms", DN_REAL},
                                            .is_good = is_prompt,
                                            .filter = {"priority", DN_INTEGER},
                                            .passes = is_urgent},
                           starts = {"test.task.start", DN_SLO_DURATIONS,
                                     .value = {"late_ms", DN_REAL}};

/* A judge of its own: more than `limit` outcomes, good or bad. */
static dn_slo_judgement judge_count(const dn_slo_row *row, dn_slo_history *h, uint32_t minutes) {
    const double all = (double)dn_slo_history_outcomes(h, minutes).all;

    return (dn_slo_judgement){
        .verdict = all > row->limit ? DN_SLO_BREACH : DN_SLO_FINE, .measured = true, .value = all};
}

static const dn_slo_row lateness = {.name = "rail_lateness",
                                    .description = "Share of urgent tasks that start late",
                                    .measure = "late",
                                    .source = &urgent_starts,
                                    .judge = dn_slo_judge_ratio,
                                    .unit = DN_SLO_SHARE,
                                    .limit = 0.01,
                                    .window_minutes = 15,
                                    .consecutive = 2};

static dn_slo_row lateness_p99(void) {
    dn_slo_row row = lateness;

    row.source = &starts;
    row.judge = dn_slo_judge_quantile;
    row.share = 0.99;
    row.unit = DN_SLO_MS;
    row.limit = 1000;
    return row;
}

static void start_tasks(int n, double late_ms, int64_t priority) {
    for (int i = 0; i < n; i++)
        DN_EMIT(task_start, .late_ms = late_ms, .priority = priority, .type = "mail");
}

/* ---- The world ---- */

#define MINUTE_NS INT64_C(60000000000)
static dn_slo_table *table;
static int64_t       now_ns;

static void opens(const dn_slo_row *rows, size_t len) {
    CHECK_INT(dn_slo_table_new(rows, len, now_ns, &table), DN_OK);
    CHECK_INT(dn_slo_table_listen(table), DN_OK);
}

/* How many rows changed. */
static size_t a_minute_passes(void) {
    size_t changed[DN_SLO_ROWS_MAX];

    now_ns += MINUTE_NS;
    return dn_slo_table_evaluate(table, now_ns, changed);
}

static const dn_slo_status *status(size_t row) { return dn_slo_table_status_borrow(table, row); }

TEST(a_row_counts_only_events_that_pass_its_filter) {
    opens(&lateness, 1);
    start_tasks(100, 90000, 9);
    (void)a_minute_passes();
    CHECK(!status(0)->now.measured);
    start_tasks(6, 60000, 3);
    start_tasks(3, 60001, 1);
    CHECK_UINT(a_minute_passes(), 0);
    CHECK_INT(status(0)->now.verdict, DN_SLO_BREACH);
    CHECK(status(0)->now.value > 0.33 && status(0)->now.value < 0.34);
    start_tasks(3, 60001, 1);
    CHECK_UINT(a_minute_passes(), 1);
    CHECK(status(0)->breached);
    CHECK_INT(status(0)->worst, -1); /* it has no groups */
    dn_slo_table_free(table);
}

TEST(rows_of_one_event_are_judged_apart) {
    const dn_slo_row rows[] = {lateness, lateness_p99()};

    opens(rows, 2);
    start_tasks(99, 500, 5);
    start_tasks(1, 2000, 5);
    (void)a_minute_passes();
    CHECK(!status(0)->now.measured);
    CHECK_INT(status(1)->now.verdict, DN_SLO_FINE); /* one of a hundred is within p99 */
    start_tasks(4, 2000, 5);
    (void)a_minute_passes();
    CHECK_INT(status(1)->now.verdict, DN_SLO_BREACH);
    dn_slo_table_free(table);
}

TEST(a_row_may_have_a_judge_of_its_own) {
    dn_slo_row row = lateness;

    row.judge = judge_count;
    row.limit = 5;
    opens(&row, 1);
    start_tasks(6, 0, 1);
    (void)a_minute_passes();
    CHECK_UINT(status(0)->streak, 1);
    CHECK_UINT(a_minute_passes(), 0); /* the window has six, but nothing new came */
    start_tasks(6, 0, 1);
    CHECK_UINT(a_minute_passes(), 1);
    for (int i = 0; i < 14; i++) CHECK_UINT(a_minute_passes(), 0);
    CHECK_UINT(a_minute_passes(), 1);
    CHECK(!status(0)->breached);
    dn_slo_table_free(table);
}

TEST(an_unsound_row_is_refused) {
    dn_slo_source source = urgent_starts;
    dn_slo_row    row;

    for (int i = 0; i < 14; i++) {
        source = urgent_starts;
        row = lateness;
        row.source = &source;
        switch (i) {
        case 0: row.name = NULL; break;
        case 1: row.judge = NULL; break;
        case 2: row.source = NULL; break;
        case 3: row.window_minutes = 0; break;
        case 4: row.window_minutes = 3 * 1440 + 1; break;
        case 5: row.short_minutes = 15; break;
        case 6: row.consecutive = 0; break;
        case 7: row.limit = -1; break;
        case 8: row.judge = dn_slo_judge_burn; break; /* no share */
        case 9: source.is_good = NULL; break;
        case 10: source.passes = NULL; break;
        case 11: source.filter.name = NULL; break;
        case 12: source.kind = DN_SLO_LEVEL; break; /* of a real */
        case 13: source.ceiling = "priority"; break;
        default: break;
        }
        CHECK_MSG(dn_slo_table_new(&row, 1, 0, &table) == DN_EINVAL, "case %d", i);
        CHECK_PTR(table, NULL);
    }
}

TEST(a_table_has_at_most_sixteen_rows) {
    dn_slo_row rows[DN_SLO_ROWS_MAX + 1];

    for (size_t i = 0; i <= DN_SLO_ROWS_MAX; i++) rows[i] = lateness;
    CHECK_INT(dn_slo_table_new(rows, DN_SLO_ROWS_MAX + 1, 0, &table), DN_EINVAL);
    CHECK_INT(dn_slo_table_new(rows, DN_SLO_ROWS_MAX, 0, &table), DN_OK);
    dn_slo_table_free(table);
}

TEST(an_event_without_a_field_of_the_row_is_refused) {
    static const dn_slo_source others[] = {
        {"test.task.start", DN_SLO_DURATIONS, .value = {"took_ms", DN_REAL}},
        {"test.task.start", DN_SLO_LEVEL, .value = {"priority", DN_INTEGER}, .ceiling = "type"},
        {"test.task.start", DN_SLO_DURATIONS, .value = {"late_ms", DN_REAL},
         .filter = {"tenant", DN_TEXT}, .passes = is_urgent},
        {"test.task.stop", DN_SLO_DURATIONS, .value = {"late_ms", DN_REAL}},
    };

    for (size_t i = 0; i < 4; i++) {
        dn_slo_row row = lateness_p99();
        row.source = &others[i];
        if (i == 1) row.judge = dn_slo_judge_mean;
        CHECK_INT(dn_slo_table_new(&row, 1, 0, &table), DN_OK);
        CHECK_MSG(dn_slo_table_listen(table) == DN_EINVAL, "case %zu", i);
        dn_slo_table_free(table);
    }
}

/* ---- In words ---- */

TEST(a_sentence_has_the_value_the_window_and_the_limit) {
    static const struct {
        dn_slo_unit unit;
        double      value, limit;
        uint32_t    minutes;
        const char *sentence;
    } rows[] = {
        {DN_SLO_MS, 301.056, 100, 1, "p95 301 ms over the last minute, limit 100 ms"},
        {DN_SLO_MS, 0.25, 60000, 90, "p95 0.25 ms over the last 90 minutes, limit 60000 ms"},
        {DN_SLO_SHARE, 0.0349, 0.01, 60, "p95 3.49 % over the last hour, limit 1 %"},
        {DN_SLO_SHARE, 1, 0.8, 120, "p95 100 % over the last 2 hours, limit 80 %"},
        {DN_SLO_COUNT, 1595.8, 500, 1440, "p95 1596 over the last day, limit 500"},
        {DN_SLO_TIMES, 0, 14.4, 4320, "p95 0x over the last 3 days, limit 14.4x"},
    };
    char sentence[DN_SLO_SENTENCE];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const dn_slo_row    row = {.measure = "p95", .unit = rows[i].unit, .limit = rows[i].limit};
        const dn_slo_status s = {.row = &row,
                                 .minutes = rows[i].minutes,
                                 .now = {.measured = true, .value = rows[i].value}};
        dn_slo_sentence(&s, sentence);
        CHECK_STR(sentence, rows[i].sentence);
    }
}

TEST(a_sentence_without_a_value_says_that_there_is_no_data) {
    const dn_slo_row    row = {.measure = "p95", .unit = DN_SLO_MS, .limit = 100};
    const dn_slo_status s = {.row = &row, .minutes = 15};
    char                sentence[DN_SLO_SENTENCE];

    dn_slo_sentence(&s, sentence);
    CHECK_STR(sentence, "no data over the last 15 minutes, limit 100 ms");
}
