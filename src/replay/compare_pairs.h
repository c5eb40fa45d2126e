/* compare_pairs.h - the user-days of two runs, told as each run has them, and those that came out otherwise.
 * What both runs closed alike is forgotten at once. A user-day that one run has told and the other not yet waits, and so
 * does one that was missed, for a clock that steps back may yet bring it an outcome: until the end, or until more of
 * them wait than there is room for; then the one that waits longest is judged as it stands. */
#ifndef DIURNAL_REPLAY_COMPARE_PAIRS_H
#define DIURNAL_REPLAY_COMPARE_PAIRS_H

#include "compare_log.h"

enum { COMPARE_NAMED = 20 };

/* The earliest by day, then by id, of those that came out otherwise. */
typedef struct compare_change {
    dn_day   day;
    uint16_t id_len;
    uint8_t  outcome[2]; /* compare_outcome: of the other run, and of this */
    char     id[COMPARE_ID_MAX];
} compare_change;

typedef struct compare_changes {
    uint64_t       all;
    uint64_t       from_to[COMPARE_OUTCOMES][COMPARE_OUTCOMES]; /* the other's, this one's */
    compare_change named[COMPARE_NAMED];
    size_t         named_len;
} compare_changes;

typedef struct compare_pairs compare_pairs;

compare_pairs *compare_pairs_new(size_t waiting_max); /* NULL: no memory */
void           compare_pairs_free(compare_pairs *p);  /* accepts NULL */

/* side: 0, the other run; 1, this one. DN_ENOMEM. */
DN_MUST_USE int compare_pairs_tell(compare_pairs *p, int side, const compare_day_end *end);

/* Both are told to their ends. */
const compare_changes *compare_pairs_judge(compare_pairs *p);

/* As the bytes of the ids themselves are ordered. */
int compare_id_order(const char *a, size_t a_len, const char *b, size_t b_len);

#endif
