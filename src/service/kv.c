/* kv.c - the durable truth: users, and how each of their days ended.
 * It alone calls the store. What is decided elsewhere comes here as messages, waits in one line in the
 * order it was decided, and is committed many at a time, when a batch of messages has been taken in
 * (flush). Only then is anybody told. A crash loses what was not committed, and everybody who believed it
 * starts again with kv. */
#include "kv.h"

#include "obs/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int kv_init(dn_self *self, void *state, const void *config);
static int kv_on_write(dn_self *self, void *state, const dn_msg *msg);
static int kv_on_success(dn_self *self, void *state, const dn_msg *msg);
static int kv_on_remove(dn_self *self, void *state, const dn_msg *msg);
static int kv_on_asked_by_tick(dn_self *self, void *state, const dn_msg *msg);
static int kv_on_note_attempts(dn_self *self, void *state, const dn_msg *msg);
static int kv_on_set(dn_self *self, void *state, const dn_msg *msg);
static int kv_on_go_on(dn_self *self, void *state, const dn_msg *msg);
static int kv_on_retry(dn_self *self, void *state, const dn_msg *msg);
static int kv_on_date(dn_self *self, void *state, const dn_msg *msg);
static int kv_on_forget(dn_self *self, void *state, const dn_msg *msg);
static int kv_on_idle(dn_self *self, void *state, const dn_msg *msg);
static int kv_on_room(dn_self *self, void *state, const dn_msg *msg);
static int kv_flush(dn_self *self, void *state);
static int kv_stopping(dn_self *self, void *state);

static const dn_handler kv_handlers[] = {
    {MSG_FINALIZE_SUCCESS, kv_on_success},    /* executor -> a job was ok */
    {MSG_NOTE_ATTEMPTS, kv_on_note_attempts}, /* executor -> what the ledger will say of attempts */
    {MSG_FINALIZE_CUTOFF, kv_on_asked_by_tick}, /* tick     -> cutoffs have come */
    {MSG_RECORD_MISSED, kv_on_asked_by_tick},   /* tick     -> days ended that nobody saw */
    {MSG_DATE_BEGINS, kv_on_date},              /* tick     -> what is old may go, in a while */
    {MSG_KV_LOAD, kv_on_load},                  /* tick     -> all users, page by page */
    {MSG_KV_SET, kv_on_set},                    /* somebody -> register, or change */
    {MSG_KV_REMOVE, kv_on_remove},              /* somebody -> remove */
    {MSG_KV_HOOK_DONE, kv_on_write},            /* hooks    -> delivered, or to be tried again */
    {MSG_KV_HOOKS, kv_on_hooks},                /* hooks    -> what is in the outbox */
    {MSG_KV_USER, kv_on_user},                  /* questions: kv_read.c */
    {MSG_KV_BY_NUMBER, kv_on_by_number},
    {MSG_KV_LIST, kv_on_list},
    {MSG_KV_DAYS_OF, kv_on_days_of},
    {MSG_KV_DAY, kv_on_day},
    {MSG_KV_TOTALS, kv_on_totals},
    {MSG_KV_STATUS, kv_on_status},
    {MSG_KV_BACKUP, kv_on_backup},
    {MSG_KV_TOKENS, kv_on_tokens}, /* web      -> who may ask */
    {MSG_KV_TOKEN_ADD, kv_on_token_add},
    {MSG_KV_TOKEN_REMOVE, kv_on_token_remove},
    {KV_BACKUP_STEP, kv_on_backup_step},
    {KV_GO_ON, kv_on_go_on},
    {KV_RETRY, kv_on_retry},
    {KV_FORGET, kv_on_forget},
    {KV_IDLE, kv_on_idle},
    {DN_MSG_ROOM, kv_on_room},
};

const dn_class dn_kv_class = {
    .name = "kv",
    .state_size = sizeof(kv),
    .init = kv_init,
    .handlers = DN_SLICE(kv_handlers),
    .flush = kv_flush,
    .stopping = kv_stopping,
    .mailbox_max = 4096,
    .heap_max = (size_t)64 << 20,
    .drains = true, /* what was sent before the stop is written before the end */
};

/* ---- Start ---- */

