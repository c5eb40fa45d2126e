/* target.h - which daemon a command is for, and by which token it asks.
 * --url, else DIURNAL_URL unless --data is a flag, else whoever runs in the data directory (url_file.h), else, where no
 * directory was named, the default address. A token is --token-file's, else DIURNAL_TOKEN's, else the data directory's own.
 * That one goes to the daemon of its directory alone, also where that is named by its URL: anywhere else anybody may
 * listen. */
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

/* Where the user says the daemon is; NULL: he does not, or the command is one that looks at a data directory. */
const char *target_named(const call *c);

/* DN_OK; DN_EDEAD: no daemon runs there; DN_EINVAL: something that was given is wrong; DN_EIO: anything else. why
 * (TARGET_WHY bytes) says what, where, and what would be right. */
DN_MUST_USE int target_find(const call *c, target *out, char *why);

#endif
