/* dynamic.c - many equal children that come and go.
 * They are temporary, have no names, and live on the supervisor's loop. Each has a slot in a table; its
 * tag is the slot and how often that was used, so every message finds its child at once. A crash
 * here ends all children (they are linked).
 * Whoever starts many, again and again, need not watch them, nor they him: this actor watches both, each once, and tells
 * him of those that end otherwise than they should. Of those that end as they should it is not even told itself: their
 * slots are found when the next ones are wanted (bury). */
#include "sup.h"
#include "table.h"

typedef enum slot_state { SLOT_FREE, SLOT_STARTING, SLOT_RUNNING } slot_state;

typedef struct slot {
    union {
        dn_ref   who;       /* SLOT_RUNNING */
        dn_msg  *request;   /* SLOT_STARTING: to be answered; NULL if it was no call */
        uint32_t next_free; /* SLOT_FREE: index + 1 */
    };
    uint32_t    uses;
    slot_state  state;
    dn_watch_id quiet;  /* once it does not stand any more, the child has ended. 0: that is told */
    dn_ref      sender; /* whose child it is; DN_NOBODY: nobody's, it was asked for by a call */
    uint64_t    tag;    /* the sender's */
} slot;

/* In the tag of a watch: it is one of a sender. */
#define SENDERS_INDEX UINT32_MAX

typedef struct dynamic {
    const dn_dynamic_spec *spec;
    sup_table              slots;
    uint32_t               len;  /* slots ever used */
    uint32_t               free; /* index + 1 of the first free one; 0: none below len */
    uint32_t running, starting, children_max; /* running: who is quiet may have ended */
    uint32_t hand;                            /* where the next look for one of those begins */
    uint64_t started;
    dn_ref   senders[DN_DYNAMIC_SENDERS_MAX]; /* watched */
    uint32_t senders_len;
    bool     ending, overdue;
} dynamic;

static int dynamic_init(dn_self *self, void *state, const void *config);
static int dynamic_flush(dn_self *self, void *state);
static int dynamic_stopping(dn_self *self, void *state);
static int dynamic_on_start(dn_self *self, void *state, const dn_msg *msg);
static int dynamic_on_start_all(dn_self *self, void *state, const dn_msg *msg);
static int dynamic_on_down(dn_self *self, void *state, const dn_msg *msg);
static int dynamic_on_started(dn_self *self, void *state, const dn_msg *msg);
static int dynamic_on_deadline(dn_self *self, void *state, const dn_msg *msg);
static int dynamic_on_ask_counts(dn_self *self, void *state, const dn_msg *msg);
static int dynamic_on_name(dn_self *self, void *state, const dn_msg *msg);

static const dn_handler dynamic_handlers[] = {
    {DN_MSG_DOWN, dynamic_on_down},
    {DN_SUP_START_ALL, dynamic_on_start_all}, /* some more children, and whose they are */
    {DN_SUP_START, dynamic_on_start},         /* dn_dynamic_start -> one more child */
    {DN_MSG_STARTED, dynamic_on_started},     /* a start that took its time came to its end */
    {DN_SUP_TIMER, dynamic_on_deadline},      /* the common deadline of a stop */
    {DN_SUP_ASK_COUNTS, dynamic_on_ask_counts},
    {DN_SUP_ASK_CHILD, dynamic_on_name}, /* there are no names here */
    {DN_SUP_STOP_CHILD, dynamic_on_name},
    {DN_SUP_RESTART_CHILD, dynamic_on_name},
};

const dn_class dn_dynamic_class = {
    .name = "dynamic",
    .state_size = sizeof(dynamic),
    .init = dynamic_init,
    .handlers = DN_SLICE(dynamic_handlers),
    .flush = dynamic_flush,
    .flush_max =
        5, /* with it a turn ends: each message may be many starts, and each start may take its time */
    .stopping = dynamic_stopping,
    .mailbox_max = 1 << 20,        /* whoever wants a thousand children asks for them at once */
    .heap_max = (size_t)256 << 20, /* the table of its children */
};

/* ---- The table ---- */

static slot *slot_at(const dynamic *d, uint32_t index) { return sup_table_at(&d->slots, index); }

