/* web.c - the actor of HTTP: its life, its messages, the tokens it checks by, and its certificate.
 * What it does with them is in acceptor, connections, requests, streams and timeouts. A crash here closes all
 * connections, and no job notices. */
#include "web.h"

#include "admin/scrape.h"
#include "obs/log.h"
#include "obs/slo_watcher.h"
#include "requests.h"
#include "streams.h"
#include "timeouts.h"

#include <assert.h>

enum {
    WEB_CONNECTED = MSG_OWN, /* somebody connects */
    WEB_READY,               /* a connection can be read or written */
    WEB_SWEEP,
    WEB_ROUND, /* of the feed */
    ACCEPTS_AT_ONCE = 64,
    LOAD_MS = 5000,   /* for kv to answer with all tokens */
    RENEW_MS = 60000, /* from one look at the certificate's files to the next */
    WEB_MAILBOX = 4096,
};
const uint32_t streams_round_kind = WEB_ROUND;

static int web_init(dn_self *self, void *state, const void *config);
static int web_on_connected(dn_self *self, void *state, const dn_msg *msg);
static int web_on_ready(dn_self *self, void *state, const dn_msg *msg);
static int web_on_answer(dn_self *self, void *state, const dn_msg *msg);
static int web_on_round(dn_self *self, void *state, const dn_msg *msg);
static int web_on_sweep(dn_self *self, void *state, const dn_msg *msg);
static int web_stopping(dn_self *self, void *state);

static const dn_handler web_handlers[] = {
    {WEB_READY, web_on_ready},
    {MSG_KV_ANSWER, web_on_answer}, /* actors -> answers for requests, the feed, and the tokens */
    {MSG_KV_PAGE, web_on_answer},
    {MSG_STATUS, web_on_answer},
    {MSG_MINUTES, web_on_answer},
    {MSG_QUEUED_USER, web_on_answer},
    {MSG_RUNNING, web_on_answer},
    {DN_SLO_REPORT, web_on_answer},
    {DN_METRICS_PAGE, web_on_answer},
    {DN_MSG_REPORT, web_on_answer},
    {DN_MSG_CALL_FAILED, web_on_answer},
    {WEB_CONNECTED, web_on_connected},
    {WEB_ROUND, web_on_round},
    {WEB_SWEEP, web_on_sweep}, /* timer -> end what takes too long, try again what failed */
};

static const dn_class web_class = {
    .name = "web",
    .state_size = sizeof(server),
    .init = web_init,
    .handlers = DN_SLICE(web_handlers),
    .stopping = web_stopping,
    .mailbox_max = WEB_MAILBOX,
};

/* ---- The tokens ---- */

/* Until they are loaded, requests that need one wait. */
static void load_tokens(dn_self *self, server *s) {
    if (s->auth.loaded || s->loading_tokens) return;
    if (dn_call(self, s->world.kv, MSG_KV_TOKENS, NULL, 0, LOAD_MS, &s->loading_tokens) < 0)
        s->loading_tokens = 0;
}

static void take_tokens(server *s, const dn_msg *reply) {
    if (dn_msg_kind(reply) != MSG_KV_ANSWER) return; /* the sweep asks again */
    const dn_kv_tokens_answer *answer = dn_msg_body_borrow(reply);
    const int                  rc =
        answer->status == DN_OK ? auth_load(&s->auth, answer->tokens, answer->len) : answer->status;
    if (rc < 0)
        dn_log(DN_LOG_WARN, "token.unread", "cannot load the tokens: %s", dn_error_text(rc));
}

/* ---- Life ---- */

static void web_release(void *state) {
    server *s = state;

    connections_done(&s->connections, &s->world);
    acceptor_done(&s->acceptor);
    router_free(s->router);
    auth_done(&s->auth);
    idempotency_done(&s->idempotency);
    feed_done(&s->feed);
}

static api_world world_of(dn_self *self, server *s) {
    return (api_world){
        .service = s->config->service,
        .about = s->config->about,
        .router = s->router,
        .kv = dn_name(self, ACTOR_KV),
        .tick = dn_name(self, ACTOR_TICK),
        .queue = dn_name(self, ACTOR_QUEUE),
        .executor = dn_name(self, ACTOR_EXECUTOR),
        .slo_watcher = dn_name(self, DN_SLO_WATCHER),
        .metrics = dn_name(self, DN_METRICS),
        .auth = &s->auth,
        .feed = &s->feed,
        .idempotency = &s->idempotency,
        .tag_key = {dn_random(self), dn_random(self)},
        .started_ms = dn_now_ms(self),
        .on_loopback = s->config->on_loopback,
        .encrypted = s->config->tls != NULL,
        .settings = s->config->settings,
    };
}

