/* runner.c - chooses the scheme of a runner, and frees runners and runs.
 * A run belongs to the actor that began it; its connection or process belongs to its runner. Either may go first. A runner
 * lists all its runs, so that a run whose actor failed in dn_run_begin, which no actor owns, goes with the runner. */
#include "scheme.h"

#include "base/text.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <uv.h>

enum { AGAIN_MS = 5, SPARE_MAX = 1024 };

static const struct {
    const char   *prefix;
    const scheme *scheme;
} schemes[] = {
    {"http://", &http_scheme},   {"https://", &http_scheme}, {"exec:", &exec_scheme},
    {"native:", &native_scheme}, {"demo:", &demo_scheme},
};

/* ---- Words ---- */

static void one_line(char *text) {
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f) *text = ' ';
}

void run_error(dn_run *run, const char *format, ...) {
    char   *error = run->answer.error;
    va_list args;

    va_start(args, format);
    (void)vsnprintf(error, sizeof run->answer.error, format, args);
    va_end(args);
    one_line(error);
}

/* ---- Runners ---- */

static const scheme *scheme_of(const char *url) {
    if (!url) return &scripted_scheme;
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++)
        if (strncasecmp(url, schemes[i].prefix, strlen(schemes[i].prefix)) == 0)
            return schemes[i].scheme;
    return NULL;
}

int dn_runner_check(const dn_runner_config *config, char *why) {
    const scheme *known = scheme_of(config->url);

    if (!known)
        return dn_refuse(DN_EINVAL, why, DN_RUNNER_WHY,
                         "runner \"%.100s\": no known scheme; want http://…, https://…, "
                         "exec:/path args…, native:NAME or demo:",
                         config->url);
    return known->check(config, why);
}

static int runner_again_init(dn_runner *runner) {
    if (!runner->uv) return DN_OK;
    runner->again = calloc(1, sizeof *runner->again);
    if (!runner->again) return DN_ENOMEM;
    uv_timer_init(runner->uv, runner->again);
    runner->again->data = runner;
    return DN_OK;
}

static void again_closed(uv_handle_t *handle) { free(handle); }

static void runner_again_done(dn_runner *runner) {
    if (runner->again) uv_close((uv_handle_t *)runner->again, again_closed);
}

int dn_runner_new(dn_self *self, const dn_runner_config *config, dn_runner **out_runner,
                  char *why) {
    int        rc = dn_runner_check(config, why);
    dn_runner *runner;

    if (rc < 0) return rc;
    runner = calloc(1, sizeof *runner);
    if (!runner) return DN_ENOMEM;
    runner->scheme = scheme_of(config->url);
    runner->runtime = dn_self_runtime(self);
    runner->uv = dn_uv_loop(self);
    TAILQ_INIT(&runner->runs);
    TAILQ_INIT(&runner->spare);
    if (!runner->uv && !runner->scheme->simulates) rc = DN_EINVAL;
    if (rc == DN_OK) rc = runner_again_init(runner);
    if (rc == DN_OK) rc = runner->scheme->open(runner, config);
    if (rc == DN_EINVAL)
        rc = dn_refuse(DN_EINVAL, why, DN_RUNNER_WHY,
                       "runner \"%.100s\": not available in a simulation", config->url);
    if (rc < 0) {
        runner_again_done(runner);
        free(runner);
        return rc;
    }
    *out_runner = runner;
    return DN_OK;
}

static void run_drop_blobs(dn_run *run) {
    dn_blob_unref(run->body);
    dn_blob_unref(run->answer.body);
}

void dn_runner_free(void *thing) {
    dn_runner *runner = thing;
    dn_run    *run;

    if (!runner) return;
    while ((run = TAILQ_FIRST(&runner->runs))) {
        TAILQ_REMOVE(&runner->runs, run, link);
        if (run->phase <= RUN_UNDER_WAY && run->scheme->drop) run->scheme->drop(run);
        if (run->phase == RUN_BEGINNING) {
            run_drop_blobs(run);
            free(run);
            continue;
        }
        if (run->phase == RUN_UNDER_WAY && !run->alone) {
            run_error(run, "cut off: the runner stopped");
            run_end(run, dn_run_result_of(DN_OUTCOME_ERROR, DN_CODE_TRANSPORT, 0));
        }
        run->runner =
            NULL; /* one untold now stays so: its actor is flooded, and its watchers decide */
    }
    while ((run = TAILQ_FIRST(&runner->spare))) {
        TAILQ_REMOVE(&runner->spare, run, link);
        free(run);
    }
    if (runner->scheme->close) runner->scheme->close(runner);
    runner_again_done(runner);
    free(runner);
}

bool dn_runner_traces(const dn_runner *runner) { return runner->scheme->traces; }

/* ---- Runs ---- */

