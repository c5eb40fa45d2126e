/* eviction.c - see eviction.h. */
#include "eviction.h"

#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <string.h>

enum { SLOT_BITS = 11, SLOTS = 1 << SLOT_BITS };
static_assert(SLOTS >= 2 * (int)CROWD_MAX, "a place for each is soon found");

uint64_t crowd_from(const struct sockaddr_storage *address) {
    uint64_t from = 0;

    if (address->ss_family == AF_INET)
        return ((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr;
    if (address->ss_family != AF_INET6) return 0;
    const struct in6_addr *six = &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
    if (IN6_IS_ADDR_V4MAPPED(six)) { /* as it comes to a socket of both kinds */
        uint32_t four;
        memcpy(&four, &six->s6_addr[12], sizeof four);
        return four;
    }
    memcpy(&from, six->s6_addr, sizeof from);
    return from;
}

/* How many there are from where each comes, by the first of them. */
typedef struct counts {
    uint16_t first[SLOTS]; /* its index and 1; 0: free */
    uint16_t len[SLOTS];
} counts;

static uint32_t slot_of(const counts *c, const crowd_one *ones, uint64_t from, uint64_t secret) {
    uint32_t slot =
        (uint32_t)(((from ^ secret) * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - SLOT_BITS));

    while (c->first[slot] && ones[c->first[slot] - 1].from != from) slot = (slot + 1) % SLOTS;
    return slot;
}

/* Does a go before b? With how many each comes from where it does. */
static bool goes_before(const crowd_one *a, uint32_t with_a, const crowd_one *b, uint32_t with_b) {
    if (a->is_known != b->is_known) return b->is_known;
    return with_a != with_b ? with_a > with_b : a->since_ns < b->since_ns;
}

int32_t crowd_choose(const crowd_one *ones, uint32_t len, uint64_t secret) {
    counts   c = {0};
    uint32_t most = 0;
    int32_t  chosen = -1;

    assert(len <= CROWD_MAX);
    for (uint32_t i = 0; i < len; i++) {
        const uint32_t slot = slot_of(&c, ones, ones[i].from, secret);
        if (!c.first[slot]) c.first[slot] = (uint16_t)(i + 1);
        c.len[slot]++;
    }
    for (uint32_t i = 0; i < len; i++) {
        if (!ones[i].may_go) continue;
        const uint32_t others = c.len[slot_of(&c, ones, ones[i].from, secret)];
        if (chosen >= 0 && !goes_before(&ones[i], others, &ones[chosen], most)) continue;
        most = others;
        chosen = (int32_t)i;
    }
    return chosen;
}
