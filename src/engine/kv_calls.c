/* kv_calls.c - the part of kv that every path shares: tokens, the outbox, the status. */
#include "kv_own.h"

#include <string.h>

/* ---- Tokens ---- */

static_assert(sizeof(dn_kv_tokens_answer) + DN_TOKENS_MAX * sizeof(dn_token) <= DN_KV_ANSWER_BYTES,
              "one answer holds all tokens");

static int on_tokens(dn_self *self, dn_kv *k, void *part, const dn_msg *msg) {
    dn_kv_tokens_answer *answer = dn_kv_scratch_borrow(k);
    size_t               len = 0;

    (void)part;
    memset(answer, 0, sizeof *answer);
    answer->status = dn_store_tokens(k->store, answer->tokens, DN_TOKENS_MAX, &len);
    dn_kv_expect_store(k, answer->status, "reading tokens");
    answer->len = answer->status == DN_OK ? (uint32_t)len : 0;
    dn_reply(self, msg, MSG_KV_ANSWER, answer, sizeof *answer + answer->len * sizeof(dn_token));
    return DN_OK;
}

static void token_add_fill(void *part, const void *entry, dn_kv_instant now, dn_write *write) {
    (void)part, (void)now;
    write->op = DN_WRITE_TOKEN_ADD;
    write->token_add.token = entry;
}

static void token_add_answer(dn_self *self, dn_kv *k, const dn_msg *request,
                             const dn_write_result *results, size_t len, int status) {
    dn_kv_token_answer answer = {.status = status};

    (void)k, (void)len;
    if (status != DN_EINVAL) answer.token = *DN_BODY(dn_token, request);
    if (status == DN_OK) answer.token.id = results->token_id;
    dn_reply(self, request, MSG_KV_ANSWER, &answer, sizeof answer);
}

static void token_remove_fill(void *part, const void *entry, dn_kv_instant now, dn_write *write) {
    (void)part, (void)now;
    write->op = DN_WRITE_TOKEN_REMOVE;
    write->token_remove.id = *(const uint64_t *)entry;
}

static void token_remove_answer(dn_self *self, dn_kv *k, const dn_msg *request,
                                const dn_write_result *results, size_t len, int status) {
    dn_kv_token_answer answer = {.status = status};

    (void)k, (void)len;
    if (status != DN_EINVAL) answer.token.id = *DN_BODY(uint64_t, request);
    if (status == DN_OK && results->wrote == DN_WROTE_GONE) answer.status = DN_EDEAD;
    dn_reply(self, request, MSG_KV_ANSWER, &answer, sizeof answer);
}

static int token_check(const dn_msg *msg) {
    return dn_msg_size(msg) == sizeof(dn_token) ? DN_OK : DN_EINVAL;
}

static int token_number_check(const dn_msg *msg) {
    return dn_msg_size(msg) == sizeof(uint64_t) ? DN_OK : DN_EINVAL;
}

/* ---- The outbox ---- */

enum { OUTBOX_ANSWER_MAX = 64 };

static int on_outbox(dn_self *self, dn_kv *k, void *part, const dn_msg *msg) {
    dn_kv_outbox_answer *answer = dn_kv_scratch_borrow(k);
    const int64_t        now_ms = dn_kv_outbox_ms(self, k);
    int64_t              next_ms = INT64_MAX;
    size_t               len = 0;

    (void)part;
    memset(answer, 0, sizeof *answer);
    answer->status =
        dn_store_outbox(k->store, now_ms, answer->hooks, OUTBOX_ANSWER_MAX, &len, &next_ms);
    answer->wait_ms = next_ms == INT64_MAX ? INT64_MAX : next_ms - now_ms;
    dn_kv_expect_store(k, answer->status, "reading the outbox");
    answer->len = answer->status == DN_OK ? (uint32_t)len : 0;
    dn_reply(self, msg, MSG_KV_ANSWER, answer, sizeof *answer + answer->len * sizeof(dn_hook));
    return DN_OK;
}

static void outbox_fill(void *part, const void *entry, dn_kv_instant now, dn_write *write) {
    const dn_outbox_outcome *o = entry;

    (void)part;
    if (o->done) {
        write->op = DN_WRITE_OUTBOX_DONE;
        write->outbox_done.id = o->id;
        return;
    }
    write->op = DN_WRITE_OUTBOX_LATER;
    write->outbox_later.id = o->id;
    write->outbox_later.attempts = o->attempts;
    write->outbox_later.next_ms = now.outbox_ms + dn_hook_delay_ms(o->attempts);
}

static int outbox_check(const dn_msg *msg) {
    return dn_msg_size(msg) == sizeof(dn_outbox_outcome) ? DN_OK : DN_EINVAL;
}

/* ---- The status ---- */

static int on_status(dn_self *self, dn_kv *k, void *part, const dn_msg *msg) {
    (void)part;
    k->status.waiting = k->line.entries;
    k->status.full = k->full;
    for (size_t i = 0; i < k->config->parts_len; i++)
        if (k->config->parts[i]->report) k->config->parts[i]->report(k->parts[i], &k->status);
    k->status.ledger_since = dn_store_ledger_since(k->store);
    dn_reply(self, msg, MSG_STATUS, &k->status, sizeof k->status);
    return DN_OK;
}

/* ---- The tables ---- */

static const dn_kv_write_kind writes[] = {
    {.message = MSG_KV_OUTBOX_DONE, .name = "outbox", .check = outbox_check, .fill = outbox_fill},
    {.message = MSG_KV_TOKEN_ADD,
     .name = "token",
     .check = token_check,
     .fill = token_add_fill,
     .answer = token_add_answer},
    {.message = MSG_KV_TOKEN_REMOVE,
     .name = "token",
     .check = token_number_check,
     .fill = token_remove_fill,
     .answer = token_remove_answer},
};

static const dn_kv_handler handlers[] = {
    {MSG_KV_STATUS, on_status},
    {MSG_KV_OUTBOX, on_outbox},
    {MSG_KV_TOKENS, on_tokens},
};

const dn_kv_part dn_kv_common_part = {
    .name = "common",
    .writes = writes,
    .writes_len = sizeof writes / sizeof *writes,
    .handlers = {{handlers, sizeof handlers / sizeof *handlers}},
};
