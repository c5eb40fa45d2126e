/* sup.h - a supervisor's state, and what its files do for one another.
 * Loop only: all of it belongs to one actor. */
#ifndef DIURNAL_SUPERVISOR_SUP_H
#define DIURNAL_SUPERVISOR_SUP_H

#include "child_names.h"
#include "diurnal/supervisor.h"
#include "intensity.h"

/* ---- A child ---- */

typedef enum sup_child_state {
    CHILD_ABSENT,   /* not running, and nothing is to happen */
    CHILD_WAITING,  /* not running; a timer or the step under way will start it */
    CHILD_STARTING, /* spawned, and where is soon known; DN_MSG_STARTED will tell */
    CHILD_RUNNING,  /* up and watched */
    CHILD_STOPPING, /* asked to stop, or killed; DN_MSG_DOWN or DN_MSG_STARTED will tell */
    CHILD_NOTED,    /* ended by itself while a step was under way; dealt with after it */
    CHILD_GONE,     /* temporary and ended: its spec is forgotten */
} sup_child_state;

typedef struct sup_child {
    const dn_child_spec *spec;
    dn_ref               who; /* DN_NOBODY unless it is there: starting, up or stopping */
    dn_timer_id          timer;
    int64_t              up_ns;   /* when it came up last */
    uint64_t             starts;  /* successful ones */
    uint32_t             attempt; /* in the tag of what is heard about it: older ones are ignored */
    uint32_t        timer_no;     /* likewise for timers: one that was cancelled may still arrive */
    uint32_t        failures;     /* in a row, for the backoff */
    int             reason;       /* why it ended or did not start */
    sup_child_state state;
    bool            killed;     /* CHILD_STOPPING: and not only asked */
    bool            late;       /* CHILD_STOPPING: because its start took too long */
    bool            held;       /* stopped by request: nobody starts it but a request */
    bool            on_request; /* CHILD_STARTING: a failure is answered, not retried */
} sup_child;

/* What can happen to a child. */
typedef enum sup_event {
    CHILD_NOTHING,
    CHILD_UP,
    CHILD_DECLINED, /* its init answered DN_STOP */
    CHILD_FAILED,   /* it did not start */
    CHILD_ENDED,    /* by itself */
    CHILD_STOPPED,  /* as it was asked to */
    CHILD_DUE,      /* it has waited long enough for its restart */
    CHILD_EVENTS,
} sup_event;

/* ---- The supervisor ----
 * A step is what takes several children and several messages: stopping some in reverse order, then
 * starting them in order. There is never more than one. */

typedef enum sup_phase {
    SUP_BOOTING,  /* the first start of all; a failure ends the supervisor */
    SUP_STEADY,   /* no step */
    SUP_DELAYING, /* a step is to come when its backoff is over */
    SUP_STOPPING, /* the step stops children[from..] */
    SUP_STARTING, /* the step starts them */
    SUP_ENDING,   /* all are stopped, then the supervisor ends */
    SUP_PHASES,
} sup_phase;

typedef struct sup_request {
    dn_msg    *msg; /* NULL: it was no call, and nobody is to be answered */
    sup_child *child;
    bool       to_start; /* else to stop */
    bool       begun;
} sup_request;

typedef struct sup {
    const dn_supervisor_spec *spec;
    sup_child                *children;
    uint32_t                  len;
    sup_phase                 phase;
    uint32_t                  from;   /* what the step covers: children[from..len) */
    uint32_t                  cursor; /* starting: the next one; stopping: behind the next one */
    uint32_t                  noted;  /* how many are CHILD_NOTED */
    sup_intensity             intensity;
    uint64_t                  started, restarts;

    dn_timer_id step_timer; /* SUP_DELAYING */
    uint32_t    step_timer_no;
    int64_t     step_due_ns;

    bool init_pending; /* whoever started the supervisor still waits to hear */
    int  end_code;     /* SUP_ENDING: DN_STOP, or what it will fail with */
    char end_why[DN_CRASH_WHY_MAX];

    sup_names   names;
    sup_request requests[DN_SUP_REQUESTS_MAX]; /* those that wait for a child */
    uint32_t    requests_len;
} sup;

static inline uint32_t sup_index(const sup *s, const sup_child *c) {
    return (uint32_t)(c - s->children);
}

/* Timers and tags carry who they are about, and which try of it. */
#define SUP_NO_CHILD UINT32_MAX
static inline uint64_t sup_tag(uint32_t index, uint32_t number) {
    return (uint64_t)number << 32 | index;
}
static inline uint32_t sup_tag_index(uint64_t tag) { return (uint32_t)tag; }
static inline uint32_t sup_tag_number(uint64_t tag) { return (uint32_t)(tag >> 32); }

