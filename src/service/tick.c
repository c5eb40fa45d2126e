/* tick.c - decides once a tick what each user needs now.
 * The planner only plans: it asks the queue for attempts and kv for cutoffs, and waits for neither. It knows all
 * users by heart (planner_index.h), told by kv at its start and at every change. A large tick is planned in slices, a
 * message each, so that nothing else on the loop waits long. A crash here costs one tick and a load. */
#include "tick.h"

#include "actor/pipe.h"
#include "events.h"
#include "messages.h"
#include "obs/log.h"
#include "planner_index.h"
#include "service.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    TICK_NOW = MSG_OWN,
    TICK_GO_ON,
    TICK_OVER,
    TICK_CATCH_UP,
    SLICE_LOOKS = 4096, /* less than a millisecond, if none of them is in the processor's cache */
    SLICE_PLANS = 1024,
    PLANS_AT_ONCE = 64,  /* they stay in the processor's nearest cache until they are sent */
    CHANGES_AT_ONCE = 8, /* messages of them: half a millisecond */
    LOAD_TIMEOUT_MS = 60000,
    END_TIMEOUT_MS = 60000,
    NS_PER_MS = 1000000,
};

/* Changes that came while a scan was under way, which must not see the users move; those before `at` are made. */
typedef struct deferred {
    dn_msg **rows;
    size_t   at, len, cap;
} deferred;

typedef struct tick {
    const dn_service_config *config;
    dn_planner_index        *planner_index;
    dn_pipe                  to_queue, to_queue_changes, to_kv, to_kv_missed;
    dn_timer_id              timer;
    uint64_t timer_no; /* in its message: one that was cancelled may have fired already */
    bool     armed;    /* for the tick after another one */
    dn_day   date;

    /* Where ticks belong by the steady clock, however late they come: so those of a wall clock that does not step lie
     * on one line, to the nanosecond. */
    int64_t line_ms, line_ns; /* one instant by both clocks; another one after a step */
    int64_t due_ns;           /* the next one */
    int64_t came_ns, at_ns;   /* the last one that came; the one that is planned */

    bool                  scanning, paused, again; /* again: the next tick came meanwhile */
    dn_planner_index_scan scan;
    int64_t               begun_ns;
    dn_planner_index_plan plans[PLANS_AT_ONCE];
    deferred              deferred;
    uint64_t              eligible, cutoffs, missed;
    bool                  ending;   /* planned; the queue has not said yet how many it took */
    dn_call_id            end_call; /* 0: it could not be asked yet */

    dn_tick_status status;
} tick;

static int tick_init(dn_self *self, void *state, const void *config);
static int tick_on_page(dn_self *self, void *state, const dn_msg *msg);
static int tick_on_now(dn_self *self, void *state, const dn_msg *msg);
static int tick_on_go_on(dn_self *self, void *state, const dn_msg *msg);
static int tick_on_over(dn_self *self, void *state, const dn_msg *msg);
static int tick_on_planned(dn_self *self, void *state, const dn_msg *msg);
static int tick_on_catch_up(dn_self *self, void *state, const dn_msg *msg);
static int tick_on_changed(dn_self *self, void *state, const dn_msg *msg);
static int tick_on_clock(dn_self *self, void *state, const dn_msg *msg);
static int tick_on_room(dn_self *self, void *state, const dn_msg *msg);
static int tick_on_call_failed(dn_self *self, void *state, const dn_msg *msg);
static int tick_on_ask_status(dn_self *self, void *state, const dn_msg *msg);
static int tick_on_ask_minutes(dn_self *self, void *state, const dn_msg *msg);

static const dn_handler tick_handlers[] = {
    {MSG_USERS_CHANGED, tick_on_changed}, /* kv    -> users as they are now */
    {TICK_GO_ON, tick_on_go_on},          /* the next slice */
    {TICK_NOW, tick_on_now},              /* timer -> a tick begins */
    {TICK_OVER, tick_on_over},            /* the last slice is done: how long did it take? */
    {MSG_PLANNED, tick_on_planned},       /* queue -> so many of the plan it took */
    {TICK_CATCH_UP, tick_on_catch_up},    /* some of the changes that came meanwhile */
    {MSG_KV_PAGE, tick_on_page},          /* kv    -> a page of all users, at the start */
    {DN_MSG_CLOCK, tick_on_clock},        /* the wall clock stepped: the next tick is another one */
    {DN_MSG_ROOM, tick_on_room},          /* a full mailbox has room again */
    {DN_MSG_CALL_FAILED, tick_on_call_failed},
    {MSG_ASK_STATUS, tick_on_ask_status},
    {MSG_ASK_MINUTES, tick_on_ask_minutes},
};

