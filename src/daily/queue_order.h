/* queue_order.h - in which order those go that wait: the earliest cutoff, then fewest attempts, then first come.
 * The planner asks in about that order: so most go behind the last of a row and from its front, at the cost of
 * nothing, and a heap has the others. */
#ifndef DIURNAL_DAILY_QUEUE_ORDER_H
#define DIURNAL_DAILY_QUEUE_ORDER_H

#include "base/heap.h"

struct queue_record;

typedef struct order_place {
    dn_heap_key          key; /* the cutoff, and attempts << 48 | arrival */
    struct queue_record *who; /* in the row: NULL: has left it */
} order_place;

/* Zeroed nobody waits. */
typedef struct order {
    order_place *row; /* [row_at..row_len); at row_at there is somebody */
    size_t       row_at, row_len, row_cap;
    dn_heap      heap;
    size_t       len; /* of both */
} order;

void order_done(order *o);

/* Room for one more than wait. */
DN_MUST_USE int      order_reserve(order *o);
void                 order_put(order *o, struct queue_record *who, dn_heap_key key);
struct queue_record *order_first(const order *o);           /* NULL: nobody waits */
dn_heap_key order_drop(order *o, struct queue_record *who); /* there is room for it still */

#endif
