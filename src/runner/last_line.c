/* last_line.c - see last_line.h. */
#define _GNU_SOURCE /* memrchr */
#include "last_line.h"

#include <stdbool.h>
#include <string.h>

static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

const char *dn_last_line(const char *text, size_t len, size_t *out_len) {
    while (len > 0 && is_blank(text[len - 1])) len--;
    const char *newline = len > 0 ? memrchr(text, '\n', len) : NULL;
    const char *line = newline ? newline + 1 : text;
    const char *end = text + len;

    while (line < end && is_blank(*line)) line++;
    *out_len = (size_t)(end - line);
    return line;
}
