/* slo_history.h - the numbers an SLO is judged by: a source names an event and what is measured of it, and a history
 * keeps what that event said in the last minutes.
 * Handlers of telemetry count on the thread that emits; the watcher's actor rolls the counts into minutes and reads them.
 * Minutes are those of the monotonic clock. All memory is allocated by _new: durations take 9 KB for each minute and 36 KB,
 * other sources less than 100 KB, and groups 0.5 MB more. */
#ifndef DIURNAL_OBS_SLO_HISTORY_H
#define DIURNAL_OBS_SLO_HISTORY_H

#include "diurnal/telemetry.h"
#include "sketch.h"
#include "slo_misses.h"

typedef enum dn_slo_kind {
    DN_SLO_DURATIONS, /* how values in ms are spread; value is DN_REAL */
    DN_SLO_LEVEL,     /* holds until the next event; value is DN_INTEGER */
    DN_SLO_OUTCOMES,  /* good or bad; value has any type */
} dn_slo_kind;

typedef struct dn_slo_field {
    const char   *name;
    dn_field_type type;
} dn_slo_field;

typedef bool dn_slo_test(dn_value value);

/* What bad outcomes are grouped by. The names are those of the fields in a line of the log. */
typedef struct dn_slo_group {
    const char *number; /* also the event's field: DN_INTEGER, below DN_SLO_GROUPS */
    const char *text, *count;
    void (*write)(uint32_t group, char text[8]);
} dn_slo_group;

/* Static. One thread emits the event. */
typedef struct dn_slo_source {
    const char         *event;
    dn_slo_kind         kind;
    dn_slo_field        value;
    const char         *ceiling; /* of a level: DN_INTEGER, the most that it can be; or NULL */
    dn_slo_test        *is_good; /* of outcomes */
    const dn_slo_group *group;   /* of outcomes; or NULL */
    dn_slo_field        filter;  /* with passes: events that fail it do not count */
    dn_slo_test        *passes;  /* NULL: all events count */
} dn_slo_source;

enum {
    DN_SLO_DAY_MINUTES = 1440,
    DN_SLO_OUTCOME_MINUTES = 3 * DN_SLO_DAY_MINUTES, /* the longest span of outcomes */
    DN_SLO_NEWS = 0, /* as a number of minutes: since the last call of _forget_news */
};

/* The time, level times time, time at the ceiling. */
typedef struct dn_slo_level {
    double watched_us, area_us, full_us;
} dn_slo_level;

typedef struct dn_slo_outcomes {
    uint64_t bad, all;
} dn_slo_outcomes;

typedef struct dn_slo_history dn_slo_history;

/* Keeps at least so many whole minutes. DN_EINVAL: the source is unsound. DN_ENOMEM. */
DN_MUST_USE int dn_slo_history_new(const dn_slo_source *source, uint32_t minutes, int64_t mono_ns,
                                   dn_slo_history **out_history);
void            dn_slo_history_free(dn_slo_history *h); /* detaches; accepts NULL */

/* Counts the events of the source from now on, until it is freed. Once. DN_EINVAL: no such event, or it lacks a field;
 * DN_EFULL: too many handlers. */
DN_MUST_USE int dn_slo_history_listen(dn_slo_history *h);

/* What the handlers call, by the kind of the source. The thread that emits; any other may read meanwhile. */
void dn_slo_took(dn_slo_history *h, int64_t duration_us); /* less than 0 counts as 0 */
void dn_slo_level_is(dn_slo_history *h, uint64_t level, uint64_t ceiling, int64_t now_ns);
void dn_slo_ended(dn_slo_history *h, bool good, uint32_t group); /* group: 0 without groups */

/* ---- For the watcher's thread ---- */

/* Moves what was counted to the current minute; the time of a level is spread evenly since the last roll. An instant
 * before the last one counts as that. */
void dn_slo_history_roll(dn_slo_history *h, int64_t mono_ns);
void dn_slo_history_forget_news(dn_slo_history *h);

/* For judges: the current minute and those before it, so many in all. */
const dn_sketch *dn_slo_history_durations(dn_slo_history *h,
                                          uint32_t        minutes); /* us; until the next call */
dn_slo_level     dn_slo_history_level(const dn_slo_history *h, uint32_t minutes);
dn_slo_level     dn_slo_history_level_ago(const dn_slo_history *h, uint32_t minutes_ago);
dn_slo_outcomes  dn_slo_history_outcomes(const dn_slo_history *h, uint32_t minutes);
/* The group with most bad outcomes; of equals the lowest. -1: there is none. */
int32_t dn_slo_history_worst(dn_slo_history *h, uint32_t minutes, uint64_t *out_bad);
/* Whether so many minutes have passed since it was made. */
bool dn_slo_history_covers(const dn_slo_history *h, uint32_t minutes);

#endif
