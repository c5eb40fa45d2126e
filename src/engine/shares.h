/* shares.h - which source gets the next slot. A function of its arguments. Any thread. */
#ifndef DIURNAL_ENGINE_SHARES_H
#define DIURNAL_ENGINE_SHARES_H

#include <stddef.h>
#include <stdint.h>

typedef struct dn_share {
    uint32_t weight; /* at least 1: slots are divided in proportion while all want some */
    uint32_t in_use; /* slots it runs or may still use */
    uint32_t wants;  /* slots it would use now */
} dn_share;

/* The index of the share with the fewest slots in use for its weight, of those that want one; of equals the first. len:
 * none wants one. What one share leaves another may use. */
size_t dn_shares_next(const dn_share *shares, size_t len);

#endif
