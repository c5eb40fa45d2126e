/* kv_commit.c - from the line into the store, and the news of it to everyone.
 * One transaction takes what stands first, a few thousand writes at most. While the disk is full the line
 * stays as it is, and is tried again after a while or when something joins it; only registrations are
 * refused then, for somebody stands there and can be told. */
#include "kv.h"

#include "obs/log.h"

#include <inttypes.h>
#include <string.h>

/* ---- From entries to writes ---- */

/* The instant of a transaction, by both clocks. */
typedef struct instants {
    int64_t wall_ms, outbox_ms;
} instants;

/* At the instant of its tick; of now, if the clock was set back meanwhile: then its time may be still to come, and the
 * store refuses it. */
static void write_cutoff(kv *k, dn_write *w, const dn_cutoff *c, instants now) {
    const uint64_t *known = dn_number_map_find(&k->attempts, kv_attempts_key(c->n, c->day));

    *w = (dn_write){
        .op = DN_WRITE_FINALIZE,
        .finalize =
            {
                .registration = c->n,
                .day = c->day,
                .at_ms = c->at_ms < now.wall_ms ? c->at_ms : now.wall_ms,
                .status = DN_DAILY_CUTOFF,
                .hook = k->config->has_hook,
                .hook_ms = now.outbox_ms,
            },
    };
    if (known && (dn_day)(*known >> 32) == c->day) {
        w->finalize.attempts = (uint16_t)(*known >> 8);
        w->finalize.error_class = (dn_error_class)(*known & 0xff);
    }
}

static void write_success(dn_write *w, const dn_success *s) {
    *w = (dn_write){
        .op = DN_WRITE_FINALIZE,
        .context = s->ticket,
        .finalize =
            {
                .registration = s->n,
                .day = s->day,
                .at_ms = s->at_ms,
                .status = DN_DAILY_SUCCESS,
                .attempts = s->attempts,
                .error_class = (dn_error_class)s->cls,
            },
    };
}

static void write_missed(dn_write *w, const dn_missed_days *m) {
    *w = (dn_write){
        .op = DN_WRITE_MISSED,
        .missed = {.registration = m->n,
                   .at_ms = m->at_ms,
                   .first = m->days.first,
                   .last = m->days.last},
    };
}

static void write_set(dn_write *w, const dn_kv_set *s, int64_t now_ms) {
    const dn_day today = dn_day_of_ms(now_ms);

    *w = (dn_write){
        .op = DN_WRITE_SET,
        .set =
            {
                .id = s->id,
                .id_len = s->id_len,
                .due = s->due,
                .today = today,
                .starts_on = s->letter ? today : s->starts_on,
                .new_starts_on = s->letter_if_new ? today : dn_daily_starts_on(s->due, now_ms),
            },
    };
}

static void write_hook(dn_write *w, const dn_hook_outcome *h, instants now) {
    if (h->done) {
        *w = (dn_write){.op = DN_WRITE_OUTBOX_DONE, .outbox_done = {h->n}};
        return;
    }
    *w = (dn_write){
        .op = DN_WRITE_OUTBOX_LATER,
        .outbox_later = {.id = h->n,
                         .attempts = h->attempts,
                         .next_ms = now.outbox_ms + dn_hook_delay_ms(h->attempts)},
    };
}

/* False: nothing is to be written for it. */
static bool write_of(kv *k, dn_write *w, const dn_msg *msg, const void *entry, instants now) {
    if (kv_entry_is_void(msg, entry)) return false;
    switch (dn_msg_kind(msg)) {
    case MSG_FINALIZE_CUTOFF: write_cutoff(k, w, entry, now); return true;
    case MSG_FINALIZE_SUCCESS: write_success(w, entry); return true;
    case MSG_RECORD_MISSED: write_missed(w, entry); return true;
    case MSG_KV_SET: write_set(w, entry, now.wall_ms); return true;
    case MSG_KV_REMOVE: {
        const dn_kv_id *id = entry;
        *w = (dn_write){.op = DN_WRITE_REMOVE, .remove = {id->id, id->len}};
        return true;
    }
    case MSG_KV_HOOK_DONE: write_hook(w, entry, now); return true;
    case KV_FORGET:
        *w = (dn_write){.op = DN_WRITE_FORGET, .forget = {kv_first_kept(msg)}};
        return true;
    default: return false;
    }
}

/* ---- A transaction ---- */

static bool has_room(const kv *k) { return k->len < KV_WRITES_MAX && k->days < KV_DAYS_MAX; }

