/* client.h - the daemon's HTTP API (docs/api.md) for a command. Each call waits for its answer. */
#ifndef DIURNAL_CLI_CLIENT_H
#define DIURNAL_CLI_CLIENT_H

#include "command.h"
#include "wire.h"

typedef struct client client;

enum { CLIENT_WHY = 1024 };

/* Sends nothing yet. DN_EDEAD: no daemon runs there. DN_EINVAL: a flag or variable is wrong. DN_EIO: any other error. why
 * (CLIENT_WHY bytes) has the error. */
DN_MUST_USE int    client_new(const call *c, client **out_client, char *why);
void               client_free(client *c); /* accepts NULL */
static inline void client_freep(client **c) { client_free(*c); }

/* For commands that need a daemon. NULL: the error is printed, and *out_exit is the exit code. */
client *client_of(const call *c, int *out_exit);

/* Sends a request and returns the answer, which the caller owns: always an object. Takes `query`, whose members become
 * parameters unless they are null, and `body`. `wanted` is a member that every answer of a daemon has; NULL: the answer must be
 * empty (204). Control characters in texts become "?", so that no answer steers a terminal; --json escapes them instead.
 * NULL: the error is printed, and *out_exit is the exit code. */
json_t *client_get(client *c, const char *path, json_t *query, const char *wanted, int *out_exit);
json_t *client_send(client *c, const char *method, const char *path, json_t *body,
                    const char *wanted, int *out_exit);
json_t *client_call(client *c, const char *method, const char *path, const char *wanted,
                    int *out_exit); /* no body */
json_t *client_upload(client *c, const char *path, const wire_body *body, const char *wanted,
                      int *out_exit);

/* The HTTP status of the last answer. */
int client_status(const client *c);

/* A path with an encoded id in it; valid until the next call. */
const char *client_path(client *c, const char *before, const char *id, const char *behind);

/* The URL of the daemon. */
const char *client_url(const client *c);

/* Makes the daemon copy its store to a new file. path may be relative if the daemon is on this machine. Returns an exit code;
 * any but DN_EXIT_DONE means that the error is printed. */
int client_backup(client *c, const char *path);

/* Makes the daemon copy its store, and writes the copy to fd, an empty file. Returns an exit code as client_backup. */
int client_copy(client *c, int fd);

/* From now on a request is given up as soon as fd (the caller's) is readable; -1: never. silently: that is no error, and
 * nothing is printed. */
void client_waits_until(client *c, int fd, bool silently);

#endif
