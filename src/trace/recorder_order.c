/* recorder_order.c - see recorder_order.h. Each lane is in order by itself; three are merged by looking at their first. */
#include "recorder_order.h"

#include "actor/pipe.h"

typedef struct record_queue queue;

static void begin_first(queue *q) {
    const record_packet *p = q->kept[q->first % RECORD_ORDER_MAX].packet;

    q->at = (const char *)(p + 1);
    q->end = q->at + p->len;
}

int record_order_add(record_order *o, const record_packet *p, void *owner) {
    queue *q = &o->lanes[p->lane];

    q->beat_ns = p->beat_ns;
    o->until_ns = INT64_MIN;
    if (p->len == 0) return DN_STOP;
    if (q->len == RECORD_ORDER_MAX) return DN_EFULL;
    q->kept[(q->first + q->len) % RECORD_ORDER_MAX] = (struct record_kept){p, owner};
    if (q->len++ == 0) begin_first(q);
    return DN_OK;
}

static const record_note *first_of(const queue *q) {
    return q->len > 0 ? (const record_note *)(const void *)q->at : NULL;
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

void *record_order_next(record_order *o) {
    queue *q = &o->lanes[o->found];

    q->at += dn_pipe_stride(sizeof(record_note) + first_of(q)->id_len);
    if (q->at < q->end) return NULL;
    void *owner = q->kept[q->first++ % RECORD_ORDER_MAX].owner;
    if (--q->len > 0) begin_first(q);
    return owner;
}