static int outbox_clock_begins(dn_self *self, kv *k) {
    int64_t   begun_ms = 0;
    const int rc =
        dn_store_hooks_clock(k->store, dn_store_now_ms(k->store, dn_now_ms(self)), &begun_ms);

    kv_look_at(k, rc, "reading the outbox");
    k->outbox_ahead_ms = begun_ms - dn_mono_ns(self) / 1000000;
    return rc;
}

static void numbers_release(void *numbers) { dn_number_map_done(numbers); }

static int kv_init(dn_self *self, void *state, const void *config) {
    kv          *k = state;
    const size_t most = KV_WRITES_MAX + KV_SETS_MAX;

    k->config = config;
    k->store = k->config->store;
    dn_own(self, &k->line, kv_line_done);
    dn_own(self, &k->attempts, numbers_release);
    dn_own(self, &k->pending, numbers_release);
    dn_own(self, &k->pending_ok, numbers_release);
    dn_own(self, &k->pending_missed, numbers_release);
    k->writes = dn_alloc(self, most * sizeof *k->writes);
    k->results = dn_alloc(self, most * sizeof *k->results);
    k->changes = dn_alloc(self, most * sizeof *k->changes);
    k->sources = dn_alloc(self, most * sizeof *k->sources);
    k->users = dn_alloc(self, KV_PAGE_USERS * sizeof *k->users);
    k->answer = dn_alloc(self, KV_ANSWER_BYTES);
    dn_pipe_init(self, &k->to_tick, ACTOR_TICK, MSG_USERS_CHANGED);
    dn_pipe_init(self, &k->to_queue, ACTOR_QUEUE, MSG_USERS_CHANGED);
    dn_pipe_init(self, &k->to_executor, ACTOR_EXECUTOR, MSG_FINALIZED);
    k->changes_seq = dn_store_follow(k->store);
    int rc = dn_store_count(k->store, &k->status.users);
    kv_look_at(k, rc, "counting users");
    if (rc == DN_OK) rc = outbox_clock_begins(self, k);
    if (rc < 0) return rc;
    if (k->config->all_written) *k->config->all_written = false;
    dn_timer_after(self, KV_IDLE_MS, KV_IDLE, 0);
    return DN_OK;
}

void kv_look_at(const kv *k, int rc, const char *doing) {
    char why[DN_STORE_WHY + 64];

    if (rc != DN_EIO) return;
    const char *damage = dn_store_damage(k->store);
    if (damage) snprintf(why, sizeof why, "%s (found while %s)", damage, doing);
    else
        snprintf(why, sizeof why,
                 "the store failed while %s: nothing that was acknowledged is lost; start again "
                 "when the disk is well",
                 doing);
    dn_log(DN_LOG_ERROR, "store.failed", "%s", why);
    k->config->fatal(k->config->fatal_context, why);
    dn_fail_code(rc, "the store failed");
}

/* ---- Joining the line ---- */

static void join(dn_self *self, kv *k, const dn_msg *msg) {
    kv_line_add(&k->line, dn_msg_keep(self, msg));
    k->fresh = true;
}

static int kv_on_write(dn_self *self, void *state, const dn_msg *msg) {
    join(self, state, msg);
    return DN_OK;
}

void kv_note_pending(kv *k, const dn_msg *msg) {
    for (DN_PIPE_EACH(dn_success, s, msg))
        if (dn_number_map_put(&k->pending_ok, s->n, (uint32_t)s->day) < 0)
            dn_fail_code(DN_ENOMEM, "no memory for what waits to be written");
}

/* A planner that starts while it waits is to know of it (kv_on_load). */
static int kv_on_success(dn_self *self, void *state, const dn_msg *msg) {
    kv *k = state;

    if (k->loading) kv_note_pending(k, msg);
    join(self, k, msg);
    return DN_OK;
}

static int kv_on_remove(dn_self *self, void *state, const dn_msg *msg) {
    const dn_kv_user_answer nobody = {.status = DN_EDEAD};

    if (DN_BODY(dn_kv_id, msg)->len > 0) join(self, state, msg);
    else if (dn_msg_is_request(msg)) dn_reply(self, msg, MSG_KV_ANSWER, &nobody, sizeof nobody);
    return DN_OK;
}

