/* control.c - whoever may read the data directory can ask the daemon here.
 * A connection reads a line, asks the actors, writes the answer, and only then reads on: so each has at most one request
 * under way and one page of an answer in memory, and who is slow waits for himself alone. Who stands still for too
 * long is dropped. A crash here closes all connections, and no job notices. */
#define _GNU_SOURCE /* accept4 */
#include "control.h"

#include "conn.h"
#include "fd_watch.h"
#include "lockout.h"
#include "obs/log.h"
#include "obs/slo_watcher.h"
#include "ops.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    CONTROL_KNOCK = DN_SERVICE_OWN, /* the socket: somebody wants in */
    CONTROL_READY,                  /* a connection can be read or written */
    CONTROL_SWEEP,
    CONNS_MAX = 32, /* more of them are told so, and closed */
    BACKLOG = 64,
    IDLE_MS = 60000,
    SWEEP_MS = 5000,
};

typedef struct control {
    const dn_control_config *config;
    fd_watch                *listener;
    lockout                  lockout;
    ops_world                world;
    conn                     conns[CONNS_MAX];
} control;

static int control_init(dn_self *self, void *state, const void *config);
static int control_on_knock(dn_self *self, void *state, const dn_msg *msg);
static int control_on_ready(dn_self *self, void *state, const dn_msg *msg);
static int control_on_answer(dn_self *self, void *state, const dn_msg *msg);
static int control_on_sweep(dn_self *self, void *state, const dn_msg *msg);

static const dn_handler control_handlers[] = {
    {CONTROL_READY, control_on_ready},
    {DN_KV_ANSWER, control_on_answer}, /* what the actors were asked for somebody */
    {DN_KV_PAGE, control_on_answer},
    {DN_STATUS, control_on_answer},
    {DN_MINUTES, control_on_answer},
    {DN_QUEUED_USER, control_on_answer},
    {DN_RUNNING, control_on_answer},
    {DN_SLO_REPORT, control_on_answer},
    {DN_MSG_CALL_FAILED, control_on_answer},
    {CONTROL_KNOCK, control_on_knock},
    {CONTROL_SWEEP, control_on_sweep}, /* who stands still is dropped */
};

static const dn_class control_class = {
    .name = "control",
    .state_size = sizeof(control),
    .init = control_init,
    .handlers = DN_SLICE(control_handlers),
};

/* ---- The socket ---- */

static void control_release(void *state) {
    control *c = state;

    for (int i = 0; i < CONNS_MAX; i++)
        if (c->conns[i].state != CONN_FREE) conn_close(&c->conns[i]);
    fd_watch_free(c->listener);
}

/* A socket that is there already is a dead daemon's: whoever holds the lock of the directory is the only one. The mode
 * is set before there is a name to open. */
static int listen_at(const char *data, int *out_fd) {
    struct sockaddr_un address;
    int                dir = -1, fd = -1, rc;

    rc = dn_control_address(data, &address, &dir);
    if (rc < 0) return rc;
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    rc = fd < 0 ? DN_EIO : DN_OK;
    if (rc == DN_OK) (void)unlink(address.sun_path);
    if (rc == DN_OK && (fchmod(fd, S_IRUSR | S_IWUSR) < 0 ||
                        bind(fd, (const struct sockaddr *)&address, sizeof address) < 0 ||
                        listen(fd, BACKLOG) < 0))
        rc = DN_EIO;
    if (rc < 0)
        dn_log(DN_LOG_ERROR, "control.failed", "%s: no control socket: %s", address.sun_path,
               strerror(errno));
    if (rc < 0 && fd >= 0) (void)close(fd);
    if (dir >= 0) (void)close(dir);
    if (rc == DN_OK) *out_fd = fd;
    return rc;
}

