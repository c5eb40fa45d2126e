/* sim.c - the simulation driver: the same loop of actors, driven one turn at a time.
 * It replaces three things: the clock, by numbers; the order of turns, by a generator; and the way between
 * actors, where a message may be held up ("the wire"), doubled, or be the last thing the process
 * does. Whatever it decides goes into the event log and its hash. */
#include "diurnal/sim.h"

#include "body.h"
#include "entropy.h"
#include "mem.h"
#include "rt.h"

#include <assert.h>
#include <string.h>

enum { NS_PER_MS = 1000000, TARGETS_MAX = 16, ANY_TURN_MAX = 8, MILLION = 1000000 };

/* A message on its way. */
typedef struct wire wire;
struct wire {
    wire   *next; /* by due_ns, then by age */
    dn_msg *m;
    dn_ref  sender; /* who sent it, which for a request sent on is not who asks */
    int64_t due_ns;
};

/* The number of the actor that lives in a slot. */
typedef struct numbered {
    uint64_t bits, number;
} numbered;

typedef struct crash_target {
    char     name[DN_NAME_MAX + 1];
    uint64_t left; /* messages until it fails; 0: free */
} crash_target;

struct dn_sim {
    dn_sim_config config;
    uint64_t      random, hash;
    int64_t       mono_ns, wall_offset_ns;
    int64_t       mono_ms; /* of mono_ns: asked for with every event, and it moves seldom */
    dn_sim_counts counts;
    crash_target  targets[TARGETS_MAX];
    uint32_t      targets_left;  /* of these, not free */
    uint64_t      crash_at_step; /* 0: no such order */

    /* One life. */
    bool       alive;
    bool       dying;     /* being taken apart: nothing is an event, nothing may fail */
    bool       running;   /* in a step: crash_jump is set */
    bool       crash_due; /* the process is gone as soon as nothing is half done */
    bool       in_event;  /* in config.on_event */
    dn_msg    *in_hand;   /* being sent: in no lane, on no wire, perhaps nobody's */
    jmp_buf    crash_jump;
    dn_runtime runtime;
    wire      *wires;
    wheel_entry
             *due[DN_SIM_RANKS]; /* timers of this instant whose rank has not come; newest first */
    numbered *numbers;
    size_t    numbers_len;
    int       root_reason;
    uint64_t  late_replies_seen, dead_letters_seen; /* already in counts */

    uint64_t actors; /* ever */
};

static dn_sim *sim_of(dn_loop *l) { return l->driver_data; }

static dn_loop *sim_loop(const dn_sim *sim) { return sim->runtime.loops[0]; }

/* ---- Events ---- */

static void mix(dn_sim *sim, uint64_t word) {
    sim->hash = (sim->hash ^ word) * 0x9e3779b97f4a7c15U;
    sim->hash ^= sim->hash >> 29;
}

/* Several words at the price of one: only the last multiplication waits for the one before. When it is
 * goes without saying: the moves of the clocks are in the hash. */
static void mix_event(dn_sim *sim, dn_sim_event_kind kind, dn_ref who, dn_ref other,
                      uint32_t msg_kind, int64_t detail) {
    mix(sim, ((uint64_t)kind << 32 | msg_kind) * 0xbf58476d1ce4e5b9U +
                 who.bits * 0x94d049bb133111ebU + other.bits * 0xd6e8feb86659fd93U +
                 (uint64_t)detail * 0xa0761d6478bd642fU);
}

static uint64_t number_of(const dn_sim *sim, dn_ref ref) {
    const uint32_t slot = ref_slot(ref);

    return slot < sim->numbers_len && sim->numbers[slot].bits == ref.bits
               ? sim->numbers[slot].number
               : 0;
}

