/* web.c - takes connections, and carries requests to their routes and answers back.
 * A connection has one request under way and is not read meanwhile. Whoever is slow, or many, waits for himself: a head
 * has to come within its time, and when all places are taken, of those that have most of them the one that has kept its own the longest without
 * saying anything whole, or taking any of its answer, gives it up. A crash here closes all connections, and no job
 * notices. */
#define _GNU_SOURCE /* accept4 */
#include "web.h"

#include "admin/scrape.h"
#include "feed.h"
#include "http/accept_failures.h"
#include "http/eviction.h"
#include "http/http_conn.h"
#include "obs/log.h"
#include "obs/slo_watcher.h"
#include "routes.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    WEB_KNOCK = MSG_OWN, /* the socket: somebody wants in */
    WEB_READY,           /* a connection can be read or written */
    WEB_SWEEP,
    WEB_ROUND, /* of the feed */
    ACCEPTS_AT_ONCE = 64,
    IDLE_MS = 60000, /* between two requests */
    HEAD_MS = 10000, /* from the first byte of a head to its last */
    BODY_MS = 60000, /* from the end of the head to the last byte of its body, or a stream's next */
    TRICKLE_MS = 2000, /* from one piece of a stream to the next, however little has come */
    LEARN_MS = 5000,
    RENEW_MS = 60000,  /* for kv to say which tokens there are */
    WRITE_MS = 30000,  /* without a byte that is taken */
    STALLED_MS = 1000, /* likewise, and its place is to be had */
    LINGER_MS = 2000,
    SWEEP_MS = 500,
    HEARTBEAT_MS = 15000, /* a stream that says nothing says so: the way may be dead */
    DESERTED_MS = 60000,  /* nobody listens: what the feed knows is let go */
    WEB_MAILBOX = 4096,
};

typedef struct visitor {
    http_conn conn;
    uint64_t  from; /* of crowd_from */
    exchange  exchange;
} visitor;

typedef struct web {
    const dn_web_config *config;
    fd_watch            *listener;
    lockout              lockout;
    route_world          world;
    guard                guard;
    dn_call_id           learning; /* the call for all tokens; 0: none is under way */
    feed                 feed;
    once                 once;
    uint32_t             streams;                     /* how many listen to it */
    bool                 rounds;                      /* they go on */
    int64_t              renewed_ns;                  /* the certificate's files were looked at */
    int64_t              deserted_ns;                 /* since nobody listens */
    visitor             *visitors[DN_WEB_CONNS_MOST]; /* made when they are first needed */
    uint32_t             used;                        /* so many of the first have been */
} web;

static int web_init(dn_self *self, void *state, const void *config);
static int web_on_knock(dn_self *self, void *state, const dn_msg *msg);
static int web_on_ready(dn_self *self, void *state, const dn_msg *msg);
static int web_on_answer(dn_self *self, void *state, const dn_msg *msg);
static int web_on_round(dn_self *self, void *state, const dn_msg *msg);
static int web_on_sweep(dn_self *self, void *state, const dn_msg *msg);
static int web_stopping(dn_self *self, void *state);

static const dn_handler web_handlers[] = {
    {WEB_READY, web_on_ready},
    {MSG_KV_ANSWER, web_on_answer}, /* what the actors were asked for somebody */
    {MSG_KV_PAGE, web_on_answer},
    {MSG_STATUS, web_on_answer},
    {MSG_MINUTES, web_on_answer},
    {MSG_QUEUED_USER, web_on_answer},
    {MSG_RUNNING, web_on_answer},
    {DN_SLO_REPORT, web_on_answer},
    {DN_METRICS_PAGE, web_on_answer},
    {DN_MSG_REPORT, web_on_answer},
    {DN_MSG_CALL_FAILED, web_on_answer},
    {WEB_KNOCK, web_on_knock},
    {WEB_ROUND, web_on_round},
    {WEB_SWEEP, web_on_sweep}, /* who is out of time is dropped */
};

