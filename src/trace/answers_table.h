/* answers_table.h - answers by id and attempt: what a trace says of a day, or of any day. */
#ifndef DIURNAL_TRACE_ANSWERS_TABLE_H
#define DIURNAL_TRACE_ANSWERS_TABLE_H

#include "answers.h"
#include "base/map.h"

/* What is put, and what it looks like in bytes: in memory, and in the file of days. */
typedef struct answers_row {
    const char *id;
    uint8_t     id_len;
    uint32_t    attempt; /* 0: any */
    answer      a;
    uint64_t before; /* in a table: 1 + where the one recorded before it stands; 0: it is alone */
} answers_row;

enum { ANSWERS_ROW_MAX = 26 + DN_ID_MAX };
size_t answers_row_write(const answers_row *row, char out[ANSWERS_ROW_MAX]); /* its length */
size_t answers_row_read(const char *bytes, answers_row *out_row);            /* borrows the id */

/* Zeroed it is an empty table. */
typedef struct answers_table {
    char    *rows; /* one after the other */
    size_t   rows_len, rows_cap;
    dn_index by_key;      /* of id and attempt: where in rows */
    size_t   of_attempts; /* how many are of one attempt, and not of any */
} answers_table;

void answers_table_done(answers_table *t);

/* In place of what the id and attempt had; one that was recorded joins those that were. DN_ENOMEM: the table is as it was. */
DN_MUST_USE int answers_table_put(answers_table *t, const answers_row *row);

/* The hash of an id is the same for all tables. attempt 0: what holds for any, and not for one. now_ms: as in answers_find. */
uint64_t answers_table_hash(const char *id, size_t id_len);
bool     answers_table_find(const answers_table *t, uint64_t hash, const char *id, size_t id_len,
                            uint32_t attempt, int64_t now_ms, answer *out_answer);

#endif
