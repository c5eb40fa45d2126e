/* log.c - puts a line together and hands it to the sink. */
#include "log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_MAX = 1000 };

static void print_line(void *context, dn_log_level level, const char *event, const char *text) {
    static const char *const words[] = {"debug", "info", "warn", "error"};
    char                     line[TEXT_MAX + 100];

    (void)context;
    const int len = snprintf(line, sizeof line, "%-5s %s: %s\n", words[level], event, text);
    /* One write a line: threads do not cut into each other's. Nobody is left to tell if it fails. */
    const ssize_t written =
        write(STDERR_FILENO, line, (size_t)len < sizeof line ? (size_t)len : sizeof line - 1);
    (void)written;
}

static dn_log_sink *sink = print_line;
static void        *sink_context;
static _Atomic(int) threshold = DN_LOG_INFO;

void dn_log_to(dn_log_sink *to, void *context) {
    sink = to ? to : print_line;
    sink_context = context;
}

/* relaxed: who reads it late says a line too many, or one too few. */
void dn_log_threshold(dn_log_level least) {
    atomic_store_explicit(&threshold, (int)least, memory_order_relaxed);
}

bool dn_log_wanted(dn_log_level level) {
    return (int)level >= atomic_load_explicit(&threshold, memory_order_relaxed);
}

void dn_log(dn_log_level level, const char *event, const char *format, ...) {
    char    text[TEXT_MAX + 1];
    va_list args;

    if (!dn_log_wanted(level)) return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < ' ') *c = ' '; /* one line, whatever went into it */
    sink(sink_context, level, event, text);
}
