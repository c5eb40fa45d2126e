/* door_test.c - what every store promises at its door, in a file as well as in memory. */
#include "kit.h"

/* ---- Users ---- */

TEST_OF_BOTH(a_user_begins_with_nothing_but_its_due_and_where_it_starts) {
    const dn_write_result result = kit_do(store, kit_set("ada", 450));

    CHECK_INT(result.wrote, DN_WROTE_NEW);
    CHECK_UINT(result.user.registration, 1);
    const dn_user ada = kit_read(store, "ada");
    CHECK_UINT(ada.registration, 1);
    CHECK_STR(ada.id, "ada");
    CHECK_UINT(ada.due, 450);
    CHECK_INT(ada.starts_on, KIT_DAY);
    CHECK_INT(ada.last_day, DN_DAY_NONE);
    CHECK_INT(ada.recorded, DN_DAY_NONE);
    CHECK_INT(ada.status, DN_DAILY_NONE);
    CHECK_INT(ada.last_run_ms, INT64_MIN);
    CHECK_UINT(ada.context_epoch, 0);
}

TEST_OF_BOTH(setting_a_user_again_changes_its_due_and_leaves_where_it_starts) {
    dn_write w = kit_set("ada", 450);

    w.set.starts_on = KIT_DAY + 3;
    kit_do(store, w);
    w = kit_set("ada", 451);
    w.set.new_starts_on = KIT_DAY + 9;
    const dn_write_result result = kit_do(store, w);
    CHECK_INT(result.wrote, DN_WROTE);
    CHECK_UINT(result.user.due, 451);
    CHECK_INT(result.user.starts_on, KIT_DAY + 3);
    w.set.starts_on = KIT_DAY + 5;
    CHECK_INT(kit_do(store, w).user.starts_on, KIT_DAY + 5);
    CHECK_INT(kit_read(store, "ada").starts_on, KIT_DAY + 5);
}

TEST_OF_BOTH(a_start_in_the_past_is_no_earlier_than_the_registration_of_the_id_as_it_is_by_then) {
    dn_write_result results[3];
    dn_write        again = kit_set("ada", 450);

    again.set.starts_on = KIT_DAY - 5;
    CHECK_INT(kit_do(store, again).user.starts_on, KIT_DAY);
    again.set.today = KIT_DAY + 4;
    again.set.starts_on = KIT_DAY + 2;
    CHECK_INT(kit_do(store, again).user.starts_on, KIT_DAY + 2);
    again.set.starts_on = KIT_DAY - 5;
    CHECK_INT(kit_do(store, again).user.starts_on, KIT_DAY + 2);
    /* What the id began on goes with it, in one transaction as in two. */
    const dn_write writes[] = {again, kit_remove("ada"), again};
    CHECK_INT(dn_store_write(store, writes, 3, results, NULL), DN_OK);
    CHECK_INT(results[0].user.starts_on, KIT_DAY + 2);
    CHECK_INT(results[2].user.starts_on, KIT_DAY + 4);
}

/* A window over midnight: tomorrow is over, and today was never hers. */
TEST_OF_BOTH(a_first_day_does_not_go_back_to_a_day_that_nothing_is_written_for_any_more) {
    dn_write w = kit_set("ada", 20);

    w.set.starts_on = KIT_DAY + 1;
    const uint64_t n = kit_do(store, w).user.registration;
    kit_do(store, kit_success(n, KIT_DAY + 1, AT(KIT_DAY, 1430)));
    w.set.starts_on = KIT_DAY;
    CHECK_INT(kit_do(store, w).user.starts_on, KIT_DAY + 1);
    w.set.starts_on = KIT_DAY + 9;
    CHECK_INT(kit_do(store, w).user.starts_on, KIT_DAY + 9);
    w.set.starts_on = KIT_DAY + 1;
    CHECK_INT(kit_do(store, w).user.starts_on, KIT_DAY + 2);
    w.set.starts_on = KIT_DAY + 5;
    CHECK_INT(kit_do(store, w).user.starts_on, KIT_DAY + 5);
    CHECK_INT(kit_read(store, "ada").starts_on, KIT_DAY + 5);
}

TEST_OF_BOTH(changing_the_due_never_unfinalizes_a_day) {
    const uint64_t n = kit_user(store, "ada", 450);

    kit_do(store, kit_success(n, KIT_DAY, AT(KIT_DAY, 440)));
    const dn_user ada = kit_do(store, kit_set("ada", 1000)).user;
    CHECK_INT(ada.last_day, KIT_DAY);
    CHECK_INT(ada.status, DN_DAILY_SUCCESS);
    CHECK_INT(kit_do(store, kit_success(n, KIT_DAY, AT(KIT_DAY, 990))).wrote, DN_WROTE_LATE);
}

TEST_OF_BOTH(a_number_is_never_given_again_not_even_the_highest) {
    CHECK_UINT(kit_user(store, "ada", 1), 1);
    CHECK_UINT(kit_user(store, "bob", 1), 2);
    const dn_write_result removed = kit_do(store, kit_remove("bob"));
    CHECK_INT(removed.wrote, DN_WROTE);
    CHECK_UINT(removed.user.registration, 2);
    CHECK_UINT(kit_user(store, "bob", 1), 3);
    CHECK_INT(kit_do(store, kit_success(2, KIT_DAY, AT(KIT_DAY, 0))).wrote, DN_WROTE_GONE);
}

