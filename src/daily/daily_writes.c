/* daily_writes.c - what the daily path writes through kv: registrations, finalizations, missed days.
 * Each kind is a row of the table at the end: how it joins the line, which write it makes, who hears of the commit. What
 * changed goes to tick and queue with the number of the commit. */
#include "daily_events.h"
#include "daily_own.h"
#include "obs/log.h"

#include <string.h>

enum { MSG_FORGET = MSG_OWN + 100, FORGET_AFTER_MS = 3600000 };

/* ---- What is known of attempts, for the ledger ---- */

/* Two days that follow each other have a place each: around midnight both are open, and a clock that shows another day
 * for a moment must not make the part forget the day before. */
static uint64_t attempts_key(uint64_t registration, dn_day day) {
    return registration << 1 | ((uint64_t)(uint32_t)day & 1U);
}

/* The attempts of a user's open day, in one word. */
static uint64_t attempts_of(dn_day day, uint16_t attempts, uint8_t cls) {
    return (uint64_t)(uint32_t)day << 32 | (uint64_t)attempts << 8 | cls;
}

static dn_day attempts_day(uint64_t value) { return (dn_day)(value >> 32); }

static int on_note_attempts(dn_self *self, dn_kv *k, void *part, const dn_msg *msg) {
    daily_part *p = part;

    (void)self, (void)k;
    for (DN_PIPE_EACH(dn_attempt_note, a, msg))
        if (dn_map_put(&p->attempts, attempts_key(a->registration, a->day),
                       attempts_of(a->day, a->attempts, a->error_class)) < 0)
            dn_fail_code(DN_ENOMEM, "no memory for attempts");
    return DN_OK;
}

static void forget_attempts(daily_part *p, uint64_t registration, dn_day day) {
    uint64_t *known = dn_map_find(&p->attempts, attempts_key(registration, day));

    if (known && attempts_day(*known) <= day) dn_map_drop(&p->attempts, known);
}

/* Drops attempts noted after the end of their day, or for a user who had been removed. A window begins at most one day
 * before its cutoff. Without memory this is done tomorrow. */
static void forget_old_attempts(daily_part *p) {
    dn_map kept = {0};
    size_t at = 0;

    for (dn_map_row r; dn_map_next(&p->attempts, &at, &r);) {
        if (attempts_day(r.value) < p->today - 1) continue;
        if (dn_map_put(&kept, r.key, r.value) == DN_OK) continue;
        dn_map_done(&kept);
        return;
    }
    dn_map_done(&p->attempts);
    p->attempts = kept;
}

/* ---- Deleting old rows ---- */

/* Delete expired ledger rows only after the date has been stable for an hour, so that a clock that jumps ahead deletes
 * nothing. */
static int on_date(dn_self *self, dn_kv *k, void *part, const dn_msg *msg) {
    daily_part *p = part;

    (void)k;
    p->today = DN_BODY(dn_date, msg)->today;
    forget_old_attempts(p);
    if (p->config->ledger_days == 0) return DN_OK;
    const dn_day first_kept = p->today - (dn_day)p->config->ledger_days;
    if (p->forget_timer) (void)dn_timer_cancel(self, p->forget_timer);
    p->forget_timer = dn_timer_after(self, FORGET_AFTER_MS, MSG_FORGET, (uint32_t)first_kept);
    return DN_OK;
}

static dn_day forget_before(const void *entry) {
    return (dn_day)(uint32_t) * (const uint64_t *)entry;
}

/* Not by a date that has been set back since: its tick is still to come. */
static bool forget_admit(dn_self *self, void *part, void *entry) {
    const daily_part *p = part;
    const dn_day      today = dn_day_of_ms(dn_now_ms(self));

    return forget_before(entry) <= today - (dn_day)p->config->ledger_days;
}

static void forget_fill(void *part, const void *entry, dn_kv_instant now, dn_write *write) {
    (void)part, (void)now;
    write->op = DN_WRITE_FORGET;
    write->forget.before = forget_before(entry);
}

