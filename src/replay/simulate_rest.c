/* simulate_rest.c - see simulate_rest.h. Whose turn it was is judged when an instant is over: what happens in it is told in
 * any order. */
#include "simulate_rest.h"

#include "simulate_tally.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REST_TEXT = 200, REST_ID = 16, FIRST_DAYS = 3, LEDGER_MOST = 128 };

static bool has_actor_crash(const plan *p) {
    for (size_t i = 0; i < p->ops_len; i++)
        if (p->ops[i].kind == PLAN_ACTOR_CRASH && p->ops[i].how != PLAN_HOOKS) return true;
    return false;
}

int rest_init(rest *r) {
    r->people = calloc(r->plan->users, sizeof *r->people);
    r->starts = calloc(r->plan->users, sizeof *r->starts);
    if (!r->people || !r->starts) return DN_ENOMEM;
    for (uint32_t i = 0; i < r->plan->users; i++)
        r->people[i].touched_ms = r->people[i].tried_ms = INT64_MIN / 2;
    r->stepped_ms = -1;
    r->upset_ms = INT64_MIN / 2;
    r->remembers = !has_actor_crash(r->plan);
    r->first = true;
    r->first_day = dn_day_of_ms(r->plan->settings.start_ms) - FIRST_DAYS;
    r->latest = r->ahead = r->first_day;
    return DN_OK;
}

void rest_done(rest *r) {
    free(r->people);
    free(r->starts);
    *r = (rest){0};
}

static rest_person *person_of(const rest *r, const char *id, size_t id_len) {
    const uint32_t user = tally_user_of(id, id_len);

    return user < r->plan->users ? &r->people[user] : NULL;
}

static bool is_recent(const rest *r, const rest_person *p) {
    return r->now_ms - p->touched_ms <= r->plan->lag_ms;
}

/* ---- Attempts ---- */

static const rest_tries *tries_of(const rest_person *p, uint64_t n, dn_day day) {
    for (int i = 0; i < REST_DAYS; i++)
        if (p->tries[i].n == n && p->tries[i].day == day) return &p->tries[i];
    return NULL;
}

static rest_tries *tries_open(const rest *r, rest_person *p, uint64_t n, dn_day day) {
    p->tried_ms = r->now_ms;
    for (int i = 0; i < REST_DAYS; i++)
        if (p->tries[i].n == n && p->tries[i].day == day) return &p->tries[i];
    rest_tries *t = &p->tries[p->oldest++ % REST_DAYS];
    *t = (rest_tries){.n = n, .day = day};
    return t;
}

/* ---- Turns ---- */

static int64_t cutoff_of(const rest_person *p) {
    return p->day * DN_DAY_MS + p->due * DN_MINUTE_MS;
}

static bool goes_before(const rest *r, const rest_person *waits, const rest_start *began) {
    const rest_tries *t = tries_of(waits, waits->queued_n, waits->day);
    const uint32_t    tried = t ? t->starts : 0;

    if (!waits->queued || waits->since_ms == r->now_ms || waits->touched_ms == r->now_ms)
        return false;
    if (cutoff_of(waits) != began->cutoff_ms) return false;
    return tried != began->tried ? tried < began->tried : waits->arrival < began->arrival;
}

static void judge_turns(rest *r) {
    char text[REST_TEXT];

    for (uint32_t k = 0; k < r->starts_len; k++)
        for (uint32_t i = 0; i < r->plan->users; i++) {
            if (!goes_before(r, &r->people[i], &r->starts[k])) continue;
            (void)snprintf(text, sizeof text,
                           "order: user u%u started, while u%u still waits, with the same cutoff: "
                           "right is fewest attempts first, then first come",
                           r->starts[k].user, i);
            r->say(r->context, CHECK_ORDER, text);
        }
    r->starts_len = 0;
}

static void instant_is(rest *r, int64_t steady_ms) {
    if (steady_ms == r->now_ms) return;
    if (r->remembers && r->plan->lag_ms == 0) judge_turns(r);
    r->starts_len = 0;
    r->now_ms = steady_ms;
}

