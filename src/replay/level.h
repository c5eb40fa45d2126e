/* level.h - how many wait, how many run: a level that goes up and down with what is told, and the highest it was. */
#ifndef DIURNAL_REPLAY_LEVEL_H
#define DIURNAL_REPLAY_LEVEL_H

#include <stdint.h>

static inline void level_reaches(uint64_t level, uint64_t *highest) {
    if (level > *highest) *highest = level;
}

/* What never came in cannot go out: a level is at least 0. */
static inline void level_lowers(uint64_t *level, uint64_t times) {
    *level -= *level < times ? *level : times;
}

#endif