static void tell(dn_sim *sim, dn_sim_event_kind kind, dn_ref who, dn_ref other, uint32_t msg_kind,
                 int64_t detail, const char *text) {
    const dn_sim_event e = {
        .step = sim->counts.steps,
        .mono_ns = sim->mono_ns,
        .wall_ms = dn_sim_wall_ms(sim),
        .kind = kind,
        .msg_kind = msg_kind,
        .actor = number_of(sim, who),
        .other = number_of(sim, other),
        .detail = detail,
        .name = text,
    };

    sim->in_event = true;
    sim->config.on_event(sim->config.on_event_context, &e);
    sim->in_event = false;
}

/* An actor is hashed by its address, which is as much a function of the seed as its number is. */
static void event(dn_sim *sim, dn_sim_event_kind kind, dn_ref who, dn_ref other, uint32_t msg_kind,
                  int64_t detail, const char *text) {
    if (sim->dying) return;
    if (!sim->config.unhashed) mix_event(sim, kind, who, other, msg_kind, detail);
    if (sim->config.on_event) tell(sim, kind, who, other, msg_kind, detail, text);
}

/* Of the world, and not of an actor. */
static void world_event(dn_sim *sim, dn_sim_event_kind kind, int64_t detail, const char *text) {
    event(sim, kind, DN_NOBODY, DN_NOBODY, 0, detail, text);
}

static bool chance(dn_sim *sim, uint32_t ppm) {
    return ppm > 0 && random_next(&sim->random) % MILLION < ppm;
}

/* What is refused while actors run: see dn_sim_faults. */
static bool refuse_some(void *context) {
    dn_sim *sim = context;

    if (!chance(sim, sim->config.faults.fail_alloc_ppm)) return false;
    sim->counts.failed_allocs++;
    return true;
}

static void refuse_begin(dn_sim *sim) {
    mem_refuse(sim->config.faults.fail_alloc_ppm > 0 ? refuse_some : NULL, sim);
}

/* From 1 to max. */
static int64_t some_ms(dn_sim *sim, int64_t max) {
    return max < 1 ? 1 : 1 + (int64_t)(random_next(&sim->random) % (uint64_t)max);
}

/* ---- The end of a life ---- */

static void wires_drop(dn_sim *sim) {
    wire *w, *next;

    for (w = sim->wires; w; w = next) {
        next = w->next;
        msg_free(sim_loop(sim), w->m);
        mem_free(w);
    }
    sim->wires = NULL;
}

/* What the loop has counted since the last time. */
static void counts_gather(dn_sim *sim) {
    const dn_loop *l = sim_loop(sim);

    sim->counts.late_replies += l->late_replies - sim->late_replies_seen;
    sim->counts.dead_letters += l->dead_letters - sim->dead_letters_seen;
    sim->late_replies_seen = l->late_replies;
    sim->dead_letters_seen = l->dead_letters;
}

static void life_ends(dn_sim *sim) {
    dn_loop *l = sim_loop(sim);

    counts_gather(sim); /* before the actors go: what they leave behind is nobody's dead letter */
    sim->dying = true;
    mem_refuse(NULL, NULL);
    this_loop = l;
    l->jump = NULL;
    atomic_store_explicit(&l->running, NULL, memory_order_relaxed);
    /* A crash comes in the middle of things: these may be in no list at all. What is being handled may
     * be in hand too: it is being sent on. */
    if (sim->in_hand == l->handling) sim->in_hand = NULL;
    if (sim->in_hand) msg_free(l, DN_TAKE(sim->in_hand));
    if (l->handling) msg_free(l, DN_TAKE(l->handling));
    if (l->handling_outside) msg_free(l, DN_TAKE(l->handling_outside));
    loop_end_all(l);
    wires_drop(sim);
    memset(sim->due, 0, sizeof sim->due); /* what was in there has gone with its actors */
    this_loop = NULL;
    rt_done(&sim->runtime);
    mem_free(sim->numbers);
    sim->numbers = NULL;
    sim->numbers_len = 0;
    sim->alive = false;
    sim->dying = false;
}

