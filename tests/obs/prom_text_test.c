/* prom_text_test.c - the two texts, byte by byte, and what hostile labels do to them: nothing. */
#include "prom_kit.h"
#include "prom_openmetrics.h"

#include <stdint.h>

static const char *const keys[] = {"result", "class"};
#define KEYS ((const char **)keys)

/* Everything there is, a metric of each kind, in a registry without process metrics. */
static prom_collector_registry_t *everything(void) {
    prom_collector_registry_t *r = prom_collector_registry_new("everything");
    prom_collector_t          *all = prom_collector_new("all");
    prom_counter_t   *jobs = prom_counter_new("jobs_total", "Jobs \"run\"\nC:\\new.", 2, KEYS);
    prom_gauge_t     *heap = prom_gauge_new("heap_bytes", "Heap.", 0, NULL);
    prom_histogram_t *took = prom_histogram_new(
        "took_seconds", "Took.", prom_histogram_buckets_new(3, 0.1, 1.0, 60.0), 1, KEYS);
    prom_counter_t *odd = prom_counter_new("odd", "Has no _total.", 0, NULL);
    prom_counter_t *unused = prom_counter_new("unused_total", "Unused.", 1, KEYS);

    CHECK_INT(prom_collector_add_metric(all, jobs), 0);
    CHECK_INT(prom_collector_add_metric(all, heap), 0);
    CHECK_INT(prom_collector_add_metric(all, took), 0);
    CHECK_INT(prom_collector_add_metric(all, odd), 0);
    CHECK_INT(prom_collector_add_metric(all, unused), 0);
    CHECK_INT(prom_collector_registry_register_collector(r, all), 0);
    CHECK_INT(prom_counter_inc(jobs, labels_of("ok", "none")), 0);
    CHECK_INT(prom_counter_add(jobs, 2.5, labels_of("error", "a\\b\"c\nd")), 0);
    CHECK_INT(prom_gauge_set(heap, 1048576, NULL), 0);
    CHECK_INT(prom_histogram_observe(took, 0.05, labels_of("ok", NULL)), 0);
    CHECK_INT(prom_histogram_observe(took, 0.3, labels_of("ok", NULL)), 0);
    CHECK_INT(prom_histogram_observe(took, 61, labels_of("ok", NULL)), 0);
    return r;
}

static char *text_of(prom_collector_registry_t *r, dn_metrics_format format) {
    PROM_COLLECTOR_REGISTRY_DEFAULT = r;
    return text_in(format);
}

TEST(the_text_of_prometheus_reads_so) {
    CHECK_STR(text_of(everything(), DN_METRICS_TEXT),
              "# HELP jobs_total Jobs \"run\"\\nC:\\\\new.\n"
              "# TYPE jobs_total counter\n"
              "jobs_total{result=\"ok\",class=\"none\"} 1\n"
              "jobs_total{result=\"error\",class=\"a\\\\b\\\"c\\nd\"} 2.5\n"
              "# HELP heap_bytes Heap.\n"
              "# TYPE heap_bytes gauge\n"
              "heap_bytes 1048576\n"
              "# HELP took_seconds Took.\n"
              "# TYPE took_seconds histogram\n"
              "took_seconds_bucket{result=\"ok\",le=\"0.1\"} 1\n"
              "took_seconds_bucket{result=\"ok\",le=\"1.0\"} 2\n"
              "took_seconds_bucket{result=\"ok\",le=\"60.0\"} 2\n"
              "took_seconds_bucket{result=\"ok\",le=\"+Inf\"} 3\n"
              "took_seconds_sum{result=\"ok\"} 61.35\n"
              "took_seconds_count{result=\"ok\"} 3\n"
              "# HELP odd Has no _total.\n"
              "# TYPE odd counter\n"
              "odd 0\n"
              "# HELP unused_total Unused.\n"
              "# TYPE unused_total counter\n");
}

TEST(the_text_of_openmetrics_reads_so) {
    char *text = text_of(everything(), DN_METRICS_OPENMETRICS);

    CHECK_STR(text, "# HELP jobs Jobs \\\"run\\\"\\nC:\\\\new.\n"
                    "# TYPE jobs counter\n"
                    "jobs_total{result=\"ok\",class=\"none\"} 1\n"
                    "jobs_total{result=\"error\",class=\"a\\\\b\\\"c\\nd\"} 2.5\n"
                    "# HELP heap_bytes Heap.\n"
                    "# TYPE heap_bytes gauge\n"
                    "# UNIT heap_bytes bytes\n"
                    "heap_bytes 1048576\n"
                    "# HELP took_seconds Took.\n"
                    "# TYPE took_seconds histogram\n"
                    "# UNIT took_seconds seconds\n"
                    "took_seconds_bucket{result=\"ok\",le=\"0.1\"} 1\n"
                    "took_seconds_bucket{result=\"ok\",le=\"1.0\"} 2\n"
                    "took_seconds_bucket{result=\"ok\",le=\"60.0\"} 2\n"
                    "took_seconds_bucket{result=\"ok\",le=\"+Inf\"} 3\n"
                    "took_seconds_sum{result=\"ok\"} 61.35\n"
                    "took_seconds_count{result=\"ok\"} 3\n"
                    "# HELP odd Has no _total.\n"
                    "# TYPE odd unknown\n"
                    "odd 0\n"
                    "# HELP unused Unused.\n"
                    "# TYPE unused counter\n"
                    "# EOF\n");
    CHECK_INT(check_openmetrics(text), 10);
}

