/* memory.c - a store in memory: for simulation and replay, which ask it a hundred million times.
 * An array holds the users by number. Numbers are never reused, so a removed user leaves 40 bytes behind, and the bytes
 * of its id. */
#include "base/hash.h"
#include "base/pages.h"
#include "base/text.h"
#include "memory/memory_store.h"
#include "store_user.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_USERS = 1024, FIRST_ID_BYTES = 16384 };

/* ---- Users ---- */

static bool has_id(const memory *m, uint32_t n, const char *id, size_t len) {
    const memory_user *u = &m->users[n];

    return u->id_len == len && memcmp(m->id_bytes + u->id_at, id, len) == 0;
}

uint64_t memory_hash_of(const char *id, size_t len) {
    const dn_hash_key key = {UINT64_C(0xcbf29ce484222325), UINT64_C(0xd6e8feb86659fd93)};

    return dn_hash_quick(key, id, len);
}

dn_index_cell *memory_cell_of(const memory *m, const char *id, size_t len) {
    dn_index_cell *cell = dn_index_find(&m->by_id, memory_hash_of(id, len));

    while (cell && !has_id(m, dn_index_row(cell), id, len)) cell = dn_index_alike(&m->by_id, cell);
    return cell;
}

uint64_t memory_find_id(const memory *m, const char *id, size_t len) {
    const dn_index_cell *cell = memory_cell_of(m, id, len);

    return cell ? dn_index_row(cell) : 0;
}

void memory_user_read(const memory *m, uint64_t n, dn_user *out) {
    const memory_user *u = &m->users[n];

    out->registration = n;
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

void memory_user_keep(memory_user *u, const dn_user *user) {
    u->due = (uint16_t)user->due;
    u->last_day = user->last_day;
    u->starts_on = user->starts_on;
    u->recorded = user->recorded;
    u->status = (uint8_t)user->status;
    u->context_epoch = user->context_epoch;
    u->last_run_ms = user->last_run_ms;
}

static int memory_begin_with(dn_store *store, dn_user *user) {
    const dn_write  write = {.op = DN_WRITE_SET,
                             .set = {.id = user->id,
                                     .id_len = user->id_len,
                                     .due = user->due,
                                     .today = user->starts_on,
                                     .starts_on = user->starts_on}};
    dn_write_result made;
    memory         *m = memory_of(store);
    const int       code = memory_write(store, &write, 1, &made);

    if (code < 0) return code;
    user->registration = made.user.registration;
    assert(user_is_sound(user));
    memory_user_keep(&m->users[user->registration], user);
    return DN_OK;
}

/* ---- Reading ---- */

static int memory_load(dn_store *store, uint64_t after_n, dn_user *users, size_t max,
                       size_t *out_len) {
    const memory *m = memory_of(store);
    size_t        len = 0;

    for (uint64_t n = after_n + 1; n > after_n && n < m->next_n && len < max; n++)
        if (m->users[n].id_len) memory_user_read(m, n, &users[len++]);
    *out_len = len;
    return DN_OK;
}

static int memory_user_by_id(dn_store *store, const char *id, size_t id_len, dn_user *out_user) {
    const memory  *m = memory_of(store);
    const uint64_t n = id_len && id_len <= DN_ID_MAX ? memory_find_id(m, id, id_len) : 0;

    if (!n) return DN_EDEAD;
    memory_user_read(m, n, out_user);
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

    *out = (dn_hook){.id = n,
                     .day = hook->day,
                     .due = hook->due,
                     .context_epoch = hook->context_epoch,
                     .attempts = hook->attempts,
                     .next_ms = hook->next_ms,
                     .user_id_len = u->id_len};
    memcpy(out->user_id, m->id_bytes + u->id_at, u->id_len);
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

/* ---- Tokens, and the life of a store ---- */

static int memory_tokens_read(dn_store *store, dn_token *tokens, size_t max, size_t *out_len) {
    const memory_tokens *t = &memory_of(store)->tokens;

    *out_len = t->len < max ? t->len : max;
    if (*out_len > 0) memcpy(tokens, t->rows, *out_len * sizeof *tokens);
    return DN_OK;
}

static int memory_check(dn_store *store, char *why) {
    (void)store;
    *why = '\0';
    return DN_OK; /* memory cannot be damaged by a disk */
}

static int memory_backup(dn_store *store, const char *path, dn_backup **out_backup, char *why) {
    (void)store, (void)out_backup;
    return dn_refuse(DN_EINVAL, why, DN_STORE_WHY,
                     "%s: a store in memory has no file to copy; name a data directory",
                     path ? path : "backup");
}

static int memory_idle(dn_store *store) {
    (void)store;
    return DN_OK;
}

static void memory_free(dn_store *store) {
    memory *m = memory_of(store);

    memory_sorted_forget(m);
    outbox_done(&m->hooks);
    tokens_done(&m->tokens);
    totals_done(&m->totals);
    ledger_done(&m->ledger);
    dn_index_done(&m->by_id);
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
        return dn_refuse(DN_ENOMEM, why, DN_STORE_WHY, "a store in memory: out of memory");
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
