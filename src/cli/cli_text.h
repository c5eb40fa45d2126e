/* cli_text.h - what the commands share about text and the files it is in. Any thread. */
#ifndef DIURNAL_CLI_CLI_TEXT_H
#define DIURNAL_CLI_CLI_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/text.h"

/* What an errno means, as the end of a sentence about a file. */
const char *text_of_errno(int code);

/* Opens a file, but no directory, for reading. DN_EINVAL: *out_fault says why not. */
DN_MUST_USE int text_open(const char *path, FILE **out_file, const char **out_fault);

/* Its own copy, with a NUL behind it; NULL: out of memory. */
char *text_copy(const char *bytes, size_t len);

/* A whole number from 0 to 2^64 - 1, as 1 or 0x1f, behind which end_text stands and nothing else. */
DN_MUST_USE bool text_whole(const char *text, const char *end_text, uint64_t *out_number);

#endif
