/* intensity.c - how many restarts within a period are too many. */
#include "intensity.h"

#include <assert.h>

void sup_intensity_init(sup_intensity *i, uint32_t max, int64_t period_ms) {
    assert(max <= SUP_TABLE_MAX);
    assert(period_ms > 0 && period_ms <= INT64_MAX / 1000000);
    *i = (sup_intensity){
        .at_ns = {.row_size = sizeof(int64_t)}, .max = max, .period_ns = period_ms * 1000000};
}

bool sup_intensity_allows(dn_self *self, sup_intensity *i, int64_t now_ns) {
    int64_t *oldest;

    if (i->max == 0) return false;
    if (i->next == i->at_ns.len) sup_table_grow(self, &i->at_ns);
    oldest = sup_table_at(&i->at_ns, i->next);
    if (i->len == i->max && now_ns - *oldest <= i->period_ns) return false;
    if (i->len < i->max) i->len++;
    *oldest = now_ns;
    i->next = i->next + 1 == i->max ? 0 : i->next + 1;
    return true;
}
