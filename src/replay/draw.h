/* draw.h - a plan of a run, drawn from a seed: who there is, how long jobs take, and what goes wrong, and when.
 * A plan is data. What is simulated is a function of it alone, so that whatever is left out of it (shrink.h) leaves a
 * plan again. It is drawn as swarms are: each seed switches each kind of fault on or off, and draws how much there is
 * of those that are on; instants lie near those at which something is decided, within 2 ms. */
#ifndef DIURNAL_REPLAY_DRAW_H
#define DIURNAL_REPLAY_DRAW_H

#include "daily/daily_path.h"
#include "diurnal/sim.h"
#include "trace/trace.h"

/* What may go wrong; PLAN_FAULTS of them. plan_fault_name says how each is called. */
typedef enum plan_fault {
    PLAN_CRASH_FAULT,  /* the process dies, at any instant or step, before and after commits too */
    PLAN_ACTOR_FAULT,  /* an actor of the daily path fails */
    PLAN_DELAY_FAULT,  /* messages take time */
    PLAN_DOUBLE_FAULT, /* replies come twice */
    PLAN_SLOW_FAULT,   /* turns take time */
    PLAN_CLOCK_FAULT,  /* the wall clock steps */
    PLAN_STORE_FAULT,  /* commits fail: for want of room, or so that the process ends */
    PLAN_OUTAGE_FAULT, /* whom the jobs depend on is away: they fail, hang or take long */
    PLAN_USERS_FAULT,  /* users come, change and go in mid-run */
    PLAN_FAULTS,
} plan_fault;
const char *plan_fault_name(plan_fault fault);
enum { PLAN_ALL = (1 << PLAN_FAULTS) - 1 };

typedef enum plan_op_kind {
    PLAN_USER,   /* user, due: registers, or changes when it is due; ms: its starts_on, 0: none */
    PLAN_REMOVE, /* user */
    PLAN_CRASH,  /* ms: how long it is down */
    PLAN_CRASH_SOON,  /* in nth steps; ms */
    PLAN_COMMIT,      /* what happens at the nth commit from then: how; ms */
    PLAN_ACTOR_CRASH, /* how: which, at its nth message from then */
    PLAN_CLOCK,       /* ms */
    PLAN_STORE_FAILS, /* ms: for so long */
    PLAN_OUTAGE, /* ms: for so long; how; of those users whose number leaves `user` modulo nth */
} plan_op_kind;

/* how of PLAN_COMMIT */
typedef enum plan_commit {
    PLAN_CRASH_BEFORE,
    PLAN_CRASH_AFTER,
    PLAN_ERROR_BEFORE,
    PLAN_ERROR_AFTER,
    PLAN_COMMITS,
} plan_commit;
/* how of PLAN_OUTAGE */
typedef enum plan_outage {
    PLAN_FAILS_AT_ONCE,
    PLAN_FAILS_LATE,
    PLAN_HANGS,
    PLAN_TASK_CRASHES,
    PLAN_TAKES_LONG, /* and is ok then */
    PLAN_OUTAGES,
} plan_outage;
/* how of PLAN_ACTOR_CRASH: the name is plan_actors[how]. The last one delivers hooks, and is beside the daily path. */
enum { PLAN_TICK = 4, PLAN_HOOKS = 6, PLAN_ACTORS };
extern const char *const plan_actors[PLAN_ACTORS];

typedef struct plan_op {
    plan_op_kind kind;
    int64_t      at_ms; /* steady: since the beginning of the run */
    int64_t      ms;
    uint32_t     user, due;
    uint32_t     nth;
    uint8_t      how;
} plan_op;

/* How often, of 256 jobs, each. The rest is ok. */
typedef struct plan_mix {
    uint8_t error, hang, crash;
    uint8_t snapped; /* takes just so long that it ends near an instant that matters */
    uint8_t is_long; /* anything up to its timeout and beyond; else it is short */
} plan_mix;

/* A job that does not go as the mix says. */
typedef struct plan_answer {
    uint32_t user, attempt;
    dn_day   day;
    answer   is;
} plan_answer;

typedef struct plan {
    uint64_t        seed;
    trace_settings  settings;
    int64_t         calm_ms; /* steady: faults stop, and every job is ok at once */
    uint32_t        users;   /* "u0" and so on, up to this many */
    dn_sim_faults   faults;
    int64_t         lag_ms; /* how long what one actor knows may be unknown to another */
    bool            any_order, ticks_move;
    bool            hooks; /* cutoffs have them */
    dn_kv_bounds    kv_bounds;
    dn_daily_bounds daily_bounds;
    plan_mix        mix;

    plan_op *ops; /* by at_ms */
    size_t   ops_len, ops_cap;
    /* Instead of the mix, if any_answers: jobs that are not here are ok, after half a second. */
    bool         has_answers;
    plan_answer *answers; /* by user, day, attempt */
    size_t       answers_len;
} plan;

typedef struct plan_bounds {
    uint32_t users, days; /* 1 to PLAN_USERS_MAX, 2 to PLAN_DAYS_MAX: the last one is calm */
    uint32_t faults;      /* a bit for each plan_fault that may be on */
} plan_bounds;
/* One seed in PLAN_HERDS has PLAN_HERD users more than the bounds say: its number ends in 100. */
enum { PLAN_USERS_MAX = 1000, PLAN_DAYS_MAX = 1000, PLAN_HERD = 2500, PLAN_HERDS = 200 };

DN_MUST_USE int plan_draw(uint64_t seed, const plan_bounds *bounds, plan *out_plan);
void            plan_done(plan *p);
DN_MUST_USE int plan_copy(const plan *from, plan *out_plan);

/* What the job of that user, day and attempt comes to, if it begins at that instant of the wall clock. Outages, which
 * come before all else, are the simulation's business (`outage`: NULL: there is none). */
typedef struct plan_job {
    uint32_t user, due, attempt;
    dn_day   day;
    int64_t  wall_ms;
    int64_t  next_tick_ms; /* wall */
    bool     calm;
} plan_job;
answer plan_answer_of(const plan *p, const plan_job *job, const plan_op *outage);

/* What the delivery of a cutoff's hook comes to. */
answer plan_hook_answer_of(const plan *p, const plan_job *delivery);

/* splitmix64. */
uint64_t plan_random(uint64_t *state);

#endif
