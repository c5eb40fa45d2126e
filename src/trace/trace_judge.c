/* trace_judge.c - what a line says, or what is wrong with it.
 * All that is refused is refused here and before anything runs: what comes out can be done, and sums of what comes
 * out do not overflow. */
#include "trace_judge.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* What a key's value is not, and what it should be. */
typedef struct wanted {
    const char *wrong, *right;
} wanted;
#define DURATION                                                                                   \
    { "not a duration", "a whole number of milliseconds, 0 or more" }
#define DAY                                                                                        \
    { "not a day", "YYYY-MM-DD" }
#define ID_RULES      "1 to 128 bytes of UTF-8, no control characters and no spaces at the ends"
#define INSTANT_RIGHT "RFC 3339 in UTC, for example 2026-03-01T08:00:00Z"
static const wanted wants[TRACE_KEYS] = {
    [TRACE_KEY_AT] = {"not an instant", INSTANT_RIGHT},
    [TRACE_KEY_OP] = {"not an op", "user, users, remove, outcome, crash, clock or store_fails"},
    [TRACE_KEY_ID] = {"not an id", ID_RULES},
    [TRACE_KEY_DUE] = {"not a time of day", "HH:MM, for example 08:00"},
    [TRACE_KEY_STARTS_ON] = DAY,
    [TRACE_KEY_COUNT] = {"not a count", "a whole number from 0 to 100000000"},
    [TRACE_KEY_PREFIX] = {"not a prefix", "the beginning of the ids, for example \"u\""},
    [TRACE_KEY_DAY] = DAY,
    [TRACE_KEY_ATTEMPT] = {"not an attempt", "a whole number, 1 for the first"},
    [TRACE_KEY_RESULT] = {"not a result", "ok, error, timeout, hang or crash"},
    [TRACE_KEY_ERROR_CLASS] = {"not an error class", "req, llm, parse or unknown"},
    [TRACE_KEY_DURATION_MS] = DURATION,
    [TRACE_KEY_STOPPED_MS] = {"not a time", "whole milliseconds since the header's start"},
    [TRACE_KEY_DOWN_MS] = DURATION,
    [TRACE_KEY_STEP_MS] = {"not a step", "a whole number of milliseconds, for example -3600000"},
    [TRACE_KEY_FOR_MS] = DURATION,
    [TRACE_KEY_LAST_DATE] = DAY,
    [TRACE_KEY_STATUS] = {"not a status", "success or cutoff_reached"},
    [TRACE_KEY_CONTEXT_EPOCH] = {"not an epoch", "a whole number, 0 or more"},
};
static_assert(TRACE_COUNT_MAX == 100000000, "the sentence names it");

/* Longer than all years that can be written: what lasts longer never ends in any run, and is cut to this. */
#define MS_MAX (INT64_C(10000) * 366 * DN_DAY_MS)

static int outcome(trace_judge *j, const trace_line *line, char *fault);
static int user(trace_judge *j, const trace_line *line, trace_op *op, char *fault);
static int users(trace_judge *j, const trace_line *line, trace_op *op, char *fault);
static int removal(trace_judge *j, const trace_line *line, trace_op *op, char *fault);
static int crash(trace_judge *j, const trace_line *line, trace_op *op, char *fault);
static int clock_step(trace_judge *j, const trace_line *line, trace_op *op, char *fault);
static int store_fails(trace_judge *j, const trace_line *line, trace_op *op, char *fault);

/* In the order they are tried; of a long trace nearly all are outcomes. */
typedef struct op_named {
    const char   *name;
    trace_op_kind kind;
    int (*judge)(trace_judge *j, const trace_line *line, trace_op *op, char *fault);
} op_named;
static const op_named ops[] = {
    {"outcome", 0, NULL},
    {"user", TRACE_USER, user},
    {"users", TRACE_USERS, users},
    {"remove", TRACE_REMOVE, removal},
    {"crash", TRACE_CRASH, crash},
    {"clock", TRACE_CLOCK, clock_step},
    {"store_fails", TRACE_STORE_FAILS, store_fails},
};
enum { OPS = sizeof ops / sizeof ops[0] };

