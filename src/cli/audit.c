/* audit.c - see audit.h. A day is a merge of two lists sorted by number. */
#include "audit.h"

#include "base/array.h"

#include <stdlib.h>

struct audit {
    audit_user *users;
    size_t      len, cap;
    dn_day      first, last;
};

int audit_new(audit **out_audit) {
    audit *a = calloc(1, sizeof *a);

    if (!a) return DN_ENOMEM;
    a->first = a->last = DN_DAY_NONE;
    *out_audit = a;
    return DN_OK;
}

void audit_free(audit *a) {
    if (!a) return;
    free(a->users);
    free(a);
}

/* The last record if the first day was moved after the records: their beginning is then unknown. */
static dn_day first_day(const audit_user *u) {
    return u->recorded != DN_DAY_NONE && u->recorded < u->starts_on ? u->recorded : u->starts_on;
}

int audit_add_user(audit *a, const audit_user *user) {
    if (a->len > 0 && user->n <= a->users[a->len - 1].n) return DN_EINVAL;
    if (DN_ARRAY_RESERVE(a->users, a->cap, a->len + 1) < 0) return DN_ENOMEM;
    a->users[a->len++] = *user;
    const dn_day first = first_day(user);
    if (a->first == DN_DAY_NONE || first < a->first) a->first = first;
    if (user->recorded > a->last) a->last = user->recorded;
    return DN_OK;
}

size_t audit_users(const audit *a) { return a->len; }
dn_day audit_first_day(const audit *a) { return a->first; }
dn_day audit_last_day(const audit *a) { return a->last; }

/* ---- A day ---- */

/* A tick has seen the cutoff. */
static bool is_owed(const audit_user *u, const audit_day *d) {
    return d->as_of_ms != INT64_MIN && dn_daily_cutoff_ms(u->due, d->day) <= d->as_of_ms;
}

static void without_row(const audit_user *u, audit_day *d) {
    if (d->day < u->starts_on) return;
    if (u->recorded < d->day && !is_owed(u, d)) {
        d->open++;
        return;
    }
    d->expected++;
    d->on_fault(d->context, u->recorded >= d->day ? AUDIT_GAP : AUDIT_OWED, u->n);
}

static void with_row(const audit_user *u, audit_day *d, const dn_ledger_row *row) {
    d->expected++;
    /* A first day may be moved after records, so a record before it is no fault. A record after the last recorded day is. */
    if (d->day > u->recorded) d->on_fault(d->context, AUDIT_UNKNOWN, u->n);
    /* The last finalized day is in both. A later day is missed, or only in the ledger. */
    const bool differs = u->last_day == d->day && u->status != row->status;
    const bool finalized = u->last_day < d->day && row->status != DN_DAILY_MISSED;
    if (differs || (finalized && d->day <= u->recorded)) d->on_fault(d->context, AUDIT_OTHER, u->n);
}

void audit_day_row(const audit *a, audit_day *d, const dn_ledger_row *row) {
    d->rows[row->status & 3]++;
    if (row->registration <= d->last_n) {
        d->on_fault(d->context, AUDIT_DOUBLE, row->registration);
        return;
    }
    d->last_n = row->registration;
    while (d->at < a->len && a->users[d->at].n < row->registration)
        without_row(&a->users[d->at++], d);
    if (d->at < a->len && a->users[d->at].n == row->registration)
        with_row(&a->users[d->at++], d, row);
    else d->on_fault(d->context, AUDIT_STRANGER, row->registration);
}

void audit_day_end(const audit *a, audit_day *d) {
    while (d->at < a->len) without_row(&a->users[d->at++], d);
}

const char *audit_fault_text(audit_fault fault) {
    switch (fault) {
    case AUDIT_GAP:
    case AUDIT_OWED: return "has no record";
    case AUDIT_DOUBLE: return "has two records";
    case AUDIT_STRANGER: return "has a record but is not registered";
    case AUDIT_UNKNOWN: return "has a record after its last recorded day";
    case AUDIT_OTHER: return "has another status than its record";
    }
    return "is wrong";
}
