/* report_marks.h - what is marked beside the charts: crashes, steps of the clock, a full disk, breached SLOs; each from
 * when to when, on the steady line. Of each kind the first MARKS_LEN are kept and the others counted. */
#ifndef DIURNAL_REPLAY_REPORT_MARKS_H
#define DIURNAL_REPLAY_REPORT_MARKS_H

#include "event.h"

#include <stddef.h>

enum { MARKS_LEN = 256, MARKS_SLOS = 16, MARKS_NAME = 32 };

typedef enum mark_kind { MARK_CRASH, MARK_CLOCK, MARK_STORE, MARK_SLO, MARK_KINDS } mark_kind;

#define MARK_OPEN INT64_C(-1) /* for a crash: never back; for an SLO: breached to the end */

typedef struct mark {
    int64_t  from_ms, to_ms;
    int64_t  step_ms;          /* MARK_CLOCK */
    uint32_t slo;              /* MARK_SLO: which name */
    double   value, threshold; /* MARK_SLO */
} mark;

typedef struct mark_list {
    uint64_t count; /* of all there were */
    mark     kept[MARKS_LEN];
} mark_list;

typedef struct mark_slo {
    char  name[MARKS_NAME]; /* longer ones are cut */
    bool  breached;
    mark *open; /* NULL: none, or it was not kept */
} mark_slo;

/* Zeroed it is empty. */
typedef struct marks {
    mark_list lists[MARK_KINDS];
    mark     *down; /* the crash that has not ended */
    uint32_t  slos_len;
    mark_slo  slos[MARKS_SLOS];
} marks;

static inline size_t marks_len(const mark_list *list) {
    return list->count < MARKS_LEN ? (size_t)list->count : MARKS_LEN;
}

void marks_crash(marks *m, int64_t at_ms);
void marks_restart(marks *m, int64_t at_ms);
void marks_clock(marks *m, int64_t at_ms, int64_t step_ms);
void marks_store_fails(marks *m, int64_t at_ms, int64_t for_ms);
/* Of more than MARKS_SLOS names, only those that came first are heard. */
void marks_slo(marks *m, int64_t at_ms, const event_slo *said);

#endif