static const dn_class web_class = {
    .name = "web",
    .state_size = sizeof(web),
    .init = web_init,
    .handlers = DN_SLICE(web_handlers),
    .stopping = web_stopping,
    .mailbox_max = WEB_MAILBOX,
};

/* ---- The socket ---- */

static void visitor_leaves(const web *b, visitor *v) {
    http_conn_close(&v->conn);
    exchange_done(&b->world, &v->exchange);
}

static void web_release(void *state) {
    web *b = state;

    for (uint32_t i = 0; i < b->used; i++) {
        if (b->visitors[i]->conn.state != HTTP_CONN_FREE) visitor_leaves(b, b->visitors[i]);
        free(b->visitors[i]);
    }
    fd_watch_free(b->listener);
    guard_done(&b->guard);
    once_done(&b->once);
    feed_done(&b->feed);
}

/* Until they are known nobody is let in who needs one. */
static void learn(dn_self *self, web *b) {
    if (b->guard.known || b->learning) return;
    if (dn_call(self, b->world.kv, MSG_KV_TOKENS, NULL, 0, LEARN_MS, &b->learning) < 0)
        b->learning = 0;
}

static void learned(web *b, const dn_msg *reply) {
    b->learning = 0;
    if (dn_msg_kind(reply) != MSG_KV_ANSWER) return; /* the sweep asks again */
    const dn_kv_tokens_answer *answer = dn_msg_body_borrow(reply);
    const int rc = answer->status == DN_OK ? guard_learn(&b->guard, answer->tokens, answer->len)
                                           : answer->status;
    if (rc < 0)
        dn_log(DN_LOG_WARN, "token.unread", "the tokens cannot be read: %s", dn_error_text(rc));
}

/* The socket itself stays open when this actor goes: it listens at a copy. And again, if one before this was asked to
 * stop. */
static int web_init(dn_self *self, void *state, const void *config) {
    web *b = state;

    b->config = config;
    b->world = (route_world){
        .service = b->config->service,
        .kv = dn_name(self, ACTOR_KV),
        .tick = dn_name(self, ACTOR_TICK),
        .metrics = dn_name(self, DN_METRICS),
        .ops =
            {
                .about = b->config->about,
                .kv = dn_name(self, ACTOR_KV),
                .tick = dn_name(self, ACTOR_TICK),
                .queue = dn_name(self, ACTOR_QUEUE),
                .executor = dn_name(self, ACTOR_EXECUTOR),
                .watcher = dn_name(self, DN_SLO_WATCHER),
                .guard = &b->guard,
                .since_ms = dn_now_ms(self),
                .scratch = dn_alloc(self, OPS_SCRATCH),
            },
        .guard = &b->guard,
        .feed = &b->feed,
        .once = &b->once,
        .tag_key = {dn_random(self), dn_random(self)},
        .on_loopback = b->config->on_loopback,
        .encrypted = b->config->tls != NULL,
        .settings = b->config->settings,
    };
    feed_init(&b->feed, dn_random(self));
    dn_own(self, b, web_release);
    const int fd = fcntl(b->config->listener, F_DUPFD_CLOEXEC, 0);
    const int rc = fd < 0 || listen(fd, DN_WEB_BACKLOG) < 0
                       ? DN_EIO
                       : fd_watch_new(self, fd, WEB_KNOCK, 0, &b->listener);
    if (rc < 0) {
        if (fd >= 0) (void)close(fd);
        return rc;
    }
    fd_watch_once(b->listener, /* to_read= */ true, /* to_write= */ false);
    dn_timer_after(self, SWEEP_MS, WEB_SWEEP, 0);
    learn(self, b);
    return DN_OK;
}

/* Who comes now is refused and goes elsewhere, rather than wait for the running jobs to end. */
static int web_stopping(dn_self *self, void *state) {
    const web *b = state;

    (void)self;
    (void)shutdown(fd_watch_fd(b->listener), SHUT_RDWR);
    return DN_STOP;
}

/* ---- Places ---- */

static uint64_t visitor_tag(uint32_t index, const visitor *v) {
    return (uint64_t)v->conn.use << 32 | index;
}

