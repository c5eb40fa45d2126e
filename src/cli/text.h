/* text.h - what the commands share about text and the files it is in. Any thread. */
#ifndef DIURNAL_CLI_TEXT_H
#define DIURNAL_CLI_TEXT_H

#include <stdio.h>

#include "domain/text.h"

/* What an errno means, as the end of a sentence about a file. */
const char *text_of_errno(int code);

/* Opens a file, but no directory, for reading. DN_EINVAL: *out_fault says why not. */
DN_MUST_USE int text_open(const char *path, FILE **out_file, const char **out_fault);

/* Its own copy, with a NUL behind it; NULL: out of memory. */
char *text_copy(const char *bytes, size_t len);

#endif
