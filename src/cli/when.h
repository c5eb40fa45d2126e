/* when.h - days and minutes of the day that are given with flags: judged before anybody is asked, in the words of the flags. */
#ifndef DIURNAL_CLI_WHEN_H
#define DIURNAL_CLI_WHEN_H

#include "command.h"

#include "domain/daily_rule.h"

/* An exit code: DN_EXIT_DONE if the flag is left out, and *out_day is untouched, or if it is a date; else it has been complained
 * of. */
int when_day(const call *c, const char *flag, dn_day *out_day);

/* Likewise a minute of the day, HH:MM. */
int when_due(const call *c, const char *flag);

#endif
