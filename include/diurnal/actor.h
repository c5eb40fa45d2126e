/* actor.h - what an actor sees: itself, others, messages, time.
 *
 * An actor is a class and a private state. It handles one message at a time, to the end, on the
 * one loop (thread) it lives on for life. It shares nothing: what it knows it was told by message.
 * If it fails, it ends alone: its heap, its timers and everything it owns go with it, and whoever
 * watches it is told.
 *
 * Unless a line says "Any thread.", a function here is called only from inside the handler of the
 * actor that `self` is. No function here blocks. */
#ifndef DIURNAL_ACTOR_H
#define DIURNAL_ACTOR_H

#include "diurnal/base.h"

/* The running actor. Borrowed for the length of the handler; never stored, never shared. */
typedef struct dn_self dn_self;

/* A message. Owned by exactly one party; sending moves it. */
typedef struct dn_msg dn_msg;

/* An address: one incarnation of an actor, or a name. A value, copied freely. A stale one is
 * harmless: sends to it answer DN_EDEAD. */
typedef struct dn_ref {
    uint64_t bits;
} dn_ref;

#define DN_NOBODY ((dn_ref){0})

static inline bool dn_ref_equal(dn_ref a, dn_ref b) { return a.bits == b.bits; }
static inline bool dn_ref_is_nobody(dn_ref ref) { return ref.bits == 0; }

/* ---- Message kinds ----
 * Kinds from 1 to DN_KIND_MAX are the program's; these above it are the runtime's. */
enum {
    DN_KIND_ANY = 0, /* in a handler table only: whatever no other row names; must stand last */
    DN_KIND_MAX = 0x001fffff,
    DN_MSG_DOWN,        /* dn_down:    an actor watched with dn_monitor has ended */
    DN_MSG_CALL_FAILED, /* dn_call_failed: a call will not be answered */
    DN_MSG_STARTED,     /* dn_started: a spawn that answered DN_PENDING has come to its end */
    DN_MSG_STARTING, /* dn_started, status DN_PENDING: a spawn on another loop is there, and its start
                           goes on. It may be left unhandled */
    DN_MSG_ROOM,     /* dn_room:    a lane that was full has room again */
    DN_MSG_CLOCK,    /* dn_clock_step: the wall clock stepped (dn_watch_clock) */
    DN_MSG_REPORT,   /* dn_report:  the answer to dn_inspect */
};

/* ---- Classes ---- */

/* A handler answers DN_OK, DN_STOP (end normally after this message) or a negative code, which is
 * a crash with that code as its reason. It borrows msg until it returns. */
typedef int dn_handle_fn(dn_self *self, void *state, const dn_msg *msg);

typedef struct dn_handler {
    uint32_t      kind;
    dn_handle_fn *handle;
} dn_handler;

typedef struct dn_handlers {
    const dn_handler *rows;
    size_t            len;
} dn_handlers;

enum {
    DN_MAILBOX_MAX_DEFAULT = 1024,
    DN_HEAP_MAX_DEFAULT = 1 << 20,
    DN_FLUSH_MAX_DEFAULT = 4096,
    DN_NAME_MAX = 63,
};

/* What all actors of a kind have in common. Constant, and outlives its actors. */
typedef struct dn_class {
    const char *name;       /* shown in reports and crash lines */
    size_t      state_size; /* zeroed before init */

    /* Sets the state up. Runs to the end before dn_spawn returns. DN_OK: alive. DN_PENDING: not yet
     * alive for its starter; dn_init_done tells the outcome later. DN_STOP or a negative code: it
     * never was. config is borrowed for the call. May be NULL. */
    int (*init)(dn_self *self, void *state, const void *config);

    dn_handlers handlers; /* searched from the first row: put the busiest there */

    /* Called once after the messages that had gathered have all been handled, or after flush_max of
     * them without a pause, and before an orderly end if anything was handled since: group commit lives
     * here. Answers as a handler does. May be NULL. */
    int (*flush)(dn_self *self, void *state);

    /* Called when a stop is asked for. DN_STOP: end now. DN_OK: there is something to finish first;
     * the actor ends itself later by answering DN_STOP. A negative code is a crash. May be NULL,
     * which is as DN_STOP. */
    int (*stopping)(dn_self *self, void *state);

    /* Called on an orderly end (DN_STOP, dn_stop), not after a crash and not on dn_kill: a state
     * that may be broken is not asked to save itself. May be NULL. */
    void (*terminate)(dn_self *self, void *state);

    uint32_t mailbox_max; /* waiting messages from its own loop, and again from other loops; then
                             DN_EFULL. 0: DN_MAILBOX_MAX_DEFAULT */
    size_t   heap_max;    /* bytes dn_alloc may hand out, in pieces rounded up to 16; then the actor
                           fails. 0: DN_HEAP_MAX_DEFAULT */
    uint32_t flush_max;   /* 0: DN_FLUSH_MAX_DEFAULT */
    bool     drains;      /* a stop waits behind the messages that came before it, instead of
                             overtaking them */
} dn_class;

