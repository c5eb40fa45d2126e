/* ops_today.c - how a day goes, minute by minute: today as the planner has it, a day that is over as the ledger has it.
 * The ledger says of each user how a day ended, and the users when they are due: they are gone through side by side, page
 * by page, and kv does what else is to be done in between. Nothing is kept of a page but what it adds to the minutes. */
#include "admin/json_status.h"
#include "daily/json_user.h"
#include "ops.h"
#include "words.h"

#include "actor/pipe.h"
#include "daily/planner_index.h"

#include <stdlib.h>

enum {
    TODAY_RUNNING = 1,
    TODAY_MINUTES,
    TODAY_QUEUE,
    TODAY_EXECUTOR,
    /* Of a day that is over, in the place of TODAY_MINUTES; the last two again and again. */
    TODAY_LEDGER,
    TODAY_USERS,
    TODAY_ROWS,
};

typedef struct minute {
    dn_planner_index_minute known;
    uint32_t                missed;
} minute;

typedef struct due_user {
    uint64_t n;
    uint16_t due;
    bool     begun;
} due_user;

/* A day that is over, so far. */
typedef struct past_day {
    minute   minutes[DN_DAY_MINUTES];
    uint64_t through_n; /* all users through this one are in the minutes, or in the page */
    size_t   page_len;
    due_user page[]; /* by number */
} past_day;

/* ---- The answer ---- */

static json_t *minute_item(uint32_t due, const minute *m, json_int_t running) {
    const dn_planner_index_minute *k = &m->known;
    char                           text[DN_DUE_TEXT];

    dn_due_write(due, text);
    return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I}", "due", text, "users",
                     (json_int_t)k->users, "success", (json_int_t)k->success, "cutoff_reached",
                     (json_int_t)k->cutoff, "missed", (json_int_t)m->missed, "pending",
                     (json_int_t)k->users - k->success - k->cutoff - m->missed, "running", running);
}

static ask_step put_minutes(dn_self *self, const ops_world *w, ask *a, const minute *minutes) {
    const json_t *running = json_object_get(a->request, "running");
    json_t       *items = json_array();
    bool          whole = true;

    for (uint32_t i = 0; i < DN_DAY_MINUTES; i++) {
        const json_int_t runs = json_integer_value(json_array_get(running, i));
        if (minutes[i].known.users > 0 || runs > 0)
            whole &= json_array_append_new(items, minute_item(i, &minutes[i], runs)) == 0;
    }
    ask_put(a, "day", json_of_day(a->day));
    ask_put(a, "now", json_of_instant(dn_now_ms(self)));
    ask_put(a, "items", items);
    if (!whole) return ask_refuse(a, "failed", "out of memory");
    a->stage = TODAY_MINUTES;
    return ask_call(self, a, w->queue, MSG_ASK_STATUS, NULL, 0);
}

static ask_step today_minutes(dn_self *self, const ops_world *w, ask *a, const dn_msg *reply) {
    const dn_planner_index_minute *known = dn_msg_body_borrow(reply);
    minute                         minutes[DN_DAY_MINUTES];

    for (int i = 0; i < DN_DAY_MINUTES; i++) minutes[i] = (minute){.known = known[i]};
    return put_minutes(self, w, a, minutes);
}

/* ---- A day that is over ---- */

static ask_step ask_for_users(dn_self *self, const ops_world *w, ask *a, uint64_t after_n) {
    a->stage = TODAY_USERS - 1;
    return ask_call(self, a, w->kv, MSG_KV_LOAD, &after_n, sizeof after_n);
}

static ask_step past_users(dn_self *self, const ops_world *w, ask *a, const dn_msg *reply) {
    size_t len = 0;

    for (DN_PIPE_EACH_ID(dn_change, u, reply)) len++;
    if (len == 0) return put_minutes(self, w, a, a->past->minutes);
    past_day *p = realloc(a->past, sizeof *p + len * sizeof *p->page);
    if (!p) return ask_refuse(a, "failed", "out of memory");
    const dn_kv_day d = {.day = a->day, .after_n = p->through_n, .max = (uint32_t)len};
    a->past = p;
    p->page_len = 0;
    for (DN_PIPE_EACH_ID(dn_change, u, reply))
        p->page[p->page_len++] = (due_user){u->n, u->due, u->starts_on <= a->day};
    p->through_n = p->page[len - 1].n;
    return ask_call(self, a, w->kv, MSG_KV_DAY, &d, sizeof d);
}

/* Who has a record of the day has had it, whatever the first day is now. */
static void past_count(minute *m, const due_user *u, const dn_ledger_row *row) {
    m->known.users += u->begun || row;
    if (!row) return;
    m->known.success += row->status == DN_DAILY_SUCCESS;
    m->known.cutoff += row->status == DN_DAILY_CUTOFF;
    m->missed += row->status == DN_DAILY_MISSED;
}

