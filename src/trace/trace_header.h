/* trace_header.h - the first line of a trace, and what is set in place of it. */
#ifndef DIURNAL_TRACE_TRACE_HEADER_H
#define DIURNAL_TRACE_TRACE_HEADER_H

#include "trace.h"
#include "trace_line.h"

/* A number of the header: as the daemon's setting of that name. */
typedef struct trace_number {
    const char *key, *unit;
    double      least, most, otherwise; /* whole ones, but where is_ratio */
    bool        is_ratio;
    size_t      offset; /* in trace_settings */
} trace_number;
enum { TRACE_NUMBERS = 13 };
extern const trace_number trace_numbers[TRACE_NUMBERS];

/* The whole line. DN_EINVAL: fault says why it is none; DN_ENOMEM. */
DN_MUST_USE int trace_header_read(const trace_line *line, trace_settings *out_settings,
                                  char fault[TRACE_FAULT]);

/* "key=value". */
DN_MUST_USE int trace_header_set(trace_settings *s, const char *assignment,
                                 char fault[TRACE_FAULT]);

/* What goes together. */
DN_MUST_USE int trace_header_check(const trace_settings *s, char fault[TRACE_FAULT]);

#endif