/* ---- Jobs ---- */

static bool is_day(const rest_day *d, const dn_happening *h) {
    return d->n == h->registration && d->day == h->day;
}

static void say(rest *r, unsigned rule, const dn_happening *h, const char *what) {
    char text[REST_TEXT];

    (void)snprintf(text, sizeof text, "%s: user %.*s day %d attempt %u: %s",
                   check_rule_name((check_rule)rule), h->id_len, h->id, h->day, h->attempt, what);
    r->say(r->context, rule, text);
}

static void judge_start(rest *r, const rest_person *p, const dn_happening *h) {
    if (is_day(&p->succeeded, h))
        say(r, CHECK_CLOSED, h, "a start, and its success was told: right is nothing");
    if (is_day(&p->ok, h))
        say(r, CHECK_OVERLAP, h,
            "a start, and an ok waits to be written: right is that its user runs until then");
}

static void on_started(rest *r, rest_person *p, const dn_happening *h) {
    judge_start(r, p, h);
    rest_tries *t = tries_open(r, p, h->registration, h->day);

    t->starts = h->attempt;
    if (p->queued && p->queued_n == h->registration && p->touched_ms < r->now_ms &&
        r->starts_len < r->plan->users)
        r->starts[r->starts_len++] = (rest_start){
            .cutoff_ms = cutoff_of(p),
            .user = (uint32_t)(p - r->people),
            .tried = h->attempt - 1,
            .arrival = p->arrival,
        };
    p->queued = false;
}

static void on_stopped(rest *r, rest_person *p, const dn_happening *h) {
    rest_tries *t = tries_open(r, p, h->registration, h->day);
    /* An actor that ends takes its job with it. */
    const bool ended = !r->remembers && h->outcome == DN_OUTCOME_ERROR;

    if (h->outcome == DN_OUTCOME_ERROR) t->cls = (uint8_t)h->error_class;
    if (h->outcome == DN_OUTCOME_TIMEOUT) t->cls = DN_CLASS_UNKNOWN;
    if (p->job_day == h->day && p->attempt == h->attempt && !ended &&
        (h->outcome != p->outcome || (h->outcome == DN_OUTCOME_ERROR && h->error_class != p->cls)))
        say(r, CHECK_STOP, h, "a stop that is not what its job came to");
    if (h->outcome != DN_OUTCOME_OK || p->n != h->registration) return;
    p->ok = (rest_day){h->registration, h->day};
    p->ok_ms = r->now_ms;
}

/* ---- Rows of the ledger ---- */

/* A success brings with it how it was come by; of a cutoff kv was told before: but a start or a stop at this very time may
 * be noted behind it, or that start be refused yet. */
static bool is_noted(const rest *r, const rest_person *p, const dn_happening *h) {
    const int64_t cutoff_ms = h->day * DN_DAY_MS + h->due * DN_MINUTE_MS;
    const int64_t lag_ms = r->plan->lag_ms;

    return r->now_ms - p->tried_ms > lag_ms && (lag_ms == 0 || h->at_ms - cutoff_ms > lag_ms);
}

static void judge_row(rest *r, const rest_person *p, const dn_happening *h) {
    const rest_tries *t = tries_of(p, h->registration, h->day);
    dn_ledger_row     row;
    dn_user           user;
    char              text[REST_TEXT];
    size_t            len = 0;
    const char       *wrong = NULL;

    /* Removed in the same transaction, or by the same word of a crash. */
    if (dn_store_user(r->store, h->id, h->id_len, &user) < 0 ||
        user.registration != h->registration)
        return;
    if (dn_store_days_of(r->store, h->registration, h->day + 1, &row, 1, &len) < 0) return;
    /* kv drops what it noted of a day when it sees the date after the next one. */
    const bool kept = h->status == DN_DAILY_SUCCESS || h->day >= r->ahead - 1;
    const bool noted = r->remembers && kept && (h->status == DN_DAILY_SUCCESS || is_noted(r, p, h));
    if (len == 0 || row.day != h->day) wrong = "there is no row of it in the ledger";
    else if (h->kind == DN_HAPPENED_MISSED) wrong = NULL; /* the next write may have replaced it */
    else if (row.status != h->status) wrong = "the ledger has another status";
    else if (noted && row.attempts != (t ? t->starts : 0)) wrong = "the ledger has other attempts";
    else if (noted && row.error_class != (t ? t->cls : 0))
        wrong = "the ledger has another error class";
    if (!wrong) return;
    (void)snprintf(text, sizeof text,
                   "I5: user %.*s day %d: its end was told, and %s (attempts %u of %u, class %d of "
                   "%d)",
                   h->id_len, h->id, h->day, wrong, len ? row.attempts : 0U, t ? t->starts : 0,
                   len ? (int)row.error_class : 0, t ? t->cls : 0);
    r->say(r->context, CHECK_I5, text);
}

