/* intensity.h - how many restarts within a period are too many.
 * A ring of the last `max` instants: one more is too many if the oldest of a full ring still lies
 * within the period. So deciding costs the same, however many there were. */
#ifndef DIURNAL_SUPERVISOR_INTENSITY_H
#define DIURNAL_SUPERVISOR_INTENSITY_H

#include "table.h"

typedef struct sup_intensity {
    sup_table at_ns; /* int64_t; a generous max takes memory only for restarts that happen */
    uint32_t  max, len, next;
    int64_t   period_ns;
} sup_intensity;

void sup_intensity_init(sup_intensity *i, uint32_t max, int64_t period_ms);

/* True: one more restart is allowed, and has been counted. */
bool sup_intensity_allows(dn_self *self, sup_intensity *i, int64_t now_ns);

#endif
