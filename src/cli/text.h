/* text.h - text of others, read and shown with care. Any thread. */
#ifndef DIURNAL_CLI_TEXT_H
#define DIURNAL_CLI_TEXT_H

#include <stdio.h>

#include "diurnal/base.h"

/* Bytes as a sentence may quote them, in quotes: what is no printable UTF-8 becomes \xNN, and what is too long
 * ends in an ellipsis. Returns out. */
enum { TEXT_QUOTED = 128 };
const char *text_quoted(const char *bytes, size_t len, char out[TEXT_QUOTED]);

/* NULL: printable UTF-8, or nothing at all. Else what it is not, as the end of a sentence about it. */
const char *text_fault(const char *bytes, size_t len);

/* The nearest of len names to one that is none of them, or NULL if none is near. */
const char *text_nearest(const char *wrong, size_t wrong_len, const char *const *names, size_t len);

/* What an errno means, as the end of a sentence about a file. */
const char *text_of_errno(int code);

/* Opens a file, but no directory, for reading. DN_EINVAL: *out_fault says why not. */
DN_MUST_USE int text_open(const char *path, FILE **out_file, const char **out_fault);

/* Its own copy, with a NUL behind it; NULL: out of memory. */
char *text_copy(const char *bytes, size_t len);

#endif
