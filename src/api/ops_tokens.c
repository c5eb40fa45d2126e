/* ops_tokens.c - making, listing and revoking tokens. */
#include "auth/auth.h"
#include "daily/json_user.h"
#include "ops.h"

#include <string.h>

static json_t *token_item(const dn_token *t) {
    return json_pack("{s:I, s:s%, s:s, s:o, s:o}", "id", (json_int_t)t->id, "name", t->name,
                     (size_t)t->name_len, "scope", dn_scope_text(t->scope), "created_at",
                     json_of_instant(t->made_ms), "expires_at",
                     t->ends_ms == INT64_MAX ? json_null() : json_of_instant(t->ends_ms));
}

ask_step op_tokens(dn_self *self, const ops_world *w, ask *a, const dn_msg *reply) {
    json_t *items = json_array();
    size_t  len = 0;

    (void)self, (void)reply;
    for (size_t i = 0; i < w->guard->len; i++)
        len += json_array_append_new(items, token_item(&w->guard->tokens[i])) == 0;
    ask_put(a, "items", items);
    ask_put(a, "next_cursor", json_null()); /* they are few: one page is all of them */
    return len == w->guard->len ? ASK_DONE : ask_refuse(a, "failed", "out of memory");
}

/* ---- Making one ---- */

static bool token_read(dn_self *self, ask *a, dn_token *t) {
    const char *name = NULL, *scope = NULL, *ends = NULL;
    size_t      name_len = 0, scope_len = 0, ends_len = 0;

    if (!ask_text(a, "name", &name, &name_len) || !ask_text(a, "scope", &scope, &scope_len) ||
        !ask_text(a, "expires_at", &ends, &ends_len))
        return false;
    const char *fault = name ? dn_id_fault(name, name_len) : "is missing";
    if (!fault && name_len > DN_TOKEN_NAME_MAX) fault = "is longer than 64 bytes";
    if (fault) {
        (void)ask_refuse(a, "invalid", "\"name\" %s", fault);
        return false;
    }
    t->scope = scope ? dn_scope_read(scope, scope_len) : DN_SCOPE_NONE;
    if (t->scope == DN_SCOPE_NONE) {
        (void)ask_refuse(a, "invalid", "\"scope\" is none of read, operate and admin");
        return false;
    }
    t->ends_ms = INT64_MAX;
    if (ends &&
        (dn_instant_read(ends, ends_len, &t->ends_ms) < 0 || t->ends_ms <= dn_now_ms(self))) {
        (void)ask_refuse(a, "invalid",
                         "\"expires_at\" is no instant to come, as 2030-01-31T08:00:00Z");
        return false;
    }
    t->name_len = (uint8_t)name_len;
    memcpy(t->name, name, name_len);
    return true;
}

static ask_step token_begin(dn_self *self, const ops_world *w, ask *a) {
    char     text[DN_TOKEN_TEXT];
    dn_token t = {.made_ms = dn_now_ms(self)};

    if (!token_read(self, a, &t)) return ASK_REFUSED;
    if (w->guard->len >= DN_TOKENS_MAX)
        return ask_refuse(a, "invalid", "there are %d tokens already: revoke one first",
                          DN_TOKENS_MAX);
    if (dn_token_make(text, t.hash) < 0)
        return ask_refuse(a, "failed", "the system has no randomness for a token");
    ask_put(a, "token", json_string(text));
    return ask_call(self, a, w->kv, MSG_KV_TOKEN_ADD, &t, sizeof t);
}

/* It is shown here, and never again. */
ask_step op_token_make(dn_self *self, const ops_world *w, ask *a, const dn_msg *reply) {
    if (!reply) return token_begin(self, w, a);
    const dn_kv_token_answer *answer = DN_BODY(dn_kv_token_answer, reply);
    if (answer->status != DN_OK) return ask_refuse_status(a, answer->status);
    a->done = true;
    if (guard_add(w->guard, &answer->token) < 0) return ask_refuse(a, "failed", "out of memory");
    json_t *item = token_item(&answer->token);
    if (!item || json_object_update_new(a->answer, item) < 0)
        return ask_refuse(a, "failed", "out of memory");
    return ASK_DONE;
}

/* ---- Revoking one ---- */

/* 0: it is none. */
static uint64_t number_read(const char *text, size_t len) {
    uint64_t n = 0;

    if (len == 0 || len > 18) return 0;
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9') return 0;
        n = n * 10 + (uint64_t)(text[i] - '0');
    }
    return n;
}

ask_step op_token_revoke(dn_self *self, const ops_world *w, ask *a, const dn_msg *reply) {
    const char *text = "";
    size_t      len = 0;

    if (!reply) {
        if (!ask_text(a, "id", &text, &len)) return ASK_REFUSED;
        const uint64_t n = number_read(text, len);
        if (n == 0) return ask_refuse_unknown(a, "token");
        guard_remove(w->guard, n); /* at once, whatever the disk says */
        return ask_call(self, a, w->kv, MSG_KV_TOKEN_REMOVE, &n, sizeof n);
    }
    const dn_kv_token_answer *answer = DN_BODY(dn_kv_token_answer, reply);
    if (answer->status == DN_EDEAD) return ask_refuse_unknown(a, "token");
    if (answer->status != DN_OK) return ask_refuse_status(a, answer->status);
    return ASK_DONE;
}
