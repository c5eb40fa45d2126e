/* exec_command.h - what an exec runner starts: a program, its arguments, its environment.
 * There is no shell. "exec:/path one 'two'" is split at spaces; "double quotes" keep spaces
 * together, and a backslash takes the next character as it is, inside quotes and outside; nothing
 * else means anything. Any thread. */
#ifndef DIURNAL_RUNNER_EXEC_COMMAND_H
#define DIURNAL_RUNNER_EXEC_COMMAND_H

#include "diurnal/base.h"

typedef struct command {
    char **argv; /* NULL at the end; argv[0] is the path */
    char **
        env; /* of the daemon, as it was when this was read, without what is the daemon's own business:
                    DIURNAL_*, which may be secrets, and TRACEPARENT. Two places are free behind it */
    size_t env_len;
    char  *text; /* holds the arguments */
} command;

/* text is what follows "exec:". DN_EINVAL: *out_fault is the end of a sentence about the runner.
 * DN_ENOMEM. */
DN_MUST_USE int command_new(const char *text, command **out_command, const char **out_fault);
void            command_free(command *c); /* accepts NULL */

/* A program that could be started now? Else what is wrong, the end of a sentence about its path;
 * NULL: nothing. */
const char *command_fault(const command *c);

#endif
