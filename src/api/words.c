/* words.c - see words.h. */
#include "words.h"

#include <inttypes.h>
#include <stdio.h>

const char *dn_words_duration(int64_t ms, char out[DN_WORDS]) {
    const int64_t s = ms > 0 ? ms / 1000 : 0, min = s / 60, h = min / 60, days = h / 24;

    if (s < 1) (void)snprintf(out, DN_WORDS, "%" PRId64 " ms", ms > 0 ? ms : 0);
    else if (min < 1) (void)snprintf(out, DN_WORDS, "%" PRId64 " s", s);
    else if (h < 1) (void)snprintf(out, DN_WORDS, "%" PRId64 " min", min);
    else if (days < 2) (void)snprintf(out, DN_WORDS, "%" PRId64 " h %" PRId64 " min", h, min % 60);
    else (void)snprintf(out, DN_WORDS, "%" PRId64 " days %" PRId64 " h", days, h % 24);
    return out;
}

const char *dn_words_count(uint64_t n, const char *thing, char out[DN_WORDS]) {
    (void)snprintf(out, DN_WORDS, "%" PRIu64 " %s%s", n, thing, n == 1 ? "" : "s");
    return out;
}

const char *dn_words_ordinal(uint32_t n, char out[DN_WORDS]) {
    const bool  teen = n % 100 >= 11 && n % 100 <= 13;
    const char *end = "th";

    if (!teen && n % 10 == 1) end = "st";
    if (!teen && n % 10 == 2) end = "nd";
    if (!teen && n % 10 == 3) end = "rd";
    (void)snprintf(out, DN_WORDS, "%" PRIu32 "%s", n, end);
    return out;
}

const char *dn_words_time(int64_t ms, dn_day day, char out[DN_WORDS]) {
    const dn_day of = dn_day_of_ms(ms);
    char         due[DN_DUE_TEXT], date[DN_DAY_TEXT];

    dn_due_write((uint32_t)((ms - dn_day_start_ms(of)) / DN_MINUTE_MS), due);
    dn_day_write(of, date);
    if (of == day) (void)snprintf(out, DN_WORDS, "%s", due);
    else (void)snprintf(out, DN_WORDS, "%s %s", date, due);
    return out;
}
