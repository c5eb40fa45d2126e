/* loop_test.c - a loop from inside: what reaches it past every actor. A step of the wall clock told by
 * another loop, and the runtime's own messages in such a crowd that nothing else is ever waiting. */
#include "rt.h"

#include "diurnal/sim.h"
#include "test.h"

#include <stdlib.h>
#include <uv.h>

enum { ALARM = 1 };

/* ---- A step of the wall clock, as the first loop tells the others ---- */

#define MS    INT64_C(1000000)
#define WALL  INT64_C(1700000000000)
#define DUE   (WALL + 1000)
#define STEP  (400 * MS)
#define NOISE (MS - 1) /* as well as two clocks can be compared */

static dn_sim *sim;
static int     alarms, steps_heard, steps_noticed;
static int64_t alarm_mono_ns, alarm_wall_ms, step_ms;

static int arm_and_watch(dn_self *self, void *state, const void *config) {
    (void)state, (void)config;
    (void)dn_timer_at_wall(self, DUE, ALARM, 0);
    dn_watch_clock(self);
    return DN_OK;
}
static int on_clock_or_alarm(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    if (dn_msg_kind(msg) == ALARM) {
        alarms++;
        alarm_mono_ns = dn_mono_ns(self);
        alarm_wall_ms = dn_now_ms(self);
    } else {
        steps_heard++;
        step_ms += DN_BODY(dn_clock_step, msg)->step_ms;
    }
    return DN_OK;
}
static const dn_handler clock_rows[] = {{DN_KIND_ANY, on_clock_or_alarm}};
static const dn_class   clock_class = {
      .name = "clock", .init = arm_and_watch, .handlers = DN_SLICE(clock_rows)};

static void count_steps(void *context, const dn_notice *n) {
    (void)context;
    steps_noticed += n->kind == DN_NOTICE_CLOCK_STEP;
}

static void begin_with_a_clock(void) {
    const dn_sim_config config = {.seed = test_seed(), .wall_ms = WALL, .notice = count_steps};

    CHECK_INT(dn_sim_new(&config, &sim), DN_OK);
    CHECK_INT(dn_sim_boot(sim, &(dn_spawn_spec){.actor_class = &clock_class}), DN_OK);
}

static void tell_offset(int64_t wall_offset_ns) {
    dn_loop        *l = dn_sim_runtime(sim)->loops[0];
    const msg_clock clock = {.wall_offset_ns = wall_offset_ns};
    dn_msg         *m = msg_take(l);

    CHECK(m);
    m->from = DN_NOBODY;
    m->kind = CTL_CLOCK;
    m->flags = MSG_CONTROL | MSG_EXEMPT;
    msg_set_small(m, &clock, sizeof clock);
    rt_push(l, m);
}

static void run_until_ms(int64_t ms) {
    dn_sim_end end;

    while (dn_sim_step(sim, ms, &end)) continue;
}

/* The first loop tells again what it could not tell all of them at once. */
TEST(a_wall_step_told_twice_is_one_step_and_a_wall_timer_fires_once_at_its_instant) {
    begin_with_a_clock();
    run_until_ms(100);
    tell_offset(WALL * MS + STEP);
    tell_offset(WALL * MS + STEP);
    run_until_ms(200);
    tell_offset(WALL * MS + STEP + NOISE);
    tell_offset(WALL * MS + STEP - NOISE);
    CHECK_INT(alarms, 0);
    run_until_ms(100000);
    CHECK_INT(steps_heard, 1);
    CHECK_INT(steps_noticed, 1);
    CHECK_INT(step_ms, STEP / MS);
    CHECK_INT(alarms, 1);
    CHECK_INT(alarm_mono_ns, 600 * MS); /* neither by the old setting nor moved by the noise */
    CHECK_INT(alarm_wall_ms, DUE);
    dn_sim_free(sim);
}

TEST(wall_steps_of_a_millisecond_are_steps_either_way) {
    begin_with_a_clock();
    tell_offset(WALL * MS + MS);
    tell_offset(WALL * MS);
    tell_offset(WALL * MS - 5 * MS);
    run_until_ms(100000);
    CHECK_INT(steps_heard, 3);
    CHECK_INT(step_ms, -5);
    CHECK_INT(alarms, 1);
    CHECK_INT(alarm_mono_ns, 1005 * MS);
    dn_sim_free(sim);
}

