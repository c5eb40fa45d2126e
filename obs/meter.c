/* meter.c - the level's two copies.
 * The order of things, on both sides, without fences (ThreadSanitizer knows of none): the writer counts its turn and then
 * stores each word with release; the reader loads each word with acquire and then looks at the turn again. So who has seen
 * a word of a later turn sees that turn too, and reads once more. */
#include "meter.h"

enum { CHANGED, LEVEL, MAX, PEAK, SAMPLES, WATCHED, AREA, FULL };
_Static_assert(FULL + 1 == DN_METER_WORDS, "a word for each");

static void words_store(_Atomic(uint64_t) *copy, const uint64_t words[DN_METER_WORDS]) {
    for (int i = 0; i < DN_METER_WORDS; i++) /* pairs with words_load */
        atomic_store_explicit(&copy[i], words[i], memory_order_release);
}

static void words_load(const _Atomic(uint64_t) *copy, uint64_t words[DN_METER_WORDS]) {
    for (int i = 0; i < DN_METER_WORDS; i++) /* pairs with words_store */
        words[i] = atomic_load_explicit(&copy[i], memory_order_acquire);
}

/* What has come since the last change. */
static void words_advance(uint64_t words[DN_METER_WORDS], int64_t now_ns) {
    const uint64_t now_us = (uint64_t)now_ns / 1000;

    if (words[SAMPLES] > 0 && now_us > words[CHANGED]) {
        const uint64_t passed_us = now_us - words[CHANGED];
        words[WATCHED] += passed_us;
        words[AREA] += passed_us * words[LEVEL];
        if (words[MAX] > 0 && words[LEVEL] >= words[MAX]) words[FULL] += passed_us;
    }
    if (words[SAMPLES] == 0 || now_us > words[CHANGED]) words[CHANGED] = now_us;
}

void dn_meter_set(dn_meter *m, uint64_t level, uint64_t max, int64_t now_ns) {
    const uint64_t turn = atomic_load_explicit(&m->turn, memory_order_relaxed);
    uint64_t       words[DN_METER_WORDS];

    words_load(m->copies[0], words);
    words_advance(words, now_ns);
    words[LEVEL] = level;
    words[MAX] = max;
    if (level > words[PEAK]) words[PEAK] = level;
    words[SAMPLES]++;
    /* While the first copy changes readers take the second, and the other way round. release: pairs with dn_meter_read. */
    atomic_store_explicit(&m->turn, turn + 1, memory_order_release);
    words_store(m->copies[0], words);
    atomic_store_explicit(&m->turn, turn + 2, memory_order_release);
    words_store(m->copies[1], words);
}

dn_meter_reading dn_meter_read(const dn_meter *m, int64_t now_ns) {
    uint64_t words[DN_METER_WORDS], turn;

    do { /* once more only after a change that began meanwhile */
        turn = atomic_load_explicit(&m->turn, memory_order_acquire);
        words_load(m->copies[turn % 2], words);
    } while (atomic_load_explicit(&m->turn, memory_order_relaxed) != turn);
    if (words[SAMPLES] == 0) return (dn_meter_reading){0};
    words_advance(words, now_ns);
    return (dn_meter_reading){
        .level = words[LEVEL],
        .max = words[MAX],
        .peak = words[PEAK],
        .samples = words[SAMPLES],
        .watched_us = words[WATCHED],
        .area_us = words[AREA],
        .full_us = words[FULL],
    };
}
