/* sqlite_write.c - a batch of writes in one transaction.
 * Each write reads a user, changes it by store_user.c, and writes what changed: three short statements cost less than one
 * UPDATE ... RETURNING, which uses a temporary table (2 to 4 times slower, measured). The planner finalizes users in the
 * order of their numbers, so such runs are read by one range scan. */
#include "sqlite/sqlite_store.h"
#include "store_user.h"

#include <string.h>

enum {
    RUN_MAX = 512,   /* users read ahead: their pages are still cached when they are written */
    RUN_GAP_MAX = 4, /* a larger gap is cheaper to seek over than to step through */
};

/* ---- Totals and counters ---- */

/* The totals of a day including this batch: read at first use, written at the end of the batch. */
static int totals_of(db *d, dn_day day, dn_day_totals **out_totals) {
    sqlite3_stmt  *s = d->stmt[STMT_TOTALS];
    dn_day_totals *of_day;
    bool           is_new, row;
    int            code = totals_reserve(&d->batch_totals, 1);

    if (code < 0) return code;
    of_day = totals_at_borrow(&d->batch_totals, day, &is_new);
    *out_totals = of_day;
    if (!is_new) return DN_OK;
    db_bind(s, 1, day);
    db_bind(s, 2, day);
    code = db_row(d, s, &row);
    if (code < 0 || !row) return code;
    *of_day = db_totals_of_row(s);
    sqlite3_reset(s);
    return DN_OK;
}

static int count_in_totals(db *d, dn_day day, dn_daily_status status) {
    dn_day_totals *of_day;
    const int      code = totals_of(d, day, &of_day);

    if (code == DN_OK) totals_count(of_day, status);
    return code;
}

static int unmiss_in_totals(db *d, dn_day day) {
    dn_day_totals *of_day;
    const int      code = totals_of(d, day, &of_day);

    if (code == DN_OK) totals_unmiss(of_day);
    return code;
}

static int totals_write(db *d) {
    sqlite3_stmt *s = d->stmt[STMT_TOTALS_SET];

    for (size_t i = 0; i < d->batch_totals.len; i++) {
        const dn_day_totals *of_day = &d->batch_totals.days[i];
        db_bind(s, 1, of_day->day);
        db_bind(s, 2, (int64_t)of_day->success);
        db_bind(s, 3, (int64_t)of_day->cutoff);
        db_bind(s, 4, (int64_t)of_day->missed);
        const int code = db_run(d, STMT_TOTALS_SET);
        if (code < 0) return code;
    }
    return DN_OK;
}

static int counter_write(db *d, const char *name, int64_t before, int64_t now) {
    sqlite3_stmt *s = d->stmt[STMT_COUNTER_SET];

    if (before == now) return DN_OK;
    db_bind_id(s, 1, name, strlen(name));
    db_bind(s, 2, now);
    return db_run(d, STMT_COUNTER_SET);
}

static int counters_write(db *d, const db_counters *before) {
    const db_counters *now = &d->counters;
    int code = counter_write(d, "next_user", (int64_t)before->next_user, (int64_t)now->next_user);

    if (code == DN_OK)
        code = counter_write(d, "next_hook", (int64_t)before->next_hook, (int64_t)now->next_hook);
    if (code == DN_OK)
        code = counter_write(d, "users", (int64_t)before->users, (int64_t)now->users);
    if (code == DN_OK)
        code = counter_write(d, "ledger_since", before->ledger_since, now->ledger_since);
    return code;
}

/* ---- The ledger ---- */

/* An outcome was written without a ledger row. */
static void ledger_lacks(db *d, dn_day day) {
    d->counters.ledger_since = ledger_since_after(d->counters.ledger_since, day);
}

/* which: LEDGER_INSERT, or LEDGER_ADD, which keeps an existing row. */
static int ledger_insert(db *d, db_stmt which, const dn_ledger_row *row) {
    sqlite3_stmt *s = d->stmt[which];

    db_bind(s, 1, row->day);
    db_bind(s, 2, (int64_t)row->registration);
    db_bind(s, 3, row->status);
    db_bind(s, 4, row->at_ms);
    db_bind(s, 5, row->attempts);
    db_bind(s, 6, row->error_class);
    return db_run(d, which);
}

