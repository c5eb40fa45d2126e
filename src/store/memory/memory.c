/* memory.c - a store in memory only: for simulation and replay, where it is asked a hundred million times.
 * Everything a batch may need is reserved before the first write, so that it is all done or not begun. A user is
 * found by its number in an array; a number is never given again, so what was removed leaves 40 bytes behind, and
 * its id as many as it is long. */
#define _GNU_SOURCE /* qsort_r */
#include "backend.h"
#include "base/pages.h"
#include "memory/memory_ids.h"
#include "memory/memory_ledger.h"
#include "memory/memory_outbox.h"
#include "memory/memory_tokens.h"
#include "store_totals.h"
#include "store_user.h"

#include <assert.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_USERS = 1024, FIRST_ID_BYTES = 16384 };

typedef struct memory_user {
    int64_t  last_run_ms;
    uint64_t hook; /* the newest one, 0: none; it may be gone */
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
    memory_user  *users; /* by number; there is no user 0 */
    size_t        users_cap;
    uint64_t      next_n, count;
    char         *id_bytes;
    size_t        id_len, id_cap;
    ids           ids;
    ledger        ledger;
    totals        totals;
    outbox        hooks;
    memory_tokens tokens;
    uint32_t     *sorted; /* numbers in the order of their ids; NULL: users have come or gone */
    size_t        sorted_len;
} memory;

static memory *memory_of(dn_store *store) { return (memory *)(void *)store; }

/* ---- Users ---- */

static memory_user *user_at(const memory *m, uint64_t n) {
    return n > 0 && n < m->next_n && m->users[n].id_len ? &m->users[n] : NULL;
}

static bool has_id(const void *context, uint32_t n, const char *id, size_t len) {
    const memory      *m = context;
    const memory_user *u = &m->users[n];

    return u->id_len == len && memcmp(m->id_bytes + u->id_at, id, len) == 0;
}

static uint64_t find_id(const memory *m, const char *id, size_t len) {
    return ids_find(&m->ids, id, len, has_id, m);
}

static void user_read(const memory *m, uint64_t n, dn_user *out) {
    const memory_user *u = &m->users[n];

    out->n = n;
    out->due = u->due;
    out->last_day = u->last_day;
    out->starts_on = u->starts_on;
    out->recorded = u->recorded;
    out->status = (dn_daily_status)u->status;
    out->context_epoch = u->context_epoch;
    out->last_run_ms = u->last_run_ms;
    out->id_len = u->id_len;
    dn_id_copy(out->id, m->id_bytes + u->id_at, u->id_len);
    out->id[u->id_len] = '\0';
}

/* All but the id, which never changes. */
static void user_keep(memory_user *u, const dn_user *user) {
    u->due = (uint16_t)user->due;
    u->last_day = user->last_day;
    u->starts_on = user->starts_on;
    u->recorded = user->recorded;
    u->status = (uint8_t)user->status;
    u->context_epoch = user->context_epoch;
    u->last_run_ms = user->last_run_ms;
}

static void sorted_forget(memory *m) {
    free(m->sorted);
    m->sorted = NULL;
}

/* Scattered finalizations wait for memory more than for anything else, so the user, and then its id and its row,
 * are asked for some writes before they are needed (measured: twice as fast). */
enum { FETCH_USER = 24, FETCH_REST = 12 };

/* Both ends: most lie across two lines of the cache. */
static void fetch_user(const memory *m, const dn_write *w) {
    if (w->n >= m->next_n) return;
    __builtin_prefetch(&m->users[w->n].last_run_ms, /* for writing */ 1);
    __builtin_prefetch(&m->users[w->n].status, /* for writing */ 1);
}

/* ---- Room for a batch ---- */

/* What a batch may need, at most. Rows are reserved one by one. */
typedef struct memory_needs {
    size_t users, id_bytes, days, hooks, moves;
} memory_needs;

static int reserve_rows(memory *m, const dn_write *w, dn_day last) {
    for (dn_day day = w->day; day <= last; day++) {
        const int code = ledger_reserve(&m->ledger, day, w->n);
        if (code < 0) return code;
    }
    return DN_OK;
}

static size_t days_in(const dn_write *w) {
    return w->last_day < w->day ? 0 : (size_t)((int64_t)w->last_day - w->day + 1);
}

