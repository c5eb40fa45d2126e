/* names.c - finds a child by its name. */
#include "names.h"

#include <string.h>

static uint32_t name_hash(const char *name) {
    uint32_t hash = 2166136261U; /* FNV-1a */

    for (; *name; name++) hash = (hash ^ (uint8_t)*name) * 16777619U;
    return hash;
}

/* The slot where it is, or where it would be. */
static uint32_t *name_slot(const sup_names *names, const char *name) {
    uint32_t at = name_hash(name) & names->mask;

    while (names->slots[at] != 0 && strcmp(names->rows[names->slots[at] - 1].name, name) != 0)
        at = (at + 1) & names->mask;
    return &names->slots[at];
}

const char *sup_names_init(dn_self *self, sup_names *names, const dn_child_spec *rows,
                           uint32_t len) {
    uint32_t room = 4;

    while (room < 2 * len) room *= 2;
    names->rows = rows;
    names->mask = room - 1;
    names->slots = dn_alloc(self, room * sizeof *names->slots);
    for (uint32_t i = 0; i < len; i++) {
        uint32_t *slot = name_slot(names, rows[i].name);

        if (*slot != 0) return rows[i].name;
        *slot = i + 1;
    }
    return NULL;
}

uint32_t sup_names_find(const sup_names *names, const char *name) {
    return *name_slot(names, name) - 1; /* none: 0 - 1, which is UINT32_MAX */
}
