/* record_test.c - what the daemon records, replayed: the same users, whatever happened to it.
 * Jobs fail, users come and go, the process is killed and comes back; then the trace says it all again. */
#include "endpoint.h"
#include "place.h"

#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

enum { NEAR_MS = 500, TEXT = PLACE_PATH + 64 };

static char *path_in(const place *p, const char *name, char path[TEXT]) {
    (void)snprintf(path, TEXT, "%s/%s", p->dir, name);
    return path;
}

static const char *flag_of(const place *p, char flag[TEXT]) {
    (void)snprintf(flag, TEXT, "--record=%s/trace", p->dir);
    return flag;
}

#define FLAGS(e, p, flag)                                                                          \
    endpoint_flag(e), flag_of(p, flag), "--tick-ms=100", "--retry-delay-minutes=0",                \
        "--max-concurrency=300", "--per-host=300"

/* So many users more, "name-0" and on, due in so many minutes. */
static void import(const place *p, const char *name, int users, int minutes) {
    char *lines = calloc((size_t)users, 100), due[8];
    int   at = 0;

    CHECK(lines);
    (void)due_in(minutes, due);
    for (int i = 0; i < users; i++)
        at += snprintf(lines + at, 100, "{\"id\":\"%s-%d\",\"due\":\"%s\"}\n", name, i, due);
    const int code = place_run_bare(ARGS("users", "import", "-", "--data", p->data), lines);
    CHECK_MSG(code == 0, "exit %d: %s", code, place_said());
    free(lines);
}

static const char *users_now(const place *p) {
    CHECK_RUN(p, 0, "users", "list", "--json");
    return place_said();
}

static bool all_are_finalized(const place *p) {
    const char *said = users_now(p);

    return !strstr(said, "\"last_date\":null");
}

static json_t *line_next(char **rest) {
    char *line = strsep(rest, "\n");

    return line && *line ? json_loads(line, 0, NULL) : NULL;
}

static int64_t of_day_ms(const json_t *instant) {
    int h, m, s, ms;

    /* NOLINTNEXTLINE(cert-err34-c): of the daemon's own writing */
    CHECK(sscanf(json_string_value(instant), "%*d-%*d-%*dT%d:%d:%d.%d", &h, &m, &s, &ms) == 4);
    return ((h * 60 + m) * 60 + s) * (int64_t)1000 + ms;
}

/* What happened in the milliseconds between a minute and its tick is written as before it. */
static bool is_near(const json_t *a, const json_t *b) {
    return json_is_string(a) && json_is_string(b) && llabs(of_day_ms(a) - of_day_ms(b)) <= NEAR_MS;
}

/* Both in lines by id; the number of users. */
static int are_the_same(char *real, char *replayed) {
    int     users = 0, near = 0;
    json_t *a, *b;

    for (; (a = line_next(&real)); users++) {
        b = line_next(&replayed);
        CHECK_MSG(b, "%s is not in the replay", json_string_value(json_object_get(a, "id")));
        if (!json_equal(a, b) &&
            is_near(json_object_get(a, "last_run_at"), json_object_get(b, "last_run_at"))) {
            CHECK(json_object_set(b, "last_run_at", json_object_get(a, "last_run_at")) == 0);
            near++;
        }
        CHECK_MSG(json_equal(a, b), "in the daemon %s\nin the replay %s", json_dumps(a, 0),
                  json_dumps(b, 0));
        json_decref(a);
        json_decref(b);
    }
    CHECK(!line_next(&replayed));
    CHECK_MSG(near * 10 <= users, "%d of %d users ran at another millisecond", near, users);
    return users;
}

/* Replays the trace of that name, which is to end with those users. */
static void replays_as(const place *p, const char *name, const char *real) {
    char      trace[TEXT], out[TEXT], users[TEXT + 16], *lines = strdup(real);
    const int code = place_run_bare(
        ARGS("replay", path_in(p, name, trace), "--out", path_in(p, "replayed", out)), NULL);

    CHECK_MSG(code == 0, "exit %d: %s", code, place_said());
    (void)snprintf(users, sizeof users, "%s/users.ndjson", out);
    CHECK(lines);
    (void)are_the_same(lines, place_read(users));
    free(lines);
}

static int count_of(const char *text, const char *words) {
    int times = 0;

    for (const char *at = text; (at = strstr(at, words)); at++) times++;
    return times;
}

/* What a replay tries a tick later than the daemon did must be in time before the trace ends. */
static bool is_recorded_until(const place *p, time_t second) {
    char        path[TEXT], end[32];
    struct tm   utc;
    const char *said = strstr(place_read(path_in(p, "trace", path)), "\"end\":\"");

    CHECK(gmtime_r(&second, &utc) && strftime(end, sizeof end, "%FT%TZ", &utc) > 0);
    return said && strncmp(said + 7, end, sizeof "2026-01-01T00:00:00" - 1) >= 0;
}

static void stops(place *p) {
    const time_t now = time(NULL);

    WAIT_FOR(is_recorded_until(p, now + 2), 20000);
    place_signal(p, SIGTERM);
    CHECK_INT(place_wait(p), 0);
}

TEST(a_replay_of_what_was_recorded_ends_with_the_same_users) {
    place      *p = place_new(NULL);
    endpoint   *e = endpoint_new();
    char        flag[TEXT], path[TEXT], due[8], *real;
    struct stat about;

    atomic_store(&e->delay_ms_max, 40);
    atomic_store(&e->fail_permille, 600);
    place_serve(p, ARGS(FLAGS(e, p, flag)));
    import(p, "user", 200, 30);
    import(p, "never", 3, 1);
    import(p, "gone", 10, 40);
    import(p, "moved", 10, 40);
    CHECK_RUN(p, 0, "users", "rm", "gone-3");
    CHECK_RUN(p, 0, "users", "set", "gone-3", "--due", due_in(25, due));
    CHECK_RUN(p, 0, "users", "rm", "gone-4");
    CHECK_RUN(p, 0, "users", "set", "moved-5", "--due", due_in(45, due));

    /* In the middle of its work. */
    WAIT_FOR(stat(path_in(p, "trace", path), &about) == 0, 10000);
    WAIT_FOR(atomic_load(&e->running) > 2, 10000);
    place_signal(p, SIGKILL);
    CHECK_INT(place_wait(p), 128 + SIGKILL);
    place_serve(p, ARGS(FLAGS(e, p, flag)));
    for (int i = 0; i < 10; i++) {
        char id[16];
        if (i == 5) continue;
        (void)snprintf(id, sizeof id, "moved-%d", i);
        CHECK_RUN(p, 0, "users", "set", id, "--due", due_in(41, due));
    }
    WAIT_FOR(all_are_finalized(p), 100000);
    real = strdup(users_now(p));
    CHECK(count_of(real, "cutoff_reached") >= 3);
    CHECK_INT(count_of(real, "\"id\""), 222);
    stops(p);
    replays_as(p, "trace", real);
    const char *trace = place_read(path_in(p, "trace", path));
    CHECK_INT(count_of(trace, "\"op\":\"crash\""), 1);
    CHECK(count_of(trace, "\"result\":\"error\"") > 10);

    /* And once more, after a stop. */
    place_serve(p, ARGS(FLAGS(e, p, flag)));
    import(p, "late", 50, 20);
    CHECK_RUN(p, 0, "users", "rm", "gone-5");
    WAIT_FOR(all_are_finalized(p), 30000);
    free(real);
    real = strdup(users_now(p));
    stops(p);
    replays_as(p, "trace", real);
    free(real);
}