static visitor *visitor_of_tag(const web *b, uint64_t tag) {
    const uint32_t index = (uint32_t)tag;

    if (index >= b->used) return NULL;
    visitor *v = b->visitors[index];
    return v->conn.state != HTTP_CONN_FREE && v->conn.use == (uint32_t)(tag >> 32) ? v : NULL;
}

static bool may_give_up(const http_conn *c, int64_t now_ns) {
    return c->state == HTTP_CONN_IDLE || c->state == HTTP_CONN_READING ||
           c->state == HTTP_CONN_BODY || c->state == HTTP_CONN_LINGERING ||
           (c->state == HTTP_CONN_WRITING && now_ns - c->since_ns >= STALLED_MS * INT64_C(1000000));
}

/* It has shown who it is, and its body is on the way. */
static bool is_known(const visitor *v) {
    return v->conn.state == HTTP_CONN_BODY && v->exchange.who.scope > DN_SCOPE_NONE;
}

/* The place of whoever has said and taken nothing for the longest, of those that have most; NULL: all are being served. */
static visitor *visitor_give_up_one(const web *b, int64_t now_ns, uint32_t *out_index) {
    crowd_one crowd[DN_WEB_CONNS_MOST];

    static_assert((int)DN_WEB_CONNS_MOST <= (int)CROWD_MAX, "all of them");
    for (uint32_t i = 0; i < b->used; i++)
        crowd[i] = (crowd_one){.from = b->visitors[i]->from,
                               .since_ns = b->visitors[i]->conn.since_ns,
                               .may_go = may_give_up(&b->visitors[i]->conn, now_ns),
                               .is_known = is_known(b->visitors[i])};
    const int32_t index = crowd_choose(crowd, b->used, b->world.tag_key.k0);
    if (index < 0) return NULL;
    *out_index = (uint32_t)index;
    visitor_leaves(b, b->visitors[index]);
    return b->visitors[index];
}

static visitor *visitor_place(web *b, int64_t now_ns, uint32_t *out_index) {
    for (uint32_t i = 0; i < b->used; i++) {
        *out_index = i;
        if (b->visitors[i]->conn.state == HTTP_CONN_FREE) return b->visitors[i];
    }
    if (b->used == b->config->conns_max) return visitor_give_up_one(b, now_ns, out_index);
    visitor *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return NULL;
    *out_index = b->used;
    b->visitors[b->used++] = fresh;
    return fresh;
}

static void enter(dn_self *self, http_conn *c, http_conn_state state) {
    c->state = state;
    c->since_ns = dn_mono_ns(self);
}

/* ---- Who comes ---- */

/* Takes fd. */
static void let_in(dn_self *self, web *b, int fd, const struct sockaddr_storage *address) {
    uint32_t index = 0;
    visitor *v = visitor_place(b, dn_mono_ns(self), &index);

    if (!v || fd_watch_new(self, fd, WEB_READY, visitor_tag(index, v), &v->conn.watch) < 0) {
        (void)close(fd);
        return;
    }
    if (b->config->tls && !(v->conn.tls = tls_conn_new(b->config->tls, fd))) {
        visitor_leaves(b, v);
        return;
    }
    v->from = crowd_from(address);
    enter(self, &v->conn, HTTP_CONN_IDLE);
    http_conn_wait(&v->conn, /* to_read= */ true, /* to_write= */ false);
}

static int web_on_knock(dn_self *self, void *state, const dn_msg *msg) {
    web *b = state;

    (void)msg;
    for (int i = 0; i < ACCEPTS_AT_ONCE; i++) {
        struct sockaddr_storage address = {0};
        socklen_t               len = sizeof address;
        const int fd = accept4(fd_watch_fd(b->listener), (struct sockaddr *)&address, &len,
                               SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0 && errno == EINTR) continue;
        if (fd < 0 && errno != EAGAIN && errno != ECONNABORTED) {
            /* No descriptors, most likely: the sweep looks again. */
            lockout_goes_on(&b->lockout, errno, dn_mono_ns(self));
            return DN_OK;
        }
        if (fd < 0) break;
        let_in(self, b, fd, &address);
    }
    fd_watch_once(b->listener, /* to_read= */ true, /* to_write= */ false);
    return DN_OK;
}