TEST(the_bridge_gives_the_text_of_prometheus) {
    prom_collector_registry_t *r = everything();

    char *text = (char *)prom_collector_registry_bridge(r);
    CHECK_STR(text, text_of(r, DN_METRICS_TEXT));
    free(text);
    CHECK_PTR(prom_collector_registry_bridge(NULL), NULL);
}

TEST(each_format_has_its_content_type) {
    CHECK_STR(dn_metrics_content_type(DN_METRICS_TEXT), "text/plain; version=0.0.4; charset=utf-8");
    CHECK_STR(dn_metrics_content_type(DN_METRICS_OPENMETRICS),
              "application/openmetrics-text; version=1.0.0; charset=utf-8");
}

TEST(a_number_reads_back_as_what_it_was) {
    static const struct {
        double      value;
        const char *text;
    } numbers[] = {
        {0, "0"},
        {-0.0, "0"},
        {1, "1"},
        {-1, "-1"},
        {0.1, "0.1"},
        {0.1 + 0.2, "0.30000000000000004"},
        {1.0 / 3, "0.3333333333333333"},
        {999999999999999, "999999999999999"},
        {1e15, "1e+15"},
        {1e300, "1e+300"},
        {5e-324, "4.94065645841247e-324"},
        {1.7976931348623157e308, "1.7976931348623157e+308"},
        {NAN, "NaN"},
        {INFINITY, "+Inf"},
        {-INFINITY, "-Inf"},
    };

    registry_begins();
    prom_gauge_t *g = prom_collector_registry_must_register_metric(
        prom_gauge_new("number", "A number.", 0, NULL));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        CHECK_INT(prom_gauge_set(g, numbers[i].value, NULL), 0);
        CHECK_STR(value_of("number"), numbers[i].text);
    }
    uint64_t random = test_seed();
    for (int i = 0; i < 20000 / TEST_SLOW_FACTOR; i++) {
        const uint64_t bits = test_random(&random);
        double         value;
        memcpy(&value, &bits, sizeof value);
        CHECK_INT(prom_gauge_set(g, value, NULL), 0);
        const double read = strtod(value_of("number"), NULL);
        CHECK_MSG(read == value || (isnan(read) && isnan(value)), "%a came back as %a", value,
                  read);
    }
}

TEST(a_counter_of_whole_numbers_is_exact_behind_what_a_double_can_tell) {
    registry_begins();
    prom_counter_t *c = prom_collector_registry_must_register_metric(
        prom_counter_new("jobs_total", "Jobs.", 0, NULL));

    for (int i = 0; i < 1 << 21; i += 1) CHECK_INT(prom_counter_add(c, 4294967296.0, NULL), 0);
    CHECK_INT(prom_counter_inc(c, NULL), 0);
    CHECK_STR(value_of("jobs_total"), "9007199254740993"); /* 2^53 + 1 */
    CHECK_INT(prom_counter_add(c, 1e40, NULL), 0);
    CHECK_STR(value_of("jobs_total"), "1e+40");
}

TEST(a_bucket_counts_what_is_at_most_its_bound_and_the_count_is_the_last_bucket) {
    registry_begins();
    prom_histogram_t *h = prom_collector_registry_must_register_metric(prom_histogram_new(
        "took_seconds", "Took.", prom_histogram_buckets_new(3, 0.5, 1.0, 2.5), 1, KEYS));

    CHECK_INT(prom_histogram_observe(h, 0.5, labels_of("a", NULL)), 0); /* on the bound: in it */
    CHECK_INT(prom_histogram_observe(h, 0.75, labels_of("a", NULL)), 0);
    CHECK_INT(prom_histogram_observe(h, 1, labels_of("a", NULL)), 0);
    CHECK_INT(prom_histogram_observe(h, 99, labels_of("a", NULL)), 0);
    CHECK_STR(value_of("took_seconds_bucket{result=\"a\",le=\"0.5\"}"), "1");
    CHECK_STR(value_of("took_seconds_bucket{result=\"a\",le=\"1.0\"}"), "3");
    CHECK_STR(value_of("took_seconds_bucket{result=\"a\",le=\"2.5\"}"), "3");
    CHECK_STR(value_of("took_seconds_bucket{result=\"a\",le=\"+Inf\"}"), "4");
    CHECK_STR(value_of("took_seconds_count{result=\"a\"}"), "4");
    CHECK_STR(value_of("took_seconds_sum{result=\"a\"}"), "101.25");
}

