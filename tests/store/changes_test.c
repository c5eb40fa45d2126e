/* changes_test.c - commits are numbered, and their changes are given once, in order, to the one reader. */
#include "kit.h"

enum { ROWS = 8 };

static dn_user_change rows[ROWS];
static size_t         len;
static uint64_t       seq;

static void read_after(dn_store *store, uint64_t after_seq) {
    memset(rows, 0xa5, sizeof rows);
    CHECK_INT(dn_store_changes(store, after_seq, rows, ROWS, &len, &seq), DN_OK);
}

static uint64_t commit(dn_store *store, const dn_write *writes, size_t writes_len) {
    dn_write_result results[ROWS];
    uint64_t        committed;

    CHECK_INT(dn_store_write(store, writes, writes_len, results, &committed), DN_OK);
    return committed;
}

static uint64_t commit_one(dn_store *store, dn_write w) { return commit(store, &w, 1); }

static void check_change(size_t i, uint64_t of_seq, const char *id, bool removed, bool by_request) {
    CHECK(i < len);
    CHECK_UINT(rows[i].seq, of_seq);
    CHECK_STR(rows[i].user.id, id);
    CHECK_INT(rows[i].removed, removed);
    CHECK_INT(rows[i].by_request, by_request);
}

TEST_OF_BOTH(commits_are_numbered_from_one_without_gaps) {
    CHECK_UINT(dn_store_follow(store), 0);
    CHECK_UINT(commit_one(store, kit_set("ada", 1)), 1);
    CHECK_UINT(commit_one(store, kit_forget(KIT_DAY)), 2);
    CHECK_UINT(commit(store, NULL, 0), 2);
    const dn_write both[] = {kit_set("bob", 2), kit_set("cleo", 3)};
    CHECK_UINT(commit(store, both, 2), 3);
    CHECK_UINT(dn_store_follow(store), 3);
}

TEST(commits_are_counted_anew_after_reopening_a_file) {
    dn_store *store = kit_open(kit_path("data"));

    CHECK_UINT(commit_one(store, kit_set("ada", 1)), 1);
    CHECK_UINT(commit_one(store, kit_set("ada", 2)), 2);
    dn_store_free(store);
    store = kit_open(kit_path("data"));
    CHECK_UINT(dn_store_follow(store), 0);
    CHECK_UINT(commit_one(store, kit_set("ada", 3)), 1);
    dn_store_free(store);
}

TEST_OF_BOTH(changes_come_in_the_order_of_their_writes_with_the_user_as_each_left_it) {
    dn_write success;

    (void)dn_store_follow(store);
    const uint64_t n = kit_user(store, "ada", 1);
    success = kit_success(n, KIT_DAY, AT(KIT_DAY, 1));
    success.context = 77;
    const dn_write second[] = {kit_set("bob", 2), success, kit_set("ada", 3)};
    CHECK_UINT(commit(store, second, 3), 2);
    kit_do(store, kit_missed(n, KIT_DAY + 1, KIT_DAY + 1));

    read_after(store, 0);
    CHECK_UINT(seq, 3);
    CHECK_UINT(len, 5);
    check_change(0, 1, "ada", false, true);
    check_change(1, 2, "bob", false, true);
    check_change(2, 2, "ada", false, false);
    check_change(3, 2, "ada", false, true);
    check_change(4, 3, "ada", false, false);
    CHECK_UINT(rows[2].context, 77);
    CHECK_INT(rows[2].user.last_day, KIT_DAY);
    CHECK_UINT(rows[2].user.due, 1);
    CHECK_UINT(rows[3].user.due, 3);
    CHECK_INT(rows[4].user.recorded, KIT_DAY + 1);
}

TEST_OF_BOTH(a_removal_is_a_change_with_the_user_as_it_was) {
    (void)dn_store_follow(store);
    const uint64_t n = kit_user(store, "ada", 450);
    kit_do(store, kit_remove("ada"));
    kit_do(store, kit_remove("ada"));
    read_after(store, 1);
    CHECK_UINT(len, 1);
    check_change(0, 2, "ada", true, true);
    CHECK_UINT(rows[0].user.registration, n);
    CHECK_UINT(rows[0].user.due, 450);
    CHECK_UINT(seq, 3);
}

TEST_OF_BOTH(a_refused_finalization_is_a_change_and_one_of_nobody_is_none) {
    const uint64_t n = kit_user(store, "ada", 450);

    kit_do(store, kit_success(n, KIT_DAY, AT(KIT_DAY, 1)));
    const uint64_t begun = dn_store_follow(store);
    kit_do(store, kit_cutoff(n, KIT_DAY, AT(KIT_DAY, 450)));
    kit_do(store, kit_cutoff(n, KIT_DAY + 1, AT(KIT_DAY + 1, 449)));
    kit_do(store, kit_cutoff(n + 1, KIT_DAY, AT(KIT_DAY, 450)));
    read_after(store, begun);
    CHECK_UINT(len, 2);
    check_change(0, begun + 1, "ada", false, false);
    check_change(1, begun + 2, "ada", false, false);
    CHECK_INT(rows[1].user.status, DN_DAILY_SUCCESS);
}

