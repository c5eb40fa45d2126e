/* model_test.c - random histories, told to three stores at once: in a file, in memory, and a plain model. All three
 * give the same answers, and hold the same. */
#include "model.h"

enum { IDS = 24, BATCH = 20, BATCHES = 1500 };

static model           m;
static dn_store       *stores[2]; /* in memory, in a file */
static uint64_t        random_state;
static uint32_t        ledger_days;
static char            ids[IDS][24];
static dn_day          today;
static dn_write        writes[BATCH];
static dn_write_result results[BATCH];

static uint64_t draw(uint64_t below) { return test_random(&random_state) % below; }

static void draw_ids(void) {
    static const char *const stems[] = {"u", "u1", "U", "\xc3\xbc", "a b", "z"};

    for (int i = 0; i < IDS; i++)
        snprintf(ids[i], sizeof ids[i], "%s%d", stems[draw(6)], (int)draw(30));
}

static dn_day draw_day(void) { return today - 3 + (dn_day)draw(6); }

/* No two have the same hash. */
static const dn_token *draw_token(void) {
    static dn_token drawn[BATCH];
    static uint64_t count;
    dn_token       *token = &drawn[count++ % BATCH];

    *token = (dn_token){.scope = (dn_scope)(draw(3) + 1),
                        .made_ms = AT(today, 0),
                        .ends_ms = INT64_MAX,
                        .name_len = 1,
                        .name = "t"};
    memcpy(token->hash, &count, sizeof count);
    return token;
}

static dn_write draw_write(void) {
    const char    *id = ids[draw(IDS)];
    const uint64_t n = draw(m.users_len + 3);
    const dn_day   day = draw_day();
    dn_write       w;

    switch (draw(18)) {
    case 16: return kit_token_add(draw_token());
    case 17: return kit_token_remove(draw(m.tokens_len + 2));
    case 0:
    case 1:
        w = kit_set(id, (uint32_t)draw(DN_DAY_MINUTES));
        w.set.today = w.set.new_starts_on = today;
        if (draw(3) == 0) w.set.starts_on = draw_day();
        return w;
    case 2: return kit_remove(id);
    case 3:
    case 4: return kit_missed(n, day, day + (dn_day)draw(5) - 1);
    case 5: return kit_outbox_done(draw(m.hooks_len + 2));
    case 6:
    case 7:
        return kit_outbox_later(draw(m.hooks_len + 2), (uint16_t)draw(9),
                                AT(today, draw(DN_DAY_MINUTES)));
    case 8: return kit_forget(today - 4 - (dn_day)draw(4));
    case 9:
    case 10:
    case 11: return kit_success(n, day, AT(day, draw(DN_DAY_MINUTES)));
    default:
        w = kit_cutoff(n, day, AT(day, draw(3 * DN_DAY_MINUTES)));
        w.finalize.hook = draw(2);
        w.finalize.hook_ms = AT(today, draw(DN_DAY_MINUTES));
        w.finalize.error_class = (dn_error_class)draw(5);
        w.finalize.attempts = (uint16_t)draw(65536);
        return w;
    }
}

/* Now and then a herd: finalizations of users by rising numbers, as the planner hands them out. */
static size_t draw_batch(void) {
    const size_t len = draw(BATCH) + 1;
    uint64_t     n = draw(m.users_len + 1);
    const dn_day day = draw_day();

    if (draw(3) > 0) {
        for (size_t i = 0; i < len; i++) writes[i] = draw_write();
        return len;
    }
    for (size_t i = 0; i < len; i++, n += draw(8) == 0 ? 9 : draw(3))
        writes[i] = kit_cutoff(n, day, AT(day + (dn_day)draw(8), 0));
    return len;
}

