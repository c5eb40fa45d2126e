/* sample.h - a small system with everything a real one has, to try the simulation driver on.
 *
 *     sample (rest_for_one)
 *      ├─ store      appends to a disk, commits what has gathered in one flush, answers after that
 *      ├─ counter    takes increments, asks the store, answers when the store has
 *      └─ ann, bob, cid, dot    clients: count, with deadlines, retry with the same number, crash
 *
 * What survives a crash is outside the actors, in a `sample`: the disk, with what is synced and what is
 * not yet, and what each client was told. The promises are checked there: nothing acknowledged is
 * ever lost, and no increment is counted twice. A test is a process of its own and runs one
 * sample at a time. */
#ifndef DIURNAL_TESTS_SIM_SAMPLE_H
#define DIURNAL_TESTS_SIM_SAMPLE_H

#include "diurnal/sim.h"
#include "diurnal/supervisor.h"
#include "test.h"

#include <string.h>

enum {
    CLIENTS = 4,
    QUOTA_MAX = 64, /* increments a client may have */
    PAYLOAD = 100,  /* more than a message holds inline, so every request asks for memory */
    CALL_MS = 40,
    FAULTS_MS = 4000,   /* so long faults come */
    SETTLE_MS = 600000, /* and within so long after them everything is settled */
    WALL_MS = 1700000000,
};

/* One increment, known by who wants it and which of his it is. */
typedef struct increment {
    uint32_t      client, number;
    unsigned char payload[PAYLOAD];
} increment;

typedef struct total {
    uint32_t client, number;
    uint64_t total;
} total;

/* Rare coincidences: each must be seen now and then, or the seeds prove little. */
typedef struct sample_seen {
    uint64_t crash_before_reply;   /* the process: after a commit, before its first answer */
    uint64_t crash_between;        /* the process: between two answers of one flush */
    uint64_t crash_while_starting; /* the process: while the counter waits for the store */
    uint64_t double_to_dead;  /* a reply is doubled, and its receiver ends before the twin comes */
    uint64_t retries_counted; /* an increment came again that was on the disk already */
    uint64_t lost_unsynced;   /* writes that a crash took along */
    uint64_t timeouts, unanswered, dead_calls, client_crashes, gave_up;
} sample_seen;

typedef struct sample {
    dn_sim  *sim;
    uint32_t quota;
    bool     no_timing; /* clients do not crash and do not hesitate */

    /* Planted bugs, and how often they were found: a check that has never failed is not yet one. */
    bool     ack_early; /* the store answers before it commits */
    bool     no_dedupe; /* the store counts what comes, whatever its number */
    uint64_t found;

    /* The disk: a journal, of which the first synced_len rows would survive power loss. */
    increment disk[4 * CLIENTS * QUOTA_MAX];
    size_t    disk_len, synced_len;

    /* What the clients know for good: their next number is that of the first not acknowledged. */
    uint32_t acked[CLIENTS];

    /* Where the process is: for the coincidences. */
    bool     counter_starting;
    int      answers_left, answered;
    uint64_t client_numbers[CLIENTS];
    struct {
        uint64_t actor;
        int64_t  until_ns;
    } doubled;

    uint64_t    order; /* hash of who handled what, without time */
    sample_seen seen;
} sample;

static sample s;

/* A promise of the sample's. Broken on purpose, it is counted; else it ends the test. */
#define SAMPLE_PROMISE(cond, ...)                                                                  \
    do {                                                                                           \
        if (s.ack_early || s.no_dedupe) s.found += !(cond);                                        \
        else CHECK_MSG(cond, __VA_ARGS__);                                                         \
    } while (0)

/* ---- The store ---- */

enum {
    STORE_READ = 1, /* call -> STORE_TOTAL */
    STORE_PUT,      /* call: increment -> STORE_TOTAL once it is committed */
    STORE_TOTAL,
    COUNTER_ADD,   /* call: increment -> COUNTER_TOTAL once it is committed */
    COUNTER_TOTAL, /* reply */
    COUNTER_SEEN,  /* a client says what it knows of: nobody answers */
    CLIENT_NEXT,   /* timer */
};

