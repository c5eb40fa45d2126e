/* model.h - a store as dumb as can be: arrays that are searched from end to end, and the words of store.h read one by
 * one. It shares no line with the store. */
#ifndef DIURNAL_TESTS_STORE_MODEL_H
#define DIURNAL_TESTS_STORE_MODEL_H

#include "kit.h"

enum {
    MODEL_USERS = 4096,
    MODEL_ROWS = 65536,
    MODEL_HOOKS = 16384,
    MODEL_DAYS = 512,
    MODEL_TOKENS = 8192
};

typedef struct model_hook {
    dn_hook  hook;
    uint64_t user;
    bool     there;
} model_hook;

typedef struct model {
    bool          ledger;
    dn_day        ledger_since;
    dn_user       users[MODEL_USERS];
    bool          there[MODEL_USERS];
    size_t        users_len; /* ever; user i has number i + 1 */
    dn_ledger_row rows[MODEL_ROWS];
    size_t        rows_len;
    model_hook    hooks[MODEL_HOOKS]; /* hook i has number i + 1 */
    size_t        hooks_len;
    dn_day_totals totals[MODEL_DAYS];
    size_t        totals_len;
    dn_token      tokens[MODEL_TOKENS]; /* token i has number i + 1; n 0: removed */
    size_t        tokens_len;
} model;

static inline dn_user *model_by_id(model *m, const char *id, size_t len) {
    for (size_t i = 0; i < m->users_len; i++)
        if (m->there[i] && m->users[i].id_len == len && memcmp(m->users[i].id, id, len) == 0)
            return &m->users[i];
    return NULL;
}

static inline dn_user *model_by_n(model *m, uint64_t n) {
    return n >= 1 && n <= m->users_len && m->there[n - 1] ? &m->users[n - 1] : NULL;
}

static inline dn_ledger_row *model_row(model *m, uint64_t n, dn_day day) {
    for (size_t i = 0; i < m->rows_len; i++)
        if (m->rows[i].registration == n && m->rows[i].day == day) return &m->rows[i];
    return NULL;
}

static inline dn_day_totals *model_totals(model *m, dn_day day) {
    for (size_t i = 0; i < m->totals_len; i++)
        if (m->totals[i].day == day) return &m->totals[i];
    CHECK(m->totals_len < MODEL_DAYS);
    m->totals[m->totals_len] = (dn_day_totals){.day = day};
    return &m->totals[m->totals_len++];
}

static inline void model_drop_row(model *m, size_t i) { m->rows[i] = m->rows[--m->rows_len]; }

static inline dn_write_result model_set(model *m, const struct dn_write_set *w) {
    dn_user *u = model_by_id(m, w->id, w->id_len);

    if (u) {
        u->due = w->due;
        dn_day on = w->starts_on;
        while (on != DN_DAY_NONE && on < u->starts_on && (on < w->today || on <= u->last_day)) on++;
        if (on != DN_DAY_NONE) u->starts_on = on;
        return (dn_write_result){.wrote = DN_WROTE, .user = *u};
    }
    CHECK(m->users_len < MODEL_USERS);
    m->there[m->users_len] = true;
    u = &m->users[m->users_len++];
    *u = (dn_user){.registration = m->users_len,
                   .due = w->due,
                   .last_day = DN_DAY_NONE,
                   .recorded = DN_DAY_NONE,
                   .starts_on = w->starts_on == DN_DAY_NONE ? w->new_starts_on
                                : w->starts_on < w->today   ? w->today
                                                            : w->starts_on,
                   .last_run_ms = INT64_MIN,
                   .id_len = w->id_len};
    memcpy(u->id, w->id, w->id_len);
    return (dn_write_result){.wrote = DN_WROTE_NEW, .user = *u};
}

static inline dn_write_result model_remove(model *m, const struct dn_write_remove *w) {
    const dn_user *u = model_by_id(m, w->id, w->id_len);

    if (!u) return (dn_write_result){.wrote = DN_WROTE_GONE};
    m->there[u->registration - 1] = false;
    for (size_t i = m->rows_len; i > 0; i--)
        if (m->rows[i - 1].registration == u->registration) model_drop_row(m, i - 1);
    for (size_t i = 0; i < m->hooks_len; i++)
        if (m->hooks[i].user == u->registration) m->hooks[i].there = false;
    return (dn_write_result){.wrote = DN_WROTE, .user = *u};
}

