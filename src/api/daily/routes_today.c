/* routes_today.c - /api/v1/daily/today, how a day goes minute by minute, and /running, who runs right now.
 * The planner knows today and the days to come. A day that is over is in the ledger: how it ended for each user; when
 * users are due is in their rows. Both are read side by side, page by page, so that kv does other work in between, and
 * of a page only its counts are kept. */
#include "actor/pipe.h"
#include "admin/json_status.h"
#include "day_minutes.h"
#include "json_user.h"
#include "ledger_rows.h"
#include "reply.h"
#include "words.h"

#include <stdlib.h>

typedef struct due_user {
    uint64_t n;
    uint16_t due;
    bool     begun; /* its first day is not after the day asked for */
} due_user;

typedef struct today_state {
    dn_day      day;
    day_minutes minutes;
    json_t     *queue;
    /* Of a day that is over. */
    uint64_t  through_n; /* users up to this number are in the minutes, or in the page */
    due_user *page;      /* by number */
    size_t    page_len;
} today_state;

static void today_free(void *state) {
    today_state *t = state;

    json_decref(t->queue);
    free(t->page);
    free(t);
}

/* ---- The answer: the minutes, then the queue and the executor ---- */

static route_step reply_today(dn_self *self, const api_world *w, exchange *x, const dn_msg *reply) {
    today_state *t = x->state;
    json_t      *items = json_array();

    (void)w;
    for (uint32_t i = 0; i < DN_DAY_MINUTES; i++)
        if (day_minute_is_used(&t->minutes.at[i]))
            reply_append(&items, json_of_minute(i, &t->minutes.at[i]));
    return reply_json(x, 200,
                      json_pack("{s:o, s:o, s:o, s:o, s:o}", "day", json_of_day(t->day), "now",
                                json_of_instant(dn_now_ms(self)), "items", items, "queue",
                                DN_TAKE(t->queue), "executor",
                                json_of_executor_status(DN_BODY(dn_executor_status, reply))));
}

static route_step ask_executor(dn_self *self, const api_world *w, exchange *x,
                               const dn_msg *reply) {
    today_state *t = x->state;

    t->queue = json_of_queue_status(DN_BODY(dn_queue_status, reply));
    return exchange_call(self, x, w->executor, MSG_ASK_STATUS, NULL, 0, reply_today);
}

static route_step ask_queue(dn_self *self, const api_world *w, exchange *x) {
    return exchange_call(self, x, w->queue, MSG_ASK_STATUS, NULL, 0, ask_executor);
}

static route_step take_planned(dn_self *self, const api_world *w, exchange *x,
                               const dn_msg *reply) {
    today_state *t = x->state;

    day_minutes_take_planned(&t->minutes, reply);
    return ask_queue(self, w, x);
}

/* ---- A day that is over ---- */

static reply_fn take_users;

static route_step ask_users(dn_self *self, const api_world *w, exchange *x) {
    const today_state *t = x->state;

    return exchange_call(self, x, w->kv, MSG_KV_LOAD, &t->through_n, sizeof t->through_n,
                         take_users);
}

/* A user with a record had that day, whatever its first day is by now. */
static void count_user(day_minute *m, const due_user *u, const dn_ledger_row *row) {
    m->users += u->begun || row;
    if (!row) return;
    m->success += row->status == DN_DAILY_SUCCESS;
    m->cutoff_reached += row->status == DN_DAILY_CUTOFF;
    m->missed += row->status == DN_DAILY_MISSED;
}

static route_step take_rows(dn_self *self, const api_world *w, exchange *x, const dn_msg *reply) {
    today_state         *t = x->state;
    size_t               len, at = 0;
    const dn_ledger_row *rows = ledger_rows(reply, &len);

    if (!rows) return reply_store_error(x, ledger_rows_status(reply));
    for (size_t i = 0; i < t->page_len; i++) {
        const due_user *u = &t->page[i];
        while (at < len && rows[at].registration < u->n) at++;
        const bool has_row = at < len && rows[at].registration == u->n;
        count_user(&t->minutes.at[u->due], u, has_row ? &rows[at] : NULL);
    }
    return ask_users(self, w, x);
}

static route_step take_users(dn_self *self, const api_world *w, exchange *x, const dn_msg *reply) {
    today_state *t = x->state;
    size_t       len = 0;

    for (DN_PIPE_EACH_ID(dn_change, u, reply)) len++;
    if (len == 0) return ask_queue(self, w, x);
    due_user *page = realloc(t->page, len * sizeof *page);
    if (!page) return reply_no_memory(x);
    const dn_kv_day d = {.day = t->day, .after = t->through_n, .max = (uint32_t)len};
    t->page = page;
    t->page_len = 0;
    for (DN_PIPE_EACH_ID(dn_change, u, reply))
        page[t->page_len++] = (due_user){u->registration, u->due, u->starts_on <= t->day};
    t->through_n = page[len - 1].n;
    return exchange_call(self, x, w->kv, MSG_KV_DAY, &d, sizeof d, take_rows);
}

