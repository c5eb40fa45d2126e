/* log.h - what the program has to say to the person who runs it.
 * A line is an event with a stable name, and a sentence, and fields where a program reads along; whoever decides what
 * happens next logs it, once. Debug is for what happens to one user or one attempt; info and warn are for what the
 * operator should know, error for what needs him.
 *
 * Lines go to the standard error, which may stand still: a full pipe, a stopped terminal. Nobody waits for it. What it
 * does not take is kept, 256 lines of it, then counted as lost, and said once there is room again ("log.dropped"). What
 * it fails at (a full disk) is lost at once and counted as well; a line of which a part had gone is ended there.
 * The same event more than 20 times in 10 s is counted too, and said when those are over ("log.repeated"); not at debug:
 * who wants that wants every line. Both need dn_log_tick, which somebody calls about once a second.
 *
 * Any thread, unless a function says otherwise. */
#ifndef DIURNAL_OBS_LOG_H
#define DIURNAL_OBS_LOG_H

#include "diurnal/telemetry.h"

typedef enum dn_log_level {
    DN_LOG_DEBUG,
    DN_LOG_INFO,
    DN_LOG_WARN,
    DN_LOG_ERROR,
    DN_LOG_NONE, /* as a threshold: nothing is said */
} dn_log_level;

/* ---- Saying something ---- */

/* event: "store.full", a literal: it is kept. At most 1,000 bytes of text; what is longer is cut. Any bytes: what is
 * not UTF-8 or not for a screen is replaced. Cold: what happens all day long is not logged, and a compiler lays out the
 * code around a line accordingly. */
__attribute__((format(printf, 3, 4), cold)) void dn_log(dn_log_level level, const char *event,
                                                        const char *format, ...);

/* A field of a line. Its name is not t, level, event, text or cut: the line has those itself. */
typedef struct dn_log_field {
    const char   *name;
    dn_field_type type;
    dn_value      value;
} dn_log_field;

static inline dn_log_field dn_log_integer(const char *name, int64_t value) {
    return (dn_log_field){name, DN_INTEGER, {.integer = value}};
}
static inline dn_log_field dn_log_real(const char *name, double value) {
    return (dn_log_field){name, DN_REAL, {.real = value}};
}
static inline dn_log_field dn_log_text(const char *name, const char *value) {
    return (dn_log_field){name, DN_TEXT, {.text = value}};
}

/* As dn_log, with fields after the text: members of the object, or name=value. Borrowed for the call. Of those that
 * do not fit into a line of 2,048 bytes the line says that they are cut. */
void dn_log_fields(dn_log_level level, const char *event, const char *text,
                   const dn_log_field *fields, size_t len);

/* Lines below it are dropped. At any time: SIGHUP changes it. The default is DN_LOG_INFO. */
void dn_log_threshold(dn_log_level least);
bool dn_log_wanted(dn_log_level level); /* for what is dear to put into words */

/* ---- Where it goes ---- */

/* How a line looks:
 *     text   08:00:00.123 warn  store.full: nothing can be written free_mb=3
 *     json   {"t":"2026-11-18T08:00:00.123Z","level":"warn","event":"store.full","text":"nothing …","free_mb":3}
 * auto is text on a terminal, else json. If the journal reads (JOURNAL_STREAM), it adds the time and takes
 * the level from a prefix: "<4>{"event":…", "<4>store.full: …". At any time. The default is auto. */
typedef enum dn_log_form { DN_LOG_AUTO, DN_LOG_TEXT, DN_LOG_JSON } dn_log_form;
void dn_log_format(dn_log_form form);

/* Another descriptor than the standard error. Set before any thread starts, and again after this one has been
 * made to lead elsewhere. Borrowed until the next call or the end. */
void dn_log_output(int fd);

/* A sink of one's own gets every line, at once and on the thread that says it; the fields in words after the text.
 * NULL: the descriptor again. Set before any thread starts. */
typedef void dn_log_sink(void *context, dn_log_level level, const char *event, const char *text);
void         dn_log_to(dn_log_sink *to, void *context);

/* The wall clock of the lines, in ms since 1970 UTC; NULL: the machine's. Set before any thread starts. */
typedef int64_t dn_log_clock_fn(void *context);
void            dn_log_clock(dn_log_clock_fn *fn, void *context);

/* ---- What was kept back ---- */

/* Writes what the output takes by now, and says what was lost, and repeats whose 10 s are over. Never waits. */
void dn_log_tick(void);

/* Says every repeat and all that is kept, and waits for the output up to wait_ms. exit and the end of main do this by
 * themselves with 1,000 ms; who uses _exit calls it before. */
void dn_log_finish(int wait_ms);

#endif
