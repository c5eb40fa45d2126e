/* secrets.h - the file of webhook secrets (secret_file): one a line, "whsec_" and base64, # begins a comment.
 * Reads only that file. No error message contains a part of a secret. Any thread. */
#ifndef DIURNAL_CLI_SECRETS_H
#define DIURNAL_CLI_SECRETS_H

#include "diurnal/base.h"

/* Reads the secrets, separated by spaces, as a runner needs them; the runner checks the base64. The caller frees them with
 * dn_secrets_free. DN_EINVAL: why (DN_SECRETS_WHY bytes) has one line: place, fault and remedy. */
enum { DN_SECRETS_WHY = 512 };
DN_MUST_USE int dn_secrets_read(const char *path, char **out_secrets, char *why);
void            dn_secrets_free(char *secrets); /* accepts NULL; wipes them */

#endif
