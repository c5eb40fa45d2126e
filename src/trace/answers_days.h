/* answers_days.h - rows that have a day, in a file, each day's in the order they were put. */
#ifndef DIURNAL_TRACE_ANSWERS_DAYS_H
#define DIURNAL_TRACE_ANSWERS_DAYS_H

#include "answers_table.h"

typedef struct answers_days answers_days;

/* DN_EIO: there can be no file. */
DN_MUST_USE int answers_days_new(answers_days **out_days);
void            answers_days_free(answers_days *days); /* accepts NULL */

/* DN_ENOMEM, DN_EIO: what was put is of no use any more. */
DN_MUST_USE int answers_days_put(answers_days *days, dn_day day, const answers_row *row);
DN_MUST_USE int
answers_days_seal(answers_days *days); /* nothing is put any more, and all may be read */

bool            answers_days_has(const answers_days *days, dn_day day);
DN_MUST_USE int answers_days_read(const answers_days *days, dn_day day, answers_table *into);

#endif