/* For a stop or kill of something that may have ended: then word of that is on its way. */
static inline void sup_if_there(int rc) { (void)rc; }

/* ---- supervisor.c ---- */

/* Says what happened to a child; whatever follows from it in this phase, follows. */
void sup_happened(dn_self *self, sup *s, sup_child *c, sup_event event);

/* At the end of every handler: deals with what had to wait, and answers as a handler does. */
int sup_settle(dn_self *self, sup *s);

/* ---- child.c: one child's life. Decides nothing. ---- */
sup_event sup_child_start(dn_self *self, sup *s, sup_child *c);
void      sup_child_stop(dn_self *self, sup *s, sup_child *c); /* starting, running or stopping */
void      sup_child_on_starting(dn_self *self, sup_child *c, dn_ref who);
sup_event sup_child_on_started(dn_self *self, sup *s, sup_child *c, const dn_started *started);
sup_event sup_child_on_down(dn_self *self, sup *s, sup_child *c, const dn_down *down);
sup_event sup_child_on_timer(dn_self *self, sup_child *c);
void      sup_child_wait(dn_self *self, sup *s, sup_child *c, int64_t delay_ms);
/* It is not running; from now on nothing is to happen. */
void sup_child_rest(dn_self *self, sup *s, sup_child *c);
void sup_child_note(sup *s, sup_child *c);

/* ---- step.c: several children at once ---- */
void sup_step_boot(dn_self *self, sup *s);
void sup_step_boot_failed(dn_self *self, sup *s, sup_child *c);
/* Restarts children[from..] when delay_ms have passed. 0: now, unless `later`. */
void sup_step_begin(dn_self *self, sup *s, uint32_t from, int64_t delay_ms, bool later);
void sup_step_join(dn_self *self, sup *s, uint32_t from, int64_t delay_ms); /* SUP_DELAYING */
void sup_step_due(dn_self *self, sup *s);
void sup_step_stop_on(dn_self *self, sup *s);
void sup_step_start_on(dn_self *self, sup *s);
void sup_step_call_off_if_idle(dn_self *self, sup *s); /* SUP_DELAYING */
void sup_step_end(dn_self *self, sup *s, int code, const char *why);

/* ---- restart.c: what follows from an end or a failed start ---- */
bool sup_follow_up(dn_self *self, sup *s, sup_child *c);         /* SUP_STEADY. False: nothing */
void sup_on_ended(dn_self *self, sup *s, sup_child *c);          /* the same as an event */
void sup_on_ended_delaying(dn_self *self, sup *s, sup_child *c); /* SUP_DELAYING */
void sup_on_failed(dn_self *self, sup *s, sup_child *c);         /* a restart did not come up */

/* ---- request.c ---- */
int  sup_on_ask_counts(dn_self *self, void *state, const dn_msg *msg);
int  sup_on_ask_child(dn_self *self, void *state, const dn_msg *msg);
int  sup_on_stop_child(dn_self *self, void *state, const dn_msg *msg);
int  sup_on_restart_child(dn_self *self, void *state, const dn_msg *msg);
void sup_requests_go_on(dn_self *self, sup *s);

/* Answers if it was asked in a call. request may be NULL. */
void sup_answer(dn_self *self, const dn_msg *request, int status, dn_ref who, uint64_t restarts);

/* ---- spec.c ---- */

/* False: it makes no sense, and why (DN_CRASH_WHY_MAX bytes) says so. Two children of one name are not
 * seen here. */
bool sup_spec_is_sound(const dn_supervisor_spec *spec, char *why);
bool sup_dynamic_spec_is_sound(const dn_dynamic_spec *spec, char *why);

/* What stands in a spec, with the defaults filled in. -1: without end. */
int64_t sup_start_ms(const dn_child_spec *spec);
int64_t sup_shutdown_ms(int64_t shutdown_ms); /* 0: killed at once */
int64_t sup_period_ms(const dn_supervisor_spec *spec);

/* ---- Rules (restart.c, backoff.c): no clock, no sends, no state ---- */
bool    sup_is_restarted(dn_restart restart, int reason);
int64_t sup_backoff_ms(const dn_backoff *backoff, uint32_t failures); /* failures: in a row, >= 1 */
bool    sup_backoff_is_over(const dn_backoff *backoff, int64_t up_ms);

#endif
