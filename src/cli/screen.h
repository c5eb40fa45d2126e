/* screen.h - the whole terminal, for a command that redraws itself. The terminal is restored however the command ends.
 * One at a time, one thread. */
#ifndef DIURNAL_CLI_SCREEN_H
#define DIURNAL_CLI_SCREEN_H

#include "diurnal/base.h"

/* True if standard output is a terminal that can position the cursor. term: the value of TERM, or NULL. */
bool screen_is_there(const char *term);

/* Switches standard output, such a terminal, to another page without cursor and echo. An error message restores it first. */
void screen_begin(void);
void screen_end(void); /* a second call does nothing */

/* Readable when SIGINT, SIGTERM or SIGHUP has arrived. */
int screen_ends_fd(void);

typedef enum screen_wish {
    SCREEN_ON,    /* the time is up */
    SCREEN_AGAIN, /* redraw at once: the size changed, or the process was stopped */
    SCREEN_OVER,  /* q, Ctrl-C */
} screen_wish;

/* Waits for ms, or until a key or signal arrives. */
screen_wish screen_wait(int ms);

/* The size of the terminal. */
void screen_size(int *out_rows, int *out_cols);

/* Draws the lines of text, cut to the size of the terminal. Lines end with \n. */
void screen_draw(const char *text);

#endif
