/* compare_log.c - see compare_log.h.
 * The lines are read as events_out.c writes them, key by key: a run may have a hundred million, and a reader of any
 * JSON takes ten times as long. What is written otherwise is refused, with its line. */
#include "compare_log.h"

#include "base/text.h"
#include "compare_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DAY_LEN = DN_DAY_TEXT - 1, INSTANT_LEN = DN_INSTANT_TEXT - 1 };

struct compare_log {
    compare_lines  *lines;
    compare_table   waiting; /* who is in the queue, since when; the day is 0 */
    compare_times   jobs, waits;
    int64_t         steps_ms; /* of the clock, all of them so far */
    int64_t         wall_ms, steady_ms;
    dn_day          day;
    char            t_text[INSTANT_LEN], day_text[DAY_LEN];
    compare_day_end head;
    bool            has_head;
};

/* ---- The parts of a line ---- */

typedef struct reading {
    const char *at, *end;
} reading;

static bool words(reading *r, const char *words, size_t len) {
    if ((size_t)(r->end - r->at) < len || memcmp(r->at, words, len) != 0) return false;
    r->at += len;
    return true;
}
#define WORDS(r, literal) words(r, literal, sizeof(literal) - 1)

static bool text_of(reading *r, size_t len, const char **out) {
    if ((size_t)(r->end - r->at) < len) return false;
    *out = r->at;
    r->at += len;
    return true;
}

/* Up to the quote that ends it, which is passed over. */
static bool string_of(reading *r, const char **out, size_t *out_len) {
    const char *const begin = r->at;

    while (r->at < r->end && *r->at != '"') r->at += *r->at == '\\' && r->end - r->at > 1 ? 2 : 1;
    if (r->at >= r->end) return false;
    *out = begin;
    *out_len = (size_t)(r->at++ - begin);
    return true;
}

static bool number_of(reading *r, int64_t *out) {
    const bool minus = r->at < r->end && *r->at == '-';
    int64_t    value = 0;

    r->at += minus;
    const char *const begin = r->at;
    for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, *r->at - '0', &value))
            return false;
    *out = minus ? -value : value;
    return r->at > begin;
}

/* Many lines share their instant, and nearly all their day. */
static bool instant_of(compare_log *log, reading *r) {
    const char *text;

    if (!text_of(r, INSTANT_LEN, &text)) return false;
    if (memcmp(text, log->t_text, INSTANT_LEN) == 0) return true;
    if (dn_instant_read(text, INSTANT_LEN, &log->wall_ms) < 0) return false;
    memcpy(log->t_text, text, INSTANT_LEN);
    return true;
}

static bool day_of(compare_log *log, reading *r) {
    const char *text;

    if (!text_of(r, DAY_LEN, &text)) return false;
    if (memcmp(text, log->day_text, DAY_LEN) == 0) return true;
    if (dn_day_read(text, DAY_LEN, &log->day) < 0) return false;
    memcpy(log->day_text, text, DAY_LEN);
    return true;
}

/* ---- What a line does ---- */

/* Behind the attempt and its result, which are not asked for. */
static bool stopped(compare_log *log, reading *r) {
    static const char key[] = ",\"duration_ms\":";
    int64_t           ms;

    while (r->at < r->end && !words(r, key, sizeof key - 1)) r->at++;
    if (!number_of(r, &ms) || ms < 0) return false;
    compare_times_put(&log->jobs, (uint64_t)ms);
    return true;
}

static int enqueued(compare_log *log, const char *id, size_t id_len) {
    compare_entry *e = compare_table_need(&log->waiting, 0, id, id_len);

    if (!e) return DN_ENOMEM;
    e->since_ms = log->steady_ms;
    return DN_OK;
}

static void leaves_queue(compare_log *log, const char *id, size_t id_len, bool starts) {
    compare_entry *e = compare_table_find(&log->waiting, 0, id, id_len);

    if (!e) return;
    const int64_t waited_ms = log->steady_ms - e->since_ms;
    if (starts && waited_ms >= 0) compare_times_put(&log->waits, (uint64_t)waited_ms);
    compare_table_remove(&log->waiting, e);
}

static bool ended(compare_log *log, const char *id, size_t id_len, compare_outcome outcome) {
    log->head = (compare_day_end){log->day, id, id_len, outcome};
    log->has_head = true;
    return true;
}

