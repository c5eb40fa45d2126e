/* output.h - the files of a run: they appear in the directory whole, when all of them are, or not at all.
 * Until then they are in a directory of its own in there, which the next run takes away if this one was killed. */
#ifndef DIURNAL_REPLAY_OUTPUT_H
#define DIURNAL_REPLAY_OUTPUT_H

#include "diurnal/base.h"

enum { OUTPUT_WHY = 512 };

typedef struct output output;

/* Makes the directory, if there is none; it is ours until output_free. DN_EIO, DN_ENOMEM: why has one line. */
DN_MUST_USE int output_open(const char *dir, output **out_output, char *why);
/* What is not complete goes. Accepts NULL. */
void output_free(output *o);

/* A new file, for writing; the caller closes it. name: a literal. -1: why has one line. */
DN_MUST_USE int output_file(output *o, const char *name, char *why);

/* All that was made is complete. */
DN_MUST_USE int output_complete(output *o, char *why);

/* One line into why, of the file and errno; returns DN_EIO. */
int output_failed(const output *o, const char *name, int code, char *why);

#endif
