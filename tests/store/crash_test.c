/* crash_test.c - the end that nobody prepared for: the power is cut at every step of a history, and processes
 * are killed at any instant. What was acknowledged is there afterwards, all of it and in order, and of what was not,
 * at most the one batch that was under way, whole. */
#include "power.h"
#include "script.h"

#include <signal.h>
#include <sys/wait.h>

static script history;

/* ---- Power ---- */

static const dn_store_config *power_config(void) {
    static dn_store_config config;

    config = (dn_store_config){
        .url = kit_url(kit_path("data")), .ledger_days = KIT_LEDGER_DAYS, .vfs = "power"};
    return &config;
}

/* Tells the history until the power is cut. Says how many batches were acknowledged. */
static int tell_until_cut(void) {
    char      why[DN_STORE_WHY];
    dn_store *store = NULL;
    int       acknowledged = 0;

    for (int b = 0; b < SCRIPT_BATCHES && !power.is_cut; b++) {
        if (!store && dn_store_open(power_config(), &store, why) < 0) break;
        if (script_write(store, &history, b) < 0) break;
        acknowledged++;
        if (b % 5 == 1 && dn_store_idle(store) < 0) break;
        if (b % 7 == 3) {
            dn_store_free(store);
            store = NULL;
        }
    }
    dn_store_free(store);
    return acknowledged;
}

static void check_after_cut(int acknowledged) {
    char      why[DN_STORE_WHY];
    dn_store *store;
    kit_text  text = {0};
    int       code = dn_store_open(power_config(), &store, why), held;

    CHECK_MSG(code == DN_OK, "after %d acknowledged batches: code %d: %s", acknowledged, code, why);
    kit_dump_well(store, &text);
    held = script_find(&history, text.text, acknowledged);
    kit_check_well(store);
    /* And it goes on from there. */
    if (held < SCRIPT_BATCHES) {
        CHECK_INT(script_write(store, &history, held), DN_OK);
        kit_dump_well(store, &text);
        CHECK_STR(text.text, history.after[held + 1]);
    }
    dn_store_free(store);
    free(text.text);
}

enum { CUTS_AT_A_STEP = 1 + 7 / TEST_SLOW_FACTOR, STEPS_LEAST = 300 };

TEST(a_power_cut_at_any_step_keeps_what_was_acknowledged_and_nothing_by_halves) {
    uint64_t random_state = test_seed();
    long     cuts = 0;
    bool     was_cut = true;

    power_disk();
    kit_path("");
    script_init(&history, &random_state);
    for (long at = 1; was_cut; at++) {
        for (int again = 0; again < CUTS_AT_A_STEP; again++) {
            power_begin(at, test_random(&random_state));
            const int acknowledged = tell_until_cut();
            was_cut = power.is_cut;
            if (was_cut) cuts++;
            else CHECK_INT(acknowledged, SCRIPT_BATCHES);
            power_back();
            check_after_cut(acknowledged);
        }
    }
    CHECK_MSG(cuts > STEPS_LEAST * CUTS_AT_A_STEP, "only %ld cuts", cuts);
    power_begin(0, 0);
    script_done(&history);
}

/* ---- Kills ---- */

/* Tells the history, and each acknowledged batch to the parent, until it is killed. */
_Noreturn static void tell_and_be_killed(int tell) {
    dn_store *store = kit_open(kit_path("data"));

    for (int b = 0; b < SCRIPT_BATCHES; b++) {
        const unsigned char acknowledged = (unsigned char)(b + 1);
        if (script_write(store, &history, b) < 0) _exit(1);
        if (write(tell, &acknowledged, 1) != 1) _exit(2);
        if (b % 6 == 5 && dn_store_idle(store) < 0) _exit(3);
    }
    dn_store_free(store);
    _exit(0);
}

/* Waits for some acknowledgements, then for a moment of no known length, and kills. Says what was acknowledged. */
static int kill_at_random(pid_t pid, int hear, uint64_t *random) {
    const int     wait_for = (int)(test_random(random) % (SCRIPT_BATCHES + 1));
    volatile long spin = (long)(test_random(random) % 200000);
    unsigned char acknowledged = 0;
    int           status;

    while (acknowledged < wait_for && read(hear, &acknowledged, 1) == 1) continue;
    while (spin > 0) spin = spin - 1;
    kill(pid, SIGKILL);
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK_MSG(WIFSIGNALED(status) || WEXITSTATUS(status) == 0, "the child failed: %d", status);
    while (read(hear, &acknowledged, 1) == 1) continue;
    return acknowledged;
}

TEST(a_process_killed_at_any_instant_leaves_what_it_acknowledged) {
    uint64_t random_state = test_seed();
    kit_text text = {0};

    kit_path("");
    script_init(&history, &random_state);
    for (int round = 0; round < 100 / TEST_SLOW_FACTOR; round++) {
        int ends[2];
        CHECK_INT(pipe(ends), 0);
        const pid_t pid = fork();
        CHECK(pid >= 0);
        if (pid == 0) {
            close(ends[0]);
            tell_and_be_killed(ends[1]);
        }
        close(ends[1]);
        const int acknowledged = kill_at_random(pid, ends[0], &random_state);
        close(ends[0]);
        dn_store *store = kit_open(kit_path("data"));
        kit_dump_well(store, &text);
        script_find(&history, text.text, acknowledged);
        kit_check_well(store);
        dn_store_free(store);
        kit_remove_tree(kit_path("data"));
    }
    script_done(&history);
    free(text.text);
}
