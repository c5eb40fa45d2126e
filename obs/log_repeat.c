/* log_repeat.c - see log_repeat.h.
 * An event has one word, with the period, the lines in it and the worst level of those kept back, and all that changes
 * changes by one exchange of that word: whoever ends a period has its count, and nobody else does. */
#include "log_repeat.h"

#include <stdatomic.h>
#include <string.h>

enum { EVENTS_MAX = 128 }; /* who comes later is not limited */

/* period:32 level:2 lines:30 */
#define LINES  ((UINT64_C(1) << 30) - 1)
#define LEVEL  30
#define PERIOD 32

typedef struct entry {
    _Atomic(const char *) event; /* NULL: free. Once set it stays. */
    _Atomic(uint64_t)     word;
} entry;

static entry entries[EVENTS_MAX];

static uint64_t period_of(int64_t now_ms) { return (uint32_t)(now_ms / LOG_REPEATS_MS); }

static uint32_t kept_back(uint64_t word) {
    const uint32_t lines = (uint32_t)(word & LINES);

    return lines > LOG_REPEATS_MAX ? lines - LOG_REPEATS_MAX : 0;
}

static log_repeated repeated_of(const char *event, uint64_t word) {
    return (log_repeated){
        .event = event, .level = (dn_log_level)(word >> LEVEL & 3), .lines = kept_back(word)};
}

/* By name: the same literal in two files may have two addresses. */
static entry *entry_of(const char *event) {
    uint32_t hash = 2166136261u;

    for (const char *c = event; *c; c++) hash = (hash ^ (unsigned char)*c) * 16777619u;
    for (uint32_t i = 0; i < EVENTS_MAX; i++) {
        entry      *e = &entries[(hash + i) % EVENTS_MAX];
        const char *there = atomic_load_explicit(&e->event, memory_order_relaxed);
        if (!there && atomic_compare_exchange_strong_explicit(
                          &e->event, &there, event, memory_order_relaxed, memory_order_relaxed))
            return e;
        if (there == event || strcmp(there, event) == 0) return e;
    }
    return NULL;
}

bool log_repeat_allows(const char *event, dn_log_level level, int64_t now_ms,
                       log_repeated *out_ended) {
    entry         *e = entry_of(event);
    const uint64_t period = period_of(now_ms);

    *out_ended = (log_repeated){.event = event};
    if (!e) return true;
    uint64_t word = atomic_load_explicit(&e->word, memory_order_relaxed), next;
    do {
        if (word >> PERIOD != period) {
            next = period << PERIOD | 1;
        } else {
            const uint64_t worst = word >> LEVEL & 3;
            const bool     worse = (word & LINES) >= LOG_REPEATS_MAX && (uint64_t)level > worst;
            next = word + 1 + (worse ? ((uint64_t)level - worst) << LEVEL : 0);
        }
    } while (!atomic_compare_exchange_weak_explicit(&e->word, &word, next, memory_order_relaxed,
                                                    memory_order_relaxed));
    if (word >> PERIOD != period) *out_ended = repeated_of(event, word);
    return kept_back(next) == 0;
}

bool log_repeat_ended(size_t *at, int64_t now_ms, bool any, log_repeated *out_ended) {
    for (; *at < EVENTS_MAX; ++*at) {
        entry      *e = &entries[*at];
        const char *event = atomic_load_explicit(&e->event, memory_order_relaxed);
        uint64_t    word = atomic_load_explicit(&e->word, memory_order_relaxed);
        while (event && kept_back(word) > 0 && (any || word >> PERIOD != period_of(now_ms))) {
            /* In the same period those that were said stay counted. */
            const uint64_t next = word >> PERIOD << PERIOD | LOG_REPEATS_MAX;
            if (!atomic_compare_exchange_weak_explicit(&e->word, &word, next, memory_order_relaxed,
                                                       memory_order_relaxed))
                continue;
            *out_ended = repeated_of(event, word);
            return true;
        }
    }
    return false;
}
