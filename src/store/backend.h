/* backend.h - what a backend implements: a table of functions, and a row in the table of URL schemes (store.c).
 * store.c checks arguments, numbers commits and keeps their changes. store_user.h has the rules for writes, so that no two
 * backends can differ in them. */
#ifndef DIURNAL_STORE_BACKEND_H
#define DIURNAL_STORE_BACKEND_H

#include "store/outbox.h"
#include "store/store.h"
#include "store_changes.h"

typedef struct store_ops {
    void (*free)(dn_store *store);
    int (*write)(dn_store *store, const dn_write *writes, size_t len, dn_write_result *results);
    int (*begin_with)(dn_store *store, dn_user *user); /* NULL: not supported */
    int (*load)(dn_store *store, uint64_t after_n, dn_user *users, size_t max, size_t *out_len);
    int (*user)(dn_store *store, const char *id, size_t id_len, dn_user *out_user);
    int (*list)(dn_store *store, const dn_user_filter *filter, dn_user *users, size_t max,
                size_t *out_len, bool *out_more, dn_user *out_last);
    int (*days_of)(dn_store *store, uint64_t n, dn_day before, dn_ledger_row *rows, size_t max,
                   size_t *out_len);
    int (*day)(dn_store *store, dn_day day, uint64_t after_n, dn_ledger_row *rows, size_t max,
               size_t *out_len);
    int (*totals)(dn_store *store, dn_day first, dn_day last, dn_day_totals *rows, size_t max,
                  size_t *out_len);
    dn_day (*ledger_since)(dn_store *store);
    int (*count)(dn_store *store, uint64_t *out_users);
    int (*hooks)(dn_store *store, int64_t now_ms, dn_hook *hooks, size_t max, size_t *out_len,
                 int64_t *out_next_ms);
    int (*hooks_clock)(dn_store *store, int64_t wall_ms, int64_t *out_ms);
    int (*tokens)(dn_store *store, dn_token *tokens, size_t max, size_t *out_len);
    int (*check)(dn_store *store, char *why);
    int (*backup)(dn_store *store, const char *path, dn_backup **out_backup, char *why);
    const char *(*damage)(dn_store *store); /* NULL: it cannot be damaged */
    int (*idle)(dn_store *store);
} store_ops;

/* The first member of every backend's state. */
struct dn_store {
    const store_ops *ops;
    /* store.c alone touches them. They come from the results of writes, so a backend that can lose an answer (DN_EAWAY)
     * has to read them from its database instead. */
    store_changes changes;
};

/* How the door finds a backend by the scheme of a URL. `place` is the rest of the URL. NULL: nothing can keep such a store
 * from being opened, and no other process can hold it. */
typedef struct store_backend {
    const char *scheme; /* with its colon */
    int (*open)(const char *place, const dn_store_config *config, dn_store **out_store, char *why);
    int (*probe)(const char *place, const dn_store_config *config, char *why);
    int (*held)(const char *place, dn_store_hold *out_hold, char *why);
} store_backend;

int memory_open(const char *place, const dn_store_config *config, dn_store **out_store, char *why);
int db_open(const char *dir, const dn_store_config *config, dn_store **out_store, char *why);
int db_probe(const char *dir, const dn_store_config *config, char *why);
int dir_lock_held(const char *dir, dn_store_hold *out_hold, char *why);

/* The most rows one FORGET deletes: at 3 us a row the store is busy for 15 ms. */
enum { STORE_FORGET_MAX = 5000 };

#endif
