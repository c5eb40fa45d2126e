/* answers.c - the book of outcomes.
 * A run asks for the days it is in: today, tomorrow where a window crosses midnight, and the one before while clocks
 * step back. So few days held are enough, and one is read once, not once a question. */
#include "answers.h"

#include <assert.h>
#include <stdlib.h>

#include "answers_days.h"
#include "answers_table.h"

typedef struct held {
    dn_day        day; /* DN_DAY_NONE: nothing is held here */
    uint64_t      asked;
    answers_table table;
} held;

struct answers {
    answer        otherwise;
    bool          sealed;
    answers_table any_day;
    answers_days *days; /* NULL: no line has one */
    uint64_t      asked;
    held         *newest; /* asked for last */
    held          held[ANSWERS_DAYS_HELD];
};

static int day_hold(answers *book, dn_day day, held **out_held);

int answers_new(answer otherwise, answers **out_book) {
    answers *const book = calloc(1, sizeof *book);

    if (!book) return DN_ENOMEM;
    book->otherwise = otherwise;
    for (size_t i = 0; i < ANSWERS_DAYS_HELD; i++) book->held[i].day = DN_DAY_NONE;
    book->newest = &book->held[0];
    *out_book = book;
    return DN_OK;
}

void answers_free(answers *book) {
    if (!book) return;
    for (size_t i = 0; i < ANSWERS_DAYS_HELD; i++) answers_table_done(&book->held[i].table);
    answers_table_done(&book->any_day);
    answers_days_free(book->days);
    free(book);
}

int answers_put(answers *book, const char *id, size_t id_len, dn_day day, uint32_t attempt,
                answer a) {
    const answers_row row = {.id = id, .id_len = (uint8_t)id_len, .attempt = attempt, .a = a};

    assert(!book->sealed);
    assert(id_len <= DN_ID_MAX);
    if (day == DN_DAY_NONE) return answers_table_put(&book->any_day, &row);
    if (!book->days) {
        const int rc = answers_days_new(&book->days);

        if (rc < 0) return rc;
    }
    return answers_days_put(book->days, day, &row);
}

int answers_seal(answers *book) {
    assert(!book->sealed);
    book->sealed = true;
    return book->days ? answers_days_seal(book->days) : DN_OK;
}

int answers_find(answers *book, const char *id, size_t id_len, dn_day day, uint32_t attempt,
                 int64_t now_ms, answer *out_answer) {
    held    *of_day = NULL;
    uint64_t hash;

    assert(book->sealed);
    assert(day != DN_DAY_NONE);
    assert(attempt > 0);
    if (book->days) {
        const int rc = day_hold(book, day, &of_day);

        if (rc < 0) return rc;
    }
    if (!of_day && dn_index_len(&book->any_day.by_key) == 0) {
        *out_answer = book->otherwise;
        return DN_OK;
    }
    hash = answers_table_hash(id, id_len);
    if (of_day && answers_table_find(&of_day->table, hash, id, id_len, attempt, now_ms, out_answer))
        return DN_OK;
    if (of_day && answers_table_find(&of_day->table, hash, id, id_len, 0, now_ms, out_answer))
        return DN_OK;
    if (answers_table_find(&book->any_day, hash, id, id_len, attempt, now_ms, out_answer))
        return DN_OK;
    if (answers_table_find(&book->any_day, hash, id, id_len, 0, now_ms, out_answer)) return DN_OK;
    *out_answer = book->otherwise;
    return DN_OK;
}

/* NULL: nothing is said of that day. */
static int day_hold(answers *book, dn_day day, held **out_held) {
    held *oldest = &book->held[0];
    int   rc;

    *out_held = NULL;
    book->asked++;
    if (book->newest->day != day) {
        held *found = NULL;

        if (!answers_days_has(book->days, day)) return DN_OK;
        for (size_t i = 0; i < ANSWERS_DAYS_HELD && !found; i++) {
            if (book->held[i].day == day) found = &book->held[i];
            if (book->held[i].asked < oldest->asked) oldest = &book->held[i];
        }
        if (!found) {
            answers_table_done(&oldest->table);
            oldest->day = DN_DAY_NONE;
            rc = answers_days_read(book->days, day, &oldest->table);
            if (rc < 0) {
                answers_table_done(&oldest->table);
                return rc;
            }
            oldest->day = day;
            found = oldest;
        }
        book->newest = found;
    }
    book->newest->asked = book->asked;
    *out_held = book->newest;
    return DN_OK;
}
