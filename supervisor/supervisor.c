/* supervisor.c - the actor that keeps its children alive.
 * It does nothing but wait for word of them: each message about a child becomes an event, and one table
 * says what follows from that event in the phase the supervisor is in. A crash here ends all its
 * children (they are linked), and its own supervisor starts the lot again. */
#include "sup.h"

#include <assert.h>
#include <stdio.h>

static int sup_init(dn_self *self, void *state, const void *config);
static int sup_stopping(dn_self *self, void *state);
static int sup_on_down(dn_self *self, void *state, const dn_msg *msg);
static int sup_on_starting(dn_self *self, void *state, const dn_msg *msg);
static int sup_on_started(dn_self *self, void *state, const dn_msg *msg);
static int sup_on_timer(dn_self *self, void *state, const dn_msg *msg);

static const dn_handler sup_handlers[] = {
    {DN_MSG_DOWN, sup_on_down},           /* a child has ended */
    {DN_MSG_STARTED, sup_on_started},     /* a start that took its time came to its end */
    {DN_MSG_STARTING, sup_on_starting},   /* one on another loop is there, and starts */
    {DN_SUP_TIMER, sup_on_timer},         /* a deadline, or a backoff that is over */
    {DN_SUP_ASK_CHILD, sup_on_ask_child}, /* request.c, from here on */
    {DN_SUP_ASK_COUNTS, sup_on_ask_counts},
    {DN_SUP_STOP_CHILD, sup_on_stop_child},
    {DN_SUP_RESTART_CHILD, sup_on_restart_child},
};

const dn_class dn_supervisor_class = {
    .name = "supervisor",
    .state_size = sizeof(sup),
    .init = sup_init,
    .handlers = DN_SLICE(sup_handlers),
    .stopping = sup_stopping,
    .heap_max = (size_t)256 << 20, /* the tables of children, names and restarts */
};

/* ---- What follows from what ---- */

typedef void reaction(dn_self *self, sup *s, sup_child *c);

static void note(dn_self *self, sup *s, sup_child *c) {
    (void)self;
    sup_child_note(s, c);
}

static void start_on(dn_self *self, sup *s, sup_child *c) {
    (void)c;
    sup_step_start_on(self, s);
}

static void stop_on(dn_self *self, sup *s, sup_child *c) {
    (void)c;
    sup_step_stop_on(self, s);
}

static void steady_on_due(dn_self *self, sup *s, sup_child *c) {
    sup_happened(self, s, c, sup_child_start(self, s, c));
}

/* No entry: nothing follows. */
static reaction *const reactions[SUP_PHASES][CHILD_EVENTS] = {
    [SUP_BOOTING] =
        {
            [CHILD_UP] = start_on,
            [CHILD_DECLINED] = start_on,
            [CHILD_FAILED] = sup_step_boot_failed,
            [CHILD_ENDED] = note,
            [CHILD_STOPPED] = start_on,
        },
    [SUP_STEADY] =
        {
            [CHILD_FAILED] = sup_on_failed,
            [CHILD_ENDED] = sup_on_ended,
            [CHILD_DUE] = steady_on_due,
        },
    [SUP_DELAYING] =
        {
            [CHILD_ENDED] = sup_on_ended_delaying,
        },
    [SUP_STOPPING] =
        {
            [CHILD_ENDED] = note, /* if the step comes past it, that settles it */
            [CHILD_STOPPED] = stop_on,
        },
    [SUP_STARTING] =
        {
            [CHILD_UP] = start_on,
            [CHILD_DECLINED] = start_on,
            [CHILD_FAILED] = sup_on_failed,
            [CHILD_ENDED] = note,
            [CHILD_STOPPED] = start_on,
        },
    [SUP_ENDING] =
        {
            [CHILD_STOPPED] = stop_on,
        },
};

void sup_happened(dn_self *self, sup *s, sup_child *c, sup_event event) {
    reaction *react;

    if (c->on_request && event != CHILD_NOTHING) {
        /* Whoever asked for the start hears how it went; a failure is not retried. */
        c->on_request = false;
        if (event == CHILD_FAILED) event = CHILD_STOPPED;
    }
    react = reactions[s->phase][event];
    if (react) react(self, s, c);
}

/* ---- Messages ---- */