bool key_is_sound(const dn_run_request *request) {
    for (size_t i = 0; i < request->key_len; i++)
        if (request->key[i] <= ' ' || request->key[i] > '~') return false;
    return request->key_len > 0 && request->key_len <= DN_RUN_KEY_MAX;
}

void answer_clear(dn_run_answer *answer) {
    answer->body = NULL;
    answer->retry_after_ms = answer->rate_limit_remaining = answer->rate_limit_reset_ms = -1;
    answer->truncated = answer->json = answer->rate_limit_global = false;
    answer->rate_limit_bucket[0] = answer->error[0] = '\0';
}

/* What most schemes add to a run is a word: a call to clear it would take ten times as long. */
static void clear(void *state, size_t size) {
    if (size == sizeof(uint64_t)) memset(state, 0, sizeof(uint64_t));
    else memset(state, 0, size);
}

/* Zeroed, with an empty answer. */
static dn_run *run_take(dn_runner *runner) {
    dn_run *run = TAILQ_FIRST(&runner->spare);

    if (run) {
        TAILQ_REMOVE(&runner->spare, run, link);
        runner->spare_len--;
    } else {
        run = malloc(runner->scheme->run_size);
        if (!run) return NULL;
    }
    memset(run, 0, offsetof(dn_run, answer));
    answer_clear(&run->answer);
    clear(run + 1, runner->scheme->run_size - sizeof *run);
    return run;
}

/* With an address sanitizer none is kept, so that it sees a use after free. */
static void run_give(dn_runner *runner, dn_run *run) {
    run_drop_blobs(run);
#ifndef __SANITIZE_ADDRESS__
    if (runner && runner->spare_len < SPARE_MAX) {
        TAILQ_INSERT_HEAD(&runner->spare, run, link);
        runner->spare_len++;
        return;
    }
#else
    (void)runner;
#endif
    free(run);
}

int dn_run_begin(dn_runner *runner, dn_self *self, const dn_run_request *request, uint32_t kind,
                 dn_run **out_run) {
    dn_run *run;

    assert(request->key_len > 0 && request->key_len <= DN_RUN_KEY_MAX);
    run = run_take(runner);
    if (!run) {
        dn_blob_unref(request->body);
        return DN_ENOMEM;
    }
    run->body = request->body;
    run->scheme = runner->scheme;
    run->runner = runner;
    run->runtime = runner->runtime;
    run->task = dn_self_ref(self);
    run->kind = kind;
    run->lasts_ms = INT64_MAX;
    /* Listed first: begin may fail self, and then nobody else knows of it. */
    TAILQ_INSERT_TAIL(&runner->runs, run, link);
    runner->scheme->begin(run, self, request);
    if (run->phase == RUN_BEGINNING) run->phase = RUN_UNDER_WAY;
    *out_run = run;
    return DN_OK;
}

int64_t dn_run_lasts_ms(const dn_run *run) { return run->lasts_ms; }

void dn_run_cut(dn_run *run, dn_self *self) {
    if (run->phase != RUN_UNDER_WAY || run->was_cut) return;
    run->was_cut = true;
    run->scheme->cut(run, self);
}

const dn_run_answer *dn_run_answer_borrow(const dn_run *run) { return &run->answer; }

void dn_run_free(void *thing) {
    dn_run *run = thing;

    if (!run) return;
    if (run->runner) {
        if (run->phase == RUN_UNDER_WAY && run->scheme->drop) run->scheme->drop(run);
        TAILQ_REMOVE(&run->runner->runs, run, link);
    }
    run_give(run->runner, run);
}

/* ---- Their end ---- */

/* True: the message is on its way, or nobody is there to get it. */
static bool run_tell(dn_run *run) {
    const int rc = dn_post(run->runtime, run->task, run->kind, &run->result, sizeof run->result);

    if (rc == DN_EFULL || rc == DN_ENOMEM) return false;
    run->phase = RUN_OVER;
    return true;
}

static void on_again(uv_timer_t *timer) {
    const dn_runner *runner = timer->data;
    dn_run          *run;
    bool             all = true;

    for (run = TAILQ_FIRST(&runner->runs); run; run = TAILQ_NEXT(run, link)) {
        if (run->phase == RUN_UNTOLD && !run_tell(run)) all = false;
    }
    if (all) uv_timer_stop(timer);
}

/* A full mailbox passes; without its message a run would hold its slot for ever. */
static void run_try_again(dn_runner *runner) {
    if (!uv_is_active((uv_handle_t *)runner->again))
        uv_timer_start(runner->again, on_again, AGAIN_MS, AGAIN_MS);
}

void run_end(dn_run *run, dn_run_result result) {
    assert(run->phase <= RUN_UNDER_WAY && "a run ends once");
    run->result = result;
    run->phase = RUN_UNTOLD;
    if (!run_tell(run)) run_try_again(run->runner);
}
