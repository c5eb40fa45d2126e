/* compare.h - what differs between two runs: a replay, and an earlier one that left its files in a directory.
 * From the files alone, so the runs may be of two traces, two settings, or two versions of diurnal that write the same
 * files. They are read once, side by side: memory does not grow with their length. */
#ifndef DIURNAL_REPLAY_COMPARE_H
#define DIURNAL_REPLAY_COMPARE_H

#include "compare_lines.h"

#include <jansson.h>
#include <stdio.h>

typedef struct compare compare;

/* Before this run: are the files of the other there, and such files? They stay open, so what happens to the directory
 * meanwhile does not matter. out: where this run will write, which has to be another directory. DN_EINVAL: no; DN_EIO,
 * DN_ENOMEM. why has one line. */
DN_MUST_USE int compare_open(const char *other, const char *out, compare **out_compare,
                             char why[COMPARE_WHY]);
void            compare_free(compare *c); /* accepts NULL */

/* After it, once. Errors as above: then there is nothing to print. */
DN_MUST_USE int compare_read(compare *c, char why[COMPARE_WHY]);

void    compare_print(const compare *c, FILE *file);
json_t *compare_json(const compare *c); /* a new reference; NULL: no memory */

#endif