static void note_waiting(dn_number_map *pending, uint64_t n, dn_day day) {
    if (dn_number_map_put(pending, n, (uint32_t)day) < 0)
        dn_fail_code(DN_ENOMEM, "no memory for what waits to be written");
}

/* The planner asks at every tick until it is told: what stands in the line already does not join it again. False: nothing
 * of it does, and it is nobody's from now on. */
static bool cutoff_joins(kv *k, dn_cutoff *c) {
    const uint64_t *waits = dn_number_map_find(&k->pending, c->n);

    if (waits && *waits == (uint32_t)c->day) {
        c->n = 0;
        return false;
    }
    note_waiting(&k->pending, c->n, c->day);
    return true;
}

/* Likewise. What waits are all days up to the one that is noted; it may lie behind those that are asked for, where the
 * clock was set back since. */
static bool missed_join(kv *k, dn_missed_days *m) {
    const uint64_t *waits = dn_number_map_find(&k->pending_missed, m->n);
    const dn_day    last = waits ? (dn_day)(uint32_t)*waits : 0;

    if (waits && last >= m->days.last) {
        m->n = 0;
        return false;
    }
    if (waits && last >= m->days.first) m->days.first = last + 1;
    note_waiting(&k->pending_missed, m->n, m->days.last);
    return true;
}

static int kv_on_asked_by_tick(dn_self *self, void *state, const dn_msg *msg) {
    kv     *k = state;
    dn_msg *m = dn_msg_keep(self, msg);
    bool    any = false;

    for (size_t at = 0; at < dn_msg_size(m); at += kv_entry_size(m, dn_msg_body(m))) {
        void *entry = (char *)dn_msg_body(m) + at;
        any |=
            dn_msg_kind(m) == MSG_FINALIZE_CUTOFF ? cutoff_joins(k, entry) : missed_join(k, entry);
    }
    if (!any) {
        dn_msg_free(self, m);
        return DN_OK;
    }
    kv_line_add(&k->line, m);
    k->fresh = true;
    return DN_OK;
}

/* The store ends the process over what is no user: whoever sends it, here it is refused. */
static bool sets_are_sound(const dn_msg *msg, size_t *out_len) {
    bool   sound = true;
    size_t len = 0;

    for (DN_PIPE_EACH_ID(dn_kv_set, s, msg)) {
        sound = sound && s->due < DN_DAY_MINUTES && !dn_id_fault(s->id, s->id_len);
        len++;
    }
    *out_len = len;
    return sound && len > 0 && (len <= KV_SETS_MAX || !dn_msg_is_request(msg));
}

static int kv_on_set(dn_self *self, void *state, const dn_msg *msg) {
    const dn_kv_set_answer refused = {.status = DN_EINVAL, .wrote = DN_WROTE_GONE};
    size_t                 len;

    if (sets_are_sound(msg, &len)) join(self, state, msg);
    else if (dn_msg_is_request(msg)) dn_reply(self, msg, MSG_KV_ANSWER, &refused, sizeof refused);
    return DN_OK;
}

/* What came behind the end of its day, or for a user who had been removed. A window begins the day before its cutoff
 * at most. Without the memory for it: tomorrow. */
static void forget_old_attempts(kv *k) {
    dn_number_map kept = {0};
    size_t        at = 0;

    for (const dn_number_row *r; (r = dn_number_map_next(&k->attempts, &at));) {
        if ((dn_day)(r->value >> 32) < k->today - 1) continue;
        if (dn_number_map_put(&kept, r->key, r->value) == DN_OK) continue;
        dn_number_map_done(&kept);
        return;
    }
    dn_number_map_done(&k->attempts);
    k->attempts = kept;
}

/* What a date makes old is forgotten when it has been the date for an hour: a clock may be wrong for a moment, and what
 * it has taken does not come back with the right one. */
static int kv_on_date(dn_self *self, void *state, const dn_msg *msg) {
    kv *k = state;

    k->today = DN_BODY(dn_date, msg)->today;
    forget_old_attempts(k);
    if (k->config->ledger_days == 0) return DN_OK;
    const dn_day first_kept = k->today - (dn_day)k->config->ledger_days;
    if (k->forget_timer) (void)dn_timer_cancel(self, k->forget_timer);
    k->forget_timer = dn_timer_after(self, KV_FORGET_MS, KV_FORGET, (uint32_t)first_kept);
    return DN_OK;
}