const dn_class dn_tick_class = {
    .name = "tick",
    .state_size = sizeof(tick),
    .init = tick_init,
    .handlers = DN_SLICE(tick_handlers),
    .mailbox_max = 4096,
};

/* ---- Start: all users ---- */

static void deferred_release(void *rows) {
    deferred *d = rows;

    free(d->rows); /* the messages are the actor's, and go with it */
    *d = (deferred){0};
}

static int ask_for_page(dn_self *self, uint64_t after_n) {
    return dn_call(self, dn_name(self, ACTOR_KV), MSG_KV_LOAD, &after_n, sizeof after_n,
                   LOAD_TIMEOUT_MS, NULL);
}

static void look_at_clocks(dn_self *self, tick *t) {
    t->line_ms = dn_now_ms(self);
    t->line_ns = dn_mono_ns(self);
}

static int tick_init(dn_self *self, void *state, const void *config) {
    tick *t = state;

    t->config = config;
    t->date = DN_DAY_NONE;
    const int rc = dn_planner_index_new(&t->planner_index);
    if (rc < 0) return rc;
    dn_own(self, t->planner_index, dn_planner_index_free);
    dn_own(self, &t->deferred, deferred_release);
    dn_pipe_init(self, &t->to_queue, ACTOR_QUEUE, MSG_PLAN_ATTEMPTS);
    dn_pipe_init(self, &t->to_queue_changes, ACTOR_QUEUE, MSG_USERS_TOLD_AGAIN);
    dn_pipe_init(self, &t->to_kv, ACTOR_KV, MSG_FINALIZE_CUTOFF);
    dn_pipe_init(self, &t->to_kv_missed, ACTOR_KV, MSG_RECORD_MISSED);
    dn_watch_clock(self);
    look_at_clocks(self, t);
    return ask_for_page(self, 0);
}

/* An id comes with a user that may be new. */
static void apply(tick *t, const dn_change *c) {
    if (c->removed) {
        (void)dn_planner_index_remove(t->planner_index, c->n);
        return;
    }
    const dn_planner_index_user user = {
        .n = c->n,
        .due = c->due,
        .last_day = c->last_day,
        .starts_on = c->starts_on,
        .recorded = c->recorded,
        .status = (dn_daily_status)c->status,
        .context_epoch = c->context_epoch,
        .id = c->id,
        .id_len = c->id_len,
    };
    /* DN_EDEAD: changed while the users are being loaded; its page is still to come. */
    if (dn_planner_index_put(t->planner_index, &user) == DN_ENOMEM)
        dn_fail_code(DN_ENOMEM, "no memory for one more user");
}

static void apply_some(tick *t, const dn_change *const *some, const uint64_t *n, size_t len) {
    dn_planner_index_fetch(t->planner_index, n, len);
    for (size_t i = 0; i < len; i++) apply(t, some[i]);
}

static void apply_all(tick *t, const dn_msg *msg) {
    const dn_change *some[DN_PLANNER_INDEX_FETCH];
    uint64_t         n[DN_PLANNER_INDEX_FETCH];
    size_t           len = 0;

    for (DN_PIPE_EACH_ID(dn_change, c, msg)) {
        some[len] = c;
        n[len++] = c->n;
        if (len == DN_PLANNER_INDEX_FETCH) {
            apply_some(t, some, n, len);
            len = 0;
        }
    }
    apply_some(t, some, n, len);
}

/* The next page is asked for before this one is read: kv looks for it meanwhile. */
static int tick_on_page(dn_self *self, void *state, const dn_msg *msg) {
    tick    *t = state;
    uint64_t last_n = 0;

    for (DN_PIPE_EACH_ID(dn_change, c, msg)) last_n = c->n;
    if (last_n > 0) {
        const int rc = ask_for_page(self, last_n);
        apply_all(t, msg);
        return rc;
    }
    t->status.loaded = true;
    dn_log(DN_LOG_INFO, "tick.loaded", "users that are known: %zu",
           dn_planner_index_len(t->planner_index));
    /* By a timer, as every other: what else is to happen at this instant happens first, in replay. */
    t->timer = dn_timer_after(self, 0, TICK_NOW, ++t->timer_no);
    return DN_OK;
}

/* ---- Changes ---- */

