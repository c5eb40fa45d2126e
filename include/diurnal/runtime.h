/* runtime.h - a program's actors as a whole: loops, start, stop, and the way in from outside.
 * A runtime is a few loops (a thread each, the first one on the caller's) and one root actor,
 * usually a supervisor. When the root ends, everything ends. */
#ifndef DIURNAL_RUNTIME_H
#define DIURNAL_RUNTIME_H

#include "diurnal/actor.h"

typedef struct dn_runtime dn_runtime;

enum { DN_LOOPS_MAX = 16 };

/* Things worth a line in a log that no actor is there to say. Called on the thread where it
 * happened, so it must not block and must not call the runtime. */
typedef enum dn_notice_kind {
    DN_NOTICE_CRASH,        /* an actor failed */
    DN_NOTICE_DEAD_LETTERS, /* the first few one by one, then summed up */
    DN_NOTICE_UNHANDLED,    /* a message no handler wanted; likewise */
    DN_NOTICE_STALL,        /* a handler has not returned */
    DN_NOTICE_STALL_OVER,
    DN_NOTICE_CLOCK_STEP,
    DN_NOTICE_LEFTOVER, /* at shutdown something was left that should have been closed */
} dn_notice_kind;

typedef struct dn_notice {
    dn_notice_kind kind;
    const char    *loop;
    const char    *actor;    /* name or class; "" if none is concerned */
    uint32_t       msg_kind; /* the message concerned; 0 if none */
    int            reason;
    int64_t        amount; /* dead letters so far, ms of a stall or of a clock step */
    const char    *why;
} dn_notice;

typedef void dn_notice_fn(void *context, const dn_notice *notice);

/* One line on standard error; the default. */
void dn_notice_print(void *context, const dn_notice *notice);

typedef struct dn_runtime_config {
    const char *const *loops; /* names, the first is the caller's thread. NULL: one, "main" */
    size_t             loops_len;
    dn_notice_fn      *notice; /* NULL: dn_notice_print */
    void              *notice_context;
    int64_t            stall_ms; /* a handler that takes longer is named. 0: 1000. -1: never */
} dn_runtime_config;

/* DN_OK: the caller owns *out_runtime. DN_ENOMEM, DN_EINVAL or DN_EIO (errno says of what): it is untouched.
 * Borrows config's strings until dn_runtime_free. */
DN_MUST_USE int dn_runtime_new(const dn_runtime_config *config, dn_runtime **out_runtime);

/* Starts the root on the first loop and runs until it has ended. DN_OK if it ended normally or was
 * stopped, else the reason it ended with. Once for each runtime. spec.loop must be NULL. */
DN_MUST_USE int dn_runtime_run(dn_runtime *runtime, const dn_spawn_spec *root);

/* Asks the root to stop. A second time: no more waiting, everything is killed. Any thread, signal
 * handlers too. */
void dn_runtime_stop(dn_runtime *runtime);

/* Not while dn_runtime_run runs. Accepts NULL. */
void dn_runtime_free(dn_runtime *runtime);

/* Sends from outside any actor: a libuv callback, a worker thread. As dn_send, and DN_ENOMEM. Any thread,
 * from dn_runtime_new until dn_runtime_free. */
DN_MUST_USE int dn_post(dn_runtime *runtime, dn_ref to, uint32_t kind, const void *body,
                        size_t size);

/* The same with a body that already exists: on DN_OK alone it is the message's, which calls release for it, on whichever
 * thread it ends, and maybe before this returns. */
DN_MUST_USE int dn_post_take(dn_runtime *runtime, dn_ref to, uint32_t kind, void *body, size_t size,
                             void (*release)(void *body));

/* As dn_name, from outside; DN_NOBODY if the name cannot be one or memory is out. Any thread. */
dn_ref dn_runtime_name(dn_runtime *runtime, const char *name);

dn_runtime *dn_self_runtime(const dn_self *self);

/* The clocks as the actors of this thread's loop see them, for what is called there without their self (handlers of
 * telemetry, lines of the log); on any other thread the machine's. Any thread. */
int64_t dn_thread_mono_ns(void); /* dn_mono_ns */
int64_t dn_thread_now_ms(void);  /* dn_now_ms */

/* The libuv loop beneath the actor's loop, for its handles: struct uv_loop_s. Callbacks on it must
 * post messages and nothing more. A handle is closed by what the actor owns (dn_own), and freed by its
 * close callback: until that has run, which is after the actor has gone, libuv still uses it, so it must
 * not lie in the actor's state or heap. NULL under simulation. */
struct uv_loop_s *dn_uv_loop(dn_self *self);

#endif
