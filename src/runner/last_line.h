/* last_line.h - the last line of a text that is not blank. Any thread. */
#ifndef DIURNAL_RUNNER_LAST_LINE_H
#define DIURNAL_RUNNER_LAST_LINE_H

#include <stddef.h>

/* Without the white space around it; *out_len is 0 if every line is blank. Borrowed from text. Reads nothing before that
 * line. */
const char *dn_last_line(const char *text, size_t len, size_t *out_len);

#endif
