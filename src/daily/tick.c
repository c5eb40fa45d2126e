/* tick.c - decides once a tick what each user needs now.
 * The planner only plans: it asks the queue for attempts and kv for cutoffs, and waits for neither. It keeps all users in
 * memory (planner_index.h): kv sends them at its start, and every change after its commit. A large tick is planned in
 * slices, a message each, so that nothing else on the loop waits long. A crash here costs one tick and a load. */
#include "actor/pipe.h"
#include "daily_events.h"
#include "daily_messages.h"
#include "daily_path.h"
#include "obs/log.h"
#include "planner_index.h"

#include <assert.h>
#include <string.h>

enum {
    TICK_NOW = MSG_OWN,
    TICK_SLICE,
    TICK_OVER,
    SLICE_LOOKS = 4096, /* less than a millisecond, if none of them is in the processor's cache */
    SLICE_PLANS = 1024,
    PLANS_AT_ONCE = 64, /* they stay in the processor's nearest cache until they are sent */
    LOAD_TIMEOUT_MS = 60000,
    END_TIMEOUT_MS = 60000,
    NS_PER_MS = 1000000,
};

typedef struct tick {
    const dn_daily_config *config;
    dn_planner_index      *index;
    uint64_t               commit; /* every change up to this commit is in the index */
    uint64_t               loaded; /* the commit that the first page was read after */
    dn_pipe                to_queue, to_kv, to_kv_missed;
    dn_timer_id            timer;
    uint64_t timer_number; /* in its message: a cancelled timer may have fired already */
    bool     armed;        /* for a tick after another one */
    dn_day   date;

    /* Ticks belong to these instants of the steady clock, however late they come, so those of a wall clock that does not
     * step are equally far apart, to the nanosecond. */
    int64_t line_ms, line_ns; /* one instant by both clocks; a step sets another one */
    int64_t due_ns;           /* the next tick */
    int64_t came_ns, at_ns;   /* the last tick that came; the one that is planned */

    bool                  scanning, paused; /* paused: a receiver is behind */
    bool                  again;            /* the next tick came meanwhile */
    dn_planner_index_scan scan;
    int64_t               begun_ns;
    dn_planner_index_plan plans[PLANS_AT_ONCE];
    uint64_t              eligible, cutoffs, missed;
    bool                  ending;   /* planned; the queue has not said yet how many it accepted */
    dn_call_id            end_call; /* 0: the queue could not be asked yet */

    dn_tick_status status;
} tick;

static int tick_init(dn_self *self, void *state, const void *config);
static int tick_on_page(dn_self *self, void *state, const dn_msg *msg);
static int tick_on_now(dn_self *self, void *state, const dn_msg *msg);
static int tick_on_slice(dn_self *self, void *state, const dn_msg *msg);
static int tick_on_over(dn_self *self, void *state, const dn_msg *msg);
static int tick_on_planned(dn_self *self, void *state, const dn_msg *msg);
static int tick_on_changed(dn_self *self, void *state, const dn_msg *msg);
static int tick_on_clock(dn_self *self, void *state, const dn_msg *msg);
static int tick_on_room(dn_self *self, void *state, const dn_msg *msg);
static int tick_on_call_failed(dn_self *self, void *state, const dn_msg *msg);
static int tick_on_ask_status(dn_self *self, void *state, const dn_msg *msg);
static int tick_on_ask_minutes(dn_self *self, void *state, const dn_msg *msg);

