/* http_body_fuzz.c - a body of any bytes ends or is refused at the same byte, in pieces as in one go, and what is said to be
 * the body's lies in them. The first byte says what the head said of it. */
#include "http/http_body.h"

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct outcome {
    int    rc;
    bool   ended;
    size_t used, body_len;
    char  *body; /* as long as the input */
} outcome;

static outcome take(const http_head *head, const char *bytes, size_t len, size_t piece_max) {
    outcome   o = {.body = malloc(len ? len : 1)};
    http_body b;

    assert(o.body);
    http_body_begin(&b, head);
    while (o.rc == DN_OK && !http_body_has_ended(&b) && o.used < len) {
        const size_t left = len - o.used, piece = left < piece_max ? left : piece_max;
        size_t       taken = 0;
        http_text    said;
        http_fault   fault = {0};
        o.rc = http_body_take(&b, bytes + o.used, piece, &taken, &said, &fault);
        if (o.rc < 0) {
            assert(fault.status == 400 && fault.detail);
            break;
        }
        assert(taken > 0 && taken <= piece && o.body_len + said.len <= len);
        assert(said.at >= bytes && said.at + said.len <= bytes + o.used + piece);
        memcpy(o.body + o.body_len, said.at, said.len);
        o.body_len += said.len;
        o.used += taken;
    }
    o.ended = http_body_has_ended(&b);
    return o;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    const http_head head = {.chunked = data[0] & 1,
                            .content_length = data[0] & 1 ? -1 : data[0] >> 1};
    const char     *bytes = (const char *)data + 1;
    const outcome   whole = take(&head, bytes, size - 1, SIZE_MAX);
    const outcome   single = take(&head, bytes, size - 1, 1);

    assert(whole.rc == single.rc);
    if (whole.rc == DN_OK) {
        assert(whole.ended == single.ended && whole.used == single.used);
        assert(whole.body_len == single.body_len);
        assert(memcmp(whole.body, single.body, whole.body_len) == 0);
    }
    free(whole.body);
    free(single.body);
    return 0;
}