/* kv's own word of a change may come to the queue before the plan that was made without it: so it is told once more,
 * behind that plan. Only of what was done by hand (its id is there) does it matter. */
static void tell_queue(dn_self *self, tick *t, const dn_msg *msg) {
    for (DN_PIPE_EACH_ID(dn_change, c, msg)) {
        if (c->id_len == 0) continue;
        const size_t size = sizeof *c + c->id_len;
        memcpy(dn_pipe_add(self, &t->to_queue_changes, size), c, size);
    }
}

static void defer(dn_self *self, deferred *d, const dn_msg *msg) {
    if (d->len == d->cap) {
        const size_t cap = d->cap ? d->cap * 2 : 64;
        dn_msg     **rows = realloc(d->rows, cap * sizeof *rows);
        if (!rows) dn_fail_code(DN_ENOMEM, "no memory for changes that wait");
        d->rows = rows;
        d->cap = cap;
    }
    d->rows[d->len++] = dn_msg_keep(self, msg);
}

static bool is_behind(const tick *t) { return t->deferred.at < t->deferred.len; }

/* The oldest of the changes that wait. */
static void make_one(dn_self *self, tick *t) {
    deferred *d = &t->deferred;
    dn_msg   *m = d->rows[d->at++];

    apply_all(t, m);
    tell_queue(self, t, m);
    dn_msg_free(self, m);
    dn_pipe_flush(self, &t->to_queue_changes);
    if (d->at == d->len) d->at = d->len = 0;
}

static int tick_on_changed(dn_self *self, void *state, const dn_msg *msg) {
    tick *t = state;

    defer(self, &t->deferred, msg);
    if (t->scanning) return DN_OK;
    /* One for one: however fast they come, it falls no further behind. */
    t->paused = !dn_pipe_is_free(&t->to_queue_changes);
    if (!t->paused) make_one(self, t);
    return DN_OK;
}

/* ---- When ---- */

static void arm(dn_self *self, tick *t) {
    const int64_t every_ms = t->config->tick_ms;

    if (t->timer) (void)dn_timer_cancel(self, t->timer);
    t->timer_no++;
    t->armed = true;
    if (t->config->ticks_stand_still) {
        const int64_t now_ms = dn_mono_ns(self) / 1000000;
        t->status.next_ms = dn_now_ms(self) + every_ms - now_ms % every_ms;
        t->due_ns = (now_ms / every_ms + 1) * every_ms * NS_PER_MS;
        t->timer = dn_timer_at_mono(self, t->due_ns, TICK_NOW, t->timer_no);
    } else {
        const int64_t now_ms = dn_now_ms(self);
        int64_t       past_ms = now_ms % every_ms;
        if (past_ms < 0) past_ms += every_ms;
        t->status.next_ms = now_ms - past_ms + every_ms;
        t->due_ns = t->line_ns + (t->status.next_ms - t->line_ms) * NS_PER_MS;
        t->timer = dn_timer_at_wall(self, t->status.next_ms, TICK_NOW, t->timer_no);
    }
}

static int tick_on_clock(dn_self *self, void *state, const dn_msg *msg) {
    tick *t = state;

    dn_log(DN_LOG_WARN, "clock.stepped", "the wall clock stepped by %lld ms",
           (long long)DN_BODY(dn_clock_step, msg)->step_ms);
    DN_SAY(t->config->journal, self, DN_HAPPENED_CLOCK, .at_ms = dn_now_ms(self),
           .step_ms = DN_BODY(dn_clock_step, msg)->step_ms);
    look_at_clocks(self, t);
    /* Not instead of the first one, which is to come at once. */
    if (t->armed && !t->config->ticks_stand_still) arm(self, t);
    return DN_OK;
}

/* ---- A tick ---- */

static int date_begins(dn_self *self, tick *t, dn_day today) {
    const dn_date date = {.today = today};
    const int     rc = dn_send(self, dn_name(self, ACTOR_KV), MSG_DATE_BEGINS, &date, sizeof date);

    if (rc == DN_OK) t->date = today; /* else at the next tick */
    return DN_OK;
}

/* What it has to do next, behind what waits already. */
static int go_on(dn_self *self, uint32_t kind) {
    const int rc = dn_send(self, dn_self_ref(self), kind, NULL, 0);

    if (rc == DN_EFULL) dn_timer_after(self, 1, kind, 0); /* its own mailbox is full */
    return rc == DN_EFULL ? DN_OK : rc;
}

