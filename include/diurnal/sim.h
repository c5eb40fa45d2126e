/* sim.h - runs actors in a deterministic simulation.
 *
 * A simulation has one thread and virtual clocks. A seeded generator picks the next ready actor and the faults; faults can also
 * be placed by hand. A run depends on its seed only: the same seed gives the same events and the same hash on every machine.
 *
 * A dn_sim outlives the simulated process. A process crash ends all actors without calling them; what they own is released, as
 * a kernel would. dn_sim_boot starts the next life on the same clocks. State that must survive a crash belongs to the caller. */
#ifndef DIURNAL_SIM_H
#define DIURNAL_SIM_H

#include "diurnal/runtime.h"

typedef struct dn_sim dn_sim;

/* Chances out of a million, drawn each time the fault could happen. All 0: no random faults. */
typedef struct dn_sim_faults {
    /* For each message: the receiver fails instead of handling it. */
    uint32_t crash_actor_ppm;
    /* For each step: the process crashes. */
    uint32_t crash_process_ppm;
    /* For each message: it is delayed by up to delay_ms_max. Messages from one sender to one receiver keep their order.
     * When a sender ends, its messages are delivered at once, before any from an actor that was told of the end. */
    uint32_t delay_ppm;
    int64_t  delay_ms_max;
    /* For each reply: it arrives twice, unless its body came from dn_msg_new_take. */
    uint32_t double_reply_ppm;
    /* For each step: the wall clock steps by up to step_wall_ms_max, forwards or backwards. */
    uint32_t step_wall_ppm;
    int64_t  step_wall_ms_max;
    /* For each turn of an actor: it takes up to slow_turn_ms_max, so that timers come due while other actors are ready. */
    uint32_t slow_turn_ppm;
    int64_t  slow_turn_ms_max;
    /* For each allocation from the system: it fails. */
    uint32_t fail_alloc_ppm;
} dn_sim_faults;

/* How often each thing happened, over all lives. A step is a turn, a move of the clocks, a message that is sent, or a message
 * that is handled. */
typedef struct dn_sim_counts {
    uint64_t boots, steps, handled;
    uint64_t actor_crashes, process_crashes, delays, doubled_replies, wall_steps, slow_turns,
        failed_allocs;
    uint64_t late_replies, dead_letters;
} dn_sim_counts;

typedef enum dn_sim_event_kind {
    DN_SIM_BOOT,
    DN_SIM_SPAWN,
    DN_SIM_HANDLE, /* actor handles a message of msg_kind from `other` */
    DN_SIM_END,    /* actor ended, detail is the reason */
    DN_SIM_TIME,   /* the clocks moved, detail is by how many ns */
    DN_SIM_DELAY,
    DN_SIM_DOUBLE,
    DN_SIM_WALL_STEP,
    DN_SIM_CRASH_ACTOR,
    DN_SIM_CRASH_PROCESS,
    DN_SIM_NOTE, /* dn_sim_note */
} dn_sim_event_kind;

/* Actors are numbered in the order of their creation, over all lives; 0: none. */
typedef struct dn_sim_event {
    uint64_t          step;
    int64_t           mono_ns, wall_ms;
    dn_sim_event_kind kind;
    uint32_t          msg_kind;
    uint64_t          actor, other;
    int64_t           detail;
    const char       *name; /* of the actor or the note; "" if none */
} dn_sim_event;

/* Which ready actor has the next turn, and for how many messages. */
typedef enum dn_sim_order {
    DN_SIM_ANY,  /* a random one, for one to eight messages: finds bugs */
    DN_SIM_FIFO, /* the one that is ready longest, for 64 messages: as real loops do */
} dn_sim_order;

/* Timers of one instant fire by rank, from 0 to DN_SIM_RANKS - 1. */
enum { DN_SIM_RANKS = 4 };

