/* check_rule.h - the rule of a day, for who checks: written from the text of the contract, and from no other code.
 * For a user with a cutoff at `due` minutes after midnight, a day D has the window [D + due - W, D + due). */
#ifndef DIURNAL_REPLAY_CHECK_RULE_H
#define DIURNAL_REPLAY_CHECK_RULE_H

#include "daily/journal.h"

#define CHECK_MINUTE INT64_C(60000)
#define CHECK_DAY    (1440 * CHECK_MINUTE)

/* Rounded down, also before 1970. */
static inline int64_t check_floor(int64_t ms, int64_t unit) {
    const int64_t whole = ms / unit;

    return ms % unit < 0 ? whole - 1 : whole;
}

static inline dn_day check_date(int64_t wall_ms) { return (dn_day)check_floor(wall_ms, CHECK_DAY); }

static inline int64_t check_cutoff(uint32_t due, dn_day day) {
    return ((int64_t)day * 1440 + due) * CHECK_MINUTE;
}

/* What a tick has to do about a user. */
typedef enum check_need { CHECK_NEED_NOTHING, CHECK_NEED_TRY, CHECK_NEED_CLOSE } check_need;
typedef struct check_want {
    check_need need;
    dn_day     day;
} check_want;

/* `today` is the date of wall_ms: who asks for many users knows it. */
static inline check_want check_wants(uint32_t due, dn_day last_day, dn_day starts_on,
                                     int64_t window_ms, dn_day today, int64_t wall_ms) {
    const int64_t cutoff = check_cutoff(due, today);
    const bool    over = today <= last_day || today < starts_on; /* nothing more for today */

    if (!over) {
        if (wall_ms >= cutoff) return (check_want){CHECK_NEED_CLOSE, today};
        if (wall_ms >= cutoff - window_ms) return (check_want){CHECK_NEED_TRY, today};
    } else if (last_day <= today && starts_on <= today + 1 &&
               wall_ms >= cutoff + CHECK_DAY - window_ms) {
        return (check_want){CHECK_NEED_TRY, today + 1};
    }
    return (check_want){CHECK_NEED_NOTHING, today};
}

/* "2026-11-18", "2026-11-18T08:00:00.000Z", "08:00"; of any day and instant, for people to read. */
enum { CHECK_DAY_TEXT = 16, CHECK_INSTANT_TEXT = 40, CHECK_DUE_TEXT = 8 };
const char *check_day_text(dn_day day, char text[CHECK_DAY_TEXT]);
const char *check_instant_text(int64_t wall_ms, char text[CHECK_INSTANT_TEXT]);

#endif