/* Takes the writes of one message, as many as there is room for. */
static void gather_one(kv *k, kv_waiting *w, instants now) {
    const char *body = dn_msg_body_borrow(w->msg);
    const bool  call = dn_msg_is_request(w->msg);

    w->taken = w->done;
    w->writes = 0;
    while (w->taken < dn_msg_size(w->msg) && (call || has_room(k))) {
        const void     *entry = body + w->taken;
        dn_write *const write = &k->writes[k->len];
        if (write_of(k, write, w->msg, entry, now)) {
            if (write->op == DN_WRITE_MISSED)
                k->days += (uint64_t)(write->missed.last - write->missed.first) + 1;
            k->sources[k->len++] = entry;
            w->writes++;
        }
        w->taken += kv_entry_size(w->msg, entry);
    }
}

/* Puts together what stands first. A call is taken whole: its answer is one. */
static void gather(dn_self *self, kv *k) {
    const instants now = {.wall_ms = dn_store_now_ms(k->store, dn_now_ms(self)),
                          .outbox_ms = kv_outbox_ms(self, k)};

    k->len = k->line.gathered = 0;
    k->days = 0;
    while (k->line.gathered < k->line.len && has_room(k))
        gather_one(k, &k->line.rows[k->line.gathered++], now);
}

/* ---- After it ---- */

/* To one of those who know users. It is written where it is sent from: a processor that copies what it has just written
 * in smaller pieces waits for them. */
static void add_change(dn_self *self, dn_pipe *to, const dn_user *u, uint64_t ticket, bool removed,
                       uint8_t id_len) {
    dn_change *const c = dn_pipe_add(self, to, sizeof *c + id_len);

    c->n = u->n;
    c->ticket = ticket;
    c->last_day = u->last_day;
    c->starts_on = u->starts_on;
    c->recorded = u->recorded;
    c->context_epoch = u->context_epoch;
    c->due = (uint16_t)u->due;
    c->status = (uint8_t)u->status;
    c->removed = removed;
    c->id_len = id_len;
    if (id_len > 0) dn_id_copy(c->id, u->id, id_len);
}

/* Tick knows a user by the number, so it gets the id only with a change by request. The context of a write is the
 * ticket of the run it ends, or 0. */
static void tell_change(dn_self *self, kv *k, const dn_user_change *c) {
    const dn_user *u = &c->user;

    add_change(self, &k->to_tick, u, /* ticket= */ 0, c->removed, c->by_request ? u->id_len : 0);
    add_change(self, &k->to_queue, u, c->context, c->removed, u->id_len);
}

/* To Tick and Queue: the users as the last commit left them. */
static void tell_changes(dn_self *self, kv *k) {
    const size_t max = KV_WRITES_MAX + KV_SETS_MAX;
    size_t       len = 0;

    const int rc =
        dn_store_changes(k->store, k->changes_seq, k->changes, max, &len, &k->changes_seq);
    if (rc < 0) dn_fail_code(rc, "the changes of a commit cannot be read");
    for (size_t i = 0; i < len; i++) tell_change(self, k, &k->changes[i]);
}

static void forget_attempts(kv *k, uint64_t n, dn_day day) {
    uint64_t *known = dn_number_map_find(&k->attempts, kv_attempts_key(n, day));

    if (known && (dn_day)(*known >> 32) <= day) dn_number_map_drop(&k->attempts, known);
}

static void waits_no_more(dn_number_map *pending, uint64_t n, dn_day day) {
    uint64_t *waits = dn_number_map_find(pending, n);

    if (waits && *waits == (uint32_t)day) dn_number_map_drop(pending, waits);
}

static const char *day_text(kv *k, dn_day day) {
    if (k->said_day != day || !*k->said_day_text) {
        k->said_day = day;
        dn_day_write(day, k->said_day_text);
    }
    return k->said_day_text;
}

/* In the words of the journal: what is committed, and of whom. */
static void say(dn_self *self, const kv *k, dn_happening_kind kind, const dn_user *u, dn_day day,
                dn_daily_status status) {
    DN_SAY(k->config->journal, self, kind, .n = u->n, .id = u->id, .id_len = u->id_len,
           .at_ms = dn_now_ms(self), .day = day, .due = u->due, .status = status,
           .starts_on = u->starts_on);
}

static void say_finalized(dn_self *self, kv *k, const struct dn_write_finalize *w,
                          const dn_write_result *r) {
    if (r->wrote == DN_WROTE) say(self, k, DN_HAPPENED_FINALIZED, &r->user, w->day, w->status);
    else if (w->status == DN_DAILY_SUCCESS && r->wrote == DN_WROTE_LATE)
        say(self, k, DN_HAPPENED_LATE_SUCCESS, &r->user, w->day, DN_DAILY_NONE);
    if (r->wrote == DN_WROTE)
        DN_EMIT(dn_finalize, .status = dn_daily_status_text(w->status), .due_bucket = r->user.due,
                .today = day_text(k, w->day));
    else if (r->wrote == DN_WROTE_LATE && w->status == DN_DAILY_SUCCESS)
        DN_EMIT(dn_late_success, .due_bucket = r->user.due, .today = day_text(k, w->day));
}

