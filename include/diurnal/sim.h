/* sim.h - the same actors in a world made of a seed.
 *
 * One thread, virtual clocks, and the next ready actor picked by a seeded generator; faults come from
 * the seed too, or are placed by hand. What a run does is a function of its seed and of nothing
 * else: the same seed gives the same events and the same hash, on every machine.
 *
 * A dn_sim outlives the simulated process: a process crash ends every actor with nothing called (what
 * they owned is released, as a kernel would), and dn_sim_boot starts the next life on the same clocks.
 * What must survive a crash lives outside the actors, with the caller. */
#ifndef DIURNAL_SIM_H
#define DIURNAL_SIM_H

#include "diurnal/runtime.h"

typedef struct dn_sim dn_sim;

/* Chances out of a million, asked each time the thing could happen. All 0: no fault comes by itself. */
typedef struct dn_sim_faults {
    /* For each message: its receiver fails instead of handling it. */
    uint32_t crash_actor_ppm;
    /* For each step: the process is gone. */
    uint32_t crash_process_ppm;
    /* For each message: it takes up to delay_ms_max on the way. What the same sender sends the same
     * receiver later still comes later; what it has sent when it ends is there at once, before anything from who has
     * heard of its end. */
    uint32_t delay_ppm;
    int64_t  delay_ms_max;
    /* For each reply: it arrives twice (unless its body is one that dn_msg_new_take was given). */
    uint32_t double_reply_ppm;
    /* For each step: the wall clock steps by up to step_wall_ms_max either way. */
    uint32_t step_wall_ppm;
    int64_t  step_wall_ms_max;
    /* For each turn of an actor: it takes up to slow_turn_ms_max, and timers come due behind it, while
     * others are ready. */
    uint32_t slow_turn_ppm;
    int64_t  slow_turn_ms_max;
    /* For each memory request to the system: it is refused. */
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

/* Actors are numbered in the order of their creation, over all lives; 0 is none. */
typedef struct dn_sim_event {
    uint64_t          step;
    int64_t           mono_ns, wall_ms;
    dn_sim_event_kind kind;
    uint32_t          msg_kind;
    uint64_t          actor, other;
    int64_t           detail;
    const char       *name; /* of the actor, or of the note; "" if none */
} dn_sim_event;

/* Whose turn is next of those that are ready, and for how many messages. */
typedef enum dn_sim_order {
    DN_SIM_ANY,  /* anybody's, for one to eight: the generator says. Finds bugs */
    DN_SIM_FIFO, /* whoever has been ready longest, for 64: as the real loops do it. Faster */
} dn_sim_order;

/* An order of what comes due at one instant, up to rank DN_SIM_RANKS - 1. */
enum { DN_SIM_RANKS = 4 };

typedef struct dn_sim_config {
    uint64_t      seed;
    int64_t       wall_ms; /* the wall clock at the beginning */
    dn_sim_faults faults;
    dn_sim_order  order;

    /* Which timers go first at an instant: those of rank 0 are delivered, all runs until nobody is ready, then
     * those of rank 1, and so on. One that is armed meanwhile and due at that instant joins by its rank: of
     * those that wait the lowest is always next. kind is that of the timer's message, DN_MSG_CALL_FAILED of a
     * call's deadline. Asked when the timer comes due; it may still be cancelled. NULL: all are of rank 0. */
    int (*timer_rank)(void *context, const char *actor_class_name, uint32_t kind);
    void *timer_rank_context;

    bool unhashed; /* dn_sim_hash will not be asked */

    dn_notice_fn *notice; /* NULL: silent */
    void         *notice_context;
    void (*on_event)(void *context, const dn_sim_event *event); /* may be NULL */
    void *on_event_context;
} dn_sim_config;

DN_MUST_USE int dn_sim_new(const dn_sim_config *config, dn_sim **out_sim);
void            dn_sim_free(dn_sim *sim); /* accepts NULL */

/* Begins a life: starts the root. DN_OK, DN_PENDING, or why there is none. Not while one is on. */
DN_MUST_USE int dn_sim_boot(dn_sim *sim, const dn_spawn_spec *root);

typedef enum dn_sim_end {
    DN_SIM_TIME_UP, /* the steady clock has reached the given instant */
    DN_SIM_IDLE,    /* nothing is ready and no timer is armed */
    DN_SIM_CRASHED, /* the process is gone; dn_sim_boot begins the next life */
    DN_SIM_ENDED,   /* the root has ended by itself */
} dn_sim_end;

/* Runs until the steady clock, which begins at 0, stands at mono_ms, or less if it ends sooner. */
dn_sim_end dn_sim_run(dn_sim *sim, int64_t mono_ms);

/* Runs all that happens before the clock stands at mono_ms, and leaves it there: nothing of that instant has
 * happened, and what the caller does now comes first in it. DN_SIM_IDLE: it stands there, and no timer
 * is armed. At or beyond that instant already, it does nothing. */
dn_sim_end dn_sim_run_before(dn_sim *sim, int64_t mono_ms);

/* Runs until nobody is ready; the clock stays where it is, and no timer fires. */
dn_sim_end dn_sim_settle(dn_sim *sim);

/* One step: one turn of one actor, or the clocks' move to the next timer (not
 * beyond mono_ms), or the delivery of the next rank of timers. */
bool dn_sim_step(dn_sim *sim, int64_t mono_ms, dn_sim_end *out_end);

/* How the root ended (DN_SIM_ENDED). */
int dn_sim_root_reason(const dn_sim *sim);

/* ---- By hand ---- */

/* The clocks move while nobody runs: the process is down. */
void dn_sim_pass(dn_sim *sim, int64_t ms);
void dn_sim_step_wall(dn_sim *sim, int64_t ms);

/* Now; from on_event, a release function or a starting root: right after. */
void dn_sim_crash_process(dn_sim *sim);
/* When dn_sim_counts.steps gets there. */
void dn_sim_crash_process_at(dn_sim *sim, uint64_t step);
/* At its nth message; 1 is the next. */
void dn_sim_crash_actor_at(dn_sim *sim, const char *name, uint64_t nth);

void dn_sim_stop(dn_sim *sim);                                    /* asks the root to stop */
void dn_sim_set_faults(dn_sim *sim, const dn_sim_faults *faults); /* all 0: faults stop */

/* ---- Looking ---- */
dn_runtime *dn_sim_runtime(dn_sim *sim); /* of the present life: for dn_post, dn_runtime_name */
const dn_sim_counts *dn_sim_counts_borrow(const dn_sim *sim);
uint64_t             dn_sim_hash(const dn_sim *sim); /* of every event so far */
uint64_t             dn_sim_random(dn_sim *sim);     /* for the world around: the same generator */
int64_t              dn_sim_mono_ms(const dn_sim *sim);
int64_t              dn_sim_wall_ms(const dn_sim *sim);

/* Puts a line of the world's own into the event log and the hash. actor may be NULL. */
void dn_sim_note(dn_sim *sim, const char *text, int64_t detail);

#endif
