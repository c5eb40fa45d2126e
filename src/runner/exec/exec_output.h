/* exec_output.h - the end of a stream that may never end, in bounded memory.
 * A process says last what counts, so the last max bytes of its output are kept and the ones before are dropped. Each byte
 * is copied twice at most on average, however it arrives. */
#ifndef DIURNAL_RUNNER_EXEC_OUTPUT_H
#define DIURNAL_RUNNER_EXEC_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct exec_output {
    size_t max;   /* set by the owner; the rest begins as zeros */
    char  *bytes; /* freed by exec_output_done */
    size_t len, size;
    bool   truncated; /* something was dropped before what is kept */
} exec_output;

/* Refused memory drops all there is so far. */
void exec_output_add(exec_output *o, const char *data, size_t len);

/* Drops what is beyond max. Afterwards bytes and len are what is kept. */
void exec_output_trim(exec_output *o);

void exec_output_done(exec_output *o);

#endif
