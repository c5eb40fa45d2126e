/* memory_write.c - a batch of writes to a store in memory.
 * Everything a batch may need is reserved before its first write, so that it is done whole or not begun. */
#include "base/pages.h"
#include "memory/memory_store.h"
#include "store_user.h"

#include <assert.h>
#include <string.h>

/* Scattered finalizations mostly wait for memory. Prefetching the user, then its id and row, some writes ahead makes
 * them twice as fast (measured). */
enum { FETCH_USER = 24, FETCH_REST = 12 };

/* Both ends, because most users span two cache lines. */
static void fetch_user(const memory *m, const dn_write *w) {
    if (w->op != DN_WRITE_FINALIZE || w->finalize.registration >= m->next_n) return;
    const uint64_t n = w->finalize.registration;
    __builtin_prefetch(&m->users[n].last_run_ms, /* for writing */ 1);
    __builtin_prefetch(&m->users[n].status, /* for writing */ 1);
}

/* ---- Room for a batch ---- */

/* What a batch needs at most. Ledger rows are reserved one by one. */
typedef struct memory_needs {
    size_t users, id_bytes, days, hooks, moves, tokens;
} memory_needs;

static int reserve_rows(memory *m, uint64_t n, dn_day first, dn_day last, size_t batch_len) {
    int code = DN_OK;

    /* The batch itself may give this number. With any higher one the write will find no user. */
    if (!m->ledger_on || n == 0 || n >= m->next_n + batch_len) return DN_OK;
    for (dn_day day = first; day <= last && code == DN_OK; day++)
        code = ledger_reserve(&m->ledger, day, n);
    return code;
}

static size_t days_in(const struct dn_write_missed *w) {
    return w->last < w->first ? 0 : (size_t)((int64_t)w->last - w->first + 1);
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
        return DN_ENOMEM; /* ids and numbers have 32 bits here */
    code = grow(&users, &m->users_cap, m->next_n + needs->users, sizeof *m->users);
    m->users = users;
    if (code == DN_OK) code = grow(&bytes, &m->id_cap, m->id_len + needs->id_bytes, 1);
    m->id_bytes = bytes;
    return code == DN_OK ? dn_index_reserve(&m->by_id, needs->users) : code;
}

static int reserve(memory *m, const dn_write *writes, size_t len) {
    memory_needs needs = {0};
    int          code = DN_OK;

    for (size_t i = 0; i < len && code == DN_OK; i++) {
        const dn_write *w = &writes[i];
        if (i < FETCH_USER) fetch_user(m, w);
        switch (w->op) {
        case DN_WRITE_SET:
            needs.users++;
            needs.id_bytes += w->set.id_len;
            break;
        case DN_WRITE_FINALIZE:
            needs.days++;
            needs.hooks += w->finalize.hook;
            code = reserve_rows(m, w->finalize.registration, w->finalize.day, w->finalize.day, len);
            break;
        case DN_WRITE_MISSED:
            needs.days += days_in(&w->missed);
            code = reserve_rows(m, w->missed.registration, w->missed.first, w->missed.last, len);
            break;
        case DN_WRITE_OUTBOX_LATER: needs.moves++; break;
        case DN_WRITE_TOKEN_ADD: needs.tokens++; break;
        case DN_WRITE_REMOVE:
        case DN_WRITE_FORGET:
        case DN_WRITE_OUTBOX_DONE:
        case DN_WRITE_TOKEN_REMOVE: break;
        }
    }
    if (code == DN_OK) code = reserve_users(m, &needs);
    if (code == DN_OK) code = totals_reserve(&m->totals, needs.days);
    if (code == DN_OK) code = tokens_reserve(&m->tokens, needs.tokens);
    return code == DN_OK ? outbox_reserve(&m->hooks, needs.hooks, needs.moves) : code;
}

/* ---- Writes ---- */

static dn_day_totals *totals_of(memory *m, dn_day day) {
    return totals_at_borrow(&m->totals, day, NULL);
}

static void write_new_user(memory *m, const struct dn_write_set *w, dn_write_result *result) {
    memory_user *u = &m->users[m->next_n];

    user_begin(&result->user, m->next_n, w);
    *u = (memory_user){.id_at = (uint32_t)m->id_len, .id_len = w->id_len};
    memcpy(m->id_bytes + m->id_len, w->id, w->id_len);
    m->id_len += w->id_len;
    memory_user_keep(u, &result->user);
    dn_index_add(&m->by_id, memory_hash_of(w->id, w->id_len), (uint32_t)m->next_n);
    m->next_n++;
    m->count++;
    memory_sorted_forget(m);
    result->wrote = DN_WROTE_NEW;
}

static void write_set(memory *m, const struct dn_write_set *w, dn_write_result *result) {
    const uint64_t n = memory_find_id(m, w->id, w->id_len);

    if (!n) {
        write_new_user(m, w, result);
        return;
    }
    memory_user_read(m, n, &result->user);
    if (user_set(&result->user, w)) memory_user_keep(&m->users[n], &result->user);
}

static void write_remove(memory *m, const struct dn_write_remove *w, dn_write_result *result) {
    dn_index_cell *cell = memory_cell_of(m, w->id, w->id_len);

    if (!cell) {
        result->wrote = DN_WROTE_GONE;
        return;
    }
    const uint64_t n = dn_index_row(cell);
    memory_user_read(m, n, &result->user);
    outbox_remove_user(&m->hooks, n, m->users[n].hook);
    ledger_remove(&m->ledger, n);
    dn_index_drop(&m->by_id, cell);
    m->users[n].id_len = 0;
    m->count--;
    memory_sorted_forget(m);
}