static void finalized(dn_self *self, kv *k, const struct dn_write_finalize *w,
                      const dn_write_result *r, const dn_success *source) {
    waits_no_more(w->status == DN_DAILY_CUTOFF ? &k->pending : &k->pending_ok, w->registration,
                  w->day);
    if (r->wrote == DN_WROTE || r->wrote == DN_WROTE_LATE)
        forget_attempts(k, w->registration, w->day);
    say_finalized(self, k, w, r);
    if (w->status == DN_DAILY_CUTOFF) return;
    dn_finalized *f = dn_pipe_add(self, &k->to_executor, sizeof *f);
    f->executor = source->executor;
    f->ticket = source->ticket;
    f->wrote = r->wrote;
    f->attempts = source->attempts;
    f->cls = source->cls;
}

static void missed(dn_self *self, kv *k, const struct dn_write_missed *w,
                   const dn_write_result *r) {
    char first[DN_DAY_TEXT];

    waits_no_more(&k->pending_missed, w->registration,
                  w->last); /* later ones of the same user may */
    /* Rows that were there before are those of the first days. */
    for (uint32_t i = r->rows; i > 0; i--)
        say(self, k, DN_HAPPENED_MISSED, &r->user, w->last - (dn_day)i + 1, DN_DAILY_MISSED);
    if (r->rows > 0) DN_EMIT(dn_days_missed, .days = r->rows, .due_bucket = r->user.due);
    if (r->rows == 0 || !dn_log_wanted(DN_LOG_WARN)) return;
    dn_day_write(w->first, first);
    dn_log(DN_LOG_WARN, "day.missed",
           "user %.*s: %u day(s) from %s on ended without the daemon seeing the cutoff",
           r->user.id_len, r->user.id, r->rows, first);
}

static void answer_user(dn_self *self, const dn_msg *msg, int status, const dn_user *user) {
    dn_kv_user_answer answer = {.status = status};

    if (user) answer.user = *user;
    dn_reply(self, msg, MSG_KV_ANSWER, &answer, sizeof answer);
}

/* What each write has come to: for the journal, telemetry, the executor and the hooks. */
static void tell(dn_self *self, kv *k) {
    bool hooks = false;

    for (size_t i = 0; i < k->len; i++) {
        const dn_write        *w = &k->writes[i];
        const dn_write_result *r = &k->results[i];

        switch (w->op) {
        case DN_WRITE_SET:
            say(self, k, DN_HAPPENED_SET, &r->user, DN_DAY_NONE, DN_DAILY_NONE);
            if (r->wrote == DN_WROTE_NEW) k->status.users++;
            break;
        case DN_WRITE_REMOVE:
            if (r->wrote != DN_WROTE) break;
            say(self, k, DN_HAPPENED_REMOVED, &r->user, DN_DAY_NONE, DN_DAILY_NONE);
            for (dn_day day = 0; day < 2; day++)
                (void)dn_number_map_remove(&k->attempts, kv_attempts_key(r->user.n, day));
            k->status.users--;
            break;
        case DN_WRITE_FINALIZE:
            finalized(self, k, &w->finalize, r, k->sources[i]);
            hooks |= w->finalize.hook && r->wrote == DN_WROTE;
            break;
        case DN_WRITE_MISSED: missed(self, k, &w->missed, r); break;
        case DN_WRITE_FORGET:
            /* There may be more of them than one transaction takes. */
            if (r->rows > 0) dn_timer_after(self, 0, KV_FORGET, (uint32_t)w->forget.before);
            break;
        case DN_WRITE_OUTBOX_DONE:
        case DN_WRITE_OUTBOX_LATER:
        case DN_WRITE_TOKEN_ADD:
        case DN_WRITE_TOKEN_REMOVE: break;
        }
    }
    /* One that is not there asks when it is. */
    if (hooks && dn_send(self, dn_name(self, ACTOR_HOOKS), MSG_HOOKS_ADDED, NULL, 0) == DN_EFULL)
        dn_log(DN_LOG_DEBUG, "hooks.busy", "the hooks' mailbox is full: they look by themselves");
}

/* ---- Answers ---- */

static void answer_sets(dn_self *self, const kv *k, const dn_msg *msg, size_t at, size_t len,
                        int status) {
    dn_kv_set_answer answers[KV_SETS_MAX];

    for (size_t i = 0; i < len; i++) {
        const dn_write_result *r = &k->results[at + i];
        answers[i] = status == DN_OK ? (dn_kv_set_answer){DN_OK, r->wrote, r->user.starts_on}
                                     : (dn_kv_set_answer){status, DN_WROTE_GONE, DN_DAY_NONE};
    }
    dn_reply(self, msg, MSG_KV_ANSWER, answers, len * sizeof *answers);
}

