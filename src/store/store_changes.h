/* store_changes.h - the changes that the store's one reader has not acknowledged yet, oldest first. */
#ifndef DIURNAL_STORE_STORE_CHANGES_H
#define DIURNAL_STORE_STORE_CHANGES_H

#include "store/store.h"

typedef struct store_changes {
    dn_user_change *rows;
    size_t          begin, len, cap; /* rows[begin] is the oldest of len rows */
    uint64_t        seq;             /* of the last commit */
    bool            followed;        /* else nothing is kept */
} store_changes;

void store_changes_done(store_changes *c);

/* Drops every row and keeps those of later commits. */
void store_changes_follow(store_changes *c);

/* Makes room for the rows of so many writes. DN_ENOMEM: no memory, or too many rows are unread. */
DN_MUST_USE int store_changes_reserve(store_changes *c, size_t more);

/* Numbers a commit and keeps its rows, for which room must have been reserved. */
uint64_t store_changes_add(store_changes *c, const dn_write *writes, size_t len,
                           const dn_write_result *results);

/* What dn_store_changes does. */
void store_changes_read(store_changes *c, uint64_t after_seq, dn_user_change *rows, size_t max,
                        size_t *out_len, uint64_t *out_seq);

#endif