static void slot_give(dynamic *d, uint32_t index) {
    slot *s = slot_at(d, index);

    s->state = SLOT_FREE;
    s->next_free = d->free;
    d->free = index + 1;
}

/* Gives the slot of one that has ended in silence. */
static inline bool bury(dn_self *self, dynamic *d, uint32_t index) {
    const slot *s = slot_at(d, index);

    if (s->state != SLOT_RUNNING || s->quiet == 0 || dn_watch_stands(self, s->quiet)) return false;
    d->running--;
    slot_give(d, index);
    return true;
}

static void bury_all(dn_self *self, dynamic *d) {
    for (uint32_t i = 0; i < d->len; i++) (void)bury(self, d, i);
}

/* One that has ended in silence is found by a few looks, unless those beside it live long. */
static void bury_some(dn_self *self, dynamic *d) {
    for (int looks = 0; looks < 4 && looks < (int)d->len; looks++) {
        if (d->hand >= d->len) d->hand = 0;
        if (bury(self, d, d->hand++)) return;
    }
}

/* The table is full of what has a slot: it grows, unless many of those have ended. */
static void make_room(dn_self *self, dynamic *d) {
    const uint32_t running = d->running;

    bury_all(self, d);
    if (running - d->running <= d->len / 4) sup_table_grow(self, &d->slots);
}

static uint32_t slot_take(dn_self *self, dynamic *d) {
    if (d->free == 0) bury_some(self, d);
    if (d->free == 0 && d->len == d->slots.len) make_room(self, d);
    uint32_t index = d->free - 1;
    if (d->free > 0) {
        d->free = slot_at(d, index)->next_free;
    } else {
        index = d->len++;
    }
    slot_at(d, index)->uses++;
    return index;
}

/* NULL: what the tag speaks of is not there any more. */
static slot *slot_of(const dynamic *d, uint64_t tag) {
    const uint32_t index = sup_tag_index(tag);
    slot          *s = index < d->len ? slot_at(d, index) : NULL;

    return s && s->uses == sup_tag_number(tag) && s->state != SLOT_FREE ? s : NULL;
}

/* ---- Starting ---- */

static int dynamic_init(dn_self *self, void *state, const void *config) {
    dynamic *d = state;
    char     why[DN_CRASH_WHY_MAX];

    (void)self;
    d->spec = config;
    if (!sup_dynamic_spec_is_sound(d->spec, why)) dn_fail_code(DN_EINVAL, why);
    d->children_max = d->spec->children_max;
    if (d->children_max == 0 || d->children_max > SUP_TABLE_MAX) d->children_max = SUP_TABLE_MAX;
    d->slots.row_size = sizeof(slot);
    return DN_OK;
}

/* One more child. Config goes from the message's body into init without a copy: init runs before dn_spawn returns. */
static int start_one(dn_self *self, dynamic *d, const void *config, size_t size, bool quiet,
                     slot **out_slot) {
    if (d->ending) return DN_ESHUTDOWN;
    if (size > DN_DYNAMIC_CONFIG_MAX) return DN_EINVAL;
    if (d->running + d->starting >= d->children_max) bury_all(self, d);
    if (d->running + d->starting >= d->children_max) return DN_EFULL;
    const uint32_t index = slot_take(self, d);
    slot *const    s = slot_at(d, index);
    s->quiet = 0;
    const dn_spawn_spec spawn = {
        .actor_class = d->spec->actor_class,
        .config = size > 0 ? config : NULL,
        .tag = sup_tag(index, s->uses),
        .monitored = true,
        .out_quiet = quiet ? &s->quiet : NULL,
        .linked = true,
    };
    dn_ref    who = DN_NOBODY;
    const int rc = dn_spawn(self, &spawn, &who);
    *out_slot = s;
    s->sender = DN_NOBODY;
    if (rc == DN_PENDING) {
        s->state = SLOT_STARTING;
        s->request = NULL;
        d->starting++;
    } else if (rc == DN_OK) {
        s->state = SLOT_RUNNING;
        s->who = who;
        d->running++;
        d->started++;
    } else {
        slot_give(d, index);
    }
    return rc;
}

