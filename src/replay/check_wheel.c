/* check_wheel.c - see check_wheel.h. */
#include "check_wheel.h"

#include "base/array.h"

#include <stdlib.h>

enum { SLOTS_MAX = 8192 };

int check_wheel_init(check_wheel *w, int64_t grain_ms, int64_t span_ms) {
    *w = (check_wheel){.grain_ms = grain_ms};
    if (span_ms / w->grain_ms > SLOTS_MAX) w->grain_ms = span_ms / SLOTS_MAX + 1;
    w->len = (uint32_t)(span_ms / w->grain_ms) + 2;
    w->slots = malloc(w->len * sizeof *w->slots);
    if (!w->slots) return DN_ENOMEM;
    for (uint32_t i = 0; i < w->len; i++) w->slots[i] = CHECK_NOBODY;
    return DN_OK;
}

void check_wheel_done(check_wheel *w) {
    free(w->slots);
    free(w->soon);
}

int check_wheel_soon(check_wheel *w, uint32_t n, int64_t since_ms) {
    if (DN_ARRAY_RESERVE(w->soon, w->soon_cap, w->soon_len + 1) < 0) return DN_ENOMEM;
    w->soon[w->soon_len++] = (check_soon){n, since_ms};
    return DN_OK;
}

/* Whoever stands in it already comes up in time: a later throttle ends later. */
int check_wheel_add(check_wheel *w, check_users *u, uint32_t n, int64_t at_ms) {
    check_person *p = &u->people[n];
    int64_t       at = at_ms / w->grain_ms;

    if (at <= w->at) return check_wheel_soon(w, n, at_ms);
    if (p->flags & CHECK_IN_WHEEL) return DN_OK;
    if (at - w->at >= w->len) at = w->at + w->len - 1; /* no tick for a long time */
    p->flags |= CHECK_IN_WHEEL;
    p->next = w->slots[at % w->len];
    w->slots[at % w->len] = n;
    return DN_OK;
}

bool check_wheel_turn(check_wheel *w, int64_t now_ms, uint32_t *out_first) {
    if (w->at >= now_ms / w->grain_ms) return false;
    w->at++;
    *out_first = w->slots[w->at % w->len];
    w->slots[w->at % w->len] = CHECK_NOBODY;
    return true;
}
