/* audit_source.h - what an audit reads, from a daemon or from a store. */
#ifndef DIURNAL_CLI_AUDIT_SOURCE_H
#define DIURNAL_CLI_AUDIT_SOURCE_H

#include "audit.h"
#include "client.h"

/* One of the two. */
typedef struct audit_source {
    client   *asked;
    dn_store *store;
} audit_source;

enum { SOURCE_PAGE = 4096 };

/* How far the daemon has got; for a store, where nobody gets on, as_of_ms is INT64_MIN. */
typedef struct source_state {
    int64_t  as_of_ms; /* the last tick */
    int64_t  now_ms;
    uint32_t ledger_days;
    dn_day   ledger_since; /* dn_store_ledger_since */
    bool     planning;     /* the last tick is not over */
    bool     full;         /* the disk is */
    uint64_t ticks;        /* that are over; 0: this planner's first is still to come */
    uint64_t waiting;      /* writes that are decided and not committed */
} source_state;

typedef struct source_user {
    audit_user user;
    uint8_t    id_len;
    char       id[DN_ID_MAX + 1];
} source_user;

/* All of these: false if it failed, which has been complained of. */
bool source_look(const audit_source *s, const call *c, source_state *out_state);
/* Up to max (SOURCE_PAGE at most) users after after_n; fewer, where more may follow, are not none. */
bool source_users(const audit_source *s, uint64_t after_n, source_user *users, size_t max,
                  size_t *out_len);
/* Up to SOURCE_PAGE rows. */
bool source_day(const audit_source *s, dn_day day, uint64_t after_n, dn_ledger_row *rows,
                size_t *out_len);
bool source_row(const audit_source *s, uint64_t n, dn_day day, dn_ledger_row *out_row,
                bool *out_found);
bool source_totals(const audit_source *s, dn_day day, dn_day_totals *out_totals);

#endif
