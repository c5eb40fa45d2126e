/* daily_answer_test.c - which error class an answer has. */
#include "daily/daily_answer.h"

#include "test.h"

#include <stdlib.h>
#include <string.h>

static dn_error_class class_of(dn_code_kind kind, uint32_t code, bool json, bool truncated,
                               const char *text) {
    DN_AUTO(dn_blob) body = *text ? dn_blob_of(text, strlen(text)) : NULL;
    const dn_run_answer a = {.body = body, .json = json, .truncated = truncated};
    const bool          ok = kind == DN_CODE_HTTP ? code / 100 == 2 : kind == DN_CODE_EXIT && !code;

    return dn_daily_classify(dn_run_result_of(ok ? DN_OUTCOME_OK : DN_OUTCOME_ERROR, kind, code),
                             &a);
}

static void http_means(uint32_t status, bool json, const char *body, dn_error_class wanted) {
    const dn_error_class found = class_of(DN_CODE_HTTP, status, json, /* truncated= */ false, body);

    CHECK_MSG(found == wanted, "%u %s %s: class %d", status, json ? "json" : "-", body, (int)found);
}

enum { PLAIN = false, JSON = true };

TEST(a_success_and_a_timeout_have_no_class) {
    const dn_run_answer none = {0};

    http_means(200, JSON, "{}", DN_CLASS_NONE);
    http_means(204, PLAIN, "", DN_CLASS_NONE);
    http_means(299, JSON, "{broken", DN_CLASS_NONE);
    http_means(200, JSON, "{\"error_class\":\"llm\"}", DN_CLASS_NONE);
    CHECK_INT(dn_daily_classify(dn_run_result_of(DN_OUTCOME_TIMEOUT, DN_CODE_NONE, 0), &none),
              DN_CLASS_NONE);
}

TEST(the_class_an_answer_names_is_its_class) {
    http_means(500, JSON, "{\"error_class\":\"req\"}", DN_CLASS_REQ);
    http_means(500, JSON, "{\"error_class\":\"llm\"}", DN_CLASS_LLM);
    http_means(422, JSON, "{\"error_class\":\"parse\"}", DN_CLASS_PARSE);
    http_means(503, JSON, "{\"x\":1, \"error_class\" : \"unknown\"}", DN_CLASS_UNKNOWN);
    http_means(500, PLAIN, " {\"error_class\":\"llm\"}", DN_CLASS_LLM);
    http_means(500, PLAIN, "{\"error_class\": \"parse\"}", DN_CLASS_PARSE);
}

TEST(a_class_that_is_none_is_unknown) {
    http_means(500, JSON, "{\"error_class\":\"disk\"}", DN_CLASS_UNKNOWN);
    http_means(500, JSON, "{\"error_class\":7}", DN_CLASS_UNKNOWN);
    http_means(500, JSON, "{\"error_class\":null}", DN_CLASS_UNKNOWN);
    http_means(500, JSON, "{\"error_class\":\"llm\\u0000\"}", DN_CLASS_UNKNOWN);
    http_means(500, JSON, "{\"error_class\":\"\"}", DN_CLASS_UNKNOWN);
}

TEST(what_claims_to_be_json_and_is_not_is_parse) {
    http_means(500, JSON, "<html>", DN_CLASS_PARSE);
    http_means(500, JSON, "{\"error_class\":\"llm\"", DN_CLASS_PARSE);
    http_means(400, JSON, "{} {}", DN_CLASS_PARSE);
    http_means(500, JSON, "{\"error_class\":\"llm\"}x\"}", DN_CLASS_PARSE);
}

