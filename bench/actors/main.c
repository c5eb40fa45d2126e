/* main.c - bench_actors <bench> <threads> <n>: one bench, one run, a JSON line a figure.
 * The protocol is the one all peers speak: exit code 3 says "not offered". `bench_actors floor 0 0`
 * prints the floors of this machine instead. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

enum { EXIT_USAGE = 2, LOOPS_MAX = 2 };

static const bench *bench_find(const char *name) {
    const bench *const tables[] = {bench_messages, bench_fanins,   bench_calls,
                                   bench_spawns,   bench_restarts, bench_timers};

    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        for (const bench *row = tables[i]; row->name; row++) {
            if (strcmp(row->name, name) == 0) return row;
        }
    }
    return NULL;
}

static bool parse_count(const char *text, unsigned long long max, unsigned long long *out_count) {
    char              *end = NULL;
    unsigned long long count;

    if (*text < '0' || *text > '9') return false;
    errno = 0;
    count = strtoull(text, &end, 10);
    if (errno != 0 || *end != '\0' || count > max) return false;
    *out_count = count;
    return true;
}

int main(int argc, char **argv) {
    /* Message counts become mailbox bounds, which have 32 bits. */
    const unsigned long long n_max = UINT32_MAX;
    unsigned long long       threads, n;
    const bench             *what;

    if (argc != 4 || !parse_count(argv[2], INT32_MAX, &threads) ||
        !parse_count(argv[3], n_max, &n)) {
        fputs("usage: bench_actors <bench> <threads> <n>\n       bench_actors floor 0 0\n", stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "floor") == 0) {
        bench_floors();
        return EXIT_SUCCESS;
    }
    what = bench_find(argv[1]);
    if (!what || threads > LOOPS_MAX || (int)threads < what->threads_min) return BENCH_NOT_OFFERED;
    if (n == 0) {
        fputs("bench_actors: n is 0, there is nothing to measure\n", stderr);
        return EXIT_USAGE;
    }
    bench_perform(what, (int)threads, n);
    return EXIT_SUCCESS;
}
