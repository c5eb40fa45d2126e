/* userfile_test.c - files of users as people bring them, whole and broken. */
#define _GNU_SOURCE /* fmemopen, open_memstream */
#include "api/userfile.h"
#include "starving.h"
#include "test.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define BYTES(literal) (literal), sizeof(literal) - 1

/* ---- What is read, as text: "line: user" or "line! sentence" ---- */

typedef struct told {
    FILE    *out;
    char    *text;
    size_t   len;
    uint64_t users, faults;
    uint64_t most,
        left; /* room for so many users at once, and what is left of it; most 0: for all */
} told;

static void print_escaped(FILE *out, const char *bytes, size_t len) {
    for (; len > 0; bytes++, len--) (void)fputc(*bytes, out);
}

static int on_user(void *context, const dn_userfile_user *user, uint64_t line) {
    told *const t = context;
    char        due[DN_DUE_TEXT], day[DN_DAY_TEXT] = "-";

    CHECK_STR(dn_id_fault(user->id, user->id_len), NULL);
    CHECK(!user->starts_today || user->starts_on == DN_DAY_NONE);
    dn_due_write(user->due, due);
    if (user->starts_on != DN_DAY_NONE) dn_day_write(user->starts_on, day);
    (void)fprintf(t->out, "%" PRIu64 ": ", line);
    print_escaped(t->out, user->id, user->id_len);
    (void)fprintf(t->out, " %s %s\n", due, user->starts_today ? "today" : day);
    t->users++;
    if (t->most == 0) return DN_OK;
    CHECK_MSG(t->left > 0, "more than there is room for: line %" PRIu64, line);
    return --t->left == 0 ? DN_PENDING : DN_OK;
}

static int on_fault(void *context, const char *sentence, uint64_t line) {
    told *const t = context;

    CHECK(*sentence != '\0');
    for (const char *c = sentence; *c != '\0'; c++)
        CHECK_MSG((uint8_t)*c >= 0x20 && *c != 0x7f, "%s", sentence);
    (void)fprintf(t->out, "%" PRIu64 "! %s\n", line, sentence);
    t->faults++;
    return DN_OK;
}

static void told_init(told *t) {
    memset(t, 0, sizeof *t);
    t->out = open_memstream(&t->text, &t->len);
    CHECK(t->out);
}

static void makes_room(told *t, dn_userfile *file, int rc) {
    while (rc == DN_PENDING) {
        CHECK_INT(t->left, 0);
        t->left = t->most;
        rc = dn_userfile_go_on(file);
    }
    CHECK_INT(rc, DN_OK);
}

/* In pieces of piece bytes; 0: of random lengths. Each piece is a block of its own, for the sanitizer. */
static told read_with_room(const char *bytes, size_t len, dn_userfile_format format, size_t piece,
                           uint64_t *random, uint64_t most) {
    told                   t;
    const dn_userfile_sink sink = {on_user, on_fault, &t};
    dn_userfile           *file = NULL;

    told_init(&t);
    t.most = t.left = most;
    CHECK_INT(dn_userfile_new(format, &sink, &file), DN_OK);
    while (len > 0) {
        size_t part = piece > 0 ? piece : 1 + test_random(random) % 40;

        if (part > DN_USERFILE_PIECE) part = DN_USERFILE_PIECE;
        if (part > len) part = len;
        char *const copy = malloc(part);
        CHECK(copy);
        memcpy(copy, bytes, part);
        const int rc = dn_userfile_feed(file, copy, part);
        free(copy);
        makes_room(&t, file, rc);
        bytes += part;
        len -= part;
    }
    makes_room(&t, file, dn_userfile_end(file));
    dn_userfile_free(file);
    CHECK(fclose(t.out) == 0);
    return t;
}

static told read_in_pieces(const char *bytes, size_t len, dn_userfile_format format, size_t piece,
                           uint64_t *random) {
    return read_with_room(bytes, len, format, piece, random, /* most= */ 0);
}

static void reads(const char *bytes, size_t len, const char *expected) {
    for (size_t piece = 1; piece < 6; piece++) {
        told t = read_in_pieces(bytes, len, DN_USERFILE_ANY, piece, NULL);

        CHECK_STR(t.text, expected);
        free(t.text);
    }
    told t = read_in_pieces(bytes, len, DN_USERFILE_ANY, SIZE_MAX, NULL);
    CHECK_STR(t.text, expected);
    free(t.text);
}

/* ---- CSV ---- */

