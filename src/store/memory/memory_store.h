/* memory_store.h - the state of a store in memory, shared by memory.c, memory_write.c and memory_list.c. */
#ifndef DIURNAL_STORE_MEMORY_MEMORY_STORE_H
#define DIURNAL_STORE_MEMORY_MEMORY_STORE_H

#include "backend.h"
#include "base/map.h"
#include "memory/memory_ledger.h"
#include "memory/memory_outbox.h"
#include "memory/memory_tokens.h"
#include "store_totals.h"

typedef struct memory_user {
    int64_t  last_run_ms;
    uint64_t hook; /* the newest one, 0: none; it may be deleted */
    uint32_t id_at;
    dn_day   last_day, starts_on, recorded;
    uint32_t context_epoch;
    uint16_t due;
    uint8_t  id_len; /* 0: removed */
    uint8_t  status;
} memory_user;

typedef struct memory {
    dn_store      base;
    bool          ledger_on;
    dn_day        ledger_since;
    memory_user  *users; /* by number; number 0 is never used */
    size_t        users_cap;
    uint64_t      next_n, count;
    char         *id_bytes;
    size_t        id_len, id_cap;
    dn_index      by_id; /* rows are numbers of users */
    ledger        ledger;
    totals        totals;
    outbox        hooks;
    memory_tokens tokens;
    uint32_t
          *sorted; /* numbers in the order of their ids; NULL: a user was added or removed since */
    size_t sorted_len;
} memory;

static inline memory *memory_of(dn_store *store) { return (memory *)(void *)store; }

/* ---- memory.c ---- */

/* Copies the user out, or all of it but the id, which never changes, in. */
void memory_user_read(const memory *m, uint64_t n, dn_user *out);
void memory_user_keep(memory_user *u, const dn_user *user);

/* 0: there is none. */
/* The key of this hash is public, so that a simulation is the same every time: strangers send it no ids. */
uint64_t memory_hash_of(const char *id, size_t len);
/* NULL: there is none. */
dn_index_cell *memory_cell_of(const memory *m, const char *id, size_t len);
uint64_t       memory_find_id(const memory *m, const char *id, size_t len);

static inline memory_user *memory_user_at(const memory *m, uint64_t n) {
    return n > 0 && n < m->next_n && m->users[n].id_len ? &m->users[n] : NULL;
}

/* ---- memory_write.c ---- */
int memory_write(dn_store *store, const dn_write *writes, size_t len, dn_write_result *results);

/* ---- memory_list.c ---- */
int memory_list(dn_store *store, const dn_user_filter *f, dn_user *users, size_t max,
                size_t *out_len, bool *out_more, dn_user *out_last);
/* Drops the order of the ids. The next memory_list sorts again. */
void memory_sorted_forget(memory *m);

#endif
