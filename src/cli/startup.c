/* startup.c - see startup.h.
 * One call is in progress at a time; `asked` says which, and so what its answer means. */
#include "startup.h"

#include "demo_users.h"

#include "actor/pipe.h"
#include "api/words.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    HERALD_GO_ON = MSG_OWN,
    LOOK_MS = 20,
    AGAIN_MS = 500,
    LIVE_MS = 5000,
    CALL_MS = 10000,
    BATCH_BYTES = DEMO_USERS * (sizeof(dn_kv_set) + DEMO_ID + 8),
};

typedef enum asked {
    ASKED_TICK,  /* are the users loaded? */
    ASKED_LIST,  /* which of the demo's users are there? */
    ASKED_SET,   /* those that are not */
    ASKED_QUEUE, /* the status line: three calls, then a line, then a pause */
    ASKED_EXECUTOR,
    ASKED_TOTALS,
} asked;

typedef struct startup {
    const startup_config *config;
    asked                 asked;
    bool                  stays[DEMO_USERS];
    uint32_t              done_today;
    char                 *batch;
    dn_queue_status       queue;
    dn_executor_status    executor;
    uint64_t              ended; /* jobs, at the line before */
} startup;

static int startup_init(dn_self *self, void *state, const void *config);
static int startup_on_answer(dn_self *self, void *state, const dn_msg *msg);
static int startup_on_go_on(dn_self *self, void *state, const dn_msg *msg);
static int startup_on_failed(dn_self *self, void *state, const dn_msg *msg);

static const dn_handler startup_handlers[] = {
    {MSG_STATUS, startup_on_answer},
    {MSG_KV_ANSWER, startup_on_answer},
    {HERALD_GO_ON, startup_on_go_on},        /* timer: the next call */
    {DN_MSG_CALL_FAILED, startup_on_failed}, /* the same call again, after a pause */
};

static const dn_class startup_class = {
    .name = "startup",
    .state_size = sizeof(startup),
    .init = startup_init,
    .handlers = DN_SLICE(startup_handlers),
};

static int startup_init(dn_self *self, void *state, const void *config) {
    startup *h = state;

    h->config = config;
    if (h->config->demo) h->batch = dn_alloc(self, BATCH_BYTES);
    dn_timer_after(self, 0, HERALD_GO_ON, ASKED_TICK);
    return DN_OK;
}

/* ---- Calls ---- */

static void call(dn_self *self, startup *h, asked what, const char *whom, uint32_t kind,
                 const void *body, size_t size) {
    h->asked = what;
    const int rc = dn_call(self, dn_name(self, whom), kind, body, size, CALL_MS, NULL);
    if (rc < 0) dn_timer_after(self, AGAIN_MS, HERALD_GO_ON, what);
}

static void ask_for_list(dn_self *self, startup *h) {
    dn_kv_list list = {.prefix_len = 5, .due_to = DN_DAY_MINUTES - 1, .max = 2 * DEMO_USERS};

    memcpy(list.prefix, "demo-", 5);
    call(self, h, ASKED_LIST, ACTOR_KV, MSG_KV_LIST, &list, sizeof list);
}

static void ask_for_totals(dn_self *self, startup *h) {
    const dn_day       today = dn_day_of_ms(dn_now_ms(self));
    const dn_kv_totals t = {today, today};

    call(self, h, ASKED_TOTALS, ACTOR_KV, MSG_KV_TOTALS, &t, sizeof t);
}

/* A failed set may have been done anyway, so the list is read again. */
static void ask(dn_self *self, startup *h, asked what) {
    switch (what) {
    case ASKED_TICK: call(self, h, what, ACTOR_TICK, MSG_ASK_STATUS, NULL, 0); return;
    case ASKED_LIST:
    case ASKED_SET: ask_for_list(self, h); return;
    case ASKED_QUEUE: call(self, h, what, ACTOR_QUEUE, MSG_ASK_STATUS, NULL, 0); return;
    case ASKED_EXECUTOR: call(self, h, what, ACTOR_EXECUTOR, MSG_ASK_STATUS, NULL, 0); return;
    case ASKED_TOTALS: ask_for_totals(self, h); return;
    }
}

static int startup_on_go_on(dn_self *self, void *state, const dn_msg *msg) {
    ask(self, state, (asked)*DN_BODY(uint64_t, msg));
    return DN_OK;
}

static int startup_on_failed(dn_self *self, void *state, const dn_msg *msg) {
    const startup *h = state;

    (void)msg;
    dn_timer_after(self, AGAIN_MS, HERALD_GO_ON, h->asked);
    return DN_OK;
}

/* ---- Ready ---- */

static void print_ready(const startup *h, uint64_t users) {
    const startup_config *c = h->config;
    char                  known[DN_WORDS], jobs[DN_WORDS];

    printf("diurnal is ready: %s in %s, runner %s, a tick every %lld ms, at most %s at once\n"
           "look:  %s status --data %s   (or top, today, why ID, audit, dashboard)\n"
           "       %s://%s/metrics  (and /healthz, /readyz?verbose)\n"
           "stop:  Ctrl-C, or kill %d\n",
           dn_words_count(users, "user", known), c->data, c->runner, (long long)c->tick_ms,
           dn_words_count(c->max_concurrency, "job", jobs), c->program, c->data, c->scheme,
           c->listens, (int)getpid());
    (void)fflush(stdout);
}