enum { GATHERED_MAX = 64 };

typedef struct store {
    dn_msg *waiting[GATHERED_MAX];
    int     waiting_len;
} store;

static inline bool on_disk(const increment *i, size_t len) {
    for (size_t at = 0; at < len; at++)
        if (s.disk[at].client == i->client && s.disk[at].number == i->number) return true;
    return false;
}

static inline void store_answer(dn_self *self, store *st) {
    s.answers_left = st->waiting_len;
    s.answered = 0;
    for (int i = 0; i < st->waiting_len; i++) {
        dn_msg          *m = st->waiting[i];
        const increment *inc = dn_msg_body_borrow(m);
        const total      t = {.client = inc->client, .number = inc->number, .total = s.synced_len};
        dn_reply(self, m, STORE_TOTAL, &t, sizeof t);
        s.answers_left--;
        s.answered++;
    }
    st->waiting_len = 0;
    s.answered = 0;
}

static inline int store_on_put(dn_self *self, void *state, const dn_msg *msg) {
    store           *st = state;
    const increment *inc = DN_BODY(increment, msg);

    for (size_t i = 0; i < PAYLOAD; i++) dn_require(inc->payload[i] == (unsigned char)inc->number);
    if (!s.no_dedupe && on_disk(inc, s.disk_len)) s.seen.retries_counted++;
    else s.disk[s.disk_len++] = *inc; /* written, not yet synced */
    dn_require(st->waiting_len < GATHERED_MAX);
    st->waiting[st->waiting_len++] = dn_msg_keep(self, msg);
    if (s.ack_early) store_answer(self, st);
    return DN_OK;
}

static inline int store_on_read(dn_self *self, void *state, const dn_msg *msg) {
    const total t = {.total = s.synced_len};

    (void)state;
    dn_reply(self, msg, STORE_TOTAL, &t, sizeof t);
    return DN_OK;
}

static inline int store_flush(dn_self *self, void *state) {
    store *st = state;

    if (s.synced_len < s.disk_len) dn_sim_note(s.sim, "commit", (int64_t)s.disk_len);
    s.synced_len = s.disk_len;
    store_answer(self, st);
    return DN_OK;
}

static const dn_handler store_handlers[] = {
    {STORE_PUT, store_on_put},
    {STORE_READ, store_on_read},
};

static const dn_class store_class = {
    .name = "store",
    .state_size = sizeof(store),
    .handlers = DN_SLICE(store_handlers),
    .flush = store_flush,
    .mailbox_max = 32,
};

/* ---- The counter ---- */

typedef struct asked {
    dn_call_id call;
    dn_msg    *request;
} asked;

typedef struct counter {
    dn_ref     store;
    dn_call_id first; /* the call its start waits for; 0: it is up */
    asked      open[8];
    uint64_t   total;
} counter;

static inline void counter_gone(void *thing) {
    (void)thing;
    s.counter_starting = false;
}

static inline int counter_init(dn_self *self, void *state, const void *config) {
    counter *c = state;

    (void)config;
    c->store = dn_name(self, "store");
    /* No deadline shorter than the supervisor's own: a store that is down ends the call anyway. */
    const int rc = dn_call(self, c->store, STORE_READ, NULL, 0, 10000, &c->first);
    if (rc < 0) return rc;
    dn_own(self, c, counter_gone);
    s.counter_starting = true;
    return DN_PENDING;
}

static inline asked *counter_find(counter *c, dn_call_id call) {
    for (size_t i = 0; i < sizeof c->open / sizeof *c->open; i++)
        if (c->open[i].call == call) return &c->open[i];
    return NULL;
}

static inline int counter_on_add(dn_self *self, void *state, const dn_msg *msg) {
    counter   *c = state;
    asked     *a = counter_find(c, 0);
    dn_call_id call;

    if (!a || dn_call(self, c->store, STORE_PUT, dn_msg_body_borrow(msg), sizeof(increment),
                      CALL_MS, &call) < 0)
        return DN_OK; /* not answered: the client learns at once, and tries again */
    a->call = call;
    a->request = dn_msg_keep(self, msg);
    return DN_OK;
}

