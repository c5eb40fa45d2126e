/* endings.h - blocks SIGINT, SIGTERM and SIGHUP, for a command that must clean up before it ends. */
#ifndef DIURNAL_CLI_ENDINGS_H
#define DIURNAL_CLI_ENDINGS_H

#include <signal.h>
#include <stdbool.h>

typedef struct endings {
    int      fd; /* readable when one of them has arrived; -1: no descriptor */
    sigset_t before;
} endings;

/* Blocks those that are not ignored (nohup). */
void endings_hold(endings *e);
bool endings_came(const endings *e);
/* A signal that came ends the process here. */
void endings_let(endings *e);

#endif
