/* eviction.c - see eviction.h. */
#include "eviction.h"

#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <string.h>

enum { SLOT_BITS = 11, SLOTS = 1 << SLOT_BITS };
static_assert(SLOTS >= 2 * (int)EVICTION_MAX, "a load of one half keeps probes short");

uint64_t eviction_source(const struct sockaddr_storage *address) {
    uint64_t source = 0;

    if (address->ss_family == AF_INET)
        return ((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr;
    if (address->ss_family != AF_INET6) return 0;
    const struct in6_addr *six = &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
    if (IN6_IS_ADDR_V4MAPPED(six)) { /* IPv4 on a dual-stack socket */
        uint32_t four;
        memcpy(&four, &six->s6_addr[12], sizeof four);
        return four;
    }
    memcpy(&source, six->s6_addr, sizeof source);
    return source;
}

/* An open-addressed table: how many connections each source has, found by the first of them. */
typedef struct source_counts {
    uint16_t first[SLOTS]; /* index of the first candidate plus 1; 0: free */
    uint16_t len[SLOTS];
} source_counts;

static uint32_t slot_of(const source_counts *counts, const eviction_candidate *candidates,
                        uint64_t source, uint64_t secret) {
    uint32_t slot =
        (uint32_t)(((source ^ secret) * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - SLOT_BITS));

    while (counts->first[slot] && candidates[counts->first[slot] - 1].source != source)
        slot = (slot + 1) % SLOTS;
    return slot;
}

/* Is a evicted before b? Each comes with the number of connections of its source. */
static bool goes_before(const eviction_candidate *a, uint32_t len_a, const eviction_candidate *b,
                        uint32_t len_b) {
    if (a->authenticated != b->authenticated) return b->authenticated;
    return len_a != len_b ? len_a > len_b : a->since_ns < b->since_ns;
}

int32_t eviction_choose(const eviction_candidate *candidates, uint32_t len, uint64_t secret) {
    source_counts counts = {0};
    uint32_t      chosen_len = 0;
    int32_t       chosen = -1;

    assert(len <= EVICTION_MAX);
    for (uint32_t i = 0; i < len; i++) {
        const uint32_t slot = slot_of(&counts, candidates, candidates[i].source, secret);
        if (!counts.first[slot]) counts.first[slot] = (uint16_t)(i + 1);
        counts.len[slot]++;
    }
    for (uint32_t i = 0; i < len; i++) {
        if (!candidates[i].evictable) continue;
        const uint32_t own = counts.len[slot_of(&counts, candidates, candidates[i].source, secret)];
        if (chosen >= 0 && !goes_before(&candidates[i], own, &candidates[chosen], chosen_len))
            continue;
        chosen_len = own;
        chosen = (int32_t)i;
    }
    return chosen;
}
