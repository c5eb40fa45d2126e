/* trace_judge.h - what a line of a trace says, once it has been taken apart. */
#ifndef DIURNAL_TRACE_TRACE_JUDGE_H
#define DIURNAL_TRACE_TRACE_JUDGE_H

#include "trace.h"
#include "trace_line.h"

/* What of the lines before one has to be known to judge it. Begins with the two that are set, and zeros. */
typedef struct trace_judge {
    const trace_settings *settings;
    answers              *book;
    uint64_t              line;         /* this one */
    int64_t               last_ms;      /* at, of the last line that has one */
    uint64_t              last_ms_line; /* 0: there was none */
    int64_t               step_ms;      /* of all clock lines together */
} trace_judge;

/* DN_OK: something that happens, in *out_op. DN_STOP: an outcome, and the book has it. DN_EINVAL: fault says what is
 * wrong. DN_ENOMEM, DN_EIO: of the book. */
DN_MUST_USE int trace_judge_line(trace_judge *judge, const trace_line *line, trace_op *out_op,
                                 char fault[TRACE_FAULT]);

/* result, error_class and duration_ms, of an outcome or of "default" in the header. */
DN_MUST_USE int trace_judge_answer(const trace_line *line, uint32_t otherwise_ms,
                                   answer *out_answer, char fault[TRACE_FAULT]);
DN_MUST_USE int trace_judge_instant(const char *name, const trace_value *value, int64_t *out_ms,
                                    char fault[TRACE_FAULT]);

#endif
