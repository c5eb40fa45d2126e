/* last_line.h - the last line of a stream that may never end, in bounded memory.
 * A job's last words are what counts: an answer on standard output, a complaint on standard error.
 * Lines that hold nothing but white space are no lines, and what a line begins with of it is left out;
 * what goes beyond max bytes is dropped. Newlines and blanks may come by the million behind a line
 * that is long: each byte is looked at a few times at most, and what is kept not once more. */
#ifndef DIURNAL_RUNNER_LAST_LINE_H
#define DIURNAL_RUNNER_LAST_LINE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct last_line {
    size_t max;
    char  *text; /* not terminated; freed by last_line_done */
    size_t len, size;
    bool   ended;     /* a newline has come; what follows begins the next one */
    bool   cut_short; /* there was more of it than is kept, and not just blanks */
} last_line;

/* No memory: the line is cut there. */
void last_line_add(last_line *l, const char *data, size_t len);
void last_line_done(last_line *l);

#endif