static inline int counter_on_seen(dn_self *self, void *state, const dn_msg *msg) {
    const counter *c = state;
    const total   *t = DN_BODY(total, msg);

    (void)self;
    dn_require(t->total <= c->total); /* nobody knows more than the counter */
    return DN_OK;
}

static inline int counter_on_total(dn_self *self, void *state, const dn_msg *msg) {
    counter     *c = state;
    const total *t = DN_BODY(total, msg);

    dn_require(t->total >= c->total);
    c->total = t->total;
    if (dn_msg_call(msg) == c->first) {
        c->first = 0;
        s.counter_starting = false;
        dn_init_done(self, DN_OK);
        return DN_OK;
    }
    asked *a = counter_find(c, dn_msg_call(msg));
    dn_require(a); /* an answer to what was asked */
    dn_reply(self, a->request, COUNTER_TOTAL, t, sizeof *t);
    *a = (asked){0};
    return DN_OK;
}

static inline int counter_on_failed(dn_self *self, void *state, const dn_msg *msg) {
    counter              *c = state;
    const dn_call_failed *f = DN_BODY(dn_call_failed, msg);

    if (f->id == c->first) {
        dn_init_done(self, f->status);
        return DN_OK;
    }
    asked *a = counter_find(c, f->id);
    dn_require(a); /* a failure of what was asked */
    dn_msg_free(self, a->request);
    *a = (asked){0};
    return DN_OK;
}

static const dn_handler counter_handlers[] = {
    {COUNTER_ADD, counter_on_add},
    {STORE_TOTAL, counter_on_total},
    {COUNTER_SEEN, counter_on_seen},
    {DN_MSG_CALL_FAILED, counter_on_failed},
};

static const dn_class counter_class = {
    .name = "counter",
    .state_size = sizeof(counter),
    .init = counter_init,
    .handlers = DN_SLICE(counter_handlers),
};

/* ---- The clients ---- */

typedef struct client {
    uint32_t   number;
    dn_ref     counter;
    dn_call_id call;
    uint64_t   highest;
} client;

static inline int client_tries(dn_self *self, client *c) {
    increment inc = {.client = c->number, .number = s.acked[c->number] + 1};

    if (inc.number > s.quota) return DN_OK;
    const total seen = {.client = c->number, .total = c->highest};
    const int   rc = dn_send(self, c->counter, COUNTER_SEEN, &seen, sizeof seen);
    if (rc == DN_OK) {
        memset(inc.payload, (unsigned char)inc.number, sizeof inc.payload);
        if (dn_call(self, c->counter, COUNTER_ADD, &inc, sizeof inc, CALL_MS, &c->call) == DN_OK)
            return DN_OK;
    }
    dn_timer_after(self, 20, CLIENT_NEXT, 0);
    return DN_OK;
}

static inline int client_init(dn_self *self, void *state, const void *config) {
    client *c = state;

    c->number = *(const uint32_t *)config;
    c->counter = dn_name(self, "counter");
    dn_timer_after(self, 1, CLIENT_NEXT, 0);
    return DN_OK;
}

static inline int client_on_next(dn_self *self, void *state, const dn_msg *msg) {
    client *c = state;

    (void)msg;
    if (!s.no_timing && dn_random(self) % 64 == 0) {
        s.seen.client_crashes++;
        dn_fail("the client is flaky");
    }
    return client_tries(self, c);
}

static inline int client_on_total(dn_self *self, void *state, const dn_msg *msg) {
    client         *c = state;
    const total    *t = DN_BODY(total, msg);
    const increment inc = {.client = t->client, .number = t->number};

    CHECK_UINT(dn_msg_call(msg), c->call); /* an answer to an earlier call is not let through */
    CHECK_UINT(t->client, c->number);
    CHECK_UINT(t->number, s.acked[c->number] + 1);
    SAMPLE_PROMISE(on_disk(&inc, s.synced_len),
                   "client %u was told of %u, which is not on the disk", t->client, t->number);
    c->call = 0;
    c->highest = t->total;
    s.acked[c->number] = t->number;
    if (s.no_timing) {
        dn_timer_after(self, 5, CLIENT_NEXT, 0);
    } else if (dn_random(self) % 2) {
        dn_timer_after(self, (int64_t)(dn_random(self) % 100), CLIENT_NEXT, 0);
    } else {
        dn_timer_at_wall(self, dn_now_ms(self) + (int64_t)(dn_random(self) % 100), CLIENT_NEXT, 0);
    }
    return DN_OK;
}