TEST_OF_BOTH(ids_are_bytes_and_differ_by_case_and_length) {
    kit_user(store, "ada", 1);
    kit_user(store, "Ada", 2);
    kit_user(store, "ada\xc3\xa9", 3);
    CHECK_UINT(kit_read(store, "Ada").due, 2);
    CHECK_UINT(kit_read(store, "ada").due, 1);
    dn_user user;
    CHECK_INT(dn_store_user(store, "ad", 2, &user), DN_EDEAD);
    CHECK_INT(dn_store_user(store, "", 0, &user), DN_EDEAD);
    CHECK_INT(dn_store_user(store, "ada\0", 4, &user), DN_EDEAD);
}

TEST_OF_BOTH(an_id_may_have_128_bytes) {
    char id[DN_ID_MAX + 1];

    memset(id, 'x', DN_ID_MAX);
    id[DN_ID_MAX] = '\0';
    kit_user(store, id, 7);
    CHECK_STR(kit_read(store, id).id, id);
}

/* ---- Finalizing ---- */

TEST_OF_BOTH(a_success_sets_the_day_the_status_and_the_instant_and_leaves_the_epoch) {
    const uint64_t        n = kit_user(store, "ada", 450);
    const dn_write_result result = kit_do(store, kit_success(n, KIT_DAY, AT(KIT_DAY, 441)));

    CHECK_INT(result.wrote, DN_WROTE);
    const dn_user ada = kit_read(store, "ada");
    CHECK_INT(ada.last_day, KIT_DAY);
    CHECK_INT(ada.recorded, KIT_DAY);
    CHECK_INT(ada.status, DN_DAILY_SUCCESS);
    CHECK_INT(ada.last_run_ms, AT(KIT_DAY, 441));
    CHECK_UINT(ada.context_epoch, 0);
    CHECK_INT(result.user.last_run_ms, ada.last_run_ms);
}

TEST_OF_BOTH(a_cutoff_makes_the_epoch_one_more_and_leaves_the_last_run) {
    const uint64_t n = kit_user(store, "ada", 450);

    kit_do(store, kit_success(n, KIT_DAY, AT(KIT_DAY, 441)));
    kit_do(store, kit_cutoff(n, KIT_DAY + 1, AT(KIT_DAY + 1, 450)));
    const dn_user ada = kit_read(store, "ada");
    CHECK_INT(ada.last_day, KIT_DAY + 1);
    CHECK_INT(ada.status, DN_DAILY_CUTOFF);
    CHECK_UINT(ada.context_epoch, 1);
    CHECK_INT(ada.last_run_ms, AT(KIT_DAY, 441));
}

TEST_OF_BOTH(a_finalized_day_is_never_overwritten) {
    const uint64_t  n = kit_user(store, "ada", 450);
    static kit_text before, after;

    kit_do(store, kit_cutoff(n, KIT_DAY + 2, AT(KIT_DAY + 2, 450)));
    kit_dump_well(store, &before);
    const dn_write_result late = kit_do(store, kit_success(n, KIT_DAY + 2, AT(KIT_DAY + 2, 451)));
    CHECK_INT(late.wrote, DN_WROTE_LATE);
    CHECK_INT(late.user.status, DN_DAILY_CUTOFF);
    CHECK_INT(kit_do(store, kit_cutoff(n, KIT_DAY + 2, AT(KIT_DAY + 3, 0))).wrote, DN_WROTE_LATE);
    /* A clock that was stepped back finds the days before finalized too. */
    CHECK_INT(kit_do(store, kit_success(n, KIT_DAY + 1, AT(KIT_DAY + 1, 0))).wrote, DN_WROTE_LATE);
    kit_dump_well(store, &after);
    CHECK_STR(after.text, before.text);
}

TEST_OF_BOTH(a_day_before_the_user_starts_is_nobodys_business) {
    const uint64_t n = kit_user(store, "ada", 450);

    CHECK_INT(kit_do(store, kit_cutoff(n, KIT_DAY - 1, AT(KIT_DAY, 0))).wrote, DN_WROTE_LATE);
    CHECK_INT(kit_read(store, "ada").last_day, DN_DAY_NONE);
}

TEST_OF_BOTH(a_cutoff_before_the_due_of_that_moment_is_early) {
    const uint64_t n = kit_user(store, "ada", 450);

    kit_do(store, kit_set("ada", 500));
    const dn_write_result early = kit_do(store, kit_cutoff(n, KIT_DAY, AT(KIT_DAY, 500) - 1));
    CHECK_INT(early.wrote, DN_WROTE_EARLY);
    CHECK_UINT(early.user.due, 500);
    CHECK_INT(kit_do(store, kit_cutoff(n, KIT_DAY, AT(KIT_DAY, 500))).wrote, DN_WROTE);
}

