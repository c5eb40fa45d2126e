/* report_sample.c - reports of made-up runs, for the browser's test and for whoever changes the page.
 *     report_sample DIR     writes DIR/calm.html, herd.html, outage.html, year.html, empty.html and hostile.html
 * The first three are a day of a small model of the daily path, in steps of a second: users in the order of their due,
 * K slots, an outage of what they call, a crash. It resembles diurnal as a sketch does; what it draws is whole. */
#include "replay/report.h"

#include "base/civil.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define START_MS INT64_C(1772323200000) /* 2026-03-01T00:00:00Z */
enum { USERS_MAX = 40000, SLOTS_MAX = 256, STEP_MS = 1000, RETRY_MS = 600000, WINDOW_MS = 3600000 };

typedef enum user_state { IDLE, QUEUED, RUNNING, DONE } user_state;

typedef struct user {
    uint32_t   due;
    user_state state;
    int64_t    next_ms;
    uint32_t   attempt;
} user;

typedef struct slot {
    int32_t user; /* -1: free */
    int64_t from_ms, to_ms;
} slot;

typedef struct plan { /* of a day */
    const char *name, *trace;
    uint32_t    users, slots, mean_ms;
    int64_t     fails_from_ms, fails_to_ms; /* what the jobs call is out */
    int64_t     crash_ms, down_ms, clock_ms, clock_step_ms, store_ms, store_for_ms;
    uint32_t (*due)(uint32_t i);
} plan;

typedef struct world {
    const plan *plan;
    report     *report;
    user        users[USERS_MAX];
    uint32_t    queue[USERS_MAX], queue_from, queue_len; /* a ring */
    slot        slots[SLOTS_MAX];
    int64_t     now_ms, step_ms;
    uint64_t    random;
    bool        pressed, warned; /* queue_pressure; job_latency */
} world;

/* ---- Telling ---- */

static void tell(world *w, const dn_happening *h) {
    report_event(w->report, &(event){.kind = h->kind,
                                     .t_ms = START_MS + w->now_ms + w->step_ms,
                                     .steady_ms = w->now_ms,
                                     .h = h});
}

static void tell_user(world *w, dn_happening_kind kind, uint32_t i, dn_happening more) {
    char      id[DN_ID_MAX];
    const int len = snprintf(id, sizeof id, "user-%u", i);

    more.kind = kind;
    more.id = id;
    more.id_len = (uint8_t)len;
    more.day = dn_day_of_ms(START_MS);
    more.due = w->users[i].due;
    tell(w, &more);
}

static void tell_slo(world *w, const char *name, bool breached, double value, double threshold) {
    const event_slo slo = {name, breached ? "breached" : "ok", value, threshold};

    report_event(w->report, &(event){.kind = EVENT_SLO, .steady_ms = w->now_ms, .slo = &slo});
}

static uint32_t draw(world *w) {
    w->random = w->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(w->random >> 33);
}

/* ---- A day ---- */

static int64_t cutoff_ms(const user *u) { return u->due * DN_MINUTE_MS; }

static void tick(world *w) {
    dn_happening t = {.kind = DN_HAPPENED_TICK};

    for (uint32_t i = 0; i < w->plan->users; i++) {
        user *u = &w->users[i];
        if (u->state == DONE) continue;
        t.scanned++;
        if (w->now_ms >= cutoff_ms(u)) {
            t.cutoffs++;
            if (u->state == QUEUED) tell_user(w, DN_HAPPENED_EXPIRED, i, (dn_happening){0});
            tell_user(w, DN_HAPPENED_FINALIZED, i, (dn_happening){.status = DN_DAILY_CUTOFF});
            u->state = DONE;
        } else if (w->now_ms >= cutoff_ms(u) - WINDOW_MS) {
            t.eligible++;
            if (u->state != IDLE || w->now_ms < u->next_ms) {
                tell_user(w, DN_HAPPENED_IGNORED, i, (dn_happening){.reason = "throttle"});
                continue;
            }
            u->state = QUEUED;
            u->next_ms = w->now_ms + RETRY_MS;
            w->queue[(w->queue_from + w->queue_len++) % USERS_MAX] = i;
            t.enqueued++;
            tell_user(w, DN_HAPPENED_ENQUEUED, i, (dn_happening){0});
        }
    }
    tell(w, &t);
    report_tick_wall(w->report, 0.02 + (double)t.eligible / 2000 + (double)(draw(w) % 100) / 1000);
}

