/* request.c - see request.h. Written by hand: seven fields, in this order, hundreds of times a second. */
#include "request.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static const char hex[] = "0123456789abcdef";
static const char HEX[] = "0123456789ABCDEF";

static const char *verb(const dn_run_request *r) {
    return r->type == DN_RUN_CUTOFF ? "cutoff" : "daily";
}

/* What JSON demands to be escaped, and nothing more: an id is UTF-8 already. */
static char *json_text(char *at, const char *text, size_t len) {
    for (size_t i = 0; i < len; i++) {
        const unsigned char c = (unsigned char)text[i];
        if (c == '"' || c == '\\') {
            *at++ = '\\';
            *at++ = (char)c;
        } else if (c < 0x20 || c == 0x7f) {
            memcpy(at, "\\u00", 4);
            at[4] = hex[c >> 4];
            at[5] = hex[c & 15];
            at += 6;
        } else {
            *at++ = (char)c;
        }
    }
    *at = '\0';
    return at;
}

size_t request_body(const dn_run_request *r, char body[REQUEST_BODY_MAX]) {
    char id[6 * DN_ID_MAX + 1], day[DN_DAY_TEXT], due[DN_DUE_TEXT], deadline[DN_INSTANT_TEXT];

    assert(r->user_id_len <= DN_ID_MAX);
    (void)json_text(id, r->user_id, r->user_id_len);
    dn_day_write(r->day, day);
    dn_due_write(r->due, due);
    dn_instant_write(r->now_ms + r->timeout_ms, deadline);
    const int len =
        snprintf(body, REQUEST_BODY_MAX,
                 "{\"type\":\"daily.%s\",\"user_id\":\"%s\",\"day\":\"%s\",\"due\":\"%s\","
                 "\"attempt\":%u,\"context_epoch\":%u,\"deadline\":\"%s\"}",
                 r->type == DN_RUN_CUTOFF ? "cutoff" : "run", id, day, due, r->attempt,
                 r->context_epoch, deadline);
    assert(len > 0 && len < REQUEST_BODY_MAX);
    return (size_t)len;
}

static void write_key(const dn_run_request *r, bool escape_dots, char key[REQUEST_KEY_MAX]) {
    char *at = key + snprintf(key, REQUEST_KEY_MAX, "%s:", verb(r));
    char  day[DN_DAY_TEXT];

    assert(r->user_id_len <= DN_ID_MAX);
    for (size_t i = 0; i < r->user_id_len; i++) {
        const unsigned char c = (unsigned char)r->user_id[i];
        if (c > 0x20 && c < 0x7f && c != '%' && !(escape_dots && c == '.')) {
            *at++ = (char)c;
        } else {
            *at++ = '%';
            *at++ = HEX[c >> 4];
            *at++ = HEX[c & 15];
        }
    }
    dn_day_write(r->day, day);
    *at++ = ':';
    memcpy(at, day, strlen(day) + 1);
}

void request_key(const dn_run_request *r, char key[REQUEST_KEY_MAX]) {
    write_key(r, /* escape_dots= */ false, key);
}

void request_webhook_id(const dn_run_request *r, char id[REQUEST_KEY_MAX]) {
    write_key(r, /* escape_dots= */ true, id);
}
