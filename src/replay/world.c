/* world.c - see world.h.
 * The process may crash and come back; what outlives it is here: the store, and what the trace asked for and the store
 * has not taken yet. */
#include "world.h"

#include "daily/daily_answer.h"
#include "daily/daily_messages.h"
#include "daily/slo.h"
#include "pending.h"
#include "service/service.h"
#include "store/faulty.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { HANDED_AT_ONCE = 1000 /* kv has room for 4,096 */, HOOKS_AT_ONCE = 16 };

struct world {
    world_config      config;
    dn_sim           *sim;
    int64_t           base_ms; /* the simulation's steady clock at the beginning of the run */
    dn_store         *store, *door;
    dn_service_config service;
    dn_service_tree   tree;
    dn_daily_slo      slo;
    dn_child_spec     edge;
    dn_journal        journal;
    dn_telemetry_id   listens;
    pending           pending;
    int               handed;   /* messages, since kv was given time for them */
    int64_t           back_ms;  /* the process is down until then; INT64_MIN: it is up */
    int64_t           down_ms;  /* how long, if it ends by itself or by world_crash_in */
    int64_t           fails_ms; /* writes fail until then */
    int      ended; /* the first on the daily path that did in this life; see actor_ended */
    unsigned there; /* a bit for each actor of the daily path that has begun and not ended */
    bool     kv_ended,
        kv_anew; /* anew: what the one before it had in its line is to be handed on again */
    int64_t     tick_began_ns;
    const char *execution_name; /* where it stands, once it was seen: it is asked for often */
    int         failed;         /* why the run cannot go on */
    dn_blob
        *errors[DN_CLASS_UNKNOWN + 1]; /* the body of an answer of that class, once it was needed */
};

static int64_t steady_ms(const world *w) { return dn_sim_mono_ms(w->sim) - w->base_ms; }

/* Steady. Nothing happens then any more. */
static int64_t end_ms(const world *w) {
    return w->config.settings->end_ms - w->config.settings->start_ms;
}

int64_t world_wall_ms(const world *w) { return dn_sim_wall_ms(w->sim); }

int64_t world_steady_ms(const world *w) { return steady_ms(w); }

dn_store *world_store_borrow(world *w) { return w->store; }

const dn_sim_counts *world_counts_borrow(const world *w) { return dn_sim_counts_borrow(w->sim); }

uint64_t world_hash(const world *w) { return dn_sim_hash(w->sim); }

/* ---- Telling ---- */

static inline void tell_of(world *w, event *e) {
    e->steady_ms = steady_ms(w);
    w->config.tell(w->config.context, e);
}

static void tell(world *w, event e) { tell_of(w, &e); }

static void tell_own(world *w, unsigned kind, int64_t for_ms) {
    tell(w, (event){.kind = kind, .t_ms = world_wall_ms(w), .for_ms = for_ms});
}

/* Who stands later believes what stands earlier, and ends with it. */
static const char *const daily_path[] = {ACTOR_KV, ACTOR_EXECUTIONS, ACTOR_EXECUTOR, ACTOR_QUEUE,
                                         ACTOR_TICK};
enum { DAILY_PATH = sizeof daily_path / sizeof *daily_path };

static void tell_actor_crash(world *w, const char *name) {
    tell(w, (event){.kind = EVENT_ACTOR_CRASH, .t_ms = world_wall_ms(w), .name = name});
}

/* An end is told at once, because until all actors that restart with it are there again, nobody outside can tell which of
 * them is an old one. Which actor ended is told when all are there: the first on the path that did. */
static void actor_ended(world *w, int rank) {
    if (rank == 0) w->kv_ended = true;
    if (w->ended == DAILY_PATH)
        tell(w, (event){.kind = EVENT_ACTOR_ENDS, .t_ms = world_wall_ms(w)});
    if (rank < w->ended) w->ended = rank;
    w->there &= ~(1U << rank);
}

