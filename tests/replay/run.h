/* run.h - a trace in a test's words, run, and the lines that came of it. A test is a process of its own, and may run
 * several traces one after the other. */
#ifndef DIURNAL_TESTS_REPLAY_RUN_H
#define DIURNAL_TESTS_REPLAY_RUN_H

#include "obs/log.h"
#include "replay/replay.h"
#include "test.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
    char   dir[64], trace[96], out[96];
    char  *events, *users, *summary;
    char   why[REPLAY_WHY];
    size_t trace_len;
} run;

static inline char *slurp(const char *name) {
    char   path[160];
    size_t len = 0, cap = 1 << 16;
    char  *text = malloc(cap);

    (void)snprintf(path, sizeof path, "%s/%s", run.out, name);
    FILE *f = fopen(path, "r");
    CHECK_MSG(f && text, "%s is not there", path);
    for (size_t got; (got = fread(text + len, 1, cap - len - 1, f)) > 0;) {
        len += got;
        if (len + 1 < cap) continue;
        char *wider = realloc(text, cap *= 2);
        CHECK(wider);
        text = wider;
    }
    (void)fclose(f);
    text[len] = '\0';
    return text;
}

static inline void run_forgets(void) {
    free(run.events);
    free(run.users);
    free(run.summary);
    run.events = run.users = run.summary = NULL;
}

static inline void remove_all(const char *dir) {
    char path[400];
    DIR *d = opendir(dir);

    for (struct dirent *e; d && (e = readdir(d));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
        (void)snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
        if (unlink(path) < 0) remove_all(path);
    }
    if (d) (void)closedir(d);
    (void)rmdir(dir);
}

static inline void run_is_over(void) {
    run_forgets();
    if (*run.dir) remove_all(run.dir);
}

/* The trace is written to a file; "%s" and so on are those of printf. */
static inline void trace_is(const char *format, ...) {
    va_list args;

    if (!*run.dir) {
        strcpy(run.dir, "/tmp/diurnal-replay-XXXXXX");
        CHECK(mkdtemp(run.dir) != NULL);
        (void)snprintf(run.trace, sizeof run.trace, "%s/trace.ndjson", run.dir);
        (void)snprintf(run.out, sizeof run.out, "%s/out", run.dir);
        CHECK(atexit(run_is_over) == 0);
    }
    FILE *f = fopen(run.trace, "w");
    CHECK(f != NULL);
    va_start(args, format);
    (void)vfprintf(f, format, args);
    va_end(args);
    CHECK(fclose(f) == 0);
}

/* Runs it, and gives what replay_run does. */
static inline int run_with(uint64_t seed, const char *const *sets, size_t sets_len) {
    const replay_config config = {.trace = run.trace,
                                  .version = "1",
                                  .out = run.out,
                                  .seed = seed,
                                  .sets = sets,
                                  .sets_len = sets_len};
    replay             *r = NULL;

    dn_log_threshold(DN_LOG_NONE);
    run_forgets();
    const int rc = replay_run(&config, &r, run.why);
    if (rc < 0) return rc;
    const replay_result *result = replay_result_borrow(r);
    CHECK_MSG(result->violations == 0, "an invariant did not hold: %s",
              result->violation_texts_len > 0 ? result->violation_texts[0] : "");
    replay_free(r);
    run.events = slurp("events.ndjson");
    run.users = slurp("users.ndjson");
    run.summary = slurp("summary.json");
    return rc;
}

static inline void runs(void) { CHECK_MSG(run_with(test_seed(), NULL, 0) == DN_OK, "%s", run.why); }

/* How many lines have all of these words, up to a NULL. */
static inline int lines_with(const char *first, ...) {
    int count = 0;

    for (const char *line = run.events; *line;) {
        const char *end = strchr(line, '\n');
        va_list     args;
        bool        all = true;
        char       *copy = strndup(line, (size_t)(end - line));
        va_start(args, first);
        for (const char *words = first; words; words = va_arg(args, const char *))
            all = all && strstr(copy, words);
        va_end(args);
        free(copy);
        count += all;
        line = end + 1;
    }
    return count;
}

#define LINES(...) lines_with(__VA_ARGS__, (const char *)NULL)

/* What is left of the log without its ticks. */
static inline void ticks_go(void) {
    char *to = run.events;

    for (const char *line = run.events; *line;) {
        const char  *end = strchr(line, '\n') + 1;
        const size_t len = (size_t)(end - line);
        const char  *tick = strstr(line, "\"ev\":\"tick\"");
        if (!tick || tick > end) {
            memmove(to, line, len);
            to += len;
        }
        line = end;
    }
    *to = '\0';
}

/* Where a piece of a line stands; it must be there. */
static inline const char *place_of(const char *words) {
    const char *at = strstr(run.events, words);

    CHECK_MSG(at != NULL, "no line has %s in:\n%.4000s", words, run.events);
    return at;
}

#define HEADER(start, end, more)                                                                   \
    "{\"trace\":1,\"start\":\"" start "\",\"end\":\"" end "\"" more                                \
    ",\"default\":{\"result\":\"ok\",\"duration_ms\":500}}\n"
#define USER(at, id, due)                                                                          \
    "{\"at\":\"" at "\",\"op\":\"user\",\"id\":\"" id "\",\"due\":\"" due "\"}\n"

#endif
