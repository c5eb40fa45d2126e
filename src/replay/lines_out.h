/* lines_out.h - lines into a file, millions of them: each is put together in one large buffer, where it stays until the
 * buffer is full. */
#ifndef DIURNAL_REPLAY_LINES_OUT_H
#define DIURNAL_REPLAY_LINES_OUT_H

#include "base/preallocate.h"

#include <stdint.h>

/* So many bytes go out at once, and stay in the nearest memory until then. */
enum { LINES_OUT_BYTES = 1 << 18, LINES_OUT_LINE = 2048 };

typedef struct lines_out {
    char            *at; /* where the next line begins: there is room for LINES_OUT_LINE bytes */
    int              fd;
    int              failed;  /* errno of the first write that did */
    int64_t          written; /* bytes in the file */
    dn_preallocation room;
    char             buffer[LINES_OUT_BYTES + 2 * LINES_OUT_LINE];
} lines_out;

/* fd, a file that is empty, stays the caller's. */
void lines_out_begin(lines_out *o, int fd);

void lines_out_full(lines_out *o);

/* A line ends there. */
static inline void lines_out_line(lines_out *o, char *end) {
    o->at = end;
    if (end >= o->buffer + LINES_OUT_BYTES) lines_out_full(o);
}

/* What is gathered goes out. DN_OK, or DN_EIO if any of it ever did not; errno of the first failure then in *out_errno. */
DN_MUST_USE int lines_out_end(lines_out *o, int *out_errno);

#endif