/* What kv tells is in the order in which it wrote, however long words take: so is the due. */
static void judge_cutoff(rest *r, const event *e) {
    const dn_happening *h = e->h;
    const int64_t       lag_ms = r->plan->lag_ms;

    /* Decided at a tick before. */
    if (r->full || r->now_ms - r->upset_ms <= lag_ms) return;
    if (e->t_ms < h->day * DN_DAY_MS + h->due * DN_MINUTE_MS)
        say(r, CHECK_I6, h, "cutoff_reached before its cutoff, by the due of its write");
}

/* ---- Users ---- */

static bool is_given_a_first_day(const plan *p, uint32_t user) {
    for (size_t i = 0; i < p->ops_len; i++)
        if (p->ops[i].kind == PLAN_USER && p->ops[i].user == user && p->ops[i].ms != 0) return true;
    return false;
}

static void on_set(rest *r, rest_person *p, const dn_happening *h) {
    char text[REST_TEXT];

    if (p->n != h->registration) p->told = 0;
    if (p->n == h->registration && p->starts_on != h->starts_on &&
        !is_given_a_first_day(r->plan, (uint32_t)(p - r->people))) {
        (void)snprintf(text, sizeof text,
                       "I5: user %.*s: registered again without starts_on, and begins on day %d "
                       "now: right is %d, as before",
                       h->id_len, h->id, h->starts_on, p->starts_on);
        r->say(r->context, CHECK_I5, text);
    }
    p->n = h->registration;
    p->starts_on = h->starts_on;
    p->due = h->due;
    p->touched_ms = r->now_ms;
}

/* 0: it is none of the days that are counted. */
static uint64_t bit_of(const rest *r, dn_day day) {
    const int64_t at = (int64_t)day - r->first_day;

    return at >= 0 && at < 64 ? UINT64_C(1) << at : 0;
}

static void on_person(rest *r, rest_person *p, const event *e) {
    const dn_happening *h = e->h;

    switch (h->kind) {
    case DN_HAPPENED_ENQUEUED:
        p->queued = true;
        p->queued_n = h->registration;
        p->day = h->day;
        p->since_ms = r->now_ms;
        p->arrival = r->arrivals++;
        return;
    case DN_HAPPENED_EXPIRED:
    case DN_HAPPENED_DROPPED: p->queued = false; return;
    case DN_HAPPENED_STARTED: on_started(r, p, h); return;
    case DN_HAPPENED_STOPPED: on_stopped(r, p, h); return;
    case DN_HAPPENED_LATE_SUCCESS: p->ok.n = 0; return;
    case DN_HAPPENED_FINALIZED:
    case DN_HAPPENED_MISSED:
        p->touched_ms = r->now_ms;
        p->told |= bit_of(r, h->day);
        judge_row(r, p, h);
        if (h->kind == DN_HAPPENED_MISSED) return;
        if (h->status == DN_DAILY_CUTOFF) judge_cutoff(r, e);
        if (h->status != DN_DAILY_SUCCESS) return;
        p->succeeded = (rest_day){h->registration, h->day};
        p->ok.n = 0;
        return;
    case DN_HAPPENED_SET: on_set(r, p, h); return;
    case DN_HAPPENED_REMOVED:
        p->touched_ms = r->now_ms;
        p->n = p->ok.n = 0;
        p->queued = false;
        return;
    default: return;
    }
}

