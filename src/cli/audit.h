/* audit.h - the ledger against the users: each user-day that is over has one row, and none has two.
 * Pure: the caller passes users and rows in the order of their numbers, from a daemon or a store. A user takes 32 bytes.
 * A fault is a suspicion while the daemon keeps writing, so the caller checks it again before printing it. */
#ifndef DIURNAL_CLI_AUDIT_H
#define DIURNAL_CLI_AUDIT_H

#include "store/daily.h"

typedef struct audit audit;

DN_MUST_USE int audit_new(audit **out_audit);
void            audit_free(audit *a); /* accepts NULL */

/* The checked fields of a user. DN_EINVAL: the numbers do not rise. */
typedef struct audit_user {
    uint64_t        n;
    uint32_t        due;
    dn_day          starts_on, last_day, recorded;
    dn_daily_status status;
} audit_user;
DN_MUST_USE int audit_add_user(audit *a, const audit_user *user);
size_t          audit_users(const audit *a);
/* The earliest first day, or an earlier last record if the first day was moved after it; DN_DAY_NONE: no users. */
dn_day audit_first_day(const audit *a);
/* The last day with a record; DN_DAY_NONE: no records. */
dn_day audit_last_day(const audit *a);

typedef enum audit_fault {
    AUDIT_GAP, /* the user claims a record of this or a later day, but the ledger has none */
    AUDIT_OWED, /* the cutoff has passed by the current due time: the next tick writes the record at the latest */
    AUDIT_DOUBLE,   /* two rows for one user */
    AUDIT_STRANGER, /* a row of an unknown user */
    AUDIT_UNKNOWN,  /* a row for a day after the user's last recorded day */
    AUDIT_OTHER,    /* the row and the user have different statuses */
} audit_fault;

/* One day. audit_day_row adds its rows; on_fault gets each fault. */
typedef struct audit_day {
    dn_day day;
    int64_t
        as_of_ms; /* cutoffs up to this instant must be recorded; INT64_MIN: only what `recorded` claims */
    uint64_t rows[4];  /* by dn_daily_status */
    uint64_t expected; /* user-days that must have a row */
    uint64_t open;     /* user-days that are not over, or whose end no daemon has seen */
    void (*on_fault)(void *context, audit_fault fault, uint64_t n);
    void    *context;
    size_t   at; /* private: the next user */
    uint64_t last_n;
} audit_day;

void audit_day_row(const audit *a, audit_day *d, const dn_ledger_row *row);
void audit_day_end(const audit *a, audit_day *d);

const char *audit_fault_text(audit_fault fault);

#endif