TEST(csv_is_read_with_a_header_and_without) {
    reads(BYTES("id,due,starts_on\nada,08:00,\nbob,23:59,2026-12-01\neve,00:00,today\n"),
          "2: ada 08:00 -\n3: bob 23:59 2026-12-01\n4: eve 00:00 today\n");
    reads(BYTES("ada,08:00,\nbob,23:59\n"), "1: ada 08:00 -\n2: bob 23:59 -\n");
    reads(BYTES("id,due\nada,08:00\n"), "2: ada 08:00 -\n");
    reads(BYTES("due,id\n08:00,ada\n"), "2: ada 08:00 -\n");
    reads(BYTES("Starts_On,ID,\"DUE\"\ntoday,ada,08:00\n"), "2: ada 08:00 today\n");
    reads(BYTES("ada,08:00"), "1: ada 08:00 -\n");
    reads(BYTES(""), "");
    reads(BYTES("\n"), "");
    reads(BYTES("id,due\n"), "");
}

TEST(a_user_named_like_a_column_is_a_user) {
    reads(BYTES("id,08:00\n"), "1: id 08:00 -\n");
    reads(BYTES("due,08:00\n"), "1: due 08:00 -\n");
    reads(BYTES("id,due\nid,08:00\n"), "2: id 08:00 -\n");
}

TEST(the_columns_of_an_export_and_of_others_are_passed_over) {
    reads(BYTES("id,due,last_date,status,last_run_at,context_epoch,starts_on,Name\n"
                "ada,08:00,2026-11-18,success,,7,2026-01-01,\"Ada, the\nCountess\"\n"
                "bob,09:00\n"),
          "2: ada 08:00 2026-01-01\n4: bob 09:00 -\n");
}

TEST(below_a_header_that_is_wrong_nobody_is_read) {
    reads(BYTES("id,id,due\nada,08:00\n"),
          "1! the header has id twice. Nothing below it is read\n");
    reads(BYTES("id,cutoff\nada,08:00\n\"bob\n"),
          "1! the header has no due. Nothing below it is read\n");
    reads(BYTES("user,due\nada,08:00\n"), "1! the header has no id. Nothing below it is read\n");
    reads(BYTES("id,due,start_on\nada,08:00,2026-12-01\nbob,08:00,2026-12-01"),
          "1! unknown name \"start_on\"; did you mean starts_on? Nothing below it is read\n");
}

TEST(quotes_are_read_as_rfc_4180_has_them) {
    reads(
        BYTES("\"ada\",\"08:00\",\"today\"\r\n\"b,ob\",09:00\r\n\"e\"\"ve\",10:00\n\"\"\"\",11:00"),
        "1: ada 08:00 today\n2: b,ob 09:00 -\n3: e\"ve 10:00 -\n4: \" 11:00 -\n");
    reads(BYTES("a,08:00,\"\"\nb,09:00,\"\"\r\n"), "1: a 08:00 -\n2: b 09:00 -\n");
}

TEST(a_mark_carriage_returns_and_blank_lines_change_nothing) {
    reads(BYTES("\xef\xbb\xbfid,due\r\n\r\nada,08:00\r\n \t\r\n\r\nbob,09:00\r\n\n"),
          "3: ada 08:00 -\n6: bob 09:00 -\n");
    reads(BYTES("\xef\xbb\xbf"), "");
    reads(BYTES("\xef\xbb"), "1! one field only; write id,due or id,due,starts_on\n");
}

TEST(a_line_inside_of_quotes_is_never_a_user) {
    reads(BYTES("\"x\neve,08:00\ny\",09:00\nada,10:00\n"),
          "1! the id \"x\\x0aeve,08:00\\x0ay\" has a control character in it\n4: ada 10:00 -\n");
}

TEST(a_stray_quote_costs_its_own_line_only) {
    reads(BYTES("\"ada,08:00\nbob,09:00\n\"eve\",10:00\nzoe,11:00"),
          "1! a quote is not allowed here\n2: bob 09:00 -\n3: eve 10:00 -\n4: zoe 11:00 -\n");
    reads(BYTES("\"ada,08:00\nbob,09:00\neve,10:00\n"),
          "1! a quote is not closed\n2: bob 09:00 -\n3: eve 10:00 -\n");
    reads(BYTES("a\"da,08:00\nbob,09:00\n"), "1! a quote is not allowed here\n2: bob 09:00 -\n");
    reads(BYTES("\"a\"da,08:00\nbob,09:00\n"), "1! a quote is not allowed here\n2: bob 09:00 -\n");
    reads(BYTES("\"ada\"\r,08:00\nbob,09:00\n"),
          "1! a quote is not allowed here\n2: bob 09:00 -\n");
    reads(BYTES("ada,08:00\n\""), "1: ada 08:00 -\n2! a quote is not closed\n");
}

