/* answers.h - the book of outcomes: what a job of that user, day and attempt comes to, as a trace says it.
 * The most exact line holds: for the id, its day and its attempt; for id and day; for id and attempt; for the id alone;
 * else the default. Of equals it is the last one put; of equals that were recorded, which are jobs of their own (attempts
 * begin anew with a crash and with a registration), it is that of those not stopped by then which stopped first, if any.
 * Its memory does not grow with what is put. Lines without a day are kept: one each for an id and an attempt, or as many as
 * were recorded of them. Lines with one wait on disk, grouped by day, in a file that has no name any more, and a day is read
 * when it is first asked for. A day counts for as much as is said of it, and few are held at once. */
#ifndef DIURNAL_TRACE_ANSWERS_H
#define DIURNAL_TRACE_ANSWERS_H

#include "domain/daily_rule.h"

typedef enum answer_result {
    ANSWER_OK = 1,
    ANSWER_ERROR,
    ANSWER_TIMEOUT,
    ANSWER_HANG,  /* it never answers */
    ANSWER_CRASH, /* the task crashes */
} answer_result;

typedef struct answer {
    answer_result  result;
    dn_error_class cls; /* DN_CLASS_NONE unless ANSWER_ERROR */
    uint32_t       duration_ms;
    int64_t        stopped_ms; /* when that job stopped that was recorded; ANSWER_NOT_RECORDED */
} answer;

#define ANSWER_NOT_RECORDED 0 /* an instant nobody recorded */

/* Longer than any job may take: what lasts longer is written as this, and is cut off all the same. */
#define ANSWER_MS_MAX UINT32_MAX

enum { ANSWERS_DAYS_HELD = 4 }; /* read and in memory at once; the one not asked for longest goes */

typedef struct answers answers;

DN_MUST_USE int answers_new(answer otherwise, answers **out_book);
void            answers_free(answers *book); /* accepts NULL */

/* day: DN_DAY_NONE: any. attempt: 0: any. The id is one (dn_id_fault finds nothing). Not after answers_seal.
 * DN_EIO: the file with what has a day cannot be written; the book is of no use any more. */
DN_MUST_USE int answers_put(answers *book, const char *id, size_t id_len, dn_day day,
                            uint32_t attempt, answer a);

/* All has been put: now it can be asked. */
DN_MUST_USE int answers_seal(answers *book);

/* For a day and an attempt that there are (from 1), of a job that begins at now_ms. DN_ENOMEM, DN_EIO: the day could not
 * be read, and may be asked for again. */
DN_MUST_USE int answers_find(answers *book, const char *id, size_t id_len, dn_day day,
                             uint32_t attempt, int64_t now_ms, answer *out_answer);

#endif