static int ledger_delete(db *d, uint64_t n, dn_day day) {
    db_bind(d->stmt[STMT_LEDGER_DELETE], 1, day);
    db_bind(d->stmt[STMT_LEDGER_DELETE], 2, (int64_t)n);
    return db_run(d, STMT_LEDGER_DELETE);
}

/* A day is finalized after it was missed: its row can only be `missed`. Without a ledger, every day up to `recorded` that
 * was not finalized counts as missed. */
static int ledger_unmiss(db *d, uint64_t n, dn_day day) {
    if (d->ledger) {
        const int code = ledger_delete(d, n, day);
        if (code < 0 || sqlite3_changes(d->sql) == 0) return code;
    }
    return unmiss_in_totals(d, day);
}

static int ledger_finalize(db *d, const struct dn_write_finalize *f, dn_day recorded) {
    const dn_ledger_row row = {.registration = f->registration,
                               .day = f->day,
                               .status = f->status,
                               .error_class = f->error_class,
                               .attempts = f->attempts,
                               .at_ms = f->at_ms};
    int                 code = count_in_totals(d, f->day, f->status);

    if (code == DN_OK && f->day <= recorded) code = ledger_unmiss(d, f->registration, f->day);
    if (!d->ledger) ledger_lacks(d, f->day);
    else if (code == DN_OK) code = ledger_insert(d, STMT_LEDGER_INSERT, &row);
    return code;
}

/* Deletes all rows of a user, newest first: one seek for each day. */
static int ledger_remove(db *d, const dn_user *user) {
    dn_day before = user->recorded == DN_DAY_NONE ? DN_DAY_NONE : user->recorded + 1;

    for (;;) {
        dn_ledger_row row;
        bool          found;
        int           code = db_ledger_before(d, user->registration, before, &row, &found);

        if (code == DN_OK && found) code = ledger_delete(d, user->registration, row.day);
        if (code < 0 || !found) return code;
        before = row.day;
    }
}

/* ---- The operations ---- */

/* Adds a user with this id, unless there is one: then *out_added is false and nothing is written. */
static int user_add(db *d, const struct dn_write_set *set, dn_write_result *result,
                    bool *out_added) {
    sqlite3_stmt  *s = d->stmt[STMT_USER_ADD];
    const dn_user *user = &result->user;

    user_begin(&result->user, d->counters.next_user, set);
    db_bind(s, 1, (int64_t)user->registration);
    db_bind_id(s, 2, user->id, user->id_len);
    db_bind(s, 3, user->due);
    db_bind(s, 4, user->starts_on);
    const int code = db_run(d, STMT_USER_ADD);
    *out_added = code == DN_OK && sqlite3_changes(d->sql) > 0;
    if (!*out_added) return code;
    d->counters.next_user++;
    d->counters.users++;
    result->wrote = DN_WROTE_NEW;
    return DN_OK;
}

/* After a new user mostly comes another one, so it is inserted without a search for its id. */
static int write_set(db *d, const struct dn_write_set *set, dn_write_result *result) {
    sqlite3_stmt *s = d->stmt[STMT_USER_SET];
    bool          added = false, found = false;
    int           code = DN_OK;

    if (d->adds) code = user_add(d, set, result, &added);
    if (code < 0 || added) return code;
    code = db_user_by_id(d, set->id, set->id_len, &result->user, &found);
    if (code < 0) return code;
    d->adds = !found;
    if (!found) return user_add(d, set, result, &added);
    if (!user_set(&result->user, set)) return DN_OK;
    db_bind(s, 1, (int64_t)result->user.registration);
    db_bind(s, 2, result->user.due);
    db_bind(s, 3, result->user.starts_on);
    return db_run(d, STMT_USER_SET);
}

static int write_remove(db *d, const struct dn_write_remove *r, dn_write_result *result) {
    bool found;
    int  code = db_user_by_id(d, r->id, r->id_len, &result->user, &found);

    if (code < 0) return code;
    if (!found) {
        result->wrote = DN_WROTE_GONE;
        return DN_OK;
    }
    d->counters.users--;
    code = db_hooks_remove(d, result->user.registration);
    if (code == DN_OK) code = ledger_remove(d, &result->user);
    db_bind(d->stmt[STMT_USER_DELETE], 1, (int64_t)result->user.registration);
    return code < 0 ? code : db_run(d, STMT_USER_DELETE);
}