static int grow(void **array, size_t *cap, size_t wanted, size_t size) {
    size_t grown_cap = *cap;
    void  *grown;

    if (wanted <= *cap) return DN_OK;
    while (grown_cap < wanted) grown_cap *= 2;
    grown = dn_pages_grow_large(*array, *cap * size, grown_cap * size);
    if (!grown) return DN_ENOMEM;
    *array = grown;
    *cap = grown_cap;
    return DN_OK;
}

static int reserve_users(memory *m, const memory_needs *needs) {
    void *users = m->users, *bytes = m->id_bytes;
    int   code;

    if (needs->users == 0) return DN_OK;
    if (m->next_n + needs->users > UINT32_MAX || m->id_len + needs->id_bytes > UINT32_MAX)
        return DN_ENOMEM; /* the bound of what is numbered with 32 bits here */
    code = grow(&users, &m->users_cap, m->next_n + needs->users, sizeof *m->users);
    m->users = users;
    if (code == DN_OK) code = grow(&bytes, &m->id_cap, m->id_len + needs->id_bytes, 1);
    m->id_bytes = bytes;
    return code == DN_OK ? ids_reserve(&m->ids, needs->users) : code;
}

static int reserve(memory *m, const dn_write *writes, size_t len) {
    memory_needs needs = {0};
    int          code = DN_OK;

    for (size_t i = 0; i < len && code == DN_OK; i++) {
        const dn_write *w = &writes[i];
        if (i < FETCH_USER) fetch_user(m, w);
        /* A number may be one that this batch gives. */
        const bool rows = m->ledger_on && w->n > 0 && w->n < m->next_n + len;
        switch (w->op) {
        case DN_WRITE_SET:
            needs.users++;
            needs.id_bytes += w->id_len;
            break;
        case DN_WRITE_FINALIZE:
            needs.days++;
            needs.hooks += w->hook;
            if (rows) code = ledger_reserve(&m->ledger, w->day, w->n);
            break;
        case DN_WRITE_MISSED:
            needs.days += days_in(w);
            if (rows) code = reserve_rows(m, w, w->last_day);
            break;
        case DN_WRITE_HOOK_LATER: needs.moves++; break;
        case DN_WRITE_REMOVE:
        case DN_WRITE_HOOK_DONE:
        case DN_WRITE_FORGET: break;
        }
    }
    if (code == DN_OK) code = reserve_users(m, &needs);
    if (code == DN_OK) code = totals_reserve(&m->totals, needs.days);
    return code == DN_OK ? outbox_reserve(&m->hooks, needs.hooks, needs.moves) : code;
}

/* ---- Writing ---- */

static dn_day_totals *totals_of(memory *m, dn_day day) {
    return totals_at_borrow(&m->totals, day, NULL);
}

static void write_new_user(memory *m, const dn_write *w, dn_write_result *result) {
    memory_user *u = &m->users[m->next_n];

    user_begin(&result->user, m->next_n, w);
    *u = (memory_user){.id_at = (uint32_t)m->id_len, .id_len = w->id_len};
    memcpy(m->id_bytes + m->id_len, w->id, w->id_len);
    m->id_len += w->id_len;
    user_keep(u, &result->user);
    ids_add(&m->ids, w->id, w->id_len, (uint32_t)m->next_n);
    m->next_n++;
    m->count++;
    sorted_forget(m);
    result->wrote = DN_WROTE_NEW;
}

static void write_set(memory *m, const dn_write *w, dn_write_result *result) {
    const uint64_t n = find_id(m, w->id, w->id_len);

    result->has_user = true;
    if (!n) {
        write_new_user(m, w, result);
        return;
    }
    user_read(m, n, &result->user);
    if (user_set(&result->user, w)) user_keep(&m->users[n], &result->user);
}

static void write_remove(memory *m, const dn_write *w, dn_write_result *result) {
    const uint64_t n = find_id(m, w->id, w->id_len);

    if (!n) {
        result->wrote = DN_WROTE_GONE;
        return;
    }
    result->has_user = true;
    user_read(m, n, &result->user);
    outbox_remove_user(&m->hooks, n, m->users[n].hook);
    ledger_remove(&m->ledger, n);
    ids_remove(&m->ids, w->id, w->id_len, (uint32_t)n);
    m->users[n].id_len = 0;
    m->count--;
    sorted_forget(m);
}

static void hook_add(memory *m, const dn_user *user, const dn_write *w) {
    memory_user *u = &m->users[user->n];

    u->hook = outbox_add(&m->hooks, (outbox_hook){.user = user->n,
                                                  .older = u->hook,
                                                  .next_ms = w->hook_ms,
                                                  .day = w->day,
                                                  .context_epoch = user->context_epoch,
                                                  .due = (uint16_t)user->due});
}

