/* child_names.c - see names.h. */
#include "child_names.h"

#include "base/hash.h"

#include <string.h>

/* The key is public: the names are the program's own. */
static uint64_t name_hash(const char *name) {
    return dn_hash_quick((dn_hash_key){UINT64_C(0x6e616d6573), 0}, name, strlen(name));
}

static void names_release(void *index) { dn_index_done(index); }

const char *sup_names_init(dn_self *self, sup_names *names, const dn_child_spec *rows,
                           uint32_t len) {
    names->rows = rows;
    dn_own(self, &names->by_name, names_release);
    if (dn_index_reserve(&names->by_name, len) < 0)
        dn_fail_code(DN_ENOMEM, "no memory for the names of the children");
    for (uint32_t i = 0; i < len; i++) {
        if (sup_names_find(names, rows[i].name) != UINT32_MAX) return rows[i].name;
        dn_index_add(&names->by_name, name_hash(rows[i].name), i + 1);
    }
    return NULL;
}

uint32_t sup_names_find(const sup_names *names, const char *name) {
    dn_index_cell *cell = dn_index_find(&names->by_name, name_hash(name));

    while (cell && strcmp(names->rows[dn_index_row(cell) - 1].name, name) != 0)
        cell = dn_index_alike(&names->by_name, cell);
    return cell ? dn_index_row(cell) - 1 : UINT32_MAX;
}