TEST(each_fault_of_a_row_is_said_in_words) {
    reads(BYTES("ada\n"), "1! one field only; write id,due or id,due,starts_on\n");
    reads(BYTES("ada;08:00\n"), "1! one field only; write id,due or id,due,starts_on\n");
    reads(BYTES("ada,8:00\n"), "1! invalid due time \"8:00\"; use HH:MM, for example 08:00\n");
    reads(BYTES("ada, 08:00\n"), "1! invalid due time \" 08:00\"; use HH:MM, for example 08:00\n");
    reads(BYTES("ada,24:00\n"), "1! invalid due time \"24:00\"; use HH:MM, for example 08:00\n");
    reads(BYTES("ada,\n"), "1! invalid due time \"\"; use HH:MM, for example 08:00\n");
    reads(BYTES(",08:00\n"), "1! the id \"\" is empty\n");
    reads(BYTES("ada ,08:00\n"), "1! the id \"ada \" ends with a space\n");
    reads(BYTES("a\0a,08:00\n"), "1! the id \"a\\x00a\" has a control character in it\n");
    reads(BYTES("a\033[2J,08:00\n"), "1! the id \"a\\x1b[2J\" has a control character in it\n");
    reads(BYTES("caf\xe9,08:00\n"), "1! the id \"caf\\xe9\" is not UTF-8\n");
    reads(BYTES("ada,08:00,2026-02-30\n"),
          "1! invalid starts_on \"2026-02-30\"; use YYYY-MM-DD or today\n");
    reads(BYTES("ada,08:00,Today\n"), "1! invalid starts_on \"Today\"; use YYYY-MM-DD or today\n");
    reads(BYTES("ada,08:00,,\n"), "1! 4 fields, but at most 3 are allowed\n");
    reads(BYTES("id,due\nada,08:00,today\n"), "2! 3 fields, but at most 2 are allowed\n");
    reads(BYTES("starts_on,id,due\ntoday,ada\n"), "2! due is missing\n");
}

TEST(more_fields_than_anybody_has_are_a_fault) {
    char line[200];

    memset(line, ',', sizeof line);
    line[sizeof line - 1] = '\n';
    reads(line, sizeof line, "1! more than 64 fields\n");
}

/* ---- NDJSON ---- */

TEST(ndjson_is_read_line_by_line) {
    reads(BYTES("{\"id\":\"ada\",\"due\":\"08:00\"}\n\n"
                " {\"due\":\"09:00\",\"starts_on\":\"today\",\"id\":\"b\\u00f6b\"} \r\n"
                "{\"id\":\"eve\",\"due\":\"10:00\",\"starts_on\":null}\n"
                "{\"id\":\"\\\"z,o\",\"due\":\"11:00\",\"starts_on\":\"2026-12-01\"}"),
          "1: ada 08:00 -\n3: b\xc3\xb6"
          "b 09:00 today\n4: eve 10:00 -\n5: \"z,o 11:00 2026-12-01\n");
    reads(BYTES("\xef\xbb\xbf\r\n \n{\"id\":\"ada\",\"due\":\"08:00\"}"), "3: ada 08:00 -\n");
}

TEST(the_keys_of_an_export_and_of_others_are_passed_over) {
    reads(BYTES("{\"id\":\"ada\",\"due\":\"08:00\",\"last_date\":null,\"status\":\"success\","
                "\"last_run_at\":5,\"context_epoch\":7,\"starts_on\":\"2026-01-01\",\"x\":{}}"),
          "1: ada 08:00 2026-01-01\n");
}

TEST(each_fault_of_an_object_is_said_in_words_and_costs_its_own_line_only) {
    reads(BYTES("{\"id\":\"ada\",\"due\":\"08:00\"\n"
                "{}\n"
                "{\"id\":\"ada\"}\n"
                "[\"ada\"]\n"
                "{\"id\":7,\"due\":\"08:00\"}\n"
                "{\"id\":\"ada\",\"due\":800}\n"
                "{\"id\":\"ada\",\"due\":\"08:00\",\"starts_on\":5}\n"
                "{\"id\":\"a\",\"id\":\"b\",\"due\":\"08:00\"}\n"
                "{\"id\":\"caf\xe9\",\"due\":\"08:00\"}\n"
                "{\"id\":\"a\\u0000b\",\"due\":\"08:00\"}\n"
                "{\"id\":\"ada\",\"due\":\"08:00\",\"start_on\":\"today\"}\n"
                "{\"id\":\"ada\",\"due\":\"08:00\"} x\n"
                "ada,08:00\n"
                "{\"id\":\"\\ud800\",\"due\":\"08:00\"}\n"
                "{\"id\":\"eve\",\"due\":\"08:00\"}\n"),
          "1! not JSON, near column 25\n"
          "2! id is missing\n"
          "3! due is missing\n"
          "4! not a JSON object\n"
          "5! id must be a string\n"
          "6! due must be a string\n"
          "7! starts_on must be a string\n"
          "8! a key is there twice\n"
          "9! not UTF-8\n"
          "10! the id \"a\\x00b\" has a control character in it\n"
          "11! unknown name \"start_on\"; did you mean starts_on?\n"
          "12! not JSON, near column 28\n"
          "13! not JSON, near column 3\n"
          "14! not JSON, near column 14\n"
          "15: eve 08:00 -\n");
}