/* There may be more rows than one transaction deletes. */
static void forget_committed(dn_self *self, dn_kv *k, void *part, const void *entry,
                             const dn_write *write, const dn_write_result *result) {
    (void)k, (void)part, (void)entry;
    if (result->rows > 0) dn_timer_after(self, 0, MSG_FORGET, (uint32_t)write->forget.before);
}

/* ---- The journal ---- */

static const char *day_text(daily_part *p, dn_day day) {
    if (p->day_of_text != day || !*p->day_text) {
        p->day_of_text = day;
        dn_day_write(day, p->day_text);
    }
    return p->day_text;
}

static void say(dn_self *self, const daily_part *p, dn_happening_kind kind, const dn_user *u,
                dn_day day, dn_daily_status status) {
    DN_SAY(p->config->journal, self, kind, .registration = u->registration, .id = u->id,
           .id_len = u->id_len, .at_ms = dn_now_ms(self), .day = day, .due = u->due,
           .status = status, .starts_on = u->starts_on);
}

/* ---- Cutoffs ---- */

static void note_waiting(dn_map *pending, uint64_t registration, dn_day day) {
    if (dn_map_put(pending, registration, (uint32_t)day) < 0)
        dn_fail_code(DN_ENOMEM, "no memory for the writes that wait");
}

static void waits_no_more(dn_map *pending, uint64_t registration, dn_day day) {
    uint64_t *waits = dn_map_find(pending, registration);

    if (waits && *waits == (uint32_t)day) dn_map_drop(pending, waits);
}

static size_t cutoff_stride(const void *entry) {
    (void)entry;
    return sizeof(dn_cutoff);
}

static bool cutoff_is_void(const void *entry) {
    return ((const dn_cutoff *)entry)->registration == 0;
}

/* The planner asks at every tick until it hears of the commit, so what waits in the line must not join it again. */
static bool cutoff_admit(dn_self *self, void *part, void *entry) {
    daily_part     *p = part;
    dn_cutoff      *c = entry;
    const uint64_t *waits = dn_map_find(&p->pending, c->registration);

    (void)self;
    if (waits && *waits == (uint32_t)c->day) {
        c->registration = 0;
        return false;
    }
    note_waiting(&p->pending, c->registration, c->day);
    return true;
}

/* It is recorded at the instant of its tick; or of now, if the clock was set back meanwhile, because then the cutoff may
 * be still to come, and the store refuses it. */
static void cutoff_fill(void *part, const void *entry, dn_kv_instant now, dn_write *write) {
    daily_part      *p = part;
    const dn_cutoff *c = entry;
    const uint64_t  *known = dn_map_find(&p->attempts, attempts_key(c->registration, c->day));

    write->op = DN_WRITE_FINALIZE;
    write->finalize = (struct dn_write_finalize){
        .registration = c->registration,
        .day = c->day,
        .at_ms = c->at_ms < now.wall_ms ? c->at_ms : now.wall_ms,
        .status = DN_DAILY_CUTOFF,
        .hook = p->config->has_hook,
        .hook_ms = now.outbox_ms,
    };
    if (known && attempts_day(*known) == c->day) {
        write->finalize.attempts = (uint16_t)(*known >> 8);
        write->finalize.error_class = (dn_error_class)(*known & 0xff);
    }
}

static void finalized(dn_self *self, daily_part *p, const struct dn_write_finalize *f,
                      const dn_user *user) {
    say(self, p, DN_HAPPENED_FINALIZED, user, f->day, f->status);
    DN_EMIT(dn_finalize, .status = dn_daily_status_text(f->status), .due_bucket = user->due,
            .today = day_text(p, f->day));
}

