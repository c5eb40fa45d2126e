/* recorder_notes.c - see recorder_notes.h.
 * Who tells is in the middle of its work: a note is a few words more in a buffer of its loop's, and a buffer full of
 * them becomes a message, which is read where it lies. It is posted as from outside, because that fails with a code and
 * never fails who tells. */
#include "recorder_notes.h"

#include "actor/pipe.h"
#include "diurnal/runtime.h"
#include "recorder.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* COPIED_MAX: of what has gathered between two beats where little happens; its buffer is used on. */
enum { LANE_BEAT = 1, BEAT_MS = 200, COPIED_MAX = 4096 };

const char *const record_lane_loops[RECORD_LANES] = {"main", "store"};
const char *const record_lane_names[RECORD_LANES] = {"recorder_main", "recorder_store"};

typedef struct record_notes_lane lane;

/* What a trace is made of, and who says it; 0: not of that, and it is not said to us. */
static const uint8_t lanes_of[DN_HAPPENINGS] = {
    [DN_HAPPENED_TICK_BEGINS] = RECORD_MAIN + 1,   [DN_HAPPENED_TICK] = RECORD_MAIN + 1,
    [DN_HAPPENED_CLOCK] = RECORD_MAIN + 1,         [DN_HAPPENED_STOPPED] = RECORD_MAIN + 1,
    [DN_HAPPENED_SET] = RECORD_STORE + 1,          [DN_HAPPENED_REMOVED] = RECORD_STORE + 1,
    [DN_HAPPENED_STORE_FAILED] = RECORD_STORE + 1, [DN_HAPPENED_STORE_WELL] = RECORD_STORE + 1,
};

static uint32_t kinds_wanted(void) {
    uint32_t kinds = 0;

    for (int kind = 0; kind < DN_HAPPENINGS; kind++)
        if (lanes_of[kind] > 0) kinds |= DN_HAPPENED_BIT(kind);
    return kinds;
}

uint64_t record_packet_notes(const record_packet *p) {
    const char *at = (const char *)(p + 1), *end = at + p->len;
    uint64_t    len = 0;

    for (; at < end; len++)
        at += dn_pipe_stride(sizeof(record_note) + ((const record_note *)(const void *)at)->id_len);
    return len;
}

/* False: out of memory. */
static bool has_packet(lane *l) {
    if (l->packet) return true;
    l->packet = malloc(RECORD_PACKET_BYTES);
    l->used = sizeof(record_packet);
    return l->packet != NULL;
}

static int hand_over(dn_self *self, lane *l) {
    dn_runtime *rt = dn_self_runtime(self);

    if (dn_ref_is_nobody(l->to)) l->to = dn_runtime_name(rt, DN_RECORDER);
    if (dn_ref_is_nobody(l->to)) return DN_EDEAD;
    if (l->used <= COPIED_MAX) return dn_post(rt, l->to, RECORD_NOTES, l->packet, l->used);
    /* Let go before: where a process dies in the middle of it, as it may in a simulation, the body has gone with it. */
    unsigned char *packet = DN_TAKE(l->packet);
    const int      rc = dn_post_take(rt, l->to, RECORD_NOTES, packet, l->used, free);
    if (rc < 0) l->packet = packet;
    return rc;
}

/* Until it is taken, it is known how much was not. */
static void lane_post(dn_self *self, lane *l, int64_t beat_ns) {
    if (!has_packet(l)) return;
    record_packet *p = (record_packet *)(void *)l->packet;
    *p = (record_packet){.lane = l->lane,
                         .len = l->used - (uint32_t)sizeof *p,
                         .dropped = l->dropped,
                         .beat_ns = beat_ns};
    l->dropped = hand_over(self, l) == DN_OK ? 0 : l->dropped + record_packet_notes(p);
    l->used = sizeof *p;
}

static void said(void *context, dn_self *self, const dn_happening *h) {
    record_notes *notes = context;
    const size_t  room = dn_pipe_stride(sizeof(record_note) + h->id_len);

    assert(lanes_of[h->kind] > 0);
    lane *l = &notes->lanes[lanes_of[h->kind] - 1];
    if (l->used + room > RECORD_PACKET_BYTES) lane_post(self, l, dn_mono_ns(self));
    if (!has_packet(l)) {
        l->dropped++;
        return;
    }
    record_note *n = (record_note *)(void *)(l->packet + l->used);
    *n = (record_note){
        .mono_ns = dn_mono_ns(self),
        .at_ms = h->at_ms,
        .n = h->kind == DN_HAPPENED_CLOCK ? (uint64_t)h->step_ms : h->registration,
        .ms = h->duration_ms < INT32_MAX ? (int32_t)h->duration_ms : INT32_MAX,
        .day = h->kind == DN_HAPPENED_SET ? h->starts_on : h->day,
        .attempt = (uint16_t)h->attempt,
        .due = (uint16_t)h->due,
        .kind = (uint8_t)h->kind,
        .outcome = (uint8_t)h->outcome,
        .cls = (uint8_t)h->error_class,
        .id_len = h->id_len,
    };
    if (h->id_len > 0) {
        memset((char *)n + room - 8, 'a', 8);
        memcpy(n->id, h->id, h->id_len);
    }
    l->used += (uint32_t)room;
}

void record_notes_init(record_notes *notes) {
    *notes = (record_notes){.journal = {said, notes, kinds_wanted()}};
    for (int i = 0; i < RECORD_LANES; i++)
        notes->lanes[i] = (lane){.notes = notes, .lane = (record_lane)i};
}

void record_notes_done(record_notes *notes) {
    for (int i = 0; i < RECORD_LANES; i++) free(DN_TAKE(notes->lanes[i].packet));
}

/* ---- The lane's actor ---- */

typedef struct beater {
    lane *lane;
} beater;

static int beater_init(dn_self *self, void *state, const void *config) {
    beater *b = state;

    b->lane = (lane *)(uintptr_t)config; /* as every config it comes as const, and is its own */
    dn_timer_after(self, BEAT_MS, LANE_BEAT, 0);
    return DN_OK;
}

static int beater_on_beat(dn_self *self, void *state, const dn_msg *msg) {
    const beater *b = state;

    (void)msg;
    lane_post(self, b->lane, dn_mono_ns(self));
    dn_timer_after(self, BEAT_MS, LANE_BEAT, 0);
    return DN_OK;
}

/* Whoever told has ended before. */
static void beater_terminate(dn_self *self, void *state) {
    const beater *b = state;

    lane_post(self, b->lane, INT64_MAX);
}

static const dn_handler beater_handlers[] = {{LANE_BEAT, beater_on_beat}};

const dn_class record_lane_class = {
    .name = "recorder_lane",
    .state_size = sizeof(beater),
    .init = beater_init,
    .handlers = DN_SLICE(beater_handlers),
    .terminate = beater_terminate,
};
