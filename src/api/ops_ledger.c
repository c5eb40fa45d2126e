/* ops_ledger.c - how days ended. */
#include "daily/explain.h"
#include "daily/json_user.h"
#include "ops.h"

#include <string.h>

enum { DAY_ROWS_MAX = 4096, DAYS_OF_MAX = 64 };

/* ---- Rows ---- */

/* The rows of an answer, or NULL, and the ask is refused. */
static const void *rows_of(ask *a, const dn_msg *reply, size_t *out_len) {
    const dn_kv_rows_answer *answer = dn_msg_body_borrow(reply);

    if (answer->status != DN_OK) {
        (void)ask_refuse_status(a, answer->status);
        return NULL;
    }
    *out_len = answer->len;
    return answer->rows;
}

static ask_step put_items(ask *a, json_t *items, size_t len) {
    const bool whole = json_array_size(items) == len;

    ask_put(a, "items", items);
    return whole ? ASK_DONE : ask_refuse(a, "failed", "out of memory");
}

static json_t *row_item(int64_t first, const dn_ledger_row *r) {
    return json_pack("[I, i, i, i, I]", (json_int_t)first, (int)r->status, (int)r->error_class,
                     (int)r->attempts, (json_int_t)r->at_ms);
}

ask_step op_day(dn_self *self, const ops_world *w, ask *a, const dn_msg *reply) {
    dn_kv_day d = {.day = DN_DAY_NONE, .max = DAY_ROWS_MAX};
    int64_t   after = 0, max = DAY_ROWS_MAX;
    size_t    len = 0;

    if (!reply) {
        if (!ask_day(a, "day", &d.day) || !ask_number(a, "after", 0, INT64_MAX, &after) ||
            !ask_number(a, "max", 1, DAY_ROWS_MAX, &max))
            return ASK_REFUSED;
        if (d.day == DN_DAY_NONE) return ask_refuse(a, "invalid", "\"day\" is missing");
        d.after_n = (uint64_t)after;
        d.max = (uint32_t)max;
        return ask_call(self, a, w->kv, MSG_KV_DAY, &d, sizeof d);
    }
    const dn_ledger_row *rows = rows_of(a, reply, &len);
    if (!rows) return ASK_REFUSED;
    json_t *items = json_array();
    for (size_t i = 0; i < len; i++)
        (void)json_array_append_new(items, row_item((int64_t)rows[i].registration, &rows[i]));
    return put_items(a, items, len);
}

/* ---- The days of a user, by its id ---- */

enum { DAYS_USER = 1, DAYS_ROWS };

static ask_step days_ask(dn_self *self, const ops_world *w, ask *a, const dn_msg *reply) {
    const dn_kv_user_answer *answer = DN_BODY(dn_kv_user_answer, reply);
    int64_t                  max = DAYS_OF_MAX;
    dn_kv_days_of            d = {.before = INT32_MAX};

    if (answer->status != DN_OK) return ask_refuse_status(a, answer->status);
    if (!ask_day(a, "before", &d.before) || !ask_number(a, "max", 1, DAYS_OF_MAX, &max))
        return ASK_REFUSED;
    d.n = answer->user.registration;
    d.max = (uint32_t)max;
    return ask_call(self, a, w->kv, MSG_KV_DAYS_OF, &d, sizeof d);
}

static ask_step days_answer(ask *a, const dn_msg *reply) {
    size_t               len = 0;
    int64_t              max = DAYS_OF_MAX;
    const dn_ledger_row *rows = rows_of(a, reply, &len);

    if (!rows || !ask_number(a, "max", 1, DAYS_OF_MAX, &max)) return ASK_REFUSED;
    json_t *items = json_array();
    for (size_t i = 0; i < len; i++)
        (void)json_array_append_new(items, json_of_ledger_row(&rows[i]));
    ask_put(a, "next_cursor", len == (size_t)max ? json_of_day(rows[len - 1].day) : json_null());
    return put_items(a, items, len);
}

ask_step op_days(dn_self *self, const ops_world *w, ask *a, const dn_msg *reply) {
    dn_kv_id id;
    dn_day   before = DN_DAY_NONE;
    int64_t  max = 1;

    if (a->stage == DAYS_USER) return days_ask(self, w, a, reply);
    if (a->stage == DAYS_ROWS) return days_answer(a, reply);
    if (!ask_day(a, "before", &before) || !ask_number(a, "max", 1, DAYS_OF_MAX, &max) ||
        !ask_id(a, &id))
        return ASK_REFUSED;
    return ask_call(self, a, w->kv, MSG_KV_USER, &id, sizeof id);
}

