/* child_names.h - finds a child by its name. */
#ifndef DIURNAL_SUPERVISOR_CHILD_NAMES_H
#define DIURNAL_SUPERVISOR_CHILD_NAMES_H

#include "base/map.h"
#include "diurnal/supervisor.h"

typedef struct sup_names {
    const dn_child_spec *rows;
    dn_index             by_name; /* rows of it are 1 + an index of `rows` */
} sup_names;

/* Once in the life of self; borrows the rows for it. Returns a name that two children have, or NULL. */
const char *sup_names_init(dn_self *self, sup_names *names, const dn_child_spec *rows,
                           uint32_t len);

/* UINT32_MAX: there is none of that name. */
uint32_t sup_names_find(const sup_names *names, const char *name);

#endif