static int begin(dn_self *self, tick *t) {
    const int64_t now_ms = dn_now_ms(self);
    const dn_day  today = dn_day_of_ms(now_ms);

    t->scanning = true;
    t->again = false;
    t->begun_ns = dn_mono_ns(self);
    t->at_ns = t->came_ns;
    t->eligible = t->cutoffs = t->missed = 0;
    t->status.last_ms = now_ms;
    t->status.last_ns = t->begun_ns;
    DN_SAY(t->config->journal, self, DN_HAPPENED_TICK_BEGINS, .at_ms = now_ms);
    dn_planner_index_scan_begin(&t->scan, t->config->window_minutes, now_ms);
    if (today != t->date) (void)date_begins(self, t, today);
    return go_on(self, TICK_GO_ON);
}

static int tick_on_now(dn_self *self, void *state, const dn_msg *msg) {
    tick *t = state;

    if (*DN_BODY(uint64_t, msg) != t->timer_no) return DN_OK;
    t->timer = 0;
    t->came_ns = t->armed ? t->due_ns : dn_mono_ns(self); /* the first belongs where it comes */
    arm(self, t);
    if (t->scanning || t->ending || is_behind(t)) {
        dn_log(DN_LOG_WARN, "tick.late",
               "the last tick is still being planned: this one begins behind it");
        t->again = true;
        return DN_OK;
    }
    return begin(self, t);
}

static void plan_one(dn_self *self, tick *t, const dn_planner_index_plan *p) {
    if (p->missed.first <= p->missed.last) {
        dn_missed_days *m = dn_pipe_add(self, &t->to_kv_missed, sizeof *m);
        *m = (dn_missed_days){.n = p->n, .at_ms = t->scan.now_ms, .days = p->missed};
        t->missed += (uint64_t)(p->missed.last - p->missed.first) + 1;
    }
    if (p->action == DN_DAILY_FINALIZE) {
        dn_cutoff *c = dn_pipe_add(self, &t->to_kv, sizeof *c);
        *c = (dn_cutoff){.n = p->n, .at_ms = t->scan.now_ms, .day = p->day};
        t->cutoffs++;
    } else if (p->action == DN_DAILY_ATTEMPT) {
        dn_attempt *a = dn_pipe_add(self, &t->to_queue, sizeof *a + p->id_len);
        a->n = p->n;
        a->at_ns = t->at_ns;
        a->day = p->day;
        a->context_epoch = p->context_epoch;
        a->due = (uint16_t)p->due;
        a->id_len = p->id_len;
        dn_id_copy(a->id, p->id, p->id_len);
        t->eligible++;
    }
}

static bool pipes_are_free(const tick *t) {
    return dn_pipe_is_free(&t->to_queue) && dn_pipe_is_free(&t->to_kv) &&
           dn_pipe_is_free(&t->to_kv_missed);
}

static void pipes_flush(dn_self *self, tick *t) {
    dn_pipe_flush(self, &t->to_kv_missed);
    dn_pipe_flush(self, &t->to_kv);
    dn_pipe_flush(self, &t->to_queue);
}

/* False: that was the last one. */
static bool plan_slice(dn_self *self, tick *t) {
    const uint64_t end = t->scan.scanned + SLICE_LOOKS;
    size_t         planned = 0, len = 0;
    bool           more = true;

    while (more && t->scan.scanned < end && planned + PLANS_AT_ONCE <= SLICE_PLANS) {
        more =
            dn_planner_index_scan_on(t->planner_index, &t->scan, (uint32_t)(end - t->scan.scanned),
                                     t->plans, PLANS_AT_ONCE, &len);
        for (size_t i = 0; i < len; i++) plan_one(self, t, &t->plans[i]);
        planned += len;
    }
    return more;
}

static int tick_on_go_on(dn_self *self, void *state, const dn_msg *msg) {
    tick *t = state;

    (void)msg;
    assert(t->scanning);
    /* Whoever is behind is waited for: the plan is worth nothing until it is taken. */
    t->paused = !pipes_are_free(t);
    if (t->paused) return DN_OK;
    const bool more = plan_slice(self, t);
    pipes_flush(self, t);
    return go_on(self, more ? TICK_GO_ON : TICK_OVER);
}

/* After a herd as many wait as it had users. */
static int catch_up(dn_self *self, tick *t) {
    for (int i = 0; i < CHANGES_AT_ONCE && is_behind(t); i++) {
        t->paused = !dn_pipe_is_free(&t->to_queue_changes);
        if (t->paused) return DN_OK;
        make_one(self, t);
    }
    if (is_behind(t)) return go_on(self, TICK_CATCH_UP);
    return t->again && !t->ending ? begin(self, t) : DN_OK;
}