TEST_OF_BOTH(twice_in_one_batch_is_one_after_the_other) {
    const uint64_t        n = kit_user(store, "ada", 450);
    const dn_write        writes[] = {kit_success(n, KIT_DAY, AT(KIT_DAY, 449)),
                                      kit_cutoff(n, KIT_DAY, AT(KIT_DAY, 450)),
                                      kit_cutoff(n, KIT_DAY + 1, AT(KIT_DAY + 1, 450)),
                                      kit_set("ada", 10),
                                      kit_remove("ada"),
                                      kit_success(n, KIT_DAY + 2, AT(KIT_DAY + 2, 0)),
                                      kit_set("ada", 20)};
    static const dn_wrote expected[] = {DN_WROTE, DN_WROTE_LATE, DN_WROTE,    DN_WROTE,
                                        DN_WROTE, DN_WROTE_GONE, DN_WROTE_NEW};
    dn_write_result       results[7];

    CHECK_INT(dn_store_write(store, writes, 7, results, NULL), DN_OK);
    for (int i = 0; i < 7; i++) CHECK_INT(results[i].wrote, expected[i]);
    CHECK_UINT(results[1].user.context_epoch, 0);
    CHECK_UINT(results[4].user.context_epoch, 1);
    CHECK_UINT(results[4].user.due, 10);
    CHECK_UINT(kit_read(store, "ada").registration, n + 1);
}

TEST_OF_BOTH(a_herd_is_finalized_in_order_with_gaps_doubles_and_strangers) {
    enum { USERS = 700 };
    static dn_write        writes[2 * USERS];
    static dn_write_result results[2 * USERS];
    size_t                 len = 0;
    uint64_t               first = 0;

    for (int i = 0; i < USERS; i++) {
        char id[16];
        snprintf(id, sizeof id, "u%d", i);
        const uint64_t n = kit_user(store, id, 0);
        if (i == 0) first = n;
        if (i % 5 == 0) kit_do(store, kit_remove(id));
    }
    for (uint64_t i = 0; i < USERS; i++) {
        writes[len++] = kit_cutoff(first + i, KIT_DAY, AT(KIT_DAY, 0));
        if (i % 7 == 0) writes[len++] = kit_cutoff(first + i, KIT_DAY, AT(KIT_DAY, 0));
    }
    CHECK_INT(dn_store_write(store, writes, len, results, NULL), DN_OK);
    for (size_t k = 0; k < len; k++) {
        const uint64_t i = writes[k].finalize.registration - first;
        const bool     again =
            k > 0 && writes[k - 1].finalize.registration == writes[k].finalize.registration;
        CHECK_INT(results[k].wrote, i % 5 == 0 ? DN_WROTE_GONE : again ? DN_WROTE_LATE : DN_WROTE);
        if (i % 5 != 0) CHECK_UINT(results[k].user.registration, writes[k].finalize.registration);
    }
}

/* ---- The ledger ---- */

TEST_OF_BOTH(each_finalization_has_its_row_in_the_ledger) {
    const uint64_t n = kit_user(store, "ada", 450);
    dn_ledger_row  rows[4];
    size_t         len;

    kit_do(store, kit_success(n, KIT_DAY, AT(KIT_DAY, 441)));
    kit_do(store, kit_cutoff(n, KIT_DAY + 1, AT(KIT_DAY + 1, 450)));
    CHECK_INT(dn_store_days_of(store, n, INT32_MAX, rows, 4, &len), DN_OK);
    CHECK_UINT(len, 2);
    CHECK_INT(rows[0].day, KIT_DAY + 1);
    CHECK_INT(rows[0].status, DN_DAILY_CUTOFF);
    CHECK_INT(rows[0].error_class, DN_CLASS_LLM);
    CHECK_UINT(rows[0].attempts, 3);
    CHECK_INT(rows[0].at_ms, AT(KIT_DAY + 1, 450));
    CHECK_INT(rows[1].day, KIT_DAY);
    CHECK_INT(rows[1].status, DN_DAILY_SUCCESS);
    CHECK_INT(dn_store_days_of(store, n, KIT_DAY + 1, rows, 4, &len), DN_OK);
    CHECK_UINT(len, 1);
    CHECK_INT(rows[0].day, KIT_DAY);
    CHECK_INT(dn_store_days_of(store, n, KIT_DAY, rows, 4, &len), DN_OK);
    CHECK_UINT(len, 0);
}

TEST_OF_BOTH(missed_days_are_those_neither_finalized_nor_recorded_nor_before_the_start) {
    const uint64_t n = kit_user(store, "ada", 450);

    kit_do(store, kit_success(n, KIT_DAY + 1, AT(KIT_DAY + 1, 0)));
    dn_write_result result = kit_do(store, kit_missed(n, KIT_DAY - 5, KIT_DAY + 3));
    CHECK_INT(result.wrote, DN_WROTE);
    CHECK_UINT(result.rows, 2);
    CHECK_INT(result.user.recorded, KIT_DAY + 3);
    CHECK_INT(result.user.last_day, KIT_DAY + 1);
    result = kit_do(store, kit_missed(n, KIT_DAY + 2, KIT_DAY + 4));
    CHECK_UINT(result.rows, 1);
    CHECK_INT(kit_read(store, "ada").recorded, KIT_DAY + 4);
    CHECK_UINT(kit_do(store, kit_missed(n, KIT_DAY + 9, KIT_DAY + 8)).rows, 0);
    CHECK_INT(kit_do(store, kit_missed(n + 1, KIT_DAY, KIT_DAY)).wrote, DN_WROTE_GONE);
}

