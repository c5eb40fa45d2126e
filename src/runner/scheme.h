/* scheme.h - what the runners of all schemes have in common, and what each adds.
 * A scheme is a table of six functions. runner.c owns the life of a runner and of its runs and calls them;
 * a scheme never frees a run, and says run_end once for each that it has begun, cut or not. */
#ifndef DIURNAL_RUNNER_SCHEME_H
#define DIURNAL_RUNNER_SCHEME_H

#include "diurnal/runtime.h"
#include "runner.h"

#include <sys/queue.h>

typedef enum run_phase {
    RUN_BEGINNING, /* dn_run_begin has not returned: nobody owns it but its runner */
    RUN_UNDER_WAY,
    RUN_UNTOLD, /* ended; its message found no room, and is tried again */
    RUN_OVER,   /* its message is on its way, or is a timer's that needs nobody any more */
} run_phase;

typedef struct scheme scheme;

struct dn_run {
    const scheme *scheme;
    dn_runner    *runner; /* NULL: it has gone */
    TAILQ_ENTRY(dn_run) link;
    run_phase     phase;
    bool          was_cut;
    bool          alone; /* goes on, and may be cut, without its runner */
    int64_t       lasts_ms;
    dn_runtime   *runtime;
    dn_ref        task;
    uint32_t      kind;
    dn_run_result result; /* RUN_UNTOLD */
    dn_blob      *body;   /* of its request; a reference until the run is freed */
    dn_run_answer answer; /* last: run_take does not clear its texts */
};
typedef TAILQ_HEAD(run_list, dn_run) run_list;

struct dn_runner {
    const scheme      *scheme;
    dn_runtime        *runtime;
    struct uv_loop_s  *uv; /* NULL under simulation */
    run_list           runs;
    run_list           spare; /* of runs that are gone: for the next ones */
    uint32_t           spare_len;
    struct uv_timer_s *again; /* tries what is untold. NULL under simulation */
    void              *state; /* the scheme's */
};

struct scheme {
    size_t
        run_size; /* of the scheme's struct of a run, which begins with a dn_run; zeroed before begin */
    bool simulates; /* needs nothing of the world */
    bool traces;    /* sends a traceparent: wants entropy */

    /* As dn_runner_check, for a URL of this scheme. */
    int (*check)(const dn_runner_config *config, char *why);

    /* Sets runner->state. config has passed check. DN_ENOMEM, or DN_EINVAL: it needs a loop of libuv. */
    int (*open)(dn_runner *runner, const dn_runner_config *config);

    /* Everything goes at once. Its runs have been dropped. May be NULL. */
    void (*close)(dn_runner *runner);

    /* Whatever goes wrong is said with run_end, at once or later. */
    void (*begin)(dn_run *run, dn_self *self, const dn_run_request *request);

    /* Once at most, and not after run_end. */
    void (*cut)(dn_run *run, dn_self *self);

    /* Lets go of the run at once, without run_end. Also called outside any handler. May be NULL. */
    void (*drop)(dn_run *run);
};

extern const scheme http_scheme, exec_scheme, native_scheme, demo_scheme, scripted_scheme;

/* ---- For the schemes ---- */

/* The run has ended: its actor gets the message. From a handler or a callback of the loop. */
void run_end(dn_run *run, dn_run_result result);

/* Visible ASCII only: it can stand in a header and in an environment. */
bool key_is_sound(const dn_run_request *request);

/* An answer with nothing in it. */
void answer_clear(dn_run_answer *answer);

/* The error text of its answer: control characters become spaces, what is too long is cut. */
void run_error(dn_run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
