/* client.h - asking the daemon, from a command: its HTTP API (docs/api.md). It waits for each answer. */
#ifndef DIURNAL_CLI_CLIENT_H
#define DIURNAL_CLI_CLIENT_H

#include "command.h"
#include "wire.h"

typedef struct client client;

enum { CLIENT_WHY = 1024 };

/* Says nothing to anybody yet. DN_EDEAD: no daemon runs there; DN_EINVAL: something that was given is wrong; DN_EIO:
 * anything else. why (CLIENT_WHY bytes) says what. */
DN_MUST_USE int    client_new(const call *c, client **out_client, char *why);
void               client_free(client *c); /* accepts NULL */
static inline void client_freep(client **c) { client_free(*c); }

/* For a command that cannot do without a daemon; NULL: complained of, and *out_exit says how. */
client *client_of(const call *c, int *out_exit);

/* Asks, and waits for the answer, which is the caller's; an object, also where there is none. Takes `query`, whose members
 * become parameters, those that are null none, and `body`. `wanted` is a member without which the answer is no diurnal's;
 * NULL: it is to be none (204). What is in its texts steers no terminal: but for --json, which writes it so that it does not, each
 * control character is a "?". NULL: it was refused or
 * the daemon has gone, and has been complained of; *out_exit is the exit code. */
json_t *client_get(client *c, const char *path, json_t *query, const char *wanted, int *out_exit);
json_t *client_send(client *c, const char *method, const char *path, json_t *body,
                    const char *wanted, int *out_exit);
json_t *client_call(client *c, const char *method, const char *path, const char *wanted,
                    int *out_exit); /* no body */
json_t *client_upload(client *c, const char *path, const wire_body *body, const char *wanted,
                      int *out_exit);

/* The status of the last answer: 201. */
int client_status(const client *c);

/* "/api/v1/daily/users/" and an id, encoded, and what is behind it; valid until the next one. */
const char *client_path(client *c, const char *before, const char *id, const char *behind);

/* Where it asks. */
const char *client_url(const client *c);

/* Has the daemon copy its store to a new file; path may begin at the working directory, if the daemon is of this machine.
 * An exit code; if it is not DN_EXIT_DONE, it has been complained of. */
int client_backup(client *c, const char *path);

/* Has the daemon copy its store, and writes that copy to fd, which is an empty file. An exit code; if it is not DN_EXIT_DONE,
 * it has been complained of. */
int client_copy(client *c, int fd);

/* From now on nobody waits for an answer longer than until fd (the caller's) can be read; -1: no such end. silently: it is no
 * failure, and not complained of. */
void client_waits_until(client *c, int fd, bool silently);

#endif
