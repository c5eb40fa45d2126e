/* chains.c - linear hashing: while there are fewer than four chains for each thing, or two where they are many, more chains
 * are made two with every thing that is put. So who is not there is mostly looked for in a chain of none, and who is there is
 * mostly alone in its own: a thing is far off in memory, and what comes next is as a processor has guessed. */
#include "hashtable.h"

#include "pages.h"

#include <assert.h>

enum { LEAST = 64, ROOMY = 1 << 16, CHAINS_OF_FEW = 4, CHAINS_OF_MANY = 2 };

/* Keys are numbers in sequence, or hashes: every bit counts. */
static size_t spread(uint64_t key) { return (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32); }

static size_t chain_of(const dn_hashtable *t, uint64_t key) {
    const size_t at = spread(key) & (t->whole * 2 - 1);

    return at < t->used ? at : at & (t->whole - 1);
}

void dn_hashtable_done(dn_hashtable *t) {
    dn_pages_free(t->heads, t->cap * sizeof *t->heads);
    *t = (dn_hashtable){0};
}

static int begin(dn_hashtable *t) {
    t->heads = dn_pages_new(LEAST * sizeof(dn_hashtable_link *));
    if (!t->heads) return DN_ENOMEM;
    t->used = t->cap = t->whole = LEAST;
    return DN_OK;
}

/* Without memory the chains become longer: that is slow, and no failure. */
static bool has_room(dn_hashtable *t) {
    if (t->used < t->cap) return true;
    void *heads = dn_pages_grow(t->heads, t->cap * sizeof(dn_hashtable_link *),
                                t->cap * 2 * sizeof(dn_hashtable_link *));
    if (!heads) return false;
    t->heads = heads;
    t->cap *= 2;
    return true;
}

/* The first chain that has not been made two since the last power of two. */
static void split(dn_hashtable *t) {
    const size_t        made = t->used, from = made - t->whole;
    dn_hashtable_link **stay = &t->heads[from], **go = &t->heads[made];

    for (dn_hashtable_link *link = *stay; link; link = link->next) {
        dn_hashtable_link ***const end =
            (spread(link->key) & (t->whole * 2 - 1)) == made ? &go : &stay;
        **end = link;
        *end = &link->next;
    }
    *stay = *go = NULL;
    t->used++;
    if (t->used == t->whole * 2) t->whole = t->used;
}

static bool wants_more(const dn_hashtable *t) {
    return (t->len + 1) * (t->used < ROOMY ? CHAINS_OF_FEW : CHAINS_OF_MANY) > t->used;
}

/* Apart: nearly always there are enough. */
static __attribute__((noinline)) int more_chains(dn_hashtable *t) {
    if (!t->heads && begin(t) < 0) return DN_ENOMEM;
    for (int i = 0; i < CHAINS_OF_FEW && wants_more(t) && has_room(t); i++) split(t);
    return DN_OK;
}

int dn_hashtable_add(dn_hashtable *t, dn_hashtable_link *link) {
    if (wants_more(t) && more_chains(t) < 0) return DN_ENOMEM;
    dn_hashtable_link **head = &t->heads[chain_of(t, link->key)];
    link->next = *head;
    *head = link;
    t->len++;
    return DN_OK;
}

void dn_hashtable_remove(dn_hashtable *t, dn_hashtable_link *link) {
    dn_hashtable_link **at = &t->heads[chain_of(t, link->key)];

    while (*at != link) {
        assert(*at && "it is not in the table");
        at = &(*at)->next;
    }
    *at = link->next;
    t->len--;
}

void dn_hashtable_fetch(const dn_hashtable *t, uint64_t key) {
    if (t->len > 0) __builtin_prefetch(&t->heads[chain_of(t, key)], /* for writing */ 1);
}

dn_hashtable_link *dn_hashtable_find(const dn_hashtable *t, uint64_t key) {
    if (t->len == 0) return NULL;
    dn_hashtable_link *link = t->heads[chain_of(t, key)];
    while (link && link->key != key) link = link->next;
    return link;
}

dn_hashtable_link *dn_hashtable_alike(const dn_hashtable_link *link) {
    const uint64_t     key = link->key;
    dn_hashtable_link *next = link->next;

    while (next && next->key != key) next = next->next;
    return next;
}