static void on_tick(dn_self *self, startup *h, const dn_tick_status *s) {
    if (!s->loaded) {
        dn_timer_after(self, LOOK_MS, HERALD_GO_ON, ASKED_TICK);
        return;
    }
    if (h->config->demo) ask_for_list(self, h);
    else print_ready(h, s->users);
}

/* ---- The demo's users ---- */

static void remember_who_is_there(dn_self *self, startup *h, const dn_kv_list_answer *list) {
    const int64_t now_ms = dn_now_ms(self);

    h->done_today = 0;
    for (uint32_t i = 0; i < list->len; i++) {
        const dn_user *u = &list->users[i];
        const uint32_t index = demo_index(u->id, u->id_len);
        if (index == DEMO_USERS) continue;
        h->stays[index] = demo_may_stay(u, now_ms);
        h->done_today += u->last_day >= dn_day_of_ms(now_ms);
    }
}

/* `letter`: users whose cutoff has just passed start today, so the next tick finalizes them for the demo. */
static size_t put_batch(dn_self *self, startup *h) {
    size_t bytes = 0;

    for (uint32_t i = 0; i < DEMO_USERS; i++) {
        dn_kv_set *s = (dn_kv_set *)(void *)(h->batch + bytes);
        char       id[DEMO_ID];
        if (h->stays[i]) continue;
        demo_id(i, id);
        const size_t room = dn_pipe_stride(sizeof *s + strlen(id));
        memset(s, 0, room);
        *s = (dn_kv_set){.due = (uint16_t)demo_due(i, dn_now_ms(self)),
                         .id_len = (uint8_t)strlen(id),
                         .letter = true,
                         .starts_on = DN_DAY_NONE};
        memcpy(s->id, id, s->id_len);
        bytes += room;
    }
    return bytes;
}

static void demo_begins(dn_self *self, const startup *h) {
    print_ready(h, DEMO_USERS);
    if (h->done_today > 0)
        printf("%u of the %d users are done for today; rm -r %s resets the demo\n", h->done_today,
               DEMO_USERS, h->config->data);
    printf("The users (demo-0001 and so on) are due from 5 minutes ago to 70 minutes from now, and "
           "attempted in the %u\nminutes before. One job in ten fails, one in a hundred hangs. "
           "Every 5 s:\n",
           h->config->window_minutes);
    (void)fflush(stdout);
    dn_timer_after(self, LIVE_MS, HERALD_GO_ON, ASKED_QUEUE);
}

static void on_list(dn_self *self, startup *h, const dn_kv_list_answer *list) {
    remember_who_is_there(self, h, list);
    const size_t bytes = put_batch(self, h);
    if (bytes == 0) demo_begins(self, h);
    else call(self, h, ASKED_SET, ACTOR_KV, MSG_KV_SET, h->batch, bytes);
}

/* ---- Status line ---- */

/* A stopped terminal (Ctrl-S) must not block the planner, which runs on this loop too. */
static bool there_is_room(void) {
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};

    return poll(&out, 1, /* timeout_ms= */ 0) == 1 && (out.revents & POLLOUT);
}

static void print_live(dn_self *self, startup *h, const dn_kv_rows_answer *totals) {
    const dn_day_totals *t = (const dn_day_totals *)(const void *)totals->rows;
    const bool           any = totals->status == DN_OK && totals->len > 0;
    const uint64_t       failed = h->executor.failed + h->executor.timed_out;
    const uint64_t       ended = h->executor.ok + failed;
    char                 now[DN_INSTANT_TEXT];

    dn_timer_after(self, LIVE_MS, HERALD_GO_ON, ASKED_QUEUE);
    if (!there_is_room()) return;
    dn_instant_write(dn_now_ms(self), now);
    printf("%.8s  queued %4llu  running %3llu  jobs +%-4llu (%llu failed so far)  done today: %llu "
           "success, "
           "%llu cutoff\n",
           now + 11, (unsigned long long)h->queue.queued, (unsigned long long)h->executor.in_flight,
           (unsigned long long)(ended - h->ended), (unsigned long long)failed,
           (unsigned long long)(any ? t->success : 0), (unsigned long long)(any ? t->cutoff : 0));
    (void)fflush(stdout);
    h->ended = ended;
}

static int startup_on_answer(dn_self *self, void *state, const dn_msg *msg) {
    startup *h = state;

    switch (h->asked) {
    case ASKED_TICK: on_tick(self, h, DN_BODY(dn_tick_status, msg)); break;
    case ASKED_LIST: on_list(self, h, dn_msg_body_borrow(msg)); break;
    case ASKED_SET: demo_begins(self, h); break;
    case ASKED_QUEUE:
        h->queue = *DN_BODY(dn_queue_status, msg);
        ask(self, h, ASKED_EXECUTOR);
        break;
    case ASKED_EXECUTOR:
        h->executor = *DN_BODY(dn_executor_status, msg);
        if (h->executor.ok + h->executor.failed + h->executor.timed_out < h->ended) h->ended = 0;
        ask(self, h, ASKED_TOTALS);
        break;
    case ASKED_TOTALS: print_live(self, h, dn_msg_body_borrow(msg)); break;
    }
    return DN_OK;
}

dn_child_spec startup_child(const startup_config *config) {
    return (dn_child_spec){.name = "startup",
                           .actor_class = &startup_class,
                           .config = config,
                           .loop = "main",
                           .backoff = {.min_ms = 100, .max_ms = 10000, .stable_ms = 60000}};
}