/* Never while the core has something half done: see step_taken. */
static void process_crashes(dn_sim *sim) {
    sim->crash_due = false;
    world_event(sim, DN_SIM_CRASH_PROCESS, 0, "");
    sim->counts.process_crashes++;
    sim->crash_at_step = 0;
    if (sim->running) _longjmp(sim->crash_jump, 1);
    life_ends(sim);
}

/* Something the process does has come: is it the last thing? Where the core would leave half done what it
 * has to undo (an actor's end, say, which lets go of one thing after the other), it is the last
 * but one: what differs cannot be seen from outside, and a real crash would not leak either. */
static void step_taken(dn_sim *sim, bool half_done) {
    if (sim->dying || !sim->running) return;
    sim->counts.steps++;
    if ((sim->crash_at_step > 0 && sim->counts.steps >= sim->crash_at_step) ||
        chance(sim, sim->config.faults.crash_process_ppm))
        sim->crash_due = true;
    if (sim->crash_due && !half_done && sim_loop(sim)->releasing == 0) process_crashes(sim);
}

/* ---- What the core asks of its driver ---- */

static void sim_read_clock(dn_loop *l) {
    const dn_sim *sim = sim_of(l);

    l->mono_ns = sim->mono_ns;
}

static uint64_t sim_random(dn_loop *l) { return random_next(&sim_of(l)->random); }

static void sim_wake(dn_loop *l) { (void)l; /* there is one thread, and it is awake */ }

/* The simulation's own memory, which is not the simulated: never refused. */
static void *own_alloc(dn_sim *sim, size_t size) {
    mem_refuse(NULL, NULL);
    void *memory = mem_alloc(size);
    assert(memory && "no memory to simulate in");
    if (this_loop && sim->running) refuse_begin(sim);
    return memory;
}

static void numbers_grow(dn_sim *sim, uint32_t slot) {
    const size_t len = sim->numbers_len ? sim->numbers_len * 2 : 64;
    numbered    *more = own_alloc(sim, (len > slot ? len : slot + 1U) * sizeof *more);

    if (sim->numbers) memcpy(more, sim->numbers, sim->numbers_len * sizeof *more);
    mem_free(sim->numbers);
    sim->numbers = more;
    sim->numbers_len = len > slot ? len : slot + 1U;
}

static void sim_spawned(dn_loop *l, const dn_self *a) {
    dn_sim        *sim = sim_of(l);
    const uint32_t slot = ref_slot(a->ref);

    sim->actors++;
    if (slot >= sim->numbers_len) numbers_grow(sim, slot);
    sim->numbers[slot] = (numbered){.bits = a->ref.bits, .number = sim->actors};
    event(sim, DN_SIM_SPAWN, a->ref, DN_NOBODY, 0, (int64_t)sim->actors, actor_shown(a));
}

/* Does an order of dn_sim_crash_actor_at end it here? */
static bool is_target(dn_sim *sim, const dn_self *a) {
    for (int i = 0; sim->targets_left > 0 && i < TARGETS_MAX; i++) {
        crash_target *t = &sim->targets[i];
        if (t->left == 0 || strcmp(t->name, actor_shown(a)) != 0 || --t->left > 0) continue;
        sim->targets_left--;
        return true;
    }
    return false;
}

static bool sim_handling(dn_loop *l, dn_self *a, const dn_msg *m) {
    dn_sim *sim = sim_of(l);

    sim->counts.handled++;
    event(sim, DN_SIM_HANDLE, a->ref, m->from, m->kind, (int64_t)msg_size(m), actor_shown(a));
    step_taken(sim, /* half_done= */ false);
    if (!is_target(sim, a) && !chance(sim, sim->config.faults.crash_actor_ppm)) return false;
    sim->counts.actor_crashes++;
    event(sim, DN_SIM_CRASH_ACTOR, a->ref, DN_NOBODY, m->kind, 0, actor_shown(a));
    return true;
}

/* ---- Ranks ---- */

