/* audit_source.h - the data of an audit, from a daemon or from a store. */
#ifndef DIURNAL_CLI_AUDIT_SOURCE_H
#define DIURNAL_CLI_AUDIT_SOURCE_H

#include "audit.h"
#include "client.h"

/* Exactly one of the two is set. */
typedef struct audit_source {
    client   *asked;
    dn_store *store;
} audit_source;

enum { SOURCE_PAGE = 4096 };

/* The progress of the daemon; as_of_ms is INT64_MIN for a store, which nothing changes. */
typedef struct source_state {
    int64_t  as_of_ms; /* the last tick */
    int64_t  now_ms;
    uint32_t ledger_days;
    dn_day   ledger_since; /* dn_store_ledger_since */
    bool     planning;     /* the last tick is still planning */
    bool     full;         /* the disk is full */
    uint64_t ticks;        /* finished ticks; 0: this planner has not finished its first */
    uint64_t waiting;      /* decided writes that are not committed */
} source_state;

typedef struct source_user {
    audit_user user;
    uint8_t    id_len;
    char       id[DN_ID_MAX + 1];
} source_user;

/* All of these return false after printing an error. */
bool source_look(const audit_source *s, const call *c, source_state *out_state);
/* Reads up to max (at most SOURCE_PAGE) users after after_n. 0 users: there are no more. */
bool source_users(const audit_source *s, uint64_t after_n, source_user *users, size_t max,
                  size_t *out_len);
/* Reads up to SOURCE_PAGE rows. */
bool source_day(const audit_source *s, dn_day day, uint64_t after_n, dn_ledger_row *rows,
                size_t *out_len);
bool source_row(const audit_source *s, uint64_t n, dn_day day, dn_ledger_row *out_row,
                bool *out_found);
bool source_totals(const audit_source *s, dn_day day, dn_day_totals *out_totals);

#endif