static void ledger_finalize(memory *m, const dn_write *w, dn_day recorded) {
    const ledger_slot row = {w->at_ms, w->attempts, (uint8_t)w->status, (uint8_t)w->cls};
    ledger_slot      *missed =
        m->ledger_on && w->day <= recorded ? ledger_find(&m->ledger, w->day, w->n) : NULL;

    totals_count(totals_of(m, w->day), w->status);
    /* Without rows it is taken that every day up to `recorded` that was not finalized was missed. */
    if (missed || (!m->ledger_on && w->day <= recorded)) totals_unmiss(totals_of(m, w->day));
    if (missed) *missed = row;
    else if (m->ledger_on) ledger_add(&m->ledger, w->day, w->n, row);
    else m->ledger_since = ledger_since_after(m->ledger_since, w->day);
}

static void write_finalize(memory *m, const dn_write *w, dn_write_result *result) {
    result->has_user = user_at(m, w->n) != NULL;
    if (!result->has_user) {
        result->wrote = DN_WROTE_GONE;
        return;
    }
    user_read(m, w->n, &result->user);

    const dn_day recorded = result->user.recorded;
    result->wrote = user_finalize(&result->user, w);
    if (result->wrote != DN_WROTE) return;
    user_keep(&m->users[w->n], &result->user);
    ledger_finalize(m, w, recorded);
    if (w->hook) hook_add(m, &result->user, w);
}

static void write_missed(memory *m, const dn_write *w, dn_write_result *result) {
    dn_user *user = &result->user;

    result->has_user = user_at(m, w->n) != NULL;
    if (!result->has_user) {
        result->wrote = DN_WROTE_GONE;
        return;
    }
    user_read(m, w->n, user);
    const dn_day_range range = user_missed(user, w);
    for (dn_day day = range.first; day <= range.last; day++) {
        const bool there =
            m->ledger_on ? ledger_find(&m->ledger, day, w->n) != NULL : day <= user->recorded;
        if (there) continue;
        if (!m->ledger_on) m->ledger_since = ledger_since_after(m->ledger_since, day);
        if (m->ledger_on)
            ledger_add(&m->ledger, day, w->n,
                       (ledger_slot){.at_ms = w->at_ms, .status = DN_DAILY_MISSED});
        totals_count(totals_of(m, day), DN_DAILY_MISSED);
        if (day > user->recorded) user->recorded = day;
        result->rows++;
    }
    user_keep(&m->users[w->n], user);
}

static void write_one(memory *m, const dn_write *w, dn_write_result *result) {
    result->wrote = DN_WROTE;
    result->rows = 0;
    result->has_user = false;
    switch (w->op) {
    case DN_WRITE_SET: write_set(m, w, result); return;
    case DN_WRITE_REMOVE: write_remove(m, w, result); return;
    case DN_WRITE_FINALIZE: write_finalize(m, w, result); return;
    case DN_WRITE_MISSED: write_missed(m, w, result); return;
    case DN_WRITE_HOOK_DONE:
        if (!outbox_remove(&m->hooks, w->n)) result->wrote = DN_WROTE_GONE;
        return;
    case DN_WRITE_HOOK_LATER:
        if (!outbox_move(&m->hooks, w->n, w->attempts, w->at_ms)) result->wrote = DN_WROTE_GONE;
        return;
    case DN_WRITE_FORGET:
        if (m->ledger_since < w->day) m->ledger_since = w->day;
        result->rows = ledger_forget(&m->ledger, w->day, STORE_FORGET_MAX);
        return;
    }
}

static void fetch_rest(memory *m, const dn_write *w) {
    if (w->op == DN_WRITE_SET) ids_fetch(&m->ids, w->id, w->id_len);
    if (w->op != DN_WRITE_FINALIZE || w->n >= m->next_n) return;
    __builtin_prefetch(m->id_bytes + m->users[w->n].id_at);
    if (m->ledger_on) ledger_fetch(&m->ledger, w->day, w->n);
}

/* The first users have been asked for with the room for all (reserve): most batches are no longer than that. */
static void fetch_first(memory *m, const dn_write *writes, size_t len) {
    for (size_t i = 0; i < FETCH_REST && i < len; i++) fetch_rest(m, &writes[i]);
}

