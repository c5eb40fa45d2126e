/* routes_audit.c - /api/v1/audit: all users and all records of a day, by number, for proving the ledger.
 * Items are arrays and not objects, because there may be millions. The cursor of a page is its last number. */
#include "actor/pipe.h"
#include "ledger_rows.h"
#include "reply.h"

enum { PAGE_MAX = 4096 };

/* A page that is not empty is never known to be the last: a user registered later has a higher number. */
static route_step reply_numbered(exchange *x, json_t *items, int64_t last) {
    return reply_page(
        x, items, last > 0 ? json_sprintf("%" JSON_INTEGER_FORMAT, (json_int_t)last) : json_null());
}

/* ---- Users: [n, due, starts_on, last_day, recorded, status, id], days as numbers ---- */

enum { USERS_LIMIT, USERS_CURSOR };
static const field users_query[] = {
    [USERS_LIMIT] = {.name = "limit", .type = FIELD_NUMBER, .min = 1, .max = PAGE_MAX},
    [USERS_CURSOR] = {.name = "cursor", .type = FIELD_NUMBER, .max = INT64_MAX},
    {.name = NULL},
};

static json_t *user_item(const dn_change *c) {
    return json_pack("[I, i, i, I, I, i, s%]", (json_int_t)c->registration, (int)c->due,
                     (int)c->starts_on, (json_int_t)c->last_day, (json_int_t)c->recorded,
                     (int)c->status, c->id, (size_t)c->id_len);
}

static route_step reply_users(dn_self *self, const api_world *w, exchange *x, const dn_msg *reply) {
    int64_t left = field_number(&x->query.at[USERS_LIMIT], PAGE_MAX), last = 0;
    json_t *items = json_array();

    (void)self, (void)w;
    for (DN_PIPE_EACH_ID(dn_change, c, reply)) {
        if (left-- == 0) break;
        reply_append(&items, user_item(c));
        last = (int64_t)c->registration;
    }
    return reply_numbered(x, items, last);
}

static route_step list_users(dn_self *self, const api_world *w, exchange *x) {
    const uint64_t after_n = (uint64_t)field_number(&x->query.at[USERS_CURSOR], 0);

    return exchange_call(self, x, w->kv, MSG_KV_LOAD, &after_n, sizeof after_n, reply_users);
}

/* ---- Records of a day: [n, status, class, attempts, at_ms] ---- */

enum { RECORDS_DAY, RECORDS_LIMIT, RECORDS_CURSOR };
static const field records_query[] = {
    [RECORDS_DAY] = {.name = "day", .type = FIELD_DAY, .required = true},
    [RECORDS_LIMIT] = {.name = "limit", .type = FIELD_NUMBER, .min = 1, .max = PAGE_MAX},
    [RECORDS_CURSOR] = {.name = "cursor", .type = FIELD_NUMBER, .max = INT64_MAX},
    {.name = NULL},
};

static route_step reply_records(dn_self *self, const api_world *w, exchange *x,
                                const dn_msg *reply) {
    size_t               len;
    const dn_ledger_row *rows = ledger_rows(reply, &len);

    (void)self, (void)w;
    if (!rows) return reply_store_error(x, ledger_rows_status(reply));
    json_t *items = json_array();
    for (size_t i = 0; i < len; i++)
        reply_append(&items, json_pack("[I, i, i, i, I]", (json_int_t)rows[i].registration,
                                       (int)rows[i].status, (int)rows[i].error_class,
                                       (int)rows[i].attempts, (json_int_t)rows[i].at_ms));
    return reply_numbered(x, items, len > 0 ? (int64_t)rows[len - 1].registration : 0);
}

static route_step list_records(dn_self *self, const api_world *w, exchange *x) {
    const field_value *q = x->query.at;
    const dn_kv_day    d = {
           .day = (dn_day)q[RECORDS_DAY].number,
           .after = (uint64_t)field_number(&q[RECORDS_CURSOR], 0),
           .max = (uint32_t)field_number(&q[RECORDS_LIMIT], PAGE_MAX),
    };

    return exchange_call(self, x, w->kv, MSG_KV_DAY, &d, sizeof d, reply_records);
}

const route routes_audit[] = {
    {"GET", "/api/v1/audit/users", DN_SCOPE_READ, .handler = list_users, .query = users_query},
    {"GET", "/api/v1/audit/records", DN_SCOPE_READ, .handler = list_records,
     .query = records_query},
    {.method = NULL},
};
