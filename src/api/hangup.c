/* hangup.c - SIGHUP as a message.
 * A signal handler can do next to nothing but wake the loop. Not libuv's own signals: whoever stops listening to one gets
 * back what ends the process, and one that comes in that moment does. A crash here, or in what is called, costs one
 * reading of the configuration. */
#include "hangup.h"

#include "diurnal/runtime.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <uv.h>

enum { HANGUP_CAME = 1 };

/* libuv's, until its close callback. */
typedef struct ear {
    uv_async_t  wake;
    dn_runtime *runtime;
    dn_ref      actor;
} ear;

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

/* The handler knows nothing else. Set before it is installed. */
static ear *volatile listens;

static void on_signal(int number) {
    ear      *e = listens;
    const int code = errno;

    (void)number;
    if (e) (void)uv_async_send(&e->wake);
    errno = code;
}

/* More of them than the mailbox holds say nothing that the first do not. */
static void on_wake(uv_async_t *wake) {
    const ear *e = wake->data;
    const int  rc = dn_post(e->runtime, e->actor, HANGUP_CAME, NULL, 0);

    (void)rc;
}

static void on_closed(uv_handle_t *handle) { free(handle->data); }

/* Nobody listens any more, and the last jobs are to end in peace. */
static void ear_close(void *own) {
    ear *e = own;

    (void)signal(SIGHUP, SIG_IGN);
    listens = NULL;
    uv_close((uv_handle_t *)&e->wake, on_closed);
}

static int hangup_init(dn_self *self, void *state, const void *config) {
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    hangup          *h = state;
    ear             *e = calloc(1, sizeof *e);

    h->config = config;
    if (!e) return DN_ENOMEM;
    e->runtime = dn_self_runtime(self);
    e->actor = dn_self_ref(self);
    if (uv_async_init(dn_uv_loop(self), &e->wake, on_wake) < 0) {
        free(e);
        return DN_EIO;
    }
    e->wake.data = e;
    dn_own(self, e, ear_close);
    listens = e;
    return sigaction(SIGHUP, &action, NULL) < 0 ? DN_EIO : DN_OK;
}

static int hangup_on_came(dn_self *self, void *state, const dn_msg *msg) {
    const hangup *h = state;

    (void)self, (void)msg;
    h->config->on_hangup(h->config->context);
    return DN_OK;
}

dn_child_spec dn_hangup_child(const dn_hangup_config *config) {
    return (dn_child_spec){.name = "hangup",
                           .cls = &hangup_class,
                           .config = config,
                           .loop = "main",
                           .backoff = {.min_ms = 100, .max_ms = 10000, .stable_ms = 60000}};
}
