/* simulate.h - a plan, run by the production actors in virtual time, judged by the checker.
 * What a run comes to is a function of its plan. Besides the rules of check.h it is asked that all settles: who had a
 * whole window in the calm at the end has succeeded in it. */
#ifndef DIURNAL_REPLAY_SIMULATE_H
#define DIURNAL_REPLAY_SIMULATE_H

#include "check.h"
#include "draw.h"

/* Beside the rules of check.h. */
enum {
    SIMULATE_SETTLES = CHECK_RULES, /* what a day without faults had to bring */
    SIMULATE_HOOK,                  /* each cutoff's is delivered, and none is without one */
    SIMULATE_STOPS,                 /* the run could not go on */
    SIMULATE_RULES,
};
const char *simulate_rule_name(unsigned rule);

/* What is rare, and worth nothing as long as it has not happened. */
#define SIMULATE_COUNTS(X)                                                                         \
    X(seeds, "seeds")                                                                              \
    X(ticks, "ticks")                                                                              \
    X(starts, "attempts started")                                                                  \
    X(successes, "successes")                                                                      \
    X(cutoffs, "cutoffs reached")                                                                  \
    X(missed, "days missed")                                                                       \
    X(late, "late successes")                                                                      \
    X(expired, "attempts dropped when their turn came")                                            \
    X(deduped, "asked for while queued or running")                                                \
    X(throttled, "asked for too soon")                                                             \
    X(timeouts, "timeouts")                                                                        \
    X(snapped, "jobs that ended within 2 ms of their cutoff")                                      \
    X(cutoff_running, "cutoff written with an attempt running")                                    \
    X(ok_after_cutoff, "success written after its cutoff's minute, before the tick")               \
    X(slots_full, "every slot taken")                                                              \
    X(crashes, "process crashes")                                                                  \
    X(crash_with_ok, "process crash between reply and commit")                                     \
    X(crash_running, "process crash with attempts running")                                        \
    X(crash_untold, "process crash after a commit, before its word")                               \
    X(crash_before_commit, "process crash before a commit")                                        \
    X(store_errors, "store errors that end the process, nothing written")                          \
    X(store_errors_after, "store errors that end the process, all written")                        \
    X(full, "commits refused for want of room")                                                    \
    X(full_with_ok, "ok while the disk was full")                                                  \
    X(actor_ends, "ends of an actor of the daily path")                                            \
    X(actor_with_ok, "end of an actor between reply and commit")                                   \
    X(clock_steps, "steps of the wall clock")                                                      \
    X(back_over_midnight, "step back over midnight after a finalization")                          \
    X(over_cutoff, "step forward over a cutoff with its attempt running")                          \
    X(changed_queued, "due changed while queued or running")                                       \
    X(removed_busy, "removed while queued or running")                                             \
    X(back_busy, "registered again while its old attempt ran")                                     \
    X(first_day_moved, "starts_on put off or brought forward")                                     \
    X(days_down, "a day or more without the process")                                              \
    X(back_while_full, "step back over a cutoff while the disk was full")                          \
    X(many_slots, "more than 8 attempts at once")                                                  \
    X(herds, "seeds with a herd")                                                                  \
    X(small_bounds, "seeds with small slices, pages and transactions")                             \
    X(rows_forgotten, "ledger rows deleted when they were old")                                    \
    X(hooks, "hooks delivered")                                                                    \
    X(hook_failures, "hooks that were not taken")                                                  \
    X(outage_jobs, "jobs that an outage met")                                                      \
    X(delays, "messages delayed")                                                                  \
    X(doubles, "replies doubled")                                                                  \
    X(slow_turns, "slow turns")

typedef struct simulate_counts {
#define SIMULATE_FIELD(name, text) uint64_t name;
    SIMULATE_COUNTS(SIMULATE_FIELD)
#undef SIMULATE_FIELD
} simulate_counts;
void simulate_counts_add(simulate_counts *to, const simulate_counts *from);

enum { SIMULATE_TEXT = 400 };

typedef struct simulate_verdict {
    bool     broken;
    unsigned rule; /* the first that did not hold */
    char     text[SIMULATE_TEXT];
    uint64_t hash; /* of all that happened */
} simulate_verdict;

typedef struct simulate_watch {
    simulate_counts *counts; /* added to; NULL: nobody counts */
    /* Each event, before it is judged, and each user as the store has it in the end. A test breaks a world that way:
     * false: the event is lost. */
    bool (*tell)(void *context, event *e);
    void (*user)(void *context, check_final *u);
    /* Each job as it came out. */
    void (*job)(void *context, const plan_answer *a);
    void *context;
} simulate_watch;

/* DN_ENOMEM: nothing is known of it. watch: NULL: nobody looks. */
DN_MUST_USE int simulate_run(const plan *p, const simulate_watch *watch,
                             simulate_verdict *out_verdict);

#endif