static void cutoff_committed(dn_self *self, dn_kv *k, void *part, const void *entry,
                             const dn_write *write, const dn_write_result *result) {
    const struct dn_write_finalize *f = &write->finalize;
    daily_part                     *p = part;

    (void)entry;
    waits_no_more(&p->pending, f->registration, f->day);
    if (result->wrote == DN_WROTE || result->wrote == DN_WROTE_LATE)
        forget_attempts(p, f->registration, f->day);
    if (result->wrote != DN_WROTE) return;
    finalized(self, p, f, &result->user);
    if (f->hook) dn_kv_outbox_added(k);
}

/* ---- Successes ---- */

static size_t success_stride(const void *entry) {
    return dn_pipe_stride(sizeof(dn_success) + ((const dn_success *)entry)->id_len);
}

static void success_fill(void *part, const void *entry, dn_kv_instant now, dn_write *write) {
    const dn_success *s = entry;

    (void)part, (void)now;
    write->op = DN_WRITE_FINALIZE;
    write->context = s->ticket;
    write->finalize = (struct dn_write_finalize){
        .registration = s->registration,
        .day = s->day,
        .at_ms = s->at_ms,
        .status = DN_DAILY_SUCCESS,
        .attempts = s->attempts,
        .error_class = (dn_error_class)s->error_class,
    };
}

static void success_is_late(dn_self *self, daily_part *p, const struct dn_write_finalize *f,
                            const dn_write_result *result) {
    if (result->wrote != DN_WROTE_LATE) return;
    say(self, p, DN_HAPPENED_LATE_SUCCESS, &result->user, f->day, DN_DAILY_NONE);
    DN_EMIT(dn_late_success, .due_bucket = result->user.due, .today = day_text(p, f->day));
    dn_log(DN_LOG_DEBUG, "job.late", "late success: the day was finalized before");
}

/* A success of a removed user changes nobody, so its settlement is told here. */
static void settle_removed(dn_self *self, daily_part *p, const dn_success *s) {
    dn_change *c = dn_pipe_add(self, &p->to_queue, sizeof *c + s->id_len);

    *c = (dn_change){.registration = s->registration,
                     .ticket = s->ticket,
                     .commit = p->commit,
                     .removed = true,
                     .id_len = s->id_len};
    dn_id_copy(c->id, s->id, s->id_len);
    dn_log(DN_LOG_DEBUG, "job.late", "late success: the user was removed before");
}

static void success_committed(dn_self *self, dn_kv *k, void *part, const void *entry,
                              const dn_write *write, const dn_write_result *result) {
    const struct dn_write_finalize *f = &write->finalize;
    daily_part                     *p = part;

    (void)k;
    if (result->wrote == DN_WROTE || result->wrote == DN_WROTE_LATE)
        forget_attempts(p, f->registration, f->day);
    if (result->wrote == DN_WROTE) finalized(self, p, f, &result->user);
    else success_is_late(self, p, f, result);
    if (result->wrote == DN_WROTE_GONE) settle_removed(self, p, entry);
}

/* ---- Missed days ---- */

static size_t missed_stride(const void *entry) {
    (void)entry;
    return sizeof(dn_missed_days);
}

static bool missed_is_void(const void *entry) {
    return ((const dn_missed_days *)entry)->registration == 0;
}

/* All days up to the noted one wait. It may lie after those that are asked for, if the clock was set back since. */
static bool missed_admit(dn_self *self, void *part, void *entry) {
    daily_part     *p = part;
    dn_missed_days *m = entry;
    const uint64_t *waits = dn_map_find(&p->pending_missed, m->registration);
    const dn_day    last = waits ? (dn_day)(uint32_t)*waits : 0;

    (void)self;
    if (waits && last >= m->days.last) {
        m->registration = 0;
        return false;
    }
    if (waits && last >= m->days.first) m->days.first = last + 1;
    note_waiting(&p->pending_missed, m->registration, m->days.last);
    return true;
}