TEST_OF_BOTH(changes_are_given_again_until_they_are_acknowledged_and_then_dropped) {
    (void)dn_store_follow(store);
    kit_user(store, "ada", 1);
    kit_user(store, "bob", 2);
    for (int again = 0; again < 2; again++) {
        read_after(store, 0);
        CHECK_UINT(len, 2);
        CHECK_UINT(seq, 2);
    }
    read_after(store, 1);
    CHECK_UINT(len, 1);
    check_change(0, 2, "bob", false, true);
    read_after(store, 0); /* the first is acknowledged */
    CHECK_UINT(len, 1);
    read_after(store, seq);
    CHECK_UINT(len, 0);
    CHECK_UINT(seq, 2);
}

TEST_OF_BOTH(a_page_ends_with_a_whole_commit) {
    static char ids[3][4][8];
    dn_write    writes[4];

    (void)dn_store_follow(store);
    for (int c = 0; c < 3; c++) {
        for (int i = 0; i < 3; i++) {
            snprintf(ids[c][i], sizeof ids[c][i], "u%d-%d", c, i);
            writes[i] = kit_set(ids[c][i], 0);
        }
        CHECK_UINT(commit(store, writes, 3), (uint64_t)c + 1);
    }
    kit_do(store, kit_forget(KIT_DAY));
    read_after(store, 0);
    CHECK_UINT(len, 6); /* a third commit does not fit into 8 rows */
    CHECK_UINT(seq, 2);
    read_after(store, seq);
    CHECK_UINT(len, 3);
    check_change(0, 3, "u2-0", false, true);
    CHECK_UINT(seq, 4);
}

TEST_OF_BOTH(no_change_from_before_following_is_kept) {
    kit_user(store, "ada", 1);
    CHECK_UINT(dn_store_follow(store), 1);
    read_after(store, 1);
    CHECK_UINT(len, 0);
    kit_user(store, "bob", 1);
    CHECK_UINT(dn_store_follow(store), 2); /* a reader that restarts */
    kit_user(store, "cleo", 1);
    read_after(store, 2);
    CHECK_UINT(len, 1);
    check_change(0, 3, "cleo", false, true);
}

TEST_OF_BOTH(a_write_past_the_bound_of_unread_changes_is_refused_and_changes_nothing) {
    enum { BATCH = 4096 };
    static dn_write        writes[BATCH];
    static dn_write_result results[BATCH];
    static dn_user_change  page[BATCH];
    uint64_t               committed = 0, refused_at;

    (void)dn_store_follow(store);
    for (int i = 0; i < BATCH; i++) writes[i] = kit_set("ada", 1);
    for (int i = 0; i < DN_CHANGES_MAX / BATCH; i++)
        CHECK_INT(dn_store_write(store, writes, BATCH, results, &committed), DN_OK);
    refused_at = committed;
    const dn_write one = kit_set("bob", 1);
    CHECK_INT(dn_store_write(store, &one, 1, results, &committed), DN_ENOMEM);
    CHECK_UINT(committed, refused_at);
    dn_user bob;
    CHECK_INT(dn_store_user(store, "bob", 3, &bob), DN_EDEAD);
    /* One page read and acknowledged makes room for as much. */
    CHECK_INT(dn_store_changes(store, 0, page, BATCH, &len, &seq), DN_OK);
    CHECK_UINT(len, BATCH);
    CHECK_UINT(seq, 1);
    CHECK_INT(dn_store_changes(store, seq, page, BATCH, &len, &seq), DN_OK);
    CHECK_UINT(commit_one(store, one), refused_at + 1);
    while (seq < refused_at + 1)
        CHECK_INT(dn_store_changes(store, seq, page, BATCH, &len, &seq), DN_OK);
    CHECK_STR(page[len - 1].user.id, "bob");
}

TEST(a_batch_longer_than_the_bound_is_written_if_nothing_is_unread) {
    enum { LONG = DN_CHANGES_MAX + 1 };
    dn_store        *store = kit_open(NULL);
    dn_write        *writes = calloc(LONG, sizeof *writes);
    dn_write_result *results = calloc(LONG, sizeof *results);
    dn_user_change  *page = calloc(LONG, sizeof *page);

    CHECK(writes && results && page);
    (void)dn_store_follow(store);
    for (int i = 0; i < LONG; i++) writes[i] = kit_set("ada", 1);
    CHECK_INT(dn_store_write(store, writes, LONG, results, NULL), DN_OK);
    CHECK_INT(dn_store_write(store, writes, 1, results, NULL), DN_ENOMEM);
    CHECK_INT(dn_store_changes(store, 0, page, LONG, &len, &seq), DN_OK);
    CHECK_UINT(len, LONG);
    CHECK_INT(dn_store_changes(store, seq, page, LONG, &len, &seq), DN_OK);
    CHECK_INT(dn_store_write(store, writes, 1, results, NULL), DN_OK);
    dn_store_free(store);
    free(writes);
    free(results);
    free(page);
}

TEST_ABORTS(acknowledging_a_commit_that_is_still_to_come_is_a_bug, "after_seq <= c->seq") {
    dn_store *store = kit_open(NULL);

    read_after(store, dn_store_follow(store) + 1);
}

TEST_ABORTS(a_page_too_short_for_a_commit_is_a_bug, "given > 0") {
    const dn_write both[] = {kit_set("ada", 1), kit_set("bob", 1)};
    dn_store      *store = kit_open(NULL);

    (void)dn_store_follow(store);
    (void)commit(store, both, 2);
    CHECK_INT(dn_store_changes(store, 0, rows, 1, &len, &seq), DN_OK);
}
