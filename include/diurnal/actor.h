/* actor.h - what an actor can use: itself, other actors, messages, time.
 *
 * An actor is a class and a private state. It runs on one loop (thread) for its whole life and handles one message at a
 * time, to the end. It shares no memory with other actors. If it fails, only it ends: its heap, its timers and everything
 * it owns are released, and the actors that watch it get DN_MSG_DOWN.
 *
 * Unless a line says "Any thread.", a function here is called only from inside the handler of the
 * actor that `self` is. No function here blocks. */
#ifndef DIURNAL_ACTOR_H
#define DIURNAL_ACTOR_H

#include "diurnal/base.h"

/* The running actor. Borrowed for the length of the handler; never stored, never shared. */
typedef struct dn_self dn_self;

/* A message. It has exactly one owner; sending it passes the ownership on. */
typedef struct dn_msg dn_msg;

/* An address: of one incarnation of an actor, or a name. A value, copied freely. A send to an actor that has ended returns
 * DN_EDEAD. */
typedef struct dn_ref {
    uint64_t bits;
} dn_ref;

#define DN_NOBODY ((dn_ref){0})

static inline bool dn_ref_equal(dn_ref a, dn_ref b) { return a.bits == b.bits; }
static inline bool dn_ref_is_nobody(dn_ref ref) { return ref.bits == 0; }

/* ---- Message kinds ----
 * Kinds from 1 to DN_KIND_MAX belong to the program, kinds above it to the runtime. */
enum {
    DN_KIND_ANY =
        0, /* only in a handler table: every kind that no other row names; must be the last row */
    DN_KIND_MAX = 0x001fffff,
    DN_MSG_DOWN,        /* dn_down: an actor watched with dn_monitor has ended */
    DN_MSG_CALL_FAILED, /* dn_call_failed: a call will get no reply */
    DN_MSG_STARTED,     /* dn_started: a spawn that returned DN_PENDING has succeeded or failed */
    DN_MSG_STARTING, /* dn_started, status DN_PENDING: the address of an actor on another loop that is
                           still starting. May be left unhandled */
    DN_MSG_ROOM,     /* dn_room: a mailbox that was full has free places again */
    DN_MSG_CLOCK,    /* dn_clock_step: the wall clock stepped (dn_watch_clock) */
    DN_MSG_REPORT,   /* dn_report: the reply to dn_inspect */
};

/* ---- Classes ---- */

/* A handler returns DN_OK, DN_STOP (end normally after this message) or a negative code, which is a crash with that code
 * as its reason. It borrows msg until it returns. */
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

/* What all actors of a class share. Constant; must outlive its actors. */
typedef struct dn_class {
    const char *name;       /* shown in reports and crash lines */
    size_t      state_size; /* zeroed before init */

    /* Sets up the state. It returns before dn_spawn does. DN_OK: the actor is alive. DN_PENDING: it reports later with
     * dn_init_done. DN_STOP or a negative code: the start has failed. Borrows config for the call. May be NULL. */
    int (*init)(dn_self *self, void *state, const void *config);

    dn_handlers handlers; /* searched from the first row on: put the most frequent kind first */

    /* For group commit. Called when all waiting messages have been handled, or flush_max of them; and before an orderly
     * end if messages were handled since the last flush. Returns the same codes as a handler. May be NULL. */
    int (*flush)(dn_self *self, void *state);

    /* Called when a stop is requested. DN_STOP: end now. DN_OK: the actor has something to finish and ends itself later
     * by returning DN_STOP. A negative code is a crash. NULL: the same as DN_STOP. */
    int (*stopping)(dn_self *self, void *state);

    /* Called on an orderly end (DN_STOP, dn_stop). Not called after a crash or on dn_kill, because the state may be
     * broken then. May be NULL. */
    void (*terminate)(dn_self *self, void *state);

    uint32_t
        mailbox_max; /* most waiting messages from its own loop, and the same again from other loops;
                             beyond that a send returns DN_EFULL. 0: DN_MAILBOX_MAX_DEFAULT */
    size_t heap_max; /* most bytes from dn_alloc, each piece rounded up to 16; beyond that the actor
                             fails. 0: DN_HEAP_MAX_DEFAULT */
    uint32_t flush_max; /* 0: DN_FLUSH_MAX_DEFAULT */
    bool drains; /* a stop waits for the messages that came before it, instead of overtaking them */
} dn_class;

/* ---- Life ---- */

typedef uint64_t dn_watch_id; /* never 0 */

