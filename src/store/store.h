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

#include "domain/daily.h"

typedef struct dn_store dn_store;

enum { DN_STORE_WHY = 256 };

typedef struct dn_store_config {
    const char *dir; /* of the data; made (mode 0700) if it is not there. NULL: in memory only */
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
DN_MUST_USE int dn_store_held(const char *dir, dn_store_hold *out_hold, char *why);

/* ---- Users ---- */

/* n numbers a registration: it is never given again, so an id that is removed and registered anew has a new
 * one, and what began under the old one finds nobody. */
typedef struct dn_user {
    uint64_t        n;
    uint32_t        due;
    dn_day          last_day, starts_on;
    dn_day          recorded; /* last day with a ledger row, finalized or missed */
    dn_daily_status status;   /* success or cutoff, if last_day is not DN_DAY_NONE */
    uint32_t        context_epoch;
    int64_t         last_run_ms; /* INT64_MIN: none */
    uint8_t         id_len;
    char            id[DN_ID_MAX + 1];
} dn_user;

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

/* ---- Reading ---- */

/* The next max users with a number greater than after_n, in that order. */
DN_MUST_USE int dn_store_load(dn_store *store, uint64_t after_n, dn_user *users, size_t max,
                              size_t *out_len);

/* DN_EDEAD: there is none. */
DN_MUST_USE int dn_store_user(dn_store *store, const char *id, size_t id_len, dn_user *out_user);

typedef struct dn_user_filter {
    const char     *after_id; /* NULL: from the beginning. In the order of the ids' bytes */
    size_t          after_len;
    const char     *prefix; /* NULL: any id */
    size_t          prefix_len;
    uint32_t        due_from, due_to; /* inclusive; 0 and 1439: all */
    dn_daily_status status;           /* of last_day; DN_DAILY_NONE: any */
    uint32_t        scan_max;         /* rows looked at, at most; 0: as many as it takes */
} dn_user_filter;

/* *out_more: there may be more, after the id in *out_last (which need not have matched). */
DN_MUST_USE int dn_store_list(dn_store *store, const dn_user_filter *filter, dn_user *users,
                              size_t max, size_t *out_len, bool *out_more, dn_user *out_last);

typedef struct dn_ledger_row {
    uint64_t        n;
    dn_day          day;
    dn_daily_status status;
    dn_error_class  cls;
    uint16_t        attempts;
    int64_t         at_ms;
} dn_ledger_row;

/* A user's rows, newest first, before the day `before`. */
DN_MUST_USE int dn_store_days_of(dn_store *store, uint64_t n, dn_day before, dn_ledger_row *rows,
                                 size_t max, size_t *out_len);
/* A day's rows, by user, after after_n. */
DN_MUST_USE int dn_store_day(dn_store *store, dn_day day, uint64_t after_n, dn_ledger_row *rows,
                             size_t max, size_t *out_len);

typedef struct dn_day_totals {
    dn_day   day;
    uint64_t success, cutoff, missed;
} dn_day_totals;

/* What was ever written for a day, first..last, days without anything left out. It stays when ledger rows are
 * forgotten or a user is removed; a day that was missed and is finalized after all counts as finalized. */
DN_MUST_USE int dn_store_totals(dn_store *store, dn_day first, dn_day last, dn_day_totals *rows,
                                size_t max, size_t *out_len);

/* From that day on the ledger has every row that was to be written; of the days before, some were forgotten, or written
 * without a ledger. DN_DAY_NONE: it has all there ever were. */
dn_day dn_store_ledger_since(dn_store *store);

DN_MUST_USE int dn_store_count(dn_store *store, uint64_t *out_users);

/* The outbox of cutoff hooks. When a hook is due is said by a clock of the outbox's own, which no step of the wall clock
 * moves. */
typedef struct dn_hook {
    uint64_t n;
    dn_day   day;
    uint32_t due, context_epoch;
    uint16_t attempts;
    int64_t  next_ms; /* not before */
    uint8_t  id_len;
    char     id[DN_ID_MAX + 1];
} dn_hook;

/* Those due at now_ms, the longest waiting first; *out_next_ms: when the next of the others is, INT64_MAX: never. */
DN_MUST_USE int dn_store_hooks(dn_store *store, int64_t now_ms, dn_hook *hooks, size_t max,
                               size_t *out_len, int64_t *out_next_ms);

/* How long after so many attempts the next one comes: 1 s after the first, then 2 s, 4 s ... 1 h. */
int64_t dn_hook_delay_ms(uint16_t attempts);

/* What the outbox's clock shows where it is begun anew: the wall's instant, or a later one, if by that any hook waited
 * longer than the delay behind its attempts; the wall clock has been set back since, then. */
DN_MUST_USE int dn_store_hooks_clock(dn_store *store, int64_t wall_ms, int64_t *out_ms);

/* ---- Tokens: who may ask over HTTP ---- */

/* Each may what the one before it may. */
typedef enum dn_scope { DN_SCOPE_NONE, DN_SCOPE_READ, DN_SCOPE_OPERATE, DN_SCOPE_ADMIN } dn_scope;

enum { DN_TOKEN_HASH = 32, DN_TOKEN_NAME_MAX = 64 };

typedef struct dn_token {
    uint64_t n;                /* is never given again */
    int64_t  made_ms, ends_ms; /* from ends_ms on it is worth nothing; INT64_MAX: never */
    dn_scope scope;
    uint8_t  hash[DN_TOKEN_HASH]; /* SHA-256; the token itself is not kept */
    uint8_t  name_len;
    char     name[DN_TOKEN_NAME_MAX + 1];
} dn_token;

/* The first max, in the order they were made. */
DN_MUST_USE int dn_store_tokens(dn_store *store, dn_token *tokens, size_t max, size_t *out_len);
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
