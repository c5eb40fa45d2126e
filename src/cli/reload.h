/* reload.h - reads the configuration again on SIGHUP, and compares it with the current one. */
#ifndef DIURNAL_CLI_RELOAD_H
#define DIURNAL_CLI_RELOAD_H

#include "settings.h"

typedef enum reload {
    RELOAD_REFUSED, /* the new configuration is invalid */
    RELOAD_SAME,
    RELOAD_LIVE, /* only settings changed that take effect while the daemon runs */
    RELOAD_ANEW,
} reload;

/* Reads flags, environment, file and secrets as at the start, and checks them as `serve` does. words (RELOAD_WORDS bytes) has
 * the error and its place (REFUSED), or the names of the changed settings (LIVE, ANEW), with changed secrets as secret_file.
 * Unless the result is REFUSED, the caller owns *out_fresh. */
enum { RELOAD_WORDS = 1024 };
reload reload_read(const dn_settings_input *input, const dn_settings *now, const char *secrets_now,
                   dn_settings **out_fresh, char words[RELOAD_WORDS]);

/* Finds out if a start with `fresh` would succeed: checks a new data directory and a new listen address, as far as
 * possible while the daemon runs. reload_read has checked files and runners. listener: the current one. On an error words
 * (RELOAD_WORDS bytes) has one line. */
DN_MUST_USE int reload_probe(const dn_settings *now, const dn_settings *fresh, int listener,
                             char words[RELOAD_WORDS]);

#endif
