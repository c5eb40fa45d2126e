/* crash_test.c - kill -9, hundreds of times, at any instant.
 * A life of the daemon lasts some milliseconds. Between lives users are registered, after each beginning it is read
 * what is finalized, and the endpoint, which has seen everything, is told: from then on nobody may ask for those any
 * more. */
#include "endpoint.h"
#include "place.h"

#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    RESTARTS = 208 / TEST_SLOW_FACTOR,
    A_LIFE = 5,
    USERS_MAX = RESTARTS * A_LIFE + 64,
    ROW = 160
};

/* What was read of a user, the first time it was finalized. */
typedef struct known {
    char id[ENDPOINT_ID], row[ROW];
} known;

static struct {
    char  registered[USERS_MAX][ENDPOINT_ID]; /* acknowledged */
    int   registered_len;
    known finalized[USERS_MAX];
    int   finalized_len;
} world;

static void register_some(const place *p, int life, int hopeless_minutes) {
    char lines[1024] = "", due[8], hopeless[8];
    int  at = 0;

    (void)due_in(30, due);
    for (int i = 0; i < A_LIFE; i++) {
        char      *id = world.registered[world.registered_len++];
        const bool never = i == 0 && hopeless_minutes > 0;
        (void)snprintf(id, ENDPOINT_ID, "%s-%d-%d", never ? "never" : "user", life, i);
        at += snprintf(lines + at, sizeof lines - (size_t)at, "{\"id\":\"%s\",\"due\":\"%s\"}\n",
                       id, never ? due_in(hopeless_minutes, hopeless) : due);
    }
    const int code = place_run_bare(ARGS("users", "import", "-", "--data", p->data), lines);
    CHECK_MSG(code == 0, "exit %d: %s", code, place_said());
}

/* Who is finalized once is so for good, in every word. */
static void remember(endpoint *e, const char *id, const char *row) {
    endpoint_user *seen = endpoint_find(e, id);

    if (seen) atomic_store(&seen->closed, 1);
    for (int i = 0; i < world.finalized_len; i++) {
        if (strcmp(world.finalized[i].id, id) != 0) continue;
        CHECK_STR(row, world.finalized[i].row);
        return;
    }
    known *k = &world.finalized[world.finalized_len++];
    (void)snprintf(k->id, sizeof k->id, "%s", id);
    (void)snprintf(k->row, sizeof k->row, "%s", row);
}

static const char *text(const json_t *user, const char *key) {
    const char *value = json_string_value(json_object_get(user, key));

    return value ? value : "-";
}

/* How many users there are. */
static int look(const place *p, endpoint *e) {
    int   users = 0, size = 0;
    char *line, *rest;

    CHECK_RUN(p, 0, "users", "list", "--json");
    rest = (char *)(uintptr_t)place_said();
    for (; (line = strsep(&rest, "\n")) && *line; users++) {
        char    row[ROW];
        json_t *user = json_loads(line, 0, NULL);
        CHECK(user);
        size = snprintf(row, sizeof row, "%s %s %s %lld", text(user, "status"),
                        text(user, "last_date"), text(user, "last_run_at"),
                        (long long)json_integer_value(json_object_get(user, "context_epoch")));
        CHECK(size < ROW);
        if (json_is_string(json_object_get(user, "status"))) remember(e, text(user, "id"), row);
        json_decref(user);
    }
    return users;
}

static void no_request_came_after_its_day_was_closed(endpoint *e) {
    for (unsigned i = 0; i < atomic_load(&e->len); i++)
        CHECK_MSG(atomic_load(&e->users[i].after_closed) == 0,
                  "%s was asked for after it was known to be finalized", e->users[i].id);
}

static bool all_are_finalized(const place *p, endpoint *e) {
    const int users = look(p, e);

    CHECK_INT(users, world.registered_len); /* what was acknowledged is there */
    return world.finalized_len == users;
}

static void succeeded_only_who_was_answered_ok(endpoint *e) {
    for (int i = 0; i < world.finalized_len; i++) {
        const known         *k = &world.finalized[i];
        const endpoint_user *seen = endpoint_find(e, k->id);
        const bool           success = strncmp(k->row, "success", 7) == 0;
        CHECK_MSG(!success || (seen && atomic_load(&seen->ok) > 0), "%s: %s", k->id, k->row);
        CHECK_MSG(success || strncmp(k->id, "never-", 6) == 0, "%s: %s", k->id, k->row);
        CHECK_MSG(!success || strncmp(k->id, "never-", 6) != 0, "%s: %s", k->id, k->row);
    }
}

TEST(kill_9_at_any_instant_loses_nothing_repeats_nothing_and_leaves_nobody_without_a_record) {
    place            *p = place_new(NULL);
    endpoint         *e = endpoint_new();
    uint64_t          random = test_seed();
    const time_t      next_minute = (time(NULL) + 10) / 60 + 1;
    const char *const flags[] = {endpoint_flag(e), "--tick-ms=10", "--retry-delay-minutes=0",
                                 "--max-concurrency=8", NULL};

    int hopeless_len = 0, in_mid_job = 0;

    atomic_store(&e->delay_ms_max, 12);
    atomic_store(&e->fail_permille, 300);
    for (int life = 0; life < RESTARTS; life++) {
        /* One in four dies while it begins. */
        if (test_random(&random) % 4 == 0) {
            place_start(p, flags);
            pause_ms((int)(test_random(&random) % 25));
        } else {
            place_serve(p, flags);
            (void)look(p, e);
            /* Some have their cutoff within the run, and nobody who ever answers. */
            const bool hopeless = time(NULL) + 3 < next_minute * 60;
            register_some(p, life, hopeless ? (int)(next_minute - time(NULL) / 60) : 0);
            hopeless_len += hopeless;
            pause_ms((int)(test_random(&random) % 60));
        }
        in_mid_job += atomic_load(&e->running) > 0;
        place_signal(p, SIGKILL);
        CHECK_INT(place_wait(p), 128 + SIGKILL);
        endpoint_settle(e);
    }
    place_serve(p, flags);
    WAIT_FOR(all_are_finalized(p, e), 75000);
    /* What never happened proves nothing. */
    CHECK(hopeless_len > 0);
    CHECK(in_mid_job > RESTARTS / 10);
    no_request_came_after_its_day_was_closed(e);
    succeeded_only_who_was_answered_ok(e);
    CHECK_RUN(p, 0, "audit");
    CHECK_RUN(p, 0, "db", "check");
    place_signal(p, SIGTERM);
    CHECK_INT(place_wait(p), 0);
    CHECK_RUN(p, 0, "audit", "--json");
    CHECK_SAID("\"sound\":true");
    fprintf(stderr, "%d restarts, %d in mid-job, %d users, %u requests\n", RESTARTS, in_mid_job,
            world.registered_len, atomic_load(&e->requests));
}