/* To the call that msg is, whose writes begin at `at`. */
static void answer(dn_self *self, const kv *k, const dn_msg *msg, size_t at, size_t len,
                   int status) {
    const dn_write_result *r = &k->results[at];

    if (dn_msg_kind(msg) == MSG_KV_SET) {
        answer_sets(self, k, msg, at, len, status);
    } else if (dn_msg_kind(msg) == MSG_KV_REMOVE) {
        if (status == DN_OK && r->wrote == DN_WROTE_GONE) status = DN_EDEAD;
        answer_user(self, msg, status, status == DN_OK ? &r->user : NULL);
    } else {
        const dn_kv_words words = {.status = status};
        dn_reply(self, msg, MSG_KV_ANSWER, &words, sizeof words);
    }
}

/* Takes out of the line what has been written, or, if nothing could be, the calls, wherever they stand: there somebody
 * waits, and can be told. */
static void settle(dn_self *self, kv *k, int status) {
    size_t at = 0, kept = 0;

    for (size_t i = 0; i < k->line.len; i++) {
        kv_waiting   w = k->line.rows[i];
        const bool   tried = i < k->line.gathered;
        const bool   call = dn_msg_is_request(w.msg);
        const bool   told = call && (tried || status < 0);
        const size_t writes = tried ? w.writes : told ? kv_entries_in(w.msg) : 0;

        if (told) answer(self, k, w.msg, tried ? at : 0, writes, status);
        if (tried && status == DN_OK) w.done = w.taken;
        if (told || (tried && status == DN_OK)) k->line.entries -= writes;
        if (tried) at += writes;
        if (told) continue;
        if (w.done == dn_msg_size(w.msg)) dn_msg_free(self, w.msg);
        else k->line.rows[kept++] = w;
    }
    k->line.len = kept;
    k->line.gathered = 0;
}

/* ---- Trying ---- */

static const char *why_writes_wait(int rc) {
    if (rc == DN_EAWAY) return "the store cannot be reached";
    return rc == DN_EFULL ? "the disk is full" : "out of memory";
}

static void try_later(dn_self *self, kv *k, int rc) {
    if (!k->full) {
        DN_SAY(k->config->journal, self, DN_HAPPENED_STORE_FAILED, .at_ms = dn_now_ms(self));
        k->full = true;
        k->retry_ms = KV_RETRY_LEAST_MS;
        dn_log(DN_LOG_WARN, rc == DN_EAWAY ? "store.away" : "store.full",
               "%s: %" PRIu64 " writes wait in memory, and are tried again until %s",
               why_writes_wait(rc), k->line.entries,
               rc == DN_EAWAY ? "it answers" : "there is room");
    } else {
        k->retry_ms = k->retry_ms * 2 < KV_RETRY_MOST_MS ? k->retry_ms * 2 : KV_RETRY_MOST_MS;
    }
    k->status.failures++;
    if (k->retry_timer) (void)dn_timer_cancel(self, k->retry_timer);
    k->retry_timer = dn_timer_after(self, k->retry_ms, KV_RETRY, 0);
}

static void well_again(dn_self *self, kv *k) {
    if (!k->full) return;
    k->full = false;
    DN_SAY(k->config->journal, self, DN_HAPPENED_STORE_WELL, .at_ms = dn_now_ms(self));
    if (k->retry_timer) (void)dn_timer_cancel(self, k->retry_timer);
    k->retry_timer = 0;
    dn_log(DN_LOG_INFO, "store.well", "writes are committed again");
}

static int write_all(dn_self *self, const kv *k) {
    const bool    said = dn_event_wanted(&dn_commit_stop);
    const int64_t begun_ns = said ? dn_read_mono_ns(self) : 0;
    const int     rc = dn_store_write(k->store, k->writes, k->len, k->results, NULL);

    if (said)
        DN_EMIT(dn_commit_stop, .duration_ms = (double)(dn_read_mono_ns(self) - begun_ns) / 1e6,
                .writes = (int64_t)k->len, .result = rc == DN_OK ? "ok" : "error");
    return rc;
}

void kv_commit(dn_self *self, kv *k) {
    gather(self, k);
    const int rc = k->len > 0 ? write_all(self, k) : DN_OK;
    kv_look_at(k, rc, "writing");
    if (rc == DN_OK && k->len > 0) {
        k->status.commits++;
        k->status.writes += k->len;
        k->wrote_lately = true;
        well_again(self, k);
        tell(self, k);
        tell_changes(self, k);
    }
    settle(self, k, rc);
    if (rc < 0 && k->line.len > 0) try_later(self, k, rc);
    if (rc < 0 && k->line.len == 0)
        k->status.failures++; /* it was told to who asked, and nothing waits */
}