static bool sim_holds(dn_loop *l, timer *t) {
    dn_sim        *sim = sim_of(l);
    const dn_self *a = slab_at(&l->actors, t->actor);

    if (!sim->config.timer_rank) return false;
    const uint32_t kind = timer_kind(t) ? timer_kind(t) : DN_MSG_CALL_FAILED;
    const int      rank =
        sim->config.timer_rank(sim->config.timer_rank_context, a->actor_class->name, kind);
    assert(rank >= 0 && rank < DN_SIM_RANKS && "a rank is one of DN_SIM_RANKS");
    wheel_hold(l->wheel, &sim->due[rank], &t->entry);
    return true;
}

/* False: none is left. */
static bool next_rank_fires(dn_sim *sim) {
    dn_loop *l = sim_loop(sim);

    for (int rank = 0; rank < DN_SIM_RANKS; rank++) {
        if (!sim->due[rank]) continue;
        timers_fire(l, wheel_let_go(l->wheel, &sim->due[rank]));
        return true;
    }
    return false;
}

/* ---- The wire ---- */

static void wire_put(dn_sim *sim, dn_ref sender, dn_msg *m, int64_t due_ns) {
    wire  *w = own_alloc(sim, sizeof *w);
    wire **at = &sim->wires;

    w->m = m;
    w->sender = sender;
    w->due_ns = due_ns;
    while (*at && (*at)->due_ns <= due_ns) at = &(*at)->next;
    w->next = *at;
    *at = w;
}

/* What is on the way from the same sender to the same receiver must not be overtaken. */
static int64_t wire_not_before(const dn_sim *sim, dn_ref sender, const dn_msg *m) {
    int64_t last_ns = 0;

    for (const wire *w = sim->wires; w; w = w->next) {
        if (dn_ref_equal(w->sender, sender) && dn_ref_equal(w->m->to, m->to)) last_ns = w->due_ns;
    }
    return last_ns;
}

static void wire_deliver(dn_sim *sim) {
    wire *w;

    while ((w = sim->wires) && w->due_ns <= sim->mono_ns) {
        sim->wires = w->next;
        dn_msg *m = w->m;
        mem_free(w);
        msg_arrive(sim_loop(sim), m);
    }
}

/* Loops take what is pushed in the order of the pushes: what the dead have sent is there before whatever anyone sends
 * who has heard of the end. The news of it is on its way still. */
static void wire_deliver_of_dead(dn_sim *sim, dn_ref dead) {
    for (wire **at = &sim->wires; *at;) {
        wire         *w = *at;
        dn_msg *const m = w->m;
        if (!dn_ref_equal(w->sender, dead) || m->flags & MSG_WATCH) {
            at = &w->next;
            continue;
        }
        *at = w->next;
        mem_free(w);
        msg_arrive(sim_loop(sim), m);
    }
}

static void sim_ended(dn_loop *l, const dn_self *a, dn_ref was, int reason) {
    dn_sim *sim = sim_of(l);

    if (sim->dying) return;
    event(sim, DN_SIM_END, was, DN_NOBODY, 0, reason, actor_shown(a));
    if (sim->wires) wire_deliver_of_dead(sim, was);
}

/* The second one comes after the first, or it would be the first, before what goes before that. */
static void double_reply(dn_sim *sim, dn_loop *l, const dn_msg *m, int64_t first_ns) {
    const bool large = m->flags & MSG_LARGE;
    if (large && m->large.release != body_release) return; /* nobody knows how to copy it */
    dn_msg *twin = msg_take(l);
    if (!twin) return;
    const uint8_t home = twin->home;
    *twin = *m;
    twin->home = home;
    if (large) {
        twin->flags &= (uint8_t)~MSG_LARGE;
        if (msg_set_body(twin, m->large.body, m->large.size) < 0) {
            msg_free(l, twin);
            return;
        }
    }
    sim->counts.doubled_replies++;
    event(sim, DN_SIM_DOUBLE, m->to, m->from, m->kind, 0, "");
    if (first_ns < sim->mono_ns) first_ns = sim->mono_ns;
    wire_put(sim, m->from, twin,
             first_ns + some_ms(sim, sim->config.faults.delay_ms_max) * NS_PER_MS);
}

