/* target.h - finds the daemon that a command sends requests to, and the token for it.
 * The daemon is the one of --url, else of DIURNAL_URL unless --data is a flag, else the one that runs in the data directory
 * (url_file.h), else, if no directory was named, the one at the default address. The token is that of --token-file, else
 * DIURNAL_TOKEN, else the data directory's own. The own token is sent only to the daemon of its directory, also if that
 * daemon is named by its URL: at any other address any process may listen. */
#ifndef DIURNAL_CLI_TARGET_H
#define DIURNAL_CLI_TARGET_H

#include "command.h"
#include "url_file.h"

#define TARGET_URL "http://127.0.0.1:1440" /* the default */

enum { TARGET_WHY = 1024, TARGET_TOKEN = 256, TARGET_WORDS = 512 };

typedef struct target {
    char        url[URL_FILE_LINE], pin[URL_FILE_LINE]; /* pin: "": none */
    char        token[TARGET_TOKEN];
    char        token_from[TARGET_WORDS]; /* "DIURNAL_TOKEN", a file */
    const char *ca;                       /* NULL: none */
    bool        is_named;                 /* --url, DIURNAL_URL: it may be another machine */
} target;

/* The URL that the user gave; NULL: none, or the command needs a data directory. */
const char *target_named(const call *c);

/* DN_EDEAD: no daemon runs there. DN_EINVAL: a flag or variable is wrong. DN_EIO: any other error. why (TARGET_WHY bytes) has
 * place, fault and remedy. */
DN_MUST_USE int target_find(const call *c, target *out, char *why);

#endif