/* ---- Ticks ---- */

static void judge_tick(rest *r, const event *e) {
    const trace_settings *s = &r->plan->settings;
    const int64_t         line_ms = r->plan->ticks_move ? e->t_ms : s->start_ms + e->steady_ms;
    char                  text[REST_TEXT];

    if (!r->first && r->plan->lag_ms == 0 && r->stepped_ms < r->now_ms && line_ms % s->tick_ms) {
        (void)snprintf(text, sizeof text,
                       "I4: a tick %lld ms behind a multiple of its %lld ms: right is on it",
                       (long long)(line_ms % s->tick_ms), (long long)s->tick_ms);
        r->say(r->context, CHECK_I4, text);
    }
    r->first = r->mending; /* another actor may end meanwhile, and a planner more begins */
}

/* ---- All of it ---- */

/* An ok may have been on its way, or in a kv that ended. */
static void forget(rest *r, const event *e) {
    const bool is_kept =
        e->kind == EVENT_ACTOR_ENDS || (e->kind == EVENT_ACTOR_CRASH && strcmp(e->name, "kv") != 0);

    for (uint32_t i = 0; i < r->plan->users; i++) {
        rest_person *p = &r->people[i];
        p->queued = false;
        if (!is_kept || r->now_ms - p->ok_ms <= r->plan->lag_ms) p->ok.n = 0;
        for (int k = 0; k < REST_DAYS; k++) p->tries[k] = (rest_tries){0};
    }
    r->starts_len = 0;
    r->first = true;
    r->mending = e->kind == EVENT_ACTOR_ENDS;
    if (!is_kept) r->full = false;
}

/* Old rows are deleted by a date that is there an hour after it was first seen. */
static void date_is(rest *r, dn_day date) {
    for (dn_day day = r->latest + 1; day <= date && day - r->first_day < REST_DATES; day++) {
        int64_t *seen_ms = &r->seen_ms[day - r->first_day];
        if (*seen_ms == 0) *seen_ms = r->now_ms + 1;
        if (r->now_ms + 1 - *seen_ms >= 60 * DN_MINUTE_MS) r->latest = day;
    }
}

void rest_tell(rest *r, const event *e) {
    instant_is(r, e->steady_ms);
    date_is(r, dn_day_of_ms(e->t_ms));
    if (dn_day_of_ms(e->t_ms) > r->ahead) r->ahead = dn_day_of_ms(e->t_ms);
    if (e->kind == EVENT_CRASH || e->kind == EVENT_ACTOR_ENDS || e->kind == EVENT_ACTOR_CRASH)
        forget(r, e);
    if (e->kind >= DN_HAPPENINGS) return;
    if (e->kind == DN_HAPPENED_CLOCK) r->stepped_ms = r->upset_ms = r->now_ms;
    if (e->kind == DN_HAPPENED_STORE_FAILED || e->kind == DN_HAPPENED_STORE_WELL) {
        r->full = e->kind == DN_HAPPENED_STORE_FAILED;
        r->upset_ms = r->now_ms;
    }
    if (e->kind == DN_HAPPENED_TICK) judge_tick(r, e);
    rest_person *p = e->h->id ? person_of(r, e->h->id, e->h->id_len) : NULL;
    if (p) on_person(r, p, e);
}

static void judge_epoch(const rest *r, const rest_person *p, const dn_daily_request *request) {
    dn_user user;
    char    text[REST_TEXT];

    if (is_recent(r, p)) return;
    if (dn_store_user(r->store, request->id, request->id_len, &user) < 0) return;
    if (user.context_epoch == request->context_epoch) return;
    (void)snprintf(text, sizeof text,
                   "epoch: user %.*s: a run is told context_epoch %u: right is %u, the committed "
                   "one",
                   (int)request->id_len, request->id, request->context_epoch, user.context_epoch);
    r->say(r->context, CHECK_EPOCH, text);
}