static void fetch_ahead(memory *m, const dn_write *writes, size_t len, size_t i) {
    if (i + FETCH_USER < len) fetch_user(m, &writes[i + FETCH_USER]);
    if (i + FETCH_REST < len) fetch_rest(m, &writes[i + FETCH_REST]);
}

static int memory_write(dn_store *store, const dn_write *writes, size_t len,
                        dn_write_result *results) {
    memory   *m = memory_of(store);
    bool      sweep = false;
    const int code = reserve(m, writes, len);

    if (code < 0) return code;
    fetch_first(m, writes, len);
    for (size_t i = 0; i < len; i++) {
        fetch_ahead(m, writes, len, i);
        write_one(m, &writes[i], &results[i]);
        sweep |= writes[i].op == DN_WRITE_REMOVE || writes[i].op == DN_WRITE_FORGET;
    }
    if (sweep) ledger_sweep(&m->ledger);
    return DN_OK;
}

static int memory_begin_with(dn_store *store, dn_user *user) {
    const dn_write  set = {.op = DN_WRITE_SET,
                           .id = user->id,
                           .id_len = user->id_len,
                           .due = user->due,
                           .day = user->starts_on,
                           .starts_on = user->starts_on};
    dn_write_result made;
    memory         *m = memory_of(store);
    const int       code = memory_write(store, &set, 1, &made);

    if (code < 0) return code;
    user->n = made.user.n;
    assert(user_is_sound(user));
    user_keep(&m->users[user->n], user);
    return DN_OK;
}

/* ---- Reading ---- */

static int memory_load(dn_store *store, uint64_t after_n, dn_user *users, size_t max,
                       size_t *out_len) {
    const memory *m = memory_of(store);
    size_t        len = 0;

    for (uint64_t n = after_n + 1; n > after_n && n < m->next_n && len < max; n++)
        if (m->users[n].id_len) user_read(m, n, &users[len++]);
    *out_len = len;
    return DN_OK;
}

static int memory_user_by_id(dn_store *store, const char *id, size_t id_len, dn_user *out_user) {
    const memory  *m = memory_of(store);
    const uint64_t n = id_len && id_len <= DN_ID_MAX ? find_id(m, id, id_len) : 0;

    if (!n) return DN_EDEAD;
    user_read(m, n, out_user);
    return DN_OK;
}

/* An id's first bytes lie beside its number: most ids differ in them, and nobody else's memory is touched. */
typedef struct sort_key {
    uint64_t first;
    uint32_t n;
} sort_key;

static sort_key sort_key_of(const memory *m, uint64_t n) {
    const memory_user *u = &m->users[n];
    sort_key           key = {.n = (uint32_t)n};

    memcpy(&key.first, m->id_bytes + u->id_at,
           u->id_len < sizeof key.first ? u->id_len : sizeof key.first);
    key.first = be64toh(key.first);
    return key;
}

/* By the first bytes alone, the last of them first, into as many places at a time as a byte has values: what all have in
 * common takes no time. spare: as many again. Returns which of the two has them in order. */
static sort_key *sort_by_first(sort_key *keys, sort_key *spare, size_t len) {
    enum { BYTES = sizeof keys->first, VALUES = 256 };
    size_t before[BYTES][VALUES] = {{0}};

    for (size_t i = 0; i < len; i++)
        for (int byte = 0; byte < BYTES; byte++) before[byte][keys[i].first >> byte * 8 & 0xff]++;
    for (int byte = 0; byte < BYTES && len > 0; byte++) {
        size_t *const at = before[byte];
        size_t        sum = 0;
        if (at[keys[0].first >> byte * 8 & 0xff] == len) continue;
        for (int value = 0; value < VALUES; value++) {
            const size_t here = at[value];
            at[value] = sum;
            sum += here;
        }
        for (size_t i = 0; i < len; i++) spare[at[keys[i].first >> byte * 8 & 0xff]++] = keys[i];
        sort_key *const sorted = spare;
        spare = keys;
        keys = sorted;
    }
    return keys;
}

static int compare_by_id(const void *a, const void *b, void *context) {
    const sort_key    *x = a, *y = b;
    const memory      *m = context;
    const memory_user *left = &m->users[x->n], *right = &m->users[y->n];

    return id_compare(m->id_bytes + left->id_at, left->id_len, m->id_bytes + right->id_at,
                      right->id_len);
}

