/* fields_test.c - what a table of fields takes from a query and from a JSON body, and how it refuses the rest. */
#include "fields.h"

#include "test.h"

#include <stdio.h>
#include <string.h>

enum { TEXT, NUMBER, DAY, TIME, NULLABLE, FIELDS };
static const field fields[] = {
    [TEXT] = {.name = "text", .type = FIELD_TEXT, .max = 8},
    [NUMBER] = {.name = "number", .type = FIELD_NUMBER, .min = -5, .max = 500},
    [DAY] = {.name = "day", .type = FIELD_DAY},
    [TIME] = {.name = "time", .type = FIELD_TIME},
    [NULLABLE] = {.name = "nullable", .type = FIELD_TEXT, .nullable = true},
    {.name = NULL},
};
static const field required[] = {{.name = "text", .type = FIELD_TEXT, .required = true},
                                 {.name = NULL}};

static field_values values;
static char         why[FIELDS_WHY];

/* "", or why it is refused. */
static const char *reads_query(const field *table, const char *query) {
    field_values_done(&values);
    const int rc = fields_read_query(table, (http_text){query, strlen(query)}, &values, why);
    CHECK(rc == DN_OK || rc == DN_EINVAL);
    return rc == DN_OK ? "" : why;
}

static const char *reads_json(const field *table, const char *body) {
    field_values_done(&values);
    const int rc = fields_read_json(table, body, strlen(body), &values, why);
    CHECK(rc == DN_OK || rc == DN_EINVAL);
    return rc == DN_OK ? "" : why;
}

static void check_text(int i, const char *text) {
    CHECK(values.at[i].given);
    CHECK_STR(values.at[i].text, text);
    CHECK_UINT(values.at[i].len, strlen(text));
}

TEST(fields_of_a_query_are_decoded_and_typed) {
    CHECK_STR(reads_query(fields, "text=a+b%26c&number=-5&day=1970-01-02&time=08%3A30"), "");
    check_text(TEXT, "a b&c");
    CHECK_INT(values.at[NUMBER].number, -5);
    CHECK_INT(values.at[DAY].number, 1);
    CHECK_INT(values.at[TIME].number, 510);
    CHECK(!values.at[NULLABLE].given);
    CHECK_INT(field_number(&values.at[NUMBER], 7), -5);
    field_values_done(&values);
}

TEST(fields_left_out_or_empty_are_not_given) {
    CHECK_STR(reads_query(fields, "text=&&number="), "");
    for (int i = 0; i < FIELDS; i++) CHECK(!values.at[i].given);
    CHECK_INT(field_number(&values.at[NUMBER], 7), 7);
    CHECK_STR(reads_query(fields, ""), "");
    CHECK_STR(reads_query(NULL, ""), "");
    field_values_done(&values);
}

TEST(fields_of_a_query_that_are_wrong_are_named) {
    CHECK_STR(reads_query(fields, "colour=red"), "unknown parameter \"colour\"");
    CHECK_STR(reads_query(NULL, "a\"b%ff=1"), "unknown parameter \"a?b%ff\"");
    CHECK_STR(reads_query(fields, "=1"), "unknown parameter \"\"");
    CHECK_STR(reads_query(fields, "text"), "\"text\" has no value");
    CHECK_STR(reads_query(fields, "text=a&text=b"), "\"text\" is given twice");
    CHECK_STR(reads_query(fields, "text=123456789"), "\"text\" is longer than 8 bytes");
    CHECK_STR(reads_query(fields, "text=%ff"), "\"text\" is not UTF-8");
    CHECK_STR(reads_query(fields, "day=2026-02-30"),
              "\"day\": invalid date \"2026-02-30\"; use YYYY-MM-DD, for example 2026-01-31");
    CHECK_STR(reads_query(fields, "time=8:00"),
              "\"time\": invalid time \"8:00\"; use HH:MM, for example 08:00");
    CHECK_STR(reads_query(required, ""), "\"text\" is missing");
    field_values_done(&values);
}

TEST(fields_that_are_numbers_take_whole_numbers_within_their_bounds_alone) {
    static const char *const wrong[] = {"x",  "-6",   "501",  "1.5",  "1e2",
                                        "+1", "0x10", "%201", "1%00", "99999999999999999999"};
    char                     query[64];

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        (void)snprintf(query, sizeof query, "number=%s", wrong[i]);
        CHECK_MSG(strstr(reads_query(fields, query), "\"number\""), "%s", wrong[i]);
    }
    CHECK_STR(reads_query(fields, "number=501"),
              "\"number\" must be a whole number from -5 to 500");
    CHECK_STR(reads_json(fields, "{\"number\":501}"),
              "\"number\" must be a whole number from -5 to 500");
    CHECK_STR(reads_json(fields, "{\"number\":\"7\"}"),
              "\"number\" must be a whole number from -5 to 500");
    field_values_done(&values);
}

TEST(fields_of_a_body_are_typed) {
    CHECK_STR(reads_json(fields, "{\"text\":\"a\",\"number\":500,\"day\":\"1970-01-02\","
                                 "\"time\":\"00:01\",\"nullable\":null}"),
              "");
    check_text(TEXT, "a");
    CHECK_INT(values.at[NUMBER].number, 500);
    CHECK_INT(values.at[DAY].number, 1);
    CHECK_INT(values.at[TIME].number, 1);
    CHECK(!values.at[NULLABLE].given);
    field_values_done(&values);
}

TEST(fields_of_a_body_that_are_wrong_are_named) {
    CHECK_STR(reads_json(fields, ""), "a body is required: a JSON object");
    CHECK_STR(reads_json(fields, "[]"), "the body must be a JSON object");
    CHECK_STR(reads_json(fields, "{\"text\":\"\\u0000\"}"),
              "the body is not JSON: \\u0000 is not allowed, line 1, column 16");
    CHECK(strstr(reads_json(fields, "{\"text\":\"a\",\"text\":\"b\"}"), "duplicate object key"));
    CHECK_STR(reads_json(fields, "{\"colour\":1}"), "unknown field \"colour\"");
    CHECK_STR(reads_json(fields, "{\"text\":null}"), "\"text\" must be a string");
    CHECK_STR(reads_json(fields, "{\"text\":7}"), "\"text\" must be a string");
    CHECK_STR(reads_json(fields, "{\"text\":\"123456789\"}"), "\"text\" is longer than 8 bytes");
    CHECK_STR(reads_json(fields, "{\"time\":\"24:00\"}"),
              "\"time\": invalid time \"24:00\"; use HH:MM, for example 08:00");
    CHECK_STR(reads_json(required, "{}"), "\"text\" is missing");
    field_values_done(&values);
}