void rest_job(rest *r, const dn_daily_request *request, const answer *is) {
    rest_person *p = person_of(r, request->id, request->id_len);

    if (!p) return;
    judge_epoch(r, p, request);
    p->job_day = request->day;
    p->attempt = request->attempt;
    p->cls = DN_CLASS_UNKNOWN;
    p->outcome = DN_OUTCOME_ERROR;
    if (is->result == ANSWER_OK) p->outcome = DN_OUTCOME_OK;
    if (is->result == ANSWER_ERROR) p->cls = (uint8_t)is->cls;
    if (is->result == ANSWER_HANG || is->result == ANSWER_TIMEOUT ||
        is->duration_ms > r->plan->settings.job_timeout_ms)
        p->outcome = DN_OUTCOME_TIMEOUT;
}

/* ---- The end ---- */

static void say_end(rest *r, const char *id, const char *what) {
    char text[REST_TEXT];

    (void)snprintf(text, sizeof text, "I5: user %s in the end: %s", id, what);
    r->say(r->context, CHECK_I5, text);
}

/* NULL: the plan did nothing to that user. */
static const plan_op *last_op_of(const plan *p, size_t done, uint32_t user) {
    for (size_t i = done; i-- > 0;) {
        const plan_op *op = &p->ops[i];
        if ((op->kind == PLAN_USER || op->kind == PLAN_REMOVE) && op->user == user) return op;
    }
    return NULL;
}

/* True: it is there. */
static bool judge_registered(rest *r, size_t done, uint32_t user, const char *id, dn_user *u) {
    const plan_op *op = last_op_of(r->plan, done, user);
    const bool     is_there = dn_store_user(r->store, id, strlen(id), u) == DN_OK;
    const bool     wanted = op && op->kind == PLAN_USER;

    if (is_there && !wanted) say_end(r, id, "it is there, and was removed or never registered");
    if (!is_there && wanted) say_end(r, id, "it was registered, and is not there");
    if (is_there && wanted && u->due != op->due)
        say_end(r, id, "its due is not the last one asked for");
    return is_there;
}

/* Rows are deleted when a date has lasted for an hour: from `oldest` on they had to stay, before `gone` they had to go. */
static void judge_kept(rest *r, const char *id, const dn_user *u, dn_day oldest, dn_day gone) {
    const rest_person *p = person_of(r, id, strlen(id));
    dn_ledger_row      rows[LEDGER_MOST];
    uint64_t           there = 0;
    size_t             len = 0;

    if (p->n != u->registration) return;
    if (dn_store_days_of(r->store, p->n, INT32_MAX, rows, LEDGER_MOST, &len) < 0) return;
    for (size_t i = 0; i < len; i++) {
        there |= bit_of(r, rows[i].day);
        if (rows[i].day < gone) say_end(r, id, "the ledger has a row that is too old");
    }
    for (dn_day day = r->first_day; day < r->first_day + 64; day++) {
        if (!(p->told & ~there & bit_of(r, day))) continue;
        r->forgotten++;
        if (day >= oldest) say_end(r, id, "the ledger has lost a row that is not old");
    }
}

void rest_end(rest *r, size_t done, int64_t steady_ms, int64_t wall_ms, bool is_calm) {
    const trace_settings *s = &r->plan->settings;
    const dn_day          days = (dn_day)s->ledger_days;
    const int64_t         lasted_ms = wall_ms - 2 * DN_MINUTE_MS * 60 - s->tick_ms;
    const dn_day          gone = is_calm ? dn_day_of_ms(lasted_ms) - days : INT32_MIN;

    r->now_ms = steady_ms; /* rows may be deleted after the last event */
    date_is(r, dn_day_of_ms(wall_ms));
    for (uint32_t i = 0; i < r->plan->users; i++) {
        char    id[REST_ID];
        dn_user user;
        (void)snprintf(id, sizeof id, "u%u", i);
        if (judge_registered(r, done, i, id, &user))
            judge_kept(r, id, &user, r->latest - days, gone);
    }
}
