/* memory_list.c - users in memory in the order of their ids, sorted by the first list after a user was added or removed. */
#define _GNU_SOURCE /* qsort_r */
#include "memory/memory_store.h"
#include "store_user.h"

#include <assert.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>

enum { FETCH_AHEAD = 24 };

void memory_sorted_forget(memory *m) {
    free(m->sorted);
    m->sorted = NULL;
}

/* The first bytes of an id beside its number: most ids differ in them, so a comparison touches no other memory. */
typedef struct sort_key {
    uint64_t first;
    uint32_t n;
} sort_key;

static sort_key sort_key_of(const memory *m, uint64_t n) {
    const memory_user *u = &m->users[n];
    sort_key           key = {.n = (uint32_t)n};

    memcpy(&key.first, m->id_bytes + u->id_at,
           u->id_len < sizeof key.first ? u->id_len : sizeof key.first);
    key.first = be64toh(key.first);
    return key;
}

/* A radix sort by the first bytes, last byte first. It skips a byte that all ids share. spare has room for as many keys.
 * Returns whichever of the two arrays holds the result. */
static sort_key *sort_by_first(sort_key *keys, sort_key *spare, size_t len) {
    enum { BYTES = sizeof keys->first, VALUES = 256 };
    size_t before[BYTES][VALUES] = {{0}};

    for (size_t i = 0; i < len; i++)
        for (int byte = 0; byte < BYTES; byte++) before[byte][keys[i].first >> byte * 8 & 0xff]++;
    for (int byte = 0; byte < BYTES && len > 0; byte++) {
        size_t *const at = before[byte];
        size_t        sum = 0;
        if (at[keys[0].first >> byte * 8 & 0xff] == len) continue;
        for (int value = 0; value < VALUES; value++) {
            const size_t here = at[value];
            at[value] = sum;
            sum += here;
        }
        for (size_t i = 0; i < len; i++) spare[at[keys[i].first >> byte * 8 & 0xff]++] = keys[i];
        sort_key *const sorted = spare;
        spare = keys;
        keys = sorted;
    }
    return keys;
}

static int compare_by_id(const void *a, const void *b, void *context) {
    const sort_key    *x = a, *y = b;
    const memory      *m = context;
    const memory_user *left = &m->users[x->n], *right = &m->users[y->n];

    return id_compare(m->id_bytes + left->id_at, left->id_len, m->id_bytes + right->id_at,
                      right->id_len);
}

static void sort_keys(memory *m, sort_key *keys, sort_key *spare, size_t len) {
    sort_key *const sorted = sort_by_first(keys, spare, len);

    for (size_t from = 0, to; from < len; from = to) {
        for (to = from + 1; to < len && sorted[to].first == sorted[from].first;) to++;
        if (to - from > 1) qsort_r(sorted + from, to - from, sizeof *sorted, compare_by_id, m);
    }
    for (size_t i = 0; i < len; i++) m->sorted[i] = sorted[i].n;
    m->sorted_len = len;
}

static int sort_users(memory *m) {
    sort_key *keys;
    size_t    len = 0;

    if (m->sorted) return DN_OK;
    m->sorted = malloc((m->count + 1) * sizeof *m->sorted);
    keys = malloc((m->count + 1) * 2 * sizeof *keys);
    if (!m->sorted || !keys) {
        free(keys);
        free(m->sorted);
        m->sorted = NULL;
        return DN_ENOMEM;
    }
    for (uint64_t n = 1; n < m->next_n; n++)
        if (m->users[n].id_len) keys[len++] = sort_key_of(m, n);
    assert(len == m->count);
    sort_keys(m, keys, keys + len, len);
    free(keys);
    return DN_OK;
}

/* The index of the first id that is not before this one, or with `after` of the first one after it. */
static size_t sorted_from(const memory *m, const char *id, size_t id_len, bool after) {
    size_t low = 0, high = m->sorted_len;

    while (low < high) {
        const size_t       middle = low + (high - low) / 2;
        const memory_user *u = &m->users[m->sorted[middle]];
        const int          order = id_compare(m->id_bytes + u->id_at, u->id_len, id, id_len);
        if (order < 0 || (after && order == 0)) low = middle + 1;
        else high = middle;
    }
    return low;
}

int memory_list(dn_store *store, const dn_user_filter *f, dn_user *users, size_t max,
                size_t *out_len, bool *out_more, dn_user *out_last) {
    memory   *m = memory_of(store);
    size_t    len = 0, scanned = 0, at, from;
    const int code = sort_users(m);

    if (code < 0) return code;
    at = f->after_len ? sorted_from(m, f->after_id, f->after_len, /* after= */ true) : 0;
    from = f->prefix_len ? sorted_from(m, f->prefix, f->prefix_len, /* after= */ false) : 0;
    if (at < from) at = from;

    *out_more = false;
    for (; at < m->sorted_len; at++) {
        const memory_user *u = &m->users[m->sorted[at]];
        if (at + FETCH_AHEAD < m->sorted_len)
            __builtin_prefetch(&m->users[m->sorted[at + FETCH_AHEAD]]);
        if (!id_has_prefix(m->id_bytes + u->id_at, u->id_len, f)) break;
        *out_more = len == max || (f->scan_max && scanned == f->scan_max);
        if (*out_more) break;
        scanned++;
        memory_user_read(m, m->sorted[at], &users[len]);
        if (user_passes(&users[len], f)) len++;
    }
    if (scanned) memory_user_read(m, m->sorted[at - 1], out_last);
    *out_len = len;
    return DN_OK;
}
