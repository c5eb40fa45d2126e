/* simulate_shortest.h - the first seed that failed, made as short as it goes: for people, and as JSON. */
#ifndef DIURNAL_CLI_SIMULATE_SHORTEST_H
#define DIURNAL_CLI_SIMULATE_SHORTEST_H

#include "replay/shrink.h"
#include "replay/simulate_range.h"

#include <jansson.h>

typedef struct simulate_shortest {
    shrunk least;
    char   path
        [256]; /* of a trace which fails when it is replayed; "": a trace cannot say all of it */
} simulate_shortest;

/* f: what the range came to; it was found, and no signal ended it. DN_ENOMEM. */
DN_MUST_USE int simulate_shortest_of(const simulate_range *r, const simulate_found *f,
                                     uint32_t runs_max, simulate_shortest *out_shortest);
void            simulate_shortest_done(simulate_shortest *s);

/* program: what runs the trace again. */
void simulate_shortest_print(const simulate_shortest *s, const simulate_found *f,
                             const char *program);
/* NULL: out of memory. */
json_t *simulate_shortest_json(const simulate_shortest *s);

#endif
