/* runner.h - how work is run: a request goes in, an answer comes out, and both are byte strings.
 * A runner belongs to one loop. An actor there makes it, and actors of that loop begin its runs, one each. A runner never
 * blocks its loop and never fails its caller: what goes wrong is a result. It does not read what it carries.
 *
 *     http://… https://…   one POST            exec:/path args…   one process
 *     native:NAME          a C function        demo:              made up, for trying things out
 *     scripted (no URL)    as a script says, in the actors' own time: for the simulation */
#ifndef DIURNAL_RUNNER_RUNNER_H
#define DIURNAL_RUNNER_RUNNER_H

#include "base/blob.h"
#include "diurnal/actor.h"

typedef struct dn_runner dn_runner; /* the way in */
typedef struct dn_run    dn_run;    /* one attempt under way */

/* ---- What is asked ---- */

enum {
    DN_RUN_KEY_MAX = 511,        /* bytes of an idempotency key */
    DN_RUN_ANSWER_MAX = 1 << 20, /* bytes of an answer's body that are kept */
};

typedef struct dn_run_request {
    const char *
        key; /* idempotency key: 1 to DN_RUN_KEY_MAX visible ASCII characters. Borrowed for the call */
    size_t   key_len;
    dn_blob *body;   /* JSON; NULL: empty. dn_run_begin takes this reference, even if it fails */
    int64_t  now_ms; /* wall clock */
    int64_t  timeout_ms; /* the caller cuts the run off after this */
    uint64_t entropy[3]; /* for the traceparent; random, if dn_runner_traces */
} dn_run_request;

/* ---- What comes of it ---- */

typedef enum dn_outcome {
    DN_OUTCOME_OK = 1,
    DN_OUTCOME_ERROR,
    DN_OUTCOME_TIMEOUT,
    DN_OUTCOME_CRASH, /* of a script: the actor that began the run is to fail now */
} dn_outcome;

/* What the code of a result is. */
typedef enum dn_code_kind {
    DN_CODE_NONE, /* there is none, or a C function gave it a meaning */
    DN_CODE_HTTP, /* the status of a complete answer, or of one whose body is cut at DN_RUN_ANSWER_MAX */
    DN_CODE_EXIT,      /* an exit status */
    DN_CODE_SIGNAL,    /* 128 + the signal that ended the process, as a shell has it */
    DN_CODE_TRANSPORT, /* no complete answer: the status if one had come, else 0 */
} dn_code_kind;

/* A result is one word, so that a message, a timer or a post can carry it. */
typedef uint64_t            dn_run_result;
static inline dn_run_result dn_run_result_of(dn_outcome outcome, dn_code_kind kind, uint32_t code) {
    return (uint64_t)code << 32 | (uint64_t)kind << 8 | (uint64_t)outcome;
}
static inline dn_outcome   dn_run_outcome(dn_run_result r) { return (dn_outcome)(r & 0xff); }
static inline dn_code_kind dn_run_code_kind(dn_run_result r) {
    return (dn_code_kind)(r >> 8 & 0xff);
}
static inline uint32_t dn_run_code(dn_run_result r) { return (uint32_t)(r >> 32); }

/* What else an answer has. Of an HTTP answer that is not complete, what had come. */
typedef struct dn_run_answer {
    dn_blob     *
        body; /* NULL: none. HTTP: its first DN_RUN_ANSWER_MAX bytes. exec: the last ones of standard output */
    int64_t retry_after_ms; /* -1: not given; likewise the two below */
    int64_t rate_limit_remaining;
    int64_t rate_limit_reset_ms; /* from now on */
    bool    truncated;           /* there was more of the body than is kept */
    bool    json;                /* the content type says JSON */
    bool    rate_limit_global;
    char    rate_limit_bucket[64]; /* "": not given */
    char    error[192];            /* one line for the log and for people, or "" */
} dn_run_answer;

/* An answer that says nothing besides the result. */
#define DN_RUN_ANSWER_NONE                                                                         \
    ((dn_run_answer){.retry_after_ms = -1, .rate_limit_remaining = -1, .rate_limit_reset_ms = -1})

/* True: the answer says nothing besides the result. */
static inline bool dn_run_answer_is_empty(const dn_run_answer *a) {
    return !a->body && !*a->error && a->retry_after_ms < 0 && a->rate_limit_remaining < 0 &&
           a->rate_limit_reset_ms < 0 && !*a->rate_limit_bucket;
}

/* ---- A runner ---- */

/* A function of a program that embeds diurnal. It may fill in *answer, which has nothing in it yet; the runner takes the body
 * that it puts there. `blocks`: the function is called on a thread of a small pool, and may wait; else on the loop, and must
 * not. */
typedef dn_run_result dn_native_fn(void *context, const dn_run_request *request,
                                   dn_run_answer *answer);
typedef struct dn_native_job {
    const char   *name;
    dn_native_fn *fn;
    void         *context;
    bool          blocks;
} dn_native_job;

/* What a script says of a run. */
typedef enum dn_script_end {
    DN_SCRIPT_ENDS,  /* with result and body, after duration_ms */
    DN_SCRIPT_HANG,  /* never */
    DN_SCRIPT_CRASH, /* the actor that began it fails after duration_ms */
} dn_script_end;
typedef struct dn_script_answer {
    dn_script_end end;
    dn_run_result result;
    dn_blob      *body; /* borrowed until the script is asked again. NULL: none */
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

/* Begins a run. Exactly one message of that kind comes to self, from a timer, a post or itself, with a dn_run_result for
 * its body. On DN_OK the run is self's: free it after that message, or before it to abandon the run (dn_own it with
 * dn_run_free). DN_ENOMEM: nothing was begun. */
DN_MUST_USE int dn_run_begin(dn_runner *runner, dn_self *self, const dn_run_request *request,
                             uint32_t kind, dn_run **out_run);

/* The message comes within so many ms of the beginning, whatever happens, so the caller needs no timer of its own.
 * INT64_MAX: not known. */
int64_t dn_run_lasts_ms(const dn_run *run);

/* Cuts a run off: its connection is closed, its processes get TERM, and KILL after kill_ms. Its message comes when they
 * are gone, if it has not come before; what it says does not matter any more. A native function that blocks cannot be
 * interrupted: its message comes when it returns. */
void dn_run_cut(dn_run *run, dn_self *self);

/* What the answer has besides the result. Read it after the message. Borrowed until dn_run_free. */
const dn_run_answer *dn_run_answer_borrow(const dn_run *run);

/* Before its message this cuts the run off at once, processes with KILL, and no message comes; unless it is on its way
 * already, or is a timer's (demo, scripted, native): an actor that lives on has to know its kinds apart. */
void dn_run_free(void *thing);

#endif