TEST(a_histogram_without_buckets_has_the_default_ones) {
    registry_begins();
    prom_histogram_t *h = prom_collector_registry_must_register_metric(
        prom_histogram_new("took_seconds", "Took.", NULL, 0, NULL));

    CHECK_INT(prom_histogram_observe(h, 0.02, NULL), 0);
    CHECK_STR(value_of("took_seconds_bucket{le=\"0.01\"}"), "0");
    CHECK_STR(value_of("took_seconds_bucket{le=\"0.025\"}"), "1");
    CHECK_STR(value_of("took_seconds_bucket{le=\"10.0\"}"), "1");
    CHECK_INT(prom_histogram_buckets_count(prom_histogram_default_buckets), 11);
}

TEST(bounds_are_written_as_prometheus_writes_them_in_both_formats) {
    registry_begins();
    prom_histogram_t *h = prom_collector_registry_must_register_metric(prom_histogram_new(
        "took", "Took.",
        prom_histogram_buckets_new(8, 0.0, 1e-7, 0.0001, 0.1 + 0.2, 1.0, 999999.0, 1e6, 1234567.5),
        0, NULL));

    CHECK_INT(prom_histogram_observe(h, 0, NULL), 0);
    for (dn_metrics_format f = DN_METRICS_TEXT; f <= DN_METRICS_OPENMETRICS; f++) {
        char *text = text_in(f);
        CHECK_STR(value_in(text, "took_bucket{le=\"0.0\"}"), "1");
        CHECK_STR(value_in(text, "took_bucket{le=\"1e-07\"}"), "1");
        CHECK_STR(value_in(text, "took_bucket{le=\"0.0001\"}"), "1");
        CHECK_STR(value_in(text, "took_bucket{le=\"0.30000000000000004\"}"), "1");
        CHECK_STR(value_in(text, "took_bucket{le=\"1.0\"}"), "1");
        CHECK_STR(value_in(text, "took_bucket{le=\"999999.0\"}"), "1");
        CHECK_STR(value_in(text, "took_bucket{le=\"1e+06\"}"), "1");
        CHECK_STR(value_in(text, "took_bucket{le=\"1.2345675e+06\"}"), "1");
    }
}

TEST(a_unit_is_a_word_of_its_own_in_the_name) {
    registry_begins();
    prom_collector_registry_must_register_metric(prom_gauge_new("microseconds", "M.", 0, NULL));
    prom_collector_registry_must_register_metric(
        prom_gauge_new("took_microseconds", "M.", 0, NULL));
    prom_collector_registry_must_register_metric(prom_gauge_new("hit_ratio", "R.", 0, NULL));
    prom_collector_registry_must_register_metric(
        prom_counter_new("sent_bytes_total", "S.", 0, NULL));
    const char *text = text_in(DN_METRICS_OPENMETRICS);

    CHECK(strstr(text, "# UNIT microseconds") == NULL);
    CHECK(strstr(text, "# UNIT took_microseconds") == NULL);
    CHECK(strstr(text, "# UNIT hit_ratio ratio\n") != NULL);
    CHECK(strstr(text, "# UNIT sent_bytes bytes\nsent_bytes_total 0\n") != NULL);
    CHECK(strstr(text, "# UNIT process_cpu_seconds seconds\n") != NULL);
    check_openmetrics(text);
}

/* ---- Any bytes ---- */

TEST(bytes_that_are_no_utf8_are_written_out) {
    registry_begins();
    prom_counter_t *c = prom_collector_registry_must_register_metric(
        prom_counter_new("jobs_total", "Help \xff.", 2, KEYS));
    static const char *const values[][2] = {
        {"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x8c\x9e",
         "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x8c\x9e"},
        {"\xff", "\\\\xff"},
        {"a\xc3", "a\\\\xc3"},                                /* cut */
        {"\xc0\xaf", "\\\\xc0\\\\xaf"},                       /* too long for what it says */
        {"\xe0\x9f\xbf", "\\\\xe0\\\\x9f\\\\xbf"},            /* the same */
        {"\xed\xa0\x80", "\\\\xed\\\\xa0\\\\x80"},            /* half of a pair */
        {"\xf4\x90\x80\x80", "\\\\xf4\\\\x90\\\\x80\\\\x80"}, /* behind the last */
        {"\x01\t\r\x7f", "\x01\t\r\x7f"},
    };

    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char sample[100];
        CHECK_INT(prom_counter_inc(c, labels_of(values[i][0], "x")), 0);
        snprintf(sample, sizeof sample, "jobs_total{result=\"%s\",class=\"x\"}", values[i][1]);
        CHECK_STR(value_of(sample), "1");
    }
    char *text = text_in(DN_METRICS_OPENMETRICS);
    CHECK(strstr(text, "# HELP jobs Help \\\\xff.\n") != NULL);
    check_openmetrics(text);
}