static void check_result(const dn_write_result *actual, const dn_write_result *expected, size_t i) {
    kit_text is = {0}, should = {0};

    CHECK_MSG(actual->wrote == expected->wrote, "write %zu, op %d: is %d, expected %d", i,
              writes[i].op, actual->wrote, expected->wrote);
    CHECK_UINT(actual->rows, expected->rows);
    if (writes[i].op == DN_WRITE_TOKEN_ADD) CHECK_UINT(actual->token_id, expected->token_id);
    if (writes[i].op <= DN_WRITE_MISSED && expected->wrote != DN_WROTE_GONE) {
        kit_say_user(&is, &actual->user);
        kit_say_user(&should, &expected->user);
        CHECK_STR(is.text, should.text);
        CHECK_UINT(strlen(actual->user.id), actual->user.id_len);
    }
    free(is.text);
    free(should.text);
}

/* Both stores number the commit alike and give the same changes: those that the results tell of. */
static void check_changes(dn_store *store, uint64_t seq, const dn_write_result *expected,
                          size_t len) {
    static dn_user_change changes[BATCH];
    size_t                changes_len, at = 0;
    uint64_t              up_to;

    CHECK_INT(dn_store_changes(store, seq - 1, changes, BATCH, &changes_len, &up_to), DN_OK);
    CHECK_UINT(up_to, seq);
    for (size_t i = 0; i < len; i++) {
        if (writes[i].op > DN_WRITE_MISSED || expected[i].wrote == DN_WROTE_GONE) continue;
        kit_text is = {0}, should = {0};
        CHECK(at < changes_len);
        kit_say_user(&is, &changes[at].user);
        kit_say_user(&should, &expected[i].user);
        CHECK_STR(is.text, should.text);
        CHECK_UINT(changes[at].seq, seq);
        CHECK_UINT(changes[at].context, writes[i].context);
        CHECK_INT(changes[at].removed, writes[i].op == DN_WRITE_REMOVE);
        CHECK_INT(changes[at++].by_request, writes[i].op <= DN_WRITE_REMOVE);
        free(is.text);
        free(should.text);
    }
    CHECK_UINT(at, changes_len);
}

static void write_everywhere(size_t len) {
    dn_write_result expected[BATCH];

    for (size_t i = 0; i < len; i++) {
        writes[i].context = draw(1000);
        expected[i] = model_write(&m, &writes[i]);
    }
    for (int k = 0; k < 2; k++) {
        uint64_t seq;
        memset(results, 0xa5, sizeof results); /* nothing of it may be relied upon */
        CHECK_INT(dn_store_write(stores[k], writes, len, results, &seq), DN_OK);
        for (size_t i = 0; i < len; i++) check_result(&results[i], &expected[i], i);
        check_changes(stores[k], seq, expected, len);
    }
}

/* ---- Asking ---- */

static void compare_dumps(void) {
    kit_text is = {0}, should = {0};

    model_dump(&m, &should);
    for (int k = 0; k < 2; k++) {
        kit_dump_well(stores[k], &is);
        CHECK_STR(is.text, should.text);
    }
    free(is.text);
    free(should.text);
}

static dn_user_filter draw_filter(void) {
    static const char *const prefixes[] = {"u", "u1", "", "\xc3", "nobody", "a "};
    dn_user_filter           f = {.due_from = 0, .due_to = DN_DAY_MINUTES - 1};

    if (draw(2)) {
        f.prefix = prefixes[draw(6)];
        f.prefix_len = strlen(f.prefix);
    }
    if (draw(2)) {
        f.after_id = ids[draw(IDS)];
        f.after_len = strlen(f.after_id);
    }
    if (draw(3) == 0) f.due_from = (uint32_t)draw(DN_DAY_MINUTES);
    if (draw(3) == 0) f.due_to = (uint32_t)draw(DN_DAY_MINUTES);
    if (draw(3) == 0) f.status = (dn_daily_status)draw(3);
    if (draw(2)) f.scan_max = (uint32_t)draw(6) + 1;
    return f;
}