static int  op_find(const trace_value *value, const op_named **out_op, char *fault);
static int  at_read(trace_judge *j, const trace_line *line, int64_t *out_ms, char *fault);
static int  durable_read(const trace_judge *j, const trace_line *line, trace_op *op, char *fault);
static int  id_read(const trace_line *line, const char **out_id, size_t *out_len, char *fault);
static int  prefix_read(const trace_line *line, trace_op *op, char *fault);
static int  due_read(const trace_line *line, bool may_spread, uint32_t *out_due, char *fault);
static int  day_read(const trace_line *line, trace_key key, dn_day *out_day, char *fault);
static int  number_read(const trace_line *line, trace_key key, int64_t least, int64_t most,
                        int64_t *out_number, char *fault);
static int  duration_read(const trace_line *line, trace_key key, int64_t *out_ms, char *fault);
static bool is_word(const trace_value *value, const char *word);
static int  refuse(trace_key key, const trace_value *value, char *fault);

int trace_judge_line(trace_judge *judge, const trace_line *line, trace_op *out_op,
                     char fault[TRACE_FAULT]) {
    const op_named *named = NULL;
    trace_op        op = {.line = judge->line,
                          .starts_on = DN_DAY_NONE,
                          .last_date = DN_DAY_NONE,
                          .last_run_ms = INT64_MIN};
    int             rc = op_find(&line->values[TRACE_KEY_OP], &named, fault);

    if (rc < 0) return rc;
    if (!named->judge) {
        rc = outcome(judge, line, fault);
        return rc == DN_OK ? DN_STOP : rc;
    }
    op.kind = named->kind;
    rc = at_read(judge, line, &op.at_ms, fault);
    if (rc == DN_OK) rc = named->judge(judge, line, &op, fault);
    if (rc < 0) return rc;
    judge->last_ms = op.at_ms;
    judge->last_ms_line = judge->line;
    *out_op = op;
    return DN_OK;
}

/* ---- The ops ---- */

/* As the daemon writes it, by the milliseconds since `start`; as a person may, by an instant. */
static int stopped_read(const trace_judge *j, const trace_line *line, int64_t *out_ms,
                        char *fault) {
    const trace_value *const at = &line->values[TRACE_KEY_STOPPED];
    int64_t                  since_ms = 0;

    if (at->kind != TRACE_VALUE_NONE) return trace_judge_instant("stopped", at, out_ms, fault);
    if (line->values[TRACE_KEY_STOPPED_MS].kind == TRACE_VALUE_NONE) return DN_OK;
    const int rc = number_read(line, TRACE_KEY_STOPPED_MS, -MS_MAX, MS_MAX, &since_ms, fault);
    if (rc == DN_OK) *out_ms = j->settings->start_ms + since_ms;
    return rc;
}

static int outcome(trace_judge *j, const trace_line *line, char *fault) {
    const char *id = NULL;
    size_t      id_len = 0;
    dn_day      day = DN_DAY_NONE;
    int64_t     attempt = 0;
    answer      a = {0};
    int         rc = id_read(line, &id, &id_len, fault);

    if (rc == DN_OK && line->values[TRACE_KEY_DAY].kind != TRACE_VALUE_NONE)
        rc = day_read(line, TRACE_KEY_DAY, &day, fault);
    if (rc == DN_OK && line->values[TRACE_KEY_ATTEMPT].kind != TRACE_VALUE_NONE)
        rc = number_read(line, TRACE_KEY_ATTEMPT, 1, UINT32_MAX, &attempt, fault);
    if (rc == DN_OK) rc = trace_judge_answer(line, j->settings->otherwise.duration_ms, &a, fault);
    if (rc == DN_OK) rc = stopped_read(j, line, &a.stopped_ms, fault);
    if (rc < 0) return rc;
    return answers_put(j->book, id, id_len, day, (uint32_t)attempt, a);
}

