/* Who sees that each cutoff has its hook, shown one thing that is right and then what is not. */
#include "simulate_hooks.h"
#include "store/outbox.h"
#include "store/store.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

enum { TODAY = 20530, DUE = 480, MINUTE = 60000 };

/* u0, whose cutoff of today is in the store, with its hook, and told; and what was said of that. */
typedef struct stage {
    dn_store   *store;
    plan        plan;
    hooks_watch watch;
    unsigned    said;
    char        text[200];
    dn_user     user;
    uint64_t    hook;
    int64_t     cutoff_ms;
} stage;

static void say(void *context, const char *text) {
    stage *s = context;

    s->said++;
    (void)snprintf(s->text, sizeof s->text, "%s", text);
}

static void tell(stage *s, dn_happening_kind kind, int64_t steady_ms) {
    const dn_happening h = {
        .kind = kind,
        .id = "u0",
        .id_len = 2,
        .registration = s->user.registration,
        .day = TODAY,
        .status = DN_DAILY_CUTOFF,
    };
    hooks_watch_tell(&s->watch, &(event){.kind = kind, .steady_ms = steady_ms, .h = &h});
}

static void write_one(const stage *s, dn_write w, dn_write_result *out_result) {
    CHECK_INT(dn_store_write(s->store, &w, 1, out_result, NULL), DN_OK);
}

static void stage_opens(stage *s) {
    const dn_store_config config = {.url = "memory:", .ledger_days = 35};
    char                  why[DN_STORE_WHY];
    dn_write_result       result;
    dn_hook               hook;
    size_t                len;
    int64_t               next_ms;

    *s = (stage){.cutoff_ms = TODAY * DN_DAY_MS + (int64_t)DUE * MINUTE};
    s->plan = (plan){.users = 1, .settings = {.job_timeout_ms = MINUTE}};
    s->watch = (hooks_watch){.plan = &s->plan, .say = say, .context = s};
    CHECK_INT(hooks_watch_init(&s->watch), DN_OK);
    CHECK_INT(dn_store_open(&config, &s->store, why), DN_OK);
    write_one(s,
              (dn_write){.op = DN_WRITE_SET,
                         .set = {.id = "u0", .id_len = 2, .due = DUE, .starts_on = TODAY}},
              &result);
    s->user = result.user;
    tell(s, DN_HAPPENED_SET, 0);
    write_one(s,
              (dn_write){.op = DN_WRITE_FINALIZE,
                         .finalize = {.registration = s->user.registration,
                                      .day = TODAY,
                                      .at_ms = s->cutoff_ms,
                                      .status = DN_DAILY_CUTOFF,
                                      .hook = true,
                                      .hook_ms = s->cutoff_ms}},
              &result);
    CHECK_INT(dn_store_outbox(s->store, INT64_MAX, &hook, 1, &len, &next_ms), DN_OK);
    CHECK_UINT(len, 1);
    s->hook = hook.id;
    tell(s, DN_HAPPENED_FINALIZED, 0);
}

static void delivers(stage *s, dn_day day, uint32_t epoch, bool ok) {
    const dn_daily_request r = {.id = "u0", .id_len = 2, .day = day, .context_epoch = epoch};

    hooks_watch_delivers(&s->watch, &r, ok);
}

static void is_written_as_delivered(const stage *s) {
    dn_write_result result;

    write_one(s, (dn_write){.op = DN_WRITE_OUTBOX_DONE, .outbox_done = {s->hook}}, &result);
    CHECK_INT(result.wrote, DN_WROTE);
}

static unsigned said_in_the_end(stage *s, int64_t after_ms) {
    CHECK_INT(hooks_watch_end(&s->watch, s->store, after_ms, s->cutoff_ms + after_ms), DN_OK);
    return s->said;
}

static void stage_closes(stage *s) {
    hooks_watch_done(&s->watch);
    dn_store_free(s->store);
}

TEST(a_hook_that_is_delivered_once_or_twice_is_right) {
    stage s;

    stage_opens(&s);
    delivers(&s, TODAY, 1, false);
    delivers(&s, TODAY, 1, true);
    delivers(&s, TODAY, 1, true);
    is_written_as_delivered(&s);
    CHECK_UINT(said_in_the_end(&s, DN_DAY_MS), 0);
    stage_closes(&s);
}

TEST(a_hook_of_a_day_that_had_no_cutoff_is_found) {
    stage s;

    stage_opens(&s);
    delivers(&s, TODAY + 1, 1, true);
    CHECK_UINT(s.said, 1);
    CHECK_MSG(strstr(s.text, "no such cutoff was told"), "%s", s.text);
    stage_closes(&s);
}

TEST(a_hook_with_another_epoch_than_its_cutoff_made_is_found) {
    stage s;

    stage_opens(&s);
    delivers(&s, TODAY, 2, true);
    CHECK_UINT(s.said, 1);
    stage_closes(&s);
}

TEST(a_hook_that_leaves_the_outbox_and_was_never_delivered_is_found) {
    stage s;

    stage_opens(&s);
    delivers(&s, TODAY, 1, false);
    is_written_as_delivered(&s);
    CHECK_UINT(said_in_the_end(&s, DN_DAY_MS), 1);
    CHECK_MSG(strstr(s.text, "waits no more"), "%s", s.text);
    stage_closes(&s);
}

TEST(a_hook_that_is_due_and_never_tried_is_found_after_a_while) {
    stage s;

    stage_opens(&s);
    CHECK_UINT(said_in_the_end(&s, MINUTE), 0);
    CHECK_UINT(said_in_the_end(&s, DN_DAY_MS), 1);
    CHECK_MSG(strstr(s.text, "due for long"), "%s", s.text);
    stage_closes(&s);
}

TEST(a_hook_that_is_to_be_tried_again_later_may_wait) {
    dn_write_result result;
    stage           s;

    stage_opens(&s);
    delivers(&s, TODAY, 1, false);
    write_one(
        &s,
        (dn_write){
            .op = DN_WRITE_OUTBOX_LATER,
            .outbox_later = {.id = s.hook, .attempts = 1, .next_ms = s.cutoff_ms + DN_DAY_MS + 1}},
        &result);
    CHECK_UINT(said_in_the_end(&s, DN_DAY_MS), 0);
    stage_closes(&s);
}

TEST(a_hook_that_is_put_off_for_good_is_found) {
    dn_write_result result;
    stage           s;

    stage_opens(&s);
    write_one(&s,
              (dn_write){.op = DN_WRITE_OUTBOX_LATER,
                         .outbox_later = {.id = s.hook, .attempts = 1, .next_ms = s.cutoff_ms * 2}},
              &result);
    CHECK_UINT(said_in_the_end(&s, DN_DAY_MS), 1);
    stage_closes(&s);
}

TEST(a_hook_of_who_was_removed_is_not_waited_for) {
    dn_write_result result;
    stage           s;

    stage_opens(&s);
    write_one(&s, (dn_write){.op = DN_WRITE_REMOVE, .remove = {"u0", 2}}, &result);
    tell(&s, DN_HAPPENED_REMOVED, 1);
    CHECK_UINT(said_in_the_end(&s, DN_DAY_MS), 0);
    stage_closes(&s);
}