/* ---- Life ---- */

typedef uint64_t dn_watch_id; /* never 0 */

typedef struct dn_spawn_spec {
    const dn_class *cls;
    const void     *config;      /* handed to init; see config_size */
    size_t          config_size; /* 0: config is borrowed until init has run, which on another loop
                                    is until DN_MSG_STARTED. Else: so many bytes are copied */
    const char     *name;        /* registered before init, given back at the end. May be NULL */
    const char     *loop;        /* the loop to live on. NULL: self's own. A name no loop has means
                                    the first loop, so that one loop can carry a whole program */
    uint64_t        tag;         /* comes back in DN_MSG_STARTED, and in DN_MSG_DOWN if monitored */
    bool monitored; /* watch it: DN_MSG_DOWN will tell of its end, if it comes to be alive */
    dn_watch_id *out_quiet; /* not NULL: monitored, but nothing tells of an end with DN_OK; then it
                               no longer stands (dn_watch_stands). Only of one on self's own loop */
    bool         linked;    /* it is killed when self ends, however self ends */
} dn_spawn_spec;

/* Starts an actor. DN_OK: init has run, *out_ref is alive. DN_PENDING: DN_MSG_STARTED will tell;
 * that is so for every spawn on another loop, and where init answers DN_PENDING. Else nothing was
 * started: DN_EEXIST, DN_ENOMEM, DN_EINVAL, or what init answered. out_ref may be NULL. It is set with
 * DN_OK, and with DN_PENDING on self's own loop, where the one that starts can be stopped or killed by it;
 * on another loop DN_MSG_STARTING or DN_MSG_STARTED brings the address. Of an end before it is alive
 * DN_MSG_STARTED tells, and no DN_MSG_DOWN. */
DN_MUST_USE int dn_spawn(dn_self *self, const dn_spawn_spec *spec, dn_ref *out_ref);

typedef struct dn_started {
    uint64_t tag;
    dn_ref   who;    /* alive if status is DN_OK */
    int      status; /* DN_OK, or why there is no such actor; DN_PENDING in DN_MSG_STARTING only */
} dn_started;

/* Ends a start that init left pending: DN_OK, or a negative code, with which self then ends.
 * Called once, from a handler. */
void dn_init_done(dn_self *self, int status);

dn_ref      dn_self_ref(const dn_self *self);
const char *dn_self_name(const dn_self *self); /* its registered name, else its class's */

/* Asks for an orderly end: terminate, then gone, with reason DN_ESHUTDOWN. It overtakes waiting
 * messages unless the class drains. DN_OK: asked; a monitor tells when. DN_EDEAD: nobody there. */
DN_MUST_USE int dn_stop(dn_self *self, dn_ref who);

/* Ends it as soon as its loop gets to it, without terminate, with reason DN_EKILLED. */
DN_MUST_USE int dn_kill(dn_self *self, dn_ref who);

/* Ends the running actor here and now; does not return. why is copied: 47 bytes of it into DN_MSG_DOWN,
 * 127 into the crash report. Not to be called outside an actor: there it ends the process. */
_Noreturn void dn_fail(const char *why);
_Noreturn void dn_fail_code(int code, const char *why);

/* What an actor may demand of its own state and messages. */
#define DN_TEXT2(x)      #x
#define DN_TEXT(x)       DN_TEXT2(x)
#define dn_require(cond) ((cond) ? (void)0 : dn_fail(__FILE__ ":" DN_TEXT(__LINE__) ": " #cond))

/* ---- Sending ---- */

/* Copies size bytes into a message and sends it. DN_OK: it will be in the mailbox, behind what self
 * sent there before. DN_EFULL: the lane is full, nothing was sent. DN_EDEAD: nobody is there (and
 * one more dead letter is counted). Out of memory fails self. */
DN_MUST_USE int dn_send(dn_self *self, dn_ref to, uint32_t kind, const void *body, size_t size);

/* A message to be filled in place and then sent, or let go with dn_msg_free. Never NULL: out of
 * memory fails self. The body is zeroed. It is self's, and goes with self, until sent. */
dn_msg *dn_msg_new(dn_self *self, uint32_t kind, size_t size);

/* The same with a body that already exists: the message owns it and calls release for it. */
dn_msg *dn_msg_new_take(dn_self *self, uint32_t kind, void *body, size_t size,
                        void (*release)(void *body));
void   *dn_msg_body(dn_msg *msg);
void    dn_msg_free(dn_self *self, dn_msg *msg);