/* ---- What they ask ---- */

/* To HEAD without its body, also where it is refused: whoever asked so takes what follows for the next answer. */
static void respond(dn_self *self, const web *b, visitor *v, http_response *r) {
    size_t len = 0;
    char  *bytes =
        http_response_take(r, dn_now_ms(self), http_conn_wants_head(&v->conn), v->conn.ends, &len);

    exchange_done(&b->world, &v->exchange);
    if (!bytes) {
        visitor_leaves(b, v);
        return;
    }
    http_conn_put(&v->conn, bytes, len);
    enter(self, &v->conn, HTTP_CONN_WRITING);
}

static void begin_body(dn_self *self, const web *b, visitor *v) {
    v->conn.ends = !v->conn.head.keep_alive;
    if (http_conn_begin_body(&v->conn, exchange_body_max(&v->exchange)))
        enter(self, &v->conn, HTTP_CONN_BODY);
    else visitor_leaves(b, v);
}

/* ---- Streams ---- */

/* At most half of all places: the others are for who asks. */
static void begin_stream(dn_self *self, web *b, visitor *v) {
    size_t len = 0;
    char  *head;

    if (b->streams >= b->config->conns_max / 2) {
        http_response busy = http_problem(503, "as many listen to events as may; try again");
        respond(self, b, v, &busy);
        return;
    }
    head = http_response_stream("text/event-stream", dn_now_ms(self), &len);
    if (!head) {
        visitor_leaves(b, v);
        return;
    }
    http_conn_put(&v->conn, head, len);
    enter(self, &v->conn, HTTP_CONN_STREAMING);
    b->streams++;
    b->deserted_ns = dn_mono_ns(self);
    feed_round(self, &b->world.ops, &b->feed);
    if (!b->rounds) dn_timer_after(self, FEED_ROUND_MS, WEB_ROUND, 0);
    b->rounds = true;
}

/* Puts what there is for it to be written; false: nothing. */
static bool stream_more(dn_self *self, const web *b, visitor *v) {
    exchange *x = &v->exchange;
    size_t    len = 0;
    char     *text = NULL;

    if (!feed_has_begun(&b->feed)) return false;
    if (!x->greeted) {
        text = feed_greeting(&b->feed, x->next_event, x->begins_anew, dn_now_ms(self), &len);
        x->greeted = text != NULL;
    } else {
        text = feed_text_for(&b->feed, &x->next_event, dn_now_ms(self), &len);
    }
    if (text) http_conn_put(&v->conn, text, len);
    return text != NULL;
}

/* Whatever the other side still says is dropped; that it has gone is seen. */
static bool stream_on(dn_self *self, const web *b, visitor *v) {
    http_conn *c = &v->conn;

    while (c->out || stream_more(self, b, v)) {
        const http_wrote wrote = http_conn_write(c);
        if (wrote == HTTP_WROTE_GONE) {
            visitor_leaves(b, v);
            return false;
        }
        if (wrote == HTTP_WROTE_PART) {
            http_conn_wait(c, /* to_read= */ true, /* to_write= */ true);
            return false;
        }
        c->since_ns = dn_mono_ns(self);
    }
    if (!http_conn_drain(c)) visitor_leaves(b, v);
    else http_conn_wait(c, /* to_read= */ true, /* to_write= */ false);
    return false;
}

static void heartbeat(dn_self *self, visitor *v) {
    static const char beat[] = ":\n\n";

    if (v->conn.out || dn_mono_ns(self) - v->conn.since_ns < HEARTBEAT_MS * INT64_C(1000000))
        return;
    char *text = strdup(beat);
    if (text) http_conn_put(&v->conn, text, sizeof beat - 1);
}