/* ---- Plain objects, and the same ones in another spelling ---- */

/* As it is, or with each character as an escape. */
static void put_string(FILE *plain, FILE *escaped, const char *text) {
    (void)fprintf(plain, "\"%s\"", text);
    (void)fputc('"', escaped);
    for (; *text != '\0'; text++) (void)fprintf(escaped, "\\u%04x", (unsigned)*text);
    (void)fputc('"', escaped);
}

static void put_both(FILE *plain, FILE *escaped, const char *text) {
    (void)fputs(text, plain);
    (void)fputs(text, escaped);
}

static const char *one_of(uint64_t *random, const char *const *words, size_t len) {
    return words[test_random(random) % len];
}

/* A line that is JSON, of keys that mean something or nothing. */
static void put_object(uint64_t *random, FILE *plain, FILE *escaped) {
    static const char *const keys[] = {"id",  "due", "id",        "due", "id",
                                       "due", "ID",  "starts_on", "x",   "start_on"};
    static const char *const ids[] = {"ada", "eve", "ada, b:}", " x", "", "08:00"};
    static const char *const times[] = {"08:00", "23:59", "24:00", "00:00", "today", "2026-12-01"};
    static const char *const others[] = {"null", "5", "{}", "true"};
    static const char *const blanks[] = {"", "", " ", "\t", "\r"};
    const size_t             len = 1 + test_random(random) % 4;

    put_both(plain, escaped, "{");
    for (size_t i = 0; i < len; i++) {
        /* Mostly an id and a due come first, and then whatever. */
        const bool        any = i > 1 || test_random(random) % 8 == 0;
        const char *const key = any ? one_of(random, keys, 10) : keys[i];
        if (i > 0) put_both(plain, escaped, ",");
        put_both(plain, escaped, one_of(random, blanks, 5));
        put_string(plain, escaped, key);
        put_both(plain, escaped, one_of(random, blanks, 5));
        put_both(plain, escaped, ":");
        if (test_random(random) % 8 == 0) put_both(plain, escaped, one_of(random, others, 4));
        else put_string(plain, escaped, one_of(random, *key == 'i' ? ids : times, 6));
    }
    put_both(plain, escaped, one_of(random, blanks, 5));
    put_both(plain, escaped, "}\n");
}

TEST(an_object_is_the_same_user_or_fault_however_its_strings_are_spelt) {
    uint64_t random = test_seed(), users = 0, faults = 0;

    for (int n = 0; n < 2000 / TEST_SLOW_FACTOR; n++) {
        char  *text[2];
        size_t len[2];
        FILE  *plain = open_memstream(&text[0], &len[0]);
        FILE  *escaped = open_memstream(&text[1], &len[1]);

        CHECK(plain && escaped);
        for (int i = 0; i < 10; i++) put_object(&random, plain, escaped);
        CHECK(fclose(plain) == 0 && fclose(escaped) == 0);
        const told as_is = read_in_pieces(text[0], len[0], DN_USERFILE_NDJSON, SIZE_MAX, NULL);
        const told spelt = read_in_pieces(text[1], len[1], DN_USERFILE_NDJSON, SIZE_MAX, NULL);
        CHECK_STR(as_is.text, spelt.text);
        users += as_is.users;
        faults += as_is.faults;
        free(as_is.text);
        free(spelt.text);
        free(text[0]);
        free(text[1]);
    }
    CHECK(users > 500 / TEST_SLOW_FACTOR && faults > 500 / TEST_SLOW_FACTOR);
}

TEST(a_tab_or_a_carriage_return_in_a_string_of_json_is_a_fault) {
    reads(BYTES("{\"id\":\"ada\t\",\"due\":\"08:00\"}\n"
                "{\"id\":\"ada\",\"due\":\"08:00\r\"}\n"
                "{\"id\t\":\"ada\",\"due\":\"08:00\"}\n"
                "{\"id\"\t:\"eve\",\r\"due\":\"08:00\"\t}\r\n"),
          "1! not JSON, near column 10\n2! not JSON, near column 24\n"
          "3! not JSON, near column 4\n4: eve 08:00 -\n");
}

