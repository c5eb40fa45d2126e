/* simulate_shortest.h - shortens the first failing seed, and prints it as text or JSON. */
#ifndef DIURNAL_CLI_SIMULATE_SHORTEST_H
#define DIURNAL_CLI_SIMULATE_SHORTEST_H

#include "replay/shrink.h"
#include "replay/simulate_range.h"

#include <jansson.h>

typedef struct simulate_shortest {
    shrunk least;
    char   path[256]; /* a trace that fails when replayed; "": a trace cannot express the plan */
} simulate_shortest;

/* f: the failing seed of the range; no signal ended it. DN_ENOMEM. */
DN_MUST_USE int simulate_shortest_of(const simulate_range *r, const simulate_found *f,
                                     uint32_t runs_max, simulate_shortest *out_shortest);
void            simulate_shortest_done(simulate_shortest *s);

/* program: argv[0], for the command that replays the trace. */
void simulate_shortest_print(const simulate_shortest *s, const simulate_found *f,
                             const char *program);
/* NULL: out of memory. */
json_t *simulate_shortest_json(const simulate_shortest *s);

#endif
