/* hangup.c - SIGHUP as a call. A crash here, or in what is called, costs one reading of the configuration. */
#include "hangup.h"

#include "signals.h"

#include <signal.h>

enum { HANGUP_CAME = 1 };

typedef struct hangup {
    const dn_hangup_config *config;
} hangup;

static int hangup_init(dn_self *self, void *state, const void *config);
static int hangup_on_came(dn_self *self, void *state, const dn_msg *msg);

static const dn_handler hangup_handlers[] = {
    {HANGUP_CAME, hangup_on_came},
};

static const dn_class hangup_class = {
    .name = "hangup",
    .state_size = sizeof(hangup),
    .init = hangup_init,
    .handlers = DN_SLICE(hangup_handlers),
    .mailbox_max = 16,
};

static int hangup_init(dn_self *self, void *state, const void *config) {
    hangup *h = state;

    h->config = config;
    return dn_signal_listen(self, SIGHUP, HANGUP_CAME);
}

static int hangup_on_came(dn_self *self, void *state, const dn_msg *msg) {
    const hangup *h = state;

    (void)self, (void)msg;
    h->config->on_hangup(h->config->context);
    return DN_OK;
}

dn_child_spec dn_hangup_child(const dn_hangup_config *config) {
    return (dn_child_spec){.name = "hangup",
                           .actor_class = &hangup_class,
                           .config = config,
                           .loop = "main",
                           .backoff = {.min_ms = 100, .max_ms = 10000, .stable_ms = 60000}};
}