typedef struct dn_spawn_spec {
    const dn_class *actor_class;
    const void     *config; /* passed to init; see config_size */
    size_t config_size;     /* 0: config is borrowed until init has returned; on another loop, until
                                    DN_MSG_STARTED. Otherwise this many bytes are copied */
    const char  *name;      /* registered before init, free again after the end. May be NULL */
    const char  *loop; /* the loop to run on. NULL: self's own. A name that no loop has means the
                                    first loop, so that a program also runs on one loop */
    uint64_t     tag;  /* returned in DN_MSG_STARTED, and in DN_MSG_DOWN if monitored */
    bool         monitored; /* watch it: DN_MSG_DOWN reports its end, once it was alive */
    dn_watch_id *out_quiet; /* not NULL: monitored, but without a DN_MSG_DOWN for an end with DN_OK;
                                    the watch is then over (dn_watch_stands). Own loop only */
    bool         linked;    /* it is killed when self ends, for whatever reason */
} dn_spawn_spec;

/* Starts an actor.
 * DN_OK: init has returned, and *out_ref is alive. DN_PENDING: DN_MSG_STARTED reports the outcome; always so on another loop,
 * and if init returns DN_PENDING. DN_EEXIST, DN_ENOMEM, DN_EINVAL, or the code of init: no actor was started.
 * out_ref may be NULL. It is set on DN_OK, and on DN_PENDING on self's own loop, so that the start can be stopped. On another
 * loop DN_MSG_STARTING or DN_MSG_STARTED brings the address. An end before the actor is alive is reported by DN_MSG_STARTED
 * and not by DN_MSG_DOWN. */
DN_MUST_USE int dn_spawn(dn_self *self, const dn_spawn_spec *spec, dn_ref *out_ref);

typedef struct dn_started {
    uint64_t tag;
    dn_ref   who;    /* alive if status is DN_OK */
    int      status; /* DN_OK, or why the start failed; DN_PENDING only in DN_MSG_STARTING */
} dn_started;

/* Completes a start for which init returned DN_PENDING. status: DN_OK, or a negative code, with which self then ends. Called
 * once, from a handler. */
void dn_init_done(dn_self *self, int status);

dn_ref      dn_self_ref(const dn_self *self);
const char *dn_self_name(const dn_self *self); /* its registered name, else its class's */

/* Requests an orderly end, with terminate and reason DN_ESHUTDOWN. It overtakes waiting messages unless the class drains.
 * DN_OK: requested; a monitor reports the end. DN_EDEAD: no such actor is alive. */
DN_MUST_USE int dn_stop(dn_self *self, dn_ref who);

/* Ends an actor at its next turn, without terminate, with reason DN_EKILLED. */
DN_MUST_USE int dn_kill(dn_self *self, dn_ref who);

/* Fails the running actor at once; does not return. The first 47 bytes of why are copied into DN_MSG_DOWN, 127 into the crash
 * report. Outside an actor it ends the process. */
_Noreturn void dn_fail(const char *why);
_Noreturn void dn_fail_code(int code, const char *why);

/* For what an actor assumes about its own state and messages: fails the actor if cond is false. */
#define DN_TEXT2(x)      #x
#define DN_TEXT(x)       DN_TEXT2(x)
#define dn_require(cond) ((cond) ? (void)0 : dn_fail(__FILE__ ":" DN_TEXT(__LINE__) ": " #cond))

/* ---- Sending ---- */

/* Copies size bytes into a message and sends it. DN_OK: the message arrives after all that self sent to `to` before.
 * DN_EFULL: the mailbox is full, nothing was sent. DN_EDEAD: no such actor is alive; counted as a dead letter. Running out
 * of memory fails self. */
DN_MUST_USE int dn_send(dn_self *self, dn_ref to, uint32_t kind, const void *body, size_t size);

/* A message to be filled in place, then sent or freed with dn_msg_free. The body is zeroed. Never NULL: running out of memory
 * fails self. self owns it until it is sent; if self ends, it is freed. */
dn_msg *dn_msg_new(dn_self *self, uint32_t kind, size_t size);

/* The same with an existing body. The message takes the body and calls release(body) when it is freed. */
dn_msg *dn_msg_new_take(dn_self *self, uint32_t kind, void *body, size_t size,
                        void (*release)(void *body));
void   *dn_msg_body(dn_msg *msg);
void    dn_msg_free(dn_self *self, dn_msg *msg);