/* What a list is, by the words of the header. */
static size_t model_list(const dn_user_filter *f, size_t max, dn_user *users, bool *out_more,
                         dn_user *out_last) {
    static dn_user sorted[MODEL_USERS];
    size_t         all = 0, len = 0, looked = 0;

    for (size_t i = 0; i < m.users_len; i++)
        if (m.there[i]) sorted[all++] = m.users[i];
    qsort(sorted, all, sizeof *sorted, model_id_order);
    *out_more = false;
    for (size_t i = 0; i < all; i++) {
        const dn_user *u = &sorted[i];
        if (f->after_len && strcmp(u->id, f->after_id) <= 0) continue;
        if (f->prefix_len && strncmp(u->id, f->prefix, f->prefix_len) != 0) continue;
        if (len == max || (f->scan_max && looked == f->scan_max)) {
            *out_more = true;
            break;
        }
        looked++;
        *out_last = *u;
        if (u->due < f->due_from || u->due > f->due_to) continue;
        if (f->status != DN_DAILY_NONE && u->status != f->status) continue;
        users[len++] = *u;
    }
    return len;
}

static void compare_list(void) {
    const dn_user_filter f = draw_filter();
    const size_t         max = draw(8);
    dn_user              expected[8] = {0}, users[8] = {0}, expected_last = {0};
    bool                 expected_more = false, more = false;
    const size_t expected_len = model_list(&f, max, expected, &expected_more, &expected_last);

    for (int k = 0; k < 2; k++) {
        dn_user last = {0};
        size_t  len;
        CHECK_INT(dn_store_list(stores[k], &f, users, max, &len, &more, &last), DN_OK);
        CHECK_UINT(len, expected_len);
        CHECK_INT(more, expected_more);
        CHECK_STR(last.id, expected_last.id);
        for (size_t i = 0; i < len; i++)
            CHECK_UINT(users[i].registration, expected[i].registration);
    }
}

static void compare_rows(void) {
    const uint64_t n = draw(m.users_len + 2), after = draw(m.users_len + 2);
    const dn_day   day = draw_day();
    const size_t   max = draw(6);
    dn_ledger_row  rows[2][8];
    size_t         len[2];

    for (int k = 0; k < 2; k++) {
        CHECK_INT(dn_store_days_of(stores[k], n, day, rows[k], max, &len[k]), DN_OK);
        for (size_t i = 0; i < len[k]; i++) CHECK(model_row(&m, n, rows[k][i].day));
    }
    CHECK_UINT(len[0], len[1]);
    for (size_t i = 0; i < len[0]; i++) CHECK_INT(rows[0][i].day, rows[1][i].day);
    for (int k = 0; k < 2; k++)
        CHECK_INT(dn_store_day(stores[k], day, after, rows[k], max, &len[k]), DN_OK);
    CHECK_UINT(len[0], len[1]);
    for (size_t i = 0; i < len[0]; i++) {
        CHECK_UINT(rows[0][i].registration, rows[1][i].registration);
        const dn_ledger_row *row = model_row(&m, rows[0][i].registration, day);
        CHECK(row);
        CHECK_INT(row->status, rows[1][i].status);
        CHECK_INT(row->at_ms, rows[1][i].at_ms);
        CHECK_UINT(row->attempts, rows[1][i].attempts);
    }
}

static void compare_hooks(void) {
    static dn_hook all[MODEL_HOOKS];
    const size_t   all_len = model_hooks(&m, all), max = draw(6);
    const int64_t  now_ms = AT(today - 3, draw(6 * DN_DAY_MINUTES));
    size_t         due = 0;

    while (due < all_len && due < max && all[due].next_ms <= now_ms) due++;
    for (int k = 0; k < 2; k++) {
        dn_hook hooks[8];
        int64_t next_ms;
        size_t  len;
        CHECK_INT(dn_store_outbox(stores[k], now_ms, hooks, max, &len, &next_ms), DN_OK);
        CHECK_UINT(len, due);
        CHECK_INT(next_ms, due < all_len ? all[due].next_ms : INT64_MAX);
        for (size_t i = 0; i < len; i++) CHECK_UINT(hooks[i].id, all[i].id);
    }
}