/* Not by a date that has been set back since: its tick is still to come. */
static int kv_on_forget(dn_self *self, void *state, const dn_msg *msg) {
    const kv    *k = state;
    const dn_day today = dn_day_of_ms(dn_now_ms(self));

    if (kv_first_kept(msg) <= today - (dn_day)k->config->ledger_days) join(self, state, msg);
    return DN_OK;
}

static int kv_on_note_attempts(dn_self *self, void *state, const dn_msg *msg) {
    kv *k = state;

    (void)self;
    for (DN_PIPE_EACH(dn_attempt_note, a, msg))
        if (dn_number_map_put(&k->attempts, kv_attempts_key(a->n, a->day),
                              kv_attempts_of(a->day, a->attempts, a->cls)) < 0)
            dn_fail_code(DN_ENOMEM, "no memory for what was tried");
    return DN_OK;
}

/* ---- Committing ---- */

static bool pipes_are_free(const kv *k) {
    return dn_pipe_is_free(&k->to_tick) && dn_pipe_is_free(&k->to_queue) &&
           dn_pipe_is_free(&k->to_executor);
}

/* Asked to stop, it ends when the line is empty, or when the disk does not take the rest. */
static int may_end(const kv *k) {
    if (!k->stopping || (k->line.len > 0 && !k->full)) return DN_OK;
    if (k->line.len > 0)
        dn_log(DN_LOG_WARN, "store.full",
               "stopped with %llu writes that the full disk did not take: those users are eligible "
               "again",
               (unsigned long long)k->line.entries);
    else if (k->config->all_written) *k->config->all_written = true;
    return DN_STOP;
}

/* One transaction, so that questions need not wait for more than that; the rest in the next turn. */
static int kv_flush(dn_self *self, void *state) {
    kv *k = state;

    if (k->line.len == 0 || (k->full && !k->fresh) || !pipes_are_free(k)) return may_end(k);
    k->fresh = false;
    kv_commit(self, k);
    dn_pipe_flush(self, &k->to_executor);
    dn_pipe_flush(self, &k->to_tick);
    dn_pipe_flush(self, &k->to_queue);
    /* A mailbox that is full brings the next flush by itself. */
    if (k->line.len > 0 && !k->full && !k->going_on)
        k->going_on = dn_send(self, dn_self_ref(self), KV_GO_ON, NULL, 0) == DN_OK;
    return may_end(k);
}

static int kv_on_go_on(dn_self *self, void *state, const dn_msg *msg) {
    kv *k = state;

    (void)self, (void)msg;
    k->going_on = false; /* the flush that follows goes on */
    return DN_OK;
}

static int kv_on_retry(dn_self *self, void *state, const dn_msg *msg) {
    kv *k = state;

    (void)self, (void)msg;
    k->retry_timer = 0;
    k->fresh = true;
    return DN_OK;
}

static int kv_on_room(dn_self *self, void *state, const dn_msg *msg) {
    kv *k = state;

    (void)msg;
    dn_pipe_on_room(self, &k->to_executor);
    dn_pipe_on_room(self, &k->to_tick);
    dn_pipe_on_room(self, &k->to_queue);
    return DN_OK;
}

static int kv_on_idle(dn_self *self, void *state, const dn_msg *msg) {
    kv *k = state;

    (void)msg;
    if (!k->wrote_lately && k->line.len == 0) kv_look_at(k, dn_store_idle(k->store), "tidying up");
    k->wrote_lately = false;
    dn_timer_after(self, KV_IDLE_MS, KV_IDLE, 0);
    return DN_OK;
}

/* Everything that was to stop before kv has, and all it sent stands in the line: that is written before the end, a
 * transaction a turn as always. */
static int kv_stopping(dn_self *self, void *state) {
    kv *k = state;

    (void)self;
    k->stopping = k->fresh = true;
    return k->line.len == 0 ? may_end(k) : DN_OK;
}
