/* store.c - the door: checks arguments, calls the backend, numbers commits and keeps their changes.
 * A malformed write is a bug of the caller and would damage durable data, so an assert stops it. */
#include "backend.h"
#include "base/text.h"

#include <assert.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool day_is_sound(dn_day day) { return day != DN_DAY_NONE && day != INT32_MAX; }

static bool finalize_is_sound(const struct dn_write_finalize *f) {
    const bool cutoff = f->status == DN_DAILY_CUTOFF;

    return (cutoff || f->status == DN_DAILY_SUCCESS) && (cutoff || !f->hook) &&
           f->error_class <= DN_CLASS_UNKNOWN && day_is_sound(f->day);
}

static bool write_is_sound(const dn_write *w) {
    switch (w->op) {
    case DN_WRITE_SET:
        return w->set.due < DN_DAY_MINUTES && w->set.id && !dn_id_fault(w->set.id, w->set.id_len);
    case DN_WRITE_REMOVE: return w->remove.id && w->remove.id_len;
    case DN_WRITE_FINALIZE: return finalize_is_sound(&w->finalize);
    case DN_WRITE_MISSED: return day_is_sound(w->missed.first) && day_is_sound(w->missed.last);
    case DN_WRITE_TOKEN_ADD: return w->token_add.token && dn_token_is_sound(w->token_add.token);
    case DN_WRITE_FORGET:
    case DN_WRITE_OUTBOX_DONE:
    case DN_WRITE_OUTBOX_LATER:
    case DN_WRITE_TOKEN_REMOVE: return true;
    }
    return false;
}

static const store_backend backends[] = {
    {"sqlite:", db_open, db_probe, dir_lock_held},
    {"memory:", memory_open, NULL, NULL},
};

/* NULL: no backend has this scheme. The refusal leaves out what follows the scheme, which may hold a password. */
static const store_backend *backend_of(const char *url, const char **out_place, char *why) {
    *why = '\0';
    for (size_t i = 0; i < sizeof backends / sizeof *backends; i++) {
        const size_t len = strlen(backends[i].scheme);
        if (strncmp(url, backends[i].scheme, len) != 0) continue;
        *out_place = url + len;
        return &backends[i];
    }
    (void)dn_refuse(DN_EINVAL, why, DN_STORE_WHY,
                    "unknown store scheme \"%.*s\"; use sqlite:DIRECTORY or memory:",
                    (int)strcspn(url, ":"), url);
    return NULL;
}

int dn_store_open(const dn_store_config *config, dn_store **out_store, char *why) {
    const char *place;

    assert(config && config->url && out_store && why);
    const store_backend *backend = backend_of(config->url, &place, why);
    return backend ? backend->open(place, config, out_store, why) : DN_EINVAL;
}

int dn_store_probe(const dn_store_config *config, char *why) {
    const char *place;

    assert(config && config->url && why);
    const store_backend *backend = backend_of(config->url, &place, why);
    if (!backend) return DN_EINVAL;
    return backend->probe ? backend->probe(place, config, why) : DN_OK;
}

int dn_store_held(const char *url, dn_store_hold *out_hold, char *why) {
    const char *place;

    assert(url && out_hold && why);
    const store_backend *backend = backend_of(url, &place, why);
    *out_hold = (dn_store_hold){.held = false};
    if (!backend) return DN_EINVAL;
    return backend->held ? backend->held(place, out_hold, why) : DN_OK;
}

void dn_store_free(dn_store *store) {
    if (!store) return;
    store_changes_done(&store->changes);
    store->ops->free(store);
}

int dn_store_write(dn_store *store, const dn_write *writes, size_t len, dn_write_result *results,
                   uint64_t *out_seq) {
    uint64_t seq = store->changes.seq;

    assert((writes && results) || len == 0);
    for (size_t i = 0; i < len; i++) assert(write_is_sound(&writes[i]));
    if (len > 0) {
        int code = store_changes_reserve(&store->changes, len);
        if (code == DN_OK) code = store->ops->write(store, writes, len, results);
        if (code < 0) return code;
        seq = store_changes_add(&store->changes, writes, len, results);
    }
    if (out_seq) *out_seq = seq;
    return DN_OK;
}