TEST(json_nested_a_thousand_times_is_a_fault_and_no_crash) {
    static char line[60000];

    memset(line, '[', sizeof line);
    told t = read_in_pieces(line, sizeof line, DN_USERFILE_NDJSON, SIZE_MAX, NULL);
    CHECK_UINT(t.faults, 1);
    CHECK_UINT(t.users, 0);
    free(t.text);
}

TEST(the_format_is_told_by_the_name_else_by_the_first_byte) {
    CHECK_INT(dn_userfile_format_of("users.csv"), DN_USERFILE_CSV);
    CHECK_INT(dn_userfile_format_of("/x.json/USERS.CSV"), DN_USERFILE_CSV);
    CHECK_INT(dn_userfile_format_of("users.ndjson"), DN_USERFILE_NDJSON);
    CHECK_INT(dn_userfile_format_of("users.jsonl"), DN_USERFILE_NDJSON);
    CHECK_INT(dn_userfile_format_of("users.json"), DN_USERFILE_NDJSON);
    CHECK_INT(dn_userfile_format_of("users"), DN_USERFILE_ANY);
    CHECK_INT(dn_userfile_format_of("csv"), DN_USERFILE_ANY);
    CHECK_INT(dn_userfile_format_of(""), DN_USERFILE_ANY);
    told t = read_in_pieces(BYTES("{x,08:00\n"), DN_USERFILE_CSV, 1, NULL);
    CHECK_STR(t.text, "1: {x 08:00 -\n");
    free(t.text);
    t = read_in_pieces(BYTES("ada,08:00\n"), DN_USERFILE_NDJSON, 1, NULL);
    CHECK_STR(t.text, "1! not JSON, near column 3\n");
    free(t.text);
}

/* ---- Lengths ---- */

/* before, then count times c, then after. */
static char *filled(const char *before, char c, size_t count, const char *after, size_t *out_len) {
    char *const text = malloc(strlen(before) + count + strlen(after) + 1);
    char       *at;

    if (!text) abort();
    at = stpcpy(text, before);
    memset(at, c, count);
    *out_len = (size_t)(stpcpy(at + count, after) - text);
    return text;
}

static void reads_filled(const char *before, char c, size_t count, const char *after,
                         const char *expected) {
    static const size_t pieces[] = {1, 7, 4096, 65536, 65537, 100000, SIZE_MAX};
    size_t              len;
    char *const         text = filled(before, c, count, after, &len);

    for (size_t i = TEST_SLOW_FACTOR > 1; i < sizeof pieces / sizeof pieces[0]; i++) {
        told t = read_in_pieces(text, len, DN_USERFILE_ANY, pieces[i], NULL);

        CHECK_MSG(strcmp(t.text, expected) == 0, "in pieces of %zu: %s", pieces[i], t.text);
        free(t.text);
    }
    free(text);
}

TEST(a_line_of_64_kib_is_judged_and_one_byte_more_is_passed_over) {
    reads_filled("ada,08:00\n", 'x', 65536, "\nbob,09:00\n",
                 "1: ada 08:00 -\n"
                 "2! one field only; write id,due or id,due,starts_on\n"
                 "3: bob 09:00 -\n");
    reads_filled("ada,08:00\n", 'x', 65537, "\nbob,09:00\n",
                 "1: ada 08:00 -\n2! the line is longer than 65536 bytes\n3: bob 09:00 -\n");
    reads_filled("ada,08:00\n", 'x', 65537, "",
                 "1: ada 08:00 -\n2! the line is longer than 65536 bytes\n");
    reads_filled("{\"id\":\"ada\",\"due\":\"08:00\"}\n", ' ', 300000,
                 "\n{\"id\":\"bob\",\"due\":\"08:00\"}\n",
                 "1: ada 08:00 -\n2! the line is longer than 65536 bytes\n3: bob 08:00 -\n");
}

TEST(a_quote_that_is_not_closed_within_64_kib_costs_its_own_line_only) {
    reads_filled("\"ada,08:00\nbob,09:00\n", 'x', 65536, "\neve,10:00\n",
                 "1! a quote is not closed\n2: bob 09:00 -\n"
                 "3! one field only; write id,due or id,due,starts_on\n4: eve 10:00 -\n");
    reads_filled("\"", 'x', 300000, "\neve,10:00\n",
                 "1! the line is longer than 65536 bytes\n2: eve 10:00 -\n");
}

TEST(a_file_of_blanks_is_no_user_however_long) {
    reads_filled("", ' ', 300000, "", "1! the line is longer than 65536 bytes\n");
    reads_filled("", '\n', 300000, "", "");
    reads_filled("", '\n', 65535, "{\"id\":\"a\",\"due\":\"08:00\"}", "65536: a 08:00 -\n");
    reads_filled("", '\n', 65536, "a,08:00\n", "65537: a 08:00 -\n");
}

