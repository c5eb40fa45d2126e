/* ops_users.c - registering, reading and removing users. */
#include "actor/pipe.h"
#include "daily/json_user.h"
#include "ops.h"

#include "base/text.h"

#include <assert.h>
#include <string.h>

enum { LIST_MAX = 500, NUMBERS_MAX = 4096 };

/* ---- put: one user, and what it is then ---- */

/* NULL: it is one, and *out_set is it but for its id; else what is wrong with it. */
static const char *set_read(const json_t *user, dn_kv_set *out_set) {
    const json_t *due = json_object_get(user, "due"),
                 *starts_on = json_object_get(user, "starts_on");
    uint32_t  minute;
    dn_kv_set s = {.starts_on = DN_DAY_NONE};

    if (!json_is_string(due) ||
        dn_due_read(json_string_value(due), json_string_length(due), &minute) < 0)
        return "due is not HH:MM, from 00:00 to 23:59";
    if (starts_on && !json_is_null(starts_on)) {
        if (!json_is_string(starts_on)) return "starts_on is neither YYYY-MM-DD nor today";
        s.letter = strcmp(json_string_value(starts_on), "today") == 0;
        if (!s.letter && dn_day_read(json_string_value(starts_on), json_string_length(starts_on),
                                     &s.starts_on) < 0)
            return "starts_on is neither YYYY-MM-DD nor today";
    }
    s.due = (uint16_t)minute;
    *out_set = s;
    return NULL;
}

/* "tomorrow": it was not said when it begins, and today's cutoff has passed. */
static json_t *set_item(dn_self *self, const dn_kv_set_answer *s, const json_t *user) {
    const json_t *asked = json_object_get(user, "starts_on");
    const bool    is_new = s->wrote == DN_WROTE_NEW, silent = !asked || json_is_null(asked);

    return json_pack("{s:b, s:o, s:b}", "new", is_new, "starts_on", json_of_day(s->user.starts_on),
                     "tomorrow",
                     is_new && silent && s->user.starts_on > dn_day_of_ms(dn_now_ms(self)));
}

enum { PUT_SET = 1, PUT_USER };

static ask_step put_begin(dn_self *self, const ops_world *w, ask *a) {
    dn_kv_set set;
    dn_kv_id  id;

    if (!ask_id(a, &id)) return ASK_REFUSED;
    const char *fault = set_read(a->request, &set);
    if (fault) return ask_refuse(a, "invalid", "%s", fault);
    set.id_len = id.len;
    dn_kv_set *entry = (dn_kv_set *)(void *)w->scratch;
    memset(entry, 0, dn_pipe_stride(sizeof set + set.id_len));
    *entry = set;
    memcpy(entry->id, id.id, id.len);
    return ask_call(self, a, w->kv, MSG_KV_SET, entry, dn_pipe_stride(sizeof set + set.id_len));
}

static ask_step put_read(dn_self *self, const ops_world *w, ask *a, const dn_msg *reply) {
    const dn_kv_set_answer *s = DN_BODY(dn_kv_set_answer, reply);
    dn_kv_id                id;

    if (s->status != DN_OK) return ask_refuse_status(a, s->status);
    json_t *said = set_item(self, s, a->request);
    if (!said || json_object_update_new(a->answer, said) < 0)
        return ask_refuse(a, "failed", "out of memory");
    return ask_id(a, &id) ? ask_call(self, a, w->kv, MSG_KV_USER, &id, sizeof id) : ASK_REFUSED;
}

ask_step op_put(dn_self *self, const ops_world *w, ask *a, const dn_msg *reply) {
    if (a->stage == PUT_SET) return put_read(self, w, a, reply);
    if (a->stage != PUT_USER) return put_begin(self, w, a);
    const dn_kv_user_answer *answer = DN_BODY(dn_kv_user_answer, reply);
    if (answer->status != DN_OK) return ask_refuse_status(a, answer->status);
    ask_put(a, "user", json_of_user(&answer->user));
    return ASK_DONE;
}

/* ---- one user ---- */

static ask_step one_user(dn_self *self, const ops_world *w, ask *a, const dn_msg *reply,
                         uint32_t kind) {
    dn_kv_id id;

    if (!reply)
        return ask_id(a, &id) ? ask_call(self, a, w->kv, kind, &id, sizeof id) : ASK_REFUSED;
    const dn_kv_user_answer *answer = DN_BODY(dn_kv_user_answer, reply);
    if (answer->status != DN_OK) return ask_refuse_status(a, answer->status);
    ask_put(a, "user", json_of_user(&answer->user));
    return ASK_DONE;
}

ask_step op_user(dn_self *self, const ops_world *w, ask *a, const dn_msg *reply) {
    return one_user(self, w, a, reply, MSG_KV_USER);
}

ask_step op_remove(dn_self *self, const ops_world *w, ask *a, const dn_msg *reply) {
    return one_user(self, w, a, reply, MSG_KV_REMOVE);
}

