/* log_test.c - what the daemon says on standard error, as a program reads it: JSON, text, and for the journal. */
#define _GNU_SOURCE
#include "place.h"

#include <ctype.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A daemon's life with lines of every level; whatever it says on standard error is in the file, and nothing else is. */
static place *lives(const char *format) {
    place *p = place_new(NULL);
    char   due[8];

    place_keep_errors_apart(p);
    place_serve(p, ARGS("--runner=exec:/bin/false", "--tick-ms=20", "--retry-delay-minutes=0",
                        "--log-level=debug", "--job-p95-max-ms=1", "--slo-eval-ms=100", format));
    CHECK_RUN(p, 0, "users", "set", "ada", "--due", due_in(30, due));
    WAIT_FOR(strstr(place_read(p->errors), "slo.breached"), 20000);
    place_signal(p, SIGHUP);
    WAIT_FOR(strstr(place_read(p->errors), "config.read"), 20000);
    place_signal(p, SIGTERM);
    CHECK_INT(place_wait(p), 0);
    return p;
}

/* The next line of it, without its end; NULL: there is none. */
static char *line_of(char **at) {
    char *line = *at, *end = strchr(line, '\n');

    if (!*line) return NULL;
    CHECK_MSG(end, "a line without an end: %s", line);
    *end = '\0';
    *at = end + 1;
    return line;
}

static bool is_level(const char *word) {
    static const char *const words[] = {"debug", "info", "warn", "error"};

    for (int i = 0; i < 4; i++)
        if (strcmp(words[i], word) == 0) return true;
    return false;
}

/* "dddd-dd-ddTdd:dd:dd.dddZ", d being any digit. */
static bool looks_like(const char *text, const char *pattern) {
    for (; *pattern; text++, pattern++)
        if (*pattern == 'd' ? !isdigit((unsigned char)*text) : *text != *pattern) return false;
    return *text == '\0';
}

static const char *member(const json_t *object, const char *name, const char *line) {
    const char *text = json_string_value(json_object_get(object, name));

    CHECK_MSG(text && *text, "no \"%s\" in: %s", name, line);
    return text;
}

/* ---- JSON ---- */

static json_t *json_of(const char *line) {
    json_error_t why;
    json_t      *object = json_loads(line, JSON_REJECT_DUPLICATES, &why);

    CHECK_MSG(json_is_object(object), "%s: %s", why.text, line);
    return object;
}

/* Each line, and how often each level was seen. */
static int check_json(char *text, int seen[4]) {
    int lines = 0;

    for (char *line; (line = line_of(&text)); lines++) {
        json_t     *object = json_of(line);
        const char *level = member(object, "level", line);
        CHECK_MSG(looks_like(member(object, "t", line), "dddd-dd-ddTdd:dd:dd.dddZ"), "%s", line);
        CHECK_MSG(is_level(level), "%s", line);
        for (const char *c = member(object, "event", line); *c; c++)
            CHECK_MSG(islower((unsigned char)*c) || *c == '_' || *c == '.', "%s", line);
        (void)member(object, "text", line);
        seen[*level == 'd' ? 0 : *level == 'i' ? 1 : *level == 'w' ? 2 : 3]++;
        json_decref(object);
    }
    return lines;
}

TEST(into_a_file_each_line_is_a_json_object_with_its_time_level_event_and_text) {
    place *p = lives("--log-format=auto");
    int    seen[4] = {0};

    CHECK(check_json(place_read(p->errors), seen) > 5);
    CHECK_MSG(seen[0] > 0 && seen[1] > 0 && seen[2] > 0, "debug %d, info %d, warn %d", seen[0],
              seen[1], seen[2]);
}

/* ---- Text ---- */

/* "08:00:00.123 warn  store.full: nothing can be written", and how it goes on behind the time. */
static const char *check_text(const char *line) {
    char word[8], event[64], time[13];
    int  behind = 0;

    snprintf(time, sizeof time, "%s", line);
    CHECK_MSG(looks_like(time, "dd:dd:dd.ddd") && line[12] == ' ', "%s", line);
    CHECK_MSG(sscanf(line + 13, "%7[a-z] %63[a-z_.]: %n", word, event, &behind) == 2 &&
                  is_level(word) && behind > 0 && line[13 + behind],
              "%s", line);
    return line + 13;
}

TEST(as_text_each_line_begins_with_its_time_its_level_and_its_event) {
    place *p = lives("--log-format=text");
    char  *text = place_read(p->errors);
    int    lines = 0;

    for (char *line; (line = line_of(&text)); lines++) (void)check_text(line);
    CHECK(lines > 5);
}

/* ---- The journal ---- */

/* The journal is taken to read where that variable names the file of the standard error. */
static void journal_reads(const place *p, bool really) {
    struct stat about;
    char        stream[64];

    CHECK(stat(p->errors, &about) == 0);
    snprintf(stream, sizeof stream, "%llu:%llu", (unsigned long long)about.st_dev,
             (unsigned long long)about.st_ino + !really);
    CHECK(setenv("JOURNAL_STREAM", stream, /* overwrite= */ 1) == 0);
}

/* One life, in that format, with the journal at its standard error, or elsewhere. */
static char *told_to_the_journal(const char *format, bool really) {
    place *p = place_new(NULL);

    place_keep_errors_apart(p);
    journal_reads(p, really);
    place_serve(p, ARGS("--runner=exec:/bin/true", "--log-level=debug", format));
    place_signal(p, SIGHUP);
    WAIT_FOR(strstr(place_read(p->errors), "config.read"), 20000);
    place_signal(p, SIGTERM);
    CHECK_INT(place_wait(p), 0);
    return place_read(p->errors);
}

/* Behind "<6>". */
static const char *prefixed(const char *line) {
    CHECK_MSG(line[0] == '<' && strchr("3467", line[1]) && line[2] == '>', "%s", line);
    return line + 3;
}

TEST(for_the_journal_the_level_is_a_prefix_and_the_time_is_left_to_it) {
    char *text = told_to_the_journal("--log-format=json", true);
    int   lines = 0;

    for (char *line; (line = line_of(&text)); lines++) {
        json_t *object = json_of(prefixed(line));
        (void)member(object, "event", line);
        (void)member(object, "text", line);
        CHECK_MSG(!json_object_get(object, "t") && !json_object_get(object, "level"), "%s", line);
        json_decref(object);
    }
    CHECK(lines > 1);
}

TEST(for_the_journal_text_has_a_prefix_and_no_time) {
    char *text = told_to_the_journal("--log-format=text", true);
    int   lines = 0;

    for (char *line; (line = line_of(&text)); lines++) {
        char event[64];
        int  behind = 0;
        CHECK_MSG(sscanf(prefixed(line), "%63[a-z_.]: %n", event, &behind) == 1 && behind > 0, "%s",
                  line);
    }
    CHECK(lines > 1);
}

TEST(a_journal_that_reads_something_else_gets_no_prefixes) {
    char *text = told_to_the_journal("--log-format=json", false);
    int   seen[4] = {0};

    CHECK(check_json(text, seen) > 1);
}
