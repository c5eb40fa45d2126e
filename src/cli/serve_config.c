/* serve_config.c - see serve_config.h. */
#include "serve_config.h"

#include "api/web.h"
#include "base/text.h"
#include "obs/log.h"
#include "secrets.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum {
    FILES_OF_AN_EXEC = 4, /* three pipes, and one while it starts */
    FILES_OF_A_POST = 2,  /* an open connection, and a closing one */
    FILES_BESIDE = 128,   /* the store, the loops, and the fewest web connections */
    DEMO_TICK_MS = 5000,
    DEMO_CONCURRENCY = 16,
    DEMO_TIMEOUT_MS = 10000,
};

/* ---- Demo ---- */

static void unless_set(const dn_settings *s, size_t setting, int64_t *value, int64_t demo_value) {
    if (s->sources[setting].from == DN_FROM_DEFAULT) *value = demo_value;
}

int serve_demo_defaults(dn_settings *s) {
    unless_set(s, DN_SETTING_tick_ms, &s->tick_ms, DEMO_TICK_MS);
    unless_set(s, DN_SETTING_max_concurrency, &s->max_concurrency, DEMO_CONCURRENCY);
    unless_set(s, DN_SETTING_job_timeout_ms, &s->job_timeout_ms, DEMO_TIMEOUT_MS);
    if (s->sources[DN_SETTING_data].from != DN_FROM_DEFAULT) return DN_OK;
    char *data = strdup("./diurnal-demo");
    if (!data) return DN_ENOMEM;
    free((char *)s->data);
    s->data = data;
    return DN_OK;
}

/* ---- Secrets ---- */

int serve_secrets_read(const char *path, char **out_secrets, char *why) {
    struct stat about;

    static_assert((int)DN_SECRETS_WHY <= (int)DN_SETTINGS_WHY,
                  "one sentence is as long as the other");
    *out_secrets = NULL;
    if (*path == '\0') return DN_OK;
    if (stat(path, &about) == 0 && (about.st_mode & (S_IRGRP | S_IROTH)))
        dn_log(DN_LOG_WARN, "secret.readable",
               "%s: users other than the owner may read this file; use chmod 600", path);
    return dn_secrets_read(path, out_secrets, why);
}

/* ---- The service ---- */

static dn_runner_config runner_of(const dn_settings *s, const char *url, const char *secrets) {
    return (dn_runner_config){
        .url = url,
        .concurrency_max =
            (uint32_t)(s->per_host < s->max_concurrency ? s->per_host : s->max_concurrency),
        .connect_ms = s->connect_ms,
        .idle_ms = s->idle_ms,
        .secret = secrets,
        .ca_file = *s->ca_file ? s->ca_file : NULL,
        .http2 = s->http2,
        .allow_private = s->runner_allow_private,
        .seed = 1,
    };
}

static int check_runner(const dn_runner_config *config, const char *key, char *why) {
    char      fault[DN_RUNNER_WHY];
    const int rc = dn_runner_check(config, fault);

    if (rc < 0) return dn_refuse(rc, why, DN_SETTINGS_WHY, "%s: %s", key, fault);
    return rc;
}

int serve_config_of(const dn_settings *s, const char *secrets, dn_service_config *out_config,
                    char *why) {
    *out_config = (dn_service_config){
        .tick_ms = s->tick_ms,
        .window_minutes = (uint32_t)s->window_minutes,
        .retry_delay_minutes = (uint32_t)s->retry_delay_minutes,
        .max_concurrency = (uint32_t)s->max_concurrency,
        .job_timeout_ms = s->job_timeout_ms,
        .shutdown_grace_ms = s->shutdown_grace_ms,
        .ledger_days = (uint32_t)s->ledger_days,
        .runner = runner_of(s, s->demo ? "demo:" : s->runner, secrets),
        .hook = runner_of(s, s->hook, secrets),
        .has_hook = *s->hook != '\0',
    };
    const int rc = check_runner(&out_config->runner, "runner", why);
    if (rc < 0 || !out_config->has_hook) return rc;
    return check_runner(&out_config->hook, "hook", why);
}

/* ---- HTTP ---- */

static int check_listen(const dn_settings *s, char *why) {
    static_assert((int)DN_WEB_WHY <= (int)DN_SETTINGS_WHY, "one sentence is as long as the other");
    const int rc = dn_web_check(s->listen, s->insecure_listen || *s->tls_certificate, why);

    return rc == DN_OK ? DN_OK : DN_EINVAL;
}

int serve_tls_take(const dn_settings *s, dn_web_tls **out_tls, char *why) {
    const bool certificate = *s->tls_certificate != '\0', key = *s->tls_key != '\0';

    *out_tls = NULL;
    if (!certificate && !key) return DN_OK;
    if (certificate && key) return dn_web_tls_new(s->tls_certificate, s->tls_key, out_tls, why);
    return dn_refuse(DN_EINVAL, why, DN_SETTINGS_WHY, "%s is set, but %s is not; HTTPS needs both",
                     certificate ? "tls_certificate" : "tls_key",
                     certificate ? "tls_key" : "tls_certificate");
}

static int check_tls(const dn_settings *s, char *why) {
    dn_web_tls *tls;
    const int   rc = serve_tls_take(s, &tls, why);

    dn_web_tls_free(tls);
    return rc;
}

/* ---- Descriptors ---- */

static int64_t files_needed(const dn_settings *s) {
    const bool    exec = strncmp(s->runner, "exec:", 5) == 0;
    const int64_t each = s->demo ? 0 : exec ? FILES_OF_AN_EXEC : FILES_OF_A_POST;

    return FILES_BESIDE + s->max_concurrency * each;
}

int serve_raise_files(const dn_settings *s, char *why) {
    const int64_t needed = files_needed(s);
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0) return DN_OK; /* an error then comes at the limit */
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_max == RLIM_INFINITY || limit.rlim_max >= (rlim_t)needed) return DN_OK;
    (void)snprintf(why, DN_SETTINGS_WHY,
                   "max_concurrency: %lld jobs at once may need %lld open files, but the limit is "
                   "%lld; raise the limit (ulimit -Hn, LimitNOFILE=) or lower max_concurrency",
                   (long long)s->max_concurrency, (long long)needed, (long long)limit.rlim_max);
    return DN_EINVAL;
}

uint32_t serve_web_conns(const dn_settings *s) {
    const rlim_t  needed = (rlim_t)files_needed(s);
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0) return DN_WEB_CONNS_MOST;
    const rlim_t left = limit.rlim_cur > needed ? limit.rlim_cur - needed : 0;
    if (left > DN_WEB_CONNS_MOST) return DN_WEB_CONNS_MOST;
    return left > DN_WEB_CONNS_LEAST ? (uint32_t)left : DN_WEB_CONNS_LEAST;
}

int serve_settings_take(const dn_settings_input *input, dn_settings **out_settings,
                        char **out_secrets, dn_service_config *out_config, char *why) {
    dn_settings_input again = *input;
    dn_settings      *s;
    int               rc = dn_settings_load(&again, out_settings, why);

    s = *out_settings;
    if (rc == DN_OK && s->demo) rc = serve_demo_defaults(s);
    if (rc == DN_OK) rc = dn_settings_check(s, why);
    if (rc == DN_OK) rc = serve_secrets_read(s->secret_file, out_secrets, why);
    if (rc == DN_OK) rc = serve_config_of(s, *out_secrets, out_config, why);
    if (rc == DN_OK) rc = check_listen(s, why);
    if (rc == DN_OK) rc = check_tls(s, why);
    return rc == DN_OK ? serve_raise_files(s, why) : rc;
}