static void compare_tokens(void) {
    static dn_token tokens[MODEL_TOKENS];
    size_t          there = 0, len;

    for (int k = 0; k < 2; k++) {
        CHECK_INT(dn_store_tokens(stores[k], tokens, MODEL_TOKENS, &len), DN_OK);
        there = 0;
        for (size_t i = 0; i < m.tokens_len; i++) {
            if (!m.tokens[i].id) continue;
            CHECK(there < len);
            CHECK_UINT(tokens[there].id, m.tokens[i].id);
            CHECK_INT(tokens[there].scope, m.tokens[i].scope);
            CHECK(memcmp(tokens[there].hash, m.tokens[i].hash, DN_TOKEN_HASH) == 0);
            there++;
        }
        CHECK_UINT(there, len);
    }
}

static void compare_users(void) {
    const char    *id = ids[draw(IDS)];
    const dn_user *expected = model_by_id(&m, id, strlen(id));

    for (int k = 0; k < 2; k++) {
        dn_user   user;
        const int code = dn_store_user(stores[k], id, strlen(id), &user);
        CHECK_INT(code, expected ? DN_OK : DN_EDEAD);
        if (expected) CHECK_UINT(user.registration, expected->registration);
    }
}

/* ---- Keeping ---- */

static void reopen(void) {
    dn_store_free(stores[1]);
    stores[1] = kit_open_days(kit_path("data"), ledger_days);
    CHECK_UINT(dn_store_follow(stores[1]), 0);
}

/* The copy holds what the store held when it was finished, whatever was written meanwhile. */
static void back_up(void) {
    char       why[DN_STORE_WHY];
    dn_backup *backup;
    kit_text   is = {0}, should = {0};
    int        code;

    CHECK_INT(mkdir(kit_path("copy"), 0700), 0);
    CHECK_INT(dn_store_backup(stores[1], kit_path("copy/diurnal.db"), &backup, why), DN_OK);
    do {
        const size_t len = draw_batch();
        write_everywhere(len);
        kit_dump_well(stores[1], &should);
        code = dn_backup_step(backup, why);
        CHECK_MSG(code >= 0, "%s", why);
    } while (code == DN_PENDING);
    dn_backup_free(backup);
    dn_store *copy = kit_open(kit_path("copy"));
    kit_dump_well(copy, &is);
    CHECK_STR(is.text, should.text);
    kit_check_well(copy);
    dn_store_free(copy);
    kit_remove_tree(kit_path("copy"));
    free(is.text);
    free(should.text);
}

static void run_history(uint32_t days) {
    ledger_days = days;
    random_state = test_seed() + days;
    today = KIT_DAY;
    m.ledger = days > 0;
    m.ledger_since = DN_DAY_NONE;
    stores[0] = kit_open_days(NULL, days);
    stores[1] = kit_open_days(kit_path("data"), days);
    for (int k = 0; k < 2; k++) CHECK_UINT(dn_store_follow(stores[k]), 0);
    draw_ids();
    for (int i = 0; i < BATCHES / TEST_SLOW_FACTOR; i++) {
        write_everywhere(draw_batch());
        compare_users();
        compare_list();
        compare_rows();
        compare_hooks();
        if (draw(20) == 0) compare_dumps();
        if (draw(20) == 0) compare_tokens();
        if (draw(20) == 0) CHECK_INT(dn_store_idle(stores[1]), DN_OK);
        if (draw(30) == 0) reopen();
        if (draw(30) == 0) kit_check_well(stores[1]);
        if (draw(60) == 0) back_up();
        if (draw(8) == 0) today++;
    }
    compare_dumps();
    kit_check_well(stores[1]);
    dn_store_free(stores[0]);
    dn_store_free(stores[1]);
}

TEST(a_file_memory_and_a_plain_model_agree_over_a_random_history) { run_history(35); }

TEST(they_agree_without_a_ledger_too) { run_history(0); }