int trace_judge_answer(const trace_line *line, uint32_t otherwise_ms, answer *out_answer,
                       char fault[TRACE_FAULT]) {
    static const char *const results[] = {
        [ANSWER_OK] = "ok",     [ANSWER_ERROR] = "error", [ANSWER_TIMEOUT] = "timeout",
        [ANSWER_HANG] = "hang", [ANSWER_CRASH] = "crash",
    };
    const trace_value *const result = &line->values[TRACE_KEY_RESULT];
    const trace_value *const cls = &line->values[TRACE_KEY_ERROR_CLASS];
    answer                   a = {.duration_ms = otherwise_ms, .stopped_ms = ANSWER_NOT_RECORDED};
    int64_t                  duration_ms = otherwise_ms;
    int                      rc = DN_OK;

    for (int i = ANSWER_OK; i <= (int)ANSWER_CRASH && !a.result; i++)
        if (is_word(result, results[i])) a.result = (answer_result)i;
    if (!a.result) return refuse(TRACE_KEY_RESULT, result, fault);
    if (a.result == ANSWER_ERROR && cls->kind == TRACE_VALUE_NONE) a.cls = DN_CLASS_UNKNOWN;
    if (a.result == ANSWER_ERROR && cls->kind == TRACE_VALUE_TEXT)
        a.cls = dn_error_class_read(cls->text, cls->len);
    if (a.result == ANSWER_ERROR && a.cls == DN_CLASS_NONE)
        return refuse(TRACE_KEY_ERROR_CLASS, cls, fault);
    if (line->values[TRACE_KEY_DURATION_MS].kind != TRACE_VALUE_NONE)
        rc = duration_read(line, TRACE_KEY_DURATION_MS, &duration_ms, fault);
    if (rc < 0) return rc;
    a.duration_ms = duration_ms < (int64_t)ANSWER_MS_MAX ? (uint32_t)duration_ms : ANSWER_MS_MAX;
    *out_answer = a;
    return DN_OK;
}

static int user(trace_judge *j, const trace_line *line, trace_op *op, char *fault) {
    int rc = id_read(line, &op->id, &op->id_len, fault);

    if (rc == DN_OK) rc = due_read(line, /* may_spread= */ false, &op->due, fault);
    if (rc == DN_OK && line->values[TRACE_KEY_STARTS_ON].kind != TRACE_VALUE_NONE)
        rc = day_read(line, TRACE_KEY_STARTS_ON, &op->starts_on, fault);
    return rc == DN_OK ? durable_read(j, line, op, fault) : rc;
}

/* What a user has been, where the line has it (`context_epoch` is the key that says so) and it is of the beginning: later
 * on the run alone makes users what they are. */
static int durable_read(const trace_judge *j, const trace_line *line, trace_op *op, char *fault) {
    const trace_value *const status = &line->values[TRACE_KEY_STATUS];
    const trace_value *const ran = &line->values[TRACE_KEY_LAST_RUN_AT];
    const bool               has_date = line->values[TRACE_KEY_LAST_DATE].kind != TRACE_VALUE_NONE;
    int64_t                  epoch = 0;
    int                      rc = DN_OK;

    if (line->values[TRACE_KEY_CONTEXT_EPOCH].kind == TRACE_VALUE_NONE ||
        op->at_ms != j->settings->start_ms || op->starts_on == DN_DAY_NONE)
        return DN_OK;
    rc = number_read(line, TRACE_KEY_CONTEXT_EPOCH, 0, UINT32_MAX, &epoch, fault);
    if (rc == DN_OK && has_date) rc = day_read(line, TRACE_KEY_LAST_DATE, &op->last_date, fault);
    if (rc == DN_OK && ran->kind != TRACE_VALUE_NONE)
        rc = trace_judge_instant("last_run_at", ran, &op->last_run_ms, fault);
    if (rc < 0) return rc;
    if (has_date) {
        op->status = is_word(status, "success")          ? DN_DAILY_SUCCESS
                     : is_word(status, "cutoff_reached") ? DN_DAILY_CUTOFF
                                                         : DN_DAILY_NONE;
        if (op->status == DN_DAILY_NONE) return refuse(TRACE_KEY_STATUS, status, fault);
    }
    op->context_epoch = (uint32_t)epoch;
    op->is_durable = true;
    return DN_OK;
}

static int users(trace_judge *j, const trace_line *line, trace_op *op, char *fault) {
    int64_t count = 0;
    int     rc = number_read(line, TRACE_KEY_COUNT, 0, TRACE_COUNT_MAX, &count, fault);

    (void)j;
    op->count = (uint32_t)count;
    if (rc == DN_OK) rc = prefix_read(line, op, fault);
    if (rc == DN_OK) rc = due_read(line, /* may_spread= */ true, &op->due, fault);
    if (rc == DN_OK && line->values[TRACE_KEY_STARTS_ON].kind != TRACE_VALUE_NONE)
        rc = day_read(line, TRACE_KEY_STARTS_ON, &op->starts_on, fault);
    return rc;
}

