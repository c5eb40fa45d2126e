/* log.c - who may say what, and where it goes.
 * log_line.c puts it into words, log_repeat.c says when it is too much, log_out.c writes it. */
#include "log.h"

#include "log_line.h"
#include "log_out.h"
#include "log_repeat.h"

#include <assert.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

enum { TEXT_MAX = 1000, WAIT_AT_EXIT_MS = 1000 };

/* Set before any thread starts. */
static dn_log_sink     *sink;
static void            *sink_context;
static dn_log_clock_fn *clock_fn;
static void            *clock_context;

/* relaxed: who reads them late says a line too many, or one too few, or as it was wanted before. */
static _Atomic(int) threshold = DN_LOG_INFO;
static _Atomic(int) form_asked = DN_LOG_AUTO;

void dn_log_to(dn_log_sink *to, void *context) {
    sink = to;
    sink_context = context;
}

void dn_log_output(int fd) { log_out_open(fd); }

void dn_log_clock(dn_log_clock_fn *fn, void *context) {
    clock_fn = fn;
    clock_context = context;
}

void dn_log_threshold(dn_log_level least) {
    atomic_store_explicit(&threshold, (int)least, memory_order_relaxed);
}

bool dn_log_wanted(dn_log_level level) {
    return (int)level >= atomic_load_explicit(&threshold, memory_order_relaxed);
}

void dn_log_format(dn_log_form form) {
    atomic_store_explicit(&form_asked, (int)form, memory_order_relaxed);
}

static int64_t wall_ms(void) {
    struct timespec t;

    if (clock_fn) return clock_fn(clock_context);
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- A line's way ---- */

static log_form form_now(void) {
    const int asked = atomic_load_explicit(&form_asked, memory_order_relaxed);

    return (log_form){.json = asked == DN_LOG_AUTO ? !log_out_is_terminal() : asked == DN_LOG_JSON,
                      .journal = log_out_is_journal()};
}

/* lines: those it stands for, itself or those it counts. False: there is no room, and so many are dropped. */
static bool push(const log_line *line, uint64_t lines) {
    char bytes[LOG_LINE_MAX];

    if (log_out_is_full()) {
        log_out_give_dropped(lines);
        return false;
    }
    return log_out_push(bytes, log_line_write(form_now(), line, bytes), lines);
}

/* The lines before it are out, or as far as they can be; so there is room, if there is any. */
static void push_dropped(int64_t now_ms) {
    const uint64_t lines = log_out_take_dropped();

    if (lines == 0) return;
    const dn_log_field field = dn_log_integer("lines", (int64_t)lines);
    (void)push(&(log_line){.wall_ms = now_ms,
                           .level = DN_LOG_WARN,
                           .event = "log.dropped",
                           .text = "lines were lost here: the log's output did not take them",
                           .fields = &field,
                           .fields_len = 1},
               lines);
}

static void push_repeated(const log_repeated *r, int64_t now_ms) {
    const dn_log_field fields[] = {dn_log_text("of", r->event), dn_log_integer("lines", r->lines)};
    char               text[TEXT_MAX + 1];

    if (r->lines == 0) return;
    (void)snprintf(text, sizeof text, "and %u more of %s within %d s", r->lines, r->event,
                   LOG_REPEATS_MS / 1000);
    /* What cannot be said as repeated is said as lost. */
    (void)push(&(log_line){.wall_ms = now_ms,
                           .level = r->level,
                           .event = "log.repeated",
                           .text = text,
                           .fields = fields,
                           .fields_len = 2},
               r->lines);
}

/* Whether one more is to be put into words. A debug line always is. */
static bool is_allowed(dn_log_level level, const char *event, int64_t now_ms) {
    log_repeated ended;

    if (sink || level == DN_LOG_DEBUG) return true;
    const bool allowed = log_repeat_allows(event, level, now_ms, &ended);
    push_repeated(&ended, now_ms);
    return allowed;
}

static void say(const log_line *line) {
    char words[LOG_LINE_MAX];

    assert(line->level < DN_LOG_NONE);
    if (sink) {
        log_line_words(line, words);
        sink(sink_context, line->level, line->event, words);
        return;
    }
    log_out_write();
    push_dropped(line->wall_ms);
    if (push(line, 1)) log_out_write();
}

void dn_log(dn_log_level level, const char *event, const char *format, ...) {
    char    text[TEXT_MAX + 1];
    va_list args;

    if (!dn_log_wanted(level)) return;
    const int64_t now_ms = wall_ms();
    if (!is_allowed(level, event, now_ms)) return;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    say(&(log_line){.wall_ms = now_ms, .level = level, .event = event, .text = text});
}

void dn_log_fields(dn_log_level level, const char *event, const char *text,
                   const dn_log_field *fields, size_t len) {
    if (!dn_log_wanted(level)) return;
    const int64_t now_ms = wall_ms();
    if (!is_allowed(level, event, now_ms)) return;
    say(&(log_line){.wall_ms = now_ms,
                    .level = level,
                    .event = event,
                    .text = text,
                    .fields = fields,
                    .fields_len = len});
}

/* ---- What was kept back ---- */

static void push_kept_back(bool all) {
    const int64_t now_ms = wall_ms();
    log_repeated  ended;

    log_out_write();
    push_dropped(now_ms);
    for (size_t at = 0; log_repeat_ended(&at, now_ms, all, &ended);) push_repeated(&ended, now_ms);
}

void dn_log_tick(void) {
    push_kept_back(false);
    log_out_write();
}

void dn_log_finish(int wait_ms) {
    push_kept_back(true);
    log_out_write_all(wait_ms);
    push_dropped(wall_ms()); /* by now there may be room to say it */
    log_out_write();
}

__attribute__((destructor)) static void finish_at_exit(void) { dn_log_finish(WAIT_AT_EXIT_MS); }
