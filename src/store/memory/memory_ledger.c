/* memory_ledger.c - see memory_ledger.h. */
#include "memory/memory_ledger.h"

#include "base/array.h"
#include "base/day_rows.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void day_done(ledger_day *d) {
    for (size_t i = 0; i < d->chunks_len; i++) free(d->chunks[i]);
    free(d->chunks);
}

void ledger_done(ledger *l) {
    for (size_t i = 0; i < l->len; i++) day_done(&l->days[i]);
    free(l->days);
    *l = (ledger){0};
}

/* The index of the first day that is not before `day`. */
static size_t ledger_from(const ledger *l, dn_day day) {
    return dn_day_rows_from(l->days, sizeof *l->days, l->len, day);
}

static ledger_day *day_find(ledger *l, dn_day day) {
    if (l->last < l->len && l->days[l->last].day == day) return &l->days[l->last];

    const size_t at = ledger_from(l, day);
    if (at == l->len || l->days[at].day != day) return NULL;
    l->last = at;
    return &l->days[at];
}

static ledger_slot *slot_of(const ledger_day *d, uint64_t n) {
    const uint64_t chunk = n / LEDGER_CHUNK;

    if (chunk >= d->chunks_len || !d->chunks[chunk]) return NULL;
    return &d->chunks[chunk][n % LEDGER_CHUNK];
}

/* ---- Room ---- */

static ledger_day *day_make(ledger *l, dn_day day) {
    const size_t at = ledger_from(l, day);

    if (DN_ARRAY_RESERVE(l->days, l->cap, l->len + 1) < 0) return NULL;
    memmove(&l->days[at + 1], &l->days[at], (l->len - at) * sizeof *l->days);
    l->days[at] = (ledger_day){.day = day, .from = UINT64_MAX};
    l->len++;
    l->last = at;
    return &l->days[at];
}

static int chunks_grow(ledger_day *d, size_t wanted) {
    size_t        len = d->chunks_len ? d->chunks_len : 1;
    ledger_slot **grown;

    while (len < wanted) len *= 2;
    grown = realloc(d->chunks, len * sizeof *grown);
    if (!grown) return DN_ENOMEM;
    memset(grown + d->chunks_len, 0, (len - d->chunks_len) * sizeof *grown);
    d->chunks = grown;
    d->chunks_len = len;
    return DN_OK;
}

int ledger_reserve(ledger *l, dn_day day, uint64_t n) {
    const size_t chunk = n / LEDGER_CHUNK;
    ledger_day  *d = day_find(l, day);

    if (d && slot_of(d, n)) return DN_OK;
    if (!d) d = day_make(l, day);
    if (!d) return DN_ENOMEM;
    if (chunk >= d->chunks_len && chunks_grow(d, chunk + 1) < 0) return DN_ENOMEM;
    d->chunks[chunk] = calloc(LEDGER_CHUNK, sizeof(ledger_slot));
    return d->chunks[chunk] ? DN_OK : DN_ENOMEM;
}

/* ---- Rows ---- */

ledger_slot *ledger_find(ledger *l, dn_day day, uint64_t n) {
    const ledger_day *d = day_find(l, day);
    ledger_slot      *slot = d ? slot_of(d, n) : NULL;

    return slot && slot->status != DN_DAILY_NONE ? slot : NULL;
}

void ledger_fetch(ledger *l, dn_day day, uint64_t n) {
    const ledger_day  *d = day_find(l, day);
    const ledger_slot *slot = d ? slot_of(d, n) : NULL;

    if (slot) __builtin_prefetch(slot, /* for writing */ 1);
}

void ledger_add(ledger *l, dn_day day, uint64_t n, ledger_slot row) {
    ledger_day  *d = day_find(l, day);
    ledger_slot *slot = d ? slot_of(d, n) : NULL;

    assert(slot && slot->status == DN_DAILY_NONE && row.status != DN_DAILY_NONE);
    *slot = row;
    d->rows++;
    if (n < d->from) d->from = n;
}

void ledger_remove(ledger *l, uint64_t n) {
    for (size_t i = 0; i < l->len; i++) {
        ledger_slot *slot = slot_of(&l->days[i], n);
        if (!slot || slot->status == DN_DAILY_NONE) continue;
        *slot = (ledger_slot){0};
        l->days[i].rows--;
    }
}

/* The number of the first row from n on, or UINT64_MAX. */
static uint64_t day_next(const ledger_day *d, uint64_t n) {
    const uint64_t end = (uint64_t)d->chunks_len * LEDGER_CHUNK;

    if (n < d->from) n = d->from;
    while (n < end) {
        const ledger_slot *slot = slot_of(d, n);
        if (!slot) n = (n / LEDGER_CHUNK + 1) * LEDGER_CHUNK;
        else if (slot->status == DN_DAILY_NONE) n++;
        else return n;
    }
    return UINT64_MAX;
}

uint32_t ledger_forget(ledger *l, dn_day before, uint32_t max) {
    uint32_t rows = 0;

    for (size_t i = 0; i < l->len && l->days[i].day < before && rows < max; i++) {
        ledger_day *d = &l->days[i];
        for (; d->rows && rows < max; rows++) {
            d->from = day_next(d, d->from);
            *slot_of(d, d->from) = (ledger_slot){0};
            d->rows--;
        }
    }
    return rows;
}

void ledger_sweep(ledger *l) {
    size_t kept = 0;

    for (size_t i = 0; i < l->len; i++) {
        if (l->days[i].rows) l->days[kept++] = l->days[i];
        else day_done(&l->days[i]);
    }
    l->len = kept;
}

/* ---- Reading ---- */

static dn_ledger_row row_of(dn_day day, uint64_t n, const ledger_slot *slot) {
    return (dn_ledger_row){.registration = n,
                           .day = day,
                           .status = (dn_daily_status)slot->status,
                           .error_class = (dn_error_class)slot->cls,
                           .attempts = slot->attempts,
                           .at_ms = slot->at_ms};
}

size_t ledger_days_of(ledger *l, uint64_t n, dn_day before, dn_ledger_row *rows, size_t max) {
    size_t len = 0;

    for (size_t i = ledger_from(l, before); i > 0 && len < max; i--) {
        const ledger_slot *slot = slot_of(&l->days[i - 1], n);
        if (slot && slot->status != DN_DAILY_NONE)
            rows[len++] = row_of(l->days[i - 1].day, n, slot);
    }
    return len;
}

size_t ledger_day_rows(ledger *l, dn_day day, uint64_t after_n, dn_ledger_row *rows, size_t max) {
    const ledger_day *d = day_find(l, day);
    size_t            len = 0;

    if (!d || after_n == UINT64_MAX) return 0;
    for (uint64_t n = day_next(d, after_n + 1); n != UINT64_MAX && len < max;
         n = day_next(d, n + 1))
        rows[len++] = row_of(day, n, slot_of(d, n));
    return len;
}
