/* audit.h - the ledger against the users: each user-day that is over has one row, and none has two.
 * Pure: whoever calls it brings users and rows, in the order of their numbers, from a daemon or a store. A user takes 32
 * bytes. What is found is a suspicion as long as the daemon writes on; the caller looks again before it says so. */
#ifndef DIURNAL_CLI_AUDIT_H
#define DIURNAL_CLI_AUDIT_H

#include "store/daily.h"

typedef struct audit audit;

DN_MUST_USE int audit_new(audit **out_audit);
void            audit_free(audit *a); /* accepts NULL */

/* What of a user is looked at. Numbers rise. DN_EINVAL: they did not. */
typedef struct audit_user {
    uint64_t        n;
    uint32_t        due;
    dn_day          starts_on, last_day, recorded;
    dn_daily_status status;
} audit_user;
DN_MUST_USE int audit_add_user(audit *a, const audit_user *user);
size_t          audit_users(const audit *a);
/* The first day any of them has, or the last record of one whose first day is later; DN_DAY_NONE: there are no users. */
dn_day audit_first_day(const audit *a);
/* The last day any of them has a record of; DN_DAY_NONE: there is none. */
dn_day audit_last_day(const audit *a);

typedef enum audit_fault {
    AUDIT_GAP, /* the user has a record of it, or of a later day, and there is none */
    AUDIT_OWED, /* by the due it has now, its cutoff has been: the next tick writes it at the latest */
    AUDIT_DOUBLE,   /* two rows for one user */
    AUDIT_STRANGER, /* a row of nobody */
    AUDIT_UNKNOWN,  /* a row for a day after the last that the user has one of */
    AUDIT_OTHER,    /* the row says another thing than the user */
} audit_fault;

/* One day. rows come with audit_day_row; on_fault hears what is wrong. */
typedef struct audit_day {
    dn_day day;
    int64_t
             as_of_ms; /* cutoffs up to then must have been written; INT64_MIN: what `recorded` promises, and no more */
    uint64_t rows[4];  /* by dn_daily_status */
    uint64_t expected; /* user-days that must have a row */
    uint64_t open;     /* of users that begin by then, not yet over, or not yet seen by a daemon */
    void (*on_fault)(void *context, audit_fault fault, uint64_t n);
    void    *context;
    size_t   at; /* the audit's: the next user */
    uint64_t last_n;
} audit_day;

void audit_day_row(const audit *a, audit_day *d, const dn_ledger_row *row);
void audit_day_end(const audit *a, audit_day *d);

const char *audit_fault_text(audit_fault fault);

#endif