/* Does the running actor send m of its own will? Not if that is about its end, or a runtime's message. */
static bool sent_by_hand(const dn_loop *l, const dn_msg *m) {
    const dn_self *a = atomic_load_explicit(&l->running, memory_order_relaxed);

    return m->kind <= DN_KIND_MAX && a && actor_lives(a);
}

/* DN_PENDING: the message has been taken onto the wire. */
static int sim_takes(dn_loop *l, dn_msg *m) {
    dn_sim *sim = sim_of(l);

    if (sim->dying) return DN_OK;
    if (m->flags & (MSG_SYSTEM | MSG_CONTROL)) {
        /* A stop is not held up, but must not overtake either: its receiver may drain first. */
        const int64_t due_ns = m->kind == SYS_STOP ? wire_not_before(sim, m->from, m) : 0;
        if (due_ns > 0) wire_put(sim, m->from, m, due_ns);
        return due_ns > 0 ? DN_PENDING : DN_OK;
    }
    const bool   by_hand = sent_by_hand(l, m);
    const dn_ref sender =
        by_hand ? atomic_load_explicit(&l->running, memory_order_relaxed)->ref : m->from;
    sim->in_hand = m;
    step_taken(sim, /* half_done= */ !by_hand);
    sim->in_hand = NULL;
    int64_t due_ns = wire_not_before(sim, sender, m);
    if (m->from.bits != m->to.bits && chance(sim, sim->config.faults.delay_ppm)) {
        const int64_t ms = some_ms(sim, sim->config.faults.delay_ms_max);
        const int64_t at_ns = sim->mono_ns + ms * NS_PER_MS;
        sim->counts.delays++;
        event(sim, DN_SIM_DELAY, m->to, m->from, m->kind, ms, "");
        if (at_ns > due_ns) due_ns = at_ns;
    }
    if (m->flags & MSG_REPLY && chance(sim, sim->config.faults.double_reply_ppm))
        double_reply(sim, l, m, due_ns);
    if (due_ns == 0) return DN_OK;
    if (!(m->flags & MSG_EXEMPT)) {
        /* On the way it is counted in the receiver's admission, as one from another loop is. */
        admission *const d = admission_at(l, ref_slot(m->to));
        const uint64_t   seen = atomic_fetch_add_explicit(&d->gen_waiting, 1, memory_order_relaxed);
        if ((uint32_t)seen >= atomic_load_explicit(&d->waiting_max, memory_order_relaxed)) {
            atomic_fetch_sub_explicit(&d->gen_waiting, 1, memory_order_relaxed);
            return DN_EFULL;
        }
        m->flags |= MSG_COUNTED;
    }
    wire_put(sim, sender, m, due_ns);
    return DN_PENDING;
}

static const driver sim_driver = {
    .read_clock = sim_read_clock,
    .random = sim_random,
    .wake = sim_wake,
    .spawned = sim_spawned,
    .ended = sim_ended,
    .handling = sim_handling,
    .takes = sim_takes,
    .holds = sim_holds,
};

/* ---- Making one ---- */

static void no_notice(void *context, const dn_notice *n) { (void)context, (void)n; }

int dn_sim_new(const dn_sim_config *config, dn_sim **out_sim) {
    dn_sim *sim = mem_alloc(sizeof *sim);

    if (!sim) return DN_ENOMEM;
    sim->config = *config;
    if (!sim->config.notice) sim->config.notice = no_notice;
    sim->random = config->seed;
    sim->wall_offset_ns = config->wall_ms * NS_PER_MS;
    mix(sim, config->seed);
    mix(sim, (uint64_t)config->wall_ms);
    *out_sim = sim;
    return DN_OK;
}

void dn_sim_free(dn_sim *sim) {
    if (!sim) return;
    if (sim->alive) life_ends(sim);
    mem_free(sim);
}

