/* daily_rule.h - the daily rule: what a user needs at an instant, and what may be written for a day.
 * Functions of their arguments, and nothing else: no clock, no store. docs/daily-rule.md has the rule in
 * words. Any thread. */
#ifndef DIURNAL_DOMAIN_DAILY_RULE_H
#define DIURNAL_DOMAIN_DAILY_RULE_H

#include "base/civil.h"
#include "id.h"

/* How a day ended for a user. Stored: the numbers stay. */
typedef enum dn_daily_status {
    DN_DAILY_NONE = 0,
    DN_DAILY_SUCCESS = 1,
    DN_DAILY_CUTOFF = 2, /* "cutoff_reached" */
    DN_DAILY_MISSED = 3, /* in the ledger only: nobody was there to finalize it */
} dn_daily_status;

/* Why an attempt was not ok. Stored: the numbers stay. */
typedef enum dn_error_class {
    DN_CLASS_NONE = 0,
    DN_CLASS_REQ = 1,
    DN_CLASS_LLM = 2,
    DN_CLASS_PARSE = 3,
    DN_CLASS_UNKNOWN = 4,
} dn_error_class;

const char *dn_daily_status_text(dn_daily_status status); /* "success"; NULL for none */
const char *dn_error_class_text(dn_error_class cls);      /* "llm"; NULL for none */
/* DN_CLASS_NONE: it is none of the four. */
dn_error_class dn_error_class_read(const char *text, size_t len);

/* What of a user the rule looks at. */
typedef struct dn_daily_user {
    uint32_t due;       /* minute of the day */
    dn_day   last_day;  /* the last one finalized, or DN_DAY_NONE */
    dn_day   starts_on; /* days before it are nobody's business */
} dn_daily_user;

/* The window of a day: start <= t < cutoff. It may begin on the day before. */
int64_t dn_daily_cutoff_ms(uint32_t due, dn_day day);
int64_t dn_daily_start_ms(uint32_t due, dn_day day, uint32_t window_minutes);

/* The latest day whose window has opened by now_ms. */
dn_day dn_daily_opened(uint32_t due, uint32_t window_minutes, int64_t now_ms);

/* The same for all dues at once: up to due_tomorrow it is the day after today, behind that up to due_today it is today,
 * behind that it is the day before. Either may be less than 0 or more than 1439. */
typedef struct dn_daily_openings {
    dn_day  today; /* the date of now */
    int32_t due_tomorrow, due_today;
} dn_daily_openings;
dn_daily_openings dn_daily_openings_at(uint32_t window_minutes, int64_t now_ms);

/* ">=", so that a clock stepped back never runs a day twice. */
static inline bool dn_daily_is_finalized(const dn_daily_user *user, dn_day day) {
    return user->last_day >= day || day < user->starts_on;
}

typedef enum dn_daily_action {
    DN_DAILY_NOTHING,
    DN_DAILY_ATTEMPT,
    DN_DAILY_FINALIZE, /* as cutoff_reached */
} dn_daily_action;

typedef struct dn_daily_plan {
    dn_daily_action action;
    dn_day          day; /* which day it is for; the date of now_ms if nothing is to be done */
} dn_daily_plan;

/* The rule. */
dn_daily_plan dn_daily_decide(const dn_daily_user *user, uint32_t window_minutes, int64_t now_ms);

/* When its turn has come: may an attempt for that day begin now? */
bool dn_daily_may_start(const dn_daily_user *user, dn_day day, uint32_t window_minutes,
                        int64_t now_ms);

/* The first instant after now_ms at which the decision may be another one, if nothing is written meanwhile. */
int64_t dn_daily_next_ms(const dn_daily_user *user, uint32_t window_minutes, int64_t now_ms);

/* The days that ended unseen: first <= D <= last, none if first > last. `recorded` is the last day the ledger
 * has a row for, or DN_DAY_NONE. */
typedef struct dn_day_range {
    dn_day first, last;
} dn_day_range;
dn_day_range dn_daily_missed(const dn_daily_user *user, dn_day recorded, int64_t now_ms);

/* When a user without a starts_on of its own begins: today for the letter of the rule, or tomorrow if its
 * cutoff of today has passed. */
dn_day dn_daily_starts_on(uint32_t due, int64_t now_ms);

/* ---- Bounds of the settings ---- */
enum { DN_WINDOW_MINUTES_MAX = 1440, DN_RETRY_MINUTES_MAX = 1440 };

#endif