static int dynamic_on_start(dn_self *self, void *state, const dn_msg *msg) {
    slot     *s = NULL;
    const int rc =
        start_one(self, state, dn_msg_body_borrow(msg), dn_msg_size(msg), /* quiet= */ false, &s);

    if (rc != DN_PENDING) sup_answer(self, msg, rc, rc == DN_OK ? s->who : DN_NOBODY, 0);
    else if (dn_msg_is_request(msg)) s->request = dn_msg_keep(self, msg);
    return DN_OK;
}

/* ---- Senders ---- */

static bool is_sender(const dynamic *d, dn_ref who) {
    for (uint32_t i = 0; i < d->senders_len; i++)
        if (dn_ref_equal(d->senders[i], who)) return true;
    return false;
}

/* From now on it is watched. */
static int watch_sender(dn_self *self, dynamic *d, dn_ref who) {
    if (dn_ref_is_nobody(who)) return DN_EINVAL;
    if (is_sender(d, who)) return DN_OK;
    if (d->senders_len == DN_DYNAMIC_SENDERS_MAX) return DN_EFULL;
    d->senders[d->senders_len++] = who;
    (void)dn_monitor(self, who, sup_tag(SENDERS_INDEX, 0));
    return DN_OK;
}

/* A child of which its sender has no room to be told would be taken for running ever after: rather is he gone, and begins
 * anew. The children of others are none of his business. */
static void tell_sender(dn_self *self, dn_ref sender, const dn_down *ended) {
    if (dn_send(self, sender, DN_SUP_ENDED, ended, sizeof *ended) == DN_EFULL)
        sup_if_there(dn_kill(self, sender));
}

/* How it came that a child that was wanted is not up. */
static void tell_not_started(dn_self *self, dn_ref sender, uint64_t tag, int status) {
    const dn_down ended = {.who = DN_NOBODY, .tag = tag, .reason = status};

    tell_sender(self, sender, &ended);
}

static int dynamic_on_start_all(dn_self *self, void *state, const dn_msg *msg) {
    dynamic     *d = state;
    const dn_ref sender = dn_msg_from(msg);
    const char  *at = dn_msg_body_borrow(msg), *end = at + dn_msg_size(msg);
    const int    watched = watch_sender(self, d, sender);

    while (end - at >= (ptrdiff_t)sizeof(dn_dynamic_wanted)) {
        const dn_dynamic_wanted *wanted = (const dn_dynamic_wanted *)(const void *)at;
        const size_t             room = (size_t)(end - at) - sizeof *wanted;
        const bool               whole = wanted->size <= room;
        slot                    *s = NULL;
        int                      rc = whole ? watched : DN_EINVAL;

        if (rc == DN_OK)
            rc = start_one(self, d, wanted->config, wanted->size, /* quiet= */ true, &s);
        if (rc == DN_OK || rc == DN_PENDING) {
            s->sender = sender;
            s->tag = wanted->tag;
        } else {
            tell_not_started(self, sender, wanted->tag, rc);
        }
        if (!whole) break;
        at += sizeof *wanted + (wanted->size + 7U) / 8 * 8;
    }
    return DN_OK;
}

/* Whoever is to end is to be heard of, however it ends: it is waited for. */
static void ask_to_end(dn_self *self, dynamic *d, uint32_t index) {
    slot *const s = slot_at(d, index);
    const bool  kill = d->overdue || sup_shutdown_ms(d->spec->shutdown_ms) == 0;

    if (bury(self, d, index)) return;
    if (s->quiet) {
        s->quiet = 0;
        (void)dn_monitor(self, s->who, sup_tag(index, s->uses));
    }
    sup_if_there(kill ? dn_kill(self, s->who) : dn_stop(self, s->who));
}

static bool is_orphan(const dynamic *d, const slot *s) {
    return !dn_ref_is_nobody(s->sender) && !is_sender(d, s->sender);
}