TEST_OF_BOTH(a_missed_day_that_is_finalized_after_all_has_the_finalizations_row_and_count) {
    const uint64_t n = kit_user(store, "ada", 450);
    dn_ledger_row  rows[4];
    dn_day_totals  totals[4];
    size_t         len;

    kit_do(store, kit_missed(n, KIT_DAY, KIT_DAY + 1));
    CHECK_INT(kit_do(store, kit_success(n, KIT_DAY, AT(KIT_DAY, 3))).wrote, DN_WROTE);
    CHECK_INT(dn_store_days_of(store, n, INT32_MAX, rows, 4, &len), DN_OK);
    CHECK_UINT(len, 2);
    CHECK_INT(rows[0].status, DN_DAILY_MISSED);
    CHECK_INT(rows[1].status, DN_DAILY_SUCCESS);
    CHECK_INT(dn_store_totals(store, KIT_DAY, KIT_DAY + 9, totals, 4, &len), DN_OK);
    CHECK_UINT(len, 2);
    CHECK_UINT(totals[0].success, 1);
    CHECK_UINT(totals[0].missed, 0);
    CHECK_UINT(totals[1].missed, 1);
    CHECK_INT(kit_read(store, "ada").recorded, KIT_DAY + 1);
}

TEST(without_a_ledger_there_are_no_rows_but_recorded_and_totals_are_kept) {
    dn_store *stores[] = {kit_open_days(NULL, 0), kit_open_days(kit_path("data"), 0)};

    for (int k = 0; k < 2; k++) {
        const uint64_t n = kit_user(stores[k], "ada", 450);
        dn_ledger_row  rows[4];
        dn_day_totals  totals[4];
        size_t         len;

        kit_do(stores[k], kit_cutoff(n, KIT_DAY, AT(KIT_DAY, 450)));
        CHECK_UINT(kit_do(stores[k], kit_missed(n, KIT_DAY, KIT_DAY + 2)).rows, 2);
        CHECK_UINT(kit_do(stores[k], kit_missed(n, KIT_DAY, KIT_DAY + 2)).rows, 0);
        kit_do(stores[k], kit_success(n, KIT_DAY + 1, AT(KIT_DAY + 1, 0)));
        CHECK_INT(kit_read(stores[k], "ada").recorded, KIT_DAY + 2);
        CHECK_INT(dn_store_days_of(stores[k], n, INT32_MAX, rows, 4, &len), DN_OK);
        CHECK_UINT(len, 0);
        CHECK_INT(dn_store_totals(stores[k], KIT_DAY, KIT_DAY + 2, totals, 4, &len), DN_OK);
        CHECK_UINT(len, 3);
        CHECK_UINT(totals[0].cutoff, 1);
        CHECK_UINT(totals[1].success, 1);
        CHECK_UINT(totals[1].missed, 0);
        CHECK_UINT(totals[2].missed, 1);
        dn_store_free(stores[k]);
    }
}

TEST_OF_BOTH(a_days_rows_are_paged_by_user) {
    dn_ledger_row rows[4];
    size_t        len;

    for (int i = 0; i < 10; i++) {
        char id[8];
        snprintf(id, sizeof id, "u%d", i);
        kit_do(store, kit_cutoff(kit_user(store, id, 0), KIT_DAY + i % 2, AT(KIT_DAY + 1, 0)));
    }
    CHECK_INT(dn_store_day(store, KIT_DAY, 0, rows, 4, &len), DN_OK);
    CHECK_UINT(len, 4);
    CHECK_UINT(rows[3].registration, 7);
    CHECK_INT(dn_store_day(store, KIT_DAY, 7, rows, 4, &len), DN_OK);
    CHECK_UINT(len, 1);
    CHECK_UINT(rows[0].registration, 9);
    CHECK_INT(dn_store_day(store, KIT_DAY, UINT64_MAX, rows, 4, &len), DN_OK);
    CHECK_UINT(len, 0);
    CHECK_INT(dn_store_day(store, KIT_DAY + 2, 0, rows, 4, &len), DN_OK);
    CHECK_UINT(len, 0);
}