/* The ledger may have been turned on later than the setting reaches back. */
static route_step take_ledger(dn_self *self, const api_world *w, exchange *x, const dn_msg *reply) {
    const today_state *t = x->state;
    const dn_day       since = DN_BODY(dn_kv_status, reply)->ledger_since;
    char               asked[DN_DAY_TEXT], first[DN_DAY_TEXT];

    if (t->day >= since) return ask_users(self, w, x);
    dn_day_write(t->day, asked);
    dn_day_write(since, first);
    return reply_problem(x, 400, "no records of %s: the ledger begins on %s", asked, first);
}

/* ---- GET /api/v1/daily/today ---- */

enum { TODAY_DAY };
static const field today_query[] = {[TODAY_DAY] = {.name = "day", .type = FIELD_DAY},
                                    {.name = NULL}};

/* False: the ledger does not reach back so far, and the response says so. */
static bool is_kept(dn_self *self, const api_world *w, exchange *x, dn_day day) {
    const uint32_t days = w->service->ledger_days;
    char           asked[DN_DAY_TEXT], far[DN_WORDS];

    if (day >= dn_day_of_ms(dn_now_ms(self)) - (dn_day)days) return true;
    dn_day_write(day, asked);
    if (days == 0)
        (void)reply_problem(x, 400, "no records of %s: the ledger is turned off (ledger_days = 0)",
                            asked);
    else
        (void)reply_problem(x, 400, "no records of %s: the ledger is kept for %s", asked,
                            dn_words_count(days, "day", far));
    return false;
}

static route_step take_running(dn_self *self, const api_world *w, exchange *x,
                               const dn_msg *reply) {
    today_state *t = x->state;

    day_minutes_take_running(&t->minutes, t->day, reply);
    if (t->day < dn_day_of_ms(dn_now_ms(self)))
        return exchange_call(self, x, w->kv, MSG_KV_STATUS, NULL, 0, take_ledger);
    return exchange_call(self, x, w->tick, MSG_ASK_MINUTES, &t->day, sizeof t->day, take_planned);
}

static route_step get_today(dn_self *self, const api_world *w, exchange *x) {
    const dn_day today = dn_day_of_ms(dn_now_ms(self));
    const dn_day day = (dn_day)field_number(&x->query.at[TODAY_DAY], today);

    if (!is_kept(self, w, x, day)) return ROUTE_DONE;
    today_state *t = exchange_keep(x, sizeof *t, today_free);
    if (!t) return reply_no_memory(x);
    t->day = day;
    return exchange_call(self, x, w->queue, MSG_ASK_RUNNING, NULL, 0, take_running);
}

/* ---- GET /api/v1/daily/running: the oldest first ---- */

enum { RUNNING_MAX = 500 };
enum { RUNNING_LIMIT };
static const field running_query[] = {
    [RUNNING_LIMIT] = {.name = "limit", .type = FIELD_NUMBER, .min = 1, .max = RUNNING_MAX},
    {.name = NULL}};

static int compare_since(const void *a, const void *b) {
    const dn_running *const *r = a, *const *s = b;

    return ((*r)->since_ms > (*s)->since_ms) - ((*r)->since_ms < (*s)->since_ms);
}

static json_t *json_of_running(const dn_running *r) {
    char due[DN_DUE_TEXT];

    dn_due_write(r->due, due);
    return json_pack("{s:s%, s:s, s:o, s:I, s:o}", "id", r->id, (size_t)r->id_len, "due", due,
                     "day", json_of_day(r->day), "attempt", (json_int_t)r->attempt, "since",
                     json_of_instant(r->since_ms));
}

static route_step reply_running(dn_self *self, const api_world *w, exchange *x,
                                const dn_msg *reply) {
    const size_t max = (size_t)field_number(&x->query.at[RUNNING_LIMIT], RUNNING_MAX);
    size_t       len = 0, at = 0;

    (void)self, (void)w;
    for (DN_PIPE_EACH_ID(dn_running, r, reply)) len++;
    const dn_running **all = calloc(len + 1, sizeof *all);
    if (!all) return reply_no_memory(x);
    for (DN_PIPE_EACH_ID(dn_running, r, reply)) all[at++] = r;
    qsort(all, len, sizeof *all, compare_since);
    json_t *items = json_array();
    for (size_t i = 0; i < len && i < max; i++) reply_append(&items, json_of_running(all[i]));
    free(all);
    return reply_json(x, 200, json_pack("{s:o, s:I}", "items", items, "running", (json_int_t)len));
}

static route_step list_running(dn_self *self, const api_world *w, exchange *x) {
    return exchange_call(self, x, w->queue, MSG_ASK_RUNNING, NULL, 0, reply_running);
}

const route routes_today[] = {
    {"GET", "/api/v1/daily/today", DN_SCOPE_READ, .handler = get_today, .query = today_query},
    {"GET", "/api/v1/daily/running", DN_SCOPE_READ, .handler = list_running,
     .query = running_query},
    {.method = NULL},
};
