/* supervisor.h - actors that keep other actors alive.
 *
 * A supervisor starts its children in order, each one wholly before the next; when one fails it
 * restarts what its strategy says; when they fail too often it gives up, and its own supervisor
 * decides. It stops them in reverse order, each with its own deadline, and kills what does not go.
 *
 * The rules are those of OTP's supervisor. Worth repeating, because they surprise:
 * - A child that does not come up when the supervisor starts ends the supervisor: those already up are
 *   stopped in reverse order, and the start fails with that child's code.
 * - A child whose init answers DN_STOP is not needed now (OTP: ignore); the others go on without it.
 * - Killed (DN_EKILLED) is abnormal: a transient child is restarted after it.
 * - A restart of several (one_for_all, rest_for_one) starts also those of them that had ended normally;
 *   temporary ones that it stopped are gone.
 * - One crash is one restart towards the intensity, however many children it takes along; every retry
 *   of a restart that failed is one more.
 *
 * And what differs:
 * - Starts and stops are messages, not waits: while children start or stop, the supervisor still
 *   answers. A child that fails meanwhile is dealt with when the step under way (stopping several,
 *   starting several) is done; if that step stops it anyway, it is simply started again with the rest.
 * - Backoff is part of the child spec (OTP has none). While a restart waits, its child is not running;
 *   where several are to restart, all of the step waits and the siblings still run. A failure of
 *   another child that the waiting step covers joins it and counts no more.
 * - A failed restart is tried again after the child's backoff, at the soonest by the next timer (OTP: at
 *   once). After a failed restart of several, one_for_all begins with the first child again and
 *   rest_for_one with the one that failed.
 * - The intensity window is a ring of timestamps: deciding costs the same after a million restarts.
 * - Giving up is a failure with DN_EINTENSITY: it restarts a transient supervisor too (OTP's reason there
 *   is shutdown, which would not).
 * - A child stopped with dn_sup_stop_child stays stopped until dn_sup_restart_child, also when its
 *   siblings are restarted (OTP starts it with them).
 * - Children may live on other loops. A start that is not done at once has a deadline (start_ms): then it
 *   is killed and counts as failed with DN_ETIME. Until it is known to be gone its name is not free, so
 *   no new attempt is made.
 * - Children are killed, on whatever loop, if the supervisor itself is killed or crashes (OTP: links do
 *   so).
 * - A dynamic supervisor's children are equal and temporary (OTP's simple_one_for_one may restart them). */
#ifndef DIURNAL_SUPERVISOR_H
#define DIURNAL_SUPERVISOR_H

#include "diurnal/actor.h"

typedef enum dn_restart {
    DN_PERMANENT, /* always restarted */
    DN_TRANSIENT, /* restarted unless it ended normally or was stopped (DN_OK, DN_ESHUTDOWN) */
    DN_TEMPORARY, /* never restarted, and forgotten when it ends */
} dn_restart;

typedef enum dn_strategy {
    DN_ONE_FOR_ONE,  /* only the one that ended */
    DN_ONE_FOR_ALL,  /* all are stopped, in reverse order, and started again */
    DN_REST_FOR_ONE, /* it and those started after it */
} dn_strategy;

typedef enum dn_auto_shutdown {
    DN_NEVER,           /* the supervisor stays, whoever ends */
    DN_ANY_SIGNIFICANT, /* it stops itself normally when a significant child ends by itself and is
                           not restarted */
    DN_ALL_SIGNIFICANT, /* when the last significant one has */
} dn_auto_shutdown;

/* A restart waits min_ms, doubled with every further failure up to max_ms, and min_ms again after the
 * child has been up for stable_ms. */
typedef struct dn_backoff {
    int64_t min_ms;    /* 0: no wait, as in OTP */
    int64_t max_ms;    /* 0: always min_ms */
    int64_t stable_ms; /* 0: max_ms */
} dn_backoff;

enum {
    DN_SHUTDOWN_DEFAULT_MS = 5000,
    DN_SHUTDOWN_KILL = -1,    /* killed at once, no terminate */
    DN_SHUTDOWN_FOREVER = -2, /* waited for without end: right for supervisors */
    DN_START_DEFAULT_MS = 30000,
    DN_START_FOREVER = -2, /* likewise: each of its children has a deadline of its own */
    DN_INTENSITY_MAX = 1 << 20,
};

typedef struct dn_child_spec {
    const char     *name; /* its registered name, unique in the program; required */
    const dn_class *cls;
    const void     *config; /* borrowed for the life of the supervisor; each start gets it */
    const char     *loop;   /* NULL: the supervisor's own */
    dn_restart      restart;
    bool            significant; /* transient or temporary children only, and not with DN_NEVER */
    int64_t         shutdown_ms; /* to end after a stop; then it is killed. 0: the default */
    int64_t         start_ms;    /* deadline for a start that is not done at once. 0: the default */
    dn_backoff      backoff;
} dn_child_spec;