static int web_init(dn_self *self, void *state, const void *config) {
    server *s = state;

    s->config = config;
    s->connections.max = s->config->conns_max;
    assert(connections_is_sound(&s->connections));
    feed_init(&s->feed, dn_random(self));
    dn_own(self, s, web_release);
    int rc = router_new(routes_all, &s->router);
    assert(rc != DN_EINVAL); /* the tables are constants */
    if (rc < 0) return rc;
    s->world = world_of(self, s);
    rc = acceptor_start(self, &s->acceptor, s->config->listener, WEB_CONNECTED);
    if (rc < 0) return rc;
    dn_timer_after(self, TIMEOUTS_EVERY_MS, WEB_SWEEP, 0);
    load_tokens(self, s);
    return DN_OK;
}

static int web_stopping(dn_self *self, void *state) {
    const server *s = state;

    (void)self;
    acceptor_stop(&s->acceptor);
    return DN_STOP;
}

/* ---- Messages ---- */

static int web_on_connected(dn_self *self, void *state, const dn_msg *msg) {
    server *s = state;

    (void)msg;
    for (int i = 0; i < ACCEPTS_AT_ONCE; i++) {
        struct sockaddr_storage address = {0};
        const int               fd = acceptor_next(self, &s->acceptor, &address);
        if (fd < 0) return DN_OK;
        connections_open(self, &s->connections, &s->world, fd, &address, s->config->tls, WEB_READY);
    }
    acceptor_wait(&s->acceptor);
    return DN_OK;
}

static int web_on_ready(dn_self *self, void *state, const dn_msg *msg) {
    server     *s = state;
    connection *c = connections_find(&s->connections, *DN_BODY(uint64_t, msg));

    if (c) requests_resume(self, s, c);
    return DN_OK;
}

static int web_on_answer(dn_self *self, void *state, const dn_msg *msg) {
    server          *s = state;
    const dn_call_id call = dn_msg_call(msg);

    if (s->loading_tokens && call == s->loading_tokens) {
        s->loading_tokens = 0;
        take_tokens(s, msg);
        requests_on_tokens(self, s, call);
    } else if (s->feed.call && call == s->feed.call) {
        feed_on_answer(self, &s->world, &s->feed, msg);
        streams_resume_all(self, s);
    } else {
        requests_on_answer(self, s, msg);
    }
    return DN_OK;
}

static int web_on_round(dn_self *self, void *state, const dn_msg *msg) {
    (void)msg;
    streams_on_round(self, state);
    return DN_OK;
}

/* The certificate may be renewed while the daemon runs, without a word to us. */
static void renew_certificate(dn_self *self, server *s) {
    const int64_t now_ns = dn_mono_ns(self);
    bool          renewed = false;
    char          why[HTTP_TLS_WHY] = "";

    if (!s->config->tls || now_ns - s->renewed_ns < RENEW_MS * INT64_C(1000000)) return;
    s->renewed_ns = now_ns;
    if (http_tls_renew(s->config->tls, &renewed, why) < 0)
        dn_log(DN_LOG_WARN, "tls.refused", "%s; the old certificate stays in use", why);
    if (!renewed) return;
    dn_log(DN_LOG_INFO, "tls.renewed", "using the new certificate");
    if (s->config->renewed) s->config->renewed(s->config->context);
}

static int web_on_sweep(dn_self *self, void *state, const dn_msg *msg) {
    server *s = state;

    (void)msg;
    timeouts_check(self, s);
    load_tokens(self, s);
    renew_certificate(self, s);
    acceptor_check(self, &s->acceptor);
    dn_timer_after(self, TIMEOUTS_EVERY_MS, WEB_SWEEP, 0);
    return DN_OK;
}

dn_child_spec dn_web_child(const dn_web_config *config) {
    return (dn_child_spec){.name = "web",
                           .actor_class = &web_class,
                           .config = config,
                           .loop = "main",
                           .backoff = {.min_ms = 100, .max_ms = 10000, .stable_ms = 60000}};
}
