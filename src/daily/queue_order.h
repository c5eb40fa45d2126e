/* queue_order.h - in which order those go that wait: the earliest cutoff, then fewest attempts, then first come.
 * The planner asks in about that order: so most go behind the last of a row and from its front, at the cost of
 * nothing, and a heap has the others. */
#ifndef DIURNAL_DAILY_QUEUE_ORDER_H
#define DIURNAL_DAILY_QUEUE_ORDER_H

#include "diurnal/base.h"

struct queue_record;

typedef struct order_key {
    int64_t  cutoff_ms;
    uint64_t rank; /* attempts << 48 | arrival */
} order_key;

typedef struct order_place {
    order_key            key;
    struct queue_record *who; /* in the row: NULL: has left it */
} order_place;

/* Zeroed nobody waits. */
typedef struct order {
    order_place *row; /* [row_at..row_len); at row_at there is somebody */
    size_t       row_at, row_len, row_cap;
    order_place *heap;
    size_t       heap_len, heap_cap;
    size_t       len; /* of both */
} order;

void order_done(order *o);

/* Room for one more than wait. */
DN_MUST_USE int      order_reserve(order *o);
void                 order_put(order *o, struct queue_record *who, order_key key);
struct queue_record *order_first(const order *o);         /* NULL: nobody waits */
order_key order_drop(order *o, struct queue_record *who); /* there is room for it still */

#endif