/* result->user was read before, if found. */
static int write_finalize(db *d, const struct dn_write_finalize *f, bool found,
                          dn_write_result *result) {
    sqlite3_stmt  *s = d->stmt[STMT_USER_FINALIZE];
    const dn_user *user = &result->user;
    int            code;

    result->wrote = DN_WROTE_GONE;
    if (!found) return DN_OK;
    const dn_day recorded = user->recorded;
    result->wrote = user_finalize(&result->user, f);
    if (result->wrote != DN_WROTE) return DN_OK;

    db_bind(s, 1, (int64_t)user->registration);
    db_bind(s, 2, user->last_day);
    db_bind(s, 3, user->status);
    if (user->last_run_ms == INT64_MIN) db_bind_null(s, 4);
    else db_bind(s, 4, user->last_run_ms);
    db_bind(s, 5, user->context_epoch);
    db_bind(s, 6, user->recorded);
    code = db_run(d, STMT_USER_FINALIZE);
    if (code == DN_OK) code = ledger_finalize(d, f, recorded);
    if (code == DN_OK && f->hook) code = db_hook_add(d, user, f);
    return code;
}

/* *out_added: the day had no outcome and is missed now. */
static int missed_add(db *d, const struct dn_write_missed *m, dn_day day, const dn_user *user,
                      bool *out_added) {
    const dn_ledger_row row = {.registration = user->registration,
                               .day = day,
                               .status = DN_DAILY_MISSED,
                               .at_ms = m->at_ms};

    *out_added = day > user->recorded;
    if (d->ledger) {
        const int code = ledger_insert(d, STMT_LEDGER_ADD, &row);
        if (code < 0) return code;
        *out_added = sqlite3_changes(d->sql) > 0;
    } else if (*out_added) ledger_lacks(d, day);
    return *out_added ? count_in_totals(d, day, DN_DAILY_MISSED) : DN_OK;
}

static int write_missed(db *d, const struct dn_write_missed *m, dn_write_result *result) {
    sqlite3_stmt *s = d->stmt[STMT_USER_RECORDED];
    dn_user      *user = &result->user;
    bool          found;
    int           code = db_user_by_n(d, m->registration, user, &found);

    if (code < 0) return code;
    if (!found) {
        result->wrote = DN_WROTE_GONE;
        return DN_OK;
    }
    const dn_day_range range = user_missed(user, m);
    const dn_day       before = user->recorded;
    for (dn_day day = range.first; day <= range.last; day++) {
        bool added;
        code = missed_add(d, m, day, user, &added);
        if (code < 0) return code;
        result->rows += added;
        if (added && day > user->recorded) user->recorded = day;
    }
    if (user->recorded == before) return DN_OK;
    db_bind(s, 1, (int64_t)user->registration);
    db_bind(s, 2, user->recorded);
    return db_run(d, STMT_USER_RECORDED);
}

/* Oldest first. The last row of the portion is looked up before, so that the portion is one DELETE. */
static int write_forget(db *d, const struct dn_write_forget *f, dn_write_result *result) {
    sqlite3_stmt *nth = d->stmt[STMT_LEDGER_NTH], *s;
    db_stmt       which = STMT_LEDGER_FORGET;
    bool          more;
    int           code;

    if (d->counters.ledger_since < f->before) d->counters.ledger_since = f->before;
    db_bind(nth, 1, f->before);
    db_bind(nth, 2, STORE_FORGET_MAX - 1);
    code = db_row(d, nth, &more);
    if (code < 0) return code;
    if (more) {
        which = STMT_LEDGER_FORGET_TO;
        s = d->stmt[which];
        db_bind(s, 1, sqlite3_column_int64(nth, 0));
        db_bind(s, 2, sqlite3_column_int64(nth, 1));
        sqlite3_reset(nth);
    } else {
        s = d->stmt[which];
        db_bind(s, 1, f->before);
    }
    code = db_run(d, which);
    if (code == DN_OK) result->rows = (uint32_t)sqlite3_changes(d->sql);
    return code;
}

