/* arena_test.c - an actor's heap from inside: pieces never overlap, chunks go back to their pool, and what
 * there is no memory for fails the actor and nobody else. */
#include "loop.h"
#include "mem.h"

#include "diurnal/sim.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { GO = 1, PIECES = 400 };

static dn_sim *sim;
static int (*act)(dn_self *self);

static int on_go(dn_self *self, void *state, const dn_msg *msg) {
    (void)state, (void)msg;
    return act(self);
}
static const dn_handler rows[] = {{GO, on_go}};
static const dn_class   cls = {
      .name = "arena", .handlers = DN_SLICE(rows), .heap_max = (size_t)64 << 20};

static const dn_class *alive_class = &cls;
static dn_self        *this_self;

static int keep_alive(dn_self *self, void *state, const dn_msg *msg) {
    dn_ref who;

    (void)state, (void)msg;
    return dn_spawn(self, &(dn_spawn_spec){.actor_class = alive_class, .name = "a"}, &who);
}
static const dn_handler root_rows[] = {{GO, keep_alive}};
static const dn_class   root = {.name = "root", .handlers = DN_SLICE(root_rows)};

static void post(const char *name) {
    dn_runtime *rt = dn_sim_runtime(sim);
    dn_sim_end  end;

    CHECK_INT(dn_post(rt, dn_runtime_name(rt, name), GO, NULL, 0), DN_OK);
    while (dn_sim_step(sim, 0, &end)) continue;
}

static void begin(void) {
    CHECK_INT(dn_sim_new(&(dn_sim_config){.seed = test_seed()}, &sim), DN_OK);
    CHECK_INT(dn_sim_boot(sim, &(dn_spawn_spec){.actor_class = &root, .name = "root"}), DN_OK);
}

static bool lives(const char *name) {
    dn_runtime *rt = dn_sim_runtime(sim);

    return dn_post(rt, dn_runtime_name(rt, name), 99, NULL, 0) == DN_OK;
}

static int fill_pieces(dn_self *self) {
    static struct {
        unsigned char *at;
        size_t         size;
    } pieces[PIECES];
    uint64_t random = test_seed();

    for (int i = 0; i < PIECES; i++) {
        /* Mostly small, some larger than a chunk. */
        const size_t size =
            (size_t)(test_random(&random) % (1ULL << (test_random(&random) % 15))) + 1;
        pieces[i].at = dn_alloc(self, size);
        pieces[i].size = size;
        CHECK_UINT((uintptr_t)pieces[i].at % 16, 0);
        for (size_t k = 0; k < size; k++) CHECK_INT(pieces[i].at[k], 0);
        memset(pieces[i].at, i % 251 + 1, size);
    }
    for (int i = 0; i < PIECES; i++)
        for (size_t k = 0; k < pieces[i].size; k++)
            CHECK_INT(pieces[i].at[k], (unsigned char)(i % 251 + 1));
    return DN_STOP;
}

TEST(pieces_of_a_heap_are_zero_whole_and_apart_life_after_life) {
    begin();
    act = fill_pieces;
    for (int life = 0; life < 20; life++) {
        post("root");
        post("a");
        CHECK(!lives("a"));
    }
    dn_sim_free(sim);
}

static bool refuse_all(void *context) {
    (void)context;
    return true;
}

static int ask_for_a_large_one(dn_self *self) {
    mem_refuse(refuse_all, NULL);
    (void)dn_alloc(self, 1 << 20);
    CHECK_MSG(false, "an allocation without memory came back");
    return DN_OK;
}

static int ask_for_many_small_ones(dn_self *self) {
    mem_refuse(refuse_all, NULL);
    for (int i = 0; i < 1000; i++) (void)dn_alloc(self, 1000);
    CHECK_MSG(false, "allocations without memory came back");
    return DN_OK;
}

TEST(a_heap_there_is_no_memory_for_fails_its_actor) {
    begin();
    int (*const asks[])(dn_self *) = {ask_for_a_large_one, ask_for_many_small_ones};
    for (int i = 0; i < 2; i++) {
        act = asks[i];
        post("root");
        post("a");
        mem_refuse(NULL, NULL);
        CHECK(!lives("a"));
        CHECK(lives("root"));
    }
    act = fill_pieces;
    post("root");
    post("a");
    dn_sim_free(sim);
}

/* ---- More than there can be ---- */

static const size_t too_much[] = {
    SIZE_MAX,      SIZE_MAX - 1,    SIZE_MAX - 14, SIZE_MAX - 15, SIZE_MAX - 16,
    SIZE_MAX - 31, SIZE_MAX - 4096, SIZE_MAX / 2,  UINT32_MAX,    (size_t)UINT32_MAX - 15,
};

static void ask_for_too_much(void *context) {
    const size_t *size = context;

    (void)dn_alloc(this_self, *size);
    CHECK_MSG(false, "an allocation of %zu bytes came back", *size);
}

/* It lives on here, so that its heap can be looked at. */
static int ask_in_vain_and_go_on(dn_self *self) {
    const dn_loop *l = self->loop;

    this_self = self;
    for (size_t i = 0; i < sizeof too_much / sizeof *too_much; i++) {
        (void)dn_alloc(self, i % 2 ? 16 : 5000); /* a chunk of the pool, and one of its own */
        const arena_chunk before = *self->arena, *const newest = self->arena;
        const size_t large_bytes = l->large_bytes;
        size_t       size = too_much[i];
        CHECK(!actor_guarded(self->loop, self, ask_for_too_much, &size));
        CHECK_INT(l->fail_code, DN_EFAILED);
        CHECK_STR(l->fail_why, size > self->actor_class->heap_max - before.total
                                   ? "the actor's heap has reached its bound"
                                   : "one allocation from an actor's heap is below 4 GiB");
        CHECK_PTR(self->arena, newest);
        CHECK_UINT(newest->total, before.total);
        CHECK_UINT(newest->used, before.used);
        CHECK_PTR(newest->next, before.next);
        CHECK_UINT(l->large_bytes, large_bytes);
    }
    memset(dn_alloc(self, 100), 0xff, 100);
    return DN_OK;
}

static const dn_class boundless = {
    .name = "boundless", .handlers = DN_SLICE(rows), .heap_max = SIZE_MAX};

TEST(what_no_heap_can_hold_is_refused_and_the_heap_is_as_it_was) {
    static const dn_class *const classes[] = {&cls, &boundless};

    act = ask_in_vain_and_go_on;
    for (int i = 0; i < 2; i++) {
        alive_class = classes[i];
        begin();
        post("root");
        post("a");
        CHECK(lives("a"));
        dn_sim_free(sim);
    }
}
