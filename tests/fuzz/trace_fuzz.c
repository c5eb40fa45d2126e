/* trace_fuzz.c - a trace of any bytes is read or refused in one printable line; what is read is within its bounds and
 * in order, and the scanner reads a line as jansson does. */
#define _GNU_SOURCE /* memfd_create */
#include "trace/trace.h"
#include "trace_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MUST(cond)                                                                                 \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond);                             \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void line_read(const char *text, size_t len) {
    char       fault[TRACE_FAULT];
    trace_line fast, slow;

    if (!trace_line_scan(text, len, &fast)) return;
    MUST(trace_line_parse(text, len, /* ended= */ true, &slow, fault) == DN_OK);
    for (size_t i = 0; i < TRACE_KEYS; i++) {
        const trace_value *const a = &fast.values[i], *const b = &slow.values[i];

        MUST(a->kind == b->kind);
        MUST(a->number == b->number);
        MUST(a->len == b->len);
        MUST(a->len == 0 || memcmp(a->text, b->text, a->len) == 0);
    }
    trace_line_done(&slow);
}

static void op_check(const trace *t, const trace_op *op, int64_t last_ms) {
    char   id[DN_ID_MAX + 16];
    size_t len = op->id_len;

    MUST(op->at_ms >= last_ms);
    MUST(op->at_ms < trace_settings_borrow(t)->end_ms);
    MUST(op->kind >= TRACE_USER && op->kind <= TRACE_STORE_FAILS);
    MUST(op->due < DN_DAY_MINUTES || (op->kind == TRACE_USERS && op->due == TRACE_DUE_SPREAD));
    MUST(op->ms >= 0 || op->kind == TRACE_CLOCK);
    MUST(op->count <= TRACE_COUNT_MAX);
    if (op->kind > TRACE_REMOVE) return;
    memcpy(id, op->id, len);
    if (op->kind == TRACE_USERS)
        len += (size_t)snprintf(id + len, sizeof id - len, "%u", op->count > 0 ? op->count - 1 : 0);
    MUST(!dn_id_fault(id, len));
}

static void trace_walk(trace *t) {
    const trace_settings *s = trace_settings_borrow(t);
    int64_t               last_ms = s->start_ms;
    trace_op              op;
    int                   rc;

    MUST(s->start_ms < s->end_ms);
    MUST(s->tick_ms >= 10 && s->tick_ms <= 60000);
    MUST(s->job_timeout_ms <= s->window_minutes * DN_MINUTE_MS);
    while ((rc = trace_next(t, &op)) == DN_OK) {
        answer a;

        op_check(t, &op, last_ms);
        last_ms = op.at_ms;
        if (op.id_len == 0) continue;
        MUST(answers_find(trace_answers_borrow(t), op.id, op.id_len, dn_day_of_ms(op.at_ms), 1,
                          op.at_ms, &a) == DN_OK);
        MUST(a.result >= ANSWER_OK && a.result <= ANSWER_CRASH);
        MUST((a.cls != DN_CLASS_NONE) == (a.result == ANSWER_ERROR));
    }
    MUST(rc == DN_STOP);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *const text = (const char *)data;
    char              path[64], why[TRACE_WHY] = "";
    const int         fd = memfd_create("trace", 0);
    trace            *t = NULL;
    int               rc;

    for (size_t at = 0; at < size;) {
        const char *const end = memchr(text + at, '\n', size - at);
        const size_t      len = end ? (size_t)(end - text) - at : size - at;

        line_read(text + at, len);
        at += len + 1;
    }
    MUST(fd >= 0);
    MUST(write(fd, data, size) == (ssize_t)size);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    rc = trace_open(path, &t, why);
    (void)close(fd);
    if (rc == DN_OK) {
        trace_walk(t);
        trace_free(t);
        return 0;
    }
    MUST(rc == DN_EINVAL);
    MUST(strncmp(why, path, strlen(path)) == 0 && why[strlen(path)] == ':');
    MUST(strlen(why) < TRACE_WHY - 1);
    for (const char *c = why; *c != '\0'; c++) MUST((uint8_t)*c >= 0x20 && *c != 0x7f);
    return 0;
}
