/* recorder_lines.h - the lines of a trace, as replay reads them. Plain text; no clock, no file. */
#ifndef DIURNAL_TRACE_RECORDER_LINES_H
#define DIURNAL_TRACE_RECORDER_LINES_H

#include "recorder.h"
#include "recorder_notes.h"

/* The longest line; an id of quotes alone is twice as long. */
enum { RECORD_LINE_MAX = 1024, RECORD_HOW_MAX = 112, RECORD_WHEN_MAX = 48 };

/* What was written last: nearly all that comes next is of the same second and day, and of outcomes most came about in the
 * same way in the same millisecond. Zeroed it knows nothing. */
typedef struct record_words {
    int64_t second_ms;
    dn_day  day;
    bool    has_second, has_day;
    char    second_text[DN_INSTANT_TEXT], day_text[DN_DAY_TEXT];
    struct { /* from the id to the duration */
        dn_day   day;
        uint32_t attempt;
        uint8_t  outcome, cls;
        uint8_t  len; /* 0: none yet */
        char     text[RECORD_HOW_MAX];
    } how;
    struct { /* from the duration to the end of the line */
        int64_t stopped_ms;
        uint8_t len; /* likewise */
        char    text[RECORD_WHEN_MAX];
    } when;
} record_words;

/* Each writes a line with its end into room for RECORD_LINE_MAX bytes, and returns its length. */

/* *out_end_at: where the instant `end` begins, to be written over; it is always as long. */
size_t record_line_header(char *out, const dn_recorder_config *config, int64_t start_ms,
                          int64_t end_ms, size_t *out_end_at);
/* With all that is durable. */
size_t record_line_begin_with(record_words *w, char *out, int64_t at_ms, const dn_user *user);
size_t record_line_user(record_words *w, char *out, int64_t at_ms, const record_note *set);
size_t record_line_remove(record_words *w, char *out, int64_t at_ms, const record_note *removed);
/* stopped_ms: since the start of the trace. */
size_t record_line_outcome(record_words *w, char *out, int64_t stopped_ms, int64_t duration_ms,
                           uint32_t attempt, const record_note *stopped);
size_t record_line_crash(record_words *w, char *out, int64_t at_ms, int64_t down_ms);
size_t record_line_clock(record_words *w, char *out, int64_t at_ms, int64_t step_ms);
size_t record_line_store_fails(record_words *w, char *out, int64_t at_ms, int64_t for_ms);

/* The end that a header of ours names. False: it is none. */
bool record_header_end(const char *line, size_t len, int64_t *out_end_ms);

#endif
