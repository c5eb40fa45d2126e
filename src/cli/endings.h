/* endings.h - SIGINT, SIGTERM and SIGHUP held back, for a command that must remove something before it ends. */
#ifndef DIURNAL_CLI_ENDINGS_H
#define DIURNAL_CLI_ENDINGS_H

#include <signal.h>
#include <stdbool.h>

typedef struct endings {
    int      fd; /* can be read when one of them has come; -1: there is no such descriptor */
    sigset_t before;
} endings;

/* Holds back those that are not ignored (nohup). */
void endings_hold(endings *e);
bool endings_came(const endings *e);
/* A signal that came ends the process here. */
void endings_let(endings *e);

#endif