static inline int client_on_failed(dn_self *self, void *state, const dn_msg *msg) {
    client               *c = state;
    const dn_call_failed *f = DN_BODY(dn_call_failed, msg);

    CHECK_UINT(f->id, c->call);
    CHECK_UINT(dn_msg_call(msg), f->id);
    c->call = 0;
    s.seen.timeouts += f->status == DN_ETIME;
    s.seen.unanswered += f->status == DN_EUNANSWERED;
    s.seen.dead_calls += f->status == DN_EDEAD;
    dn_timer_after(self, 10, CLIENT_NEXT, 0);
    return DN_OK;
}

static const dn_handler client_handlers[] = {
    {CLIENT_NEXT, client_on_next},
    {COUNTER_TOTAL, client_on_total},
    {DN_MSG_CALL_FAILED, client_on_failed},
};

static const dn_class client_class = {
    .name = "client",
    .state_size = sizeof(client),
    .init = client_init,
    .handlers = DN_SLICE(client_handlers),
};

/* ---- The tree ---- */

static const uint32_t client_numbers[CLIENTS] = {0, 1, 2, 3};

#define SOON                                                                                       \
    { .min_ms = 3, .max_ms = 50 }

static const dn_child_spec sample_children[] = {
    {.name = "store", .actor_class = &store_class, .backoff = {.min_ms = 5, .max_ms = 100}},
    {.name = "counter", .actor_class = &counter_class, .backoff = {.min_ms = 5, .max_ms = 100}},
    {.name = "ann", .actor_class = &client_class, .config = &client_numbers[0], .backoff = SOON},
    {.name = "bob", .actor_class = &client_class, .config = &client_numbers[1], .backoff = SOON},
    {.name = "cid", .actor_class = &client_class, .config = &client_numbers[2], .backoff = SOON},
    {.name = "dot", .actor_class = &client_class, .config = &client_numbers[3], .backoff = SOON},
};

static const dn_supervisor_spec sample_tree = {
    .strategy = DN_REST_FOR_ONE,
    .intensity = 20,
    .period_ms = 1000,
    .children = DN_SLICE(sample_children),
};

/* ---- Running it ---- */

static inline void sample_on_event(void *context, const dn_sim_event *e) {
    (void)context;
    if (e->kind == DN_SIM_HANDLE)
        s.order = (s.order ^ e->actor) * 0x9e3779b97f4a7c15U + e->msg_kind;
    switch (e->kind) {
    case DN_SIM_SPAWN:
        for (uint32_t i = 0; i < CLIENTS; i++)
            if (strcmp(e->name, sample_children[2 + i].name) == 0) s.client_numbers[i] = e->actor;
        break;
    case DN_SIM_DOUBLE:
        s.doubled.actor = e->actor;
        s.doubled.until_ns = e->mono_ns + 1000000;
        break;
    case DN_SIM_END:
        if (e->actor == s.doubled.actor && e->mono_ns <= s.doubled.until_ns)
            for (uint32_t i = 0; i < CLIENTS; i++)
                s.seen.double_to_dead += e->actor == s.client_numbers[i];
        break;
    case DN_SIM_CRASH_PROCESS:
        if (s.answers_left > 0 && s.answered == 0) s.seen.crash_before_reply++;
        if (s.answers_left > 0 && s.answered > 0) s.seen.crash_between++;
        if (s.counter_starting) s.seen.crash_while_starting++;
        break;
    default: break;
    }
}

static const dn_sim_faults sample_faults = {
    .crash_actor_ppm = 4000,
    .crash_process_ppm = 2000,
    .delay_ppm = 100000,
    .delay_ms_max = 30,
    .double_reply_ppm = 50000,
    .step_wall_ppm = 2000,
    .step_wall_ms_max = 10000,
    .slow_turn_ppm = 20000,
    .slow_turn_ms_max = 40,
    .fail_alloc_ppm = 4000,
};

