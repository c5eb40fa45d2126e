/* window.c - the ring of minutes. */
#include "window.h"

#include <assert.h>
#include <stdlib.h>

enum { MINUTE_MS = 60000 };

int dn_window_init(dn_window *w, uint32_t minutes, size_t slot_size, dn_window_clear *clear) {
    assert(minutes > 0 && slot_size > 0 && clear);
    unsigned char *slots = calloc(minutes, slot_size);
    if (!slots) return DN_ENOMEM;
    *w = (dn_window){.slots = slots, .clear = clear, .slot_size = slot_size, .minutes = minutes};
    return DN_OK;
}

void dn_window_done(dn_window *w) {
    free(w->slots);
    *w = (dn_window){0};
}

void dn_window_roll(dn_window *w, int64_t now_ms) {
    const int64_t minute = now_ms / MINUTE_MS - (now_ms % MINUTE_MS < 0);

    if (!w->rolled) w->minute = minute;
    w->rolled = true;
    /* After a gap longer than the ring every slot is emptied, once. */
    if (minute - w->minute > w->minutes) w->minute = minute - w->minutes;
    for (; w->minute < minute; w->minute++) {
        w->at = w->at + 1 < w->minutes ? w->at + 1 : 0;
        w->clear(w->slots + w->at * w->slot_size);
    }
}

void *dn_window_slot(const dn_window *w, uint32_t ago) {
    if (!w->rolled || ago >= w->minutes) return NULL;
    return w->slots + (w->at >= ago ? w->at - ago : w->at + w->minutes - ago) * w->slot_size;
}
