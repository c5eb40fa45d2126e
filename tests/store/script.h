/* script.h - a history for the torture tests: batches of writes drawn from a seed, and what a store holds after
 * each of them. What it should hold is told by a store in memory; that it is right is shown by model_test.c. */
#ifndef DIURNAL_TESTS_STORE_SCRIPT_H
#define DIURNAL_TESTS_STORE_SCRIPT_H

#include "kit.h"

enum { SCRIPT_BATCHES = 24, SCRIPT_BATCH_MAX = 12, SCRIPT_IDS = 12 };

typedef struct script {
    dn_write writes[SCRIPT_BATCHES][SCRIPT_BATCH_MAX];
    size_t   len[SCRIPT_BATCHES];
    char     ids[SCRIPT_IDS][16];
    char    *after[SCRIPT_BATCHES + 1]; /* what the store holds after so many batches */
} script;

static inline dn_write script_draw(script *s, int batch, uint64_t *random) {
    const char    *id = s->ids[test_random(random) % SCRIPT_IDS];
    const uint64_t n = test_random(random) % (SCRIPT_IDS + 4) + 1;
    const uint32_t due = (uint32_t)(test_random(random) % DN_DAY_MINUTES);
    const dn_day   day = KIT_DAY + batch / 2;

    switch (test_random(random) % 10) {
    case 0:
    case 1: return kit_set(id, due);
    case 2: return kit_remove(id);
    case 3: return kit_missed(n, day - 2, day);
    case 4: return kit_outbox_done(n);
    case 5: return kit_outbox_later(n, (uint16_t)batch, AT(day, due));
    case 6: return kit_forget(day - 4);
    case 7: return kit_success(n, day, AT(day, due));
    default: return kit_cutoff(n, day, AT(day + 1, 0));
    }
}

static inline void script_draw_all(script *s, uint64_t *random) {
    for (int i = 0; i < SCRIPT_IDS; i++) snprintf(s->ids[i], sizeof s->ids[i], "user-%d", i);
    for (int b = 0; b < SCRIPT_BATCHES; b++) {
        /* All users in the first batch, so that the rest has something to change. */
        s->len[b] = b == 0 ? SCRIPT_IDS : test_random(random) % SCRIPT_BATCH_MAX + 1;
        for (size_t i = 0; i < s->len[b]; i++)
            s->writes[b][i] =
                b == 0 ? kit_set(s->ids[i], (uint32_t)i * 7) : script_draw(s, b, random);
    }
}

static inline void script_init(script *s, uint64_t *random) {
    static dn_write_result results[SCRIPT_BATCH_MAX];
    kit_text               text = {0};
    dn_store              *memory = kit_open(NULL);

    memset(s, 0, sizeof *s);
    script_draw_all(s, random);
    kit_dump_well(memory, &text);
    s->after[0] = kit_copy(text.text);
    for (int b = 0; b < SCRIPT_BATCHES; b++) {
        CHECK_INT(dn_store_write(memory, s->writes[b], s->len[b], results, NULL), DN_OK);
        kit_dump_well(memory, &text);
        s->after[b + 1] = kit_copy(text.text);
    }
    dn_store_free(memory);
    free(text.text);
}

static inline void script_done(script *s) {
    for (int b = 0; b <= SCRIPT_BATCHES; b++) free(s->after[b]);
}

static inline int script_write(dn_store *store, const script *s, int batch) {
    static dn_write_result results[SCRIPT_BATCH_MAX];

    return dn_store_write(store, s->writes[batch], s->len[batch], results, NULL);
}

/* After how many batches does a store hold this text? It must be `acknowledged` of them, or one more: the one that
 * was under way. */
static inline int script_find(const script *s, const char *text, int acknowledged) {
    if (strcmp(text, s->after[acknowledged]) == 0) return acknowledged;
    if (acknowledged < SCRIPT_BATCHES && strcmp(text, s->after[acknowledged + 1]) == 0)
        return acknowledged + 1;
    fprintf(stderr, "---- holds\n%s---- after what was acknowledged\n%s", text,
            s->after[acknowledged]);
    CHECK_MSG(false, "after %d acknowledged batches it holds neither these nor one more",
              acknowledged);
    return -1;
}

#endif