/* The simulated process has the thread: until life_leaves. */
static void life_enters(dn_sim *sim) {
    dn_loop *l = sim_loop(sim);

    this_loop = l;
    l->mono_ns = sim->mono_ns;
    refuse_begin(sim);
}

static void life_leaves(dn_sim *sim) {
    mem_refuse(NULL, NULL);
    this_loop = NULL;
    counts_gather(sim);
}

int dn_sim_boot(dn_sim *sim, const dn_spawn_spec *root) {
    const dn_runtime_config config = {
        .notice = sim->config.notice,
        .notice_context = sim->config.notice_context,
        .stall_ms = -1,
    };

    assert(!sim->alive && "a simulated process is booted when none is alive");
    assert(!this_loop && "a simulation does not run inside a runtime");
    int rc = rt_init(&sim->runtime, &config, &sim_driver, sim);
    if (rc < 0) return rc;
    dn_loop *l = sim_loop(sim);
    l->wall_offset_ns = sim->wall_offset_ns;
    sim->alive = true;
    sim->late_replies_seen = sim->dead_letters_seen = 0;
    sim->crash_due = false;
    sim->counts.boots++;
    world_event(sim, DN_SIM_BOOT, 0, "");
    life_enters(sim);
    /* A root that cannot start is no run: faults begin with its first step. */
    mem_refuse(NULL, NULL);
    rc = actor_spawn(l, NULL, DN_NOBODY, root, NULL, ACTOR_ROOT, &sim->runtime.root);
    life_leaves(sim);
    if (rc != DN_OK && rc != DN_PENDING) {
        life_ends(sim);
        return rc;
    }
    return rc;
}

/* ---- Running ---- */

static int64_t ns_of(int64_t ms) { return ms > INT64_MAX / NS_PER_MS ? INT64_MAX : ms * NS_PER_MS; }

static void clocks_move(dn_sim *sim, int64_t ns) {
    world_event(sim, DN_SIM_TIME, ns, "");
    sim->mono_ns += ns;
    sim->mono_ms = sim->mono_ns / NS_PER_MS;
    if (sim->alive) sim_loop(sim)->mono_ns = sim->mono_ns;
}

/* How far a run goes: what is due up to last_ns happens, and then the clock is put to end_ns. */
typedef struct stretch {
    int64_t last_ns, end_ns;
    bool    when_idle; /* put there too if nothing is left to happen */
    bool    one_step;
    bool    at_once; /* nothing that has to be waited for, not even until now */
} stretch;

static stretch stretch_to(int64_t mono_ms) {
    return (stretch){.last_ns = ns_of(mono_ms), .end_ns = ns_of(mono_ms)};
}

static stretch stretch_before(int64_t mono_ms) {
    return (stretch){.last_ns = ns_of(mono_ms) - 1, .end_ns = ns_of(mono_ms), .when_idle = true};
}

/* When what nobody has to be ready for happens next. INT64_MAX: never. */
static int64_t next_ns_of(const dn_sim *sim) {
    const int64_t timer_ns = timers_next_ns(sim_loop(sim));

    return sim->wires && sim->wires->due_ns < timer_ns ? sim->wires->due_ns : timer_ns;
}

/* Nobody is ready. True: there was something to wait for within the stretch, and it is now. */
static bool time_moves(dn_sim *sim, const stretch *run, dn_sim_end *out_end) {
    dn_loop      *l = sim_loop(sim);
    const int64_t next_ns = next_ns_of(sim);
    const bool    idle = next_ns == INT64_MAX;

    if (run->at_once) {
        *out_end = idle ? DN_SIM_IDLE : DN_SIM_TIME_UP;
        return false;
    }
    if (next_ns > sim->mono_ns && next_rank_fires(sim)) return true;
    if (idle || next_ns > run->last_ns) {
        if (sim->mono_ns < run->end_ns && (!idle || run->when_idle))
            clocks_move(sim, run->end_ns - sim->mono_ns);
        *out_end = idle ? DN_SIM_IDLE : DN_SIM_TIME_UP;
        return false;
    }
    if (next_ns > sim->mono_ns) clocks_move(sim, next_ns - sim->mono_ns);
    timers_expire(l);
    wire_deliver(sim);
    if (!loop_has_ready(l)) (void)next_rank_fires(sim);
    return true;
}

