/* runner.h - how a job is run: one small interface, whatever a job is.
 * A runner belongs to one loop and is made by an actor there; its runs are begun by actors of that
 * loop (the tasks), one run each. It never blocks and never fails its caller: what goes wrong is a
 * result.
 *
 *     http://… https://…   one POST            exec:/path args…   one process
 *     native:NAME          a C function        demo:              made up, for trying things out
 *     scripted (no URL)    as a script says, in the actors' own time: for the simulation */
#ifndef DIURNAL_RUNNER_RUNNER_H
#define DIURNAL_RUNNER_RUNNER_H

#include "diurnal/actor.h"
#include "domain/daily.h"

typedef struct dn_runner dn_runner; /* the way in */
typedef struct dn_run    dn_run;    /* one attempt under way */

/* ---- What is asked ---- */

typedef enum dn_run_type { DN_RUN_DAILY, DN_RUN_CUTOFF } dn_run_type;

typedef struct dn_run_request {
    dn_run_type type;
    const char *user_id; /* borrowed for the call */
    size_t      user_id_len;
    dn_day      day;
    uint32_t    due;
    uint32_t    attempt;
    uint32_t    context_epoch;
    int64_t     now_ms;     /* wall clock */
    int64_t     timeout_ms; /* whoever began it will cut it off then: "deadline" is now + this */
    uint64_t    entropy[3]; /* for the traceparent; random, if dn_runner_traces */
} dn_run_request;

/* ---- What comes of it ---- */

typedef enum dn_outcome {
    DN_OUTCOME_OK = 1,
    DN_OUTCOME_ERROR,
    DN_OUTCOME_TIMEOUT,
    DN_OUTCOME_CRASH, /* of a script: whoever began the run is to fail now */
} dn_outcome;

/* A result is one word, so that a message, a timer or a post can carry it. */
typedef uint64_t            dn_run_result;
static inline dn_run_result dn_run_result_of(dn_outcome outcome, dn_error_class cls,
                                             uint32_t code) {
    return (uint64_t)code << 32 | (uint64_t)cls << 8 | (uint64_t)outcome;
}
static inline dn_outcome     dn_run_outcome(dn_run_result r) { return (dn_outcome)(r & 0xff); }
static inline dn_error_class dn_run_class(dn_run_result r) {
    return (dn_error_class)(r >> 8 & 0xff);
}
static inline uint32_t dn_run_code(dn_run_result r) {
    return (uint32_t)(r >> 32);
} /* HTTP status, exit code */

/* ---- A runner ---- */

/* A function of a program that embeds diurnal. It answers a dn_run_result. `blocks`: it is called on
 * a thread of a small pool, and may wait; else on the loop, and must not. */
typedef dn_run_result dn_native_fn(void *context, const dn_run_request *request);
typedef struct dn_native_job {
    const char   *name;
    dn_native_fn *fn;
    void         *context;
    bool          blocks;
} dn_native_job;

/* What a script says of a run. DN_SCRIPT_HANG: it never ends by itself. DN_SCRIPT_CRASH: the actor that
 * began it fails when duration_ms have passed. */
typedef enum dn_script_how { DN_SCRIPT_ENDS, DN_SCRIPT_HANG, DN_SCRIPT_CRASH } dn_script_how;
typedef struct dn_script_answer {
    dn_script_how how;
    dn_run_result result;
    int64_t       duration_ms;
} dn_script_answer;
typedef dn_script_answer dn_script_fn(void *context, const dn_run_request *request);

typedef struct dn_runner_config {
    const char *url; /* NULL: scripted */
    uint32_t    concurrency_max;
    int64_t     connect_ms,
        idle_ms;        /* http: to be connected; without a byte. 0: as long as the job may take */
    const char *secret; /* http: "whsec_…", several with a space between: signs. NULL: does not */
    const char *ca_file;       /* http: NULL: the system's */
    bool        http2;         /* where offered, over TLS */
    bool        allow_private; /* link-local and metadata addresses too */
    int64_t     kill_ms;       /* exec: from TERM to KILL. 0: 5000 */
    uint64_t    seed;          /* demo */

    const dn_native_job *jobs;
    size_t               jobs_len;
    dn_script_fn        *script;
    void                *script_context;
} dn_runner_config;

enum { DN_RUNNER_WHY = 256 };

/* Is that a runner? DN_EINVAL: why has one line: what is wrong, and what would be right. Any thread. */
DN_MUST_USE int dn_runner_check(const dn_runner_config *config, char *why);

/* Copies what it keeps of config. The runner is released with dn_runner_free (dn_own it): runs still under
 * way are then cut off at once. */
DN_MUST_USE int dn_runner_new(dn_self *self, const dn_runner_config *config, dn_runner **out_runner,
                              char *why);
void            dn_runner_free(void *thing);
bool            dn_runner_traces(const dn_runner *runner);

/* Begins. Exactly one message of that kind comes to self, from a timer, a post or itself, with a
 * dn_run_result for its body. On DN_OK the run is self's; it is to be freed after that message, or
 * before it to abandon it (dn_own it with dn_run_free). DN_ENOMEM: nothing was begun. */
DN_MUST_USE int dn_run_begin(dn_runner *runner, dn_self *self, const dn_run_request *request,
                             uint32_t kind, dn_run **out_run);

/* Its message comes within so many ms of its beginning, whatever happens: nobody need watch the time. INT64_MAX: that is
 * not known. */
int64_t dn_run_lasts_ms(const dn_run *run);

/* Cuts it off: its connection is closed, its processes get TERM, and KILL after kill_ms. The message
 * then comes when they are gone, if it has not come before; what it says does not matter any more. A
 * native function that blocks cannot be interrupted: the message comes when it returns. */
void dn_run_cut(dn_run *run, dn_self *self);

/* What there is to say about how it ended, one line for the log, or "". Borrowed until dn_run_free. */
enum { DN_RUN_DETAIL = 192 };
const char *dn_run_detail_borrow(const dn_run *run);

/* Without a message before: cut off at once, processes with KILL, and nobody is told; unless the
 * message is on its way already, or is a timer's (demo, scripted, native): an actor that goes on
 * living knows its kinds apart. */
void dn_run_free(void *thing);

#endif
