/* prom_accept_test.c - which format is answered to which Accept. */
#include "prom_kit.h"

#include <stdint.h>

static void gets(dn_metrics_format format, const char *accept) {
    CHECK_MSG(dn_metrics_negotiate(accept) == format, "Accept: %s", accept);
}

TEST(who_asks_for_nothing_gets_the_text_of_prometheus) {
    CHECK_INT(dn_metrics_negotiate(NULL), DN_METRICS_TEXT);
    gets(DN_METRICS_TEXT, "");
    gets(DN_METRICS_TEXT, "*/*");
    gets(DN_METRICS_TEXT, "text/*, application/*");
    gets(DN_METRICS_TEXT, "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8");
    gets(DN_METRICS_TEXT, "application/json");
}

TEST(who_names_openmetrics_gets_it) {
    gets(DN_METRICS_OPENMETRICS, "application/openmetrics-text");
    gets(DN_METRICS_OPENMETRICS, "application/openmetrics-text; version=1.0.0; charset=utf-8");
    gets(DN_METRICS_OPENMETRICS, "APPLICATION/OpenMetrics-Text;VERSION=\"1.0.0\"");
    gets(DN_METRICS_OPENMETRICS, "application/openmetrics-text, */*");
    gets(DN_METRICS_OPENMETRICS, "application/*");
    gets(DN_METRICS_OPENMETRICS, " \t, application/openmetrics-text ;; q=0.5 ,");
}

TEST(what_prometheus_sends_gets_openmetrics) {
    gets(DN_METRICS_OPENMETRICS,
         "application/openmetrics-text; version=0.0.1,text/plain;version=0.0.4;q=0.5,*/*;q=0.1,"
         "application/openmetrics-text; version=1.0.0");
    gets(DN_METRICS_OPENMETRICS,
         "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;"
         "q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1");
    gets(DN_METRICS_OPENMETRICS,
         "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
         "application/openmetrics-text;version=0.0.1;q=0.5,"
         "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;"
         "q=0.2");
}

TEST(the_larger_q_wins_and_zero_is_a_no) {
    gets(DN_METRICS_TEXT, "application/openmetrics-text;q=0.4,text/plain;q=0.5");
    gets(DN_METRICS_OPENMETRICS, "application/openmetrics-text;q=0.501,text/plain;q=0.5");
    gets(DN_METRICS_TEXT, "application/openmetrics-text;q=0, */*;q=0.001");
    gets(DN_METRICS_OPENMETRICS, "text/plain;q=0, */*;q=0.001");
    gets(DN_METRICS_TEXT, "application/openmetrics-text;q=0.000");
    gets(DN_METRICS_TEXT, "application/openmetrics-text, text/plain");
}

TEST(the_most_exact_range_says_the_q) {
    gets(DN_METRICS_TEXT,
         "application/*;q=1, application/openmetrics-text;q=0.2, text/plain;q=0.3");
    gets(DN_METRICS_TEXT,
         "application/openmetrics-text;q=1, application/openmetrics-text;version=1.0.0;q=0.1, "
         "text/plain;q=0.5");
    gets(DN_METRICS_OPENMETRICS,
         "text/plain;version=0.0.4;q=0.1, text/plain, application/openmetrics-text;q=0.5");
}

TEST(a_version_that_is_not_spoken_is_not_answered) {
    gets(DN_METRICS_TEXT, "application/openmetrics-text;version=0.0.1");
    gets(DN_METRICS_TEXT, "application/openmetrics-text;version=2.0.0, text/plain;q=0.1");
    gets(DN_METRICS_OPENMETRICS,
         "text/plain;version=1.0.0, application/openmetrics-text;version=1.0.0;q=0.1");
}

TEST(a_range_that_cannot_be_read_says_nothing) {
    static const char *const broken[] = {
        "application/openmetrics-text;q=2",
        "application/openmetrics-text;q=0.1234",
        "application/openmetrics-text;q=",
        "application/openmetrics-text;q=-1",
        "application/openmetrics-text;q=1.001",
        "application/openmetrics-text;q=a",
        "application/openmetrics-text;version",
        "application/openmetrics-text text",
        "application/",
        "/openmetrics-text",
        "application",
        "\"application/openmetrics-text\"",
        "*/openmetrics-text",
        "x/y;a=\",application/openmetrics-text,\"",
    };

    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        char with[200];
        gets(DN_METRICS_TEXT, broken[i]);
        snprintf(with, sizeof with, "%s, text/plain;q=0.1", broken[i]);
        gets(DN_METRICS_TEXT, with);
        snprintf(with, sizeof with, "%s, application/openmetrics-text;q=0.1", broken[i]);
        gets(DN_METRICS_OPENMETRICS, with);
    }
}

TEST(a_quote_that_is_never_closed_takes_the_rest_along) {
    gets(DN_METRICS_TEXT, "application/openmetrics-text;a=\"b");
    gets(DN_METRICS_TEXT, "application/openmetrics-text;a=\"\\");
    gets(DN_METRICS_TEXT, "application/openmetrics-text;a=\"\\\"");
    gets(DN_METRICS_TEXT, "x/y;a=\", application/openmetrics-text");
}

TEST(any_bytes_at_all_get_an_answer) {
    static const char parts[] = "application/openmetrics-text;q=.01,*\"\\= \t\xff";
    uint64_t          random = test_seed();

    for (int i = 0; i < 100000 / TEST_SLOW_FACTOR; i++) {
        char         accept[64];
        const size_t len = test_random(&random) % sizeof accept;
        for (size_t j = 0; j < len; j++) accept[j] = parts[test_random(&random) % sizeof parts];
        accept[len] = '\0';
        CHECK(dn_metrics_content_type(dn_metrics_negotiate(accept)) != NULL);
    }
}
