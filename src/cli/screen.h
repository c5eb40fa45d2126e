/* screen.h - the whole terminal, for a command that draws itself anew: and whatever ends it, the terminal is as it was.
 * One at a time, of one thread. */
#ifndef DIURNAL_CLI_SCREEN_H
#define DIURNAL_CLI_SCREEN_H

#include "diurnal/base.h"

/* Is standard output a terminal that does more than print lines? term: what TERM says; NULL: nothing. */
bool screen_is_there(const char *term);

/* Takes standard output, which is such a terminal: another page, no cursor, and what is typed is not shown. A complaint gives it
 * back first. */
void screen_begin(void);
void screen_end(void); /* once more does nothing */

/* Can be read when the command is to end: SIGINT, SIGTERM, SIGHUP. */
int screen_ends_fd(void);

typedef enum screen_wish {
    SCREEN_ON,    /* the time is over */
    SCREEN_AGAIN, /* it is to be drawn at once: it has another size, or was away */
    SCREEN_OVER,  /* q, Ctrl-C */
} screen_wish;

/* Waits so long, or until somebody wishes something. */
screen_wish screen_wait(int ms);

/* Rows and columns there are. */
void screen_size(int *out_rows, int *out_cols);

/* From its first line to its last, each cut to what there is room for. Lines end with \n. */
void screen_draw(const char *text);

#endif
