/* daily_rule.c - the daily rule.
 * All that the rule knows of a user's past is one number: the first day that is not finalized. Every
 * day before it is, every day from it on is not. So what is left to decide is where now stands between
 * the starts and cutoffs of two days: the date of now, and the day after, whose window may have opened
 * before midnight. */
#include "daily_rule.h"

#include <assert.h>
#include <string.h>

static dn_day        first_open(const dn_daily_user *user);
static dn_daily_plan plan_nothing(dn_day today);

const char *dn_daily_status_text(dn_daily_status status) {
    switch (status) {
    case DN_DAILY_NONE: return NULL;
    case DN_DAILY_SUCCESS: return "success";
    case DN_DAILY_CUTOFF: return "cutoff_reached";
    case DN_DAILY_MISSED: return "missed";
    }
    assert(false);
    return NULL;
}

const char *dn_error_class_text(dn_error_class cls) {
    switch (cls) {
    case DN_CLASS_NONE: return NULL;
    case DN_CLASS_REQ: return "req";
    case DN_CLASS_LLM: return "llm";
    case DN_CLASS_PARSE: return "parse";
    case DN_CLASS_UNKNOWN: return "unknown";
    }
    assert(false);
    return NULL;
}

dn_error_class dn_error_class_read(const char *text, size_t len) {
    for (dn_error_class cls = DN_CLASS_REQ; cls <= DN_CLASS_UNKNOWN; cls++) {
        const char *name = dn_error_class_text(cls);

        if (strlen(name) == len && memcmp(name, text, len) == 0) return cls;
    }
    return DN_CLASS_NONE;
}

int64_t dn_daily_cutoff_ms(uint32_t due, dn_day day) {
    assert(due < DN_DAY_MINUTES);
    return dn_day_start_ms(day) + due * DN_MINUTE_MS;
}

int64_t dn_daily_start_ms(uint32_t due, dn_day day, uint32_t window_minutes) {
    assert(window_minutes >= 1);
    assert(window_minutes <= DN_WINDOW_MINUTES_MAX);
    return dn_daily_cutoff_ms(due, day) - window_minutes * DN_MINUTE_MS;
}

/* No window is longer than a day: that of the day after tomorrow opens tomorrow at the earliest, and that of
 * yesterday opened yesterday at the latest. */
dn_day dn_daily_opened(uint32_t due, uint32_t window_minutes, int64_t now_ms) {
    const dn_day today = dn_day_of_ms(now_ms);

    if (dn_daily_start_ms(due, today + 1, window_minutes) <= now_ms) return today + 1;
    return dn_daily_start_ms(due, today, window_minutes) <= now_ms ? today : today - 1;
}

dn_daily_openings dn_daily_openings_at(uint32_t window_minutes, int64_t now_ms) {
    const dn_day today = dn_day_of_ms(now_ms);
    int64_t      minute = (now_ms - dn_day_start_ms(today)) / DN_MINUTE_MS;

    assert(window_minutes >= 1 && window_minutes <= DN_WINDOW_MINUTES_MAX);
    /* Beyond the ends of time it is no minute of that day. */
    if (minute < 0) minute = -DN_DAY_MINUTES - 1;
    if (minute > DN_DAY_MINUTES) minute = 2 * DN_DAY_MINUTES;
    return (dn_daily_openings){
        .today = today,
        .due_tomorrow = (int32_t)minute + (int32_t)window_minutes - DN_DAY_MINUTES,
        .due_today = (int32_t)minute + (int32_t)window_minutes,
    };
}

dn_daily_plan dn_daily_decide(const dn_daily_user *user, uint32_t window_minutes, int64_t now_ms) {
    const dn_day today = dn_day_of_ms(now_ms);

    if (!dn_daily_is_finalized(user, today)) {
        if (dn_daily_cutoff_ms(user->due, today) <= now_ms)
            return (dn_daily_plan){.action = DN_DAILY_FINALIZE, .day = today};
        if (dn_daily_start_ms(user->due, today, window_minutes) <= now_ms)
            return (dn_daily_plan){.action = DN_DAILY_ATTEMPT, .day = today};
        return plan_nothing(today);
    }
    /* A window that crosses midnight belongs to the day of its cutoff. */
    if (!dn_daily_is_finalized(user, today + 1) &&
        dn_daily_start_ms(user->due, today + 1, window_minutes) <= now_ms)
        return (dn_daily_plan){.action = DN_DAILY_ATTEMPT, .day = today + 1};
    return plan_nothing(today);
}

bool dn_daily_may_start(const dn_daily_user *user, dn_day day, uint32_t window_minutes,
                        int64_t now_ms) {
    return !dn_daily_is_finalized(user, day) &&
           dn_daily_start_ms(user->due, day, window_minutes) <= now_ms &&
           now_ms < dn_daily_cutoff_ms(user->due, day);
}

int64_t dn_daily_next_ms(const dn_daily_user *user, uint32_t window_minutes, int64_t now_ms) {
    const dn_day today = dn_day_of_ms(now_ms);
    const dn_day open = first_open(user);
    /* Nothing is asked for a day that is over, nor for one before the first that is open. */
    const dn_day  day = today > open ? today : open;
    const int64_t start_ms = dn_daily_start_ms(user->due, day, window_minutes);
    const int64_t cutoff_ms = dn_daily_cutoff_ms(user->due, day);

    if (now_ms < start_ms) return start_ms;
    if (now_ms < cutoff_ms) return cutoff_ms;
    return dn_day_start_ms(day + 1); /* it asks to be finalized until another day begins */
}

dn_day_range dn_daily_missed(const dn_daily_user *user, dn_day recorded, int64_t now_ms) {
    const dn_day open = first_open(user);

    return (dn_day_range){
        .first = recorded < open ? open : recorded + 1,
        .last = dn_day_of_ms(now_ms) - 1,
    };
}

dn_day dn_daily_starts_on(uint32_t due, int64_t now_ms) {
    const dn_day today = dn_day_of_ms(now_ms);

    return now_ms < dn_daily_cutoff_ms(due, today) ? today : today + 1;
}

/* The first day that is not finalized. */
static dn_day first_open(const dn_daily_user *user) {
    if (user->last_day < user->starts_on) return user->starts_on;
    assert(user->last_day < INT32_MAX);
    return user->last_day + 1;
}

static dn_daily_plan plan_nothing(dn_day today) {
    return (dn_daily_plan){.action = DN_DAILY_NOTHING, .day = today};
}
