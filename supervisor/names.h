/* names.h - finds a child by its name. Open addressing, never more than half full. */
#ifndef DIURNAL_SUPERVISOR_NAMES_H
#define DIURNAL_SUPERVISOR_NAMES_H

#include "diurnal/supervisor.h"

typedef struct sup_names {
    const dn_child_spec *rows;
    uint32_t            *slots; /* index + 1; 0: free */
    uint32_t             mask;
} sup_names;

/* Borrows rows for self's life. Answers a name that is there twice, or NULL if none is. */
const char *sup_names_init(dn_self *self, sup_names *names, const dn_child_spec *rows,
                           uint32_t len);

/* UINT32_MAX: there is none of that name. */
uint32_t sup_names_find(const sup_names *names, const char *name);

#endif
