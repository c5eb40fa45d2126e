/* exec_output.c - see exec_output.h. The buffer grows to twice max before its second half moves to the front. */
#include "exec_output.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE_MIN = 256 };

static bool output_is_sound(const exec_output *o) {
    return o->max > 0 && o->len <= o->size && o->size <= 2 * o->max && (o->bytes || o->size == 0);
}

static void keep_last(exec_output *o, size_t len) {
    if (o->len <= len) return;
    memmove(o->bytes, o->bytes + o->len - len, len);
    o->len = len;
    o->truncated = true;
}

static bool grow(exec_output *o, size_t wanted) {
    size_t size = 2 * wanted < SIZE_MIN ? SIZE_MIN : 2 * wanted;

    if (size > 2 * o->max) size = 2 * o->max;
    char *grown = realloc(o->bytes, size);
    if (!grown) return false;
    o->bytes = grown;
    o->size = size;
    return true;
}

void exec_output_add(exec_output *o, const char *data, size_t len) {
    assert(output_is_sound(o));
    if (len > o->max) {
        data += len - o->max;
        len = o->max;
        keep_last(o, 0);
        o->truncated = true;
    }
    if (o->len + len > 2 * o->max) keep_last(o, o->max - len);
    if (o->len + len > o->size && !grow(o, o->len + len)) {
        o->len = 0;
        o->truncated = true;
        if (len > o->size) return;
    }
    if (len > 0) memcpy(o->bytes + o->len, data, len);
    o->len += len;
    assert(output_is_sound(o));
}

void exec_output_trim(exec_output *o) { keep_last(o, o->max); }

void exec_output_done(exec_output *o) {
    free(o->bytes);
    o->bytes = NULL;
    o->len = o->size = 0;
}
