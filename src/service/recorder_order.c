/* recorder_order.c - see recorder_order.h. Each lane is in order by itself; three are merged by looking at their first. */
#include "recorder_order.h"

#include "pack.h"

#include <stdlib.h>
#include <string.h>

typedef struct record_queue queue;

enum { ROOM_LEAST = 65536 };

void record_order_done(record_order *o) {
    for (int i = 0; i < RECORD_LANES; i++) free(o->lanes[i].bytes);
    *o = (record_order){0};
}

static int make_room(queue *q, size_t len) {
    if (q->at > 0) {
        memmove(q->bytes, q->bytes + q->at, q->len - q->at);
        q->len -= q->at;
        q->at = 0;
    }
    if (q->len + len <= q->cap) return DN_OK;
    if (q->len + len > RECORD_ORDER_MAX) return DN_EFULL;
    size_t cap = q->cap ? q->cap : ROOM_LEAST;
    while (cap < q->len + len) cap *= 2;
    unsigned char *wider = realloc(q->bytes, cap);
    if (!wider) return DN_ENOMEM;
    q->bytes = wider;
    q->cap = cap;
    return DN_OK;
}

int record_order_add(record_order *o, const record_packet *p, const void *notes) {
    queue *q = &o->lanes[p->lane];
    int    rc = DN_OK;

    q->beat_ns = p->beat_ns;
    o->until_ns = INT64_MIN;
    if (p->len == 0) return DN_OK;
    if (q->len + p->len > q->cap) rc = make_room(q, p->len);
    if (rc < 0) return rc;
    memcpy(q->bytes + q->len, notes, p->len);
    q->len += p->len;
    return DN_OK;
}

static const record_note *first_of(const queue *q) {
    return q->at < q->len ? (const record_note *)(const void *)(q->bytes + q->at) : NULL;
}

static int lane_of_first(const record_order *o) {
    int oldest = -1;

    for (int i = 0; i < RECORD_LANES; i++) {
        const record_note *n = first_of(&o->lanes[i]);
        if (n && (oldest < 0 || n->mono_ns < first_of(&o->lanes[oldest])->mono_ns)) oldest = i;
    }
    return oldest;
}

/* Nothing of the other lanes is before that, now or later. */
static int64_t others_from_ns(const record_order *o, int lane) {
    int64_t from_ns = INT64_MAX;

    for (int i = 0; i < RECORD_LANES; i++) {
        const record_note *n = first_of(&o->lanes[i]);
        const int64_t      its_ns = n ? n->mono_ns : o->lanes[i].beat_ns;
        if (i != lane && its_ns < from_ns) from_ns = its_ns;
    }
    return from_ns;
}

/* One lane says many things while the others say one, so nearly always it is the same again. */
const record_note *record_order_first(record_order *o, int64_t before_ns) {
    const record_note *n = first_of(&o->lanes[o->found]);

    if (n && n->mono_ns < o->until_ns) return n;
    const int lane = lane_of_first(o);
    if (lane < 0) return NULL;
    n = first_of(&o->lanes[lane]);
    for (int i = 0; i < RECORD_LANES && n->mono_ns >= before_ns; i++)
        if (!first_of(&o->lanes[i]) && o->lanes[i].beat_ns <= n->mono_ns) return NULL;
    o->found = lane;
    o->until_ns = others_from_ns(o, lane);
    return n;
}

void record_order_next(record_order *o) {
    queue *q = &o->lanes[o->found];

    q->at += dn_pack_room(sizeof(record_note) + first_of(q)->id_len);
    if (q->at == q->len) q->at = q->len = 0;
}
