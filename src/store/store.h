/* store.h - the door to durable state: open a store, write to it, follow its changes, keep it in order.
 * daily.h, outbox.h and tokens.h have what can be read. A store belongs to one actor, which alone calls these functions,
 * except where a comment says otherwise. Every call may wait for the disk.
 *
 * Errors of every call on an open store:
 * - DN_EFULL: no room. Nothing was written. Wait, then repeat the call.
 * - DN_EAWAY: the database cannot be reached, or its answer to a commit was lost. A batch is then stored whole or not at
 *   all. Wait, then repeat the same writes in the same order: a write that is stored already changes nothing again, and its
 *   result is LATE, GONE or WROTE. sqlite: and memory: never return it.
 * - DN_ENOMEM: out of memory. Nothing was written.
 * - DN_EIO: the disk failed, or what it holds is damaged (dn_store_damage). Nothing acknowledged is lost, but after a failed
 *   fsync nobody knows what is on the disk: every later call returns DN_EIO too, and the process must end. */
#ifndef DIURNAL_STORE_STORE_H
#define DIURNAL_STORE_STORE_H

#include "store/daily.h"
#include "store/tokens.h"

typedef struct dn_store dn_store;

/* ---- Opening ---- */

enum { DN_STORE_WHY = 256 };

typedef struct dn_store_config {
    const char *url;         /* "sqlite:DIRECTORY", made (mode 0700) if it is missing; "memory:" */
    uint32_t    ledger_days; /* how long ledger rows are kept; 0: none are written */
    bool        read_only;   /* for a store that no daemon has open: makes and migrates nothing */
    const char *vfs;         /* SQLite's; NULL: its default. For fault tests */
} dn_store_config;

/* Locks the data directory, opens the file, checks it if it was not closed cleanly, and migrates it. DN_EEXIST: another
 * process has it. DN_EINVAL: the URL has no known scheme, or the file is not a diurnal store, is damaged, or was written by
 * a newer diurnal; the file is untouched. On any error why (DN_STORE_WHY bytes) gets one line: what, where, and what would
 * be right. */
DN_MUST_USE int    dn_store_open(const dn_store_config *config, dn_store **out_store, char *why);
void               dn_store_free(dn_store *store); /* accepts NULL */
static inline void dn_store_freep(dn_store **store) { dn_store_free(*store); }

/* Finds out if dn_store_open would fail, as far as this can be seen without writing. Codes and why as there; a store open in
 * this process counts as in use. Any thread. */
DN_MUST_USE int dn_store_probe(const dn_store_config *config, char *why);

/* Finds out if a process has this store open, and which one. A process that opens it at the same instant is delayed by a
 * millisecond at most. DN_EIO: unknown; why says what failed. Any thread. */
enum { DN_STORE_SIGN = 64 };
typedef struct dn_store_hold {
    bool     held;
    uint32_t owner; /* user id of the lock's owner */
    char     sign
        [DN_STORE_SIGN]; /* process and instant, unique to each holder; "": it could not write one */
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
    dn_write_op op;      /* which member of the union is set */
    uint64_t    context; /* the caller's; comes back in dn_user_change */
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
 * instruction. On any other code results is undefined.
 * *out_seq, which may be NULL, is the number of the commit. Commits are counted from 1 for as long as the store is open;
 * len 0 commits nothing and gives the last number. The number is not stored: another backend may let it stand for a snapshot
 * of the database, so callers only compare two numbers of the same open store. */
DN_MUST_USE int dn_store_write(dn_store *store, const dn_write *writes, size_t len,
                               dn_write_result *results, uint64_t *out_seq);

/* The clock by which the store judges a cutoff as EARLY and the outbox starts: the caller's wall clock, because both
 * backends run in the caller's process. A database server would answer with its own. */
int64_t dn_store_now_ms(const dn_store *store, int64_t caller_now_ms);

/* Adds a copy of this user, with a new number, to a store in memory that has no other user of the store yet. For a replay
 * that starts in the middle of a history. DN_EINVAL: the store is not in memory. */
DN_MUST_USE int dn_store_begin_with(dn_store *store, dn_user *user);

/* ---- Changes ---- */

/* A user as a commit left it. A FINALIZE refused as LATE or EARLY is a change too, because its writer believed
 * something else of the user. */
typedef struct dn_user_change {
    uint64_t seq;        /* of the commit */
    uint64_t context;    /* of the write */
    bool     removed;    /* `user` is as it was before */
    bool     by_request; /* by SET or REMOVE, so not by the passing of a day */
    dn_user  user;
} dn_user_change;

/* Starts to keep changes for one reader and returns the number of the last commit. Until then none are kept. Called
 * again it drops what is unread: a reader that restarts reads all users anew. */
uint64_t dn_store_follow(dn_store *store);

/* Reads the changes of the commits after after_seq, oldest first and whole commits only, and drops those up to after_seq.
 * *out_seq: every change up to this number has been given; pass it as the next after_seq. max is at least the length of the
 * longest batch.
 * At most DN_CHANGES_MAX changes are kept: a write that would make them more returns DN_ENOMEM, with nothing written,
 * unless every earlier change has been read. */
enum { DN_CHANGES_MAX = 65536 };
DN_MUST_USE int dn_store_changes(dn_store *store, uint64_t after_seq, dn_user_change *rows,
                                 size_t max, size_t *out_len, uint64_t *out_seq);

/* ---- Upkeep ---- */

/* Checks the whole store. DN_EINVAL: it is damaged, and why says what was found first. */
DN_MUST_USE int dn_store_check(dn_store *store, char *why);

/* Copies the store to a new file, a few pages a step, while it stays in use. path NULL: to a file beside the store that has
 * no name, for dn_backup_read. DN_EEXIST: the file exists. DN_EFAILED: no file can be made at this path. DN_EFULL: the disk
 * has no space for a copy. The caller ends *out_backup with dn_backup_free. */
typedef struct dn_backup dn_backup;
DN_MUST_USE int          dn_store_backup(dn_store *store, const char *path, dn_backup **out_backup,
                                         char *why);
/* DN_PENDING: not done yet. DN_OK: the copy is complete and, if it has a path, durable. */
DN_MUST_USE int dn_backup_step(dn_backup *backup, char *why);
/* Of a complete copy without a name: its size, and up to max of its bytes. *out_len 0: offset is at its end. */
uint64_t        dn_backup_bytes(const dn_backup *backup);
DN_MUST_USE int dn_backup_read(const dn_backup *backup, uint64_t offset, void *bytes, size_t max,
                               size_t *out_len);
/* Accepts NULL. Deletes a copy that is incomplete or has no name. */
void               dn_backup_free(dn_backup *backup);
static inline void dn_backup_freep(dn_backup **backup) { dn_backup_free(*backup); }

/* After DN_EIO: one line that names the damaged file and what to do, or NULL if the disk failed. Borrowed until the store
 * is freed. */
const char *dn_store_damage(dn_store *store);

/* Shortens the log. Call it when there is nothing else to do. */
DN_MUST_USE int dn_store_idle(dn_store *store);

#endif
