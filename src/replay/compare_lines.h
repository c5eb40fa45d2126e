/* compare_lines.h - a file of an earlier run, line by line, in the memory of one buffer however long it is. */
#ifndef DIURNAL_REPLAY_COMPARE_LINES_H
#define DIURNAL_REPLAY_COMPARE_LINES_H

#include "diurnal/base.h"

/* What the sentences of a comparison have room in. */
enum { COMPARE_WHY = 1024 };

typedef struct compare_lines compare_lines;

/* DIR/name. DN_EINVAL: there is no such file, or it cannot be opened; DN_ENOMEM. why has one line. */
DN_MUST_USE int compare_lines_open(const char *dir, const char *name, compare_lines **out_lines,
                                   char why[COMPARE_WHY]);
void            compare_lines_free(compare_lines *l); /* accepts NULL */

/* The next line, without its end: borrowed until the next call. DN_STOP: there is none. DN_EINVAL: it has no end, as
 * whoever writes these files gives every line; DN_EIO. */
DN_MUST_USE int compare_lines_next(compare_lines *l, const char **out_text, size_t *out_len,
                                   char why[COMPARE_WHY]);

/* "FILE:LINE: what is wrong", of the line that was given last. Returns DN_EINVAL. */
int compare_lines_fault(const compare_lines *l, const char *sentence, char why[COMPARE_WHY]);

#endif