static int removal(trace_judge *j, const trace_line *line, trace_op *op, char *fault) {
    (void)j;
    return id_read(line, &op->id, &op->id_len, fault);
}

static int crash(trace_judge *j, const trace_line *line, trace_op *op, char *fault) {
    (void)j;
    return duration_read(line, TRACE_KEY_DOWN_MS, &op->ms, fault);
}

/* The wall clock is the steady line plus the steps so far, and stays in the years there are: also if no step comes any
 * more. */
static int clock_step(trace_judge *j, const trace_line *line, trace_op *op, char *fault) {
    int64_t step_ms = 0;
    int     rc = number_read(line, TRACE_KEY_STEP_MS, INT64_MIN, INT64_MAX, &op->ms, fault);

    if (rc < 0) return rc;
    if (__builtin_add_overflow(j->step_ms, op->ms, &step_ms) ||
        step_ms < TRACE_FIRST_MS - op->at_ms || step_ms > TRACE_BEHIND_MS - j->settings->end_ms)
        return dn_refuse(
            DN_EINVAL, fault, TRACE_FAULT,
            "step_ms: %lld is out of range; the clock must stay within the years 1970 to 2261",
            (long long)op->ms);
    j->step_ms = step_ms;
    return DN_OK;
}

static int store_fails(trace_judge *j, const trace_line *line, trace_op *op, char *fault) {
    (void)j;
    return duration_read(line, TRACE_KEY_FOR_MS, &op->ms, fault);
}

static int op_find(const trace_value *value, const op_named **out_op, char *fault) {
    const char *names[OPS], *nearest;
    char        shown[TRACE_SHOWN];

    for (size_t i = 0; i < OPS; i++) {
        names[i] = ops[i].name;
        if (!is_word(value, ops[i].name)) continue;
        *out_op = &ops[i];
        return DN_OK;
    }
    nearest = value->kind == TRACE_VALUE_TEXT ? dn_text_nearest(value->text, value->len, names, OPS)
                                              : NULL;
    if (!nearest) return refuse(TRACE_KEY_OP, value, fault);
    return dn_refuse(DN_EINVAL, fault, TRACE_FAULT, "op: unknown op %s; did you mean %s?",
                     trace_value_show(value, shown), nearest);
}

/* ---- Values ---- */

static int at_read(trace_judge *j, const trace_line *line, int64_t *out_ms, char *fault) {
    const trace_value *const value = &line->values[TRACE_KEY_AT];
    char                     shown[TRACE_SHOWN], other[DN_INSTANT_TEXT];
    int64_t                  ms = 0;
    int                      rc = trace_judge_instant("at", value, &ms, fault);

    if (rc < 0) return rc;
    if (ms < j->settings->start_ms) {
        dn_instant_write(j->settings->start_ms, other);
        return dn_refuse(DN_EINVAL, fault, TRACE_FAULT,
                         "at: %s is before the header's start; use %s or later",
                         trace_value_show(value, shown), other);
    }
    if (j->last_ms_line > 0 && ms < j->last_ms) {
        dn_instant_write(j->last_ms, other);
        return dn_refuse(
            DN_EINVAL, fault, TRACE_FAULT, "at: %s is before line %llu; use %s or later",
            trace_value_show(value, shown), (unsigned long long)j->last_ms_line, other);
    }
    *out_ms = ms;
    return DN_OK;
}

int trace_judge_instant(const char *name, const trace_value *value, int64_t *out_ms,
                        char fault[TRACE_FAULT]) {
    char shown[TRACE_SHOWN];

    if (value->kind == TRACE_VALUE_NONE)
        return dn_refuse(DN_EINVAL, fault, TRACE_FAULT, "%s is missing; use " INSTANT_RIGHT, name);
    if (value->kind != TRACE_VALUE_TEXT || dn_instant_read(value->text, value->len, out_ms) < 0)
        return dn_refuse(DN_EINVAL, fault, TRACE_FAULT,
                         "%s: %s is not an instant; use " INSTANT_RIGHT, name,
                         trace_value_show(value, shown));
    /* What ends in a digit has an offset; that of UTC is nought. */
    if (value->text[value->len - 1] <= '9' && memcmp(value->text + value->len - 5, "00:00", 5) != 0)
        return dn_refuse(DN_EINVAL, fault, TRACE_FAULT, "%s: %s is not in UTC; use " INSTANT_RIGHT,
                         name, trace_value_show(value, shown));
    return DN_OK;
}

