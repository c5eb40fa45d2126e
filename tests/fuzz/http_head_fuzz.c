/* http_head_fuzz.c - a head of any bytes is read or refused, in pieces as in one go, and what is read lies in them. */
#include "http/http_head.h"

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void lies_within(http_text t, const char *bytes, size_t len) {
    assert(t.len == 0 || (t.at >= bytes && t.at + t.len <= bytes + len) ||
           (t.len == 1 && *t.at == '/'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char      *bytes = malloc(size ? size : 1);
    size_t     looked_at = 0, again_at = 0, len = 0, again = 0;
    http_fault fault = {0}, same = {0};
    http_head  head;

    if (!bytes) return 0;
    memcpy(bytes, data, size);
    const int whole = http_head_end(bytes, size, &looked_at, &len, &fault);
    int       pieces = DN_PENDING;
    for (size_t have = 1; have <= size && pieces == DN_PENDING; have++)
        pieces = http_head_end(bytes, have, &again_at, &again, &same);
    assert(size == 0 || (pieces == whole && again == len));
    if (whole == DN_OK && http_head_read(bytes, len, &head, &fault) == DN_OK) {
        lies_within(head.method, bytes, len);
        lies_within(head.path, bytes, len);
        lies_within(head.query, bytes, len);
        for (size_t i = 0; i < head.fields_len; i++) {
            lies_within(head.fields[i].name, bytes, len);
            lies_within(head.fields[i].value, bytes, len);
        }
        assert(!(head.chunked && head.content_length >= 0));
    }
    free(bytes);
    return 0;
}
