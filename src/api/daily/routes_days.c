/* routes_days.c - how days ended: the ledger of a user, and totals a day. */
#include "json_user.h"
#include "ledger_rows.h"
#include "reply.h"

/* ---- GET /api/v1/daily/users/{id}/days: newest first ---- */

enum { USER_DAYS_MAX = 64 };
enum { USER_DAYS_LIMIT, USER_DAYS_CURSOR };
static const field user_days_query[] = {
    [USER_DAYS_LIMIT] = {.name = "limit", .type = FIELD_NUMBER, .min = 1, .max = USER_DAYS_MAX},
    [USER_DAYS_CURSOR] = {.name = "cursor", .type = FIELD_DAY},
    {.name = NULL},
};

static size_t user_days_max(const exchange *x) {
    return (size_t)field_number(&x->query.at[USER_DAYS_LIMIT], USER_DAYS_MAX);
}

static route_step reply_user_days(dn_self *self, const api_world *w, exchange *x,
                                  const dn_msg *reply) {
    size_t               len;
    const dn_ledger_row *rows = ledger_rows(reply, &len);

    (void)self, (void)w;
    if (!rows) return reply_store_error(x, ledger_rows_status(reply));
    json_t *items = json_array();
    for (size_t i = 0; i < len; i++) reply_append(&items, json_of_ledger_row(&rows[i]));
    const bool more = len == user_days_max(x);
    return reply_page(x, items, more ? json_of_day(rows[len - 1].day) : json_null());
}

static route_step read_user_days(dn_self *self, const api_world *w, exchange *x,
                                 const dn_msg *reply) {
    const dn_kv_user_answer *answer = DN_BODY(dn_kv_user_answer, reply);

    if (answer->status != DN_OK) return reply_store_error(x, answer->status);
    const dn_kv_days_of d = {
        .registration = answer->user.registration,
        .before = (dn_day)field_number(&x->query.at[USER_DAYS_CURSOR], INT32_MAX),
        .max = (uint32_t)user_days_max(x),
    };
    return exchange_call(self, x, w->kv, MSG_KV_DAYS_OF, &d, sizeof d, reply_user_days);
}

static route_step list_user_days(dn_self *self, const api_world *w, exchange *x) {
    dn_kv_id id;

    if (!exchange_id(x, &id)) return ROUTE_DONE;
    return exchange_call(self, x, w->kv, MSG_KV_USER, &id, sizeof id, read_user_days);
}

/* ---- GET /api/v1/daily/days: totals, oldest first ---- */

enum { TOTALS_MAX = 4096 };
enum { DAYS_FROM, DAYS_TO, DAYS_CURSOR };
static const field days_query[] = {
    [DAYS_FROM] = {.name = "from", .type = FIELD_DAY},
    [DAYS_TO] = {.name = "to", .type = FIELD_DAY},
    [DAYS_CURSOR] = {.name = "cursor", .type = FIELD_DAY},
    {.name = NULL},
};

/* kv answers with all of them; the cursor is the first day of the next page. */
static route_step reply_days(dn_self *self, const api_world *w, exchange *x, const dn_msg *reply) {
    size_t               len;
    const dn_day_totals *rows = ledger_rows(reply, &len);

    (void)self, (void)w;
    if (!rows) return reply_store_error(x, ledger_rows_status(reply));
    json_t *items = json_array();
    for (size_t i = 0; i < len && i < TOTALS_MAX; i++)
        reply_append(&items, json_of_totals(&rows[i]));
    return reply_page(x, items, len > TOTALS_MAX ? json_of_day(rows[TOTALS_MAX].day) : json_null());
}

static route_step list_days(dn_self *self, const api_world *w, exchange *x) {
    const field_value *q = x->query.at;
    const int64_t      from = field_number(&q[DAYS_FROM], DN_DAY_NONE + 1);
    const dn_kv_totals t = {
        .first = (dn_day)field_number(&q[DAYS_CURSOR], from),
        .last = (dn_day)field_number(&q[DAYS_TO], INT32_MAX),
    };

    return exchange_call(self, x, w->kv, MSG_KV_TOTALS, &t, sizeof t, reply_days);
}

const route routes_days[] = {
    {"GET", "/api/v1/daily/users/{id}/days", DN_SCOPE_READ, .handler = list_user_days,
     .query = user_days_query},
    {"GET", "/api/v1/daily/days", DN_SCOPE_READ, .handler = list_days, .query = days_query},
    {.method = NULL},
};