/* Keeps the message being handled, to reply to it or send it on later. self owns it until then. Keeping a message twice ends
 * the process. */
dn_msg *dn_msg_keep(dn_self *self, const dn_msg *msg);

/* dn_send_take sends a message from dn_msg_new or dn_msg_keep, dn_forward the message being handled. Both take the message on
 * DN_OK only. A forwarded request keeps its caller, which gets the reply from the new receiver. */
DN_MUST_USE int dn_send_take(dn_self *self, dn_ref to, dn_msg *msg);
DN_MUST_USE int dn_forward(dn_self *self, dn_ref to, const dn_msg *handled);

/* After DN_EFULL: requests one DN_MSG_ROOM when half of the mailbox of `to` is free, or `to` has ended. DN_EDEAD: it has ended
 * already, and no message follows. */
DN_MUST_USE int dn_wait_room(dn_self *self, dn_ref to);

typedef struct dn_room {
    dn_ref who;
} dn_room;

/* ---- Reading a message ---- */

uint32_t    dn_msg_kind(const dn_msg *msg);
size_t      dn_msg_size(const dn_msg *msg);
dn_ref      dn_msg_from(const dn_msg *msg); /* DN_NOBODY if the sender was no actor */
const void *dn_msg_body_borrow(const dn_msg *msg);

/* The body as a T. A body of another size fails the actor. Borrowed as long as msg. */
#define DN_BODY(T, msg) ((const T *)dn_msg_body_sized_borrow((msg), sizeof(T)))
const void *dn_msg_body_sized_borrow(const dn_msg *msg, size_t size);

/* ---- Calls ----
 * A call is a request with an id and a deadline. It ends exactly once: with a reply, whose kind the replier chooses, or with
 * DN_MSG_CALL_FAILED. If a request is dropped without a reply, its call fails at once. A reply after the deadline is counted
 * and dropped. */
typedef uint64_t dn_call_id; /* never 0 */

/* DN_OK: sent, and *out_id is set. DN_EFULL, DN_EDEAD: nothing was sent, and no message follows. */
DN_MUST_USE int dn_call(dn_self *self, dn_ref to, uint32_t kind, const void *body, size_t size,
                        int64_t timeout_ms, dn_call_id *out_id);

/* Cancels a call: neither its reply nor its failure will be handled. Harmless if the call is over. */
void dn_call_cancel(dn_self *self, dn_call_id id);

/* Replies to a request: the message being handled, or a kept one. Takes it. A second reply, or a reply to a message that is no
 * request, ends the process. If the caller has ended or given up, the reply is dropped. */
void dn_reply(dn_self *self, const dn_msg *request, uint32_t kind, const void *body, size_t size);

bool       dn_msg_is_request(const dn_msg *msg);
dn_call_id dn_msg_call(const dn_msg *msg); /* of a request, reply, failure or report; otherwise 0 */
int64_t    dn_msg_deadline(const dn_msg *msg); /* of a request: monotonic ns; otherwise INT64_MAX */

typedef struct dn_call_failed {
    dn_call_id id;
    int status; /* DN_ETIME; DN_EDEAD: the receiver has ended; DN_EUNANSWERED: the receiver dropped
                          the request */
} dn_call_failed;

/* ---- Watching ---- */

/* Watches an actor: self gets exactly one DN_MSG_DOWN when it ends, at once with DN_EDEAD if it has ended already. DN_MSG_DOWN
 * comes after all messages that the actor sent to self. Its messages to others arrive before any that self sends them
 * afterwards. A name is resolved now, to its present holder. */
dn_watch_id dn_monitor(dn_self *self, dn_ref who, uint64_t tag);

/* Ends a watch: no DN_MSG_DOWN for id is handled any more, even one that waits already. A link stays. */
void dn_demonitor(dn_self *self, dn_watch_id id);

/* False: the watch was ended, its DN_MSG_DOWN has been handled, or a quiet watch saw an end with DN_OK. */
bool dn_watch_stands(dn_self *self, dn_watch_id id);

enum { DN_WHY_MAX = 48 };

typedef struct dn_down {
    dn_ref   who;
    uint64_t tag;
    int      reason; /* DN_OK: a normal end; DN_ESHUTDOWN, DN_EKILLED, or the code of the failure */
    char     why[DN_WHY_MAX]; /* the text of the failure, or "" */
} dn_down;

/* ---- Names ---- */

/* The address of a name. Each send goes to the actor that holds the name at that time; it need not exist yet. Fails self if the
 * name is empty or longer than DN_NAME_MAX, or memory runs out. */
