/* routes_users.c - /api/v1/daily/users: registering, reading, listing and removing users. */
#include "actor/pipe.h"
#include "json_user.h"
#include "reply.h"

#include "base/text.h"

#include <assert.h>
#include <string.h>

#define USERS "/api/v1/daily/users"

/* ---- One user ---- */

static route_step reply_user(dn_self *self, const api_world *w, exchange *x, const dn_msg *reply) {
    const dn_kv_user_answer *answer = DN_BODY(dn_kv_user_answer, reply);

    (void)self, (void)w;
    if (answer->status != DN_OK) return reply_store_error(x, answer->status);
    return reply_json(x, 200, json_of_user(&answer->user));
}

static route_step get_user(dn_self *self, const api_world *w, exchange *x) {
    dn_kv_id id;

    if (!exchange_id(x, &id)) return ROUTE_DONE;
    return exchange_call(self, x, w->kv, MSG_KV_USER, &id, sizeof id, reply_user);
}

static route_step user_removed(dn_self *self, const api_world *w, exchange *x,
                               const dn_msg *reply) {
    const dn_kv_user_answer *answer = DN_BODY(dn_kv_user_answer, reply);

    (void)self, (void)w;
    return answer->status == DN_OK ? reply_empty(x) : reply_store_error(x, answer->status);
}

static route_step delete_user(dn_self *self, const api_world *w, exchange *x) {
    dn_kv_id id;

    if (!exchange_id(x, &id)) return ROUTE_DONE;
    return exchange_call(self, x, w->kv, MSG_KV_REMOVE, &id, sizeof id, user_removed);
}

/* ---- PUT: registers a user, or changes it, and answers with what it is then ---- */

enum { PUT_ID, PUT_DUE, PUT_STARTS_ON };
static const field put_members[] = {
    [PUT_ID] = {.name = "id", .type = FIELD_TEXT},
    [PUT_DUE] = {.name = "due", .type = FIELD_TIME, .required = true},
    [PUT_STARTS_ON] = {.name = "starts_on", .type = FIELD_TEXT, .nullable = true},
    {.name = NULL},
};

static route_step put_done(dn_self *self, const api_world *w, exchange *x, const dn_msg *reply) {
    const dn_kv_set_answer *answer = DN_BODY(dn_kv_set_answer, reply);
    const bool              is_new = answer->wrote == DN_WROTE_NEW;
    const dn_day            today = dn_day_of_ms(dn_now_ms(self));

    (void)w;
    if (answer->status != DN_OK) return reply_store_error(x, answer->status);
    json_t *user = json_of_user(&answer->user);
    if (is_new && !x->members.at[PUT_STARTS_ON].given && answer->user.starts_on > today &&
        json_object_set_new(user, "note",
                            json_string("today's cutoff has passed, so the first day is tomorrow; "
                                        "use \"starts_on\":\"today\" to begin today")) < 0) {
        json_decref(user);
        return reply_no_memory(x);
    }
    return reply_json(x, is_new ? 201 : 200, user);
}

/* False: the response says what is wrong. */
static bool take_starts_on(exchange *x, dn_kv_set *set) {
    const field_value *v = &x->members.at[PUT_STARTS_ON];
    char               quoted[DN_TEXT_QUOTED];

    set->starts_on = DN_DAY_NONE;
    if (!v->given) return true;
    set->letter = v->len == strlen("today") && memcmp(v->text, "today", v->len) == 0;
    if (set->letter || dn_day_read(v->text, v->len, &set->starts_on) == DN_OK) return true;
    (void)reply_problem(x, 400, "\"starts_on\": invalid date %s; use YYYY-MM-DD or today",
                        dn_text_quoted(v->text, v->len, quoted));
    return false;
}

