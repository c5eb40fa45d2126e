/* text.h - checks and quotes text from outside, and says why something is refused. Any thread. */
#ifndef DIURNAL_BASE_TEXT_H
#define DIURNAL_BASE_TEXT_H

#include "diurnal/base.h"

/* Bytes as a sentence may quote them, in quotes: what is no printable UTF-8 becomes \xNN, and what is too long
 * ends in an ellipsis. Returns out. */
enum { DN_TEXT_QUOTED = 128 };
const char *dn_text_quoted(const char *bytes, size_t len, char out[DN_TEXT_QUOTED]);

/* NULL: printable UTF-8, or nothing at all. Else what it is not, as the end of a sentence about it. */
const char *dn_text_fault(const char *bytes, size_t len);

/* Writes the sentence why something was refused, of at most size - 1 bytes, and returns the code: so that refusing is one
 * statement. Control characters become spaces, because such sentences are quoted in logs. why may be NULL. */
int dn_refuse(int code, char *why, size_t size, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The nearest of len names to one that is none of them, or NULL if none is near. */
const char *dn_text_nearest(const char *wrong, size_t wrong_len, const char *const *names,
                            size_t len);

/* Reads the first UTF-8 character of text. Returns its length in bytes; 0 if the text is empty or not UTF-8, and
 * out_char is untouched. */
size_t dn_utf8_read(const char *text, size_t len, uint32_t *out_char);

/* ---- For who writes ids into JSON, millions of times ---- */

#define DN_TEXT_EACH(value) (UINT64_C(0x0101010101010101) * (value))

/* May one of eight bytes want to be escaped? It may say so of a plain one; never the other way. Below # are a space and !,
 * which ids seldom have, the control characters and ". */
static inline bool dn_text_may_escape(uint64_t eight) {
    const uint64_t slashes = eight ^ DN_TEXT_EACH('\\');
    const uint64_t below = (eight - DN_TEXT_EACH('#')) & ~eight;

    return (below | ((slashes - DN_TEXT_EACH(1)) & ~slashes)) & DN_TEXT_EACH(0x80);
}

#endif
