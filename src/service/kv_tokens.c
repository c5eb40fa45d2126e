/* kv_tokens.c - tokens, for who guards the door. They change seldom, and not in the line: while the disk is full a new one
 * is refused rather than waited for. */
#include "kv.h"

#include <string.h>

static_assert(sizeof(dn_kv_tokens_answer) + DN_TOKENS_MAX * sizeof(dn_token) <= KV_ANSWER_BYTES,
              "all fit into one answer");

int kv_on_tokens(dn_self *self, void *state, const dn_msg *msg) {
    kv                  *k = state;
    dn_kv_tokens_answer *answer = (dn_kv_tokens_answer *)(void *)k->answer;
    size_t               len = 0;

    memset(answer, 0, sizeof *answer);
    answer->status = dn_store_tokens(k->store, answer->tokens, DN_TOKENS_MAX, &len);
    kv_look_at(k, answer->status, "reading tokens");
    answer->len = answer->status == DN_OK ? (uint32_t)len : 0;
    dn_reply(self, msg, MSG_KV_ANSWER, answer, sizeof *answer + answer->len * sizeof(dn_token));
    return DN_OK;
}

/* Writes it at once and replies: on a full disk a token is refused, and does not wait in the line. */
static int write_token(dn_self *self, const kv *k, const dn_msg *msg, const dn_write *write,
                       dn_kv_token_answer answer) {
    dn_write_result result;

    answer.status = dn_store_write(k->store, write, 1, &result, NULL);
    kv_look_at(k, answer.status, "writing a token");
    if (answer.status == DN_OK && result.wrote == DN_WROTE_GONE) answer.status = DN_EDEAD;
    else if (answer.status == DN_OK && write->op == DN_WRITE_TOKEN_ADD)
        answer.token.n = result.token_id;
    dn_reply(self, msg, MSG_KV_ANSWER, &answer, sizeof answer);
    return DN_OK;
}

int kv_on_token_add(dn_self *self, void *state, const dn_msg *msg) {
    const dn_token *token = DN_BODY(dn_token, msg);
    const dn_write  write = {.op = DN_WRITE_TOKEN_ADD, .token_add = {token}};

    return write_token(self, state, msg, &write, (dn_kv_token_answer){.token = *token});
}

int kv_on_token_remove(dn_self *self, void *state, const dn_msg *msg) {
    const uint64_t id = *DN_BODY(uint64_t, msg);
    const dn_write write = {.op = DN_WRITE_TOKEN_REMOVE, .token_remove = {id}};

    return write_token(self, state, msg, &write, (dn_kv_token_answer){.token.n = id});
}