/* Zeros, as /dev/zero has them: 256 MiB must take no more memory than the first of them. */
TEST(a_line_without_an_end_takes_no_memory) {
    static char            zeros[DN_USERFILE_PIECE];
    told                   t;
    const dn_userfile_sink sink = {on_user, on_fault, &t};
    dn_userfile           *file = NULL;
    struct rusage          before, after;

    told_init(&t);
    CHECK_INT(dn_userfile_new(DN_USERFILE_ANY, &sink, &file), DN_OK);
    CHECK_INT(dn_userfile_feed(file, zeros, sizeof zeros), DN_OK);
    CHECK(getrusage(RUSAGE_SELF, &before) == 0);
    for (int i = 0; i < 4096 / TEST_SLOW_FACTOR; i++)
        CHECK_INT(dn_userfile_feed(file, zeros, sizeof zeros), DN_OK);
    CHECK_INT(dn_userfile_feed(file, "\nada,08:00", 10), DN_OK);
    CHECK_INT(dn_userfile_end(file), DN_OK);
    CHECK(getrusage(RUSAGE_SELF, &after) == 0);
    CHECK_MSG(after.ru_maxrss - before.ru_maxrss < 1024, "%ld KiB more",
              after.ru_maxrss - before.ru_maxrss);
    (void)fclose(t.out);
    CHECK_STR(t.text, "1! the line is longer than 65536 bytes\n2: ada 08:00 -\n");
    dn_userfile_free(file);
    free(t.text);
}

/* ---- Any bytes ---- */

/* Made of pieces that mean something, and of bytes that mean nothing. */
static size_t random_file(uint64_t *random, char *bytes, size_t size) {
    static const char *const pieces[] = {"ada",
                                         ",",
                                         ",",
                                         "08:00",
                                         "\n",
                                         "\n",
                                         "\n",
                                         "\r\n",
                                         "\"",
                                         "\"\"",
                                         "id,due\n",
                                         "2026-12-01",
                                         "{\"id\":\"",
                                         "\",\"due\":\"09:00\"}",
                                         "\"starts_on\":\"today\"",
                                         "{",
                                         "}",
                                         "\xef\xbb\xbf",
                                         "bob,23:59\n",
                                         "\"x\",00:00\n",
                                         " ",
                                         "today",
                                         "\xc3\xa9"};
    size_t                   len = 0;

    for (uint64_t left = test_random(random) % 40; left > 0 && len + 40 < size; left--) {
        const char *const piece = pieces[test_random(random) % (sizeof pieces / sizeof pieces[0])];

        len = (size_t)(stpcpy(bytes + len, piece) - bytes);
        if (test_random(random) % 40 == 0) bytes[len++] = (char)test_random(random);
    }
    return len;
}

TEST(where_a_file_is_cut_into_pieces_makes_no_difference) {
    uint64_t random = test_seed(), users = 0, faults = 0;

    for (int n = 0; n < 30000 / TEST_SLOW_FACTOR; n++) {
        char                     bytes[2048];
        const size_t             len = random_file(&random, bytes, sizeof bytes);
        const dn_userfile_format format = (dn_userfile_format)(test_random(&random) % 3);
        const told               whole = read_in_pieces(bytes, len, format, SIZE_MAX, NULL);
        const told               cut = read_in_pieces(bytes, len, format, 0, &random);

        CHECK_STR(cut.text, whole.text);
        users += whole.users;
        faults += whole.faults;
        free(whole.text);
        free(cut.text);
    }
    CHECK(users > 1000 / TEST_SLOW_FACTOR);
    CHECK(faults > 1000 / TEST_SLOW_FACTOR);
}

TEST(a_good_line_is_kept_whatever_stands_before_and_behind_it) {
    uint64_t random = test_seed();

    for (int n = 0; n < 20000 / TEST_SLOW_FACTOR; n++) {
        char   bytes[4096] = "id,due\n";
        size_t len = strlen(bytes);
        char   expected[64];
        int    line = 2;

        /* Lines without quotes: what is in quotes may be no line. */
        for (uint64_t left = test_random(&random) % 20; left > 0; left--) {
            for (uint64_t i = test_random(&random) % 30; i > 0; i--) {
                char c = (char)test_random(&random);

                if (c != '"') bytes[len++] = c;
                line += c == '\n';
            }
            bytes[len++] = '\n';
            line++;
        }
        len = (size_t)(stpcpy(bytes + len, "kept,12:34\n") - bytes);
        const told t = read_in_pieces(bytes, len, DN_USERFILE_CSV, 0, &random);
        (void)snprintf(expected, sizeof expected, "%d: kept 12:34 -\n", line);
        CHECK_MSG(strstr(t.text, expected), "%s in %s", expected, t.text);
        free(t.text);
    }
}

