/* dynamic.c - many equal children that come and go.
 * They are temporary, have no names, and live on the supervisor's loop. Each has a slot in a table; its
 * tag is the slot and how often that was used, so every message finds its child at once. A crash
 * here ends all children (they are linked). */
#include "sup.h"
#include "table.h"

typedef enum slot_state { SLOT_FREE, SLOT_STARTING, SLOT_RUNNING } slot_state;

typedef struct slot {
    union {
        dn_ref   who;       /* SLOT_RUNNING */
        dn_msg  *request;   /* SLOT_STARTING: to be answered; NULL if it was no call */
        uint32_t next_free; /* SLOT_FREE: index + 1 */
    };
    uint32_t   uses;
    slot_state state;
} slot;

typedef struct dynamic {
    const dn_dynamic_spec *spec;
    sup_table              slots;
    uint32_t               len;  /* slots ever used */
    uint32_t               free; /* index + 1 of the first free one; 0: none below len */
    uint32_t               running, starting, children_max;
    uint64_t               started;
    bool                   ending, overdue;
} dynamic;

static int dynamic_init(dn_self *self, void *state, const void *config);
static int dynamic_stopping(dn_self *self, void *state);
static int dynamic_on_start(dn_self *self, void *state, const dn_msg *msg);
static int dynamic_on_down(dn_self *self, void *state, const dn_msg *msg);
static int dynamic_on_started(dn_self *self, void *state, const dn_msg *msg);
static int dynamic_on_deadline(dn_self *self, void *state, const dn_msg *msg);
static int dynamic_on_ask_counts(dn_self *self, void *state, const dn_msg *msg);
static int dynamic_on_name(dn_self *self, void *state, const dn_msg *msg);

static const dn_handler dynamic_handlers[] = {
    {DN_MSG_DOWN, dynamic_on_down},
    {DN_SUP_START, dynamic_on_start},     /* dn_dynamic_start -> one more child */
    {DN_MSG_STARTED, dynamic_on_started}, /* a start that took its time came to its end */
    {DN_SUP_TIMER, dynamic_on_deadline},  /* the common deadline of a stop */
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
    .stopping = dynamic_stopping,
    .mailbox_max = 1 << 20,        /* whoever wants a thousand children asks for them at once */
    .heap_max = (size_t)256 << 20, /* the table of its children */
};

/* ---- The table ---- */

static slot *slot_at(const dynamic *d, uint32_t index) { return sup_table_at(&d->slots, index); }

static uint32_t slot_take(dn_self *self, dynamic *d) {
    uint32_t index = d->free - 1;

    if (d->free > 0) {
        d->free = slot_at(d, index)->next_free;
    } else {
        if (d->len == d->slots.len) sup_table_grow(self, &d->slots);
        index = d->len++;
    }
    slot_at(d, index)->uses++;
    return index;
}

static void slot_give(dynamic *d, uint32_t index) {
    slot *s = slot_at(d, index);

    s->state = SLOT_FREE;
    s->next_free = d->free;
    d->free = index + 1;
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

/* Config goes from the request's body into init without a copy: init runs before dn_spawn returns. */
static int dynamic_on_start(dn_self *self, void *state, const dn_msg *msg) {
    dynamic *d = state;
    dn_ref   who = DN_NOBODY;
    uint32_t index;
    slot    *s;
    int      rc = DN_OK;

    if (d->ending) rc = DN_ESHUTDOWN;
    else if (dn_msg_size(msg) > DN_DYNAMIC_CONFIG_MAX) rc = DN_EINVAL;
    else if (d->running + d->starting >= d->children_max) rc = DN_EFULL;
    if (rc != DN_OK) {
        sup_answer(self, msg, rc, DN_NOBODY, 0);
        return DN_OK;
    }
    index = slot_take(self, d);
    s = slot_at(d, index);
    const dn_spawn_spec spawn = {
        .cls = d->spec->cls,
        .config = dn_msg_size(msg) > 0 ? dn_msg_body_borrow(msg) : NULL,
        .tag = sup_tag(index, s->uses),
        .monitored = true,
        .linked = true,
    };
    rc = dn_spawn(self, &spawn, &who);
    if (rc == DN_PENDING) {
        s->state = SLOT_STARTING;
        s->request = dn_msg_is_request(msg) ? dn_msg_keep(self, msg) : NULL;
        d->starting++;
        return DN_OK;
    }
    if (rc == DN_OK) {
        s->state = SLOT_RUNNING;
        s->who = who;
        d->running++;
        d->started++;
    } else {
        slot_give(d, index);
    }
    sup_answer(self, msg, rc, who, 0);
    return DN_OK;
}

static void ask_to_end(dn_self *self, const dynamic *d, dn_ref who) {
    const bool kill = d->overdue || sup_shutdown_ms(d->spec->shutdown_ms) == 0;

    sup_if_there(kill ? dn_kill(self, who) : dn_stop(self, who));
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
        if (d->ending) ask_to_end(self, d, s->who);
    } else {
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

    (void)self;
    if (!s || s->state != SLOT_RUNNING) return DN_OK;
    d->running--;
    slot_give(d, sup_tag_index(down->tag));
    return end_if_alone(d);
}

/* ---- Stopping: all together, one deadline ---- */

static void ask_all_to_end(dn_self *self, const dynamic *d) {
    for (uint32_t i = 0; i < d->len; i++) {
        const slot *s = slot_at(d, i);

        if (s->state == SLOT_RUNNING) ask_to_end(self, d, s->who);
    }
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
    const dynamic      *d = state;
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
