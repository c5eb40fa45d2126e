/* cmd_serve.c - starts the daemon's tree of actors from the settings, and stops it in order.
 * Settings, runner, secrets and descriptors are checked before anything is touched. The store's lock then allows one daemon a
 * data directory. */
#include "admin_token.h"
#include "base/text.h"
#include "command.h"
#include "demo_users.h"
#include "reload.h"
#include "secrets.h"
#include "serve_config.h"
#include "startup.h"
#include "state_log.h"
#include "url_file.h"

#include "api/hangup.h"
#include "api/scrape.h"
#include "api/web.h"
#include "daily/slo.h"
#include "diurnal/runtime.h"
#include "obs/log.h"
#include "obs/log_keeper.h"
#include "trace/recorder.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { EDGE = 7, STACK_OF_STOPS = 3, LAST_WORDS_MS = 1000 };

typedef struct served {
    const call        *call;
    dn_settings       *settings;
    char              *secrets;
    char              *runner_shown, *settings_shown;
    char               executable[PATH_MAX]; /* path at the start; "": unknown */
    dn_service_config  service;
    dn_about           about;
    dn_web_config      web;
    dn_daily_slo       slo;
    char               listens[DN_WEB_ADDRESS]; /* HOST:PORT, with the final port */
    dn_hangup_config   hangup;
    startup_config     startup;
    dn_child_spec      edge[EDGE];
    dn_recorder_config recorded;
    dn_recorder       *recorder; /* NULL: no recording */
    dn_service_tree    tree;
    dn_runtime        *runtime;
    bool               to_start_anew;
    bool               all_written;
} served;

/* ---- Signals ---- */

/* The state of the signal handlers. Set before they are installed. All but `stops` belong to one thread and its handlers. */
static dn_runtime           *stops;
static volatile sig_atomic_t stops_asked;
static volatile sig_atomic_t stop_sent;   /* by a handler */
static volatile sig_atomic_t starts_anew; /* set by a reload: stopping for a restart */

/* The first signal lets jobs finish, the second kills everything, the third exits at once. During a restart, the first
 * signal only turns the restart into a stop. */
static void on_stop(int number) {
    (void)number;
    if (++stops_asked >= STACK_OF_STOPS) _exit(DN_EXIT_FAILED);
    if (stops_asked == 1 && starts_anew) return;
    stop_sent = 1;
    dn_runtime_stop(stops);
}

/* Stops the runtime once, whether a reload or a signal comes first. */
static void stop_to_start_anew(void) {
    starts_anew = 1;
    if (!stop_sent) dn_runtime_stop(stops);
}

static void stops_mask(int how) {
    sigset_t both;

    (void)sigemptyset(&both);
    (void)sigaddset(&both, SIGTERM);
    (void)sigaddset(&both, SIGINT);
    (void)sigprocmask(how, &both, NULL);
}

/* Each of these ends a process by default. Actors listen to SIGUSR1 and SIGHUP later. */
static void ignore_signals(void) {
    struct sigaction ignore = {.sa_handler = SIG_IGN};

    (void)sigemptyset(&ignore.sa_mask);
    (void)sigaction(SIGPIPE, &ignore, NULL);
    (void)sigaction(SIGUSR1, &ignore, NULL);
}

static void listen_to_signals(dn_runtime *runtime) {
    struct sigaction stop = {.sa_handler = on_stop, .sa_flags = SA_RESTART};
    struct sigaction ignore = {.sa_handler = SIG_IGN};

    stops = runtime;
    (void)sigemptyset(&stop.sa_mask);
    (void)sigemptyset(&ignore.sa_mask);
    (void)sigaction(SIGTERM, &stop, NULL);
    (void)sigaction(SIGINT, &stop, NULL);
    (void)sigaction(SIGHUP, &ignore, NULL); /* until an actor listens to it */
    stops_mask(SIG_UNBLOCK); /* a signal that arrived during the restart is delivered now */
}

/* ---- SIGHUP ---- */

/* Takes over the LIVE settings of settings.def: log_level is the only one. Logs the change if either level allows it. */
static void take_live(served *d, const dn_settings *fresh, const char *changed) {
    const int before = d->settings->log_level, level = fresh->log_level;

    dn_log_threshold((dn_log_level)(level < before ? level : before));
    dn_log(DN_LOG_INFO, "config.read", "configuration read again; %s changed and is now in effect",
           changed);
    dn_log_threshold((dn_log_level)level);
    d->settings->log_level = level;
}