/* A quote that nobody closes holds back all behind it, and lets go of it at once, at the length limit or at the end. */
TEST(no_more_users_are_told_of_than_there_is_room_for_however_many_a_piece_brings_to_light) {
    enum { LINES = 8190, LINE = 8 };
    static const size_t   pieces[] = {1, 7, 1000, 4096, 8192, 65535, SIZE_MAX};
    static const uint64_t mosts[] = {3, 100, 4096, LINES};
    static char           bytes[3 + LINES * LINE + 64];
    size_t                len = 3;

    (void)snprintf(bytes, sizeof bytes, "\"x\n");
    for (int i = 0; i < LINES; i++, len += LINE) memcpy(bytes + len, "a,08:00\n", LINE);
    for (int more = 0; more < 2; more++) {
        const told whole = read_in_pieces(bytes, len, DN_USERFILE_CSV, SIZE_MAX, NULL);
        CHECK_INT(whole.users, LINES + (uint64_t)more * 2);
        for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
            for (size_t j = 0; j < sizeof mosts / sizeof *mosts; j++) {
                const told t =
                    read_with_room(bytes, len, DN_USERFILE_CSV, pieces[i], NULL, mosts[j]);
                CHECK(strcmp(t.text, whole.text) == 0);
                free(t.text);
            }
        }
        free(whole.text);
        /* And longer than a line may be, with a last line that has no end. */
        len = (size_t)(stpcpy(bytes + len, "bob,09:00\n\"Lovelace, Ada\",23:30") - bytes);
    }
}

TEST(a_line_is_judged_when_it_is_whole) {
    const dn_userfile_sink sink = {.on_user = NULL, .on_fault = NULL, .context = NULL};
    dn_userfile           *file = NULL;

    CHECK_INT(dn_userfile_new(DN_USERFILE_CSV, &sink, &file), DN_OK);
    CHECK_INT(dn_userfile_feed(file, "ada", 3), DN_OK);
    dn_userfile_free(file);
    dn_userfile_free(NULL);
}

static int stop(void *context, const dn_userfile_user *user, uint64_t line) {
    (void)user;
    (void)line;
    ++*(int *)context;
    return DN_EIO;
}

static int stop_fault(void *context, const char *sentence, uint64_t line) {
    (void)sentence;
    (void)line;
    ++*(int *)context;
    return DN_ETIME;
}

static int read_text(const char *text, size_t len, const dn_userfile_sink *sink) {
    dn_userfile *f = NULL;
    int          rc = dn_userfile_new(DN_USERFILE_ANY, sink, &f);

    for (size_t part; rc == DN_OK && len > 0; text += part, len -= part) {
        part = len < DN_USERFILE_PIECE ? len : DN_USERFILE_PIECE;
        rc = dn_userfile_feed(f, text, part);
    }
    if (rc == DN_OK) rc = dn_userfile_end(f);
    dn_userfile_free(f);
    return rc;
}

TEST(what_the_callee_answers_is_what_the_caller_gets) {
    static const char *const faulty[] = {
        "x\n", "{\n", "{\"id\":1}\n", "{\"start_on\":1}\n", "id,due,start_on\n", "a\"b\n", "\"a"};
    int                    calls = 0;
    const dn_userfile_sink sink = {stop, stop_fault, &calls};

    CHECK_INT(read_text("ada,08:00\nbob,09:00\n", 20, &sink), DN_EIO);
    CHECK_INT(calls, 1);
    for (size_t i = 0; i < sizeof faulty / sizeof faulty[0]; i++) {
        CHECK_INT(read_text(faulty[i], strlen(faulty[i]), &sink), DN_ETIME);
        CHECK_INT(calls, (int)i + 2);
    }
}

TEST(without_memory_reading_does_not_begin) {
    int                    calls = 0;
    const dn_userfile_sink sink = {stop, stop_fault, &calls};

    starve_nth(1);
    CHECK_INT(read_text("ada,08:00\n", 10, &sink), DN_ENOMEM);
    CHECK(starve_end());
    CHECK_INT(calls, 0);
}

/* ---- Writing ---- */

static void random_id(uint64_t *random, dn_userfile_user *user, char id[DN_ID_MAX]) {
    static const char *const pieces[] = {
        "a", "\"", ",", "\\", " ", "'", "=", "\xc3\xa9", "{", "\xf0\x9f\x8c\x92", "id", "due"};

    do {
        user->id_len = 0;
        for (uint64_t left = 1 + test_random(random) % 10; left > 0; left--) {
            const char *const piece =
                pieces[test_random(random) % (sizeof pieces / sizeof pieces[0])];

            user->id_len = (size_t)(stpcpy(id + user->id_len, piece) - id);
        }
    } while (dn_id_fault(id, user->id_len));
    user->id = id;
}

