/* supervisor.h - actors that start, stop and restart other actors.
 *
 * A supervisor starts its children in order; each child is up before the next one starts. If a child fails, the supervisor
 * restarts the children that its strategy names. If children fail too often, the supervisor fails itself, and its own
 * supervisor decides. It stops its children in reverse order, each with a deadline of its own, after which it kills the child.
 *
 * The rules are those of OTP's supervisor. These may surprise:
 * - If a child fails to start while the supervisor starts, the supervisor ends: it stops the children that are up, in reverse
 *   order, and its own start fails with the code of that child.
 * - A child whose init returns DN_STOP is not needed now (OTP: ignore). The others start without it.
 * - DN_EKILLED is an abnormal end: a transient child is restarted after it.
 * - A restart of several children (one_for_all, rest_for_one) also starts those that had ended normally. Temporary children
 *   that it stopped are forgotten.
 * - One crash counts as one restart towards the intensity, however many children are restarted. Each retry of a failed restart
 *   counts as one more.
 *
 * These rules differ from OTP:
 * - Starts and stops are messages, so the supervisor answers requests meanwhile. If a child fails while several are stopped or
 *   started, the failure is handled after that step. If the step stops the child anyway, the child is started with the rest.
 * - Backoff is part of the child spec (OTP has none). While a restart waits, its child does not run. If several children are to
 *   restart, the whole step waits and the siblings run on. A failure of another child of that step does not count again.
 * - A failed restart is retried after the child's backoff, at the earliest by the next timer (OTP: at once). one_for_all then
 *   begins with the first child again, rest_for_one with the child that failed.
 * - The intensity window is a ring of timestamps: a decision costs the same after a million restarts.
 * - A supervisor that gives up fails with DN_EINTENSITY, so a transient supervisor is restarted (OTP's reason is shutdown,
 *   after which it is not).
 * - A child stopped with dn_sup_stop_child stays stopped until dn_sup_restart_child, also if its siblings are restarted (OTP
 *   starts it with them).
 * - Children may run on other loops. A pending start has a deadline (start_ms), after which the child is killed and the start
 *   has failed with DN_ETIME. There is no new attempt before that child has ended, because it still holds its name.
 * - If the supervisor is killed or crashes, its children are killed, on every loop (OTP: by links).
 * - The children of a dynamic supervisor are temporary (OTP's simple_one_for_one may restart them). */
#ifndef DIURNAL_SUPERVISOR_H
#define DIURNAL_SUPERVISOR_H

#include "diurnal/actor.h"

typedef enum dn_restart {
    DN_PERMANENT, /* always restarted */
    DN_TRANSIENT, /* restarted unless it ended normally or was stopped (DN_OK, DN_ESHUTDOWN) */
    DN_TEMPORARY, /* never restarted; forgotten when it ends */
} dn_restart;

typedef enum dn_strategy {
    DN_ONE_FOR_ONE,  /* restart the child that ended */
    DN_ONE_FOR_ALL,  /* stop all children in reverse order, and start them again */
    DN_REST_FOR_ONE, /* the same with that child and those started after it */
} dn_strategy;

typedef enum dn_auto_shutdown {
    DN_NEVER,           /* the supervisor never ends because a child ended */
    DN_ANY_SIGNIFICANT, /* it ends normally when a significant child ends by itself and is not restarted */
    DN_ALL_SIGNIFICANT, /* it ends normally when the last significant child has */
} dn_auto_shutdown;

/* A restart waits min_ms; each further failure doubles the wait, up to max_ms. After the child has been up for stable_ms the
 * wait is min_ms again. */
typedef struct dn_backoff {
    int64_t min_ms;    /* 0: no wait, as in OTP */
    int64_t max_ms;    /* 0: min_ms */
    int64_t stable_ms; /* 0: max_ms */
} dn_backoff;

enum {
    DN_SHUTDOWN_DEFAULT_MS = 5000,
    DN_SHUTDOWN_KILL = -1, /* kill at once, without terminate */
    DN_SHUTDOWN_FOREVER =
        -2, /* no deadline: for supervisors, whose children have deadlines of their own */
    DN_START_DEFAULT_MS = 30000,
    DN_START_FOREVER = -2, /* likewise */
    DN_INTENSITY_MAX = 1 << 20,
};

typedef struct dn_child_spec {
    const char     *name; /* its registered name, unique in the program; required */
    const dn_class *actor_class;
    const void     *config; /* passed to each start; borrowed for the life of the supervisor */
    const char     *loop;   /* NULL: the supervisor's own */
    dn_restart      restart;
    bool       significant; /* only for transient or temporary children, and not with DN_NEVER */
    int64_t    shutdown_ms; /* deadline to end after a stop; then it is killed. 0: the default */
    int64_t    start_ms;    /* deadline of a pending start. 0: the default */
    dn_backoff backoff;
} dn_child_spec;

typedef struct dn_supervisor_spec {
    dn_strategy strategy;
    uint32_t
        intensity; /* most restarts within period_ms; with one more the supervisor fails. 0: none.
                                   At most DN_INTENSITY_MAX */
    int64_t          period_ms; /* 0: 5000 */
    dn_auto_shutdown auto_shutdown;
    struct {
        const dn_child_spec *rows;
        size_t               len;
    } children;
} dn_supervisor_spec;