static void missed_fill(void *part, const void *entry, dn_kv_instant now, dn_write *write) {
    const dn_missed_days *m = entry;

    (void)part, (void)now;
    write->op = DN_WRITE_MISSED;
    write->missed = (struct dn_write_missed){.registration = m->registration,
                                             .at_ms = m->at_ms,
                                             .first = m->days.first,
                                             .last = m->days.last};
}

static uint64_t missed_rows(const dn_write *write) {
    return (uint64_t)(write->missed.last - write->missed.first) + 1;
}

static void missed_committed(dn_self *self, dn_kv *k, void *part, const void *entry,
                             const dn_write *write, const dn_write_result *result) {
    const struct dn_write_missed *m = &write->missed;
    daily_part                   *p = part;
    char                          first[DN_DAY_TEXT];

    (void)k, (void)entry;
    waits_no_more(&p->pending_missed, m->registration, m->last); /* later days of it may wait */
    /* Rows that existed before are those of the first days. */
    for (uint32_t i = result->rows; i > 0; i--)
        say(self, p, DN_HAPPENED_MISSED, &result->user, m->last - (dn_day)i + 1, DN_DAILY_MISSED);
    if (result->rows == 0) return;
    DN_EMIT(dn_days_missed, .days = result->rows, .due_bucket = result->user.due);
    if (!dn_log_wanted(DN_LOG_WARN)) return;
    dn_day_write(m->first, first);
    dn_log(DN_LOG_WARN, "day.missed",
           "user %.*s: %u day(s) from %s on ended without the daemon seeing the cutoff",
           result->user.id_len, result->user.id, result->rows, first);
}

/* ---- Registering ---- */

static size_t set_stride(const void *entry) {
    return dn_pipe_stride(sizeof(dn_kv_set) + ((const dn_kv_set *)entry)->id_len);
}

/* The store ends the process over an invalid user, so an invalid request must not reach it. */
static int set_check(const dn_msg *msg) {
    bool   sound = true;
    size_t len = 0;

    for (DN_PIPE_EACH_ID(dn_kv_set, s, msg)) {
        sound = sound && s->due < DN_DAY_MINUTES && !dn_id_fault(s->id, s->id_len);
        len++;
    }
    if (!sound || len == 0) return DN_EINVAL;
    return len <= DN_KV_CALL_WRITES_MAX || !dn_msg_is_request(msg) ? DN_OK : DN_EINVAL;
}

static void set_fill(void *part, const void *entry, dn_kv_instant now, dn_write *write) {
    const dn_kv_set *s = entry;
    const dn_day     today = dn_day_of_ms(now.wall_ms);

    (void)part;
    write->op = DN_WRITE_SET;
    write->set = (struct dn_write_set){
        .id = s->id,
        .id_len = s->id_len,
        .due = s->due,
        .today = today,
        .starts_on = s->letter ? today : s->starts_on,
        .new_starts_on = s->letter_if_new ? today : dn_daily_starts_on(s->due, now.wall_ms),
    };
}

static void set_committed(dn_self *self, dn_kv *k, void *part, const void *entry,
                          const dn_write *write, const dn_write_result *result) {
    daily_part *p = part;

    (void)k, (void)entry, (void)write;
    say(self, p, DN_HAPPENED_SET, &result->user, DN_DAY_NONE, DN_DAILY_NONE);
    if (result->wrote != DN_WROTE_NEW) return;
    p->users_len++;
    if (p->new_from == 0) p->new_from = result->user.registration; /* they rise */
}

static void set_answer(dn_self *self, dn_kv *k, const dn_msg *request,
                       const dn_write_result *results, size_t len, int status) {
    dn_kv_set_answer *answers = dn_kv_scratch_borrow(k);

    static_assert(DN_KV_CALL_WRITES_MAX * sizeof *answers <= DN_KV_ANSWER_BYTES,
                  "one answer holds all");
    if (len == 0 || len > DN_KV_CALL_WRITES_MAX) len = 1; /* an invalid request */
    for (size_t i = 0; i < len; i++)
        answers[i] = status == DN_OK ? (dn_kv_set_answer){DN_OK, results[i].wrote, results[i].user}
                                     : (dn_kv_set_answer){.status = status, .wrote = DN_WROTE_GONE};
    dn_reply(self, request, MSG_KV_ANSWER, answers, len * sizeof *answers);
}