static void hook_add(memory *m, const dn_user *user, const struct dn_write_finalize *f) {
    memory_user *u = &m->users[user->registration];

    u->hook = outbox_add(&m->hooks, (outbox_hook){.user = user->registration,
                                                  .older = u->hook,
                                                  .next_ms = f->hook_ms,
                                                  .day = f->day,
                                                  .context_epoch = user->context_epoch,
                                                  .due = (uint16_t)user->due});
}

static void ledger_finalize(memory *m, const struct dn_write_finalize *f, dn_day recorded) {
    const ledger_slot row = {f->at_ms, f->attempts, (uint8_t)f->status, (uint8_t)f->error_class};
    ledger_slot      *missed = m->ledger_on && f->day <= recorded
                                   ? ledger_find(&m->ledger, f->day, f->registration)
                                   : NULL;

    totals_count(totals_of(m, f->day), f->status);
    /* Without a ledger, every day up to `recorded` that was not finalized counts as missed. */
    if (missed || (!m->ledger_on && f->day <= recorded)) totals_unmiss(totals_of(m, f->day));
    if (missed) *missed = row;
    else if (m->ledger_on) ledger_add(&m->ledger, f->day, f->registration, row);
    else m->ledger_since = ledger_since_after(m->ledger_since, f->day);
}

static void write_finalize(memory *m, const struct dn_write_finalize *f, dn_write_result *result) {
    if (!memory_user_at(m, f->registration)) {
        result->wrote = DN_WROTE_GONE;
        return;
    }
    memory_user_read(m, f->registration, &result->user);

    const dn_day recorded = result->user.recorded;
    result->wrote = user_finalize(&result->user, f);
    if (result->wrote != DN_WROTE) return;
    memory_user_keep(&m->users[f->registration], &result->user);
    ledger_finalize(m, f, recorded);
    if (f->hook) hook_add(m, &result->user, f);
}

static void write_missed(memory *m, const struct dn_write_missed *w, dn_write_result *result) {
    dn_user *user = &result->user;

    if (!memory_user_at(m, w->registration)) {
        result->wrote = DN_WROTE_GONE;
        return;
    }
    memory_user_read(m, w->registration, user);
    const dn_day_range range = user_missed(user, w);
    for (dn_day day = range.first; day <= range.last; day++) {
        const bool there = m->ledger_on ? ledger_find(&m->ledger, day, w->registration) != NULL
                                        : day <= user->recorded;
        if (there) continue;
        if (!m->ledger_on) m->ledger_since = ledger_since_after(m->ledger_since, day);
        if (m->ledger_on)
            ledger_add(&m->ledger, day, w->registration,
                       (ledger_slot){.at_ms = w->at_ms, .status = DN_DAILY_MISSED});
        totals_count(totals_of(m, day), DN_DAILY_MISSED);
        if (day > user->recorded) user->recorded = day;
        result->rows++;
    }
    memory_user_keep(&m->users[w->registration], user);
}

static void write_forget(memory *m, const struct dn_write_forget *w, dn_write_result *result) {
    if (m->ledger_since < w->before) m->ledger_since = w->before;
    result->rows = ledger_forget(&m->ledger, w->before, STORE_FORGET_MAX);
}

static dn_wrote wrote_if(bool found) { return found ? DN_WROTE : DN_WROTE_GONE; }

static void write_one(memory *m, const dn_write *w, dn_write_result *result) {
    result->wrote = DN_WROTE;
    result->rows = 0;
    switch (w->op) {
    case DN_WRITE_SET: write_set(m, &w->set, result); return;
    case DN_WRITE_REMOVE: write_remove(m, &w->remove, result); return;
    case DN_WRITE_FINALIZE: write_finalize(m, &w->finalize, result); return;
    case DN_WRITE_MISSED: write_missed(m, &w->missed, result); return;
    case DN_WRITE_FORGET: write_forget(m, &w->forget, result); return;
    case DN_WRITE_OUTBOX_DONE:
        result->wrote = wrote_if(outbox_remove(&m->hooks, w->outbox_done.id));
        return;
    case DN_WRITE_OUTBOX_LATER:
        result->wrote = wrote_if(outbox_move(&m->hooks, w->outbox_later.id,
                                             w->outbox_later.attempts, w->outbox_later.next_ms));
        return;
    case DN_WRITE_TOKEN_ADD: result->token_id = tokens_add(&m->tokens, w->token_add.token); return;
    case DN_WRITE_TOKEN_REMOVE:
        result->wrote = wrote_if(tokens_remove(&m->tokens, w->token_remove.id));
        return;
    }
}

static void fetch_rest(memory *m, const dn_write *w) {
    if (w->op == DN_WRITE_SET)
        dn_index_prefetch(&m->by_id, memory_hash_of(w->set.id, w->set.id_len));
    if (w->op != DN_WRITE_FINALIZE || w->finalize.registration >= m->next_n) return;
    const uint64_t n = w->finalize.registration;
    __builtin_prefetch(m->id_bytes + m->users[n].id_at);
    if (m->ledger_on) ledger_fetch(&m->ledger, w->finalize.day, n);
}

/* reserve has prefetched the first users already; most batches are no longer than that. */
static void fetch_first(memory *m, const dn_write *writes, size_t len) {
    for (size_t i = 0; i < FETCH_REST && i < len; i++) fetch_rest(m, &writes[i]);
}

static void fetch_ahead(memory *m, const dn_write *writes, size_t len, size_t i) {
    if (i + FETCH_USER < len) fetch_user(m, &writes[i + FETCH_USER]);
    if (i + FETCH_REST < len) fetch_rest(m, &writes[i + FETCH_REST]);
}

int memory_write(dn_store *store, const dn_write *writes, size_t len, dn_write_result *results) {
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
