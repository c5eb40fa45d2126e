/* client.h - asking the daemon, from a command: the other side of src/api/control.h. It waits for each answer. */
#ifndef DIURNAL_CLI_CLIENT_H
#define DIURNAL_CLI_CLIENT_H

#include "command.h"

typedef struct client client;

/* DN_EDEAD: no daemon listens there. DN_EIO: one may, and cannot be reached: why (CLIENT_WHY bytes) says. */
enum { CLIENT_WHY = 512 };
DN_MUST_USE int    client_connect(const char *data, client **out_client, char *why);
void               client_free(client *c); /* accepts NULL */
static inline void client_freep(client **c) { client_free(*c); }

/* Asks, and waits for the answer, which is the caller's. Takes request. NULL: it was refused or the daemon has gone, and
 * has been complained of; *out_exit is the exit code. */
json_t *client_ask(client *c, json_t *request, int *out_exit);

/* The same, where a refusal is no failure: *out_code is its code ("not_found"), valid until the next ask; "" for none. */
json_t *client_ask_for(client *c, json_t *request, int *out_exit, const char **out_code);

/* Has the daemon copy its store to a new file; path may begin at the working directory. An exit code; if it is not
 * DN_EXIT_DONE, it has been complained of. */
int client_backup(client *c, const char *path);

/* From now on nobody waits for an answer longer than until fd (the caller's) can be read; -1: no such end. */
void client_waits_until(client *c, int fd);

/* Connects for a command that cannot do without a daemon; NULL: complained of, and *out_exit says how. */
client *client_of(const call *c, int *out_exit);

#endif