dn_ref dn_name(dn_self *self, const char *name);

/* The present holder of a name, or DN_NOBODY. For an actor's address: the address, or DN_NOBODY if the actor has ended. */
dn_ref dn_whereis(dn_self *self, dn_ref name);

/* ---- Time ----
 * Time stands still inside a handler: these functions return the instant at which it began. Handlers that take less than about
 * a quarter of a microsecond share one reading of the clock, up to 64 of them. If one of those takes long after all, the
 * others see a time that is too early by as much. */
int64_t dn_now_ms(const dn_self *self);  /* wall clock, ms since 1970 UTC; may step */
int64_t dn_mono_ns(const dn_self *self); /* steady; stands still while the machine is suspended */
int64_t dn_boot_ns(const dn_self *self); /* steady; goes on while the machine is suspended */

/* Reads the steady clock now, to measure a part of a handler. */
int64_t dn_read_mono_ns(const dn_self *self);

typedef uint64_t dn_timer_id; /* never 0 */

/* Sends self one message of that kind with `value` as its body, after delay_ms and never earlier. Up to eight timers of one
 * millisecond fire at their own microsecond, more of them together at its end. Timers of the same instant fire in the order
 * in which they were armed. The message does not count towards mailbox_max. */
dn_timer_id dn_timer_after(dn_self *self, int64_t delay_ms, uint32_t kind, uint64_t value);
dn_timer_id dn_timer_at_mono(dn_self *self, int64_t mono_ns, uint32_t kind, uint64_t value);

/* The same at an instant of the wall clock, also if that clock is set meanwhile. */
dn_timer_id dn_timer_at_wall(dn_self *self, int64_t wall_ms, uint32_t kind, uint64_t value);

/* True: the timer was armed and will not fire. False: it has fired, and its message may still wait; or there is no such
 * timer. */
bool dn_timer_cancel(dn_self *self, dn_timer_id id);

/* self gets DN_MSG_CLOCK from now on whenever the wall clock steps. */
void dn_watch_clock(dn_self *self);

typedef struct dn_clock_step {
    int64_t step_ms; /* how far the wall clock moved relative to the steady one */
} dn_clock_step;

/* ---- What an actor owns ---- */

/* Memory from the actor's own heap: zeroed, aligned for any type, freed when the actor ends. Never NULL: beyond heap_max of
 * the class, or without memory, self fails. */
void *dn_alloc(dn_self *self, size_t size);

/* self takes thing: release(thing) is called when self ends, for the newest thing first. Without memory to remember it, thing is
 * released at once and self fails. */
void dn_own(dn_self *self, void *thing, void (*release)(void *thing));

/* Gives up thing without releasing it; the newest, if it is owned more than once. False: self does not own it. */
bool dn_disown(dn_self *self, void *thing);

/* A random number: from the system, or from the seed of a simulation. */
uint64_t dn_random(dn_self *self);

/* ---- Looking inside ---- */

typedef struct dn_actor_report {
    dn_ref      who;
    char        name[DN_NAME_MAX + 1]; /* registered name, else class */
    const char *actor_class;
    uint32_t    depth, depth_peak;
    uint64_t    handled;
    int64_t     busy_ns;    /* time in handlers; see docs/runtime.md for what is sampled */
    int64_t     longest_ns; /* the longest one seen, and the kind of message that took it */
    uint32_t    longest_kind;
    size_t      heap_bytes; /* state and arena */
    uint32_t    restarts;   /* of the name, since the runtime was started */
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
    uint64_t exempt; /* messages that are not bounded: replies, timers, stops and kills */
    uint64_t wakeups, crash_points;
    int64_t  unattributed_ns; /* time that could not be attributed to one actor */
    size_t   memory_bytes;    /* taken from the system by the loop's pools */

    dn_crash_report crashes[DN_CRASHES_KEPT]; /* newest first */
    size_t          crashes_len;
    size_t          actors_len; /* rows that follow: `actors`, or max if that is less */
    dn_actor_report rows[];
} dn_report;

/* Requests a report of a loop, with at most max actors, named ones first. DN_MSG_REPORT brings it: a dn_report (use
 * dn_msg_body_borrow), or an empty body if there was no memory for it. loop: as in dn_spawn_spec. The returned id is the
 * dn_msg_call of that message; ids grow. There is no deadline. */
dn_call_id dn_inspect(dn_self *self, const char *loop, size_t max);

#endif