static bool is_out(const world *w) {
    return w->now_ms >= w->plan->fails_from_ms && w->now_ms < w->plan->fails_to_ms;
}

static void stop(world *w, slot *s) {
    const uint32_t i = (uint32_t)s->user;
    user          *u = &w->users[i];
    const bool     late = u->state == DONE;
    dn_happening   h = {
          .attempt = u->attempt, .duration_ms = s->to_ms - s->from_ms, .outcome = DN_OUTCOME_OK};

    if (is_out(w)) {
        h.outcome = draw(w) % 4 == 0 ? DN_OUTCOME_TIMEOUT : DN_OUTCOME_ERROR;
        if (h.outcome == DN_OUTCOME_ERROR) h.error_class = DN_CLASS_REQ;
    } else if (draw(w) % 300 == 0) {
        h.outcome = DN_OUTCOME_ERROR;
        h.error_class = DN_CLASS_LLM;
    }
    s->user = -1;
    tell_user(w, DN_HAPPENED_STOPPED, i, h);
    if (!late) u->state = IDLE;
    if (h.outcome != DN_OUTCOME_OK) return;
    tell_user(w, late ? DN_HAPPENED_LATE_SUCCESS : DN_HAPPENED_FINALIZED, i,
              (dn_happening){.status = DN_DAILY_SUCCESS});
    u->state = DONE;
}

static void start(world *w, slot *s) {
    while (w->queue_len > 0) {
        const uint32_t i = w->queue[w->queue_from];
        w->queue_from = (w->queue_from + 1) % USERS_MAX;
        w->queue_len--;
        if (w->users[i].state != QUEUED) continue;
        w->users[i].state = RUNNING;
        /* Spread as durations are: many short ones, few long ones. */
        const uint32_t a = draw(w) % 1000, b = draw(w) % 1000;
        int64_t        took_ms = 40 + (int64_t)w->plan->mean_ms * (a * b / 500 + 200) / 1000;
        if (is_out(w)) took_ms = draw(w) % 4 == 0 ? 60000 : 2000 + draw(w) % 9000;
        *s = (slot){.user = (int32_t)i, .from_ms = w->now_ms, .to_ms = w->now_ms + took_ms};
        tell_user(w, DN_HAPPENED_STARTED, i, (dn_happening){.attempt = ++w->users[i].attempt});
        return;
    }
}

static void crash(world *w) {
    report_event(w->report, &(event){.kind = EVENT_CRASH, .steady_ms = w->now_ms});
    for (uint32_t i = 0; i < w->plan->slots; i++) w->slots[i].user = -1;
    for (uint32_t i = 0; i < w->plan->users; i++)
        if (w->users[i].state != DONE) w->users[i] = (user){.due = w->users[i].due};
    w->queue_len = 0;
    w->pressed = false;
}

static void watch(world *w) {
    const bool pressed = w->queue_len > 5000, out = is_out(w);

    if (out != w->warned) {
        w->warned = out;
        tell_slo(w, "job_latency", out, 60000, 30000);
        tell_slo(w, "cutoff_miss_rate", out, out ? 0.43 : 0, 0.01);
    }
    if (pressed == w->pressed) return;
    w->pressed = pressed;
    tell_slo(w, "queue_pressure", pressed, w->queue_len, 5000);
    tell_slo(w, "saturation", pressed, pressed ? 0.97 : 0.4, 0.8);
}

static void step(world *w) {
    const plan *p = w->plan;

    if (w->now_ms == p->crash_ms && p->down_ms > 0) crash(w);
    if (w->now_ms >= p->crash_ms && w->now_ms < p->crash_ms + p->down_ms) return;
    if (p->down_ms > 0 && w->now_ms == p->crash_ms + p->down_ms)
        report_event(w->report, &(event){.kind = EVENT_RESTART, .steady_ms = w->now_ms});
    if (p->clock_step_ms != 0 && w->now_ms == p->clock_ms) {
        w->step_ms += p->clock_step_ms;
        tell(w, &(dn_happening){.kind = DN_HAPPENED_CLOCK, .step_ms = p->clock_step_ms});
    }
    if (p->store_for_ms > 0 && w->now_ms == p->store_ms)
        report_event(
            w->report,
            &(event){.kind = EVENT_STORE_FAILS, .steady_ms = w->now_ms, .for_ms = p->store_for_ms});
    for (uint32_t i = 0; i < p->slots; i++) {
        slot *s = &w->slots[i];
        /* A slot serves several in a second. */
        for (int turns = 0; turns < 4; turns++) {
            if (s->user >= 0 && s->to_ms > w->now_ms) break;
            if (s->user >= 0) stop(w, s);
            start(w, s);
            if (s->user < 0) break;
        }
    }
    if (w->now_ms % DN_MINUTE_MS == 0) {
        tick(w);
        watch(w);
    }
}