/* Takes the message being handled for later: to answer it, or to send it on. Until then it is
 * self's. Keeping the same message twice is a bug. */
dn_msg *dn_msg_keep(dn_self *self, const dn_msg *msg);

/* Sends a message that is self's: one from dn_msg_new or dn_msg_keep, or the one being handled.
 * Takes it on DN_OK only. A request sent on keeps its caller, who gets the answer from there. */
DN_MUST_USE int dn_send_take(dn_self *self, dn_ref to, dn_msg *msg);
DN_MUST_USE int dn_forward(dn_self *self, dn_ref to, const dn_msg *handled);

/* Asks for one DN_MSG_ROOM when `to`, whose lane answered DN_EFULL, has half of it free again, or has
 * ended. DN_EDEAD: it has ended already, and no message comes. */
DN_MUST_USE int dn_wait_room(dn_self *self, dn_ref to);

typedef struct dn_room {
    dn_ref who;
} dn_room;

/* ---- Reading a message ---- */

uint32_t    dn_msg_kind(const dn_msg *msg);
size_t      dn_msg_size(const dn_msg *msg);
dn_ref      dn_msg_from(const dn_msg *msg); /* the sender; DN_NOBODY if it was no actor */
const void *dn_msg_body_borrow(const dn_msg *msg);

/* The body as a T; a body of another size fails the actor. Borrowed as long as msg. */
#define DN_BODY(T, msg) ((const T *)dn_msg_body_sized_borrow((msg), sizeof(T)))
const void *dn_msg_body_sized_borrow(const dn_msg *msg, size_t size);

/* ---- Calls ----
 * A call is a request with a reference and a deadline. It ends exactly once: with the reply (of a kind
 * the replier chooses) or with DN_MSG_CALL_FAILED. A request dropped unanswered, wherever it is
 * (in a mailbox, in a handler, kept), fails its call at once; a reply that comes too late is counted
 * and dropped. */
typedef uint64_t dn_call_id; /* never 0 */

/* DN_OK: sent, *out_id set. DN_EFULL, DN_EDEAD: nothing was sent and nothing will come. */
DN_MUST_USE int dn_call(dn_self *self, dn_ref to, uint32_t kind, const void *body, size_t size,
                        int64_t timeout_ms, dn_call_id *out_id);

/* The caller no longer wants the answer. Harmless if it has come already. */
void dn_call_cancel(dn_self *self, dn_call_id id);

/* Answers a request: the one being handled, or one kept. Takes it. A second answer to the same one,
 * or an answer to what is no request, is a bug and ends the process. A caller that has gone or no
 * longer waits is not the replier's concern. */
void dn_reply(dn_self *self, const dn_msg *request, uint32_t kind, const void *body, size_t size);

bool       dn_msg_is_request(const dn_msg *msg);
dn_call_id dn_msg_call(const dn_msg *msg);     /* of a request, reply, failure or report; else 0 */
int64_t    dn_msg_deadline(const dn_msg *msg); /* of a request: monotonic ns; else INT64_MAX */

typedef struct dn_call_failed {
    dn_call_id id;
    int        status; /* DN_ETIME; DN_EDEAD: whoever was to answer is gone; DN_EUNANSWERED: it is
                          there, and has let the request go */
} dn_call_failed;

/* ---- Watching ---- */

/* Exactly one DN_MSG_DOWN when who ends, behind everything it sent to self before, and what it sent to others is with
 * them before anything that self sends them from then on; at once, with DN_EDEAD, if it has ended. Through a name it watches the present holder. */
dn_watch_id dn_monitor(dn_self *self, dn_ref who, uint64_t tag);

/* After this no DN_MSG_DOWN for id is handled, even one already waiting. What was linked stays so. */
void dn_demonitor(dn_self *self, dn_watch_id id);

/* False: it was withdrawn, or its DN_MSG_DOWN has been handled, or it was a quiet one and will never tell. */
bool dn_watch_stands(dn_self *self, dn_watch_id id);

enum { DN_WHY_MAX = 48 };

typedef struct dn_down {
    dn_ref   who;
    uint64_t tag;
    int      reason;          /* DN_OK normal, DN_ESHUTDOWN, DN_EKILLED, or what it failed with */
    char     why[DN_WHY_MAX]; /* the words it failed with, or "" */
} dn_down;

/* ---- Names ---- */

/* The address of whoever holds the name at the time of each send. A name need not be held yet. Fails
 * self if name is empty, longer than DN_NAME_MAX, or memory is out. */
dn_ref dn_name(dn_self *self, const char *name);

/* Who holds it now, or DN_NOBODY. Of an address that is no name: itself, or DN_NOBODY if it has ended. */
dn_ref dn_whereis(dn_self *self, dn_ref name);

