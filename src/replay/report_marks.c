/* report_marks.c - what was unusual, and how long it lasted. */
#include "report_marks.h"

#include <string.h>

/* NULL: the list is full. */
static mark *add(marks *m, mark_kind kind, mark what) {
    mark_list *list = &m->lists[kind];

    if (list->count++ >= MARKS_LEN) return NULL;
    mark *kept = &list->kept[list->count - 1];
    *kept = what;
    return kept;
}

static void close_at(mark **open, int64_t at_ms) {
    if (*open) (*open)->to_ms = at_ms;
    *open = NULL;
}

/* Who watches the SLOs dies with the process, and begins anew: what is breached will be found again. */
void marks_crash(marks *m, int64_t at_ms) {
    for (uint32_t i = 0; i < m->slos_len; i++) {
        close_at(&m->slos[i].open, at_ms);
        m->slos[i].breached = false;
    }
    m->down = add(m, MARK_CRASH, (mark){.from_ms = at_ms, .to_ms = MARK_OPEN});
}

void marks_restart(marks *m, int64_t at_ms) { close_at(&m->down, at_ms); }

void marks_clock(marks *m, int64_t at_ms, int64_t step_ms) {
    (void)add(m, MARK_CLOCK, (mark){.from_ms = at_ms, .to_ms = at_ms, .step_ms = step_ms});
}

void marks_store_fails(marks *m, int64_t at_ms, int64_t for_ms) {
    (void)add(m, MARK_STORE, (mark){.from_ms = at_ms, .to_ms = at_ms + for_ms});
}

static mark_slo *slo_named(marks *m, const char *name) {
    for (uint32_t i = 0; i < m->slos_len; i++)
        if (strncmp(m->slos[i].name, name, MARKS_NAME - 1) == 0) return &m->slos[i];
    if (m->slos_len == MARKS_SLOS) return NULL;
    mark_slo *slo = &m->slos[m->slos_len++];
    strncat(slo->name, name, MARKS_NAME - 1);
    return slo;
}

void marks_slo(marks *m, int64_t at_ms, const event_slo *said) {
    const bool breached = strcmp(said->state, "breached") == 0;
    mark_slo  *slo = slo_named(m, said->name);

    if (!slo || slo->breached == breached) return;
    slo->breached = breached;
    if (!breached) {
        close_at(&slo->open, at_ms);
        return;
    }
    slo->open = add(m, MARK_SLO,
                    (mark){.from_ms = at_ms,
                           .to_ms = MARK_OPEN,
                           .slo = (uint32_t)(slo - m->slos),
                           .value = said->value,
                           .threshold = said->threshold});
}
