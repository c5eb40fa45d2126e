/* when.h - dates and times of day given as flags, checked before any request is sent. */
#ifndef DIURNAL_CLI_WHEN_H
#define DIURNAL_CLI_WHEN_H

#include "command.h"

#include "domain/daily_rule.h"

/* Reads the date of a flag. DN_EXIT_DONE: it is a date, or the flag is missing and *out_day is untouched. Any other exit
 * code: the error is printed. */
int when_day(const call *c, const char *flag, dn_day *out_day);

/* Checks a time of day (HH:MM) the same way. */
int when_due(const call *c, const char *flag);

#endif
