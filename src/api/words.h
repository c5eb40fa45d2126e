/* words.h - durations, counts and times in words. Any thread. */
#ifndef DIURNAL_API_WORDS_H
#define DIURNAL_API_WORDS_H

#include "domain/daily_rule.h"

enum { DN_WORDS = 32 };

/* "3 h 12 min", "45 s"; smaller units are cut off. */
const char *dn_words_duration(int64_t ms, char out[DN_WORDS]);
/* "1 user", "0 users": for a short noun whose plural ends in s. */
const char *dn_words_count(uint64_t n, const char *thing, char out[DN_WORDS]);
/* "1st", "22nd" */
const char *dn_words_ordinal(uint32_t n, char out[DN_WORDS]);
/* "07:03", or "2026-11-18 07:03" on another day */
const char *dn_words_time(int64_t ms, dn_day day, char out[DN_WORDS]);

#endif
