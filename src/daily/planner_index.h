/* planner_index.h - all users, as the planner knows them: by number, and by due minute.
 * A tick costs what is due and not how many users there are: each minute of the day has its users in one
 * row, those whose day is still open in front. A user takes 32 bytes, 4 in the row of its minute, 11 to 21 to be
 * found by number, and its id. Pure: no clock, no store, no actor. */
#ifndef DIURNAL_DAILY_PLANNER_INDEX_H
#define DIURNAL_DAILY_PLANNER_INDEX_H

#include "domain/daily_rule.h"

typedef struct dn_planner_index dn_planner_index;

DN_MUST_USE int dn_planner_index_new(dn_planner_index **out_index);
void            dn_planner_index_free(void *planner_index); /* accepts NULL */

/* What the planner has to know of a user. */
typedef struct dn_planner_index_user {
    uint64_t        registration; /* never 0 */
    uint32_t        due;
    dn_day          last_day, starts_on;
    dn_day          recorded; /* the last day with a row in the ledger */
    dn_daily_status status;   /* of last_day */
    uint32_t        context_epoch;
    const char     *id; /* borrowed for the call */
    uint8_t         id_len;
} dn_planner_index_user;

/* A user that is new, or is known by its number and has changed; its id never changes, and may be left out (id_len 0)
 * then. DN_EDEAD: it is not known, and there is no id. DN_ENOMEM: the planner index is as it was. */
DN_MUST_USE int dn_planner_index_put(dn_planner_index            *planner_index,
                                     const dn_planner_index_user *user);
bool            dn_planner_index_remove(dn_planner_index *planner_index,
                                        uint64_t          registration); /* false: there is none */

/* Has the memory of users brought near who are about to be put: with millions of users each is far off, and so many are
 * waited for at once. Those that are not known are no harm. */
enum { DN_PLANNER_INDEX_FETCH = 16 };
void dn_planner_index_fetch(const dn_planner_index *planner_index, const uint64_t *registrations,
                            size_t len);

size_t dn_planner_index_len(const dn_planner_index *planner_index);
size_t dn_planner_index_bytes(const dn_planner_index *planner_index);

/* ---- A tick, in slices ----
 * Between two slices of a scan users may change: each user that is open and stays in its minute is looked at, some twice.
 * A user that moves to a minute the scan has passed is not; dn_planner_index_plan_of plans it. */

typedef struct dn_planner_index_scan {
    int64_t  now_ms;
    uint32_t window_minutes;
    uint32_t minute, at; /* where it stands: users[at..) of that minute have been looked at */
    bool     begun;      /* the rows have been made ready */
    uint64_t scanned;    /* users looked at so far */
} dn_planner_index_scan;

/* One user for whom something is to be done. */
typedef struct dn_planner_index_plan {
    uint64_t        registration;
    uint32_t        due;
    uint32_t        context_epoch;
    dn_daily_action action; /* may be DN_DAILY_NOTHING if days were missed */
    dn_day          day;
    dn_day_range    missed; /* none if first > last */
    uint8_t         id_len;
    const char     *id; /* borrowed until the planner index changes */
} dn_planner_index_plan;

void dn_planner_index_scan_begin(dn_planner_index_scan *scan, uint32_t window_minutes,
                                 int64_t now_ms);

/* Goes on, over at most looks_max users, until max of them want something. False: the scan is over. */
bool dn_planner_index_scan_on(dn_planner_index *planner_index, dn_planner_index_scan *scan,
                              uint32_t looks_max, dn_planner_index_plan *plans, size_t max,
                              size_t *out_len);

/* What the scan would plan for one user now. False: nothing, or there is no such user. */
bool dn_planner_index_plan_of(const dn_planner_index *planner_index, uint64_t registration,
                              const dn_planner_index_scan *scan, dn_planner_index_plan *out_plan);

/* ---- A minute at a glance ----
 * Who begins later than on the day that is asked for is none of its users, unless it was finalized through the day before its
 * first. A user counts for its last day alone, and no more if it begins later than the day after that. By minute two days are
 * counted, an even and an odd one: the last there was, so that what a clock ahead has finalized hides the days
 * before. */
typedef struct dn_planner_index_minute {
    uint32_t users;
    uint32_t success, cutoff; /* whose last day is the day asked for, and ended so */
} dn_planner_index_minute;
void dn_planner_index_minutes(const dn_planner_index *planner_index, dn_day day,
                              dn_planner_index_minute out[DN_DAY_MINUTES]);

#endif
