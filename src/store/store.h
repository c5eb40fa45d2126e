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

/* ---- Writing: everything in one transaction, in this order, or nothing ---- */

typedef enum dn_write_op {
    DN_WRITE_SET,      /* registers id, or changes its due */
    DN_WRITE_REMOVE,   /* id, with all that is durable of it: its ledger rows and hooks too */
    DN_WRITE_FINALIZE, /* n for day */
    DN_WRITE_MISSED, /* ledger rows `missed` for n, day..last_day, where there is none and it is not finalized */
    DN_WRITE_HOOK_DONE,  /* hook `n` of the outbox has been delivered, or given up */
    DN_WRITE_HOOK_LATER, /* hook `n` is tried again at at_ms; attempts so far */
    DN_WRITE_FORGET,     /* ledger rows of days before `day`, a few thousand of them at most */
} dn_write_op;

typedef struct dn_write {
    dn_write_op     op;
    uint32_t        due; /* SET */
    uint64_t        n;   /* FINALIZE, MISSED, HOOK_* */
    const char     *id;  /* SET, REMOVE; borrowed for the call */
    uint8_t         id_len;
    bool            hook;     /* FINALIZE as cutoff: put one in the outbox, due at hook_ms */
    uint16_t        attempts; /* FINALIZE, HOOK_LATER */
    dn_daily_status status;   /* FINALIZE: success or cutoff */
    dn_error_class  cls;      /* FINALIZE: of the last attempt that was not ok */
    dn_day          day;      /* FINALIZE, FORGET; MISSED: the first; SET: the date of now */
    dn_day          last_day; /* MISSED: the last */
    /* SET: at the earliest it is the date of now, or the day behind the last finalized one, or the one the user has if
     * that is earlier. DN_DAY_NONE: leave it, or new_starts_on for a new user */
    dn_day  starts_on;
    dn_day  new_starts_on;
    int64_t at_ms;   /* FINALIZE, MISSED: the instant it is recorded with; HOOK_LATER */
    int64_t hook_ms; /* FINALIZE: by the clock of the outbox, as at_ms of HOOK_LATER is */
    void   *context; /* the caller's */
} dn_write;

typedef enum dn_wrote {
    DN_WROTE,      /* done. SET: user was there, or is now */
    DN_WROTE_NEW,  /* SET: a new user */
    DN_WROTE_LATE, /* FINALIZE: the day was finalized; nothing is changed */
    DN_WROTE_EARLY, /* FINALIZE as cutoff: by the due it has now the cutoff is still to come (at_ms) */
    DN_WROTE_GONE, /* no such registration, id or hook */
} dn_wrote;

typedef struct dn_write_result {
    dn_wrote wrote;
    uint32_t rows;     /* MISSED, FORGET: how many */
    bool     has_user; /* user is what it is after this write (REMOVE: before) */
    dn_user  user;
} dn_write_result;

/* A FINALIZE writes the user's row, the ledger's, and the hook; a cutoff makes the epoch one more; a success sets
 * last_run_ms to at_ms. DN_OK: committed, and power may fail on the next instruction. Else results hold nothing. */
DN_MUST_USE int dn_store_write(dn_store *store, const dn_write *writes, size_t len,
                               dn_write_result *results);

/* Of a store in memory, before anybody else uses it: a new user, as this one is in all but n, which is given. For a
 * replay that begins in the middle. DN_EINVAL: the store is on a disk. */
DN_MUST_USE int dn_store_begin_with(dn_store *store, dn_user *user);

/* ---- Tokens: who may ask over HTTP ---- */

/* Gives it its number. On DN_OK it is committed, and after a remove it is gone for good. DN_EDEAD: there is none. */
DN_MUST_USE int dn_store_token_add(dn_store *store, dn_token *token);
DN_MUST_USE int dn_store_token_remove(dn_store *store, uint64_t n);

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
