/* serve_config.h - from settings to what the service is made with. */
#ifndef DIURNAL_CLI_SERVE_CONFIG_H
#define DIURNAL_CLI_SERVE_CONFIG_H

#include "settings.h"

#include "api/web.h"

#include "service/service.h"

/* Where the demo's settings are not those of everybody else; only what nobody has set is changed. */
DN_MUST_USE int serve_demo_defaults(dn_settings *settings);

/* The secrets of the file, for dn_secrets_free; NULL in *out_secrets if path is empty. Warns if others may read the file.
 * DN_EINVAL: why (DN_SETTINGS_WHY bytes) says what is wrong. */
DN_MUST_USE int serve_secrets_read(const char *path, char **out_secrets, char *why);

/* Fills everything but store and fatal. Borrows both. DN_EINVAL: a runner is none; why says so. */
DN_MUST_USE int serve_config_of(const dn_settings *settings, const char *secrets,
                                dn_service_config *out_config, char *why);

/* As many descriptors as there may be. DN_EINVAL: fewer than the jobs need; why says so. */
DN_MUST_USE int serve_raise_files(const dn_settings *settings, char *why);

/* What HTTPS is served with; NULL: it is not. As those above. */
DN_MUST_USE int serve_tls_take(const dn_settings *settings, dn_web_tls **out_tls, char *why);

/* How many connections the web's door may have, of the descriptors there are after that: as many as the jobs leave. */
uint32_t serve_web_conns(const dn_settings *settings);

/* All of this, in its order: what `serve` does before it touches the data and again on SIGHUP, and `check-config` does at
 * all. What was made
 * is the caller's, also if it fails; the out-parameters are NULL before. As those above. */
DN_MUST_USE int serve_settings_take(const dn_settings_input *input, dn_settings **out_settings,
                                    char **out_secrets, dn_service_config *out_config, char *why);

#endif
