/* serve_config.h - makes the configuration of the service from the settings. */
#ifndef DIURNAL_CLI_SERVE_CONFIG_H
#define DIURNAL_CLI_SERVE_CONFIG_H

#include "settings.h"

#include "api/web.h"

#include "service/service.h"

/* Sets the demo's defaults. Changes only settings that are not set. */
DN_MUST_USE int serve_demo_defaults(dn_settings *settings);

/* The secrets of the file, for dn_secrets_free; NULL in *out_secrets if path is empty. Logs a warning if other users may
 * read the file. DN_EINVAL: why (DN_SETTINGS_WHY bytes) has the error. */
DN_MUST_USE int serve_secrets_read(const char *path, char **out_secrets, char *why);

/* Fills in everything but store and fatal. Borrows both. DN_EINVAL: a runner is invalid; why has the error. */
DN_MUST_USE int serve_config_of(const dn_settings *settings, const char *secrets,
                                dn_service_config *out_config, char *why);

/* Raises the limit of open files to its maximum. DN_EINVAL: the jobs need more; why has the error. */
DN_MUST_USE int serve_raise_files(const dn_settings *settings, char *why);

/* Loads the certificate for HTTPS; NULL: no HTTPS. Errors as above. */
DN_MUST_USE int serve_tls_take(const dn_settings *settings, dn_web_tls **out_tls, char *why);

/* The most connections of the HTTP server: the descriptors that the jobs leave. */
uint32_t serve_web_conns(const dn_settings *settings);

/* All of the above, in order: what `serve` does before it touches the data, and again on SIGHUP; `check-config` does only this.
 * The caller owns what was made, also on an error; the out-parameters must be NULL before. Errors as above. */
DN_MUST_USE int serve_settings_take(const dn_settings_input *input, dn_settings **out_settings,
                                    char **out_secrets, dn_service_config *out_config, char *why);

#endif
