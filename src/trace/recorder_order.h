/* recorder_order.h - the notes of all lanes, one behind the other as they happened. Plain data, which owns nothing. */
#ifndef DIURNAL_TRACE_RECORDER_ORDER_H
#define DIURNAL_TRACE_RECORDER_ORDER_H

#include "recorder_notes.h"

enum { RECORD_ORDER_MAX = 1024 }; /* packets that wait, in a lane: of 64 KiB at most */

/* Zeroed, nothing waits. */
typedef struct record_order {
    struct record_queue {
        const char *at, *end; /* the notes that are left of the first packet that waits */
        uint64_t    first, len;
        struct record_kept {
            const record_packet *packet;
            void                *owner;
        } kept[RECORD_ORDER_MAX]; /* the n-th that came is at n % RECORD_ORDER_MAX */
        int64_t beat_ns;          /* what is still to come is not before */
    } lanes[RECORD_LANES];
    int     found;    /* whose note was given last */
    int64_t until_ns; /* what of that lane is before that is before all of the others */
} record_order;

/* The notes stand behind the packet, and are read where they are: it stays there until record_order_next says its owner.
 * DN_STOP: there are none in it, and what it says otherwise is taken. DN_EFULL: it is not taken. */
DN_MUST_USE int record_order_add(record_order *o, const record_packet *packet, void *owner);

/* The oldest note that nothing older can come before any more, or that has waited since before_ns; NULL: none. Borrowed
 * until it goes. */
const record_note *record_order_first(record_order *o, int64_t before_ns);

/* The one that was given goes. The owner of its packet, if it was the last one there, or NULL. */
void *record_order_next(record_order *o);

#endif
