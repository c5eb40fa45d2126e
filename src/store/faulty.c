/* faulty.c - see faulty.h. Everything but writes is passed on. */
#include "faulty.h"

#include "backend.h"

#include <stdlib.h>

typedef struct faulty {
    dn_store        door;
    dn_store       *real;
    dn_store_faults faults;
} faulty;

static faulty *of(dn_store *store) { return (faulty *)(void *)store; }

static void faulty_free(dn_store *s) { free(of(s)); }

static int faulty_write(dn_store *s, const dn_write *writes, size_t len, dn_write_result *results) {
    const faulty *f = of(s);
    int           rc = f->faults.before ? f->faults.before(f->faults.context) : DN_OK;

    /* Past the door of the real store: this one has checked the writes and keeps their changes. */
    if (rc == DN_OK) rc = f->real->ops->write(f->real, writes, len, results);
    return rc == DN_OK && f->faults.after ? f->faults.after(f->faults.context) : rc;
}

static int faulty_load(dn_store *s, uint64_t after_n, dn_user *users, size_t max, size_t *out_len) {
    return dn_store_load(of(s)->real, after_n, users, max, out_len);
}

static int faulty_user(dn_store *s, const char *id, size_t id_len, dn_user *out_user) {
    return dn_store_user(of(s)->real, id, id_len, out_user);
}

static int faulty_list(dn_store *s, const dn_user_filter *filter, dn_user *users, size_t max,
                       size_t *out_len, bool *out_more, dn_user *out_last) {
    return dn_store_list(of(s)->real, filter, users, max, out_len, out_more, out_last);
}

static int faulty_days_of(dn_store *s, uint64_t n, dn_day before, dn_ledger_row *rows, size_t max,
                          size_t *out_len) {
    return dn_store_days_of(of(s)->real, n, before, rows, max, out_len);
}

static int faulty_day(dn_store *s, dn_day day, uint64_t after_n, dn_ledger_row *rows, size_t max,
                      size_t *out_len) {
    return dn_store_day(of(s)->real, day, after_n, rows, max, out_len);
}

static int faulty_totals(dn_store *s, dn_day first, dn_day last, dn_day_totals *rows, size_t max,
                         size_t *out_len) {
    return dn_store_totals(of(s)->real, first, last, rows, max, out_len);
}

static dn_day faulty_ledger_since(dn_store *s) { return dn_store_ledger_since(of(s)->real); }

static int faulty_count(dn_store *s, uint64_t *out_users) {
    return dn_store_count(of(s)->real, out_users);
}

static int faulty_hooks(dn_store *s, int64_t now_ms, dn_hook *hooks, size_t max, size_t *out_len,
                        int64_t *out_next_ms) {
    return dn_store_outbox(of(s)->real, now_ms, hooks, max, out_len, out_next_ms);
}

static int faulty_hooks_clock(dn_store *s, int64_t wall_ms, int64_t *out_ms) {
    return dn_store_outbox_clock(of(s)->real, wall_ms, out_ms);
}

static int faulty_tokens(dn_store *s, dn_token *tokens, size_t max, size_t *out_len) {
    return dn_store_tokens(of(s)->real, tokens, max, out_len);
}

static int faulty_check(dn_store *s, char *why) { return dn_store_check(of(s)->real, why); }

static int faulty_backup(dn_store *s, const char *path, dn_backup **out_backup, char *why) {
    return dn_store_backup(of(s)->real, path, out_backup, why);
}

static const char *faulty_damage(dn_store *s) { return dn_store_damage(of(s)->real); }

static int faulty_idle(dn_store *s) { return dn_store_idle(of(s)->real); }

static const store_ops faulty_ops = {
    .free = faulty_free,
    .write = faulty_write,
    .load = faulty_load,
    .user = faulty_user,
    .list = faulty_list,
    .days_of = faulty_days_of,
    .day = faulty_day,
    .totals = faulty_totals,
    .ledger_since = faulty_ledger_since,
    .count = faulty_count,
    .hooks = faulty_hooks,
    .hooks_clock = faulty_hooks_clock,
    .tokens = faulty_tokens,
    .check = faulty_check,
    .backup = faulty_backup,
    .damage = faulty_damage,
    .idle = faulty_idle,
};

dn_store *dn_store_faulty_new(dn_store *real, const dn_store_faults *faults) {
    faulty *f = malloc(sizeof *f);

    if (!f) return NULL;
    *f = (faulty){.door = {.ops = &faulty_ops}, .real = real, .faults = *faults};
    return &f->door;
}