/* ---- Files ---- */

static void settings_of(report_about *about, char texts[][32], report_setting *settings) {
    static const char *const names[] = {
        "tick_ms",        "window_minutes",     "retry_delay_minutes", "max_concurrency",
        "job_timeout_ms", "slo_window_minutes", "breach_consecutive",  "sat_ratio",
        "depth_avg_max",  "job_p95_max_ms",     "cutoff_rate_max"};
    const double values[] = {60000, 60, 10,  about->max_concurrency, 60000,
                             15,    3,  0.8, about->depth_avg_max,   about->job_p95_max_ms,
                             0.01};

    about->settings_len = sizeof names / sizeof names[0];
    about->settings = settings;
    for (size_t i = 0; i < about->settings_len; i++) {
        snprintf(texts[i], 32, "%g", values[i]);
        settings[i] = (report_setting){names[i], texts[i]};
    }
}

static bool save(report *r, const char *dir, const char *name, report_about about) {
    char           path[4096], texts[16][32];
    report_setting settings[16];

    if (about.settings_len == 0) settings_of(&about, texts, settings);
    snprintf(path, sizeof path, "%s/%s.html", dir, name);
    FILE *f = fopen(path, "w");
    bool  done = f && report_write(r, f, &about) == DN_OK;
    if (f && fclose(f) != 0) done = false;
    if (!done) fprintf(stderr, "report_sample: cannot write %s\n", path);
    return done;
}

static const report_about usual = {.version = "0.1.0",
                                   .seed = 7,
                                   .span_ms = DN_DAY_MS,
                                   .depth_avg_max = 5000,
                                   .job_p95_max_ms = 30000,
                                   .tick_budget_ms = 300};

static bool save_day(const char *dir, const plan *p) {
    static world w;

    w = (world){.plan = p, .random = 42};
    if (report_new(START_MS, &w.report) < 0) return false;
    for (uint32_t i = 0; i < p->users; i++) w.users[i].due = p->due(i);
    for (uint32_t i = 0; i < p->slots; i++) w.slots[i].user = -1;
    for (; w.now_ms < DN_DAY_MS; w.now_ms += STEP_MS) step(&w);
    report_about about = usual;
    about.trace = p->trace;
    about.users = p->users;
    about.max_concurrency = p->slots;
    const bool saved = save(w.report, dir, p->name, about);
    report_free(w.report);
    return saved;
}

static uint32_t due_spread(uint32_t i) { return 60 + i * 7 % 1380; }
static uint32_t due_herd(uint32_t i) { return i % 8 == 0 ? 60 + i / 8 * 11 % 1380 : 480; }
static uint32_t due_office(uint32_t i) { return 420 + (i * 37 % 360 + i * 101 % 360) / 2 * 2; }

static const plan plans[] = {
    {.name = "calm",
     .trace = "calm-day.ndjson",
     .users = 14000,
     .slots = 64,
     .mean_ms = 3000,
     .due = due_spread},
    {.name = "herd",
     .trace = "herd.ndjson",
     .users = 36000,
     .slots = 16,
     .mean_ms = 2400,
     .due = due_herd},
    {.name = "outage",
     .trace = "outage.ndjson",
     .users = 24000,
     .slots = 96,
     .mean_ms = 4000,
     .due = due_office,
     .fails_from_ms = 9 * 3600000 + 1200000,
     .fails_to_ms = 11 * 3600000,
     .crash_ms = 13 * 3600000,
     .down_ms = 1260000,
     .clock_ms = 15 * 3600000,
     .clock_step_ms = -3600000,
     .store_ms = 16 * 3600000,
     .store_for_ms = 540000},
};