static sup_child *child_of(sup *s, uint64_t tag) {
    const uint32_t index = sup_tag_index(tag);

    return index < s->len ? &s->children[index] : NULL;
}

static int sup_on_down(dn_self *self, void *state, const dn_msg *msg) {
    sup           *s = state;
    const dn_down *down = DN_BODY(dn_down, msg);
    sup_child     *c = child_of(s, down->tag);

    if (!c || c->attempt != sup_tag_number(down->tag)) return DN_OK;
    sup_happened(self, s, c, sup_child_on_down(self, s, c, down));
    return sup_settle(self, s);
}

static int sup_on_starting(dn_self *self, void *state, const dn_msg *msg) {
    sup              *s = state;
    const dn_started *starting = DN_BODY(dn_started, msg);
    sup_child        *c = child_of(s, starting->tag);

    if (c && c->attempt == sup_tag_number(starting->tag))
        sup_child_on_starting(self, c, starting->who);
    return DN_OK;
}

static int sup_on_started(dn_self *self, void *state, const dn_msg *msg) {
    sup              *s = state;
    const dn_started *started = DN_BODY(dn_started, msg);
    sup_child        *c = child_of(s, started->tag);

    if (!c || c->attempt != sup_tag_number(started->tag)) return DN_OK;
    sup_happened(self, s, c, sup_child_on_started(self, s, c, started));
    return sup_settle(self, s);
}

static int sup_on_timer(dn_self *self, void *state, const dn_msg *msg) {
    sup           *s = state;
    const uint64_t tag = *DN_BODY(uint64_t, msg);
    sup_child     *c = child_of(s, tag);

    if (c && c->timer_no == sup_tag_number(tag)) {
        sup_happened(self, s, c, sup_child_on_timer(self, c));
    } else if (sup_tag_index(tag) == SUP_NO_CHILD && s->step_timer_no == sup_tag_number(tag) &&
               s->phase == SUP_DELAYING) {
        sup_step_due(self, s);
    }
    return sup_settle(self, s);
}

/* ---- Start and end ---- */

static int sup_init(dn_self *self, void *state, const void *config) {
    sup        *s = state;
    char        why[DN_CRASH_WHY_MAX];
    const char *twice;
    int         rc;

    s->spec = config;
    if (!sup_spec_is_sound(s->spec, why)) dn_fail_code(DN_EINVAL, why);
    s->len = (uint32_t)s->spec->children.len;
    twice = sup_names_init(self, &s->names, s->spec->children.rows, s->len);
    if (twice) {
        snprintf(why, sizeof why, "two children of the name %s", twice);
        dn_fail_code(DN_EINVAL, why);
    }
    sup_intensity_init(&s->intensity, s->spec->intensity, sup_period_ms(s->spec));
    s->children = dn_alloc(self, (s->len + 1) * sizeof *s->children);
    for (uint32_t i = 0; i < s->len; i++) s->children[i].spec = &s->spec->children.rows[i];

    sup_step_boot(self, s);
    rc = sup_settle(self, s);
    if (rc != DN_OK) return rc;
    if (s->phase == SUP_STEADY) return DN_OK;
    s->init_pending = true;
    return DN_PENDING;
}

/* Asked to stop: first the children, in reverse order. */
static int sup_stopping(dn_self *self, void *state) {
    sup *s = state;

    sup_step_end(self, s, DN_STOP, "");
    return s->cursor == 0 ? DN_STOP : DN_OK;
}

/* One that ended while a step was under way, the first of them. */
static void take_up_noted(dn_self *self, sup *s) {
    uint32_t i = 0;

    while (i < s->len && s->children[i].state != CHILD_NOTED) i++;
    assert(i < s->len && "as many are noted as were counted");
    sup_child_rest(self, s, &s->children[i]);
    sup_happened(self, s, &s->children[i], CHILD_ENDED);
}

int sup_settle(dn_self *self, sup *s) {
    while (s->noted > 0 && (s->phase == SUP_STEADY || s->phase == SUP_DELAYING))
        take_up_noted(self, s);
    if (s->requests_len > 0) sup_requests_go_on(self, s);
    if (s->phase != SUP_ENDING || s->cursor > 0) return DN_OK;

    if (s->end_code < 0) dn_fail_code(s->end_code, s->end_why);
    return DN_STOP;
}
