/* report_json.h - JSON that may stand in the middle of a page: whatever a text holds, no byte of it ends the script
 * element around it. */
#ifndef DIURNAL_REPLAY_REPORT_JSON_H
#define DIURNAL_REPLAY_REPORT_JSON_H

#include <stddef.h>
#include <stdio.h>

/* In quotes. '<', '>', '&' and control characters as \u00XX; a byte that is no UTF-8 as U+FFFD. */
void json_text(FILE *f, const char *text, size_t len);

/* As short as it can be said; what is no number, or none that JSON can say, is null. */
void json_number(FILE *f, double value);

/* Numbers as they repeat: [value, times, value, times, …]. */
typedef double json_column(const void *of, size_t i);
void           json_runs(FILE *f, size_t len, json_column *at, const void *of);

#endif
