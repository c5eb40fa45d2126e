/* store.h - the one door to what is durable.
 * A store is one file and belongs to one actor, which alone calls these functions; every call may wait for
 * the disk. Operations come in batches and in the words of the domain; no SQL gets out.
 *
 * Errors: DN_EFULL: the disk is full; nothing was written, the same call may succeed later. DN_EIO: the
 * disk failed in any other way; nothing that was acknowledged is lost, but this store must not be used any
 * more (after a failed fsync nobody knows what is on the disk): the process ends. So it does if what is read turns out to
 * be damaged (dn_store_damage). DN_ENOMEM as everywhere. */
#ifndef DIURNAL_STORE_STORE_H
#define DIURNAL_STORE_STORE_H

#include "store/daily.h"
#include "store/tokens.h"

typedef struct dn_store dn_store;

enum { DN_STORE_WHY = 256 };

typedef struct dn_store_config {
    const char *url;         /* "sqlite:DIRECTORY", made (mode 0700) if it is missing; "memory:" */
    uint32_t    ledger_days; /* how long ledger rows are kept; 0: none are written */
    bool read_only;  /* for reading a store no daemon has open: nothing is made, nothing migrated */
    const char *vfs; /* of SQLite; NULL: its default. For the torture tests */
} dn_store_config;

/* Takes the lock of the data directory, opens, checks after an unclean end, migrates. DN_EEXIST: another process
 * has it. DN_EINVAL: the file is no store of ours, is damaged, or a newer diurnal wrote it; it is
 * untouched. In every case why (DN_STORE_WHY bytes) has one line: what, where, what would be right. */
DN_MUST_USE int    dn_store_open(const dn_store_config *config, dn_store **out_store, char *why);
void               dn_store_free(dn_store *store); /* accepts NULL */
static inline void dn_store_freep(dn_store **store) { dn_store_free(*store); }

/* Would dn_store_open be refused, as far as that can be seen without making or writing one? For a directory that is to be
 * good before it is needed: what this process itself has open counts as in use. Codes and why as there. Any thread. */
DN_MUST_USE int dn_store_probe(const dn_store_config *config, char *why);

/* Does a process have the store of that directory open, and which one? It costs whoever opens it at that instant a
 * millisecond, and nothing else. DN_EIO: it cannot be told; why says so. Any thread. */
enum { DN_STORE_SIGN = 64 };
typedef struct dn_store_hold {
    bool     held;
    uint32_t owner; /* of the lock: a user's number */
    char     sign
        [DN_STORE_SIGN]; /* its process, and an instant: no two holders have the same. "": it could not sign */
} dn_store_hold;
DN_MUST_USE int dn_store_held(const char *url, dn_store_hold *out_hold, char *why);

/* ---- Writing ---- */

typedef enum dn_write_op {
    DN_WRITE_SET,          /* registers an id, or changes its user */
    DN_WRITE_REMOVE,       /* deletes a user with its ledger rows and hooks */
    DN_WRITE_FINALIZE,     /* ends a user's day as success or cutoff */
    DN_WRITE_MISSED,       /* adds the missing ledger rows of days that ended unseen */
    DN_WRITE_FORGET,       /* deletes old ledger rows, a few thousand at a time */
    DN_WRITE_OUTBOX_DONE,  /* deletes a hook that was delivered or given up */
    DN_WRITE_OUTBOX_LATER, /* sets when a hook is tried again */
    DN_WRITE_TOKEN_ADD,
    DN_WRITE_TOKEN_REMOVE,
} dn_write_op;

