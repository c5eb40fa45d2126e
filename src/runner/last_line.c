/* last_line.c - see last_line.h. */
#define _GNU_SOURCE /* memrchr */
#include "last_line.h"

#include <stdlib.h>
#include <string.h>

static bool is_blank_char(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static size_t blanks_before(const char *data, size_t len) {
    size_t blanks = 0;

    while (blanks < len && is_blank_char(data[blanks])) blanks++;
    return blanks;
}

static void begin(last_line *l) {
    l->len = 0;
    l->ended = l->cut_short = false;
}

static void append(last_line *l, const char *data, size_t len) {
    const size_t room = l->max - l->len;

    if (len > room) {
        l->cut_short = l->cut_short || blanks_before(data + room, len - room) < len - room;
        len = room;
    }
    if (l->len + len > l->size) {
        size_t size = 2 * (l->len + len);
        if (size < 256) size = 256;
        if (size > l->max) size = l->max;
        char *grown = realloc(l->text, size);
        if (!grown) {
            l->cut_short = true;
            return;
        }
        l->text = grown;
        l->size = size;
    }
    if (len > 0) memcpy(l->text + l->len, data, len);
    l->len += len;
}

/* How much of data comes before its last line that is not blank: of a flood all but that is skipped. 0 if data is
 * blank, or within one line. */
static size_t superseded(const char *data, size_t len) {
    while (len > 0 && is_blank_char(data[len - 1])) len--;
    const char *newline = memrchr(data, '\n', len);
    return newline ? (size_t)(newline - data) + 1 : 0;
}

void last_line_add(last_line *l, const char *data, size_t len) {
    const size_t skip = superseded(data, len);

    if (skip > 0) {
        begin(l);
        data += skip;
        len -= skip;
    }
    while (len > 0) {
        const char  *newline = memchr(data, '\n', len);
        const size_t piece = newline ? (size_t)(newline - data) : len;
        const size_t blanks = l->ended || l->len == 0 ? blanks_before(data, piece) : 0;
        if (blanks < piece) {
            /* A finished line goes only when there is something to take its place. */
            if (l->ended) begin(l);
            append(l, data + blanks, piece - blanks);
        }
        if (!newline) return;
        l->ended = l->len > 0;
        data += piece + 1;
        len -= piece + 1;
    }
}

void last_line_done(last_line *l) {
    free(l->text);
    l->text = NULL;
    l->len = l->size = 0;
}