/* Three loops read the service's configuration, so every other change needs a restart. All that can be checked is checked
 * before, because there is no way back after it. */
static void begin_anew(const served *d, const dn_settings *fresh, const char *changed) {
    char words[RELOAD_WORDS];

    if (access(d->executable, X_OK) < 0) {
        dn_log(DN_LOG_ERROR, "config.refused",
               "kept the old configuration: %s changed, but cannot restart %s: %s", changed,
               *d->executable ? d->executable : "the program", strerror(errno));
        return;
    }
    if (reload_probe(d->settings, fresh, d->web.listener, words) < 0) {
        dn_log(DN_LOG_WARN, "config.unusable", "kept the old configuration: %s changed, but %s",
               changed, words);
        return;
    }
    dn_log(
        DN_LOG_INFO, "config.read",
        "configuration read again; changed: %s; running jobs may finish, then the daemon restarts",
        changed);
    stop_to_start_anew();
}

static void on_hangup(void *context) {
    served *d = context;
    char    words[RELOAD_WORDS];
    DN_AUTO(dn_settings) fresh = NULL;

    if (starts_anew || stops_asked > 0) return; /* the next start reads it */
    switch (reload_read(&d->call->input, d->settings, d->secrets, &fresh, words)) {
    case RELOAD_REFUSED:
        dn_log(DN_LOG_ERROR, "config.refused", "kept the old configuration: %s", words);
        return;
    case RELOAD_SAME:
        dn_log(DN_LOG_INFO, "config.read", "configuration read again; nothing changed");
        return;
    case RELOAD_LIVE: take_live(d, fresh, words); return;
    case RELOAD_ANEW: begin_anew(d, fresh, words); return;
    }
}

/* Restarts in the same process, so that its process id stays. Open descriptors close, and ignored signals stay ignored. */
static int start_anew(const served *d) {
    (void)fflush(NULL);
    dn_log_finish(LAST_WORDS_MS); /* exec would lose lines that are not written yet */
    (void)execv(d->executable, d->call->argv);
    return complain(DN_EXIT_FAILED, "cannot restart %s: %s", d->executable, strerror(errno));
}

/* ---- Faults ---- */

static void on_notice(void *context, const dn_notice *n) {
    static const struct {
        dn_log_level level;
        const char  *event;
    } kinds[] = {
        [DN_NOTICE_CRASH] = {DN_LOG_ERROR, "actor.failed"},
        [DN_NOTICE_DEAD_LETTERS] = {DN_LOG_DEBUG, "actor.dead_letter"},
        [DN_NOTICE_UNHANDLED] = {DN_LOG_WARN, "actor.unhandled"},
        [DN_NOTICE_STALL] = {DN_LOG_WARN, "actor.stalled"},
        [DN_NOTICE_STALL_OVER] = {DN_LOG_INFO, "actor.stall_over"},
        [DN_NOTICE_CLOCK_STEP] = {DN_LOG_WARN, "clock.stepped"},
        [DN_NOTICE_LEFTOVER] = {DN_LOG_WARN, "runtime.leftover"},
    };

    char how_much[32] = "";

    (void)context;
    if (n->amount != 0) (void)snprintf(how_much, sizeof how_much, " (%lld)", (long long)n->amount);
    dn_log(kinds[n->kind].level, kinds[n->kind].event, "%s on loop %s, message %u: %s%s%s%s",
           *n->actor ? n->actor : "-", n->loop, n->msg_kind, n->why, n->reason < 0 ? ": " : "",
           n->reason < 0 ? dn_error_text(n->reason) : "", how_much);
}

/* kv has logged the fault. Exits at once: nothing may be written any more, and everything acknowledged is on the disk. */
static void on_fatal(void *context, const char *why) {
    (void)context, (void)why;
    dn_log_finish(LAST_WORDS_MS);
    _exit(DN_EXIT_FAILED);
}

/* ---- Start ---- */