/* DN_EINVAL: it is not as it is written. */
static int of_user(compare_log *log, const char *ev, size_t ev_len, reading *r) {
    const char *id = NULL;
    size_t      id_len = 0;
    bool        well = true;

#define IS(literal) (ev_len == sizeof(literal) - 1 && memcmp(ev, literal, sizeof(literal) - 1) == 0)
    if (!WORDS(r, ",\"user\":\"") || !string_of(r, &id, &id_len) || id_len > COMPARE_ID_MAX ||
        !WORDS(r, ",\"day\":\"") || !day_of(log, r) || !WORDS(r, "\""))
        return DN_EINVAL;
    if (IS("enqueue")) return enqueued(log, id, id_len);
    if (IS("start")) leaves_queue(log, id, id_len, /* starts= */ true);
    else if (IS("expired")) leaves_queue(log, id, id_len, /* starts= */ false);
    else if (IS("stop")) well = stopped(log, r);
    else if (IS("missed")) well = ended(log, id, id_len, COMPARE_MISSED);
    else if (IS("finalize") && WORDS(r, ",\"status\":\"success\""))
        well = ended(log, id, id_len, COMPARE_SUCCESS);
    else if (IS("finalize") && WORDS(r, ",\"status\":\"cutoff_reached\""))
        well = ended(log, id, id_len, COMPARE_CUTOFF);
    else if (IS("finalize")) well = false;
    return well ? DN_OK : DN_EINVAL;
}

static int of_world(compare_log *log, const char *ev, size_t ev_len, reading *r) {
    int64_t step_ms;

    if (IS("crash")) compare_table_clear(&log->waiting);
    if (!IS("clock")) return DN_OK;
    if (!WORDS(r, ",\"step_ms\":") || !number_of(r, &step_ms)) return DN_EINVAL;
    log->steps_ms += step_ms;
    return DN_OK;
}

static int take(compare_log *log, const char *text, size_t len) {
    static const char *const worlds[] = {"tick", "crash", "restart", "clock", "store_fails", "slo"};
    reading                  r = {text, text + len};
    const char              *ev;
    size_t                   ev_len;

    if (!WORDS(&r, "{\"t\":\"") || !instant_of(log, &r) || !WORDS(&r, "\",\"ev\":\"") ||
        !string_of(&r, &ev, &ev_len) || text[len - 1] != '}')
        return DN_EINVAL;
    log->steady_ms = log->wall_ms - log->steps_ms;
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++)
        if (strlen(worlds[i]) == ev_len && memcmp(worlds[i], ev, ev_len) == 0)
            return of_world(log, ev, ev_len, &r);
#undef IS
    return of_user(log, ev, ev_len, &r);
}

/* ---- All of it ---- */

int compare_log_next(compare_log *log, char why[COMPARE_WHY]) {
    const char *text;
    size_t      len;
    int         rc = DN_OK;

    log->has_head = false;
    while (rc == DN_OK && !log->has_head) {
        rc = compare_lines_next(log->lines, &text, &len, why);
        if (rc != DN_OK) break;
        rc = take(log, text, len);
        if (rc == DN_EINVAL)
            (void)compare_lines_fault(log->lines, "no line that a replay writes", why);
        if (rc == DN_ENOMEM) (void)compare_lines_fault(log->lines, "out of memory", why);
    }
    return rc == DN_STOP ? DN_OK : rc;
}

int compare_log_open(const char *dir, compare_log **out_log, char why[COMPARE_WHY]) {
    compare_log *log = calloc(1, sizeof *log);

    if (!log) return dn_refuse(DN_ENOMEM, why, COMPARE_WHY, "out of memory");
    int rc = compare_lines_open(dir, "events.ndjson", &log->lines, why);
    if (rc == DN_OK) rc = compare_log_next(log, why);
    if (rc == DN_OK) *out_log = log;
    else compare_log_free(log);
    return rc;
}

void compare_log_free(compare_log *log) {
    if (!log) return;
    compare_table_clear(&log->waiting);
    compare_lines_free(log->lines);
    free(log);
}

const compare_day_end *compare_log_head(const compare_log *log, int64_t *out_steady_ms) {
    *out_steady_ms = log->steady_ms;
    return log->has_head ? &log->head : NULL;
}

const compare_times *compare_log_jobs(const compare_log *log) { return &log->jobs; }
const compare_times *compare_log_waits(const compare_log *log) { return &log->waits; }