/* ---- list ---- */

static bool list_text(ask *a, const char *key, char out[DN_ID_MAX], uint8_t *out_len) {
    const char *text = "";
    size_t      len = 0;

    if (!ask_text(a, key, &text, &len)) return false;
    if (len > DN_ID_MAX) {
        (void)ask_refuse(a, "invalid", "\"%s\" is longer than %d bytes", key, DN_ID_MAX);
        return false;
    }
    memcpy(out, text, len);
    *out_len = (uint8_t)len;
    return true;
}

static bool list_due(ask *a, const char *key, uint16_t *out_due) {
    const char *text = NULL;
    size_t      len = 0;
    uint32_t    due;

    if (!ask_text(a, key, &text, &len)) return false;
    if (!text) return true;
    if (dn_due_read(text, len, &due) < 0) {
        char quoted[DN_TEXT_QUOTED];
        (void)ask_refuse(a, "invalid", "\"%s\" is not HH:MM, from 00:00 to 23:59: %s", key,
                         dn_text_quoted(text, len, quoted));
        return false;
    }
    *out_due = (uint16_t)due;
    return true;
}

static bool list_status(ask *a, uint8_t *out_status) {
    const char *text = NULL;
    size_t      len = 0;

    if (!ask_text(a, "status", &text, &len)) return false;
    if (!text) return true;
    for (dn_daily_status s = DN_DAILY_SUCCESS; s <= DN_DAILY_CUTOFF; s++) {
        const char *words = dn_daily_status_text(s);
        if (len != strlen(words) || memcmp(text, words, len) != 0) continue;
        *out_status = (uint8_t)s;
        return true;
    }
    char quoted[DN_TEXT_QUOTED];
    (void)ask_refuse(a, "invalid", "\"status\" is neither success nor cutoff_reached: %s",
                     dn_text_quoted(text, len, quoted));
    return false;
}

static ask_step list_begin(dn_self *self, const ops_world *w, ask *a) {
    dn_kv_list l = {.due_to = DN_DAY_MINUTES - 1};
    int64_t    max = LIST_MAX;

    if (!list_text(a, "after", l.after, &l.after_len) ||
        !list_text(a, "prefix", l.prefix, &l.prefix_len) || !list_due(a, "due_from", &l.due_from) ||
        !list_due(a, "due_to", &l.due_to) || !list_status(a, &l.status) ||
        !ask_number(a, "max", 1, LIST_MAX, &max))
        return ASK_REFUSED;
    l.max = (uint16_t)max;
    return ask_call(self, a, w->kv, MSG_KV_LIST, &l, sizeof l);
}

ask_step op_list(dn_self *self, const ops_world *w, ask *a, const dn_msg *reply) {
    if (!reply) return list_begin(self, w, a);
    const dn_kv_list_answer *l = dn_msg_body_borrow(reply);
    json_t                  *items = json_array();

    if (l->status != DN_OK) {
        json_decref(items);
        return ask_refuse_status(a, l->status);
    }
    for (uint32_t i = 0; i < l->len; i++)
        (void)json_array_append_new(items, json_of_user(&l->users[i]));
    const bool whole = json_array_size(items) == l->len;
    ask_put(a, "items", items);
    ask_put(a, "more", json_boolean(l->more));
    ask_put(a, "last", json_stringn(l->last, l->last_len));
    return whole ? ASK_DONE : ask_refuse(a, "failed", "out of memory");
}

/* ---- by number, for the audit ---- */

static json_t *number_item(const dn_change *c) {
    return json_pack("[I, i, i, I, I, i, s%]", (json_int_t)c->n, (int)c->due, (int)c->starts_on,
                     (json_int_t)c->last_day, (json_int_t)c->recorded, (int)c->status, c->id,
                     (size_t)c->id_len);
}

ask_step op_numbers(dn_self *self, const ops_world *w, ask *a, const dn_msg *reply) {
    int64_t after = 0, max = NUMBERS_MAX;
    int64_t len = 0;

    if (!reply) {
        if (!ask_number(a, "after", 0, INT64_MAX, &after) ||
            !ask_number(a, "max", 1, NUMBERS_MAX, &max))
            return ASK_REFUSED;
        const uint64_t after_n = (uint64_t)after;
        return ask_call(self, a, w->kv, MSG_KV_LOAD, &after_n, sizeof after_n);
    }
    if (!ask_number(a, "max", 1, NUMBERS_MAX, &max)) return ASK_REFUSED;
    json_t *items = json_array();
    for (DN_PIPE_EACH_ID(dn_change, c, reply)) {
        if (len == max) break;
        (void)json_array_append_new(items, number_item(c));
        len++;
    }
    const bool whole = json_array_size(items) == (size_t)len;
    ask_put(a, "items", items);
    return whole ? ASK_DONE : ask_refuse(a, "failed", "out of memory");
}