static int settings_take(served *d) {
    char      why[DN_SETTINGS_WHY];
    const int rc =
        serve_settings_take(&d->call->input, &d->settings, &d->secrets, &d->service, why);

    if (rc == DN_OK) {
        dn_log_threshold((dn_log_level)d->settings->log_level);
        dn_log_format((dn_log_form)d->settings->log_format);
        return DN_EXIT_DONE;
    }
    return rc == DN_EINVAL ? complain(DN_EXIT_USAGE, "%s", why)
                           : complain(DN_EXIT_FAILED, "%s", dn_error_text(rc));
}

static int store_take(served *d) {
    const dn_data_url     url = dn_data_url_of(d->settings->data);
    const dn_store_config config = {.url = url.text,
                                    .ledger_days = (uint32_t)d->settings->ledger_days};
    char                  why[DN_STORE_WHY];

    (void)umask(S_IRWXG | S_IRWXO);
    const int rc = dn_store_open(&config, &d->service.store, why);
    if (rc < 0) return complain(DN_EXIT_FAILED, "%s", why);
    url_file_remove(
        d->settings->data); /* left by a killed daemon: its address is no longer valid */
    return DN_EXIT_DONE;
}

static bool has_store(const served *d) {
    char path[PATH_MAX];

    (void)snprintf(path, sizeof path, "%s/diurnal.db", d->settings->data);
    return access(path, F_OK) == 0;
}

/* Refuses a demo on real users, because an invented success cannot be undone. */
static int demo_take(const served *d) {
    bool is_stranger = false;

    if (!d->settings->demo) return DN_EXIT_DONE;
    const int   rc = demo_is_stranger(d->service.store, &is_stranger);
    const char *damage = dn_store_damage(d->service.store);
    if (rc < 0)
        return complain(DN_EXIT_FAILED, "cannot read the users: %s",
                        damage ? damage : dn_error_text(rc));
    if (!is_stranger) return DN_EXIT_DONE;
    return complain(DN_EXIT_USAGE,
                    "demo: %s has real users, and the demo would invent results for them; name "
                    "another --data, or drop --demo",
                    d->settings->data);
}

static int token_take(const served *d) {
    char      why[ADMIN_TOKEN_WHY];
    bool      made = false, older = false;
    const int rc = admin_token_make(d->service.store, d->settings->data, (int64_t)time(NULL) * 1000,
                                    &made, &older, why);

    if (rc < 0) return complain(DN_EXIT_FAILED, "%s", why);
    if (made)
        dn_log(DN_LOG_INFO, "token.made", "wrote admin token to %s/" ADMIN_TOKEN_FILE "%s",
               d->settings->data,
               older ? "; an older token of this name is still valid: diurnal token list shows it, "
                       "diurnal token revoke ID revokes it"
                     : "");
    return DN_EXIT_DONE;
}

/* The output of `diurnal config show --json`. */
static int settings_show(served *d) {
    size_t      len = 0;
    FILE *const out = open_memstream(&d->settings_shown, &len);
    const bool  shown = out && dn_settings_show(d->settings, /* json= */ true, out) == DN_OK;

    if (out && fclose(out) == 0 && shown) return DN_EXIT_DONE;
    return complain(DN_EXIT_FAILED, "out of memory");
}

static int listener_take(served *d) {
    char why[DN_WEB_WHY];

    if (d->web.listener >= 0) return DN_EXIT_DONE;
    const int rc = dn_web_listen(d->settings->listen, d->settings->insecure_listen || d->web.tls,
                                 &d->web.listener, d->listens, why);

    if (rc == DN_OK) return DN_EXIT_DONE;
    return complain(rc == DN_EINVAL ? DN_EXIT_USAGE : DN_EXIT_FAILED, "%s", why);
}

/* Commands read the daemon's address from this file. */
static int url_put(const served *d, char why[URL_FILE_WHY]) {
    dn_store_hold hold;
    char          pin[DN_WEB_PIN];

    if (d->web.tls && dn_web_tls_pin(d->web.tls, pin) < 0)
        return dn_refuse(DN_ENOMEM, why, URL_FILE_WHY, "%s", dn_error_text(DN_ENOMEM));
    const dn_data_url url = dn_data_url_of(d->settings->data);
    const int         rc = dn_store_held(url.text, &hold, why);
    if (rc < 0) return rc;
    return url_file_put(d->settings->data, d->listens, hold.sign, d->web.tls ? pin : NULL, why);
}

