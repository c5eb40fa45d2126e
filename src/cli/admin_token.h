/* admin_token.h - the first token, by which an operator creates the others. */
#ifndef DIURNAL_CLI_ADMIN_TOKEN_H
#define DIURNAL_CLI_ADMIN_TOKEN_H

#include "store/tokens.h"

enum { ADMIN_TOKEN_WHY = 512 };
#define ADMIN_TOKEN_FILE "admin.token"

/* Creates an admin token and writes it to DATA/admin.token (mode 0600, the token and a newline), if the store has no
 * token, or has the daemon's own and that file is missing. *out_made: a token was created. *out_older: the store already
 * had one of the daemon's name and of no tenant, which stays valid because an operator may use it. On an error, why has
 * what failed and where. */
DN_MUST_USE int admin_token_make(dn_store *store, const char *data, int64_t now_ms, bool *out_made,
                                 bool *out_older, char *why);

#endif
