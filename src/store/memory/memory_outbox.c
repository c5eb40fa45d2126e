/* memory_outbox.c - see memory_outbox.h. */
#include "memory/memory_outbox.h"

#include "base/array.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void outbox_init(outbox *o) { *o = (outbox){.first = 1}; }

void outbox_done(outbox *o) {
    free(o->hooks);
    free(o->order);
    *o = (outbox){0};
}

static outbox_hook *hook_find(const outbox *o, uint64_t n) {
    if (n < o->first || n - o->first >= o->len) return NULL;
    return o->hooks[n - o->first].user ? &o->hooks[n - o->first] : NULL;
}

static bool place_holds(const outbox *o, const outbox_place *place) {
    const outbox_hook *hook = hook_find(o, place->n);

    return hook && hook->next_ms == place->next_ms;
}

/* Drops deleted hooks and stale entries once they are half of their array: often enough to bound the memory, seldom
 * enough that a hook pays next to nothing. */
static void outbox_sweep(outbox *o) {
    size_t kept = 0;

    if (o->gone > o->len / 2) {
        memmove(o->hooks, o->hooks + o->gone, (o->len - o->gone) * sizeof *o->hooks);
        o->first += o->gone;
        o->len -= o->gone;
        o->gone = 0;
    }
    if (o->alive >= o->order_len / 2) return;
    for (size_t i = o->begin; i < o->order_len; i++)
        if (place_holds(o, &o->order[i])) o->order[kept++] = o->order[i];
    o->order_len = kept;
    o->begin = 0;
}

int outbox_reserve(outbox *o, size_t hooks, size_t moves) {
    if (hooks + moves == 0) return DN_OK;
    outbox_sweep(o);
    if (DN_ARRAY_RESERVE(o->hooks, o->cap, o->len + hooks) < 0) return DN_ENOMEM;
    return DN_ARRAY_RESERVE(o->order, o->order_cap, o->order_len + hooks + moves);
}

/* A hook that is added or put off is due later than most, so the search starts from the end. A hook that returns to an
 * earlier due time finds its old entry, which must not be there twice. */
static void order_add(outbox *o, outbox_place place) {
    size_t low = o->begin, high = o->order_len;

    assert(o->order_len < o->order_cap);
    while (low < high) {
        const size_t        middle = high - 1 - (high - 1 - low) / 2;
        const outbox_place *other = &o->order[middle];
        if (other->next_ms < place.next_ms ||
            (other->next_ms == place.next_ms && other->n < place.n))
            low = middle + 1;
        else high = middle;
    }
    if (low < o->order_len && o->order[low].n == place.n && o->order[low].next_ms == place.next_ms)
        return;
    memmove(&o->order[low + 1], &o->order[low], (o->order_len - low) * sizeof *o->order);
    o->order[low] = place;
    o->order_len++;
}

uint64_t outbox_add(outbox *o, outbox_hook hook) {
    const uint64_t n = o->first + o->len;

    assert(hook.user && o->len < o->cap);
    o->hooks[o->len++] = hook;
    o->alive++;
    order_add(o, (outbox_place){hook.next_ms, n});
    return n;
}

bool outbox_remove(outbox *o, uint64_t n) {
    outbox_hook *hook = hook_find(o, n);

    if (!hook) return false;
    hook->user = 0;
    o->alive--;
    while (o->gone < o->len && !o->hooks[o->gone].user) o->gone++;
    while (o->begin < o->order_len && !place_holds(o, &o->order[o->begin])) o->begin++;
    return true;
}

bool outbox_move(outbox *o, uint64_t n, uint16_t attempts, int64_t next_ms) {
    outbox_hook *hook = hook_find(o, n);

    if (!hook) return false;
    hook->attempts = attempts;
    hook->next_ms = next_ms;
    order_add(o, (outbox_place){next_ms, n});
    return true;
}

void outbox_remove_user(outbox *o, uint64_t user, uint64_t newest) {
    for (uint64_t n = newest; n >= o->first && n > 0;) {
        const outbox_hook *hook = n - o->first < o->len ? &o->hooks[n - o->first] : NULL;
        const uint64_t     older = hook ? hook->older : 0;
        assert(!hook || !hook->user || hook->user == user);
        outbox_remove(o, n);
        n = older;
    }
}

const outbox_hook *outbox_next_borrow(const outbox *o, size_t *at, uint64_t *out_n) {
    if (*at < o->begin) *at = o->begin;
    while (*at < o->order_len) {
        const outbox_place *place = &o->order[(*at)++];
        if (!place_holds(o, place)) continue;
        *out_n = place->n;
        return hook_find(o, place->n);
    }
    return NULL;
}