TEST_OF_BOTH(forgetting_takes_the_oldest_rows_a_few_thousand_at_a_time_and_leaves_the_totals) {
    enum { USERS = 3000 };
    static dn_write        writes[USERS];
    static dn_write_result results[USERS];
    static char            ids[USERS][8];
    dn_ledger_row          row;
    dn_day_totals          totals[8];
    size_t                 len;

    for (int i = 0; i < USERS; i++) {
        snprintf(ids[i], sizeof ids[i], "u%d", i);
        writes[i] = kit_set(ids[i], 0);
    }
    CHECK_INT(dn_store_write(store, writes, USERS, results, NULL), DN_OK);
    for (dn_day day = KIT_DAY; day < KIT_DAY + 4; day++) {
        for (uint64_t i = 0; i < USERS; i++) writes[i] = kit_success(i + 1, day, AT(day, 0));
        CHECK_INT(dn_store_write(store, writes, USERS, results, NULL), DN_OK);
    }
    CHECK_UINT(kit_do(store, kit_forget(KIT_DAY + 3)).rows, 5000);
    CHECK_INT(dn_store_day(store, KIT_DAY, 0, &row, 1, &len), DN_OK);
    CHECK_UINT(len, 0);
    CHECK_INT(dn_store_day(store, KIT_DAY + 1, 0, &row, 1, &len), DN_OK);
    CHECK_UINT(len, 1);
    CHECK_UINT(row.registration, 2001);
    CHECK_UINT(kit_do(store, kit_forget(KIT_DAY + 3)).rows, 4000);
    CHECK_UINT(kit_do(store, kit_forget(KIT_DAY + 3)).rows, 0);
    CHECK_INT(dn_store_day(store, KIT_DAY + 3, 0, &row, 1, &len), DN_OK);
    CHECK_UINT(len, 1);
    CHECK_INT(dn_store_totals(store, KIT_DAY, KIT_DAY + 9, totals, 8, &len), DN_OK);
    CHECK_UINT(len, 4);
    CHECK_UINT(totals[0].success, USERS);
}

/* ---- Removal ---- */

TEST_OF_BOTH(removing_takes_all_that_is_durable_of_a_user_and_nothing_of_another) {
    const uint64_t ada = kit_user(store, "ada", 0), bob = kit_user(store, "bob", 0);
    dn_ledger_row  rows[8];
    dn_hook        hooks[8];
    int64_t        next_ms;
    size_t         len;
    uint64_t       count;
    dn_user        user;

    for (dn_day day = KIT_DAY; day < KIT_DAY + 6; day += 2) {
        kit_do(store, kit_cutoff(ada, day, AT(day, 0)));
        kit_do(store, kit_cutoff(bob, day + 1, AT(day + 1, 0)));
    }
    kit_do(store, kit_missed(ada, KIT_DAY + 5, KIT_DAY + 6));
    CHECK_INT(kit_do(store, kit_remove("ada")).wrote, DN_WROTE);
    CHECK_INT(kit_do(store, kit_remove("ada")).wrote, DN_WROTE_GONE);
    CHECK_INT(dn_store_user(store, "ada", 3, &user), DN_EDEAD);
    CHECK_INT(dn_store_days_of(store, ada, INT32_MAX, rows, 8, &len), DN_OK);
    CHECK_UINT(len, 0);
    CHECK_INT(dn_store_days_of(store, bob, INT32_MAX, rows, 8, &len), DN_OK);
    CHECK_UINT(len, 3);
    CHECK_INT(dn_store_outbox(store, INT64_MAX, hooks, 8, &len, &next_ms), DN_OK);
    CHECK_UINT(len, 3);
    for (size_t i = 0; i < len; i++) CHECK_STR(hooks[i].user_id, "bob");
    CHECK_INT(dn_store_count(store, &count), DN_OK);
    CHECK_UINT(count, 1);
    kit_check_well(store);
}

/* ---- Reading ---- */

TEST_OF_BOTH(loading_goes_through_all_users_by_number) {
    dn_user  users[3];
    size_t   len;
    uint64_t after = 0, seen = 0;

    for (int i = 0; i < 10; i++) {
        char id[8];
        snprintf(id, sizeof id, "u%d", 9 - i);
        kit_user(store, id, 0);
    }
    kit_do(store, kit_remove("u5"));
    do {
        CHECK_INT(dn_store_load(store, after, users, 3, &len), DN_OK);
        for (size_t i = 0; i < len; i++) {
            CHECK(users[i].registration > after);
            after = users[i].registration;
            seen++;
        }
    } while (len == 3);
    CHECK_UINT(seen, 9);
    CHECK_INT(dn_store_load(store, UINT64_MAX, users, 3, &len), DN_OK);
    CHECK_UINT(len, 0);
    CHECK_INT(dn_store_load(store, 0, users, 0, &len), DN_OK);
    CHECK_UINT(len, 0);
}

static const dn_user_filter any = {.due_from = 0, .due_to = DN_DAY_MINUTES - 1};

TEST_OF_BOTH(a_list_is_in_the_order_of_the_ids_bytes_and_says_if_there_is_more) {
    static const char *const ids[] = {"b", "a", "\xc3\xa9", "ab", "B", "a-"};
    static const char *const sorted[] = {"B", "a", "a-", "ab", "b", "\xc3\xa9"};
    dn_user_filter           filter = any;
    dn_user                  users[6], last;
    size_t                   len;
    bool                     more;

    for (int i = 0; i < 6; i++) kit_user(store, ids[i], 0);
    CHECK_INT(dn_store_list(store, &filter, users, 6, &len, &more, &last), DN_OK);
    CHECK_UINT(len, 6);
    CHECK(!more);
    for (int i = 0; i < 6; i++) CHECK_STR(users[i].id, sorted[i]);
    CHECK_INT(dn_store_list(store, &filter, users, 4, &len, &more, &last), DN_OK);
    CHECK_UINT(len, 4);
    CHECK(more);
    CHECK_STR(last.id, "ab");
    filter.after_id = last.id;
    filter.after_len = last.id_len;
    CHECK_INT(dn_store_list(store, &filter, users, 4, &len, &more, &last), DN_OK);
    CHECK_UINT(len, 2);
    CHECK(!more);
    CHECK_STR(users[0].id, "b");
}

