/* starving.h - memory that runs out: in a program that links `starving`, malloc, calloc and realloc of all that is
 * linked into it (not of the shared libraries) can be made to fail. Of the calling thread alone. */
#ifndef DIURNAL_TESTS_STARVING_H
#define DIURNAL_TESTS_STARVING_H

#include <stdbool.h>
#include <stdint.h>

/* The nth allocation from now (1: the next one) fails, and those behind it succeed again. */
void starve_nth(uint64_t n);

/* Back to plenty. True: the nth came, and has failed. */
bool starve_end(void);

#endif