/* A year at a glance: some users a day, and days that went wrong. */
static bool save_year(const char *dir) {
    enum { DAYS = 365, USERS = 300 };
    report *r = NULL;

    if (report_new(START_MS, &r) < 0) return false;
    for (int64_t day = 0; day < DAYS; day++) {
        for (uint32_t i = 0; i < USERS; i++) {
            const uint32_t due = i * 1440 / USERS;
            const bool     bad = day % 61 == 40 && i > 100 && i < 190, gone = day == 200 && i > 250;
            const int64_t  at_ms = day * DN_DAY_MS + due * DN_MINUTE_MS;
            dn_happening   h = {.kind = DN_HAPPENED_ENQUEUED,
                                .id = "somebody",
                                .id_len = 8,
                                .day = dn_day_of_ms(START_MS + at_ms),
                                .due = due,
                                .status = bad ? DN_DAILY_CUTOFF : DN_DAILY_SUCCESS,
                                .outcome = bad ? DN_OUTCOME_ERROR : DN_OUTCOME_OK,
                                .error_class = bad ? DN_CLASS_PARSE : DN_CLASS_NONE,
                                .duration_ms = 800 + (int64_t)i * 9};
            for (dn_happening_kind kind = DN_HAPPENED_ENQUEUED; kind <= DN_HAPPENED_FINALIZED;
                 kind++) {
                if (kind == DN_HAPPENED_EXPIRED) continue;
                h.kind = kind == DN_HAPPENED_FINALIZED && gone ? DN_HAPPENED_MISSED : kind;
                if (gone && h.kind != DN_HAPPENED_MISSED) continue;
                report_event(r, &(event){.kind = h.kind, .steady_ms = at_ms, .h = &h});
            }
        }
        report_tick_wall(r, 0.4);
    }
    report_about about = usual;
    about.trace = "a-year.ndjson";
    about.users = USERS;
    about.max_concurrency = 64;
    about.span_ms = DAYS * DN_DAY_MS;
    const bool saved = save(r, dir, "year", about);
    report_free(r);
    return saved;
}

static bool save_empty(const char *dir) {
    report *r = NULL;

    if (report_new(START_MS, &r) < 0) return false;
    report_about about = usual;
    about.trace = "empty.ndjson";
    about.span_ms = DN_MINUTE_MS;
    const bool saved = save(r, dir, "empty", about);
    report_free(r);
    return saved;
}

/* Everything that comes from outside wants out of its place. */
static bool save_hostile(const char *dir) {
    static const char evil[] =
        "</script><script>document.title='broken out'</script><img src=x onerror=alert(1)>";
    static const char *const violations[] = {
        "I1: two successes for user </script><h1>boo</h1> and day 2026-03-01",
        "I3: 65 jobs ran at once, and 64 may (2026-03-01T08:00:00.000Z) \xff\xfe\x01",
    };
    static const report_setting settings[] = {{evil, "\"><b>bold</b>"},
                                              {"max_concurrency", "<!--"}};
    const event_slo             slo = {"<svg onload=alert(1)>", "breached", 1, 2};
    report                     *r = NULL;

    if (report_new(START_MS, &r) < 0) return false;
    const dn_happening h = {.kind = DN_HAPPENED_FINALIZED,
                            .id = evil,
                            .id_len = sizeof evil - 1,
                            .day = dn_day_of_ms(START_MS),
                            .due = 480,
                            .status = DN_DAILY_CUTOFF};
    report_event(r, &(event){.kind = h.kind, .steady_ms = 8 * 3600000, .h = &h});
    report_event(r, &(event){.kind = EVENT_SLO, .steady_ms = 8 * 3600000, .slo = &slo});
    report_about about = usual;
    about.trace = about.version = evil;
    about.settings = settings;
    about.settings_len = 2;
    about.violations = violations;
    about.violations_len = 2;
    about.violations_count = 12;
    const bool saved = save(r, dir, "hostile", about);
    report_free(r);
    return saved;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fputs("usage: report_sample DIR\n", stderr);
        return 2;
    }
    for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++)
        if (!save_day(argv[1], &plans[i])) return 1;
    return save_year(argv[1]) && save_empty(argv[1]) && save_hostile(argv[1]) ? 0 : 1;
}