int64_t dn_store_now_ms(const dn_store *store, int64_t caller_now_ms) {
    (void)store;
    return caller_now_ms;
}

uint64_t dn_store_follow(dn_store *store) {
    store_changes_follow(&store->changes);
    return store->changes.seq;
}

int dn_store_changes(dn_store *store, uint64_t after_seq, dn_user_change *rows, size_t max,
                     size_t *out_len, uint64_t *out_seq) {
    store_changes_read(&store->changes, after_seq, rows, max, out_len, out_seq);
    return DN_OK;
}

int dn_store_load(dn_store *store, uint64_t after_n, dn_user *users, size_t max, size_t *out_len) {
    return store->ops->load(store, after_n, users, max, out_len);
}

int dn_store_user(dn_store *store, const char *id, size_t id_len, dn_user *out_user) {
    return store->ops->user(store, id, id_len, out_user);
}

int dn_store_list(dn_store *store, const dn_user_filter *filter, dn_user *users, size_t max,
                  size_t *out_len, bool *out_more, dn_user *out_last) {
    assert(filter && (!filter->after_len || filter->after_id));
    assert(!filter->prefix_len || filter->prefix);
    return store->ops->list(store, filter, users, max, out_len, out_more, out_last);
}

int dn_store_days_of(dn_store *store, uint64_t n, dn_day before, dn_ledger_row *rows, size_t max,
                     size_t *out_len) {
    return store->ops->days_of(store, n, before, rows, max, out_len);
}

int dn_store_day(dn_store *store, dn_day day, uint64_t after_n, dn_ledger_row *rows, size_t max,
                 size_t *out_len) {
    return store->ops->day(store, day, after_n, rows, max, out_len);
}

int dn_store_totals(dn_store *store, dn_day first, dn_day last, dn_day_totals *rows, size_t max,
                    size_t *out_len) {
    return store->ops->totals(store, first, last, rows, max, out_len);
}

dn_day dn_store_ledger_since(dn_store *store) { return store->ops->ledger_since(store); }

int dn_store_count(dn_store *store, uint64_t *out_users) {
    return store->ops->count(store, out_users);
}

int dn_store_outbox(dn_store *store, int64_t now_ms, dn_hook *hooks, size_t max, size_t *out_len,
                    int64_t *out_next_ms) {
    return store->ops->hooks(store, now_ms, hooks, max, out_len, out_next_ms);
}

int64_t dn_hook_delay_ms(uint16_t attempts) {
    enum { LEAST_MS = 1000, MOST_MS = 3600000, DOUBLINGS = 12 };

    if (attempts == 0) return 0;
    return attempts > DOUBLINGS ? MOST_MS : (int64_t)LEAST_MS << (attempts - 1);
}

int dn_store_outbox_clock(dn_store *store, int64_t wall_ms, int64_t *out_ms) {
    return store->ops->hooks_clock(store, wall_ms, out_ms);
}

int dn_store_tokens(dn_store *store, dn_token *tokens, size_t max, size_t *out_len) {
    return store->ops->tokens(store, tokens, max, out_len);
}

bool dn_token_is_sound(const dn_token *token) {
    return token->scope >= DN_SCOPE_READ && token->scope <= DN_SCOPE_ADMIN &&
           token->name_len <= DN_TOKEN_NAME_MAX && token->tenant_len <= DN_TENANT_MAX &&
           token->user_len <= DN_ID_MAX && (token->user_len == 0 || token->tenant_len > 0);
}

int dn_store_check(dn_store *store, char *why) {
    *why = '\0';
    return store->ops->check(store, why);
}

int dn_store_backup(dn_store *store, const char *path, dn_backup **out_backup, char *why) {
    assert(out_backup);
    *why = '\0';
    return store->ops->backup(store, path, out_backup, why);
}

int dn_store_begin_with(dn_store *store, dn_user *user) {
    return store->ops->begin_with ? store->ops->begin_with(store, user) : DN_EINVAL;
}

const char *dn_store_damage(dn_store *store) {
    return store->ops->damage ? store->ops->damage(store) : NULL;
}

int dn_store_idle(dn_store *store) { return store->ops->idle(store); }