/* ---- Totals ---- */

/* As many days as one answer has, and the day after them for a cursor. */
ask_step op_history(dn_self *self, const ops_world *w, ask *a, const dn_msg *reply) {
    dn_kv_totals t = {.first = DN_DAY_NONE + 1, .last = INT32_MAX};
    size_t       len = 0;

    if (!reply) {
        if (!ask_day(a, "first", &t.first) || !ask_day(a, "last", &t.last) ||
            !ask_day(a, "cursor", &t.first))
            return ASK_REFUSED;
        return ask_call(self, a, w->kv, MSG_KV_TOTALS, &t, sizeof t);
    }
    const dn_day_totals *rows = rows_of(a, reply, &len);
    if (!rows) return ASK_REFUSED;
    json_t *items = json_array();
    for (size_t i = 0; i < len && i < DAY_ROWS_MAX; i++)
        (void)json_array_append_new(items, json_of_totals(&rows[i]));
    ask_put(a, "next_cursor",
            len > DAY_ROWS_MAX ? json_of_day(rows[DAY_ROWS_MAX].day) : json_null());
    return put_items(a, items, len < DAY_ROWS_MAX ? len : DAY_ROWS_MAX);
}

/* ---- why: the user, then its days, then the queue ---- */

enum { WHY_USER = 1, WHY_DAYS, WHY_QUEUE };

static ask_step why_days(dn_self *self, const ops_world *w, ask *a, const dn_msg *reply) {
    const dn_kv_user_answer *answer = DN_BODY(dn_kv_user_answer, reply);
    dn_day                   latest = dn_day_of_ms(dn_now_ms(self));

    if (answer->status != DN_OK) return ask_refuse_status(a, answer->status);
    a->user = answer->user;
    const bool asked = a->day != DN_DAY_NONE;
    if (a->user.last_day > latest) latest = a->user.last_day;
    const dn_kv_days_of d = {.n = a->user.registration,
                             .before = (asked ? a->day : latest) + 1,
                             .max = asked ? 1 : ASK_ROWS_MAX};
    return ask_call(self, a, w->kv, MSG_KV_DAYS_OF, &d, sizeof d);
}

static ask_step why_queue(dn_self *self, const ops_world *w, ask *a, const dn_msg *reply) {
    const dn_ledger_row *rows = rows_of(a, reply, &a->rows_len);
    dn_kv_id             id = {.len = a->user.id_len};

    if (!rows) return ASK_REFUSED;
    if (a->rows_len > ASK_ROWS_MAX) a->rows_len = ASK_ROWS_MAX;
    memcpy(a->rows, rows, a->rows_len * sizeof *rows);
    memcpy(id.id, a->user.id, id.len);
    return ask_call(self, a, w->queue, MSG_ASK_USER, &id, sizeof id);
}

static ask_step why_end(dn_self *self, const ops_world *w, ask *a, const dn_msg *reply) {
    const dn_facts facts = {
        .user = a->user,
        .rows = a->rows,
        .rows_len = a->rows_len,
        .queued = *DN_BODY(dn_queued_user, reply),
        .window_minutes = w->about->service->window_minutes,
        .ledger_days = w->about->service->ledger_days,
        .now_ms = dn_now_ms(self),
        .day = a->day,
    };
    json_t *days = json_array();

    for (size_t i = 0; i < a->rows_len; i++)
        (void)json_array_append_new(days, json_of_ledger_row(&a->rows[i]));
    ask_put(a, "user", json_of_user(&a->user));
    ask_put(a, "days", days);
    ask_put(a, "sentences", dn_explain(&facts));
    return ASK_DONE;
}

ask_step op_why(dn_self *self, const ops_world *w, ask *a, const dn_msg *reply) {
    dn_kv_id id;

    switch (a->stage) {
    case WHY_USER: return why_days(self, w, a, reply);
    case WHY_DAYS: return why_queue(self, w, a, reply);
    case WHY_QUEUE: return why_end(self, w, a, reply);
    default:
        if (!ask_day(a, "day", &a->day) || !ask_id(a, &id)) return ASK_REFUSED;
        return ask_call(self, a, w->kv, MSG_KV_USER, &id, sizeof id);
    }
}