TEST(a_plain_http_error_is_req) {
    http_means(500, PLAIN, "<html>", DN_CLASS_REQ);
    http_means(500, PLAIN, "{not json", DN_CLASS_REQ);
    http_means(404, PLAIN, "", DN_CLASS_REQ);
    http_means(503, JSON, "", DN_CLASS_REQ);
    http_means(503, JSON, "{\"title\":\"busy\"}", DN_CLASS_REQ);
    http_means(503, JSON, "[1e400, 99999999999999999999]", DN_CLASS_PARSE);
    http_means(503, JSON, "[99999999999999999999]", DN_CLASS_REQ);
    http_means(302, JSON, "{\"error_class\":\"llm\"}", DN_CLASS_REQ);
}

TEST(without_a_complete_answer_it_is_req) {
    CHECK_INT(class_of(DN_CODE_TRANSPORT, 0, PLAIN, false, ""), DN_CLASS_REQ);
    CHECK_INT(class_of(DN_CODE_TRANSPORT, 500, JSON, false, "{\"error_class\":\"llm\"}"),
              DN_CLASS_REQ);
}

static void exit_means(uint32_t code, bool truncated, const char *output, dn_error_class wanted) {
    const dn_error_class found = class_of(DN_CODE_EXIT, code, PLAIN, truncated, output);

    CHECK_MSG(found == wanted, "exit %u %s: class %d", code, output, (int)found);
}

TEST(an_exit_means_what_its_status_and_its_last_line_say) {
    exit_means(0, false, "{\"error_class\":\"llm\"}", DN_CLASS_NONE);
    exit_means(1, false, "", DN_CLASS_UNKNOWN);
    exit_means(2, false, "no luck\n", DN_CLASS_UNKNOWN);
    exit_means(3, false, "working\n{\"error_class\":\"llm\"}\n\n", DN_CLASS_LLM);
    exit_means(3, false, "{\"error_class\":\"llm\"}\nbut then\n", DN_CLASS_UNKNOWN);
    exit_means(3, false, "{\"error_class\":\"req\"}", DN_CLASS_REQ);
    exit_means(3, false, "{\"note\":1}", DN_CLASS_UNKNOWN);
    exit_means(3, false, "{oh", DN_CLASS_PARSE);
    CHECK_INT(class_of(DN_CODE_SIGNAL, 137, PLAIN, false, "{\"error_class\":\"llm\"}"),
              DN_CLASS_UNKNOWN);
}

TEST(a_line_whose_beginning_was_dropped_is_not_read) {
    exit_means(3, true, "{\"error_class\":\"llm\"}", DN_CLASS_UNKNOWN);
    exit_means(3, true, "rest of it\n{\"error_class\":\"llm\"}", DN_CLASS_LLM);
    CHECK_INT(class_of(DN_CODE_HTTP, 500, JSON, true, "{\"error_class\":"), DN_CLASS_REQ);
}

TEST(a_text_too_long_to_be_parsed_names_nothing) {
    enum { LONG = 70000 };
    char *text = malloc(LONG + 64);

    CHECK(text != NULL);
    memset(text, ' ', LONG);
    strcpy(text + LONG, "{\"error_class\":\"llm\"}");
    http_means(500, JSON, text, DN_CLASS_REQ);
    exit_means(1, false, text, DN_CLASS_LLM); /* blanks are no part of a line */
    memset(text, 'x', LONG);
    text[0] = '{';
    http_means(500, JSON, text, DN_CLASS_REQ);
    exit_means(1, false, text, DN_CLASS_UNKNOWN);
    free(text);
}

TEST(an_answer_made_for_a_class_has_that_class) {
    for (dn_error_class c = DN_CLASS_REQ; c <= DN_CLASS_UNKNOWN; c++) {
        DN_AUTO(dn_blob) body = dn_daily_error_new(c);
        const dn_run_answer a = {.body = body};
        CHECK_INT(dn_daily_classify(dn_run_result_of(DN_OUTCOME_ERROR, DN_CODE_NONE, 0), &a), c);
    }
    const dn_run_answer none = {0};
    CHECK_INT(dn_daily_classify(dn_run_result_of(DN_OUTCOME_ERROR, DN_CODE_NONE, 0), &none),
              DN_CLASS_UNKNOWN);
}
