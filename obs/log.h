/* log.h - what the program has to say to the person who runs it.
 * A line is an event with a stable name and a sentence or fields in words; whoever decides what happens next logs it,
 * once. Any thread. */
#ifndef DIURNAL_OBS_LOG_H
#define DIURNAL_OBS_LOG_H

#include "diurnal/base.h"

typedef enum dn_log_level {
    DN_LOG_DEBUG,
    DN_LOG_INFO,
    DN_LOG_WARN,
    DN_LOG_ERROR,
    DN_LOG_NONE, /* as a threshold: nothing is said */
} dn_log_level;

/* Where lines go. Set before any thread starts; the default is the standard error. */
typedef void dn_log_sink(void *context, dn_log_level level, const char *event, const char *text);
void         dn_log_to(dn_log_sink *to, void *context);

/* Lines below it are dropped. Any thread, at any time: SIGHUP changes it. The default is DN_LOG_INFO. */
void dn_log_threshold(dn_log_level least);
bool dn_log_wanted(dn_log_level level); /* for what is dear to put into words */

/* event: "store.full". At most 1,000 bytes of text; what is longer is cut. */
__attribute__((format(printf, 3, 4))) void dn_log(dn_log_level level, const char *event,
                                                  const char *format, ...);

#endif
