/* compare_table.c - see compare_table.h. Chains, because most of what is put is soon taken out again. */
#include "compare_table.h"

#include "base/hash.h"
#include "base/pages.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_PLACES = 64 };

static uint64_t hash_of(dn_day day, const char *id, size_t id_len) {
    /* A key that anybody knows: who makes a trace to be slow has what he made. */
    const dn_hash_key key = {UINT64_C(0x6469757226e616c) ^ (uint32_t)day,
                             UINT64_C(0x636f6d70617265)};

    return dn_hash(key, id, id_len);
}

static compare_entry *find(const compare_table *t, uint64_t hash, dn_day day, const char *id,
                           size_t id_len) {
    if (!t->places) return NULL;
    for (compare_entry *e = t->places[hash & t->mask]; e; e = e->next)
        if (e->hash == hash && e->day == day && e->id_len == id_len &&
            memcmp(e->id, id, id_len) == 0)
            return e;
    return NULL;
}

compare_entry *compare_table_find(const compare_table *t, dn_day day, const char *id,
                                  size_t id_len) {
    return find(t, hash_of(day, id, id_len), day, id, id_len);
}

static bool grow(compare_table *t) {
    const size_t    had = t->places ? t->mask + 1 : 0, cap = had ? had * 2 : LEAST_PLACES;
    compare_entry **wider = dn_pages_new(cap * sizeof(compare_entry *));

    if (!wider) return false;
    dn_pages_free(t->places, had * sizeof(compare_entry *));
    t->places = wider;
    t->mask = cap - 1;
    for (compare_entry *e = t->oldest; e; e = e->newer) {
        e->next = wider[e->hash & t->mask];
        wider[e->hash & t->mask] = e;
    }
    return true;
}

compare_entry *compare_table_need(compare_table *t, dn_day day, const char *id, size_t id_len) {
    const uint64_t hash = hash_of(day, id, id_len);
    compare_entry *e = find(t, hash, day, id, id_len);

    assert(id_len <= UINT16_MAX);
    if (e) return e;
    if ((!t->places || t->len > t->mask) && !grow(t)) return NULL;
    e = malloc(sizeof *e + id_len);
    if (!e) return NULL;
    *e = (compare_entry){.next = t->places[hash & t->mask],
                         .older = t->newest,
                         .hash = hash,
                         .id_len = (uint16_t)id_len,
                         .day = day};
    memcpy(e->id, id, id_len);
    t->places[hash & t->mask] = e;
    if (t->newest) t->newest->newer = e;
    else t->oldest = e;
    t->newest = e;
    t->len++;
    return e;
}

void compare_table_remove(compare_table *t, compare_entry *e) {
    compare_entry **at = &t->places[e->hash & t->mask];

    while (*at != e) at = &(*at)->next;
    *at = e->next;
    if (e->older) e->older->newer = e->newer;
    else t->oldest = e->newer;
    if (e->newer) e->newer->older = e->older;
    else t->newest = e->older;
    t->len--;
    free(e);
}

void compare_table_clear(compare_table *t) {
    while (t->oldest) {
        assert(!t->oldest->older);
        compare_table_remove(t, t->oldest);
    }
}

void compare_table_done(compare_table *t) {
    compare_table_clear(t);
    dn_pages_free(t->places, t->places ? (t->mask + 1) * sizeof(compare_entry *) : 0);
    *t = (compare_table){0};
}
