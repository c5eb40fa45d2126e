/* report_days.h - how the days ended: each day in numbers, and minute by minute those worth a look.
 * A day has a row as long as there is room (DAYS_LEN, eleven years), and a strip of its 1,440 due minutes (DAYS_STRIPS of
 * them): the first days have one, the last, and of those between the ones with most misses. Minutes over all days are
 * always counted, whatever had no room. */
#ifndef DIURNAL_REPLAY_REPORT_DAYS_H
#define DIURNAL_REPLAY_REPORT_DAYS_H

#include "daily/journal.h"

enum { DAYS_LEN = 4096, DAYS_STRIPS = 24, DAYS_FIRST = 4, DAYS_LAST = 4 };

typedef enum day_end { DAY_SUCCESS, DAY_CUTOFF, DAY_MISSED, DAY_LATE, DAY_ENDS } day_end;

typedef struct day_strip {
    uint32_t ends[DN_DAY_MINUTES][DAY_ENDS];
} day_strip;

typedef struct day_row {
    dn_day   day;
    int32_t  strip; /* -1: none, any more */
    uint64_t ends[DAY_ENDS], starts;
} day_row;

/* The first user-day of a due minute that was no success. */
typedef struct day_example {
    dn_day  day;
    day_end end;
    uint8_t id_len; /* 0: none */
    char    id[DN_ID_MAX];
} day_example;

/* Zeroed it is empty. */
typedef struct days {
    uint32_t    len, last; /* last: the row that was looked at last */
    uint32_t    strips_len;
    uint64_t    left_out; /* of what could have no row: ends and starts */
    uint64_t    all[DN_DAY_MINUTES][DAY_ENDS];
    day_row     rows[DAYS_LEN]; /* by day */
    day_strip   strips[DAYS_STRIPS];
    day_example examples[DN_DAY_MINUTES];
} days;

/* So many user-days ended so; h is of the first of them, and if it is a miss names its user. */
void days_end(days *d, const dn_happening *h, day_end end, uint64_t times);
void days_start(days *d, dn_day day, uint64_t times);

#endif
