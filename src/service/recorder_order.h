/* recorder_order.h - the notes of all lanes, one behind the other as they happened. Plain data. */
#ifndef DIURNAL_SERVICE_RECORDER_ORDER_H
#define DIURNAL_SERVICE_RECORDER_ORDER_H

#include "recorder_notes.h"

enum { RECORD_ORDER_MAX = 64 << 20 /* bytes that wait, in a lane */ };

/* Zeroed, nothing waits. */
typedef struct record_order {
    struct record_queue {
        unsigned char *bytes;
        size_t         at, len, cap; /* those from at to len wait */
        int64_t        beat_ns;      /* what is still to come is not before */
    } lanes[RECORD_LANES];
    int     found;    /* whose note was given last */
    int64_t until_ns; /* what of that lane is before that is before all of the others */
} record_order;

void record_order_done(record_order *o);

/* DN_EFULL, DN_ENOMEM: they are not taken. */
DN_MUST_USE int record_order_add(record_order *o, const record_packet *packet, const void *notes);

/* The oldest note that nothing older can come before any more, or that has waited since before_ns; NULL: none. Borrowed
 * until the next call. */
const record_note *record_order_first(record_order *o, int64_t before_ns);
void               record_order_next(record_order *o); /* the one that was given goes */

#endif