/* Eight bytes are a word, by which they may be compared first. */
TEST_OF_BOTH(ids_that_are_alike_for_long_are_in_their_order_too) {
    static const char *const ids[] = {"abcdefghi",        "abcdefg",  "abcdefgz",
                                      "abcdefgh1",        "abcdefgh", "abcdefghi2345678x",
                                      "abcdefghi2345678", "bbcdefgh"};
    static const char *const sorted[] = {"abcdefg",   "abcdefgh",         "abcdefgh1",
                                         "abcdefghi", "abcdefghi2345678", "abcdefghi2345678x",
                                         "abcdefgz",  "bbcdefgh"};
    dn_user_filter           filter = any;
    dn_user                  users[8], last;
    size_t                   len;
    bool                     more;

    for (int i = 0; i < 8; i++) kit_user(store, ids[i], 0);
    CHECK_INT(dn_store_list(store, &filter, users, 8, &len, &more, &last), DN_OK);
    CHECK_UINT(len, 8);
    for (int i = 0; i < 8; i++) CHECK_STR(users[i].id, sorted[i]);
}

TEST_OF_BOTH(a_list_can_be_narrowed_and_looks_at_no_more_rows_than_allowed) {
    dn_user_filter filter = any;
    dn_user        users[100], last;
    size_t         len;
    bool           more;

    for (int i = 0; i < 100; i++) {
        char id[8];
        snprintf(id, sizeof id, "%c%02d", i % 2 ? 'x' : 'y', i);
        kit_user(store, id, (uint32_t)i);
        if (i % 10 == 0) kit_do(store, kit_success((uint64_t)i + 1, KIT_DAY, AT(KIT_DAY, 0)));
    }
    filter.prefix = "y";
    filter.prefix_len = 1;
    filter.due_from = 10;
    filter.due_to = 20;
    CHECK_INT(dn_store_list(store, &filter, users, 100, &len, &more, &last), DN_OK);
    CHECK_UINT(len, 6);
    CHECK(!more);
    filter.status = DN_DAILY_SUCCESS;
    CHECK_INT(dn_store_list(store, &filter, users, 100, &len, &more, &last), DN_OK);
    CHECK_UINT(len, 2);
    filter.scan_max = 8;
    CHECK_INT(dn_store_list(store, &filter, users, 100, &len, &more, &last), DN_OK);
    CHECK_UINT(len, 1);
    CHECK(more);
    CHECK_STR(last.id, "y14");
    filter.prefix = "z";
    CHECK_INT(dn_store_list(store, &filter, users, 100, &len, &more, &last), DN_OK);
    CHECK_UINT(len, 0);
    CHECK(!more);
}

/* ---- The outbox ---- */

TEST_OF_BOTH(a_cutoff_puts_a_hook_in_the_outbox_once) {
    const uint64_t n = kit_user(store, "ada", 450);
    dn_hook        hooks[4];
    int64_t        next_ms;
    size_t         len;

    kit_do(store, kit_cutoff(n, KIT_DAY, AT(KIT_DAY, 450)));
    kit_do(store, kit_cutoff(n, KIT_DAY, AT(KIT_DAY, 451)));
    kit_do(store, kit_success(n, KIT_DAY + 1, AT(KIT_DAY + 1, 0)));
    CHECK_INT(dn_store_outbox(store, AT(KIT_DAY, 450) - 1, hooks, 4, &len, &next_ms), DN_OK);
    CHECK_UINT(len, 0);
    CHECK_INT(next_ms, AT(KIT_DAY, 450));
    CHECK_INT(dn_store_outbox(store, AT(KIT_DAY, 450), hooks, 4, &len, &next_ms), DN_OK);
    CHECK_UINT(len, 1);
    CHECK_INT(next_ms, INT64_MAX);
    CHECK_STR(hooks[0].user_id, "ada");
    CHECK_INT(hooks[0].day, KIT_DAY);
    CHECK_UINT(hooks[0].due, 450);
    CHECK_UINT(hooks[0].context_epoch, 1);
    CHECK_UINT(hooks[0].attempts, 0);
}