/* To all who listen: what there is, or that there is nothing. Who may not any more is not told. */
static void streams_go_on(dn_self *self, web *b) {
    b->streams = 0;
    for (uint32_t i = 0; i < b->used; i++) {
        visitor *v = b->visitors[i];
        if (v->conn.state != HTTP_CONN_STREAMING) continue;
        if (exchange_still_may(self, &b->world, &v->exchange)) {
            heartbeat(self, v);
            (void)stream_on(self, b, v);
        } else {
            visitor_leaves(b, v);
        }
        b->streams += v->conn.state == HTTP_CONN_STREAMING;
    }
}

static int web_on_round(dn_self *self, void *state, const dn_msg *msg) {
    web *b = state;

    (void)msg;
    streams_go_on(self, b);
    if (b->streams > 0) b->deserted_ns = dn_mono_ns(self);
    b->rounds = dn_mono_ns(self) - b->deserted_ns < DESERTED_MS * INT64_C(1000000);
    if (b->rounds) {
        feed_round(self, &b->world.ops, &b->feed);
        dn_timer_after(self, FEED_ROUND_MS, WEB_ROUND, 0);
    } else {
        feed_forget(&b->feed);
    }
    return DN_OK;
}

/* An answer before the body has ended ends the connection: nobody knows where the next request begins. */
static void stepped(dn_self *self, web *b, visitor *v, route_step step) {
    switch (step) {
    case ROUTE_WANTS_BODY: enter(self, &v->conn, HTTP_CONN_BODY); break;
    case ROUTE_WAITS: enter(self, &v->conn, HTTP_CONN_ASKING); break;
    case ROUTE_STREAMS: begin_stream(self, b, v); break;
    case ROUTE_WANTS_GUARD:
    case ROUTE_DONE:
        v->conn.ends = v->conn.ends || !v->exchange.body_ends;
        exchange_finish(self, &b->world, &v->exchange);
        respond(self, b, v, &v->exchange.response);
        break;
    }
}

/* A body nobody wants is not waited for: the answer ends the connection. */
static void ask_for(dn_self *self, web *b, visitor *v) {
    const http_head *head = &v->conn.head;

    v->conn.ends = !head->keep_alive || head->chunked || head->content_length > 0;
    const route_step step = exchange_begin(self, &b->world, &v->exchange, head);
    if (step == ROUTE_WANTS_BODY) {
        begin_body(self, b, v);
    } else if (step == ROUTE_WANTS_GUARD && b->learning) {
        exchange_done(&b->world, &v->exchange);
        v->exchange.call = b->learning;
        enter(self, &v->conn, HTTP_CONN_ASKING);
    } else {
        stepped(self, b, v, step);
    }
}

static void refuse(dn_self *self, const web *b, visitor *v, const http_fault *fault) {
    http_response r = http_problem(fault->status, fault->detail);

    v->conn.ends = true;
    respond(self, b, v, &r);
}

static bool wait_to_read(visitor *v) {
    http_conn_wait(&v->conn, /* to_read= */ true, /* to_write= */ false);
    return false;
}

/* False: it has to wait for the other side, or for an answer. */
static bool read_on(dn_self *self, web *b, visitor *v) {
    http_conn *c = &v->conn;
    http_fault fault = {0};

    switch (http_conn_read(c, &fault)) {
    case HTTP_GOT_HEAD: ask_for(self, b, v); return true;
    case HTTP_GOT_FAULT: refuse(self, b, v, &fault); return true;
    case HTTP_GOT_END: visitor_leaves(b, v); return false;
    case HTTP_GOT_BODY:
    case HTTP_GOT_FULL:
    case HTTP_GOT_PART: break;
    }
    if (c->state == HTTP_CONN_IDLE && c->in_len > 0) enter(self, c, HTTP_CONN_READING);
    return wait_to_read(v);
}

static void hand_on(dn_self *self, web *b, visitor *v, bool ends) {
    const size_t len = v->conn.body_len;

    v->conn.body_len = 0; /* a stream's next piece lies where this one does */
    stepped(self, b, v, exchange_body(self, &b->world, &v->exchange, v->conn.body, len, ends));
}

static bool is_stream(const visitor *v) { return v->exchange.route->body == ROUTE_STREAM; }