/* Otherwise time moves only when nobody is ready, and a timer never finds its actor behind with its work. */
static void turn_was_slow(dn_sim *sim, const stretch *run) {
    const int64_t left_ns = run->last_ns - sim->mono_ns;
    const int64_t took_ns = some_ms(sim, sim->config.faults.slow_turn_ms_max) * NS_PER_MS;

    if (took_ns > left_ns) return;
    sim->counts.slow_turns++;
    clocks_move(sim, took_ns);
    timers_expire(sim_loop(sim));
    wire_deliver(sim);
}

static void turn_taken(dn_sim *sim, const stretch *run) {
    if (chance(sim, sim->config.faults.slow_turn_ppm)) turn_was_slow(sim, run);
    step_taken(sim, /* half_done= */ false);
}

static void take_turn(dn_sim *sim, const stretch *run) {
    dn_loop *l = sim_loop(sim);

    if (sim->config.order == DN_SIM_FIFO) {
        loop_run_nth(l, 0, TURN_MESSAGES);
    } else {
        const uint32_t nth = (uint32_t)(random_next(&sim->random) % loop_ready(l));
        const int      budget = 1 + (int)(random_next(&sim->random) % ANY_TURN_MAX);
        loop_run_nth(l, nth, budget);
    }
    turn_taken(sim, run);
}

static bool step_inside(dn_sim *sim, const stretch *run, dn_sim_end *out_end) {
    dn_loop *l = sim_loop(sim);

    if (chance(sim, sim->config.faults.step_wall_ppm)) {
        const int64_t ms = some_ms(sim, sim->config.faults.step_wall_ms_max);
        dn_sim_step_wall(sim, random_next(&sim->random) & 1 ? ms : -ms);
    }
    loop_take_inbox(l); /* what the world around has posted */
    if (!loop_has_ready(l)) {
        if (!time_moves(sim, run, out_end)) return false;
        step_taken(sim, /* half_done= */ false);
        return true;
    }
    take_turn(sim, run);
    counts_gather(sim);
    if (!sim->runtime.root_ended) return true;
    *out_end = DN_SIM_ENDED;
    return false;
}

/* noinline: a longjmp may change the local variables of the function that called setjmp. */
static __attribute__((noinline)) bool steps_inside(dn_sim *sim, const stretch *run,
                                                   dn_sim_end *out_end) {
    while (step_inside(sim, run, out_end)) {
        if (run->one_step) return true;
    }
    return false;
}

/* True: it has done its one step, and *out_end is untouched. */
static bool run_on(dn_sim *sim, const stretch *run, dn_sim_end *out_end) {
    bool more;

    if (!sim->alive) {
        *out_end = DN_SIM_CRASHED;
        return false;
    }
    assert(!sim->running && "a simulation is not run from inside the simulation");
    sim->running = true;
    life_enters(sim);
    if (_setjmp(sim->crash_jump) != 0) {
        sim->running = false;
        life_ends(sim);
        *out_end = DN_SIM_CRASHED;
        return false;
    }
    more = steps_inside(sim, run, out_end);
    sim->running = false;
    life_leaves(sim);
    if (!more && *out_end == DN_SIM_ENDED) {
        sim->root_reason = sim->runtime.root_reason;
        life_ends(sim);
    }
    return more;
}

bool dn_sim_step(dn_sim *sim, int64_t mono_ms, dn_sim_end *out_end) {
    stretch run = stretch_to(mono_ms);

    run.one_step = true;
    return run_on(sim, &run, out_end);
}

