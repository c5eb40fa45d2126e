/* reload.h - what a SIGHUP is about: the configuration read again, beside the one the daemon runs by. */
#ifndef DIURNAL_CLI_RELOAD_H
#define DIURNAL_CLI_RELOAD_H

#include "settings.h"

typedef enum reload {
    RELOAD_REFUSED, /* it is not one to run by */
    RELOAD_SAME,
    RELOAD_LIVE, /* only such settings have changed as can while the daemon runs */
    RELOAD_ANEW,
} reload;

/* Reads flags, environment and file as at the start, and the secrets, and checks them as `serve` does. words
 * (RELOAD_WORDS bytes): REFUSED: what is wrong, and where; LIVE, ANEW: the names of what has changed, where secrets that
 * have count as secret_file. Unless it is REFUSED, *out_fresh is the caller's. */
enum { RELOAD_WORDS = 1024 };
reload reload_read(const dn_settings_input *input, const dn_settings *now, const char *secrets_now,
                   dn_settings **out_fresh, char words[RELOAD_WORDS]);

/* Is the world as a start by `fresh` needs it? The data directory and the address of `listen`, where they are not now's,
 * as far as can be known while the daemon runs; what files and runners are has been seen by reload_read. listener: that
 * of now. DN_OK, or words (RELOAD_WORDS bytes) say in a line what is wrong. */
DN_MUST_USE int reload_probe(const dn_settings *now, const dn_settings *fresh, int listener,
                             char words[RELOAD_WORDS]);

#endif