/* ---- A loop that gets nothing but the runtime's own messages ----
 * Each of them, when it goes, leaves the next one in the inbox: the loop never finds that empty, and no
 * actor has a turn that could end a window of time. */

/* The alarm comes within a thousandth of the most. */
enum { CROWD_LEAST = 100, CROWD_MAX = 20000000 / TEST_SLOW_FACTOR };

static dn_loop *crowded;
static bool     crowd_over;
static long     crowd_len, crowd_wanted;
static void (*rearm)(dn_self *self);

static void crowd_goes_on(void *unused);

static void crowd_push(void) {
    /* A watch withdrawn from somebody who has ended. */
    dn_msg *m = msg_take(crowded);

    CHECK(m);
    m->from = DN_NOBODY;
    m->to.bits = (uint64_t)crowded->index << REF_LOOP_SHIFT;
    m->kind = SYS_UNWATCH;
    m->flags = MSG_SYSTEM | MSG_EXEMPT;
    msg_set_large(m, &crowd_len, sizeof crowd_len, crowd_goes_on);
    rt_push(crowded, m);
}
static void crowd_goes_on(void *unused) {
    (void)unused;
    if (crowd_over) return;
    CHECK_MSG(++crowd_len < CROWD_MAX, "nothing else got through");
    crowd_push();
}

static void crowd_begins(void) {
    crowded = this_loop;
    crowd_push();
}
/* What came before there was a crowd proves nothing: the next one, then. */
static int end_the_crowd(dn_self *self, void *state, const dn_msg *msg) {
    (void)state, (void)msg;
    if (crowd_len < crowd_wanted) {
        if (rearm) rearm(self);
        return DN_OK;
    }
    crowd_over = true;
    return DN_STOP;
}
static const dn_handler crowd_rows[] = {{ALARM, end_the_crowd}};

static void run_in_a_crowd(int (*init)(dn_self *self, void *state, const void *config)) {
    const dn_class      cls = {.name = "crowded", .init = init, .handlers = DN_SLICE(crowd_rows)};
    const dn_spawn_spec root = {.actor_class = &cls, .name = "root"};
    dn_runtime         *runtime;

    CHECK_INT(dn_runtime_new(&(dn_runtime_config){.stall_ms = -1}, &runtime), DN_OK);
    CHECK_INT(dn_runtime_run(runtime, &root), DN_OK);
    CHECK(crowd_over);
    dn_runtime_free(runtime);
}

static void arm_a_timer(dn_self *self) {
    crowd_wanted = crowd_len + CROWD_LEAST;
    (void)dn_timer_after(self, 1, ALARM, 0);
}
static int wait_for_a_timer(dn_self *self, void *state, const void *config) {
    (void)state, (void)config;
    rearm = arm_a_timer;
    arm_a_timer(self);
    crowd_begins();
    return DN_OK;
}

TEST(a_timer_fires_on_a_loop_that_gets_only_the_runtimes_own_messages) {
    run_in_a_crowd(wait_for_a_timer);
}

static void uv_timer_closed(uv_handle_t *handle) { free(handle); }
static void uv_timer_release(void *thing) { uv_close(thing, uv_timer_closed); }
static void on_uv_timer(uv_timer_t *uv) {
    dn_runtime *runtime = uv->data;

    CHECK_INT(dn_post(runtime, dn_runtime_name(runtime, "root"), ALARM, NULL, 0), DN_OK);
}
static int wait_for_libuv(dn_self *self, void *state, const void *config) {
    uv_timer_t *uv = calloc(1, sizeof *uv);

    (void)state, (void)config;
    CHECK_INT(uv_timer_init(dn_uv_loop(self), uv), 0);
    uv->data = dn_self_runtime(self);
    dn_own(self, uv, uv_timer_release);
    CHECK_INT(uv_timer_start(uv, on_uv_timer, 1, /* repeat= */ 1), 0);
    crowd_wanted = CROWD_LEAST;
    crowd_begins();
    return DN_OK;
}

TEST(libuv_is_polled_on_a_loop_that_gets_only_the_runtimes_own_messages) {
    run_in_a_crowd(wait_for_libuv);
}
