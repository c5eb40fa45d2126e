/* runtime.h - all actors of a program: loops, start, stop, and messages from outside.
 * A runtime has a few loops and one root actor, usually a supervisor. The first loop runs on the caller's thread, each
 * other loop on a thread of its own. When the root ends, all actors end. */
#ifndef DIURNAL_RUNTIME_H
#define DIURNAL_RUNTIME_H

#include "diurnal/actor.h"

typedef struct dn_runtime dn_runtime;

enum { DN_LOOPS_MAX = 16 };

/* What the runtime reports about itself, for a log. */
typedef enum dn_notice_kind {
    DN_NOTICE_CRASH,        /* an actor failed */
    DN_NOTICE_DEAD_LETTERS, /* messages to actors that have ended: the first few, then at each doubling */
    DN_NOTICE_UNHANDLED, /* messages without a handler; likewise */
    DN_NOTICE_STALL,     /* a handler has not returned for stall_ms */
    DN_NOTICE_STALL_OVER,
    DN_NOTICE_CLOCK_STEP,
    DN_NOTICE_LEFTOVER, /* a libuv handle was still open at shutdown */
} dn_notice_kind;

typedef struct dn_notice {
    dn_notice_kind kind;
    const char    *loop;
    const char    *actor;    /* name or class; "" if none */
    uint32_t       msg_kind; /* 0 if none */
    int            reason;
    int64_t        amount; /* dead letters so far, ms of a stall or of a clock step */
    const char    *why;
} dn_notice;

/* Called on the thread where it happened. Must not block, and must not call the runtime. Borrows notice. */
typedef void dn_notice_fn(void *context, const dn_notice *notice);

/* Prints one line to standard error. The default. */
void dn_notice_print(void *context, const dn_notice *notice);

typedef struct dn_runtime_config {
    const char *const
                 *loops; /* names; the first runs on the caller's thread. NULL: one loop, "main" */
    size_t        loops_len;
    dn_notice_fn *notice; /* NULL: dn_notice_print */
    void         *notice_context;
    int64_t       stall_ms; /* a handler that takes longer is reported. 0: 1000. -1: never */
} dn_runtime_config;

/* DN_OK: the caller owns *out_runtime. On DN_ENOMEM, DN_EINVAL or DN_EIO (see errno) it is untouched.
 * Borrows the strings of config until dn_runtime_free. */
DN_MUST_USE int dn_runtime_new(const dn_runtime_config *config, dn_runtime **out_runtime);

/* Starts the root on the first loop and runs until the root has ended. Returns DN_OK if it ended normally or was stopped,
 * otherwise the reason of its end. Called once for each runtime. root->loop must be NULL. */
DN_MUST_USE int dn_runtime_run(dn_runtime *runtime, const dn_spawn_spec *root);

/* Requests a stop of the root. Called a second time, it kills all actors at once. Any thread, and signal handlers. */
void dn_runtime_stop(dn_runtime *runtime);

/* Must not be called while dn_runtime_run runs. Accepts NULL. */
void dn_runtime_free(dn_runtime *runtime);

/* Sends from outside an actor: from a libuv callback or a worker thread. Returns the codes of dn_send, or DN_ENOMEM. Any
 * thread, from dn_runtime_new until dn_runtime_free. */
DN_MUST_USE int dn_post(dn_runtime *runtime, dn_ref to, uint32_t kind, const void *body,
                        size_t size);

/* The same with an existing body, which is taken on DN_OK only. release(body) is then called on any thread, possibly before
 * this returns. */
DN_MUST_USE int dn_post_take(dn_runtime *runtime, dn_ref to, uint32_t kind, void *body, size_t size,
                             void (*release)(void *body));

/* As dn_name, from outside an actor. DN_NOBODY: the name is not valid, or out of memory. Any thread. */
dn_ref dn_runtime_name(dn_runtime *runtime, const char *name);

dn_runtime *dn_self_runtime(const dn_self *self);

/* The clocks of the actors on this thread's loop, for code that has no dn_self (telemetry handlers, log lines). On a thread
 * without a loop: the clocks of the machine. Any thread. */
int64_t dn_thread_mono_ns(void); /* dn_mono_ns */
int64_t dn_thread_now_ms(void);  /* dn_now_ms */

/* The libuv loop of the actor's loop, for handles of the actor. NULL in a simulation.
 * A callback may only post messages. The actor closes a handle through dn_own, and the close callback frees it. That callback
 * runs after the actor has ended, so a handle must not be in the actor's state or heap. */
struct uv_loop_s *dn_uv_loop(dn_self *self);

#endif
