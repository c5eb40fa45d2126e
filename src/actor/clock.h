/* clock.h - the machine's clocks. Any thread. */
#ifndef DIURNAL_ACTOR_CLOCK_H
#define DIURNAL_ACTOR_CLOCK_H

#include <stdint.h>

int64_t clock_mono_ns(void);

/* How far the wall clock and the boot clock stand from the steady one. */
typedef struct clock_offsets {
    int64_t wall_ns, boot_ns;
} clock_offsets;

clock_offsets clock_read_offsets(void);

#endif
