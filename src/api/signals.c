/* signals.c - see signals.h.
 * A signal handler may do little more than wake the loop. libuv's own signal watchers do not fit: the one that is closed
 * restores the default action, and a signal at that moment ends the process. */
#include "signals.h"

#include "diurnal/runtime.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <uv.h>

/* libuv's, until its close callback. */
typedef struct listener {
    uv_async_t  wake;
    dn_runtime *runtime;
    dn_ref      actor;
    int         number;
    uint32_t    kind;
} listener;

/* The handler knows nothing else. Set before it is installed. */
static listener *volatile listeners[NSIG];

static void on_signal(int number) {
    listener *l = listeners[number];
    const int code = errno;

    if (l) (void)uv_async_send(&l->wake);
    errno = code;
}

/* A full mailbox has such a message already. */
static void on_wake(uv_async_t *wake) {
    const listener *l = wake->data;
    const int       rc = dn_post(l->runtime, l->actor, l->kind, NULL, 0);

    (void)rc;
}

static void on_closed(uv_handle_t *handle) { free(handle->data); }

static void listener_close(void *own) {
    listener *l = own;

    (void)signal(l->number, SIG_IGN);
    listeners[l->number] = NULL;
    uv_close((uv_handle_t *)&l->wake, on_closed);
}

int dn_signal_listen(dn_self *self, int number, uint32_t kind) {
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    listener        *l = calloc(1, sizeof *l);

    assert(number > 0 && number < NSIG);
    assert(!listeners[number]);
    if (!l) return DN_ENOMEM;
    l->runtime = dn_self_runtime(self);
    l->actor = dn_self_ref(self);
    l->number = number;
    l->kind = kind;
    if (uv_async_init(dn_uv_loop(self), &l->wake, on_wake) < 0) {
        free(l);
        return DN_EIO;
    }
    l->wake.data = l;
    dn_own(self, l, listener_close);
    listeners[number] = l;
    (void)sigemptyset(&action.sa_mask);
    return sigaction(number, &action, NULL) < 0 ? DN_EIO : DN_OK;
}
