/* wheel_fuzz.c - the timer wheel against a plain array: bytes arm, cancel and let time pass. */
#include "wheel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRIES = 64 };

#define MUST(cond)                                                                                 \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond);                             \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

typedef struct model {
    int64_t  due_ms; /* INT64_MIN: not armed */
    uint64_t order;
} model;

static wheel       w;
static wheel_entry entries[ENTRIES];
static model       models[ENTRIES];
static int64_t     now_ms;
static uint64_t    order;
static size_t      armed;

/* From the bytes: a distance, small or of any magnitude. */
static int64_t distance(const uint8_t **at, const uint8_t *end) {
    int64_t d = 0;

    if (end - *at < 3) {
        *at = end;
        return 1;
    }
    const int shift = (*at)[0] % 56;
    d = (int64_t)((*at)[1] | (*at)[2] << 8);
    *at += 3;
    return (*at)[-3] & 0x80 ? d << shift % 47 : d >> shift % 16;
}

static int64_t add(int64_t a, int64_t b) {
    int64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static void arm(int i, int64_t due_ms) {
    if (wheel_is_armed(&entries[i])) {
        wheel_cancel(&w, &entries[i]);
        armed--;
    }
    entries[i].due_ms = due_ms;
    wheel_arm(&w, &entries[i]);
    armed++;
    /* What is overdue counts as due where the wheel stands. */
    models[i] = (model){.due_ms = due_ms > now_ms ? due_ms : now_ms, .order = order++};
}

/* The one that must come next of all up to now; -1: none. */
static int next_due(int64_t until_ms) {
    int next = -1;

    for (int i = 0; i < ENTRIES; i++) {
        if (models[i].due_ms == INT64_MIN || models[i].due_ms > until_ms) continue;
        if (next < 0 || models[i].due_ms < models[next].due_ms ||
            (models[i].due_ms == models[next].due_ms && models[i].order < models[next].order))
            next = i;
    }
    return next;
}

static void pass(int64_t until_ms) {
    wheel_entry *e;

    while ((e = wheel_expire(&w, until_ms))) {
        int64_t due_ms = INT64_MIN;
        for (wheel_entry *next; e; e = next) {
            next = e->next;
            const int i = (int)(e - entries);
            MUST(!wheel_is_armed(e));
            MUST(i == next_due(until_ms));
            MUST(due_ms == INT64_MIN || models[i].due_ms == due_ms);
            due_ms = models[i].due_ms;
            models[i].due_ms = INT64_MIN;
            armed--;
        }
        now_ms = due_ms > now_ms ? due_ms : now_ms;
    }
    MUST(next_due(until_ms) < 0);
    now_ms = until_ms;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const uint8_t *at = data, *const end = data + size;

    memset(&w, 0, sizeof w);
    memset(entries, 0, sizeof entries);
    for (int i = 0; i < ENTRIES; i++) models[i].due_ms = INT64_MIN;
    now_ms = distance(&at, end);
    order = armed = 0;
    wheel_init(&w, now_ms);
    while (end - at >= 2) {
        const int i = *at++ % ENTRIES;
        switch (*at++ % 8) {
        case 0:
        case 1:
        case 2: arm(i, add(now_ms, distance(&at, end))); break;
        case 3: arm(i, now_ms - distance(&at, end)); break;
        case 4:
            if (!wheel_is_armed(&entries[i])) break;
            wheel_cancel(&w, &entries[i]);
            models[i].due_ms = INT64_MIN;
            armed--;
            break;
        case 5: pass(add(now_ms, distance(&at, end) % 70000)); break;
        case 6: { /* to where it asks to be called: nothing may be due before */
            const int64_t next_ms = wheel_next_ms(&w);
            MUST(armed == 0 || next_ms < INT64_MAX || next_due(INT64_MAX - 1) < 0);
            if (next_ms == INT64_MAX) break;
            if (next_ms > now_ms) MUST(next_due(next_ms - 1) < 0);
            pass(next_ms > now_ms ? next_ms : now_ms);
            break;
        }
        default: pass(add(now_ms, i % 4)); break;
        }
        MUST(wheel_len(&w) == armed);
    }
    MUST(wheel_is_sound(&w));
    return 0;
}