static bool read_body_on(dn_self *self, web *b, visitor *v) {
    http_conn *c = &v->conn;
    http_fault fault = exchange_body_too_long(&v->exchange);

    const http_got got = http_conn_read_body(c, &fault);
    if (got == HTTP_GOT_BODY || (got == HTTP_GOT_FULL && is_stream(v))) {
        hand_on(self, b, v, /* ends= */ got == HTTP_GOT_BODY);
        return true;
    }
    switch (got) {
    case HTTP_GOT_FULL:
    case HTTP_GOT_FAULT: refuse(self, b, v, &fault); return true;
    case HTTP_GOT_END: visitor_leaves(b, v); return false;
    case HTTP_GOT_HEAD:
    case HTTP_GOT_BODY:
    case HTTP_GOT_PART: break;
    }
    return wait_to_read(v);
}

static bool write_on(dn_self *self, const web *b, visitor *v) {
    http_conn   *c = &v->conn;
    const size_t at = c->out_at;

    switch (http_conn_write(c)) {
    case HTTP_WROTE_GONE: visitor_leaves(b, v); return false;
    case HTTP_WROTE_PART:
        if (c->out_at > at) c->since_ns = dn_mono_ns(self);
        http_conn_wait(c, /* to_read= */ false, /* to_write= */ true);
        return false;
    case HTTP_WROTE_ALL: break;
    }
    if (c->ends) {
        http_conn_linger(c);
        enter(self, c, HTTP_CONN_LINGERING);
        return true;
    }
    http_conn_next(c);
    enter(self, c, HTTP_CONN_IDLE);
    /* What stands in the buffer already comes in a turn of its own: who sends much keeps nobody waiting. */
    http_conn_wait(c, /* to_read= */ true, /* to_write= */ c->in_len > 0);
    return false;
}

static bool drain_on(const web *b, visitor *v) {
    if (http_conn_drain(&v->conn)) return wait_to_read(v);
    visitor_leaves(b, v);
    return false;
}

/* Reads, asks and writes until it would have to wait. */
static void go_on(dn_self *self, web *b, visitor *v) {
    bool more = true;

    while (more) {
        switch (v->conn.state) {
        case HTTP_CONN_IDLE:
        case HTTP_CONN_READING: more = read_on(self, b, v); break;
        case HTTP_CONN_BODY: more = read_body_on(self, b, v); break;
        case HTTP_CONN_STREAMING: more = stream_on(self, b, v); break;
        case HTTP_CONN_WRITING: more = write_on(self, b, v); break;
        case HTTP_CONN_LINGERING: more = drain_on(b, v); break;
        case HTTP_CONN_FREE:
        case HTTP_CONN_ASKING: more = false; break;
        }
    }
}

static int web_on_ready(dn_self *self, void *state, const dn_msg *msg) {
    web     *b = state;
    visitor *v = visitor_of_tag(b, *DN_BODY(uint64_t, msg));

    if (v) go_on(self, b, v);
    return DN_OK;
}

/* Those who came meanwhile have waited. */
static void web_learned(dn_self *self, web *b, const dn_msg *reply) {
    const dn_call_id call = b->learning;

    learned(b, reply);
    for (uint32_t i = 0; i < b->used; i++) {
        visitor *v = b->visitors[i];
        if (v->conn.state != HTTP_CONN_ASKING || v->exchange.call != call) continue;
        ask_for(self, b, v);
        go_on(self, b, v);
    }
}

static int web_on_answer(dn_self *self, void *state, const dn_msg *msg) {
    web             *b = state;
    const dn_call_id call = dn_msg_call(msg);

    if (b->learning && call == b->learning) {
        web_learned(self, b, msg);
        return DN_OK;
    }
    if (b->feed.call && call == b->feed.call) {
        feed_on_answer(self, &b->world.ops, &b->feed, msg);
        streams_go_on(self, b);
        return DN_OK;
    }
    for (uint32_t i = 0; i < b->used; i++) {
        visitor   *v = b->visitors[i];
        const bool waits = v->conn.state == HTTP_CONN_ASKING || v->conn.state == HTTP_CONN_BODY;
        if (!waits || v->exchange.call != call) continue;
        stepped(self, b, v, exchange_go_on(self, &b->world, &v->exchange, msg));
        go_on(self, b, v);
        break;
    }
    return DN_OK; /* one for somebody who has gone */
}

