/* report_parts.h - what a report is made of. Only for the report's own files. */
#ifndef DIURNAL_REPLAY_REPORT_PARTS_H
#define DIURNAL_REPLAY_REPORT_PARTS_H

#include "report.h"
#include "report_axis.h"
#include "report_days.h"
#include "report_marks.h"

#include "obs/sketch.h"

enum { REPORT_CLASSES = DN_CLASS_UNKNOWN + 1 };

typedef struct report_totals {
    uint64_t happened[DN_HAPPENINGS]; /* by dn_happening_kind */
    uint64_t ends[DAY_ENDS], stops[AXIS_OUTCOMES], classes[REPORT_CLASSES];
} report_totals;

struct report {
    int64_t       start_ms;
    axis          axis;
    days          days;
    marks         marks;
    report_totals totals;
    dn_sketch     latency_ms[AXIS_OUTCOMES], tick_us;
    int64_t       latency_max_ms;
    double        tick_max_ms;
};

/* The page around its data, made from report/ (report.cmake): what stands before the data, and what behind. */
typedef struct report_text {
    const char *bytes;
    size_t      len;
} report_text;
extern const report_text report_page_head, report_page_tail;

#endif
