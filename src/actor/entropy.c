/* entropy.c - the one file that asks the system for randomness. */
#include "entropy.h"

#include <assert.h>
#include <sys/random.h>

uint64_t entropy_seed(void) {
    uint64_t seed;
    /* Up to 256 bytes getrandom is never interrupted and never short. */
    const ssize_t got = getrandom(&seed, sizeof seed, 0);

    assert(got == (ssize_t)sizeof seed && "the system gives no random numbers");
    (void)got;
    return seed;
}