/* One write. Pointers are borrowed for the call. */
typedef struct dn_write {
    dn_write_op op; /* which member of the union is set */
    union {
        struct dn_write_set {
            const char *id;
            uint8_t     id_len;
            uint32_t    due;
            dn_day      today;
            /* Not earlier than today, or than the day after the last finalized one, or than what the user has, if that is
             * earlier. DN_DAY_NONE: an old user keeps its own, a new one gets new_starts_on. */
            dn_day starts_on;
            dn_day new_starts_on;
        } set;
        struct dn_write_remove {
            const char *id;
            uint8_t     id_len;
        } remove;
        /* A cutoff adds 1 to the context epoch, a success sets last_run_ms to at_ms. The ledger gets its row. */
        struct dn_write_finalize {
            uint64_t        registration;
            int64_t         at_ms;
            dn_day          day;
            dn_daily_status status;      /* success or cutoff */
            dn_error_class  error_class; /* of the last attempt that failed */
            uint16_t        attempts;
            bool            hook;    /* cutoff only: adds a hook to the outbox, */
            int64_t         hook_ms; /* which is due then, by the outbox clock */
        } finalize;
        struct dn_write_missed {
            uint64_t registration;
            int64_t  at_ms;
            dn_day   first, last;
        } missed;
        struct dn_write_forget {
            dn_day before;
        } forget;
        struct dn_write_outbox_done {
            uint64_t id;
        } outbox_done;
        struct dn_write_outbox_later {
            uint64_t id;
            int64_t  next_ms; /* by the outbox clock */
            uint16_t attempts;
        } outbox_later;
        struct dn_write_token_add {
            const dn_token *token; /* its number is ignored */
        } token_add;
        struct dn_write_token_remove {
            uint64_t id;
        } token_remove;
    };
} dn_write;

typedef enum dn_wrote {
    DN_WROTE,      /* done. SET: the user existed */
    DN_WROTE_NEW,  /* SET: the user is new */
    DN_WROTE_LATE, /* FINALIZE: the day is finalized already; nothing changed */
    DN_WROTE_EARLY, /* FINALIZE as cutoff: at_ms is before the cutoff by the user's present due; nothing changed */
    DN_WROTE_GONE, /* no such user, hook or token; nothing changed */
} dn_wrote;

typedef struct dn_write_result {
    dn_wrote wrote;
    uint32_t rows; /* MISSED: rows added. FORGET: rows deleted; call again until it is 0 */
    union {
        dn_user
            user; /* SET, REMOVE, FINALIZE, MISSED, unless GONE: after this write; REMOVE: before it */
        uint64_t token_id; /* TOKEN_ADD: the number given to it */
    };
} dn_write_result;

/* Commits all writes in one transaction, in this order, or none of them. DN_OK: durable; power may fail on the next
 * instruction. On any other code results is undefined. */
DN_MUST_USE int dn_store_write(dn_store *store, const dn_write *writes, size_t len,
                               dn_write_result *results);

/* Of a store in memory, before anybody else uses it: a new user, as this one is in all but n, which is given. For a
 * replay that begins in the middle. DN_EINVAL: the store is on a disk. */
DN_MUST_USE int dn_store_begin_with(dn_store *store, dn_user *user);

/* ---- Keeping it well ---- */

/* DN_OK: sound. DN_EINVAL: damaged, and why says what was found first. */
DN_MUST_USE int dn_store_check(dn_store *store, char *why);

/* Copies the store to a new file a few pages at a time, while it goes on being used. *out_backup is ended with
 * dn_backup_free. DN_EEXIST: there is such a file; DN_EFAILED: no file can be made at that path. */
typedef struct dn_backup dn_backup;
DN_MUST_USE int          dn_store_backup(dn_store *store, const char *path, dn_backup **out_backup,
                                         char *why);
/* DN_PENDING: there is more to do. DN_OK: the copy is whole and on the disk. */
DN_MUST_USE int dn_backup_step(dn_backup *backup, char *why);
void dn_backup_free(dn_backup *backup); /* accepts NULL; one that is not whole is removed */
static inline void dn_backup_freep(dn_backup **backup) { dn_backup_free(*backup); }

/* After DN_EIO: NULL if the disk has failed; if what it gave is damaged, that in one line: which file, and what would be
 * right. Until the store is freed. */
const char *dn_store_damage(dn_store *store);

/* When nothing is to be done: makes the log short. */
DN_MUST_USE int dn_store_idle(dn_store *store);

#endif
