/* routes_why.c - GET /api/v1/daily/users/{id}/why: what happened to a user that day, and what comes next.
 * Asks for the user, then its days, then what the queue has of it. */
#include "explain.h"
#include "json_user.h"
#include "ledger_rows.h"
#include "reply.h"

#include <string.h>

enum { WHY_ROWS_MAX = 8 };
enum { WHY_DAY };
static const field why_query[] = {[WHY_DAY] = {.name = "day", .type = FIELD_DAY}, {.name = NULL}};

typedef struct why_state {
    dn_user       user;
    dn_ledger_row rows[WHY_ROWS_MAX]; /* newest first */
    size_t        rows_len;
} why_state;

static route_step reply_why(dn_self *self, const api_world *w, exchange *x, const dn_msg *reply) {
    const why_state *why = x->state;
    const dn_facts   facts = {
          .user = why->user,
          .rows = why->rows,
          .rows_len = why->rows_len,
          .queued = *DN_BODY(dn_queued_user, reply),
          .window_minutes = w->service->window_minutes,
          .ledger_days = w->service->ledger_days,
          .now_ms = dn_now_ms(self),
          .day = (dn_day)field_number(&x->query.at[WHY_DAY], DN_DAY_NONE),
    };
    json_t *days = json_array();

    for (size_t i = 0; i < why->rows_len; i++)
        reply_append(&days, json_of_ledger_row(&why->rows[i]));
    return reply_json(x, 200,
                      json_pack("{s:o, s:o, s:o}", "user", json_of_user(&why->user), "days", days,
                                "sentences", dn_explain(&facts)));
}

static route_step ask_queue(dn_self *self, const api_world *w, exchange *x, const dn_msg *reply) {
    why_state           *why = x->state;
    const dn_ledger_row *rows = ledger_rows(reply, &why->rows_len);
    dn_kv_id             id = {.len = why->user.id_len};

    if (!rows) return reply_store_error(x, ledger_rows_status(reply));
    if (why->rows_len > WHY_ROWS_MAX) why->rows_len = WHY_ROWS_MAX;
    memcpy(why->rows, rows, why->rows_len * sizeof *rows);
    memcpy(id.id, why->user.id, id.len);
    return exchange_call(self, x, w->queue, MSG_ASK_USER, &id, sizeof id, reply_why);
}

static route_step ask_days(dn_self *self, const api_world *w, exchange *x, const dn_msg *reply) {
    const dn_kv_user_answer *answer = DN_BODY(dn_kv_user_answer, reply);
    const field_value       *day = &x->query.at[WHY_DAY];
    dn_day                   latest = dn_day_of_ms(dn_now_ms(self));

    if (answer->status != DN_OK) return reply_store_error(x, answer->status);
    why_state *why = exchange_keep(x, sizeof *why, NULL);
    if (!why) return reply_no_memory(x);
    why->user = answer->user;
    if (why->user.last_day > latest) latest = why->user.last_day;
    const dn_kv_days_of d = {
        .registration = why->user.registration,
        .before = (dn_day)field_number(day, latest) + 1,
        .max = day->given ? 1 : WHY_ROWS_MAX,
    };
    return exchange_call(self, x, w->kv, MSG_KV_DAYS_OF, &d, sizeof d, ask_queue);
}

static route_step get_why(dn_self *self, const api_world *w, exchange *x) {
    dn_kv_id id;

    if (!exchange_id(x, &id)) return ROUTE_DONE;
    return exchange_call(self, x, w->kv, MSG_KV_USER, &id, sizeof id, ask_days);
}

const route routes_why[] = {
    {"GET", "/api/v1/daily/users/{id}/why", DN_SCOPE_READ, .handler = get_why, .query = why_query},
    {.method = NULL},
};