/* ---- Who is out of time ---- */

static int64_t time_of_ms(http_conn_state state) {
    switch (state) {
    case HTTP_CONN_IDLE: return IDLE_MS;
    case HTTP_CONN_READING: return HEAD_MS;
    case HTTP_CONN_BODY: return BODY_MS;
    case HTTP_CONN_WRITING: return WRITE_MS;
    case HTTP_CONN_LINGERING: return LINGER_MS;
    case HTTP_CONN_STREAMING: return WRITE_MS; /* since it last took anything */
    case HTTP_CONN_FREE:
    case HTTP_CONN_ASKING: break; /* a call has its own */
    }
    return INT64_MAX / 2000000;
}

/* A certificate is renewed while the daemon runs, by somebody who does not tell us. */
static void renew(dn_self *self, web *b) {
    const int64_t now_ns = dn_mono_ns(self);
    bool          renewed = false;
    char          why[HTTP_TLS_WHY] = "";

    if (!b->config->tls || now_ns - b->renewed_ns < RENEW_MS * INT64_C(1000000)) return;
    b->renewed_ns = now_ns;
    if (http_tls_renew(b->config->tls, &renewed, why) < 0)
        dn_log(DN_LOG_WARN, "tls.refused", "%s; the certificate of before stays", why);
    if (!renewed) return;
    dn_log(DN_LOG_INFO, "tls.renewed", "there is a new certificate, and it is used");
    if (b->config->renewed) b->config->renewed(b->config->context);
}

/* A stream of which little comes now and then: it would be out of time long before that is a whole piece. */
static bool trickles(const visitor *v, int64_t age_ns) {
    return v->conn.state == HTTP_CONN_BODY && is_stream(v) && v->conn.body_len > 0 &&
           age_ns >= TRICKLE_MS * INT64_C(1000000);
}

static int web_on_sweep(dn_self *self, void *state, const dn_msg *msg) {
    static const http_fault slow_head = {408, "the head of a request has to come within 10 s"};
    static const http_fault slow_body = {408, "the body of a request has to come within 60 s"};
    static const http_fault quiet = {
        408, "nothing of the body came for 60 s; what came before it was taken"};
    web *b = state;

    (void)msg;
    for (uint32_t i = 0; i < b->used; i++) {
        visitor      *v = b->visitors[i];
        const int64_t age_ns = dn_mono_ns(self) - v->conn.since_ns;
        if (trickles(v, age_ns)) {
            hand_on(self, b, v, /* ends= */ false);
            go_on(self, b, v);
            continue;
        }
        if (v->conn.state == HTTP_CONN_FREE || age_ns < time_of_ms(v->conn.state) * 1000000)
            continue;
        if (v->conn.state == HTTP_CONN_READING || v->conn.state == HTTP_CONN_BODY) {
            const bool in_body = v->conn.state == HTTP_CONN_BODY;
            refuse(self, b, v, !in_body ? &slow_head : is_stream(v) ? &quiet : &slow_body);
            go_on(self, b, v);
        } else {
            visitor_leaves(b, v);
        }
    }
    learn(self, b);
    renew(self, b);
    lockout_look(&b->lockout, dn_mono_ns(self));
    fd_watch_once(b->listener, /* to_read= */ true, /* to_write= */ false);
    dn_timer_after(self, SWEEP_MS, WEB_SWEEP, 0);
    return DN_OK;
}

dn_child_spec dn_web_child(const dn_web_config *config) {
    return (dn_child_spec){.name = "web",
                           .actor_class = &web_class,
                           .config = config,
                           .loop = "main",
                           .backoff = {.min_ms = 100, .max_ms = 10000, .stable_ms = 60000}};
}