/* A planner may begin although an actor before it has ended, because its supervisor has not heard of that yet. */
static void actor_begins(world *w, int rank) {
    if (rank == 0 && w->kv_ended) w->kv_anew = true;
    if (rank == 0) w->kv_ended = false;
    w->there |= 1U << rank;
    if (rank < DAILY_PATH - 1 || w->ended == DAILY_PATH || w->there != (1U << DAILY_PATH) - 1)
        return;
    tell_actor_crash(w, daily_path[w->ended]);
    w->ended = DAILY_PATH;
}

static void actor_event(void *context, const dn_sim_event *e) {
    world *w = context;
    int    rank = 0;

    if (e->kind != DN_SIM_END && e->kind != DN_SIM_SPAWN) return;
    while (rank < DAILY_PATH && strcmp(e->name, daily_path[rank]) != 0) rank++;
    if (rank == DAILY_PATH) return;
    if (e->kind == DN_SIM_END) actor_ended(w, rank);
    else actor_begins(w, rank);
}

static int64_t real_ns(void) {
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static bool hand_on_some(world *w);

/* The few that mean something to the world itself. */
#define MATTERS                                                                                    \
    (DN_HAPPENED_BIT(DN_HAPPENED_TICK) | DN_HAPPENED_BIT(DN_HAPPENED_SET) |                        \
     DN_HAPPENED_BIT(DN_HAPPENED_REMOVED))
static __attribute__((noinline)) void matters(world *w, const dn_happening *h) {
    event e = {.kind = h->kind, .t_ms = world_wall_ms(w), .h = h};

    if (h->kind == DN_HAPPENED_TICK && w->config.time_ticks)
        e.real_ns = real_ns() - w->tick_began_ns;
    if (h->kind == DN_HAPPENED_SET) pending_is_set(&w->pending);
    if (h->kind == DN_HAPPENED_REMOVED) pending_is_removed(&w->pending, h->id, h->id_len);
    tell(w, e); /* of a tick h->at_ms is when it began */
    if (h->kind == DN_HAPPENED_SET && w->pending.ahead <= PENDING_AHEAD_MAX / 2) {
        w->handed = 0;
        (void)hand_on_some(w);
    }
}

static void said(void *context, dn_self *self, const dn_happening *h) {
    world *w = context;

    (void)self;
    if (DN_HAPPENED_BIT(h->kind) & MATTERS) {
        matters(w, h);
        return;
    }
    event e = {.kind = h->kind, .t_ms = h->at_ms, .h = h};
    tell_of(w, &e);
}

static int slo_changed(void *context, const dn_event *event_of, const dn_value *values) {
    world          *w = context;
    const event_slo slo = {
        .value = values[0].real,
        .threshold = values[1].real,
        .name = values[2].text,
        .state = values[3].text,
    };

    (void)event_of;
    tell(w, (event){.kind = EVENT_SLO, .t_ms = world_wall_ms(w), .slo = &slo});
    return DN_OK;
}

/* ---- What the service meets ---- */

/* How much later a recorded job may have begun than its copy here, beside a tick. */
enum { RECORDED_LATE_MS = 250 };

/* How long a job takes that was recorded, begun here at now_ms. Real attempts come a little later than those of a replay:
 * by what the daemon needs for them, and by a tick where their delay was set a little late. That is made up for by the
 * instant at which they stopped. Where they came much later, it takes as long as it took; unless it was too late then,
 * and so comes to nothing: -1. */
static int64_t recorded_ms(const world *w, const dn_daily_request *r, int64_t wall_ms,
                           int64_t now_ms, const answer *a) {
    const trace_settings *s = w->config.settings;
    const int64_t         left_ms = a->stopped_ms - now_ms;
    const int64_t         cutoff_ms = dn_daily_cutoff_ms(r->due, r->day) - (wall_ms - now_ms);
    int64_t               ms = a->duration_ms;

    if (left_ms >= 0 && left_ms <= ms + s->tick_ms + RECORDED_LATE_MS) ms = left_ms;
    if (a->stopped_ms >= cutoff_ms && now_ms + ms < cutoff_ms) return -1;
    return ms < s->job_timeout_ms ? ms : s->job_timeout_ms;
}

static int answer_for(const world *w, const dn_daily_request *r, int64_t wall_ms,
                      answer *out_answer) {
    const int64_t now_ms = w->config.settings->start_ms + steady_ms(w);
    const int     rc =
        answers_find(w->config.answers, r->id, r->id_len, r->day, r->attempt, now_ms, out_answer);

    if (rc < 0 || out_answer->stopped_ms == ANSWER_NOT_RECORDED) return rc;
    const int64_t ms = recorded_ms(w, r, wall_ms, now_ms, out_answer);
    out_answer->duration_ms = ms < 0 ? 0 : (uint32_t)ms;
    if (ms < 0) {
        out_answer->result = ANSWER_ERROR;
        out_answer->cls = DN_CLASS_UNKNOWN;
    }
    return DN_OK;
}

static answer answer_of(world *w, const dn_daily_request *r, int64_t wall_ms) {
    answer a = {.result = ANSWER_OK};

    if (w->config.wild) return w->config.wild->job(w->config.context, r, wall_ms);
    const int rc = answer_for(w, r, wall_ms, &a);
    if (rc < 0) w->failed = rc;
    return a;
}

/* Without memory the run cannot go on, and what it answers does not matter. */
static dn_blob *error_of(world *w, dn_error_class error_class) {
    dn_blob **body = &w->errors[error_class];

    if (!*body) *body = dn_daily_error_new(error_class);
    if (!*body) w->failed = DN_ENOMEM;
    return *body;
}

static dn_script_answer script_of(world *w, answer a) {
    dn_script_answer says = {
        .end = DN_SCRIPT_ENDS,
        .result = dn_run_result_of(DN_OUTCOME_OK, DN_CODE_NONE, 0),
        .duration_ms = a.duration_ms,
    };
    switch (a.result) {
    case ANSWER_OK: break;
    case ANSWER_ERROR:
        says.result = dn_run_result_of(DN_OUTCOME_ERROR, DN_CODE_NONE, 0);
        says.body = error_of(w, a.cls);
        break;
    case ANSWER_TIMEOUT:
    case ANSWER_HANG: says.end = DN_SCRIPT_HANG; break;
    case ANSWER_CRASH: says.end = DN_SCRIPT_CRASH; break;
    }
    return says;
}

static dn_daily_request request_of(const dn_run_request *r, char id[DN_ID_MAX]) {
    dn_daily_request daily;

    dn_require(dn_daily_request_read(dn_blob_bytes_borrow(r->body), dn_blob_len(r->body), id,
                                     &daily) == DN_OK);
    return daily;
}

static dn_script_answer job(void *context, const dn_run_request *r) {
    world                 *w = context;
    char                   id[DN_ID_MAX];
    const dn_daily_request daily = request_of(r, id);

    return script_of(w, answer_of(w, &daily, r->now_ms));
}

static dn_script_answer hook(void *context, const dn_run_request *r) {
    world                 *w = context;
    char                   id[DN_ID_MAX];
    const dn_daily_request daily = request_of(r, id);

    return script_of(w, w->config.wild->hook(w->config.context, &daily));
}

static int disk(void *context) {
    const world *w = context;

    if (steady_ms(w) < w->fails_ms) return DN_EFULL;
    return w->config.wild && w->config.wild->commit
               ? w->config.wild->commit(w->config.context, /* after= */ false)
               : DN_OK;
}

static int disk_after(void *context) {
    const world *w = context;

    return w->config.wild && w->config.wild->commit
               ? w->config.wild->commit(w->config.context, /* after= */ true)
               : DN_OK;
}

static void fatal(void *context, const char *why) {
    world *w = context;

    (void)why;
    if (!w->config.wild) w->failed = DN_EIO;
    dn_sim_crash_process(w->sim);
}

/* Finished jobs first, then other timers, then the tick. */
static int rank(void *context, const char *actor, uint32_t kind) {
    world *w = context;

    (void)kind;
    if (actor == w->execution_name) return 0;
    if (strcmp(actor, "execution") == 0) {
        w->execution_name = actor;
        return 0;
    }
    if (strcmp(actor, "tick") != 0) return 1;
    w->tick_began_ns = w->config.time_ticks ? real_ns() : 0;
    return 2;
}

/* ---- Users ---- */

/* As many messages as kv's mailbox has room for in any case. True: there are more, and it is to handle these first. */
static bool hand_on_some(world *w) {
    _Alignas(8) char body[PENDING_BYTES];
    dn_runtime      *rt = dn_sim_runtime(w->sim);
    uint32_t         kind;

    if (!rt) return false;
    const dn_ref writer = dn_runtime_name(rt, "kv");
    for (; w->handed < HANDED_AT_ONCE && !w->failed; w->handed++) {
        const size_t size = pending_next(&w->pending, &kind, body);
        if (size == 0) return false;
        const int rc = dn_post(rt, writer, kind, body, size);
        if (rc == DN_EDEAD) return false; /* handed on anew to the kv that comes (kv_anew) */
        w->failed = rc;
    }
    return !w->failed;
}

/* From outside, where the simulation can be run. */
static void hand_on(world *w) {
    while (hand_on_some(w)) {
        (void)dn_sim_settle(w->sim);
        w->handed = 0;
    }
}

/* ---- Life ---- */

static void fill(world *w) {
    const trace_settings *s = w->config.settings;

    /* Of the clock it is told when that steps, whoever is there to notice. */
    w->journal = (dn_journal){said, w,
                              DN_HAPPENED_ANY & ~(DN_HAPPENED_BIT(DN_HAPPENED_CLOCK) |
                                                  DN_HAPPENED_BIT(DN_HAPPENED_TICK_BEGINS))};
    w->service = (dn_service_config){
        .tick_ms = s->tick_ms,
        .window_minutes = (uint32_t)s->window_minutes,
        .retry_delay_minutes = (uint32_t)s->retry_delay_minutes,
        .max_concurrency = (uint32_t)s->max_concurrency,
        .job_timeout_ms = s->job_timeout_ms,
        .shutdown_grace_ms = 30000,
        .ledger_days = (uint32_t)s->ledger_days,
        .ticks_stand_still = !w->config.wild || !w->config.wild->ticks_move,
        .store = w->door,
        .runner = {.concurrency_max = (uint32_t)s->max_concurrency,
                   .script = job,
                   .script_context = w},
        .hook = {.concurrency_max = HOOKS_AT_ONCE, .script = hook, .script_context = w},
        .has_hook = w->config.wild && w->config.wild->hook,
        .kv_bounds = w->config.wild ? w->config.wild->kv_bounds : (dn_kv_bounds){0},
        .daily_bounds = w->config.wild ? w->config.wild->daily_bounds : (dn_daily_bounds){0},
        .journal = &w->journal,
        .fatal = fatal,
        .fatal_context = w,
    };
    const dn_daily_slo_config slo = {
        .eval_ms = s->slo_eval_ms,
        .window_minutes = (uint32_t)s->slo_window_minutes,
        .breach_consecutive = (uint32_t)s->breach_consecutive,
        .sat_ratio = s->sat_ratio,
        .depth_avg_max = (double)s->depth_avg_max,
        .job_p95_max_ms = (double)s->job_p95_max_ms,
        .cutoff_rate_max = s->cutoff_rate_max,
        .tick_budget_off = true,
    };
    dn_daily_slo_init(&w->slo, &slo);
    w->edge = dn_slo_watcher_child(&w->slo.watcher);
    /* It watches, and no day is another one for it. */
    dn_service_tree_make(&w->service, &w->edge, w->config.wild ? 0 : 1, &w->tree);
}

/* Ticks lie on the multiples of tick_ms of the instants that the trace names, so the simulation's steady clock, which
 * begins at 0, has to stand at the same distance from one as the beginning does. */
static int make(world *w) {
    const trace_settings *s = w->config.settings;
    char                  why[DN_STORE_WHY];
    int                   rc;

    w->base_ms = (s->start_ms % s->tick_ms + s->tick_ms) % s->tick_ms;
    const world_wild *wild = w->config.wild;
    dn_sim_config     sim = {
            .seed = w->config.seed,
            .order = (wild ? wild->any_order : w->config.seed > 0) ? DN_SIM_ANY : DN_SIM_FIFO,
            .wall_ms = s->start_ms - w->base_ms,
            .timer_rank = wild && wild->unranked ? NULL : rank,
            .unhashed = !wild,
            .timer_rank_context = w,
    };
    if (wild) sim.faults = wild->faults;
    if (wild && wild->tell_actors) sim.on_event = actor_event;
    sim.on_event_context = w;
    const dn_store_config store = {.url = "memory:", .ledger_days = (uint32_t)s->ledger_days};
    if ((rc = dn_sim_new(&sim, &w->sim)) < 0) return rc;
    dn_sim_pass(w->sim, w->base_ms);
    if ((rc = dn_store_open(&store, &w->store, why)) < 0) return rc;
    w->door = dn_store_faulty_new(
        w->store, &(dn_store_faults){.before = disk, .after = disk_after, .context = w});
    if (!w->door) return DN_ENOMEM;
    fill(w);
    return dn_telemetry_attach("replay", "slo.changed", slo_changed, w, &w->listens);
}

int world_new(const world_config *config, world **out_world) {
    world *w = calloc(1, sizeof *w);

    if (!w) return DN_ENOMEM;
    w->config = *config;
    w->back_ms = w->fails_ms = INT64_MIN;
    const int rc = make(w);
    if (rc == DN_OK) *out_world = w;
    else world_free(w);
    return rc;
}

void world_free(world *w) {
    if (!w) return;
    dn_sim_free(w->sim);
    if (w->listens) (void)dn_telemetry_detach(w->listens);
    dn_store_free(w->door);
    dn_store_free(w->store);
    pending_free(&w->pending);
    for (int i = 0; i <= DN_CLASS_UNKNOWN; i++) dn_blob_unref(w->errors[i]);
    free(w);
}

/* What is sent to kv by its name waits for it; the first tick is a timer's, and comes after. */
int world_begin(world *w) {
    const dn_spawn_spec root = {
        .actor_class = &dn_supervisor_class, .config = &w->tree.top, .name = "diurnal"};

    w->kv_ended = w->kv_anew = false;
    w->ended = DAILY_PATH;
    w->there = 0;
    const int rc = dn_sim_boot(w->sim, &root);

    if (rc < 0) return rc;
    w->back_ms = INT64_MIN;
    pending_again(&w->pending);
    hand_on(w);
    return w->failed;
}

static int comes_back(world *w) {
    dn_sim_pass(w->sim, w->back_ms - steady_ms(w));
    tell_own(w, EVENT_RESTART, 0);
    return world_begin(w);
}

static void is_down(world *w, int64_t down_ms) {
    tell_own(w, EVENT_CRASH, 0);
    w->back_ms = steady_ms(w) + down_ms;
}

/* Nobody has what was handed to a kv that ended. */
static void hand_on_anew(world *w) {
    w->kv_anew = false;
    pending_again(&w->pending);
    hand_on(w);
}

/* True: it is that instant, or the run cannot go on. False: the process died before. */
static bool arrives(world *w, int64_t at_ms) {
    if (w->back_ms != INT64_MIN) {
        if (w->back_ms > at_ms || w->back_ms >= end_ms(w)) {
            dn_sim_pass(w->sim, at_ms - steady_ms(w));
            return true;
        }
        const int rc = comes_back(w);
        if (rc < 0) w->failed = rc;
    } else if (w->kv_anew) {
        hand_on_anew(w);
    }
    const bool       moves = at_ms > steady_ms(w);
    const dn_sim_end end = dn_sim_run_before(w->sim, at_ms + w->base_ms);
    if (moves) w->handed = 0;
    if (w->failed || (end != DN_SIM_CRASHED && end != DN_SIM_ENDED)) return true;
    if (w->config.wild) is_down(w, w->down_ms);
    else w->failed = DN_EFAILED;
    return w->failed != DN_OK;
}

int world_until(world *w, int64_t at_ms) {
    while (!w->failed && !arrives(w, at_ms)) {}
    return w->failed;
}

/* ---- What is done to it ---- */

/* Nothing has run yet: kv and the planner find it when they look. */
static int begin_with(world *w, const trace_op *op) {
    const dn_day today = dn_day_of_ms(op->at_ms);
    dn_user      user = {
             .due = op->due,
             .last_day = op->last_date,
             .starts_on = op->starts_on,
             .recorded = op->last_date > today - 1 ? op->last_date : today - 1,
             .status = op->status,
             .context_epoch = op->context_epoch,
             .last_run_ms = op->last_run_ms,
             .id_len = (uint8_t)op->id_len,
    };

    memcpy(user.id, op->id, op->id_len);
    const int rc = dn_store_begin_with(w->store, &user);
    if (rc == DN_OK) tell(w, (event){.kind = EVENT_USER, .t_ms = world_wall_ms(w), .user = &user});
    return rc;
}

static int take_user(world *w, const trace_op *op) {
    if (op->is_durable) return begin_with(w, op);
    const int rc = pending_add(&w->pending, op);

    if (rc == DN_OK && w->back_ms == INT64_MIN) hand_on(w);
    return rc < 0 ? rc : w->failed;
}

void world_crash(world *w, int64_t down_ms) {
    if (w->back_ms != INT64_MIN) return;
    const int64_t before_ms = w->down_ms;
    w->down_ms = down_ms;
    dn_sim_crash_process(w->sim); /* from inside the run this does not return */
    w->down_ms = before_ms;
    is_down(w, down_ms);
}

void world_down_for(world *w, int64_t down_ms) { w->down_ms = down_ms; }

void world_crash_in(world *w, uint64_t steps, int64_t down_ms) {
    w->down_ms = down_ms;
    dn_sim_crash_process_at(w->sim, dn_sim_counts_borrow(w->sim)->steps + steps);
}

void world_crash_actor(world *w, const char *name, uint64_t nth) {
    dn_sim_crash_actor_at(w->sim, name, nth);
}

void world_calm(world *w) {
    dn_sim_set_faults(w->sim, &(dn_sim_faults){0});
    dn_sim_crash_process_at(w->sim, 0);
    w->fails_ms = INT64_MIN;
}

static void step_clock(world *w, int64_t step_ms) {
    dn_sim_step_wall(w->sim, step_ms);
    const dn_happening h = {
        .kind = DN_HAPPENED_CLOCK, .at_ms = world_wall_ms(w), .step_ms = step_ms};
    tell(w, (event){.kind = h.kind, .t_ms = h.at_ms, .h = &h});
}

static void fill_disk(world *w, int64_t for_ms) {
    const int64_t until_ms = steady_ms(w) + for_ms;

    if (until_ms > w->fails_ms) w->fails_ms = until_ms;
}

static void fail_store(world *w, int64_t for_ms) {
    fill_disk(w, for_ms);
    tell_own(w, EVENT_STORE_FAILS, for_ms);
}

/* What the lines before this one have handed on is taken before it: else a crash or a step of their instant, which wait for
 * nobody, would overtake them. A simulation wants just that to happen too. */
static int settle(world *w) {
    if (w->back_ms == INT64_MIN && !w->config.wild) (void)dn_sim_settle(w->sim);
    return w->failed;
}

static int strike(world *w, const trace_op *op) {
    const int rc = settle(w);

    if (rc < 0) return rc;
    if (op->kind == TRACE_CRASH) world_crash(w, op->ms);
    else step_clock(w, op->ms);
    return DN_OK;
}

int world_take(world *w, const trace_op *op) {
    if (op->full_ms > 0) fill_disk(w, op->full_ms);
    switch (op->kind) {
    case TRACE_USER:
    case TRACE_USERS:
    case TRACE_REMOVE: return take_user(w, op);
    case TRACE_CRASH:
    case TRACE_CLOCK: return strike(w, op);
    case TRACE_STORE_FAILS: fail_store(w, op->ms); return DN_OK;
    }
    return DN_EINVAL;
}
