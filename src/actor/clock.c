/* clock.c - the one file that asks the machine what time it is. */
#include "clock.h"

#include <time.h>

static int64_t read_ns(clockid_t clock) {
    struct timespec t;

    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t clock_mono_ns(void) { return read_ns(CLOCK_MONOTONIC); }

/* Two clocks cannot be read at one instant: of several tries the one in which least time passed. */
static int64_t offset_ns(clockid_t clock) {
    int64_t best_gap = INT64_MAX, offset = 0;

    for (int i = 0; i < 5 && best_gap > 1000; i++) {
        const int64_t before = read_ns(CLOCK_MONOTONIC);
        const int64_t there = read_ns(clock);
        const int64_t gap = read_ns(CLOCK_MONOTONIC) - before;
        if (gap >= best_gap) continue;
        best_gap = gap;
        offset = there - before - gap / 2;
    }
    return offset;
}

clock_offsets clock_read_offsets(void) {
    return (clock_offsets){.wall_ns = offset_ns(CLOCK_REALTIME),
                           .boot_ns = offset_ns(CLOCK_BOOTTIME)};
}