/* A full disk does not prevent the start: commands can still name the URL. */
static void url_say(const served *d) {
    char why[URL_FILE_WHY];

    if (url_put(d, why) < 0)
        dn_log(DN_LOG_WARN, "url.unwritten", "commands need --url and a token: %s", why);
}

static void on_renewed(void *context) { url_say(context); }

static int tls_take(served *d) {
    char      why[DN_SETTINGS_WHY];
    const int rc = serve_tls_take(d->settings, &d->web.tls, why);

    return rc == DN_OK ? DN_EXIT_DONE : complain(DN_EXIT_USAGE, "%s", why);
}

static void slo_take(served *d) {
    const dn_settings        *s = d->settings;
    const dn_daily_slo_config config = {
        .eval_ms = s->slo_eval_ms,
        .window_minutes = (uint32_t)s->slo_window_minutes,
        .breach_consecutive = (uint32_t)s->breach_consecutive,
        .tick_budget_ms = (double)s->tick_budget_ms,
        .sat_ratio = s->sat_ratio,
        .depth_avg_max = (double)s->depth_avg_max,
        .job_p95_max_ms = (double)s->job_p95_max_ms,
        .cutoff_rate_max = s->cutoff_rate_max,
        .cutoff_objective = s->cutoff_objective,
    };

    dn_daily_slo_init(&d->slo, &config);
}

static int recorder_take(served *d) {
    const dn_settings *s = d->settings;
    char               why[DN_RECORDER_WHY];

    if (*s->record == '\0') return DN_EXIT_DONE;
    if (dn_recorder_check(s->record, why) < 0) return complain(DN_EXIT_USAGE, "%s", why);
    slo_take(d);
    d->recorded = (dn_recorder_config){.path = s->record,
                                       .bytes_max = s->record_max_mib << 20,
                                       .files = (uint32_t)s->record_files,
                                       .service = &d->service,
                                       .slo = &d->slo.config};
    if (dn_recorder_new(&d->recorded, &d->recorder) < 0)
        return complain(DN_EXIT_FAILED, "out of memory");
    d->service.journal = dn_recorder_journal_borrow(d->recorder);
    d->service.witness = dn_recorder_child_borrow(d->recorder);
    return DN_EXIT_DONE;
}

static int metrics_take(void) {
    char why[DN_METRICS_WHY];

    if (dn_daemon_metrics_start(DIURNAL_VERSION, DIURNAL_REVISION, why) == DN_OK)
        return DN_EXIT_DONE;
    return complain(DN_EXIT_FAILED, "%s", why);
}

static int tree_make(served *d) {
    const dn_settings *s = d->settings;

    d->runner_shown = dn_settings_masked_copy(s->demo ? "demo:" : s->runner);
    if (!d->runner_shown) return complain(DN_EXIT_FAILED, "out of memory");
    d->service.fatal = on_fatal;
    d->service.all_written = &d->all_written;
    d->about = (dn_about){.service = &d->service,
                          .data = s->data,
                          .version = DIURNAL_VERSION,
                          .runner = d->runner_shown,
                          .listens = d->listens};
    d->web.service = &d->service;
    d->web.about = &d->about;
    d->web.settings = d->settings_shown;
    d->web.renewed = on_renewed;
    d->web.context = d;
    d->web.on_loopback = dn_web_on_loopback(d->web.listener);
    d->web.conns_max = serve_web_conns(s);
    d->hangup = (dn_hangup_config){.on_hangup = on_hangup, .context = d};
    d->startup = (startup_config){.data = s->data,
                                  .listens = d->listens,
                                  .scheme = d->web.tls ? "https" : "http",
                                  .runner = d->runner_shown,
                                  .program = d->call->program,
                                  .tick_ms = s->tick_ms,
                                  .window_minutes = (uint32_t)s->window_minutes,
                                  .max_concurrency = (uint32_t)s->max_concurrency,
                                  .demo = s->demo};
    d->edge[0] = dn_hangup_child(&d->hangup);
    d->edge[1] = startup_child(&d->startup);
    d->edge[2] = dn_web_child(&d->web);
    d->edge[3] = dn_metrics_child(&d->service);
    slo_take(d);
    d->edge[4] = dn_slo_watcher_child(&d->slo.watcher);
    d->edge[5] = dn_log_keeper_child();
    d->edge[6] = state_log_child();
    dn_service_tree_make(&d->service, d->edge, EDGE, &d->tree);
    return DN_EXIT_DONE;
}