static int control_init(dn_self *self, void *state, const void *config) {
    control *c = state;
    int      fd, rc;

    c->config = config;
    c->world = (ops_world){
        .config = config,
        .kv = dn_name(self, DN_KV),
        .tick = dn_name(self, DN_TICK),
        .queue = dn_name(self, DN_QUEUE),
        .executor = dn_name(self, DN_EXECUTOR),
        .watcher = dn_name(self, DN_SLO_WATCHER),
        .since_ms = dn_now_ms(self),
        .scratch = dn_alloc(self, OPS_SCRATCH),
    };
    dn_own(self, c, control_release);
    rc = listen_at(c->config->data, &fd);
    if (rc < 0) return rc;
    rc = fd_watch_new(self, fd, CONTROL_KNOCK, 0, &c->listener);
    if (rc < 0) {
        (void)close(fd);
        return rc;
    }
    fd_watch_once(c->listener, /* to_read= */ true, /* to_write= */ false);
    dn_timer_after(self, SWEEP_MS, CONTROL_SWEEP, 0);
    return DN_OK;
}

/* ---- Who comes ---- */

static uint64_t conn_tag(const control *c, const conn *n) {
    return (uint64_t)n->use << 32 | (uint64_t)(n - c->conns);
}

static conn *conn_of_tag(control *c, uint64_t tag) {
    const uint32_t index = (uint32_t)tag;

    if (index >= CONNS_MAX) return NULL;
    conn *n = &c->conns[index];
    return n->state != CONN_FREE && n->use == (uint32_t)(tag >> 32) ? n : NULL;
}

static conn *conn_find_free(control *c) {
    for (int i = 0; i < CONNS_MAX; i++)
        if (c->conns[i].state == CONN_FREE) return &c->conns[i];
    return NULL;
}

