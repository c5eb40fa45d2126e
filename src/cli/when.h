/* when.h - dates and times of day given as flags, checked before any request is sent. */
#ifndef DIURNAL_CLI_WHEN_H
#define DIURNAL_CLI_WHEN_H

#include "command.h"

#include "domain/daily_rule.h"

/* Reads the date of a flag. Returns DN_EXIT_DONE if it is a date, or if the flag is missing: *out_day is untouched then. If
 * it is not a date, prints the error and returns another exit code. */
int when_day(const call *c, const char *flag, dn_day *out_day);

/* Checks a time of day (HH:MM) the same way. */
int when_due(const call *c, const char *flag);

#endif
