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

int kv_on_token_add(dn_self *self, void *state, const dn_msg *msg) {
    kv                *k = state;
    dn_kv_token_answer answer = {.token = *DN_BODY(dn_token, msg)};

    answer.status = dn_store_token_add(k->store, &answer.token);
    kv_look_at(k, answer.status, "making a token");
    dn_reply(self, msg, MSG_KV_ANSWER, &answer, sizeof answer);
    return DN_OK;
}

int kv_on_token_remove(dn_self *self, void *state, const dn_msg *msg) {
    kv                *k = state;
    dn_kv_token_answer answer = {.token.n = *DN_BODY(uint64_t, msg)};

    answer.status = dn_store_token_remove(k->store, answer.token.n);
    kv_look_at(k, answer.status, "revoking a token");
    dn_reply(self, msg, MSG_KV_ANSWER, &answer, sizeof answer);
    return DN_OK;
}