static inline dn_write_result model_finalize(model *m, const struct dn_write_finalize *w) {
    dn_user       *u = model_by_n(m, w->registration);
    dn_ledger_row *row;

    if (!u) return (dn_write_result){.wrote = DN_WROTE_GONE};
    if (u->last_day >= w->day || w->day < u->starts_on)
        return (dn_write_result){.wrote = DN_WROTE_LATE, .user = *u};
    if (w->status == DN_DAILY_CUTOFF && w->at_ms < AT(w->day, u->due))
        return (dn_write_result){.wrote = DN_WROTE_EARLY, .user = *u};

    row = model_row(m, w->registration, w->day);
    if ((row || (!m->ledger && u->recorded >= w->day)) && model_totals(m, w->day)->missed)
        model_totals(m, w->day)->missed--;
    if (!m->ledger && m->ledger_since <= w->day) m->ledger_since = w->day + 1;
    if (!row && m->ledger) {
        CHECK(m->rows_len < MODEL_ROWS);
        row = &m->rows[m->rows_len++];
    }
    if (row)
        *row = (dn_ledger_row){.registration = w->registration,
                               .day = w->day,
                               .status = w->status,
                               .error_class = w->error_class,
                               .attempts = w->attempts,
                               .at_ms = w->at_ms};
    if (w->day > u->recorded) u->recorded = w->day;
    u->last_day = w->day;
    u->status = w->status;
    if (w->status == DN_DAILY_SUCCESS) {
        u->last_run_ms = w->at_ms;
        model_totals(m, w->day)->success++;
    } else {
        u->context_epoch++;
        model_totals(m, w->day)->cutoff++;
    }
    if (w->hook) {
        model_hook *hook = &m->hooks[m->hooks_len++];
        CHECK(m->hooks_len < MODEL_HOOKS);
        *hook = (model_hook){.user = u->registration,
                             .there = true,
                             .hook = {.id = m->hooks_len,
                                      .day = w->day,
                                      .due = u->due,
                                      .context_epoch = u->context_epoch,
                                      .next_ms = w->hook_ms,
                                      .user_id_len = u->id_len}};
        memcpy(hook->hook.user_id, u->id, u->id_len);
    }
    return (dn_write_result){.wrote = DN_WROTE, .user = *u};
}

static inline dn_write_result model_missed(model *m, const struct dn_write_missed *w) {
    dn_user *u = model_by_n(m, w->registration);
    uint32_t rows = 0;

    if (!u) return (dn_write_result){.wrote = DN_WROTE_GONE};
    for (dn_day day = w->first; day <= w->last; day++) {
        if (u->last_day >= day || day < u->starts_on) continue;
        if (m->ledger ? model_row(m, w->registration, day) != NULL : u->recorded >= day) continue;
        if (m->ledger) {
            CHECK(m->rows_len < MODEL_ROWS);
            m->rows[m->rows_len++] = (dn_ledger_row){.registration = w->registration,
                                                     .day = day,
                                                     .status = DN_DAILY_MISSED,
                                                     .at_ms = w->at_ms};
        } else if (m->ledger_since <= day) m->ledger_since = day + 1;
        model_totals(m, day)->missed++;
        if (day > u->recorded) u->recorded = day;
        rows++;
    }
    return (dn_write_result){.wrote = DN_WROTE, .rows = rows, .user = *u};
}

static inline model_hook *model_hook_at(model *m, uint64_t id) {
    return id >= 1 && id <= m->hooks_len && m->hooks[id - 1].there ? &m->hooks[id - 1] : NULL;
}

static inline dn_write_result model_outbox_done(model *m, const struct dn_write_outbox_done *w) {
    model_hook *hook = model_hook_at(m, w->id);

    if (hook) hook->there = false;
    return (dn_write_result){.wrote = hook ? DN_WROTE : DN_WROTE_GONE};
}

static inline dn_write_result model_outbox_later(model *m, const struct dn_write_outbox_later *w) {
    model_hook *hook = model_hook_at(m, w->id);

    if (!hook) return (dn_write_result){.wrote = DN_WROTE_GONE};
    hook->hook.attempts = w->attempts;
    hook->hook.next_ms = w->next_ms;
    return (dn_write_result){.wrote = DN_WROTE};
}

static inline dn_write_result model_token_add(model *m, const dn_token *token) {
    CHECK(m->tokens_len < MODEL_TOKENS);
    m->tokens[m->tokens_len] = *token;
    m->tokens[m->tokens_len].id = m->tokens_len + 1;
    return (dn_write_result){.wrote = DN_WROTE, .token_id = ++m->tokens_len};
}