static void sort_keys(memory *m, sort_key *keys, sort_key *spare, size_t len) {
    sort_key *const sorted = sort_by_first(keys, spare, len);

    for (size_t from = 0, to; from < len; from = to) {
        for (to = from + 1; to < len && sorted[to].first == sorted[from].first;) to++;
        if (to - from > 1) qsort_r(sorted + from, to - from, sizeof *sorted, compare_by_id, m);
    }
    for (size_t i = 0; i < len; i++) m->sorted[i] = sorted[i].n;
    m->sorted_len = len;
}

static int sort_users(memory *m) {
    sort_key *keys;
    size_t    len = 0;

    if (m->sorted) return DN_OK;
    m->sorted = malloc((m->count + 1) * sizeof *m->sorted);
    keys = malloc((m->count + 1) * 2 * sizeof *keys);
    if (!m->sorted || !keys) {
        free(keys);
        free(m->sorted);
        m->sorted = NULL;
        return DN_ENOMEM;
    }
    for (uint64_t n = 1; n < m->next_n; n++)
        if (m->users[n].id_len) keys[len++] = sort_key_of(m, n);
    assert(len == m->count);
    sort_keys(m, keys, keys + len, len);
    free(keys);
    return DN_OK;
}

/* Where the first id stands that is not before this one; after it, if it is the very same and `after`. */
static size_t sorted_from(const memory *m, const char *id, size_t id_len, bool after) {
    size_t low = 0, high = m->sorted_len;

    while (low < high) {
        const size_t       middle = low + (high - low) / 2;
        const memory_user *u = &m->users[m->sorted[middle]];
        const int          order = id_compare(m->id_bytes + u->id_at, u->id_len, id, id_len);
        if (order < 0 || (after && order == 0)) low = middle + 1;
        else high = middle;
    }
    return low;
}

static int memory_list(dn_store *store, const dn_user_filter *f, dn_user *users, size_t max,
                       size_t *out_len, bool *out_more, dn_user *out_last) {
    memory   *m = memory_of(store);
    size_t    len = 0, scanned = 0, at, from;
    const int code = sort_users(m);

    if (code < 0) return code;
    at = f->after_len ? sorted_from(m, f->after_id, f->after_len, /* after= */ true) : 0;
    from = f->prefix_len ? sorted_from(m, f->prefix, f->prefix_len, /* after= */ false) : 0;
    if (at < from) at = from;

    *out_more = false;
    for (; at < m->sorted_len; at++) {
        const memory_user *u = &m->users[m->sorted[at]];
        if (at + FETCH_USER < m->sorted_len)
            __builtin_prefetch(&m->users[m->sorted[at + FETCH_USER]]);
        if (!id_has_prefix(m->id_bytes + u->id_at, u->id_len, f)) break;
        *out_more = len == max || (f->scan_max && scanned == f->scan_max);
        if (*out_more) break;
        scanned++;
        user_read(m, m->sorted[at], &users[len]);
        if (user_passes(&users[len], f)) len++;
    }
    if (scanned) user_read(m, m->sorted[at - 1], out_last);
    *out_len = len;
    return DN_OK;
}

static int memory_days_of(dn_store *store, uint64_t n, dn_day before, dn_ledger_row *rows,
                          size_t max, size_t *out_len) {
    *out_len = ledger_days_of(&memory_of(store)->ledger, n, before, rows, max);
    return DN_OK;
}

static int memory_day(dn_store *store, dn_day day, uint64_t after_n, dn_ledger_row *rows,
                      size_t max, size_t *out_len) {
    *out_len = ledger_day_rows(&memory_of(store)->ledger, day, after_n, rows, max);
    return DN_OK;
}

static int memory_totals(dn_store *store, dn_day first, dn_day last, dn_day_totals *rows,
                         size_t max, size_t *out_len) {
    const totals *t = &memory_of(store)->totals;
    size_t        len = 0;

    for (size_t i = totals_from(t, first); i < t->len && t->days[i].day <= last && len < max; i++)
        if (t->days[i].success + t->days[i].cutoff + t->days[i].missed) rows[len++] = t->days[i];
    *out_len = len;
    return DN_OK;
}

static dn_day memory_ledger_since(dn_store *store) { return memory_of(store)->ledger_since; }

static int memory_count(dn_store *store, uint64_t *out_users) {
    *out_users = memory_of(store)->count;
    return DN_OK;
}

static void hook_read(const memory *m, uint64_t n, const outbox_hook *hook, dn_hook *out) {
    const memory_user *u = &m->users[hook->user];

    *out = (dn_hook){.n = n,
                     .day = hook->day,
                     .due = hook->due,
                     .context_epoch = hook->context_epoch,
                     .attempts = hook->attempts,
                     .next_ms = hook->next_ms,
                     .id_len = u->id_len};
    memcpy(out->id, m->id_bytes + u->id_at, u->id_len);
}