TEST(what_is_written_is_read_back_as_the_same_users) {
    uint64_t random = test_seed();

    for (int n = 0; n < 2000 / TEST_SLOW_FACTOR; n++) {
        const dn_userfile_format format = n % 2 == 0 ? DN_USERFILE_CSV : DN_USERFILE_NDJSON;
        told                     expected;
        char                    *text = NULL;
        size_t                   len;
        FILE *const              out = open_memstream(&text, &len);

        told_init(&expected);
        CHECK_INT(dn_userfile_write_header(out, format), DN_OK);
        for (uint64_t line = 1; line <= 20; line++) {
            char             id[DN_ID_MAX];
            dn_userfile_user user = {.due = (uint32_t)(test_random(&random) % DN_DAY_MINUTES),
                                     .starts_on = DN_DAY_NONE,
                                     .starts_today = test_random(&random) % 3 == 0};

            random_id(&random, &user, id);
            if (!user.starts_today && test_random(&random) % 2 == 0)
                user.starts_on = (dn_day)(test_random(&random) % 3000000) - 700000;
            CHECK_INT(dn_userfile_write(out, format, &user), DN_OK);
            (void)on_user(&expected, &user, line + (format == DN_USERFILE_CSV));
        }
        CHECK(fclose(out) == 0);
        CHECK(fclose(expected.out) == 0);
        told t = read_in_pieces(text, len, DN_USERFILE_ANY, SIZE_MAX, NULL);
        CHECK_STR(t.text, expected.text);
        free(t.text);
        free(text);
        free(expected.text);
    }
}

static void writes(dn_userfile_format format, const char *expected) {
    const dn_userfile_user users[] = {
        {.id = "ada", .id_len = 3, .due = 480, .starts_on = DN_DAY_NONE},
        {.id = "=1+1", .id_len = 4, .due = 0, .starts_on = 0},
        {.id = "a\",\\", .id_len = 4, .due = 1439, .starts_on = DN_DAY_NONE, .starts_today = true}};
    char       *text = NULL;
    size_t      len;
    FILE *const out = open_memstream(&text, &len);

    CHECK_INT(dn_userfile_write_header(out, format), DN_OK);
    for (size_t i = 0; i < 3; i++) CHECK_INT(dn_userfile_write(out, format, &users[i]), DN_OK);
    CHECK(fclose(out) == 0);
    CHECK_MSG(strcmp(text, expected) == 0, "%s", text);
    free(text);
}

TEST(both_formats_are_written_to_the_letter) {
    writes(DN_USERFILE_CSV, "id,due,starts_on\n"
                            "ada,08:00,\n"
                            "=1+1,00:00,1970-01-01\n"
                            "\"a\"\",\\\",23:59,today\n");
    writes(DN_USERFILE_NDJSON,
           "{\"id\":\"ada\",\"due\":\"08:00\"}\n"
           "{\"id\":\"=1+1\",\"due\":\"00:00\",\"starts_on\":\"1970-01-01\"}\n"
           "{\"id\":\"a\\\",\\\\\",\"due\":\"23:59\",\"starts_on\":\"today\"}\n");
}

TEST(a_full_disk_is_told_when_users_are_written) {
    const dn_userfile_user user = {.id = "ada", .id_len = 3, .due = 480, .starts_on = DN_DAY_NONE};
    FILE *const            out = fopen("/dev/full", "w");
    int                    rc = DN_OK;

    for (int i = 0; i < 10000 && rc == DN_OK; i++)
        rc = dn_userfile_write(out, DN_USERFILE_CSV, &user);
    CHECK_INT(rc, DN_EIO);
    (void)fclose(out);
}

/* ---- Speed ---- */

static int count_user(void *context, const dn_userfile_user *user, uint64_t line) {
    (void)user;
    (void)line;
    ++*(uint64_t *)context;
    return DN_OK;
}

TEST(a_million_lines_of_csv_take_well_under_a_second) {
    const uint64_t         lines = UINT64_C(1000000) / TEST_SLOW_FACTOR;
    uint64_t               users = 0;
    const dn_userfile_sink sink = {count_user, on_fault, &users};
    char                  *text = NULL;
    size_t                 len;
    FILE                  *file = open_memstream(&text, &len);
    struct timespec        begin, end;

    for (uint64_t i = 0; i < lines; i++)
        (void)fprintf(file, "user-%" PRIu64 "@example.org,08:00,2026-12-01\n", i);
    CHECK(fclose(file) == 0);
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
    CHECK_INT(read_text(text, len, &sink), DN_OK);
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    CHECK_UINT(users, lines);
    const double seconds =
        (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9;
    CHECK_MSG(seconds < 1, "%f s", seconds);
    free(text);
}
