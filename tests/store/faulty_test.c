/* faulty_test.c - the store that fails on demand, and what a caller finds that repeats a batch after a lost answer. */
#include "kit.h"
#include "store/faulty.h"

static dn_store *real, *store;
static int       before_answers, after_answers;

static int before(void *context) {
    (void)context;
    return before_answers;
}

static int after(void *context) {
    (void)context;
    return after_answers;
}

static void stores_open(void) {
    real = kit_open(NULL);
    store = dn_store_faulty_new(real, &(dn_store_faults){.before = before, .after = after});
    CHECK(store);
    (void)dn_store_follow(store);
}

static void stores_close(void) {
    dn_store_free(store);
    dn_store_free(real);
}

static int write_batch(dn_write_result results[4], uint64_t *out_seq) {
    const dn_write batch[] = {kit_set("ada", 2), kit_success(1, KIT_DAY, AT(KIT_DAY, 1)),
                              kit_missed(2, KIT_DAY, KIT_DAY), kit_remove("cleo")};

    return dn_store_write(store, batch, 4, results, out_seq);
}

TEST(a_fault_before_the_write_leaves_nothing_and_no_number_is_used) {
    dn_write_result results[4];
    uint64_t        seq;

    stores_open();
    before_answers = DN_EFULL;
    CHECK_INT(write_batch(results, &seq), DN_EFULL);
    before_answers = DN_OK;
    CHECK_UINT(kit_do(store, kit_set("ada", 1)).user.registration, 1);
    CHECK_INT(dn_store_write(store, NULL, 0, NULL, &seq), DN_OK);
    CHECK_UINT(seq, 1);
    stores_close();
}

TEST(a_batch_repeated_after_a_lost_answer_changes_nothing_and_gives_its_changes_once) {
    dn_write_result results[4];
    dn_user_change  changes[8];
    kit_text        first = {0}, second = {0};
    uint64_t        seq;
    size_t          len;

    stores_open();
    kit_user(store, "ada", 1);
    kit_user(store, "bob", 1);
    kit_user(store, "cleo", 1);
    after_answers = DN_EAWAY;
    CHECK_INT(write_batch(results, &seq), DN_EAWAY);
    kit_dump_well(real, &first);
    CHECK_INT(dn_store_changes(store, 3, changes, 8, &len, &seq), DN_OK);
    CHECK_UINT(len, 0);
    CHECK_UINT(seq, 3);
    after_answers = DN_OK;
    CHECK_INT(write_batch(results, &seq), DN_OK);
    kit_dump_well(real, &second);
    CHECK_STR(second.text, first.text);
    CHECK_UINT(seq, 4);
    CHECK_INT(results[0].wrote, DN_WROTE);
    CHECK_INT(results[1].wrote, DN_WROTE_LATE);
    CHECK_INT(results[2].wrote, DN_WROTE);
    CHECK_UINT(results[2].rows, 0);
    CHECK_INT(results[3].wrote, DN_WROTE_GONE);
    CHECK_INT(dn_store_changes(store, 3, changes, 8, &len, &seq), DN_OK);
    CHECK_UINT(len, 3); /* the removal was committed with the answer that was lost */
    CHECK_STR(changes[1].user.id, "ada");
    CHECK_INT(changes[1].user.last_day, KIT_DAY);
    free(first.text);
    free(second.text);
    stores_close();
}
