/* civil.h - days, minutes and instants of UTC, and how they are written.
 * Plain arithmetic: no clock, and none of the C library's time zones. Any thread. */
#ifndef DIURNAL_BASE_CIVIL_H
#define DIURNAL_BASE_CIVIL_H

#include "diurnal/base.h"

/* Days since 1970-01-01. DN_DAY_NONE is before every day there is. */
typedef int32_t dn_day;
#define DN_DAY_NONE INT32_MIN

enum { DN_DAY_MINUTES = 1440 };
#define DN_MINUTE_MS INT64_C(60000)
#define DN_DAY_MS    (DN_DAY_MINUTES * DN_MINUTE_MS)

/* The day an instant falls on; also before 1970. */
dn_day  dn_day_of_ms(int64_t ms);
int64_t dn_day_start_ms(dn_day day);

/* Text with its end: "YYYY-MM-DD", "HH:MM", "YYYY-MM-DDTHH:MM:SS.mmmZ". Years 0000 to 9999. */
enum { DN_DAY_TEXT = 11, DN_DUE_TEXT = 6, DN_INSTANT_TEXT = 25 };
void dn_day_write(dn_day day, char text[DN_DAY_TEXT]);
void dn_due_write(uint32_t due, char text[DN_DUE_TEXT]); /* due: minute of the day */
void dn_instant_write(int64_t ms, char text[DN_INSTANT_TEXT]);

/* The whole text and nothing else, or DN_EINVAL and the out-parameter untouched. An instant is RFC 3339 with
 * "Z" or an offset; what is finer than a millisecond is cut off, a leap second is the second before it. */
DN_MUST_USE int dn_day_read(const char *text, size_t len, dn_day *out_day);
DN_MUST_USE int dn_due_read(const char *text, size_t len, uint32_t *out_due);
DN_MUST_USE int dn_instant_read(const char *text, size_t len, int64_t *out_ms);

#endif
