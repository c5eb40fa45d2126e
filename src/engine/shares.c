/* shares.c - see shares.h. */
#include "shares.h"

#include <assert.h>
#include <stdbool.h>

/* Compares in_use/weight without a division. */
static bool has_less(const dn_share *a, const dn_share *b) {
    return (uint64_t)a->in_use * b->weight < (uint64_t)b->in_use * a->weight;
}

size_t dn_shares_next(const dn_share *shares, size_t len) {
    size_t next = len;

    for (size_t i = 0; i < len; i++) {
        assert(shares[i].weight > 0);
        if (shares[i].wants == 0) continue;
        if (next == len || has_less(&shares[i], &shares[next])) next = i;
    }
    return next;
}