/* What must hold at every instant. */
static inline void sample_check(void) {
    for (size_t i = 0; i < s.disk_len; i++)
        SAMPLE_PROMISE(!on_disk(&s.disk[i], i), "increment %u of client %u is counted twice",
                       s.disk[i].number, s.disk[i].client);
    for (uint32_t c = 0; c < CLIENTS; c++)
        for (uint32_t n = 1; n <= s.acked[c]; n++) {
            const increment inc = {.client = c, .number = n};
            SAMPLE_PROMISE(on_disk(&inc, s.synced_len),
                           "increment %u of client %u was acknowledged and is lost", n, c);
        }
}

/* A crash takes what is not synced. */
static inline void sample_power_lost(void) {
    s.seen.lost_unsynced += s.disk_len - s.synced_len;
    s.disk_len = s.synced_len;
    s.answers_left = s.answered = 0;
}

static inline void sample_boot(void) {
    const dn_spawn_spec root = {
        .actor_class = &dn_supervisor_class, .config = &sample_tree, .name = "sample"};
    const int rc = dn_sim_boot(s.sim, &root);

    CHECK_MSG(rc == DN_OK || rc == DN_PENDING, "the tree does not start: %s", dn_error_text(rc));
}

/* Everything up to its start; sample_run does the rest. */
static inline void sample_new(uint64_t seed, const dn_sim_faults *faults, uint32_t quota) {
    const dn_sim_config config = {
        .seed = seed,
        .wall_ms = WALL_MS,
        .faults = faults ? *faults : (dn_sim_faults){0},
        .on_event = sample_on_event,
    };

    CHECK(quota <= QUOTA_MAX);
    memset(&s, 0, sizeof s);
    s.quota = quota;
    CHECK_INT(dn_sim_new(&config, &s.sim), DN_OK);
}

static inline bool sample_is_done(void) {
    for (int c = 0; c < CLIENTS; c++)
        if (s.acked[c] < s.quota) return false;
    return true;
}

/* Lives and dies until until_ms, or until every client has its increments. */
static inline void sample_run(int64_t until_ms) {
    while (dn_sim_mono_ms(s.sim) < until_ms && !sample_is_done()) {
        if (!dn_sim_runtime(s.sim)) sample_boot();
        const int64_t    step_ms = dn_sim_mono_ms(s.sim) + 100;
        const dn_sim_end end = dn_sim_run(s.sim, step_ms < until_ms ? step_ms : until_ms);
        sample_check();
        if (end == DN_SIM_CRASHED) {
            sample_power_lost();
            dn_sim_pass(s.sim, (int64_t)(dn_sim_random(s.sim) % 50));
        } else if (end == DN_SIM_ENDED) {
            CHECK_MSG(dn_sim_root_reason(s.sim) < 0, "a permanent tree has ended normally");
            s.seen.gave_up++;
        }
    }
}

static inline void sample_settle(void) {
    static const dn_sim_faults none;

    dn_sim_set_faults(s.sim, &none);
    s.no_timing = true;
    sample_run(dn_sim_mono_ms(s.sim) + SETTLE_MS);
    CHECK_MSG(sample_is_done(), "%u and %u of %u increments, %d ms after the last fault",
              s.acked[0], s.acked[1], s.quota, SETTLE_MS);
    sample_check();
    CHECK_UINT(s.synced_len, s.quota * CLIENTS);
}

static inline void sample_free(void) { dn_sim_free(DN_TAKE(s.sim)); }

/* A whole run: its hash. Counts and coincidences stay in s; the counts go to *out_counts. */
static inline uint64_t sample_whole_run(uint64_t seed, const dn_sim_faults *faults, uint32_t quota,
                                        dn_sim_counts *out_counts) {
    sample_new(seed, faults, quota);
    sample_run(FAULTS_MS);
    sample_settle();
    const uint64_t hash = dn_sim_hash(s.sim);
    if (out_counts) *out_counts = *dn_sim_counts_borrow(s.sim);
    sample_free();
    return hash;
}

#endif