/* Takes fd. */
static void let_in(dn_self *self, control *c, int fd) {
    static const char full[] =
        "{\"error\":\"32 others ask already; try again\",\"code\":\"busy\"}\n";
    conn *n = conn_find_free(c);

    if (!n) {
        /* It fits into what the kernel keeps for a new connection, or that is how it is. */
        const ssize_t put = send(fd, full, sizeof full - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
        (void)put;
        (void)close(fd);
        return;
    }
    n->in = malloc(DN_CONTROL_LINE_MAX);
    if (!n->in || fd_watch_new(self, fd, CONTROL_READY, conn_tag(c, n), &n->watch) < 0) {
        free(DN_TAKE(n->in));
        (void)close(fd);
        return;
    }
    n->state = CONN_READING;
    n->moved_ns = dn_mono_ns(self);
    fd_watch_once(n->watch, /* to_read= */ true, /* to_write= */ false);
}

static int control_on_knock(dn_self *self, void *state, const dn_msg *msg) {
    control *c = state;

    (void)msg;
    for (int i = 0; i < CONNS_MAX; i++) {
        const int fd = accept4(fd_watch_fd(c->listener), NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0 && errno == EINTR) continue;
        if (fd < 0 && errno != EAGAIN && errno != ECONNABORTED) {
            /* No descriptors, most likely: the sweep looks again. */
            lockout_goes_on(&c->lockout, LOCKOUT_CONTROL, errno, dn_mono_ns(self));
            return DN_OK;
        }
        if (fd < 0) break;
        let_in(self, c, fd);
    }
    fd_watch_once(c->listener, /* to_read= */ true, /* to_write= */ false);
    return DN_OK;
}

/* ---- What they say ---- */

static void go_on(dn_self *self, control *c, conn *n);

/* Takes line. Without memory there is no answer, and the connection ends. */
static void put_json(conn *n, json_t *line) {
    const size_t len = line ? json_dumpb(line, NULL, 0, JSON_COMPACT) : 0;
    char        *text = len > 0 ? malloc(len + 2) : NULL;

    if (text) {
        (void)json_dumpb(line, text, len, JSON_COMPACT);
        memcpy(text + len, "\n", 2);
        conn_put(n, text);
    }
    json_decref(line);
}

static void answer(dn_self *self, control *c, conn *n, ask_step step) {
    if (step == ASK_WAITS) {
        n->state = CONN_ASKING;
        return;
    }
    if (step == ASK_DONE) {
        put_json(n, DN_TAKE(n->ask.answer));
    } else {
        put_json(n, json_pack("{s:s, s:s}", "error", n->ask.why, "code",
                              n->ask.code ? n->ask.code : "failed"));
    }
    ask_done(&n->ask);
    if (!n->out) {
        conn_close(n);
        return;
    }
    n->state = CONN_WRITING;
    n->moved_ns = dn_mono_ns(self);
    go_on(self, c, n);
}

static void take_line(dn_self *self, control *c, conn *n, size_t len) {
    json_error_t error;
    json_t      *request = json_loadb(n->in, len, JSON_REJECT_DUPLICATES, &error);

    conn_take_line(n, len);
    n->moved_ns = dn_mono_ns(self);
    if (request) {
        answer(self, c, n, ask_begin(self, &c->world, &n->ask, request));
    } else {
        answer(self, c, n,
               ask_refuse(&n->ask, "invalid", "that is no JSON: %s, at byte %d", error.text,
                          error.position));
    }
}

static void refuse_long_line(dn_self *self, control *c, conn *n) {
    n->ends = true;
    answer(self, c, n,
           ask_refuse(&n->ask, "invalid", "a line of more than %d bytes", DN_CONTROL_LINE_MAX));
}

/* Reads or writes, until it would have to wait. */
static void go_on(dn_self *self, control *c, conn *n) {
    size_t len = 0;

    if (n->state == CONN_WRITING) {
        const size_t     at = n->out_at;
        const conn_wrote wrote = conn_write(n);
        if (wrote == CONN_WROTE_GONE || (wrote == CONN_WROTE_ALL && n->ends)) {
            conn_close(n);
        } else if (wrote == CONN_WROTE_PART) {
            if (n->out_at > at) n->moved_ns = dn_mono_ns(self);
            fd_watch_once(n->watch, /* to_read= */ false, /* to_write= */ true);
        } else {
            /* Whatever stands in the buffer already comes in a turn of its own, so that one who sends much does
             * not keep the others waiting. */
            n->state = CONN_READING;
            fd_watch_once(n->watch, /* to_read= */ true, /* to_write= */ true);
        }
        return;
    }
    if (n->state != CONN_READING) return;
    switch (conn_read(n, &len)) {
    case CONN_GOT_LINE: take_line(self, c, n, len); return;
    case CONN_GOT_PART: fd_watch_once(n->watch, /* to_read= */ true, /* to_write= */ false); return;
    case CONN_GOT_TOO_MUCH: refuse_long_line(self, c, n); return;
    case CONN_GOT_END: conn_close(n); return;
    }
}

static int control_on_ready(dn_self *self, void *state, const dn_msg *msg) {
    control *c = state;
    conn    *n = conn_of_tag(c, *DN_BODY(uint64_t, msg));

    if (n) go_on(self, c, n);
    return DN_OK;
}

static int control_on_answer(dn_self *self, void *state, const dn_msg *msg) {
    control         *c = state;
    const dn_call_id call = dn_msg_call(msg);

    for (int i = 0; i < CONNS_MAX && call; i++) {
        conn *n = &c->conns[i];
        if (n->state != CONN_ASKING || n->ask.call != call) continue;
        answer(self, c, n, ask_go_on(self, &c->world, &n->ask, msg));
        break;
    }
    return DN_OK; /* one for somebody who has gone */
}

/* ---- Who stands still ---- */

static int control_on_sweep(dn_self *self, void *state, const dn_msg *msg) {
    control      *c = state;
    const int64_t since_ns = dn_mono_ns(self) - (int64_t)IDLE_MS * 1000000;

    (void)msg;
    for (int i = 0; i < CONNS_MAX; i++) {
        conn *n = &c->conns[i];
        if ((n->state == CONN_READING || n->state == CONN_WRITING) && n->moved_ns < since_ns)
            conn_close(n);
    }
    lockout_look(&c->lockout, LOCKOUT_CONTROL, dn_mono_ns(self));
    fd_watch_once(c->listener, /* to_read= */ true, /* to_write= */ false);
    dn_timer_after(self, SWEEP_MS, CONTROL_SWEEP, 0);
    return DN_OK;
}

dn_child_spec dn_control_child(const dn_control_config *config) {
    return (dn_child_spec){.name = "control",
                           .cls = &control_class,
                           .config = config,
                           .loop = "main",
                           .backoff = {.min_ms = 100, .max_ms = 10000, .stable_ms = 60000}};
}