/* Its children are nobody's. */
static void sender_is_gone(dn_self *self, dynamic *d, dn_ref who) {
    for (uint32_t i = 0; i < d->senders_len; i++) {
        if (!dn_ref_equal(d->senders[i], who)) continue;
        d->senders[i] = d->senders[--d->senders_len];
        break;
    }
    for (uint32_t i = 0; i < d->len; i++) {
        const slot *s = slot_at(d, i);

        if (s->state == SLOT_RUNNING && dn_ref_equal(s->sender, who)) ask_to_end(self, d, i);
    }
}

/* The last to go closes the door. One whose start hangs is not waited for beyond the deadline: it is
 * linked, and so killed when its supervisor has ended. */
static int end_if_alone(const dynamic *d) {
    if (!d->ending || d->running > 0) return DN_OK;
    return d->starting == 0 || d->overdue ? DN_STOP : DN_OK;
}

static int dynamic_on_started(dn_self *self, void *state, const dn_msg *msg) {
    dynamic          *d = state;
    const dn_started *started = DN_BODY(dn_started, msg);
    slot             *s = slot_of(d, started->tag);
    dn_msg           *request;

    if (!s || s->state != SLOT_STARTING) return DN_OK;
    request = s->request;
    d->starting--;
    if (started->status == DN_OK) {
        s->state = SLOT_RUNNING;
        s->who = started->who;
        d->running++;
        d->started++;
        if (d->ending || is_orphan(d, s)) ask_to_end(self, d, sup_tag_index(started->tag));
    } else {
        if (is_sender(d, s->sender)) tell_not_started(self, s->sender, s->tag, started->status);
        slot_give(d, sup_tag_index(started->tag));
    }
    if (request)
        sup_answer(self, request, started->status,
                   started->status == DN_OK ? started->who : DN_NOBODY, 0);
    return end_if_alone(d);
}

static int dynamic_on_down(dn_self *self, void *state, const dn_msg *msg) {
    dynamic       *d = state;
    const dn_down *down = DN_BODY(dn_down, msg);
    slot          *s = slot_of(d, down->tag);

    if (sup_tag_index(down->tag) == SENDERS_INDEX) sender_is_gone(self, d, down->who);
    if (!s || s->state != SLOT_RUNNING) return DN_OK;
    if (down->reason != DN_OK && is_sender(d, s->sender)) {
        dn_down ended = *down;
        ended.tag = s->tag;
        tell_sender(self, s->sender, &ended);
    }
    d->running--;
    slot_give(d, sup_tag_index(down->tag));
    return end_if_alone(d);
}

static int dynamic_flush(dn_self *self, void *state) {
    (void)self, (void)state;
    return DN_OK;
}

/* ---- Stopping: all together, one deadline ---- */

static void ask_all_to_end(dn_self *self, dynamic *d) {
    for (uint32_t i = 0; i < d->len; i++)
        if (slot_at(d, i)->state == SLOT_RUNNING) ask_to_end(self, d, i);
}

static int dynamic_stopping(dn_self *self, void *state) {
    dynamic      *d = state;
    const int64_t shutdown_ms = sup_shutdown_ms(d->spec->shutdown_ms);

    if (d->ending) return end_if_alone(d);
    d->ending = true;
    d->overdue = shutdown_ms == 0;
    ask_all_to_end(self, d);
    if (shutdown_ms > 0) dn_timer_after(self, shutdown_ms, DN_SUP_TIMER, 0);
    return end_if_alone(d);
}

static int dynamic_on_deadline(dn_self *self, void *state, const dn_msg *msg) {
    dynamic *d = state;

    (void)msg;
    if (!d->ending || d->overdue) return DN_OK;
    d->overdue = true;
    ask_all_to_end(self, d);
    return end_if_alone(d);
}

/* ---- Asking ---- */

static int dynamic_on_ask_counts(dn_self *self, void *state, const dn_msg *msg) {
    dynamic *d = state;

    bury_all(self, d);
    const dn_sup_counts counts = {
        .specs = (uint64_t)d->running + d->starting,
        .active = d->running,
        .started = d->started,
    };

    if (dn_msg_is_request(msg)) dn_reply(self, msg, DN_SUP_COUNTS, &counts, sizeof counts);
    return DN_OK;
}

static int dynamic_on_name(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    sup_answer(self, msg, DN_EINVAL, DN_NOBODY, 0);
    return DN_OK;
}