static int memory_hooks(dn_store *store, int64_t now_ms, dn_hook *hooks, size_t max,
                        size_t *out_len, int64_t *out_next_ms) {
    const memory      *m = memory_of(store);
    const outbox_hook *hook;
    size_t             at = 0, len = 0;
    uint64_t           n;

    while ((hook = outbox_next_borrow(&m->hooks, &at, &n)) && hook->next_ms <= now_ms && len < max)
        hook_read(m, n, hook, &hooks[len++]);
    *out_len = len;
    *out_next_ms = hook ? hook->next_ms : INT64_MAX;
    return DN_OK;
}

static int memory_hooks_clock(dn_store *store, int64_t wall_ms, int64_t *out_ms) {
    const memory      *m = memory_of(store);
    const outbox_hook *hook;
    size_t             at = 0;
    uint64_t           n;

    *out_ms = wall_ms;
    while ((hook = outbox_next_borrow(&m->hooks, &at, &n)))
        *out_ms = hooks_clock_after(*out_ms, hook->attempts, hook->next_ms);
    return DN_OK;
}

/* ---- The rest ---- */

/* ---- Tokens ---- */

static int memory_tokens_read(dn_store *store, dn_token *tokens, size_t max, size_t *out_len) {
    const memory_tokens *t = &memory_of(store)->tokens;

    *out_len = t->len < max ? t->len : max;
    if (*out_len > 0) memcpy(tokens, t->rows, *out_len * sizeof *tokens);
    return DN_OK;
}

static int memory_token_add(dn_store *store, dn_token *token) {
    return tokens_add(&memory_of(store)->tokens, token);
}

static int memory_token_remove(dn_store *store, uint64_t n) {
    return tokens_remove(&memory_of(store)->tokens, n);
}

static int memory_check(dn_store *store, char *why) {
    (void)store;
    *why = '\0';
    return DN_OK; /* there is no disk that could have damaged it */
}

static int memory_backup(dn_store *store, const char *path, dn_backup **out_backup, char *why) {
    (void)store, (void)out_backup;
    return store_refuse(DN_EINVAL, why,
                        "%s: a store in memory has no file to copy: name a data directory", path);
}

static int memory_idle(dn_store *store) {
    (void)store;
    return DN_OK;
}

static void memory_free(dn_store *store) {
    memory *m = memory_of(store);

    sorted_forget(m);
    outbox_done(&m->hooks);
    tokens_done(&m->tokens);
    totals_done(&m->totals);
    ledger_done(&m->ledger);
    ids_done(&m->ids);
    dn_pages_free(m->id_bytes, m->id_cap);
    dn_pages_free(m->users, m->users_cap * sizeof *m->users);
    free(m);
}

static const store_ops memory_ops = {
    .free = memory_free,
    .write = memory_write,
    .begin_with = memory_begin_with,
    .load = memory_load,
    .user = memory_user_by_id,
    .list = memory_list,
    .days_of = memory_days_of,
    .day = memory_day,
    .totals = memory_totals,
    .ledger_since = memory_ledger_since,
    .count = memory_count,
    .hooks = memory_hooks,
    .hooks_clock = memory_hooks_clock,
    .tokens = memory_tokens_read,
    .token_add = memory_token_add,
    .token_remove = memory_token_remove,
    .check = memory_check,
    .backup = memory_backup,
    .idle = memory_idle,
};

int memory_open(const char *place, const dn_store_config *config, dn_store **out_store, char *why) {
    memory *m = calloc(1, sizeof *m);

    (void)place;
    if (m) m->users = calloc(FIRST_USERS, sizeof *m->users);
    if (m) m->id_bytes = malloc(FIRST_ID_BYTES);
    if (!m || !m->users || !m->id_bytes) {
        if (m) memory_free(&m->base);
        return store_refuse(DN_ENOMEM, why, "a store in memory: out of memory");
    }
    m->base.ops = &memory_ops;
    m->ledger_on = config->ledger_days > 0;
    m->ledger_since = DN_DAY_NONE;
    m->users_cap = FIRST_USERS;
    m->id_cap = FIRST_ID_BYTES;
    m->next_n = 1;
    outbox_init(&m->hooks);
    *out_store = &m->base;
    return DN_OK;
}