/* Behind all that the queue was sent: tick_on_room comes back here. */
static int ask_what_was_taken(dn_self *self, tick *t) {
    const dn_ref queue = dn_name(self, ACTOR_QUEUE);

    if (!dn_pipe_is_free(&t->to_queue)) return DN_OK;
    const int rc = dn_call(self, queue, MSG_PLAN_ENDS, NULL, 0, END_TIMEOUT_MS, &t->end_call);
    return rc == DN_EFULL ? dn_wait_room(self, queue) : DN_OK;
}

static int tick_on_over(dn_self *self, void *state, const dn_msg *msg) {
    tick *t = state;

    (void)msg;
    t->scanning = false;
    t->status.ticks++;
    t->status.took_us = (dn_mono_ns(self) - t->begun_ns) / 1000;
    t->status.scanned = t->scan.scanned;
    t->status.eligible = t->eligible;
    t->status.cutoffs = t->cutoffs;
    t->status.missed = t->missed;
    t->ending = true;
    t->end_call = 0;
    const int rc = ask_what_was_taken(self, t);
    return rc < 0 ? rc : catch_up(self, t);
}

static int tick_on_planned(dn_self *self, void *state, const dn_msg *msg) {
    tick                 *t = state;
    const dn_tick_status *s = &t->status;

    if (dn_msg_call(msg) != t->end_call) return DN_OK;
    t->ending = false;
    t->status.enqueued = *DN_BODY(uint64_t, msg);
    DN_EMIT(dn_tick_stop, .duration_ms = (double)s->took_us / 1e3,
            .users_scanned = (int64_t)s->scanned, .eligible_in_window = (int64_t)s->eligible,
            .enqueued = (int64_t)s->enqueued, .cutoff_finalized = (int64_t)s->cutoffs);
    DN_SAY(t->config->journal, self, DN_HAPPENED_TICK, .at_ms = s->last_ms,
           .scanned = (uint32_t)s->scanned, .eligible = (uint32_t)s->eligible,
           .enqueued = (uint32_t)s->enqueued, .cutoffs = (uint32_t)s->cutoffs);
    return t->again && !is_behind(t) ? begin(self, t) : DN_OK;
}

static int tick_on_catch_up(dn_self *self, void *state, const dn_msg *msg) {
    tick *t = state;

    (void)msg;
    return t->scanning ? DN_OK : catch_up(self, t);
}

static int tick_on_call_failed(dn_self *self, void *state, const dn_msg *msg) {
    tick                 *t = state;
    const dn_call_failed *f = DN_BODY(dn_call_failed, msg);

    if (!t->ending || f->id != t->end_call)
        return f->status; /* without its users it is no planner */
    t->ending = false;    /* a queue that is gone: this actor begins again with it */
    return t->again && !is_behind(t) ? begin(self, t) : DN_OK;
}

static int tick_on_room(dn_self *self, void *state, const dn_msg *msg) {
    tick *t = state;

    (void)msg;
    dn_pipe_on_room(self, &t->to_kv_missed);
    dn_pipe_on_room(self, &t->to_kv);
    dn_pipe_on_room(self, &t->to_queue);
    dn_pipe_on_room(self, &t->to_queue_changes);
    if (t->ending && t->end_call == 0) {
        const int rc = ask_what_was_taken(self, t);
        if (rc < 0) return rc;
    }
    if (!t->paused) return DN_OK;
    t->paused = false;
    return go_on(self, t->scanning ? TICK_GO_ON : TICK_CATCH_UP);
}

/* ---- Questions ---- */

static int tick_on_ask_status(dn_self *self, void *state, const dn_msg *msg) {
    tick *t = state;

    t->status.planning = t->scanning || !pipes_are_free(t);
    t->status.users = dn_planner_index_len(t->planner_index);
    t->status.index_bytes = dn_planner_index_bytes(t->planner_index);
    dn_reply(self, msg, MSG_STATUS, &t->status, sizeof t->status);
    return DN_OK;
}

static int tick_on_ask_minutes(dn_self *self, void *state, const dn_msg *msg) {
    const tick             *t = state;
    dn_planner_index_minute minutes[DN_DAY_MINUTES];

    dn_planner_index_minutes(t->planner_index, *DN_BODY(dn_day, msg), minutes);
    dn_reply(self, msg, MSG_MINUTES, minutes, sizeof minutes);
    return DN_OK;
}