/* A supervisor is an actor of this class. Its config is a dn_supervisor_spec, borrowed for its life. An invalid spec (two children
 * of one name, a permanent significant child) fails it with DN_EINVAL and a text. It has started when all its children have:
 * its start is pending if one of theirs is. */
extern const dn_class dn_supervisor_class;

/* The child spec of a supervisor below a supervisor: permanent, and without deadlines for its start and its end. */
dn_child_spec dn_supervisor_child(const char *name, const dn_supervisor_spec *spec);

/* ---- Dynamic supervisors: many children of one class ---- */

typedef struct dn_dynamic_spec {
    const dn_class *actor_class;
    uint32_t        children_max; /* one more start gets DN_EFULL. 0: bounded by memory only */
    int64_t shutdown_ms; /* as in dn_child_spec; one deadline for all, because they stop together */
} dn_dynamic_spec;

/* The class of dynamic supervisors. Their config is a dn_dynamic_spec, borrowed for their life. */
extern const dn_class dn_dynamic_class;
dn_child_spec         dn_dynamic_child(const char *name, const dn_dynamic_spec *spec);

/* Requests one child from a dynamic supervisor. This is a call; its reply is DN_SUP_CHILD with a dn_sup_child, when the child is up
 * or has failed to start. The child runs on the supervisor's loop and has no name. config is copied, and its init borrows the
 * copy; NULL if size is 0. More than DN_DYNAMIC_CONFIG_MAX bytes get DN_EINVAL. After DN_ETIME the child may still start. */
enum { DN_DYNAMIC_CONFIG_MAX = 4096 };
DN_MUST_USE int dn_dynamic_start(dn_self *self, dn_ref supervisor, const void *config, size_t size,
                                 int64_t timeout_ms, dn_call_id *out_id);

/* Many children by one message of the caller's own, DN_SUP_START_ALL. Its body has one of these after the other, each rounded up to
 * a multiple of 8 bytes. The children belong to the sender: they are stopped when it ends. It gets DN_SUP_ENDED for each child
 * that did not start or did not end normally, and no message for the others. A sender whose mailbox is full then is killed. */
typedef struct dn_dynamic_wanted {
    uint64_t      tag;
    uint32_t      size; /* of its config */
    uint32_t      unused;
    unsigned char config[];
} dn_dynamic_wanted;
enum {
    DN_DYNAMIC_SENDERS_MAX = 64
}; /* senders that are alive at one time; one more gets DN_EFULL */

/* ---- Requests to a supervisor ----
 * All of these are calls: they return DN_OK and an id, or DN_EFULL or DN_EDEAD; then the reply or DN_MSG_CALL_FAILED follows.
 * The children of a dynamic supervisor have no names: it replies to dn_sup_ask_counts, and DN_EINVAL to the other requests. */
enum {
    DN_SUP_CHILD = 0x001f0001, /* reply: dn_sup_child */
    DN_SUP_COUNTS,             /* reply: dn_sup_counts */
    DN_SUP_ENDED,     /* a dn_down, with the tag of its dn_dynamic_wanted; who: DN_NOBODY if it was
                                  never up, and reason is what its start came to */
    DN_SUP_START_ALL, /* dn_dynamic_wanted... */
    DN_SUP_START,     /* requests; use the functions */
    DN_SUP_ASK_COUNTS,
    DN_SUP_ASK_CHILD,
    DN_SUP_STOP_CHILD,
    DN_SUP_RESTART_CHILD,
    DN_SUP_TIMER, /* for the supervisor itself */
};

typedef struct dn_sup_child {
    int      status;   /* DN_OK, or the code that the function names; DN_EINVAL: no such child */
    dn_ref   who;      /* DN_NOBODY if it is not running */
    uint64_t restarts; /* how often it was started again, for any reason */
} dn_sup_child;

typedef struct dn_sup_counts {
    uint64_t specs;    /* children, running or not */
    uint64_t active;   /* children that run */
    uint64_t started;  /* successful starts so far, with restarts */
    uint64_t restarts; /* as the intensity counts them: one for a crash, one for a retry */
} dn_sup_counts;

DN_MUST_USE int dn_sup_ask_counts(dn_self *self, dn_ref supervisor, int64_t timeout_ms,
                                  dn_call_id *out_id);
DN_MUST_USE int dn_sup_ask_child(dn_self *self, dn_ref supervisor, const char *name,
                                 int64_t timeout_ms, dn_call_id *out_id);

/* Stops a child, which then stays stopped (OTP's terminate_child). The reply comes when it has ended; DN_OK also if it was not
 * running. A waiting restart is cancelled. Status DN_EFULL: DN_SUP_REQUESTS_MAX such requests are under way. */
enum { DN_SUP_REQUESTS_MAX = 16 };
DN_MUST_USE int dn_sup_stop_child(dn_self *self, dn_ref supervisor, const char *name,
                                  int64_t timeout_ms, dn_call_id *out_id);

/* Starts a child that is not running (OTP's restart_child). The reply comes when it is up, or with the code of its failed start;
 * it then stays stopped. Status DN_EEXIST: it runs, is stopping, or is about to be restarted. DN_ESHUTDOWN: the supervisor is
 * ending. DN_EFULL: as above. */
DN_MUST_USE int dn_sup_restart_child(dn_self *self, dn_ref supervisor, const char *name,
                                     int64_t timeout_ms, dn_call_id *out_id);

#endif
