/* requests.c - see requests.h. */
#include "requests.h"

#include "streams.h"

/* ---- Responses ---- */

/* Without its body to HEAD, also where the request is refused: the client takes what follows for the next answer. */
static void respond(dn_self *self, const server *s, connection *c, http_response *r) {
    size_t len = 0;
    char  *bytes =
        http_response_take(r, dn_now_ms(self), http_conn_wants_head(&c->http), c->http.ends, &len);

    exchange_done(&s->world, &c->exchange);
    if (!bytes) {
        connection_close(c, &s->world);
        return;
    }
    http_conn_put(&c->http, bytes, len);
    connection_enter(self, c, HTTP_CONN_WRITING);
}

void requests_refuse(dn_self *self, server *s, connection *c, const http_fault *fault) {
    http_response r = http_problem(fault->status, fault->detail);

    c->http.ends = true;
    respond(self, s, c, &r);
}

static void begin_stream(dn_self *self, server *s, connection *c) {
    if (streams_begin(self, s, c)) return;
    http_response busy = http_problem(503, "too many event streams are open; try again");
    respond(self, s, c, &busy);
}

/* An answer before the body has ended ends the connection: where the next request begins is not known. */
static void take_step(dn_self *self, server *s, connection *c, route_step step) {
    switch (step) {
    case ROUTE_WANTS_BODY: connection_enter(self, c, HTTP_CONN_BODY); break;
    case ROUTE_WAITS: connection_enter(self, c, HTTP_CONN_ASKING); break;
    case ROUTE_STREAMS: begin_stream(self, s, c); break;
    case ROUTE_WANTS_TOKENS:
    case ROUTE_DONE:
        c->http.ends = c->http.ends || !c->exchange.body_ends;
        exchange_finish(self, &s->world, &c->exchange);
        respond(self, s, c, &c->exchange.response);
        break;
    }
}

/* ---- Heads ---- */

static void begin_body(dn_self *self, const server *s, connection *c) {
    c->http.ends = !c->http.head.keep_alive;
    if (http_conn_begin_body(&c->http, exchange_body_max(&c->exchange)))
        connection_enter(self, c, HTTP_CONN_BODY);
    else connection_close(c, &s->world);
}

/* A body that no route wants is not read: the answer ends the connection. */
static void begin_request(dn_self *self, server *s, connection *c) {
    const http_head *head = &c->http.head;

    c->http.ends = !head->keep_alive || head->chunked || head->content_length > 0;
    const route_step step = exchange_begin(self, &s->world, &c->exchange, head);
    if (step == ROUTE_WANTS_BODY) {
        begin_body(self, s, c);
    } else if (step == ROUTE_WANTS_TOKENS && s->loading_tokens) {
        exchange_done(&s->world, &c->exchange);
        c->exchange.call = s->loading_tokens;
        connection_enter(self, c, HTTP_CONN_ASKING);
    } else {
        take_step(self, s, c, step);
    }
}

/* This and the next three return false if they have to wait for the client, or for an answer. */
static bool resume_head(dn_self *self, server *s, connection *c) {
    http_fault fault = {0};

    switch (http_conn_read(&c->http, &fault)) {
    case HTTP_GOT_HEAD: begin_request(self, s, c); return true;
    case HTTP_GOT_FAULT: requests_refuse(self, s, c, &fault); return true;
    case HTTP_GOT_END: connection_close(c, &s->world); return false;
    case HTTP_GOT_BODY:
    case HTTP_GOT_FULL:
    case HTTP_GOT_PART: break;
    }
    if (c->http.state == HTTP_CONN_IDLE && c->http.in_len > 0)
        connection_enter(self, c, HTTP_CONN_READING);
    return connection_wait_to_read(c);
}

/* ---- Bodies ---- */

static bool is_stream(const connection *c) { return c->exchange.route->body == ROUTE_STREAM; }

static void hand_on(dn_self *self, server *s, connection *c, bool ends) {
    const size_t len = c->http.body_len;

    c->http.body_len = 0; /* the next piece of a stream goes to the same place */
    take_step(self, s, c, exchange_body(self, &s->world, &c->exchange, c->http.body, len, ends));
}