TEST_OF_BOTH(hooks_come_longest_waiting_first_and_leave_when_done) {
    dn_hook hooks[4];
    int64_t next_ms;
    size_t  len;

    for (int i = 0; i < 4; i++) {
        char id[8];
        snprintf(id, sizeof id, "u%d", i);
        kit_do(store, kit_cutoff(kit_user(store, id, 0), KIT_DAY, AT(KIT_DAY, 40 - i)));
    }
    CHECK_INT(dn_store_outbox(store, INT64_MAX, hooks, 2, &len, &next_ms), DN_OK);
    CHECK_UINT(len, 2);
    CHECK_STR(hooks[0].user_id, "u3");
    CHECK_STR(hooks[1].user_id, "u2");
    CHECK_INT(next_ms, AT(KIT_DAY, 39));
    CHECK_INT(kit_do(store, kit_outbox_later(hooks[0].id, 1, AT(KIT_DAY, 100))).wrote, DN_WROTE);
    CHECK_INT(kit_do(store, kit_outbox_done(hooks[1].id)).wrote, DN_WROTE);
    CHECK_INT(kit_do(store, kit_outbox_done(hooks[1].id)).wrote, DN_WROTE_GONE);
    CHECK_INT(kit_do(store, kit_outbox_later(hooks[1].id, 1, 0)).wrote, DN_WROTE_GONE);
    CHECK_INT(dn_store_outbox(store, AT(KIT_DAY, 50), hooks, 4, &len, &next_ms), DN_OK);
    CHECK_UINT(len, 2);
    CHECK_INT(next_ms, AT(KIT_DAY, 100));
    CHECK_INT(dn_store_outbox(store, AT(KIT_DAY, 100), hooks, 4, &len, &next_ms), DN_OK);
    CHECK_UINT(len, 3);
    CHECK_STR(hooks[2].user_id, "u3");
    CHECK_UINT(hooks[2].attempts, 1);
}

TEST_OF_BOTH(a_hook_that_is_put_off_and_back_is_there_once) {
    const uint64_t n = kit_user(store, "ada", 0);
    dn_hook        hooks[4];
    int64_t        next_ms;
    size_t         len;

    kit_do(store, kit_cutoff(n, KIT_DAY, 0 + AT(KIT_DAY, 1)));
    CHECK_INT(dn_store_outbox(store, INT64_MAX, hooks, 4, &len, &next_ms), DN_OK);
    kit_do(store, kit_outbox_later(hooks[0].id, 1, AT(KIT_DAY, 9)));
    kit_do(store, kit_outbox_later(hooks[0].id, 2, AT(KIT_DAY, 1)));
    CHECK_INT(dn_store_outbox(store, INT64_MAX, hooks, 4, &len, &next_ms), DN_OK);
    CHECK_UINT(len, 1);
    CHECK_UINT(hooks[0].attempts, 2);
}

static int64_t clock_of(dn_store *store, int64_t wall_ms) {
    int64_t ms = 0;

    CHECK_INT(dn_store_outbox_clock(store, wall_ms, &ms), DN_OK);
    return ms;
}

TEST_OF_BOTH(the_clock_of_the_outbox_begins_where_no_hook_waits_longer_than_its_delay) {
    const int64_t now_ms = AT(KIT_DAY, 1);

    CHECK_INT(clock_of(store, now_ms), now_ms);
    kit_do(store, kit_cutoff(kit_user(store, "ada", 0), KIT_DAY, now_ms));
    kit_do(store, kit_cutoff(kit_user(store, "bob", 0), KIT_DAY, now_ms));
    CHECK_INT(clock_of(store, now_ms + 1), now_ms + 1);
    CHECK_INT(clock_of(store, now_ms - 1), now_ms);
    kit_do(store, kit_outbox_later(1, 4, now_ms + 8000));
    CHECK_INT(clock_of(store, now_ms), now_ms);
    CHECK_INT(clock_of(store, now_ms - 3600000), now_ms);
    /* That one waits its hour from there, and the first no longer for it. */
    kit_do(store, kit_outbox_later(2, 65535, now_ms + 3600000 - 1));
    CHECK_INT(clock_of(store, now_ms - 3600000), now_ms);
    kit_do(store, kit_outbox_done(1));
    CHECK_INT(clock_of(store, now_ms - 3600000), now_ms - 1);
}

TEST(a_hook_waits_a_second_then_two_and_an_hour_at_most) {
    CHECK_INT(dn_hook_delay_ms(0), 0);
    CHECK_INT(dn_hook_delay_ms(1), 1000);
    CHECK_INT(dn_hook_delay_ms(2), 2000);
    CHECK_INT(dn_hook_delay_ms(12), 2048000);
    CHECK_INT(dn_hook_delay_ms(13), 3600000);
    CHECK_INT(dn_hook_delay_ms(65535), 3600000);
}

/* ---- Bugs of the caller ---- */

TEST_ABORTS(writing_an_id_that_is_none_is_a_bug, "write_is_sound") {
    dn_store *store = kit_open(NULL);

    kit_do(store, kit_set("ada\n", 0));
}

TEST_ABORTS(finalizing_as_missed_is_a_bug, "write_is_sound") {
    dn_store *store = kit_open(NULL);
    dn_write  w = kit_success(1, KIT_DAY, 0);

    w.finalize.status = DN_DAILY_MISSED;
    kit_do(store, w);
}

/* ---- Tokens ---- */

