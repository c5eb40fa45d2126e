/* hash.c - SipHash with one round a word and three at the end, and one multiplication a word. */
#include "hash.h"

#include <string.h>

typedef struct lanes {
    uint64_t a, b, c, d;
} lanes;

static uint64_t turn(uint64_t x, int by) { return x << by | x >> (64 - by); }

static void mix(lanes *v) {
    v->a += v->b;
    v->b = turn(v->b, 13) ^ v->a;
    v->a = turn(v->a, 32);
    v->c += v->d;
    v->d = turn(v->d, 16) ^ v->c;
    v->a += v->d;
    v->d = turn(v->d, 21) ^ v->a;
    v->c += v->b;
    v->b = turn(v->b, 17) ^ v->c;
    v->c = turn(v->c, 32);
}

static void take(lanes *v, uint64_t word) {
    v->d ^= word;
    mix(v);
    v->a ^= word;
}

static uint64_t read_4(const unsigned char *at) {
    uint32_t word;

    memcpy(&word, at, sizeof word);
    return word;
}

/* The last bytes, fewer than a word, as one. Read by pieces of fixed size that overlap: they agree where they do. */
static uint64_t rest(const unsigned char *at, size_t left) {
    if (left >= 4) return read_4(at) | read_4(at + left - 4) << (left - 4) * 8;
    if (left == 0) return 0;
    return at[0] | (uint64_t)at[left / 2] << left / 2 * 8 |
           (uint64_t)at[left - 1] << (left - 1) * 8;
}

/* Both halves of the product: each bit of one factor is spread by the other one, which is not known. */
static uint64_t fold(uint64_t a, uint64_t b) {
    const unsigned __int128 product = (unsigned __int128)a * b;

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t dn_hash_quick(dn_hash_key key, const void *bytes, size_t len) {
    const unsigned char *at = bytes;
    uint64_t             h = key.k0 ^ len * UINT64_C(0x9e3779b97f4a7c15), word;

    for (; len >= 8; len -= 8, at += 8) {
        memcpy(&word, at, 8);
        h = fold(h ^ word, key.k1);
    }
    /* Of numbers in sequence a product by some keys is a sequence too: once more, and its upper bits folded down. */
    h = fold(h ^ rest(at, len), key.k1) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 32;
}

uint64_t dn_hash(dn_hash_key key, const void *bytes, size_t len) {
    lanes v = {key.k0 ^ UINT64_C(0x736f6d6570736575), key.k1 ^ UINT64_C(0x646f72616e646f6d),
               key.k0 ^ UINT64_C(0x6c7967656e657261), key.k1 ^ UINT64_C(0x7465646279746573)};
    const unsigned char *at = bytes;
    uint64_t             word;
    size_t               left = len;

    for (; left >= 8; left -= 8, at += 8) {
        memcpy(&word, at, 8);
        take(&v, word);
    }
    take(&v, rest(at, left) | (uint64_t)len << 56);
    v.c ^= 0xff;
    for (int i = 0; i < 3; i++) mix(&v);
    return v.a ^ v.b ^ v.c ^ v.d;
}