typedef struct dn_supervisor_spec {
    dn_strategy      strategy;
    uint32_t         intensity; /* more restarts than this within period_ms, and it gives up; so 0
                                   allows none. At most DN_INTENSITY_MAX */
    int64_t          period_ms; /* 0: 5000 */
    dn_auto_shutdown auto_shutdown;
    struct {
        const dn_child_spec *rows;
        size_t               len;
    } children;
} dn_supervisor_spec;

/* A supervisor is an actor of this class whose config is a dn_supervisor_spec, borrowed for life. A spec
 * that makes no sense (two children of one name, a permanent significant child, …) ends it at once with
 * DN_EINVAL and a sentence. It has started when all its children have: at once if all of them start at
 * once, else its own start is pending until then. */
extern const dn_class dn_supervisor_class;

/* The child spec of a supervisor under a supervisor: permanent, its start and its end waited for without
 * end. */
dn_child_spec dn_supervisor_child(const char *name, const dn_supervisor_spec *spec);

/* ---- Many equal children that come and go ---- */

typedef struct dn_dynamic_spec {
    const dn_class *cls;
    uint32_t        children_max; /* a start beyond it answers DN_EFULL. 0: no bound but memory */
    int64_t         shutdown_ms; /* as in dn_child_spec, one deadline for all: they stop together */
} dn_dynamic_spec;

/* An actor of this class whose config is a dn_dynamic_spec, borrowed for life. */
extern const dn_class dn_dynamic_class;
dn_child_spec         dn_dynamic_child(const char *name, const dn_dynamic_spec *spec);

/* Asks a dynamic supervisor for one child: a call whose reply is DN_SUP_CHILD, a dn_sup_child, once the
 * child is up or has failed to. The child lives on the supervisor's loop, and has no name. Config is copied
 * and borrowed by the child's init for the call, NULL if size is 0; more than DN_DYNAMIC_CONFIG_MAX bytes
 * answer DN_EINVAL. A call that failed with DN_ETIME may have started a child all the same. */
enum { DN_DYNAMIC_CONFIG_MAX = 4096 };
DN_MUST_USE int dn_dynamic_start(dn_self *self, dn_ref supervisor, const void *config, size_t size,
                                 int64_t timeout_ms, dn_call_id *out_id);

/* Many children by one message, DN_SUP_START_ALL, sent by hand: one of these after the other, the size of each rounded
 * up to a multiple of 8. The children are the sender's: they are stopped when it ends, and it hears, as DN_SUP_ENDED, of
 * each that was not started, or did not end normally. Of the others it hears nothing from here. A sender whose mailbox
 * has no room for that is killed. */
typedef struct dn_dynamic_wanted {
    uint64_t      tag;
    uint32_t      size; /* of its config */
    uint32_t      unused;
    unsigned char config[];
} dn_dynamic_wanted;
enum { DN_DYNAMIC_SENDERS_MAX = 64 }; /* that are alive at one time; to one more, DN_EFULL */

/* ---- Asking a supervisor ----
 * All of these are calls: DN_OK and an id, or DN_EFULL or DN_EDEAD; the reply or DN_MSG_CALL_FAILED
 * follows. A dynamic supervisor knows no names: it answers counts, and DN_EINVAL to the others. */
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
    DN_SUP_TIMER, /* the supervisor's own */
};

typedef struct dn_sup_child {
    int      status;   /* DN_OK, or why not: see the functions; DN_EINVAL: no such child */
    dn_ref   who;      /* DN_NOBODY while it is not running */
    uint64_t restarts; /* how often it came up again, for whatever reason */
} dn_sup_child;

typedef struct dn_sup_counts {
    uint64_t specs;    /* children it knows of, running or not */
    uint64_t active;   /* of these, running */
    uint64_t started;  /* successful starts so far, restarts included */
    uint64_t restarts; /* what the intensity counts, so far: one for a crash, one for a retry */
} dn_sup_counts;

DN_MUST_USE int dn_sup_ask_counts(dn_self *self, dn_ref supervisor, int64_t timeout_ms,
                                  dn_call_id *out_id);
DN_MUST_USE int dn_sup_ask_child(dn_self *self, dn_ref supervisor, const char *name,
                                 int64_t timeout_ms, dn_call_id *out_id);

/* Stops a child and leaves it stopped (OTP's terminate_child). The reply comes when it is gone; DN_OK too if
 * it was not running. A restart that was due is called off. DN_EFULL: DN_SUP_REQUESTS_MAX of these
 * are under way. */
enum { DN_SUP_REQUESTS_MAX = 16 };
DN_MUST_USE int dn_sup_stop_child(dn_self *self, dn_ref supervisor, const char *name,
                                  int64_t timeout_ms, dn_call_id *out_id);

/* Starts a child that is not running (OTP's restart_child). The reply comes when it is up, or with the
 * code its start failed with: it then stays stopped. DN_EEXIST: it runs, stops, or is about to be
 * restarted. DN_ESHUTDOWN: the supervisor is ending. DN_EFULL: as above. */
DN_MUST_USE int dn_sup_restart_child(dn_self *self, dn_ref supervisor, const char *name,
                                     int64_t timeout_ms, dn_call_id *out_id);

#endif