typedef struct dn_sim_config {
    uint64_t      seed;
    int64_t       wall_ms; /* the wall clock at the beginning */
    dn_sim_faults faults;
    dn_sim_order  order;

    /* The rank of a timer, asked when it comes due. Timers of rank 0 fire; when no actor is ready, those of rank 1 fire, and
     * so on. A timer that is armed meanwhile for the same instant joins its rank, and the lowest rank is always next. kind:
     * of the timer's message, DN_MSG_CALL_FAILED for the deadline of a call. NULL: all timers have rank 0. */
    int (*timer_rank)(void *context, const char *actor_class_name, uint32_t kind);
    void *timer_rank_context;

    bool unhashed; /* the caller does not use dn_sim_hash */

    dn_notice_fn *notice; /* NULL: silent */
    void         *notice_context;
    void (*on_event)(void *context, const dn_sim_event *event); /* may be NULL */
    void *on_event_context;
} dn_sim_config;

DN_MUST_USE int dn_sim_new(const dn_sim_config *config, dn_sim **out_sim);
void            dn_sim_free(dn_sim *sim); /* accepts NULL */

/* Begins a life: starts the root. DN_OK, DN_PENDING, or the code of the failed start. Must not be called during a life. */
DN_MUST_USE int dn_sim_boot(dn_sim *sim, const dn_spawn_spec *root);

typedef enum dn_sim_end {
    DN_SIM_TIME_UP, /* the steady clock has reached the given instant */
    DN_SIM_IDLE,    /* no actor is ready, and no timer is armed */
    DN_SIM_CRASHED, /* the process has crashed; dn_sim_boot begins the next life */
    DN_SIM_ENDED,   /* the root has ended */
} dn_sim_end;

/* Runs until the steady clock, which begins at 0, is at mono_ms; less if the run ends earlier. */
dn_sim_end dn_sim_run(dn_sim *sim, int64_t mono_ms);

/* Runs all that happens before mono_ms, and leaves the clock there: nothing of that instant has happened yet, so what the caller
 * does now comes first. DN_SIM_IDLE: the clock is there, and no timer is armed. Does nothing if the clock is there already. */
dn_sim_end dn_sim_run_before(dn_sim *sim, int64_t mono_ms);

/* Runs until no actor is ready. The clock does not move, and no timer fires. */
dn_sim_end dn_sim_settle(dn_sim *sim);

/* Runs one turn of one actor, or moves the clocks to the next timer (not beyond mono_ms), or fires the next rank of timers.
 * True: a step was made. False: the run is over, and *out_end says how. */
bool dn_sim_step(dn_sim *sim, int64_t mono_ms, dn_sim_end *out_end);

/* The reason of the root's end, after DN_SIM_ENDED. */
int dn_sim_root_reason(const dn_sim *sim);

/* ---- By hand ---- */

/* Moves the clocks while no actor runs, as if the process were down. */
void dn_sim_pass(dn_sim *sim, int64_t ms);
void dn_sim_step_wall(dn_sim *sim, int64_t ms);

/* Crashes the process: at once, or right after the present call of on_event, of a release function, or of the root's init. */
void dn_sim_crash_process(dn_sim *sim);
/* The same when dn_sim_counts.steps reaches step. */
void dn_sim_crash_process_at(dn_sim *sim, uint64_t step);
/* The actor of that name fails at its nth message from now; 1: the next one. */
void dn_sim_crash_actor_at(dn_sim *sim, const char *name, uint64_t nth);

void dn_sim_stop(dn_sim *sim);                                    /* requests a stop of the root */
void dn_sim_set_faults(dn_sim *sim, const dn_sim_faults *faults); /* all 0: no more faults */

/* ---- Looking ---- */
dn_runtime *dn_sim_runtime(dn_sim *sim); /* of the present life, for dn_post and dn_runtime_name */
const dn_sim_counts *dn_sim_counts_borrow(const dn_sim *sim);
uint64_t             dn_sim_hash(const dn_sim *sim); /* of every event so far */
uint64_t             dn_sim_random(dn_sim *sim);     /* from the generator of the simulation */
int64_t              dn_sim_mono_ms(const dn_sim *sim);
int64_t              dn_sim_wall_ms(const dn_sim *sim);

/* Adds an event of the caller's own to the events and the hash. Borrows text for the call. */
void dn_sim_note(dn_sim *sim, const char *text, int64_t detail);

#endif