TEST(what_is_written_alike_is_one_series) {
    registry_begins();
    prom_counter_t *c = prom_collector_registry_must_register_metric(
        prom_counter_new("jobs_total", "Jobs.", 2, KEYS));

    CHECK_INT(prom_counter_inc(c, labels_of("\xff", "x")), 0);
    CHECK_INT(prom_counter_inc(c, labels_of("\\xff", "x")), 0);
    CHECK_INT(prom_counter_inc(c, labels_of("\xff", "x")), 0);
    CHECK_STR(value_of("jobs_total{result=\"\\\\xff\",class=\"x\"}"), "3");
}

TEST(labels_that_are_alike_when_put_together_are_two_series) {
    registry_begins();
    prom_counter_t *c = prom_collector_registry_must_register_metric(
        prom_counter_new("jobs_total", "Jobs.", 2, KEYS));

    CHECK_INT(prom_counter_inc(c, labels_of("ab", "c")), 0);
    CHECK_INT(prom_counter_add(c, 2, labels_of("a", "bc")), 0);
    CHECK_INT(prom_counter_add(c, 3, labels_of("", "abc")), 0);
    CHECK_STR(value_of("jobs_total{result=\"ab\",class=\"c\"}"), "1");
    CHECK_STR(value_of("jobs_total{result=\"a\",class=\"bc\"}"), "2");
    CHECK_STR(value_of("jobs_total{result=\"\",class=\"abc\"}"), "3");
}

TEST(labels_of_any_bytes_make_a_sound_text) {
    uint64_t random = test_seed();

    CHECK_INT(dn_metrics_start("1.0\"", "\xfe\n\\"), DN_OK);
    prom_counter_t *c = prom_collector_registry_must_register_metric(
        prom_counter_new("jobs_total", "Jobs.", 2, KEYS));
    prom_histogram_t *h = prom_collector_registry_must_register_metric(
        prom_histogram_new("took_seconds", "Took.", NULL, 2, KEYS));
    for (int i = 0; i < 200; i++) {
        static const char likely[] = "\\\"\n{},= #\xc3\xbc\xff\xe2\x82\xac";
        char              values[2][12] = {{0}};
        for (int v = 0; v < 2; v++) {
            const size_t len = test_random(&random) % sizeof values[v];
            for (size_t j = 0; j < len; j++) {
                const uint64_t byte = test_random(&random);
                values[v][j] = byte & 256 ? likely[byte % (sizeof likely - 1)] : (char)byte;
            }
        }
        CHECK_INT(prom_counter_inc(c, labels_of(values[0], values[1])), 0);
        if (i % 5 == 0) CHECK_INT(prom_histogram_observe(h, i, labels_of(values[0], values[1])), 0);
    }
    CHECK(check_openmetrics(text_in(DN_METRICS_OPENMETRICS)) > 500);
}

TEST(a_text_of_any_length_is_whole) {
    static char value[4097];

    /* So that the text ends before, at and behind the end of its memory, which begins with 4,096 bytes. */
    memset(value, 'a', sizeof value - 1);
    for (size_t len = 3900; len < sizeof value; len++) {
        prom_collector_registry_t *r = prom_collector_registry_new("mine");
        prom_collector_t          *c = prom_collector_new("depths");
        prom_gauge_t              *g = prom_gauge_new("depth", "D.", 1, KEYS);
        CHECK_INT(prom_collector_add_metric(c, g), 0);
        CHECK_INT(prom_collector_registry_register_collector(r, c), 0);
        CHECK_INT(prom_gauge_set(g, 7, labels_of(value + sizeof value - 1 - len, NULL)), 0);
        char *text = text_of(r, DN_METRICS_TEXT);
        CHECK_INT(strlen(text),
                  strlen("# HELP depth D.\n# TYPE depth gauge\ndepth{result=\"\"} 7\n") + len);
        CHECK_STR(text + strlen(text) - 6, "a\"} 7\n");
        CHECK_INT(prom_collector_registry_destroy(r), 0);
    }
}
