/* secrets.h - the file of webhook secrets (secret_file): one a line, "whsec_" and base64, # begins a comment.
 * Reads that file and nothing else. No sentence has anything of a secret in it. Any thread. */
#ifndef DIURNAL_CLI_SECRETS_H
#define DIURNAL_CLI_SECRETS_H

#include "diurnal/base.h"

/* The secrets with a space between, as a runner wants them; whether they are base64, it finds out. The caller ends
 * it with dn_secrets_free. DN_EINVAL: why (DN_SECRETS_WHY bytes) has one line: where, what, and what would be
 * right. */
enum { DN_SECRETS_WHY = 512 };
DN_MUST_USE int dn_secrets_read(const char *path, char **out_secrets, char *why);
void            dn_secrets_free(char *secrets); /* accepts NULL; leaves nothing of them in memory */

#endif