/* ---- Removing ---- */

static int remove_check(const dn_msg *msg) {
    if (dn_msg_size(msg) != sizeof(dn_kv_id)) return DN_EINVAL;
    const uint8_t len = DN_BODY(dn_kv_id, msg)->len;
    return len > 0 && len <= DN_ID_MAX ? DN_OK : DN_EDEAD;
}

static void remove_fill(void *part, const void *entry, dn_kv_instant now, dn_write *write) {
    const dn_kv_id *id = entry;

    (void)part, (void)now;
    write->op = DN_WRITE_REMOVE;
    write->remove = (struct dn_write_remove){.id = id->id, .id_len = id->len};
}

static void remove_committed(dn_self *self, dn_kv *k, void *part, const void *entry,
                             const dn_write *write, const dn_write_result *result) {
    daily_part *p = part;

    (void)k, (void)entry, (void)write;
    if (result->wrote != DN_WROTE) return;
    say(self, p, DN_HAPPENED_REMOVED, &result->user, DN_DAY_NONE, DN_DAILY_NONE);
    for (dn_day day = 0; day < 2; day++)
        (void)dn_map_remove(&p->attempts, attempts_key(result->user.registration, day));
    p->users_len--;
}

static void remove_answer(dn_self *self, dn_kv *k, const dn_msg *request,
                          const dn_write_result *results, size_t len, int status) {
    dn_kv_user_answer answer = {.status = status};

    (void)k, (void)len;
    if (status == DN_OK && results->wrote == DN_WROTE_GONE) answer.status = DN_EDEAD;
    if (answer.status == DN_OK) answer.user = results->user;
    dn_reply(self, request, MSG_KV_ANSWER, &answer, sizeof answer);
}

/* ---- After a commit: tick and queue hear what changed ---- */

dn_change daily_change_of(const dn_user *u, uint64_t commit, uint8_t id_len) {
    return (dn_change){
        .registration = u->registration,
        .commit = commit,
        .last_day = u->last_day,
        .starts_on = u->starts_on,
        .recorded = u->recorded,
        .context_epoch = u->context_epoch,
        .due = (uint16_t)u->due,
        .status = (uint8_t)u->status,
        .id_len = id_len,
    };
}

static void add_change(dn_self *self, dn_pipe *to, const dn_user_change *from, bool is_last,
                       bool is_new, uint8_t id_len) {
    dn_change *c = dn_pipe_add(self, to, sizeof *c + id_len);

    *c = daily_change_of(&from->user, from->seq, id_len);
    c->ticket = from->context;
    c->removed = from->removed;
    c->by_request = from->by_request;
    c->is_last = is_last;
    c->is_new = is_new;
    if (id_len > 0) dn_id_copy(c->id, from->user.id, id_len);
}

/* The planner knows a user by the registration, so it gets the id only of a user that may be new. */
static void changed(dn_self *self, dn_kv *k, void *part) {
    daily_part *p = part;
    size_t      len = 0;
    const int   rc = dn_store_changes(dn_kv_store_borrow(k), p->commit, p->changes, p->changes_max,
                                      &len, &p->commit);

    if (rc < 0) dn_fail_code(rc, "the changes of a commit cannot be read");
    for (size_t i = 0; i < len; i++) {
        const dn_user_change *c = &p->changes[i];
        const bool is_new = c->by_request && p->new_from > 0 && c->user.registration >= p->new_from;
        const bool is_last = i + 1 == len || p->changes[i + 1].seq != c->seq;
        add_change(self, &p->to_tick, c, is_last, is_new, c->by_request ? c->user.id_len : 0);
        add_change(self, &p->to_queue, c, is_last, is_new, c->user.id_len);
    }
    p->new_from = 0;
}

