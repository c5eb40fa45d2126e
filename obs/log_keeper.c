/* log_keeper.c - see log_keeper.h. */
#include "log_keeper.h"

#include "log.h"

enum { KEEPER_LOOK = 1, LOOK_MS = 1000 };

static int keeper_init(dn_self *self, void *state, const void *config);
static int keeper_on_look(dn_self *self, void *state, const dn_msg *msg);

static const dn_handler keeper_handlers[] = {{KEEPER_LOOK, keeper_on_look}};

static const dn_class keeper_class = {
    .name = "log",
    .init = keeper_init,
    .handlers = DN_SLICE(keeper_handlers),
};

static int keeper_init(dn_self *self, void *state, const void *config) {
    (void)state, (void)config;
    dn_timer_after(self, LOOK_MS, KEEPER_LOOK, 0);
    return DN_OK;
}

static int keeper_on_look(dn_self *self, void *state, const dn_msg *msg) {
    (void)state, (void)msg;
    dn_log_tick();
    dn_timer_after(self, LOOK_MS, KEEPER_LOOK, 0);
    return DN_OK;
}

dn_child_spec dn_log_keeper_child(void) {
    return (dn_child_spec){.name = "log",
                           .actor_class = &keeper_class,
                           .loop = "main",
                           .backoff = {.min_ms = 100, .max_ms = 10000, .stable_ms = 60000}};
}
