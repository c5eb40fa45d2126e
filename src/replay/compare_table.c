/* compare_table.c - see compare_table.h. */
#include "compare_table.h"

#include "base/hash.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The key is public: a trace that was made to collide slows down only the comparison of itself. */
static uint64_t hash_of(dn_day day, const char *id, size_t id_len) {
    const dn_hash_key key = {UINT64_C(0x6469757226e616c) ^ (uint32_t)day,
                             UINT64_C(0x636f6d70617265)};

    return dn_hash_quick(key, id, id_len) | 1; /* no key of a map is 0 */
}

static compare_entry *entry_at(const uint64_t *found) { return (compare_entry *)(uintptr_t)*found; }

static bool is_entry(const compare_entry *e, dn_day day, const char *id, size_t id_len) {
    return e->day == day && e->id_len == id_len && memcmp(e->id, id, id_len) == 0;
}

static compare_entry *find(const compare_table *t, uint64_t hash, dn_day day, const char *id,
                           size_t id_len) {
    uint64_t *found = dn_map_find(&t->by_hash, hash);

    while (found && !is_entry(entry_at(found), day, id, id_len))
        found = dn_map_alike(&t->by_hash, found);
    return found ? entry_at(found) : NULL;
}

compare_entry *compare_table_find(const compare_table *t, dn_day day, const char *id,
                                  size_t id_len) {
    return find(t, hash_of(day, id, id_len), day, id, id_len);
}

compare_entry *compare_table_need(compare_table *t, dn_day day, const char *id, size_t id_len) {
    const uint64_t hash = hash_of(day, id, id_len);
    compare_entry *e = find(t, hash, day, id, id_len);

    assert(id_len <= UINT16_MAX);
    if (e) return e;
    e = malloc(sizeof *e + id_len);
    if (!e) return NULL;
    *e = (compare_entry){.older = t->newest, .hash = hash, .id_len = (uint16_t)id_len, .day = day};
    memcpy(e->id, id, id_len);
    if (dn_map_add(&t->by_hash, hash, (uintptr_t)e) < 0) {
        free(e);
        return NULL;
    }
    if (t->newest) t->newest->newer = e;
    else t->oldest = e;
    t->newest = e;
    return e;
}

void compare_table_remove(compare_table *t, compare_entry *e) {
    uint64_t *found = dn_map_find(&t->by_hash, e->hash);

    while (entry_at(found) != e) found = dn_map_alike(&t->by_hash, found);
    dn_map_drop(&t->by_hash, found);
    if (e->older) e->older->newer = e->newer;
    else t->oldest = e->newer;
    if (e->newer) e->newer->older = e->older;
    else t->newest = e->older;
    free(e);
}

void compare_table_clear(compare_table *t) {
    while (t->oldest) {
        compare_entry *e = t->oldest;
        t->oldest = e->newer;
        free(e);
    }
    dn_map_done(&t->by_hash);
    t->newest = NULL;
}
