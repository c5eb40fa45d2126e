/* entropy.h - one seed from the system. Any thread. */
#ifndef DIURNAL_ACTOR_ENTROPY_H
#define DIURNAL_ACTOR_ENTROPY_H

#include <stdint.h>

uint64_t entropy_seed(void);

/* The generator everything random here uses (splitmix64): the next number after *state. */
static inline uint64_t random_next(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15U);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

#endif