static dn_token token_of(const char *name, dn_scope scope, int64_t ends_ms) {
    dn_token t = {.scope = scope,
                  .made_ms = AT(KIT_DAY, 0),
                  .ends_ms = ends_ms,
                  .name_len = (uint8_t)strlen(name)};

    memset(t.hash, (unsigned char)name[0], sizeof t.hash);
    memcpy(t.name, name, t.name_len);
    return t;
}

static void check_token(const dn_token *is, const dn_token *wanted) {
    CHECK_UINT(is->id, wanted->id);
    CHECK_INT(is->scope, wanted->scope);
    CHECK_INT(is->made_ms, wanted->made_ms);
    CHECK_INT(is->ends_ms, wanted->ends_ms);
    CHECK_STR(is->name, wanted->name);
    CHECK_UINT(is->tenant_len, wanted->tenant_len);
    CHECK_STR(is->tenant, wanted->tenant);
    CHECK_UINT(is->user_len, wanted->user_len);
    CHECK_STR(is->user, wanted->user);
    CHECK(memcmp(is->hash, wanted->hash, sizeof is->hash) == 0);
}

TEST_OF_BOTH(tokens_are_kept_in_the_order_they_were_made_until_they_are_removed) {
    dn_token made[] = {token_of("reader", DN_SCOPE_READ, INT64_MAX),
                       token_of("admin", DN_SCOPE_ADMIN, AT(KIT_DAY + 1, 0)),
                       token_of("", DN_SCOPE_OPERATE, INT64_MAX)};
    dn_token there[4];
    size_t   len = 9;

    made[1].tenant_len = (uint8_t)snprintf(made[1].tenant, sizeof made[1].tenant, "acme");
    made[2].tenant_len = (uint8_t)snprintf(made[2].tenant, sizeof made[2].tenant, "b");
    made[2].user_len = (uint8_t)snprintf(made[2].user, sizeof made[2].user, "%0128d", 7);
    CHECK_INT(dn_store_tokens(store, there, 4, &len), DN_OK);
    CHECK_UINT(len, 0);
    for (int i = 0; i < 3; i++) made[i].id = kit_do(store, kit_token_add(&made[i])).token_id;
    CHECK_INT(dn_store_tokens(store, there, 4, &len), DN_OK);
    CHECK_UINT(len, 3);
    for (int i = 0; i < 3; i++) check_token(&there[i], &made[i]);
    CHECK_INT(dn_store_tokens(store, there, 2, &len), DN_OK);
    CHECK_UINT(len, 2);
    CHECK_INT(kit_do(store, kit_token_remove(made[1].id)).wrote, DN_WROTE);
    CHECK_INT(kit_do(store, kit_token_remove(made[1].id)).wrote, DN_WROTE_GONE);
    CHECK_INT(dn_store_tokens(store, there, 4, &len), DN_OK);
    CHECK_UINT(len, 2);
    check_token(&there[1], &made[2]);
}

TEST_OF_BOTH(the_number_of_a_token_is_never_given_again) {
    dn_token first = token_of("a", DN_SCOPE_READ, INT64_MAX),
             next = token_of("b", DN_SCOPE_READ, 1);

    first.id = kit_do(store, kit_token_add(&first)).token_id;
    CHECK_INT(kit_do(store, kit_token_remove(first.id)).wrote, DN_WROTE);
    next.id = kit_do(store, kit_token_add(&next)).token_id;
    CHECK(next.id > first.id);
}

/* ---- Since when the ledger is whole ---- */

TEST_OF_BOTH(what_is_forgotten_moves_the_day_since_which_the_ledger_is_whole_and_never_back) {
    CHECK_INT(dn_store_ledger_since(store), DN_DAY_NONE);
    kit_do(store, kit_forget(KIT_DAY));
    CHECK_INT(dn_store_ledger_since(store), KIT_DAY);
    kit_do(store, kit_forget(KIT_DAY - 30));
    CHECK_INT(dn_store_ledger_since(store), KIT_DAY);
    const uint64_t n = kit_user(store, "ada", 450);
    kit_do(store, kit_success(n, KIT_DAY + 1, AT(KIT_DAY + 1, 440)));
    CHECK_INT(dn_store_ledger_since(store), KIT_DAY);
}

TEST(a_day_that_was_written_without_a_ledger_is_before_it_also_when_there_is_one_again) {
    dn_store *store = kit_open_days(kit_path("data"), 0);

    const uint64_t ada = kit_user(store, "ada", 450), bob = kit_user(store, "bob", 450);
    kit_do(store, kit_success(ada, KIT_DAY, AT(KIT_DAY, 440)));
    CHECK_INT(dn_store_ledger_since(store), KIT_DAY + 1);
    kit_do(store, kit_missed(bob, KIT_DAY, KIT_DAY + 2));
    CHECK_INT(dn_store_ledger_since(store), KIT_DAY + 3);
    dn_store_free(store);
    store = kit_open(kit_path("data"));
    CHECK_INT(dn_store_ledger_since(store), KIT_DAY + 3);
    kit_do(store, kit_success(bob, KIT_DAY + 3, AT(KIT_DAY + 3, 440)));
    CHECK_INT(dn_store_ledger_since(store), KIT_DAY + 3);
    kit_check_well(store);
    dn_store_free(store);
}