static const dn_handler tick_handlers[] = {
    {MSG_USERS_CHANGED, tick_on_changed}, /* kv    -> users as a commit left them */
    {TICK_SLICE, tick_on_slice},          /* the next slice */
    {TICK_NOW, tick_on_now},              /* timer -> a tick begins */
    {TICK_OVER, tick_on_over},            /* the last slice is done */
    {MSG_PLANNED, tick_on_planned},       /* queue -> how many attempts it accepted */
    {MSG_KV_PAGE, tick_on_page},          /* kv    -> a page of all users, at the start */
    {DN_MSG_CLOCK, tick_on_clock},        /* the wall clock stepped: the next tick is another one */
    {DN_MSG_ROOM, tick_on_room},
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

/* A plan is made only of an index that has all users; and a scan ends before its tick does. */
static bool tick_is_sound(const tick *t) {
    if (t->scanning && (!t->status.loaded || t->ending)) return false;
    return t->commit >= t->loaded && (!t->paused || t->scanning);
}

/* ---- Start: all users ---- */

static int ask_for_page(dn_self *self, uint64_t after) {
    return dn_call(self, dn_name(self, ACTOR_KV), MSG_KV_LOAD, &after, sizeof after,
                   LOAD_TIMEOUT_MS, NULL);
}

static void read_clocks(dn_self *self, tick *t) {
    t->line_ms = dn_now_ms(self);
    t->line_ns = dn_mono_ns(self);
}

static int tick_init(dn_self *self, void *state, const void *config) {
    tick *t = state;

    t->config = config;
    t->date = DN_DAY_NONE;
    const int rc = dn_planner_index_new(&t->index);
    if (rc < 0) return rc;
    dn_own(self, t->index, dn_planner_index_free);
    dn_pipe_init(self, &t->to_queue, ACTOR_QUEUE, MSG_PLAN_ATTEMPTS);
    dn_pipe_init(self, &t->to_kv, ACTOR_KV, MSG_FINALIZE_CUTOFF);
    dn_pipe_init(self, &t->to_kv_missed, ACTOR_KV, MSG_RECORD_MISSED);
    dn_watch_clock(self);
    read_clocks(self, t);
    return ask_for_page(self, 0);
}

/* ---- Changes ---- */

static void apply(tick *t, const dn_change *c) {
    if (c->removed) {
        (void)dn_planner_index_remove(t->index, c->registration);
        return;
    }
    const dn_planner_index_user user = {
        .registration = c->registration,
        .due = c->due,
        .last_day = c->last_day,
        .starts_on = c->starts_on,
        .recorded = c->recorded,
        .status = (dn_daily_status)c->status,
        .context_epoch = c->context_epoch,
        .id = c->id,
        .id_len = c->id_len,
    };
    /* DN_EDEAD: it changed while the users are being loaded, and its page is still to come. */
    if (dn_planner_index_put(t->index, &user) == DN_ENOMEM)
        dn_fail_code(DN_ENOMEM, "no memory for one more user");
}

/* With millions of users each record is far off in memory: ask for several before the first is needed. */
static void apply_some(tick *t, const dn_change *const *some, size_t len) {
    uint64_t registrations[DN_PLANNER_INDEX_FETCH] = {0};

    for (size_t i = 0; i < len; i++) registrations[i] = some[i]->registration;
    dn_planner_index_fetch(t->index, registrations, len);
    for (size_t i = 0; i < len; i++) apply(t, some[i]);
}

/* Applies the changes of a message that are of a commit after that one. */
static void apply_all(tick *t, const dn_msg *msg, uint64_t after) {
    const dn_change *some[DN_PLANNER_INDEX_FETCH];
    size_t           len = 0;

    for (DN_PIPE_EACH_ID(dn_change, c, msg)) {
        if (after > 0 && c->commit <= after) continue;
        some[len++] = c;
        if (len < DN_PLANNER_INDEX_FETCH) continue;
        apply_some(t, some, len);
        len = 0;
    }
    apply_some(t, some, len);
}

/* Asks for the next page before it reads this one, so that kv works meanwhile. */
static int tick_on_page(dn_self *self, void *state, const dn_msg *msg) {
    tick    *t = state;
    uint64_t last = 0;

    assert(tick_is_sound(t));
    for (DN_PIPE_EACH_ID(dn_change, c, msg)) {
        if (t->loaded == 0 && dn_planner_index_len(t->index) == 0) t->loaded = c->commit;
        last = c->registration;
    }
    if (t->commit < t->loaded) t->commit = t->loaded;
    if (last > 0) {
        const int rc = ask_for_page(self, last);
        apply_all(t, msg, /* after= */ 0);
        return rc;
    }
    t->status.loaded = true;
    dn_log(DN_LOG_INFO, "tick.loaded", "loaded %zu users", dn_planner_index_len(t->index));
    /* By a timer, as every other tick: in a replay, what else belongs to this instant happens first. */
    t->timer = dn_timer_after(self, 0, TICK_NOW, ++t->timer_number);
    assert(tick_is_sound(t));
    return DN_OK;
}

static void plan_changed(dn_self *self, tick *t, const dn_msg *msg);

/* Those of a commit before the first page are in the pages already, and may be older than what a page says. */
static int tick_on_changed(dn_self *self, void *state, const dn_msg *msg) {
    tick *t = state;

    assert(tick_is_sound(t));
    apply_all(t, msg, t->loaded);
    for (DN_PIPE_EACH_ID(dn_change, c, msg)) {
        const uint64_t whole = c->is_last ? c->commit : c->commit - 1;
        if (whole > t->commit) t->commit = whole;
    }
    if (t->scanning) plan_changed(self, t, msg);
    return DN_OK;
}

/* ---- When ---- */

static void arm(dn_self *self, tick *t) {
    const int64_t every_ms = t->config->tick_ms;

    if (t->timer) (void)dn_timer_cancel(self, t->timer);
    t->timer_number++;
    t->armed = true;
    if (t->config->ticks_stand_still) {
        const int64_t now_ms = dn_mono_ns(self) / 1000000;
        t->status.next_ms = dn_now_ms(self) + every_ms - now_ms % every_ms;
        t->due_ns = (now_ms / every_ms + 1) * every_ms * NS_PER_MS;
        t->timer = dn_timer_at_mono(self, t->due_ns, TICK_NOW, t->timer_number);
    } else {
        const int64_t now_ms = dn_now_ms(self);
        int64_t       past_ms = now_ms % every_ms;
        if (past_ms < 0) past_ms += every_ms;
        t->status.next_ms = now_ms - past_ms + every_ms;
        t->due_ns = t->line_ns + (t->status.next_ms - t->line_ms) * NS_PER_MS;
        t->timer = dn_timer_at_wall(self, t->status.next_ms, TICK_NOW, t->timer_number);
    }
}

static int tick_on_clock(dn_self *self, void *state, const dn_msg *msg) {
    tick *t = state;

    dn_log(DN_LOG_WARN, "clock.stepped", "the wall clock stepped by %lld ms",
           (long long)DN_BODY(dn_clock_step, msg)->step_ms);
    DN_SAY(t->config->journal, self, DN_HAPPENED_CLOCK, .at_ms = dn_now_ms(self),
           .step_ms = DN_BODY(dn_clock_step, msg)->step_ms);
    read_clocks(self, t);
    /* The first tick stays: it comes at once. */
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

/* Continues after the messages that wait already. */
static int go_on(dn_self *self, uint32_t kind) {
    const int rc = dn_send(self, dn_self_ref(self), kind, NULL, 0);

    if (rc == DN_EFULL) dn_timer_after(self, 1, kind, 0);
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
    return go_on(self, TICK_SLICE);
}

static int tick_on_now(dn_self *self, void *state, const dn_msg *msg) {
    tick *t = state;

    if (*DN_BODY(uint64_t, msg) != t->timer_number) return DN_OK;
    t->timer = 0;
    t->came_ns = t->armed ? t->due_ns : dn_mono_ns(self); /* the first belongs where it comes */
    arm(self, t);
    if (t->scanning || t->ending) {
        dn_log(DN_LOG_WARN, "tick.late",
               "the last tick is still being planned; this one begins after it");
        t->again = true;
        return DN_OK;
    }
    return begin(self, t);
}

static void plan_one(dn_self *self, tick *t, const dn_planner_index_plan *p) {
    if (p->missed.first <= p->missed.last) {
        dn_missed_days *m = dn_pipe_add(self, &t->to_kv_missed, sizeof *m);
        *m = (dn_missed_days){
            .registration = p->registration, .at_ms = t->scan.now_ms, .days = p->missed};
        t->missed += (uint64_t)(p->missed.last - p->missed.first) + 1;
    }
    if (p->action == DN_DAILY_FINALIZE) {
        dn_cutoff *c = dn_pipe_add(self, &t->to_kv, sizeof *c);
        *c = (dn_cutoff){.registration = p->registration, .at_ms = t->scan.now_ms, .day = p->day};
        t->cutoffs++;
    } else if (p->action == DN_DAILY_ATTEMPT) {
        dn_attempt *a = dn_pipe_add(self, &t->to_queue, sizeof *a + p->id_len);
        a->registration = p->registration;
        a->commit = t->commit;
        a->at_ns = t->at_ns;
        a->day = p->day;
        a->context_epoch = p->context_epoch;
        a->due = (uint16_t)p->due;
        a->id_len = p->id_len;
        dn_id_copy(a->id, p->id, p->id_len);
        t->eligible++;
    }
}

/* A request that changes a user during a scan may move it from the part that is still to be scanned to the part that has
 * been: plan it now, or this tick would miss it. If it is planned twice, queue and kv ignore the second. */
static void plan_changed(dn_self *self, tick *t, const dn_msg *msg) {
    for (DN_PIPE_EACH_ID(dn_change, c, msg))
        if (c->by_request && !c->is_new && !c->removed &&
            dn_planner_index_plan_of(t->index, c->registration, &t->scan, &t->plans[0]))
            plan_one(self, t, &t->plans[0]);
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
    const dn_daily_bounds *b = &t->config->bounds;
    const uint64_t         end = t->scan.scanned + dn_bound(b->slice_looks, SLICE_LOOKS);
    const size_t           most = dn_bound(b->slice_plans, SLICE_PLANS);
    const size_t           at_once = dn_bound(b->plans, PLANS_AT_ONCE);
    size_t                 planned = 0, len = 0;
    bool                   more = true;

    while (more && t->scan.scanned < end && planned < most) {
        more = dn_planner_index_scan_on(t->index, &t->scan, (uint32_t)(end - t->scan.scanned),
                                        t->plans, at_once, &len);
        for (size_t i = 0; i < len; i++) plan_one(self, t, &t->plans[i]);
        planned += len;
    }
    return more;
}

static int tick_on_slice(dn_self *self, void *state, const dn_msg *msg) {
    tick *t = state;

    (void)msg;
    assert(t->scanning && tick_is_sound(t));
    /* Wait for a receiver that is behind: a plan is worth nothing until it is received. */
    t->paused = !pipes_are_free(t);
    if (t->paused) return DN_OK;
    const bool more = plan_slice(self, t);
    pipes_flush(self, t);
    return go_on(self, more ? TICK_SLICE : TICK_OVER);
}

/* After everything that was sent to the queue; tick_on_room comes back here if some of it waits. */
static int ask_what_was_accepted(dn_self *self, tick *t) {
    const dn_ref      queue = dn_name(self, ACTOR_QUEUE);
    const dn_plan_end end = {.commit = t->commit};

    if (!dn_pipe_is_free(&t->to_queue)) return DN_OK;
    const int rc =
        dn_call(self, queue, MSG_PLAN_ENDS, &end, sizeof end, END_TIMEOUT_MS, &t->end_call);
    return rc == DN_EFULL ? dn_wait_room(self, queue) : DN_OK;
}

static int tick_on_over(dn_self *self, void *state, const dn_msg *msg) {
    tick *t = state;

    (void)msg;
    pipes_flush(self, t); /* what plan_changed added */
    t->scanning = false;
    t->status.ticks++;
    t->status.took_us = (dn_mono_ns(self) - t->begun_ns) / 1000;
    t->status.scanned = t->scan.scanned;
    t->status.eligible = t->eligible;
    t->status.cutoffs = t->cutoffs;
    t->status.missed = t->missed;
    t->ending = true;
    t->end_call = 0;
    assert(tick_is_sound(t));
    return ask_what_was_accepted(self, t);
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
    return t->again ? begin(self, t) : DN_OK;
}

static int tick_on_call_failed(dn_self *self, void *state, const dn_msg *msg) {
    tick                 *t = state;
    const dn_call_failed *f = DN_BODY(dn_call_failed, msg);

    if (!t->ending || f->id != t->end_call)
        return f->status; /* a planner without users would be wrong: restart, and load again */
    t->ending = false;    /* the queue is gone, and this actor restarts with it */
    return t->again ? begin(self, t) : DN_OK;
}

static int tick_on_room(dn_self *self, void *state, const dn_msg *msg) {
    tick *t = state;

    (void)msg;
    dn_pipe_on_room(self, &t->to_kv_missed);
    dn_pipe_on_room(self, &t->to_kv);
    dn_pipe_on_room(self, &t->to_queue);
    if (t->ending && t->end_call == 0) {
        const int rc = ask_what_was_accepted(self, t);
        if (rc < 0) return rc;
    }
    if (!t->paused) return DN_OK;
    t->paused = false;
    return go_on(self, TICK_SLICE);
}

/* ---- Questions ---- */

static int tick_on_ask_status(dn_self *self, void *state, const dn_msg *msg) {
    tick *t = state;

    t->status.planning = t->scanning || !pipes_are_free(t);
    t->status.users = dn_planner_index_len(t->index);
    t->status.index_bytes = dn_planner_index_bytes(t->index);
    dn_reply(self, msg, MSG_STATUS, &t->status, sizeof t->status);
    return DN_OK;
}

static int tick_on_ask_minutes(dn_self *self, void *state, const dn_msg *msg) {
    const tick             *t = state;
    dn_planner_index_minute minutes[DN_DAY_MINUTES];

    dn_planner_index_minutes(t->index, *DN_BODY(dn_day, msg), minutes);
    dn_reply(self, msg, MSG_MINUTES, minutes, sizeof minutes);
    return DN_OK;
}
