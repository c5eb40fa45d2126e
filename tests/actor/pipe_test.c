/* pipe_test.c - entries that own something are released once, whatever becomes of their message. */
#include "actor/pipe.h"

#include "diurnal/sim.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { GO = 1, ENTRY, ENTRIES = 10000, BOX = 4 };

typedef struct entry {
    int64_t number;
    char   *owned;
} entry;

static struct {
    dn_sim *sim;
    int     made, released, received;
    bool    redirect, crash;
    int64_t last;
} w;

static size_t entry_release(void *bytes) {
    entry *e = bytes;

    free(e->owned);
    w.released++;
    return sizeof *e;
}

/* ---- The receiver, whose mailbox has few places ---- */

static int receiver_on_entry(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state;
    for (DN_PIPE_EACH(entry, e, msg)) {
        CHECK_STR(e->owned, "owned");
        CHECK_INT(e->number, w.last + 1);
        w.last = e->number;
        w.received++;
    }
    return DN_OK;
}

static const dn_handler receiver_rows[] = {{ENTRY, receiver_on_entry}};
static const dn_class   receiver_class = {
      .name = "receiver", .handlers = DN_SLICE(receiver_rows), .mailbox_max = BOX};

/* ---- The sender ---- */

typedef struct sender {
    dn_pipe pipe;
} sender;

static int sender_init(dn_self *self, void *state, const void *config) {
    sender *s = state;

    (void)config;
    dn_pipe_init_owning(self, &s->pipe, "receiver", ENTRY, entry_release);
    return dn_send(self, dn_self_ref(self), GO, NULL, 0);
}

static int sender_on_go(dn_self *self, void *state, const dn_msg *msg) {
    sender *s = state;

    (void)msg;
    for (int i = 0; i < ENTRIES; i++) {
        entry *e = dn_pipe_add(self, &s->pipe, sizeof *e);
        *e = (entry){.number = ++w.made, .owned = strdup("owned")};
        CHECK(e->owned);
    }
    if (w.redirect) dn_pipe_redirect(self, &s->pipe, dn_name(self, "receiver"));
    if (w.crash) return DN_EFAILED;
    dn_pipe_flush(self, &s->pipe);
    return DN_OK;
}

static int sender_on_room(dn_self *self, void *state, const dn_msg *msg) {
    sender *s = state;

    (void)msg;
    dn_pipe_on_room(self, &s->pipe);
    return DN_OK;
}

static const dn_handler sender_rows[] = {{GO, sender_on_go}, {DN_MSG_ROOM, sender_on_room}};
static const dn_class   sender_class = {.name = "sender",
                                        .state_size = sizeof(sender),
                                        .init = sender_init,
                                        .handlers = DN_SLICE(sender_rows)};

/* ---- Both ---- */

static int top_init(dn_self *self, void *state, const void *config) {
    const bool *with_receiver = config;

    (void)state;
    if (*with_receiver)
        CHECK_INT(dn_spawn(self,
                           &(dn_spawn_spec){.actor_class = &receiver_class, .name = "receiver"},
                           NULL),
                  DN_OK);
    CHECK_INT(
        dn_spawn(self, &(dn_spawn_spec){.actor_class = &sender_class, .name = "sender"}, NULL),
        DN_OK);
    return DN_OK;
}

static const dn_class top_class = {.name = "top", .init = top_init};

static void runs(bool with_receiver) {
    const dn_sim_config sim = {.seed = test_seed()};
    const dn_spawn_spec root = {.actor_class = &top_class, .config = &with_receiver, .name = "top"};

    CHECK_INT(dn_sim_new(&sim, &w.sim), DN_OK);
    CHECK_INT(dn_sim_boot(w.sim, &root), DN_OK);
    (void)dn_sim_run(w.sim, 1000);
    dn_sim_free(DN_TAKE(w.sim));
}

TEST(pipe_delivers_all_entries_in_order_to_a_mailbox_with_few_places) {
    w = (typeof(w)){0};
    runs(/* with_receiver= */ true);
    CHECK_INT(w.received, ENTRIES);
    CHECK_INT(w.released, ENTRIES);
}

TEST(pipe_releases_entries_for_a_receiver_that_is_not_there) {
    w = (typeof(w)){0};
    runs(/* with_receiver= */ false);
    CHECK_INT(w.received, 0);
    CHECK_INT(w.released, ENTRIES);
}

TEST(pipe_releases_what_waits_when_it_is_redirected) {
    w = (typeof(w)){.redirect = true};
    runs(/* with_receiver= */ true);
    CHECK_MSG(w.received < ENTRIES, "nothing waited");
    CHECK_INT(w.released, ENTRIES);
}

TEST(pipe_of_a_sender_that_crashes_releases_its_entries) {
    w = (typeof(w)){.crash = true};
    runs(/* with_receiver= */ true);
    CHECK_INT(w.released, ENTRIES);
}