bool requests_has_piece(const connection *c) {
    return c->http.state == HTTP_CONN_BODY && is_stream(c) && c->http.body_len > 0;
}

void requests_hand_on_piece(dn_self *self, server *s, connection *c) {
    hand_on(self, s, c, /* ends= */ false);
    requests_resume(self, s, c);
}

static bool resume_body(dn_self *self, server *s, connection *c) {
    http_fault     fault = exchange_body_too_long(&c->exchange);
    const http_got got = http_conn_read_body(&c->http, &fault);

    if (got == HTTP_GOT_BODY || (got == HTTP_GOT_FULL && is_stream(c))) {
        hand_on(self, s, c, /* ends= */ got == HTTP_GOT_BODY);
        return true;
    }
    switch (got) {
    case HTTP_GOT_FULL:
    case HTTP_GOT_FAULT: requests_refuse(self, s, c, &fault); return true;
    case HTTP_GOT_END: connection_close(c, &s->world); return false;
    case HTTP_GOT_HEAD:
    case HTTP_GOT_BODY:
    case HTTP_GOT_PART: break;
    }
    return connection_wait_to_read(c);
}

/* ---- Writing ---- */

static bool resume_writing(dn_self *self, const server *s, connection *c) {
    http_conn   *h = &c->http;
    const size_t at = h->out_at;

    switch (http_conn_write(h)) {
    case HTTP_WROTE_GONE: connection_close(c, &s->world); return false;
    case HTTP_WROTE_PART:
        if (h->out_at > at) h->since_ns = dn_mono_ns(self);
        http_conn_wait(h, /* to_read= */ false, /* to_write= */ true);
        return false;
    case HTTP_WROTE_ALL: break;
    }
    if (h->ends) {
        http_conn_linger(h);
        connection_enter(self, c, HTTP_CONN_LINGERING);
        return true;
    }
    http_conn_next(h);
    connection_enter(self, c, HTTP_CONN_IDLE);
    /* A request that is in the buffer already gets a turn of its own, so that a client that sends many delays nobody. */
    http_conn_wait(h, /* to_read= */ true, /* to_write= */ h->in_len > 0);
    return false;
}

static bool resume_lingering(const server *s, connection *c) {
    if (http_conn_drain(&c->http)) return connection_wait_to_read(c);
    connection_close(c, &s->world);
    return false;
}

void requests_resume(dn_self *self, server *s, connection *c) {
    bool more = true;

    while (more) {
        switch (c->http.state) {
        case HTTP_CONN_IDLE:
        case HTTP_CONN_READING: more = resume_head(self, s, c); break;
        case HTTP_CONN_BODY: more = resume_body(self, s, c); break;
        case HTTP_CONN_WRITING: more = resume_writing(self, s, c); break;
        case HTTP_CONN_LINGERING: more = resume_lingering(s, c); break;
        case HTTP_CONN_STREAMING:
            streams_resume(self, s, c);
            more = false;
            break;
        case HTTP_CONN_FREE:
        case HTTP_CONN_ASKING: more = false; break;
        }
    }
}

/* ---- Answers of actors ---- */

void requests_on_answer(dn_self *self, server *s, const dn_msg *reply) {
    const dn_call_id call = dn_msg_call(reply);

    for (EACH_CONNECTION(&s->connections, c)) {
        const bool waits = c->http.state == HTTP_CONN_ASKING || c->http.state == HTTP_CONN_BODY;
        if (!waits || c->exchange.call != call) continue;
        take_step(self, s, c, exchange_go_on(self, &s->world, &c->exchange, reply));
        requests_resume(self, s, c);
        return;
    }
}

void requests_on_tokens(dn_self *self, server *s, dn_call_id call) {
    for (EACH_CONNECTION(&s->connections, c)) {
        if (c->http.state != HTTP_CONN_ASKING || c->exchange.call != call) continue;
        begin_request(self, s, c);
        requests_resume(self, s, c);
    }
}
