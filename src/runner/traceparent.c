/* traceparent.c - see traceparent.h. */
#include "traceparent.h"

#include <inttypes.h>
#include <stdio.h>

void traceparent_write(const uint64_t entropy[3], char text[TRACEPARENT_TEXT]) {
    const uint64_t low = entropy[0] | entropy[1] ? entropy[1] : 1;
    const uint64_t parent = entropy[2] ? entropy[2] : 1;

    (void)snprintf(text, TRACEPARENT_TEXT, "00-%016" PRIx64 "%016" PRIx64 "-%016" PRIx64 "-01",
                   entropy[0], low, parent);
}
