/* text_out.h - pieces of JSON, written by hand into a buffer that has room; each returns where it ended. */
#ifndef DIURNAL_REPLAY_TEXT_OUT_H
#define DIURNAL_REPLAY_TEXT_OUT_H

#include "diurnal/base.h"

#include <string.h>

static inline char *text_out_words(char *at, const char *words) {
    const size_t len = strlen(words);

    memcpy(at, words, len); /* NOLINT(bugprone-not-null-terminated-result): more comes behind */
    return at + len;
}

char *text_out_number(char *at, int64_t value);
char *text_out_real(char  *at,
                    double value); /* as short as it can be read back; null for what is no number */

/* In quotes, and escaped: UTF-8 as it is, control characters and the two that JSON wants escaped as such. At most
 * 6 bytes for one; room for 8 more than that is used. */
char *text_out_string(char *at, const char *text, size_t len);

#endif