static ask_step past_rows(dn_self *self, const ops_world *w, ask *a, const dn_msg *reply) {
    const dn_kv_rows_answer *answer = dn_msg_body_borrow(reply);
    const dn_ledger_row     *rows = (const dn_ledger_row *)(const void *)answer->rows;
    past_day                *p = a->past;
    size_t                   at = 0;

    if (answer->status != DN_OK) return ask_refuse_status(a, answer->status);
    for (size_t i = 0; i < p->page_len; i++) {
        const due_user *u = &p->page[i];
        while (at < answer->len && rows[at].registration < u->n) at++;
        const bool has_row = at < answer->len && rows[at].registration == u->n;
        past_count(&p->minutes[u->due], u, has_row ? &rows[at] : NULL);
    }
    return ask_for_users(self, w, a, p->through_n);
}

/* What was not kept then is not known, whatever the setting is now. */
static ask_step past_begin(dn_self *self, const ops_world *w, ask *a, const dn_msg *reply) {
    const dn_day since = DN_BODY(dn_kv_status, reply)->ledger_since;
    char         asked[DN_DAY_TEXT], first[DN_DAY_TEXT];

    if (a->day >= since) return ask_for_users(self, w, a, /* after_n= */ 0);
    dn_day_write(a->day, asked);
    dn_day_write(since, first);
    return ask_refuse(a, "invalid", "how %s went is not known: the ledger begins on %s", asked,
                      first);
}

/* False: the ledger cannot have it. */
static bool is_kept(dn_self *self, const ops_world *w, ask *a) {
    const uint32_t days = w->about->service->ledger_days;
    const dn_day   today = dn_day_of_ms(dn_now_ms(self));
    char           asked[DN_DAY_TEXT], far[DN_WORDS];

    if (a->day >= today - (dn_day)days) return true;
    dn_day_write(a->day, asked);
    if (days == 0)
        (void)ask_refuse(a, "invalid",
                         "how %s went is not known: the ledger is turned off (ledger_days = 0)",
                         asked);
    else
        (void)ask_refuse(a, "invalid", "how %s went is not known any more: the ledger goes back %s",
                         asked, dn_words_count(days, "day", far));
    return false;
}

/* ---- The steps ---- */

/* Who runs was asked first, and is kept as numbers a minute in the request. */
static ask_step today_running(dn_self *self, const ops_world *w, ask *a, const dn_msg *reply) {
    json_t    *running = json_array();
    json_int_t at[DN_DAY_MINUTES] = {0};

    for (DN_PIPE_EACH_ID(dn_running, r, reply))
        if (r->day == a->day && r->due < DN_DAY_MINUTES) at[r->due]++;
    for (int i = 0; i < DN_DAY_MINUTES; i++)
        (void)json_array_append_new(running, json_integer(at[i]));
    (void)json_object_set_new(a->request, "running", running);
    if (a->past) {
        a->stage = TODAY_LEDGER - 1;
        return ask_call(self, a, w->kv, MSG_KV_STATUS, NULL, 0);
    }
    return ask_call(self, a, w->tick, MSG_ASK_MINUTES, &a->day, sizeof a->day);
}

static ask_step today_begin(dn_self *self, const ops_world *w, ask *a) {
    const dn_day today = dn_day_of_ms(dn_now_ms(self));

    a->day = today;
    if (!ask_day(a, "day", &a->day) || !is_kept(self, w, a)) return ASK_REFUSED;
    if (a->day < today) {
        a->past = calloc(1, sizeof *a->past);
        if (!a->past) return ask_refuse(a, "failed", "out of memory");
    }
    return ask_call(self, a, w->queue, MSG_ASK_RUNNING, NULL, 0);
}

ask_step op_today(dn_self *self, const ops_world *w, ask *a, const dn_msg *reply) {
    switch (a->stage) {
    case TODAY_RUNNING: return today_running(self, w, a, reply);
    case TODAY_MINUTES: return today_minutes(self, w, a, reply);
    case TODAY_LEDGER: return past_begin(self, w, a, reply);
    case TODAY_USERS: return past_users(self, w, a, reply);
    case TODAY_ROWS: return past_rows(self, w, a, reply);
    case TODAY_QUEUE:
        ask_put(a, "queue", json_of_queue_status(DN_BODY(dn_queue_status, reply)));
        a->late = DN_BODY(dn_queue_status, reply)->late;
        return ask_call(self, a, w->executor, MSG_ASK_STATUS, NULL, 0);
    case TODAY_EXECUTOR:
        ask_put(a, "executor",
                json_of_executor_status(DN_BODY(dn_executor_status, reply), a->late));
        return ASK_DONE;
    default: return today_begin(self, w, a);
    }
}
