/* log_line.h - a line of the log in words: functions of their arguments. */
#ifndef DIURNAL_OBS_LOG_LINE_H
#define DIURNAL_OBS_LOG_LINE_H

#include "log.h"

enum { LOG_LINE_MAX = 2048 }; /* and less than PIPE_BUF: a pipe takes a line whole or not at all */

typedef struct log_line {
    int64_t             wall_ms;
    dn_log_level        level;
    const char         *event, *text;
    const dn_log_field *fields;
    size_t              fields_len;
} log_line;

/* For the journal: the level as a prefix, no time. */
typedef struct log_form {
    bool json, journal;
} log_form;

/* A string: a line with its end, and no other end of a line in it. Answers its length. Whatever goes in, what comes out is
 * UTF-8, and JSON if it was to be. */
size_t log_line_write(log_form form, const log_line *line, char out[LOG_LINE_MAX]);

/* The text and the fields in words, as a string. */
void log_line_words(const log_line *line, char out[LOG_LINE_MAX]);

#endif
