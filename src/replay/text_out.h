/* text_out.h - pieces of JSON, written by hand into a buffer that has room; each returns where it ended. */
#ifndef DIURNAL_REPLAY_TEXT_OUT_H
#define DIURNAL_REPLAY_TEXT_OUT_H

#include "base/text.h"

#include <string.h>

static inline char *text_out_words(char *at, const char *words) {
    const size_t len = strlen(words);

    memcpy(at, words, len); /* NOLINT(bugprone-not-null-terminated-result): more comes behind */
    return at + len;
}

char *text_out_number(char *at, int64_t value);

/* "HH:MM:SS.mmm" of a day's milliseconds, over the text of an instant of the same day: what stands between the digits is
 * there. */
void  text_out_time(char *at, uint32_t ms);
char *text_out_real(char  *at,
                    double value); /* as short as it can be read back; null for what is no number */

/* In quotes, and escaped: UTF-8 as it is, control characters and the two that JSON wants escaped as such. At most
 * 6 bytes for one; room for 8 more than that is used. */
char *text_out_string(char *at, const char *text, size_t len);

/* ---- The same of an id, millions of times ---- */

/* Most ids have four to eight bytes, and nothing in them is escaped: read and written as two halves, which overlap and
 * agree where they do, they need no loop. */
static inline char *text_out_id(char *at, const char *id, size_t len) {
    uint32_t first, last;

    if (len < sizeof first || len > 2 * sizeof first) return text_out_string(at, id, len);
    memcpy(&first, id, sizeof first);
    memcpy(&last, id + len - sizeof last, sizeof last);
    if (dn_text_may_escape(first | (uint64_t)last << 32)) return text_out_string(at, id, len);
    *at++ = '"';
    memcpy(at, &first, sizeof first);
    memcpy(at + len - sizeof last, &last, sizeof last);
    at[len] = '"';
    return at + len + 1;
}

#endif
