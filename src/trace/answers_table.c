/* answers_table.c - rows in one array of bytes, and an index of them by id and attempt. Nothing is taken out.
 * Bytes and not structs: an id of eight bytes makes a row of 18, and there may be millions. Rows begin at multiples of 8, so
 * that the index reaches 32 GB of them.
 *
 *     id_len 1 | how 1 | attempt 4 | duration_ms 4 | stopped_ms 8, if it was recorded | before 8, if it is not alone | id
 *
 * How: result | 8 if it is not alone | class << 4 | 128 if it was recorded. */
#include "answers_table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/pages.h"

enum { ROW_STEP = 8 };
enum { FIXED = 10, RECORDED = 8, BEFORE = 8 };
enum { HOW_RESULT = 0x7, HAS_BEFORE = 0x8, HOW_CLASS = 0x7, IS_RECORDED = 0x80 };

static_assert(ANSWERS_ROW_MAX == FIXED + RECORDED + BEFORE + DN_ID_MAX, "the longest row");

static uint64_t       key_of(uint64_t hash, uint32_t attempt);
static dn_index_cell *cell_of(const answers_table *t, uint64_t key, const char *id, size_t id_len,
                              uint32_t attempt);
static bool           fits_in_place(const answers_row *there, const answers_row *row);
static int            rows_grow(answers_table *t);

/* ---- Rows ---- */

static bool is_recorded(const answers_row *row) { return row->a.stopped_ms != ANSWER_NOT_RECORDED; }

size_t answers_row_write(const answers_row *row, char out[ANSWERS_ROW_MAX]) {
    const bool recorded = is_recorded(row);
    size_t     len = FIXED;

    assert(row->id_len > 0 && row->id_len <= DN_ID_MAX);
    assert(row->a.result >= ANSWER_OK && row->a.result <= ANSWER_CRASH);
    assert(row->a.cls == DN_CLASS_NONE || row->a.result == ANSWER_ERROR);
    out[0] = (char)row->id_len;
    out[1] = (char)((unsigned)row->a.result | (row->before ? (unsigned)HAS_BEFORE : 0U) |
                    (unsigned)row->a.cls << 4 | (recorded ? (unsigned)IS_RECORDED : 0U));
    memcpy(out + 2, &row->attempt, 4);
    memcpy(out + 6, &row->a.duration_ms, 4);
    if (recorded) {
        memcpy(out + len, &row->a.stopped_ms, RECORDED);
        len += RECORDED;
    }
    if (row->before) {
        memcpy(out + len, &row->before, BEFORE);
        len += BEFORE;
    }
    memcpy(out + len, row->id, row->id_len);
    return len + row->id_len;
}

size_t answers_row_read(const char *bytes, answers_row *out_row) {
    const uint8_t how = (uint8_t)bytes[1];
    size_t        len = FIXED;

    out_row->id_len = (uint8_t)bytes[0];
    out_row->a.result = (answer_result)(how & HOW_RESULT);
    out_row->a.cls = (dn_error_class)(how >> 4 & HOW_CLASS);
    out_row->a.stopped_ms = ANSWER_NOT_RECORDED;
    memcpy(&out_row->attempt, bytes + 2, 4);
    memcpy(&out_row->a.duration_ms, bytes + 6, 4);
    if (how & IS_RECORDED) {
        memcpy(&out_row->a.stopped_ms, bytes + len, RECORDED);
        len += RECORDED;
    }
    out_row->before = 0;
    if (how & HAS_BEFORE) {
        memcpy(&out_row->before, bytes + len, BEFORE);
        len += BEFORE;
    }
    out_row->id = bytes + len;
    assert(out_row->id_len > 0 && out_row->id_len <= DN_ID_MAX);
    assert(out_row->a.result >= ANSWER_OK && out_row->a.result <= ANSWER_CRASH);
    return len + out_row->id_len;
}

/* ---- The table ---- */

static const char *row_at(const answers_table *t, const dn_index_cell *cell) {
    return t->rows + (size_t)(dn_index_row(cell) - 1) * ROW_STEP;
}

static uint32_t row_number(size_t at) { return (uint32_t)(at / ROW_STEP) + 1; }

static bool is_sound(const answers_table *t) {
    return t->rows_len <= t->rows_cap && t->rows_len % ROW_STEP == 0 &&
           t->of_attempts <= dn_index_len(&t->by_key) &&
           (t->rows_len > 0) == (dn_index_len(&t->by_key) > 0);
}

