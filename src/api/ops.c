/* ops.c - the table of requests, and what all of them need. */
#include "ops.h"

#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALL_MS = 30000, LONG_CALL_MS = 3600000 };

typedef struct op {
    const char *name;
    op_fn      *step;
} op;

static const op ops[] = {
    {"remove", op_remove},
    {"user", op_user},
    {"list", op_list},
    {"numbers", op_numbers},
    {"day", op_day},
    {"why", op_why},
    {"today", op_today},
    {"status", op_status},
    {"backup", op_backup},
    {"put", op_put},
    {"days", op_days},
    {"history", op_history},
    {"slo", op_slo},
    {"actors", op_actors},
    {"running", op_running},
    {"tokens", op_tokens},
    {"token_make", op_token_make},
    {"token_revoke", op_token_revoke},
};

static const op *op_find(const char *name) {
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
        if (strcmp(ops[i].name, name) == 0) return &ops[i];
    return NULL;
}

/* Memory that ran out while the answer was put together is found here, once. */
static ask_step stepped(ask *a, ask_step step) {
    if (step == ASK_DONE) a->done = true;
    if (step == ASK_DONE && !a->answer) return ask_refuse(a, "failed", "out of memory");
    return step;
}

ask_step ask_begin(dn_self *self, const ops_world *w, ask *a, json_t *request) {
    const json_t *name = json_object_get(request, "op");

    *a = (ask){.request = request, .day = DN_DAY_NONE};
    if (!json_is_object(request) || !json_is_string(name))
        return ask_refuse(a, "invalid", "a request is an object with \"op\", a text");
    a->op = op_find(json_string_value(name));
    if (!a->op)
        return ask_refuse(a, "invalid",
                          "there is no op of that name; the daemon may be an older one");
    a->answer = json_pack("{s:b}", "done", 1);
    return stepped(a, a->op->step(self, w, a, NULL));
}

ask_step ask_go_on(dn_self *self, const ops_world *w, ask *a, const dn_msg *reply) {
    a->call = 0;
    if (dn_msg_kind(reply) == DN_MSG_CALL_FAILED) {
        if (a->whole) return stepped(a, ASK_DONE);
        a->unsure = true; /* it lies in a mailbox, or was done and then not told */
        return ask_refuse(a, "unavailable", "the daemon cannot answer now: %s; try again",
                          dn_error_text(DN_BODY(dn_call_failed, reply)->status));
    }
    a->stage++;
    return stepped(a, a->op->step(self, w, a, reply));
}

void ask_done(ask *a) {
    json_decref(a->request);
    json_decref(a->answer);
    free(a->past);
    *a = (ask){0};
}

ask_step ask_refuse(ask *a, const char *code, const char *format, ...) {
    va_list args;

    a->code = code;
    va_start(args, format);
    (void)vsnprintf(a->why, sizeof a->why, format, args);
    va_end(args);
    return ASK_REFUSED;
}

ask_step ask_refuse_unknown(ask *a, const char *what) {
    const json_t *id = json_object_get(a->request, "id");
    char          quoted[DN_TEXT_QUOTED];

    return ask_refuse(a, "not_found", "there is no such %s: %s", what,
                      dn_text_quoted(json_string_value(id), json_string_length(id), quoted));
}

ask_step ask_refuse_status(ask *a, int status) {
    if (status == DN_EDEAD) return ask_refuse_unknown(a, "user");
    if (status == DN_EFULL)
        return ask_refuse(a, "full",
                          "the disk is full: nothing was written; make room, and try again");
    if (status == DN_EAWAY)
        return ask_refuse(
            a, "unavailable",
            "the store cannot be reached: the change may have been written; try again");
    return ask_refuse(a, "failed", "%s", dn_error_text(status));
}

static ask_step call_for(dn_self *self, ask *a, dn_ref to, uint32_t kind, const void *body,
                         size_t size, int64_t timeout_ms) {
    const int rc = dn_call(self, to, kind, body, size, timeout_ms, &a->call);

    if (rc == DN_OK) return ASK_WAITS;
    a->call = 0;
    return ask_refuse(a, "unavailable", "the daemon cannot answer now: %s; try again",
                      dn_error_text(rc));
}

ask_step ask_call(dn_self *self, ask *a, dn_ref to, uint32_t kind, const void *body, size_t size) {
    return call_for(self, a, to, kind, body, size, CALL_MS);
}

ask_step ask_call_long(dn_self *self, ask *a, dn_ref to, uint32_t kind, const void *body,
                       size_t size) {
    return call_for(self, a, to, kind, body, size, LONG_CALL_MS);
}

ask_step ask_call_for_more(dn_self *self, ask *a, dn_ref to, uint32_t kind, const void *body,
                           size_t size) {
    a->whole = true;
    return dn_call(self, to, kind, body, size, CALL_MS, &a->call) == DN_OK ? ASK_WAITS : ASK_DONE;
}

void ask_put(ask *a, const char *key, json_t *value) {
    if (a->answer && value && json_object_set_new(a->answer, key, value) == 0) return;
    json_decref(a->answer);
    a->answer = NULL;
}

/* ---- Members of the request ---- */

bool ask_text(ask *a, const char *key, const char **out_text, size_t *out_len) {
    const json_t *value = json_object_get(a->request, key);

    if (!value || json_is_null(value)) return true;
    if (!json_is_string(value)) {
        (void)ask_refuse(a, "invalid", "\"%s\" is not a text", key);
        return false;
    }
    *out_text = json_string_value(value);
    *out_len = json_string_length(value);
    return true;
}

bool ask_number(ask *a, const char *key, int64_t least, int64_t most, int64_t *out_number) {
    const json_t *value = json_object_get(a->request, key);

    if (!value || json_is_null(value)) return true;
    if (!json_is_integer(value) || json_integer_value(value) < least ||
        json_integer_value(value) > most) {
        (void)ask_refuse(a, "invalid", "\"%s\" is not a whole number from %lld to %lld", key,
                         (long long)least, (long long)most);
        return false;
    }
    *out_number = json_integer_value(value);
    return true;
}

bool ask_day(ask *a, const char *key, dn_day *out_day) {
    const char *text = NULL;
    size_t      len = 0;

    if (!ask_text(a, key, &text, &len)) return false;
    if (!text || dn_day_read(text, len, out_day) == DN_OK) return true;
    char quoted[DN_TEXT_QUOTED];
    (void)ask_refuse(a, "invalid", "\"%s\" is not a date there is (YYYY-MM-DD): %s", key,
                     dn_text_quoted(text, len, quoted));
    return false;
}

bool ask_id(ask *a, dn_kv_id *out_id) {
    const char *text = NULL;
    size_t      len = 0;

    if (!ask_text(a, "id", &text, &len)) return false;
    const char *fault = text ? dn_id_fault(text, len) : "is missing";
    if (fault) {
        (void)ask_refuse(a, "invalid", "the id %s", fault);
        return false;
    }
    *out_id = (dn_kv_id){.len = (uint8_t)len};
    memcpy(out_id->id, text, len);
    return true;
}