static route_step put_user(dn_self *self, const api_world *w, exchange *x) {
    const field_value       *named = &x->members.at[PUT_ID];
    _Alignas(dn_kv_set) char bytes[sizeof(dn_kv_set) + DN_ID_MAX + 8] = {0};
    dn_kv_set               *set = (dn_kv_set *)(void *)bytes;
    dn_kv_id                 id;

    if (!exchange_id(x, &id) || !take_starts_on(x, set)) return ROUTE_DONE;
    if (named->given && (named->len != id.len || memcmp(named->text, id.id, id.len) != 0))
        return reply_problem(x, 400, "\"id\" differs from the id in the path");
    set->due = (uint16_t)x->members.at[PUT_DUE].number;
    set->id_len = id.len;
    memcpy(set->id, id.id, id.len);
    return exchange_call(self, x, w->kv, MSG_KV_SET, set, dn_pipe_stride(sizeof *set + id.len),
                         put_done);
}

/* ---- The list ---- */

enum { LIST_MAX = 500 };
enum { LIST_STATUS, LIST_DUE_FROM, LIST_DUE_TO, LIST_Q, LIST_LIMIT, LIST_CURSOR };
static const field list_query[] = {
    [LIST_STATUS] = {.name = "status", .type = FIELD_TEXT},
    [LIST_DUE_FROM] = {.name = "due_from", .type = FIELD_TIME},
    [LIST_DUE_TO] = {.name = "due_to", .type = FIELD_TIME},
    [LIST_Q] = {.name = "q", .type = FIELD_TEXT, .max = DN_ID_MAX},
    [LIST_LIMIT] = {.name = "limit", .type = FIELD_NUMBER, .min = 1, .max = LIST_MAX},
    [LIST_CURSOR] = {.name = "cursor", .type = FIELD_TEXT, .max = DN_ID_MAX},
    {.name = NULL},
};

static bool take_status(exchange *x, uint8_t *out_status) {
    const field_value *v = &x->query.at[LIST_STATUS];
    char               quoted[DN_TEXT_QUOTED];

    if (!v->given) return true;
    for (dn_daily_status s = DN_DAILY_SUCCESS; s <= DN_DAILY_CUTOFF; s++) {
        const char *name = dn_daily_status_text(s);
        if (v->len != strlen(name) || memcmp(v->text, name, v->len) != 0) continue;
        *out_status = (uint8_t)s;
        return true;
    }
    (void)reply_problem(x, 400, "\"status\" must be success or cutoff_reached, not %s",
                        dn_text_quoted(v->text, v->len, quoted));
    return false;
}

/* The cursor is the id after which the next page begins. */
static route_step reply_list(dn_self *self, const api_world *w, exchange *x, const dn_msg *reply) {
    const dn_kv_list_answer *l = dn_msg_body_borrow(reply);

    (void)self, (void)w;
    if (l->status != DN_OK) return reply_store_error(x, l->status);
    json_t *items = json_array();
    for (uint32_t i = 0; i < l->len; i++) reply_append(&items, json_of_user(&l->users[i]));
    return reply_page(x, items, l->more ? json_stringn(l->last, l->last_len) : json_null());
}

static void copy_text(const field_value *v, char out[DN_ID_MAX], uint8_t *out_len) {
    if (v->given) memcpy(out, v->text, v->len);
    *out_len = (uint8_t)v->len;
}

static route_step list_users(dn_self *self, const api_world *w, exchange *x) {
    const field_value *q = x->query.at;
    dn_kv_list         l = {
                .due_from = (uint16_t)field_number(&q[LIST_DUE_FROM], 0),
                .due_to = (uint16_t)field_number(&q[LIST_DUE_TO], DN_DAY_MINUTES - 1),
                .max = (uint16_t)field_number(&q[LIST_LIMIT], LIST_MAX),
    };

    if (!take_status(x, &l.status)) return ROUTE_DONE;
    copy_text(&q[LIST_CURSOR], l.after, &l.after_len);
    copy_text(&q[LIST_Q], l.prefix, &l.prefix_len);
    return exchange_call(self, x, w->kv, MSG_KV_LIST, &l, sizeof l, reply_list);
}

const route routes_users[] = {
    {"GET", USERS, DN_SCOPE_READ, .handler = list_users, .query = list_query},
    {"GET", USERS "/{id}", DN_SCOPE_READ, .handler = get_user},
    {"PUT", USERS "/{id}", DN_SCOPE_OPERATE, ROUTE_JSON, put_user, .members = put_members},
    {"DELETE", USERS "/{id}", DN_SCOPE_OPERATE, .handler = delete_user},
    {.method = NULL},
};
