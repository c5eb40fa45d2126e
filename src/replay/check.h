/* check.h - was this run as it had to be? The invariants I1 to I6 and the rules beside them, on what was said of a run
 * and nothing else.
 * It shares no code with those it checks: the rule of the day is written here once more (check_rule.h), in other words.
 * What it remembers grows with the users there have been, never with the length of the run. It judges:
 *
 *   I1  one success a user and day                        window   S <= start < C
 *   I2  who may be tried is asked for at a tick, and no   spacing  R between two askings for one user and day
 *       slot is idle while somebody waits                 overlap  one attempt of a user at once
 *   I3  never more than K run                             closed   no start for a day that is finalized
 *   I4  ticks go on                                       order    the earliest cutoff goes first
 *   I5  nothing durable but finalizations and             ignored  dedupe and throttle are what they say
 *       configuration                                     expired  dropped for a reason
 *   I6  one finalization a user and day, the right one,   stop     each start has its end, as long as it took
 *       at the tick that sees the cutoff; last_date       late     found its day finalized
 *       never falls                                       missed   a row for just the days that nobody saw end
 *                                                         epoch    context_epoch counts the cutoffs
 *                                                         tick     its numbers are those of what came of it
 *                                                         log      what was said can be so at all
 */
#ifndef DIURNAL_REPLAY_CHECK_H
#define DIURNAL_REPLAY_CHECK_H

#include "event.h"

typedef enum check_rule {
    CHECK_I1,
    CHECK_I2,
    CHECK_I3,
    CHECK_I4,
    CHECK_I5,
    CHECK_I6,
    CHECK_WINDOW,
    CHECK_SPACING,
    CHECK_OVERLAP,
    CHECK_CLOSED,
    CHECK_ORDER,
    CHECK_IGNORED,
    CHECK_EXPIRED,
    CHECK_STOP,
    CHECK_LATE,
    CHECK_MISSED,
    CHECK_EPOCH,
    CHECK_TICK,
    CHECK_LOG,
    CHECK_RULES,
} check_rule;

typedef struct check_config {
    int64_t  start_ms; /* the wall clock at steady 0 */
    int64_t  tick_ms;  /* no longer than a day */
    int64_t  job_timeout_ms;
    uint32_t window_minutes;
    uint32_t retry_delay_minutes;
    uint32_t max_concurrency;
    bool     ticks_stand_still; /* steps of the clock do not move them: as in a replay */
    /* How long after its cause something may be said. 0, as in a replay: all that an instant causes bears that
     * instant, and every rule is strict. More, where messages take time: what changed less than this ago may be known
     * to one actor and not yet to another, and nobody is blamed for that; the rules that compare a whole instant
     * (order, tick) are then not looked at. */
    int64_t lag_ms;
} check_config;

typedef struct check check;

/* DN_EINVAL: that is no configuration; DN_ENOMEM. */
DN_MUST_USE int check_new(const check_config *config, check **out_check);
void            check_free(check *c);

/* One after the other, as they happened. */
void check_event(check *c, const event *e);
/* The same, of what each day of a user has. */
void check_enqueued(check *c, const event *e);
void check_started(check *c, const event *e);
void check_stopped(check *c, const event *e);
void check_finalized(check *c, const event *e);

/* After the last event: a user as the store has it. Once each, or for none. */
typedef struct check_final {
    uint64_t        n;
    uint32_t        due;
    dn_day          last_day, starts_on;
    dn_daily_status status;
    int64_t         last_run_ms; /* INT64_MIN: none */
    uint32_t        context_epoch;
} check_final;
void check_user(check *c, const check_final *f);
/* It will be that one's turn soon: what is known of it is fetched. */
void check_user_soon(const check *c, uint64_t n);

/* The run is over: it went on until just before that instant. DN_ENOMEM: not all of it could be looked at. */
DN_MUST_USE int check_end(check *c, int64_t steady_ms);

/* What was found. Of the texts the first hundred are kept: borrowed until check_free. */
uint64_t    check_violations_of(const check *c, check_rule rule);
uint64_t    check_violations_len(const check *c);
size_t      check_violations(const check *c, const char *const **out_texts);
const char *check_rule_name(check_rule rule); /* "I1", "window" */

#endif