static int id_read(const trace_line *line, const char **out_id, size_t *out_len, char *fault) {
    const trace_value *const value = &line->values[TRACE_KEY_ID];
    const char              *sentence;
    char                     shown[TRACE_SHOWN];

    if (value->kind != TRACE_VALUE_TEXT) return refuse(TRACE_KEY_ID, value, fault);
    sentence = dn_id_fault(value->text, value->len);
    if (sentence)
        return dn_refuse(DN_EINVAL, fault, TRACE_FAULT, "id: %s %s; use " ID_RULES,
                         trace_value_show(value, shown), sentence);
    *out_id = value->text;
    *out_len = value->len;
    return DN_OK;
}

/* The longest id of the line is that of its last user; if that is one, all are. */
static int prefix_read(const trace_line *line, trace_op *op, char *fault) {
    const trace_value *const value = &line->values[TRACE_KEY_PREFIX];
    const char              *sentence;
    char                     id[DN_ID_MAX + 16], shown[TRACE_SHOWN];
    size_t                   len;

    if (value->kind != TRACE_VALUE_TEXT) return refuse(TRACE_KEY_PREFIX, value, fault);
    len = value->len < DN_ID_MAX + 1 ? value->len : DN_ID_MAX + 1;
    memcpy(id, value->text, len);
    len += (size_t)snprintf(id + len, sizeof id - len, "%u", op->count > 0 ? op->count - 1 : 0);
    sentence = dn_id_fault(id, len);
    if (sentence)
        return dn_refuse(
            DN_EINVAL, fault, TRACE_FAULT, "prefix: %s: the id of user %u %s; use " ID_RULES,
            trace_value_show(value, shown), op->count > 0 ? op->count - 1 : 0, sentence);
    op->id = value->text;
    op->id_len = value->len;
    return DN_OK;
}

static int due_read(const trace_line *line, bool may_spread, uint32_t *out_due, char *fault) {
    const trace_value *const value = &line->values[TRACE_KEY_DUE];

    if (may_spread && is_word(value, "spread")) {
        *out_due = TRACE_DUE_SPREAD;
        return DN_OK;
    }
    if (value->kind == TRACE_VALUE_TEXT && dn_due_read(value->text, value->len, out_due) == DN_OK)
        return DN_OK;
    (void)refuse(TRACE_KEY_DUE, value, fault);
    if (may_spread) {
        const size_t used = strlen(fault);

        (void)snprintf(fault + used, TRACE_FAULT - used, ", or spread");
    }
    return DN_EINVAL;
}

static int day_read(const trace_line *line, trace_key key, dn_day *out_day, char *fault) {
    const trace_value *const value = &line->values[key];

    if (value->kind == TRACE_VALUE_TEXT && dn_day_read(value->text, value->len, out_day) == DN_OK)
        return DN_OK;
    return refuse(key, value, fault);
}

static int number_read(const trace_line *line, trace_key key, int64_t least, int64_t most,
                       int64_t *out_number, char *fault) {
    const trace_value *const value = &line->values[key];

    if (value->kind != TRACE_VALUE_NUMBER || value->number < least || value->number > most)
        return refuse(key, value, fault);
    *out_number = value->number;
    return DN_OK;
}

static int duration_read(const trace_line *line, trace_key key, int64_t *out_ms, char *fault) {
    const int rc = number_read(line, key, 0, INT64_MAX, out_ms, fault);

    if (rc == DN_OK && *out_ms > MS_MAX) *out_ms = MS_MAX;
    return rc;
}

static bool is_word(const trace_value *value, const char *word) {
    return value->kind == TRACE_VALUE_TEXT && value->len == strlen(word) &&
           memcmp(value->text, word, value->len) == 0;
}

static int refuse(trace_key key, const trace_value *value, char *fault) {
    char shown[TRACE_SHOWN];

    if (value->kind == TRACE_VALUE_NONE)
        return dn_refuse(DN_EINVAL, fault, TRACE_FAULT, "%s is missing; use %s",
                         trace_key_names[key], wants[key].right);
    return dn_refuse(DN_EINVAL, fault, TRACE_FAULT, "%s: %s is %s; use %s", trace_key_names[key],
                     trace_value_show(value, shown), wants[key].wrong, wants[key].right);
}
