/* scripted.c - runs that go as a script says, in the actors' own time: for replay and simulation. */
#include "timed.h"

#include "base/text.h"

#include <stdlib.h>

typedef struct script {
    dn_script_fn *fn;
    void         *context;
} script;

static int scripted_check(const dn_runner_config *config, char *why) {
    if (!config->script)
        return dn_refuse(DN_EINVAL, why, DN_RUNNER_WHY, "a runner needs a URL or a script");
    return DN_OK;
}

static int scripted_open(dn_runner *runner, const dn_runner_config *config) {
    script *s = calloc(1, sizeof *s);

    if (!s) return DN_ENOMEM;
    *s = (script){.fn = config->script, .context = config->script_context};
    runner->state = s;
    return DN_OK;
}

static void scripted_close(dn_runner *runner) { free(runner->state); }

static void scripted_begin(dn_run *run, dn_self *self, const dn_run_request *request) {
    const script          *s = run->runner->state;
    const dn_script_answer says = s->fn(s->context, request);

    run->answer.body = dn_blob_ref(says.body);
    switch (says.end) {
    case DN_SCRIPT_ENDS: timed_after(run, self, says.duration_ms, says.result); return;
    case DN_SCRIPT_HANG: timed_never(run); return;
    case DN_SCRIPT_CRASH:
        timed_after(run, self, says.duration_ms,
                    dn_run_result_of(DN_OUTCOME_CRASH, DN_CODE_NONE, 0));
        return;
    }
    dn_fail("a script returned an unknown result");
}

const scheme scripted_scheme = {
    .run_size = sizeof(timed_run),
    .simulates = true,
    .check = scripted_check,
    .open = scripted_open,
    .close = scripted_close,
    .begin = scripted_begin,
    .cut = timed_cut,
};