/* ---- Time ----
 * Time stands still inside a handler: these are the instant at which it began. Handlers of less than
 * about a quarter of a microsecond share one reading of the clock with up to 63 others; should one of
 * those take long after all, the rest of that batch is late by as much. */
int64_t dn_now_ms(const dn_self *self);  /* wall clock, ms since 1970 UTC; may step */
int64_t dn_mono_ns(const dn_self *self); /* steady; stands still while the machine is suspended */
int64_t dn_boot_ns(const dn_self *self); /* steady; goes on while the machine is suspended */

/* The steady clock, read now: for how long a part of a handler took. */
int64_t dn_read_mono_ns(const dn_self *self);

typedef uint64_t dn_timer_id; /* never 0 */

/* Sends self a message of that kind whose body is `value`, once, when delay_ms or more have passed; never
 * earlier. Where at most eight are due in a millisecond each comes at its own microsecond; where they
 * crowd they come together at its end. Those due at the same instant come in the order they were
 * armed. The message is exempt from the mailbox's bound. */
dn_timer_id dn_timer_after(dn_self *self, int64_t delay_ms, uint32_t kind, uint64_t value);
dn_timer_id dn_timer_at_mono(dn_self *self, int64_t mono_ns, uint32_t kind, uint64_t value);

/* The same at an instant of the wall clock, wherever that clock is set meanwhile. */
dn_timer_id dn_timer_at_wall(dn_self *self, int64_t wall_ms, uint32_t kind, uint64_t value);

/* True: it was armed, and will not fire. False: it had fired, or there is no such timer; its
 * message may still be waiting. */
bool dn_timer_cancel(dn_self *self, dn_timer_id id);

/* From now on self gets DN_MSG_CLOCK whenever the wall clock steps. */
void dn_watch_clock(dn_self *self);

typedef struct dn_clock_step {
    int64_t step_ms; /* how far the wall clock moved against the steady one */
} dn_clock_step;

/* ---- What an actor owns ---- */

/* Memory from the actor's own heap: zeroed, aligned for anything, gone when the actor goes. Never
 * NULL: past the class's heap_max, or out of memory, self fails. */
void *dn_alloc(dn_self *self, size_t size);

/* From now on thing goes when self goes: release(thing) is called, newest first. If there is no
 * memory to remember it, it is released at once and self fails. */
void dn_own(dn_self *self, void *thing, void (*release)(void *thing));

/* Takes it back without releasing it. False: self does not own it. Newest first. */
bool dn_disown(dn_self *self, void *thing);

/* Randomness of this runtime: from the system, or from the seed of a simulation. */
uint64_t dn_random(dn_self *self);

/* ---- Looking inside ---- */

typedef struct dn_actor_report {
    dn_ref      who;
    char        name[DN_NAME_MAX + 1]; /* registered name, else class */
    const char *cls;
    uint32_t    depth, depth_peak;
    uint64_t    handled;
    int64_t     busy_ns;    /* time in handlers; see docs/runtime.md for what is sampled */
    int64_t     longest_ns; /* the longest one seen, and the kind of message that took it */
    uint32_t    longest_kind;
    size_t      heap_bytes; /* state and arena */
    uint32_t    restarts;   /* of the name, since the runtime began */
} dn_actor_report;

enum { DN_CRASH_WHY_MAX = 128 };

typedef struct dn_crash_report {
    int64_t  at_ms;
    char     name[DN_NAME_MAX + 1];
    uint32_t kind; /* of the message being handled; 0 outside one */
    int      reason;
    char     why[DN_CRASH_WHY_MAX];
} dn_crash_report;

enum { DN_CRASHES_KEPT = 16 };

typedef struct dn_report {
    char     loop[DN_NAME_MAX + 1];
    uint64_t actors, spawned, ended, crashed;
    uint64_t handled, full, dead_letters, unhandled, late_replies, expired_calls;
    uint64_t exempt; /* messages that came past the bounds: replies, timers, the system lane */
    uint64_t wakeups, crash_points;
    int64_t  unattributed_ns; /* time seen passing that could not be laid to one actor */
    size_t   memory_bytes;    /* what the loop's pools have taken from the system */

    dn_crash_report crashes[DN_CRASHES_KEPT]; /* newest first */
    size_t          crashes_len;
    size_t          actors_len; /* rows that follow; fewer than `actors` if max cut them off */
    dn_actor_report rows[];
} dn_report;

/* Asks a loop for a report of at most max actors, the named ones first; DN_MSG_REPORT brings it as a
 * dn_report (use dn_msg_body_borrow), or an empty body if there was no memory for it. loop as in
 * dn_spawn_spec. Its dn_msg_call is what this returns, which is more each time; it has no deadline. */
dn_call_id dn_inspect(dn_self *self, const char *loop, size_t max);

#endif