/* errno is that of dn_runtime_new. */
static int complain_of_runtime(int rc) {
    struct rlimit limit = {0};

    if (rc == DN_EIO && errno == EMFILE && getrlimit(RLIMIT_NOFILE, &limit) == 0)
        return complain(DN_EXIT_FAILED,
                        "open files: the limit is %lld, and too many were open at the start; raise "
                        "the limit (ulimit -Hn, LimitNOFILE=) or close some",
                        (long long)limit.rlim_cur);
    return complain(DN_EXIT_FAILED, "cannot start the runtime: %s",
                    rc == DN_EIO ? strerror(errno) : dn_error_text(rc));
}

static int run_to_the_end(served *d) {
    const char *loops[DN_SERVICE_LOOPS + 1];
    for (int i = 0; i < DN_SERVICE_LOOPS; i++) loops[i] = dn_service_loops[i];
    loops[DN_SERVICE_LOOPS] = "record";
    const dn_runtime_config config = {
        .loops = loops, .loops_len = DN_SERVICE_LOOPS + (d->recorder != NULL), .notice = on_notice};
    const dn_spawn_spec root = {
        .actor_class = &dn_supervisor_class, .config = &d->tree.top, .name = DN_SERVICE_TOP};
    int rc = dn_runtime_new(&config, &d->runtime);

    if (rc < 0) return complain_of_runtime(rc);
    listen_to_signals(d->runtime);
    rc = dn_runtime_run(d->runtime, &root);
    stops_mask(SIG_BLOCK); /* signals from here on are for the restarted daemon, if any */
    d->to_start_anew = starts_anew && stops_asked == 0;
    if (stops_asked > 1) return complain(DN_EXIT_FAILED, "stopped at once by a second signal");
    if (rc < 0) return complain(DN_EXIT_FAILED, "ended: %s", dn_error_text(rc));
    dn_log(DN_LOG_INFO, "daemon.stopped",
           d->all_written ? "everything is committed" : "not everything is committed");
    return DN_EXIT_DONE;
}

static void served_done(served *d) {
    dn_runtime_free(d->runtime);
    dn_recorder_free(d->recorder);
    if (d->web.listener >= 0) (void)close(d->web.listener);
    dn_web_tls_free(d->web.tls);
    if (d->service.store) url_file_remove(d->settings->data);
    dn_store_free(d->service.store);
    dn_settings_free(d->settings);
    dn_secrets_free(d->secrets);
    free(d->runner_shown);
    free(d->settings_shown);
}

int cmd_serve(const call *c) {
    served *d = calloc(1, sizeof *d);
    int     code;

    if (!d) return complain(DN_EXIT_FAILED, "out of memory");
    ignore_signals();
    d->call = c;
    d->web.listener = -1;
    if (readlink("/proc/self/exe", d->executable, sizeof d->executable - 1) < 0)
        d->executable[0] = '\0';
    code = settings_take(d);
    if (code == DN_EXIT_DONE) code = tls_take(d);
    /* An unusable address must not leave a new data directory. If a store exists, its lock is taken first, because "in use
     * by process 24820" says more than an address in use. */
    if (code == DN_EXIT_DONE && !has_store(d)) code = listener_take(d);
    if (code == DN_EXIT_DONE) code = store_take(d);
    if (code == DN_EXIT_DONE) code = demo_take(d);
    if (code == DN_EXIT_DONE) code = token_take(d);
    if (code == DN_EXIT_DONE) code = settings_show(d);
    if (code == DN_EXIT_DONE) code = listener_take(d);
    if (code == DN_EXIT_DONE) url_say(d);
    if (code == DN_EXIT_DONE) code = recorder_take(d);
    if (code == DN_EXIT_DONE) code = metrics_take();
    if (code == DN_EXIT_DONE) code = tree_make(d);
    if (code == DN_EXIT_DONE) code = run_to_the_end(d);
    served_done(d);
    if (code == DN_EXIT_DONE && d->to_start_anew) code = start_anew(d);
    free(d);
    return code;
}