static inline dn_write_result model_token_remove(model *m, uint64_t id) {
    if (id < 1 || id > m->tokens_len || !m->tokens[id - 1].id)
        return (dn_write_result){.wrote = DN_WROTE_GONE};
    m->tokens[id - 1].id = 0;
    return (dn_write_result){.wrote = DN_WROTE};
}

/* Fewer rows than one portion are ever to be forgotten here. */
static inline dn_write_result model_forget(model *m, const struct dn_write_forget *w) {
    uint32_t rows = 0;

    if (m->ledger_since < w->before) m->ledger_since = w->before;
    for (size_t i = m->rows_len; i > 0; i--) {
        if (m->rows[i - 1].day >= w->before) continue;
        model_drop_row(m, i - 1);
        rows++;
    }
    CHECK(rows < 4000);
    return (dn_write_result){.wrote = DN_WROTE, .rows = rows};
}

static inline dn_write_result model_write(model *m, const dn_write *w) {
    switch (w->op) {
    case DN_WRITE_SET: return model_set(m, &w->set);
    case DN_WRITE_REMOVE: return model_remove(m, &w->remove);
    case DN_WRITE_FINALIZE: return model_finalize(m, &w->finalize);
    case DN_WRITE_MISSED: return model_missed(m, &w->missed);
    case DN_WRITE_FORGET: return model_forget(m, &w->forget);
    case DN_WRITE_OUTBOX_DONE: return model_outbox_done(m, &w->outbox_done);
    case DN_WRITE_OUTBOX_LATER: return model_outbox_later(m, &w->outbox_later);
    case DN_WRITE_TOKEN_ADD: return model_token_add(m, w->token_add.token);
    case DN_WRITE_TOKEN_REMOVE: return model_token_remove(m, w->token_remove.id);
    }
    CHECK(false);
    return (dn_write_result){0};
}

/* ---- Reading: filled into the same texts as kit_dump's ---- */

static inline int model_row_order(const void *a, const void *b) {
    const dn_ledger_row *left = a, *right = b;

    if (left->registration != right->registration)
        return left->registration < right->registration ? -1 : 1;
    return left->day > right->day ? -1 : left->day < right->day;
}

static inline int model_day_order(const void *a, const void *b) {
    const dn_day_totals *left = a, *right = b;

    return left->day < right->day ? -1 : left->day > right->day;
}

static inline int model_hook_order(const void *a, const void *b) {
    const dn_hook *left = a, *right = b;

    if (left->next_ms != right->next_ms) return left->next_ms < right->next_ms ? -1 : 1;
    return left->id < right->id ? -1 : left->id > right->id;
}

static inline int model_id_order(const void *a, const void *b) {
    return strcmp(((const dn_user *)a)->id, ((const dn_user *)b)->id); /* bytes, as unsigned char */
}

/* The hooks that are there, in their order. */
static inline size_t model_hooks(const model *m, dn_hook *hooks) {
    size_t len = 0;

    for (size_t i = 0; i < m->hooks_len; i++)
        if (m->hooks[i].there) hooks[len++] = m->hooks[i].hook;
    qsort(hooks, len, sizeof *hooks, model_hook_order);
    return len;
}

static inline void model_dump(model *m, kit_text *t) {
    static dn_hook hooks[MODEL_HOOKS];
    uint64_t       count = 0;

    t->len = 0;
    for (size_t i = 0; i < m->users_len; i++) count += m->there[i];
    kit_say(t, "%" PRIu64 " users, ledger since %d\n", count, m->ledger_since);
    qsort(m->rows, m->rows_len, sizeof *m->rows, model_row_order);
    for (size_t i = 0; i < m->users_len; i++) {
        if (!m->there[i]) continue;
        kit_say_user(t, &m->users[i]);
        for (size_t k = 0, rows = 0; k < m->rows_len; k++)
            if (m->rows[k].registration == m->users[i].registration && rows++ < KIT_PAGE)
                kit_say_row(t, &m->rows[k]);
    }
    qsort(m->totals, m->totals_len, sizeof *m->totals, model_day_order);
    for (size_t i = 0; i < m->totals_len; i++)
        if (m->totals[i].success || m->totals[i].cutoff || m->totals[i].missed)
            kit_say_totals(t, &m->totals[i]);
    const size_t len = model_hooks(m, hooks);
    for (size_t i = 0; i < len && i < 1024; i++) kit_say_hook(t, &hooks[i]);
}

#endif
