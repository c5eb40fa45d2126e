/* compare_own.h - what a comparison found: between compare.c, which reads, and compare_say.c, which says it. */
#ifndef DIURNAL_REPLAY_COMPARE_OWN_H
#define DIURNAL_REPLAY_COMPARE_OWN_H

#include "compare.h"
#include "compare_pairs.h"
#include "compare_totals.h"

/* Pairs of which the first is of the other run, the second of this one. */
struct compare {
    char                  *dirs[2];
    compare_totals         totals[2];
    compare_lines         *users[2];
    compare_log           *logs[2];
    compare_pairs         *pairs;
    compare_users          people;
    const compare_changes *changes; /* of pairs */
};

#endif