dn_sim_end dn_sim_run(dn_sim *sim, int64_t mono_ms) {
    const stretch run = stretch_to(mono_ms);
    dn_sim_end    end;

    (void)run_on(sim, &run, &end);
    return end;
}

dn_sim_end dn_sim_run_before(dn_sim *sim, int64_t mono_ms) {
    const stretch run = stretch_before(mono_ms);
    dn_sim_end    end = DN_SIM_TIME_UP;

    if (!sim->alive) return DN_SIM_CRASHED;
    if (sim->mono_ns <= run.last_ns) (void)run_on(sim, &run, &end);
    return end;
}

dn_sim_end dn_sim_settle(dn_sim *sim) {
    const stretch run = {.last_ns = sim->mono_ns, .end_ns = sim->mono_ns, .at_once = true};
    dn_sim_end    end = DN_SIM_TIME_UP;

    (void)run_on(sim, &run, &end);
    return end;
}

int dn_sim_root_reason(const dn_sim *sim) { return sim->root_reason; }

/* ---- By hand ---- */

void dn_sim_pass(dn_sim *sim, int64_t ms) {
    assert(ms >= 0 && "the steady clock does not go back");
    clocks_move(sim, ms * NS_PER_MS);
}

void dn_sim_step_wall(dn_sim *sim, int64_t ms) {
    sim->wall_offset_ns += ms * NS_PER_MS;
    sim->counts.wall_steps++;
    world_event(sim, DN_SIM_WALL_STEP, ms, "");
    if (sim->alive) timers_wall_stepped(sim_loop(sim), sim->wall_offset_ns, 0);
}

void dn_sim_crash_process(dn_sim *sim) {
    if (!sim->alive) return;
    /* From a handler it is now; where this is called in the middle of the core's work, right after. */
    if (sim->in_event || (this_loop && (!sim->running || this_loop->releasing > 0)))
        sim->crash_due = true;
    else process_crashes(sim);
}

void dn_sim_crash_process_at(dn_sim *sim, uint64_t step) { sim->crash_at_step = step; }

void dn_sim_crash_actor_at(dn_sim *sim, const char *name, uint64_t nth) {
    assert(nth > 0 && "an actor's first message from now is number 1");
    for (int i = 0; i < TARGETS_MAX; i++) {
        if (sim->targets[i].left > 0) continue;
        sim->targets[i].left = nth;
        sim->targets_left++;
        text_copy(sim->targets[i].name, sizeof sim->targets[i].name, name);
        return;
    }
    assert(false && "at most 16 actors can be told to fail at once");
}

void dn_sim_stop(dn_sim *sim) {
    if (!sim->alive) return;
    dn_loop *l = sim_loop(sim);
    dn_msg  *m = msg_take(l);
    assert(m && "no memory to simulate in");
    m->from = DN_NOBODY;
    actor_ask_to_end(l, m, sim->runtime.root, SYS_STOP);
}

void dn_sim_set_faults(dn_sim *sim, const dn_sim_faults *faults) {
    sim->config.faults = *faults;
    if (sim->running) refuse_begin(sim);
}

/* ---- Looking ---- */

dn_runtime *dn_sim_runtime(dn_sim *sim) { return sim->alive ? &sim->runtime : NULL; }

const dn_sim_counts *dn_sim_counts_borrow(const dn_sim *sim) { return &sim->counts; }

uint64_t dn_sim_hash(const dn_sim *sim) { return sim->hash; }

uint64_t dn_sim_random(dn_sim *sim) { return random_next(&sim->random); }

int64_t dn_sim_mono_ms(const dn_sim *sim) { return sim->mono_ms; }

int64_t dn_sim_wall_ms(const dn_sim *sim) { return ms_floor(sim->mono_ns + sim->wall_offset_ns); }

void dn_sim_note(dn_sim *sim, const char *text, int64_t detail) {
    if (sim->dying) return;
    for (const char *c = text; *c && !sim->config.unhashed; c++) mix(sim, (unsigned char)*c);
    world_event(sim, DN_SIM_NOTE, detail, text);
}
