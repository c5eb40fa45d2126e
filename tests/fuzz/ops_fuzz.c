/* ops_fuzz.c - the operations of sim/ops.h, chosen by the fuzzer's bytes instead of a generator.
 * The bytes decide what actors do and when; the first eight are the seed of the simulation, which
 * decides the order of turns and which faults come. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define OPS_CHECK(cond, ...)                                                                       \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #cond);                             \
            fprintf(stderr, __VA_ARGS__);                                                          \
            fputc('\n', stderr);                                                                   \
            abort();                                                                               \
        }                                                                                          \
    } while (0)
#include "ops.h"

enum { OPERATIONS_MAX = 5000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint64_t seed;

    if (size < sizeof seed) return -1; /* not worth a place in the corpus */
    memcpy(&seed, data, sizeof seed);
    o.source = (ops_source){
        .bytes = data + sizeof seed,
        .len = size - sizeof seed,
        .left = OPERATIONS_MAX,
    };
    ops_episode(seed);
    return 0;
}