static int write_one(db *d, const dn_write *w, dn_write_result *result) {
    bool found;

    result->wrote = DN_WROTE;
    result->rows = 0;
    switch (w->op) {
    case DN_WRITE_SET: return write_set(d, &w->set, result);
    case DN_WRITE_REMOVE: return write_remove(d, &w->remove, result);
    case DN_WRITE_MISSED: return write_missed(d, &w->missed, result);
    case DN_WRITE_FORGET: return write_forget(d, &w->forget, result);
    case DN_WRITE_OUTBOX_DONE: return db_hook_done(d, &w->outbox_done, result);
    case DN_WRITE_OUTBOX_LATER: return db_hook_later(d, &w->outbox_later, result);
    case DN_WRITE_TOKEN_ADD: return db_token_add(d, w->token_add.token, result);
    case DN_WRITE_TOKEN_REMOVE: return db_token_remove(d, w->token_remove.id, result);
    case DN_WRITE_FINALIZE: break;
    }
    const int code = db_user_by_n(d, w->finalize.registration, &result->user, &found);
    return code < 0 ? code : write_finalize(d, &w->finalize, found, result);
}

/* ---- Runs of finalizations ---- */

/* How many of the first writes finalize users whose numbers rise and lie close together. A run has no user twice and no
 * other kind of write, so that all its users can be read before the first is written. */
static size_t run_len(const dn_write *writes, size_t len) {
    size_t n = 0;

    if (len > RUN_MAX) len = RUN_MAX;
    for (uint64_t before = 0; n < len && writes[n].op == DN_WRITE_FINALIZE; n++) {
        const uint64_t number = writes[n].finalize.registration;
        if (n > 0 && (number <= before || number - before > RUN_GAP_MAX)) break;
        before = number;
    }
    return n;
}

/* Reads the users of a run into its results. DN_WROTE_GONE marks those that are not there. */
static int run_read(db *d, const dn_write *writes, size_t len, dn_write_result *results) {
    sqlite3_stmt *s = d->stmt[STMT_USERS_FROM_N];
    size_t        i = 0;

    for (size_t k = 0; k < len; k++) {
        results[k].rows = 0;
        results[k].wrote = DN_WROTE_GONE;
    }
    db_bind(s, 1, (int64_t)writes[0].finalize.registration);
    while (i < len) {
        bool row;
        int  code = db_row(d, s, &row);
        if (code < 0 || !row) return code;
        const uint64_t n = (uint64_t)sqlite3_column_int64(s, 0);
        while (i < len && writes[i].finalize.registration < n) i++;
        if (i < len && writes[i].finalize.registration == n) {
            code = db_user_of_row(d, s, &results[i].user);
            if (code < 0) {
                sqlite3_reset(s);
                return code;
            }
            results[i++].wrote = DN_WROTE;
        }
    }
    sqlite3_reset(s);
    return DN_OK;
}

static int run_write(db *d, const dn_write *writes, size_t len, dn_write_result *results) {
    int code = run_read(d, writes, len, results);

    for (size_t i = 0; code == DN_OK && i < len; i++)
        code = write_finalize(d, &writes[i].finalize, results[i].wrote == DN_WROTE, &results[i]);
    return code;
}

/* ---- The batch ---- */

static int write_all(db *d, const dn_write *writes, size_t len, dn_write_result *results) {
    for (size_t i = 0; i < len;) {
        const size_t run = run_len(writes + i, len - i);
        const int    code = run > 1 ? run_write(d, writes + i, run, results + i)
                                    : write_one(d, &writes[i], &results[i]);
        if (code < 0) return code;
        i += run > 1 ? run : 1;
    }
    return DN_OK;
}

int db_batch_write(db *d, const db_batch *b) {
    const db_counters before = d->counters;
    int               code;

    d->batch_totals.len = 0;
    code = write_all(d, b->writes, b->len, b->results);
    if (code == DN_OK) code = totals_write(d);
    return code == DN_OK ? counters_write(d, &before) : code;
}

int db_write(dn_store *store, const dn_write *writes, size_t len, dn_write_result *results) {
    return db_transact(db_of(store), &(db_batch){writes, len, results});
}