static size_t pipes(void *part, dn_pipe **out_pipes) {
    daily_part *p = part;

    out_pipes[0] = &p->to_tick;
    out_pipes[1] = &p->to_queue;
    return 2;
}

static void report(void *part, dn_kv_status *status) {
    const daily_part *p = part;

    status->users = p->users_len;
    status->tried = dn_map_len(&p->attempts);
}

static void store_is(dn_self *self, void *part, bool writable) {
    const daily_part *p = part;

    DN_SAY(p->config->journal, self, writable ? DN_HAPPENED_STORE_WELL : DN_HAPPENED_STORE_FAILED,
           .at_ms = dn_now_ms(self));
}

/* ---- Start ---- */

static void map_release(void *map) { dn_map_done(map); }

static int begin(dn_self *self, dn_kv *k, void *part, const void *config) {
    daily_part *p = part;

    p->config = config;
    dn_own(self, &p->attempts, map_release);
    dn_own(self, &p->pending, map_release);
    dn_own(self, &p->pending_missed, map_release);
    p->users = dn_alloc(self, DAILY_PAGE_USERS * sizeof *p->users);
    p->changes_max = DN_KV_WRITES_MAX + DN_KV_CALL_WRITES_MAX;
    p->changes = dn_alloc(self, p->changes_max * sizeof *p->changes);
    dn_pipe_init(self, &p->to_tick, ACTOR_TICK, MSG_USERS_CHANGED);
    dn_pipe_init(self, &p->to_queue, ACTOR_QUEUE, MSG_USERS_CHANGED);
    p->commit = dn_store_follow(dn_kv_store_borrow(k));
    const int rc = dn_store_count(dn_kv_store_borrow(k), &p->users_len);
    dn_kv_expect_store(k, rc, "counting users");
    return rc;
}

/* ---- The tables ---- */

static const dn_kv_write_kind writes[] = {
    {.message = MSG_FINALIZE_SUCCESS,
     .name = "success",
     .stride = success_stride,
     .fill = success_fill,
     .committed = success_committed},
    {.message = MSG_FINALIZE_CUTOFF,
     .name = "cutoff",
     .stride = cutoff_stride,
     .admit = cutoff_admit,
     .is_void = cutoff_is_void,
     .fill = cutoff_fill,
     .committed = cutoff_committed},
    {.message = MSG_RECORD_MISSED,
     .name = "missed",
     .stride = missed_stride,
     .admit = missed_admit,
     .is_void = missed_is_void,
     .fill = missed_fill,
     .rows = missed_rows,
     .committed = missed_committed},
    {.message = MSG_KV_SET,
     .name = "set",
     .stride = set_stride,
     .check = set_check,
     .fill = set_fill,
     .committed = set_committed,
     .answer = set_answer},
    {.message = MSG_KV_REMOVE,
     .name = "remove",
     .check = remove_check,
     .fill = remove_fill,
     .committed = remove_committed,
     .answer = remove_answer},
    {.message = MSG_FORGET,
     .name = "forget",
     .admit = forget_admit,
     .fill = forget_fill,
     .committed = forget_committed},
};

static const dn_kv_handler notes[] = {
    {MSG_NOTE_ATTEMPTS, on_note_attempts},
    {MSG_DATE_BEGINS, on_date},
};

dn_kv_part dn_daily_part(const dn_daily_config *config) {
    return (dn_kv_part){
        .name = "daily",
        .state_size = sizeof(daily_part),
        .config = config,
        .init = begin,
        .writes = writes,
        .writes_len = sizeof writes / sizeof *writes,
        .handlers = {{notes, sizeof notes / sizeof *notes}, {daily_reads, daily_reads_len}},
        .changed = changed,
        .pipes = pipes,
        .report = report,
        .store_is = store_is,
    };
}
