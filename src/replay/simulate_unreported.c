/* simulate_unreported.c - see simulate_unreported.h. */
#include "simulate_unreported.h"

#include <stdlib.h>

enum { USERS_MOST = 4096, ROWS_MOST = 64 };

void unreported_done(untold *u) {
    free(u->users);
    free(u->now);
    *u = (untold){0};
}

int unreported_before(untold *u, dn_store *store) {
    if (!u->users) u->users = malloc(USERS_MOST * sizeof *u->users);
    if (!u->now) u->now = malloc(USERS_MOST * sizeof *u->now);
    if (!u->users || !u->now) return DN_ENOMEM;
    u->is_due = true;
    return dn_store_load(store, 0, u->users, USERS_MOST, &u->len);
}

typedef struct teller {
    void (*tell)(void *context, const dn_happening *h);
    void   *context;
    int64_t wall_ms;
    int     told;
} teller;

static void tell(teller *t, dn_happening_kind kind, const dn_user *u, uint32_t due, dn_day day,
                 dn_daily_status status) {
    const dn_happening h = {
        .kind = kind,
        .id = u->id,
        .id_len = u->id_len,
        .registration = u->registration,
        .at_ms = t->wall_ms,
        .day = day,
        .due = due,
        .status = status,
        .starts_on = u->starts_on,
    };
    t->told++;
    t->tell(t->context, &h);
}

/* Its new rows, in the order of their days. */
static int tell_rows(teller *t, dn_store *store, const dn_user *was, const dn_user *is) {
    dn_ledger_row rows[ROWS_MOST];
    size_t        len;
    const int     rc = dn_store_days_of(store, is->registration, INT32_MAX, rows, ROWS_MOST, &len);

    for (size_t i = rc == DN_OK ? len : 0; i-- > 0;) {
        const dn_ledger_row *row = &rows[i];
        if (row->status == DN_DAILY_MISSED) {
            if (row->day > was->recorded)
                tell(t, DN_HAPPENED_MISSED, is, was->due, row->day, row->status);
        } else if (row->day > was->last_day) {
            tell(t, DN_HAPPENED_FINALIZED, is, was->due, row->day, row->status);
        }
    }
    return rc;
}

/* A change and rows in one commit: the rows were written by the due of before, unless only the new one allows that. */
static int tell_one(teller *t, dn_store *store, const dn_user *was, const dn_user *is) {
    const bool    changed = was->due != is->due || was->starts_on != is->starts_on;
    const int64_t cutoff_ms = (int64_t)is->last_day * DN_DAY_MS + (int64_t)was->due * DN_MINUTE_MS;
    const bool first = changed && is->last_day > was->last_day && is->status == DN_DAILY_CUTOFF &&
                       t->wall_ms < cutoff_ms;
    dn_user before = *was;

    if (first) tell(t, DN_HAPPENED_SET, is, is->due, DN_DAY_NONE, DN_DAILY_NONE);
    if (first) before.due = is->due;
    const int rc = tell_rows(t, store, &before, is);
    if (changed && !first) tell(t, DN_HAPPENED_SET, is, is->due, DN_DAY_NONE, DN_DAILY_NONE);
    return rc;
}

static int tell_new(teller *t, dn_store *store, const dn_user *is) {
    dn_user was = *is;

    was.last_day = was.recorded = DN_DAY_NONE;
    tell(t, DN_HAPPENED_SET, is, is->due, DN_DAY_NONE, DN_DAILY_NONE);
    return tell_rows(t, store, &was, is);
}

int unreported_tell(untold *u, dn_store *store, int64_t wall_ms,
                    void (*told)(void *context, const dn_happening *h), void *context) {
    teller t = {.tell = told, .context = context, .wall_ms = wall_ms};
    size_t len = 0, at = 0;
    int    rc = u->is_due ? dn_store_load(store, 0, u->now, USERS_MOST, &len) : DN_OK;

    for (size_t i = 0; rc == DN_OK && u->is_due && i < u->len; i++) {
        const dn_user *was = &u->users[i];
        if (at < len && u->now[at].registration == was->registration)
            rc = tell_one(&t, store, was, &u->now[at++]);
        else tell(&t, DN_HAPPENED_REMOVED, was, was->due, DN_DAY_NONE, DN_DAILY_NONE);
    }
    while (rc == DN_OK && at < len) rc = tell_new(&t, store, &u->now[at++]);
    u->is_due = false;
    return rc < 0 ? rc : t.told;
}
