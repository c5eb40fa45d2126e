/* recorder_notes.h - what happens, from the loop it happens on to the recorder. */
#ifndef DIURNAL_TRACE_RECORDER_NOTES_H
#define DIURNAL_TRACE_RECORDER_NOTES_H

#include "daily/journal.h"

/* One thing that happened; the next one is dn_pipe_stride behind it. */
typedef struct record_note {
    int64_t  mono_ns, at_ms;
    uint64_t n;   /* CLOCK: the step, which may be negative */
    int32_t  ms;  /* STOPPED: how long it took */
    dn_day   day; /* SET: its first one */
    uint16_t attempt, due;
    uint8_t  kind, outcome, cls, id_len;
    char     id[]; /* behind it, up to a multiple of 8 bytes: letters */
} record_note;

/* A lane belongs to one loop, and only that loop touches it: main has tick and queue, store has kv. */
typedef enum record_lane { RECORD_MAIN, RECORD_STORE, RECORD_LANES } record_lane;

/* The message to the recorder; notes stand behind it. A long one: to wake another loop takes as long as some hundred
 * notes (measured: with 16 KiB a job cost twice of what it does with 64; 256 are no better). */
enum { RECORD_NOTES = 1, RECORD_PACKET_BYTES = 65536 };
typedef struct record_packet {
    uint32_t lane;
    uint32_t len;     /* of the notes, in bytes */
    uint64_t dropped; /* notes, since the packet before */
    int64_t
        beat_ns; /* what comes later in this lane happens then or later; INT64_MAX: nothing comes */
} record_packet;

typedef struct record_notes {
    dn_journal journal;
    struct record_notes_lane {
        struct record_notes *notes;
        record_lane          lane;
        dn_ref               to;
        uint64_t             dropped;
        uint32_t             used;   /* of packet */
        unsigned char       *packet; /* NULL: none has been begun */
    } lanes[RECORD_LANES];
} record_notes;

uint64_t record_packet_notes(const record_packet *p); /* how many */

void record_notes_init(record_notes *notes);
void record_notes_done(record_notes *notes);

/* An actor for each lane, on its loop, that sends what has gathered though nothing more happens. Its config is the lane. */
extern const dn_class    record_lane_class;
extern const char *const record_lane_loops[RECORD_LANES], *const record_lane_names[RECORD_LANES];

#endif