void answers_table_done(answers_table *t) {
    dn_pages_free(t->rows, t->rows_cap);
    dn_index_done(&t->by_key);
    *t = (answers_table){0};
}

int answers_table_put(answers_table *t, const answers_row *row) {
    const uint64_t key = key_of(answers_table_hash(row->id, row->id_len), row->attempt);
    answers_row    put = *row, there = {0};

    assert(is_sound(t));
    dn_index_cell *cell = cell_of(t, key, row->id, row->id_len, row->attempt);
    if (cell) (void)answers_row_read(row_at(t, cell), &there);
    if (cell && fits_in_place(&there, row)) {
        put.before = there.before;
        (void)answers_row_write(&put, t->rows + (row_at(t, cell) - t->rows));
        return DN_OK;
    }
    if (cell && is_recorded(&there) && is_recorded(row))
        put.before = (uint64_t)(row_at(t, cell) - t->rows) + 1;
    if (rows_grow(t) < 0 || (!cell && dn_index_reserve(&t->by_key, 1) < 0)) return DN_ENOMEM;
    if (cell) {
        dn_index_set(cell, row_number(t->rows_len));
    } else {
        dn_index_add(&t->by_key, key, row_number(t->rows_len));
        t->of_attempts += row->attempt > 0;
    }
    t->rows_len +=
        (answers_row_write(&put, t->rows + t->rows_len) + ROW_STEP - 1) / ROW_STEP * ROW_STEP;
    assert(is_sound(t));
    return DN_OK;
}

/* One that was recorded is longer, and takes the place of none but itself. */
static bool fits_in_place(const answers_row *there, const answers_row *row) {
    return there->a.stopped_ms == row->a.stopped_ms;
}

uint64_t answers_table_hash(const char *id, size_t id_len) {
    /* Who makes a trace to be slow has what he made; in one that a daemon has recorded users may have chosen their ids so,
     * and then it is its replay that takes longer, and nobody's day. */
    const dn_hash_key key = {UINT64_C(0x2545f4914f6cdd1d), UINT64_C(0x9e3779b97f4a7c15)};

    return dn_hash_quick(key, id, id_len);
}

/* A job stops when it has begun. */
static bool stops_sooner(const answer *a, const answer *than, int64_t now_ms) {
    return a->stopped_ms >= now_ms &&
           (than->stopped_ms < now_ms || a->stopped_ms < than->stopped_ms);
}

bool answers_table_find(const answers_table *t, uint64_t hash, const char *id, size_t id_len,
                        uint32_t attempt, int64_t now_ms, answer *out_answer) {
    answers_row row;

    if (attempt > 0 ? t->of_attempts == 0 : dn_index_len(&t->by_key) == t->of_attempts)
        return false;
    const dn_index_cell *cell = cell_of(t, key_of(hash, attempt), id, id_len, attempt);
    if (!cell) return false;
    (void)answers_row_read(row_at(t, cell), &row);
    *out_answer = row.a;
    while (row.before) {
        (void)answers_row_read(t->rows + row.before - 1, &row);
        if (stops_sooner(&row.a, out_answer, now_ms)) *out_answer = row.a;
    }
    return true;
}

static uint64_t key_of(uint64_t hash, uint32_t attempt) {
    return hash + attempt * UINT64_C(0x9e3779b97f4a7c15);
}

/* NULL: it is not there. */
static dn_index_cell *cell_of(const answers_table *t, uint64_t key, const char *id, size_t id_len,
                              uint32_t attempt) {
    dn_index_cell *cell = dn_index_find(&t->by_key, key);

    for (; cell; cell = dn_index_alike(&t->by_key, cell)) {
        answers_row row;

        (void)answers_row_read(row_at(t, cell), &row);
        if (row.attempt == attempt && row.id_len == id_len && memcmp(row.id, id, id_len) == 0)
            break;
    }
    return cell;
}

/* Room for the longest row. */
static int rows_grow(answers_table *t) {
    if (t->rows_len / ROW_STEP + ANSWERS_ROW_MAX > UINT32_MAX) return DN_ENOMEM;
    return DN_ARRAY_RESERVE_PAGES(t->rows, t->rows_cap, t->rows_len + ANSWERS_ROW_MAX + ROW_STEP);
}
