/* actor_heap.c - what an actor has: its state, its arena, and the things it must let go at its end.
 * All of it ends with the actor, however it ends; that is what makes failing safe. */
#include "mem.h"
#include "rt.h"

#include <assert.h>
#include <string.h>

/* ---- State ---- */

static slab *state_slab(dn_loop *l, size_t size) {
    assert(l); /* for the analyzer, which cannot see that every caller has one */
    for (int i = 0; i < STATE_CLASSES; i++) {
        if (size <= (size_t)16 << i) return &l->states[i];
    }
    return NULL;
}

/* Small ones as the blocks they are: of a size that a compiler knows a few stores are enough, and no call. */
static inline void state_empty(void *state, size_t block, size_t size) {
    switch (block) {
    case 16: memset(state, 0, 16); return;
    case 32: memset(state, 0, 32); return;
    case 64: memset(state, 0, 64); return;
    default: memset(state, 0, size);
    }
}

/* Not NULL for size 0: handlers get a pointer they can compare. Zeroed. */
void *state_take(dn_loop *l, size_t size) {
    slab *s = state_slab(l, size);

    if (!s) {
        void *state = mem_alloc(size);
        if (state) l->large_bytes += size;
        return state;
    }
    void *state = slab_take(s);
    if (state) state_empty(state, s->size, size);
    return state;
}

void state_give(dn_loop *l, void *state, size_t size) {
    slab *s = state_slab(l, size);

    if (!state) return; /* there was no memory for it: its start is being undone */
    if (s) {
        slab_give(s, state);
        return;
    }
    l->large_bytes -= size;
    mem_free(state);
}

/* ---- Arena ---- */

enum { ALIGN = 16, CHUNK_HEAD = (sizeof(arena_chunk) + ALIGN - 1) / ALIGN * ALIGN };

static arena_chunk *chunk_new(dn_loop *l, size_t size) {
    const bool   pooled = size <= ARENA_CHUNK - CHUNK_HEAD;
    arena_chunk *c = pooled ? slab_take(&l->chunks) : mem_alloc(CHUNK_HEAD + size);

    if (!c) return NULL;
    if (!pooled) l->large_bytes += CHUNK_HEAD + size;
    *c = (arena_chunk){
        .size = (uint32_t)(pooled ? ARENA_CHUNK : CHUNK_HEAD + size),
        .used = CHUNK_HEAD,
        .pooled = pooled,
    };
    return c;
}

void *dn_alloc(dn_self *self, size_t size) {
    dn_loop     *l = self->loop;
    arena_chunk *c = self->arena;
    const size_t max =
        self->actor_class->heap_max ? self->actor_class->heap_max : DN_HEAP_MAX_DEFAULT;
    const size_t total = c ? c->total : 0;

    if (size == 0) size = 1;
    if (size > max || total > max - size) dn_fail("the actor's heap has reached its bound");
    if (size > UINT32_MAX - CHUNK_HEAD - ALIGN)
        dn_fail("one allocation from an actor's heap is below 4 GiB");
    size = (size + ALIGN - 1) / ALIGN * ALIGN;
    if (!c || c->size - c->used < size) {
        c = chunk_new(l, size);
        if (!c) fail_nomem();
        c->next = self->arena;
        self->arena = c;
    }
    void *memory = (char *)c + c->used;
    c->used += (uint32_t)size;
    c->total = total + size;
    return memset(memory, 0, size);
}

void arena_drop(dn_loop *l, dn_self *a) {
    arena_chunk *c, *next;

    for (c = a->arena; c; c = next) {
        next = c->next;
        if (c->pooled) {
            slab_give(&l->chunks, c);
        } else {
            l->large_bytes -= c->size;
            mem_free(c);
        }
    }
    a->arena = NULL;
}

/* ---- What it owns ---- */

void dn_own(dn_self *self, void *thing, void (*release)(void *thing)) {
    owned *o = slab_take(&self->loop->owneds);

    if (!o) {
        release_guarded(release, thing);
        fail_nomem();
    }
    *o = (owned){.next = self->owned, .thing = thing, .release = release};
    self->owned = o;
}

bool dn_disown(dn_self *self, void *thing) {
    for (owned **at = &self->owned; *at; at = &(*at)->next) {
        owned *o = *at;
        if (o->thing != thing) continue;
        *at = o->next;
        slab_give(&self->loop->owneds, o);
        return true;
    }
    return false;
}

static void release_one(void *context) {
    const owned *o = context;

    o->release(o->thing);
}

/* Each on its own: one that fails does not keep the others. */
void owned_release_all(dn_loop *l, dn_self *a) {
    while (a->owned) {
        owned o = *a->owned;
        slab_give(&l->owneds, a->owned);
        a->owned = o.next;
        l->releasing++;
        (void)actor_guarded(l, a, release_one, &o); /* said and counted there */
        l->releasing--;
    }
}
