/* admin_token.h - the first token, so that somebody may come in and make others. */
#ifndef DIURNAL_CLI_ADMIN_TOKEN_H
#define DIURNAL_CLI_ADMIN_TOKEN_H

#include "store/tokens.h"

enum { ADMIN_TOKEN_WHY = 512 };
#define ADMIN_TOKEN_FILE "admin.token"

/* Where no token has been made, or the file of this one is gone: makes one that may everything, and puts it into DATA/admin.token (mode 0600, the token and
 * a newline). *out_made: it did, and *out_older, that there is one of its name already, which stays good: it may be a person's,
 * who chose that name. DN_EIO and others: why says what and where. */
DN_MUST_USE int admin_token_make(dn_store *store, const char *data, int64_t now_ms, bool *out_made,
                                 bool *out_older, char *why);

#endif
