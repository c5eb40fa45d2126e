/* timeouts.c - see timeouts.h. */
#include "timeouts.h"

#include "requests.h"

enum {
    IDLE_MS = 60000, /* between two requests */
    HEAD_MS = 10000, /* from the first byte of a head to its last */
    BODY_MS = 60000, /* from the end of the head to the last byte of its body, or a stream's next */
    PIECE_MS = 2000, /* from one piece of a stream to the next, however little has come */
    WRITE_MS = 30000, /* without a byte that is taken */
    LINGER_MS = 2000,
};

static int64_t limit_ms(http_conn_state state) {
    switch (state) {
    case HTTP_CONN_IDLE: return IDLE_MS;
    case HTTP_CONN_READING: return HEAD_MS;
    case HTTP_CONN_BODY: return BODY_MS;
    case HTTP_CONN_WRITING: return WRITE_MS;
    case HTTP_CONN_LINGERING: return LINGER_MS;
    case HTTP_CONN_STREAMING: return WRITE_MS; /* heartbeats are taken, or it has gone */
    case HTTP_CONN_FREE:
    case HTTP_CONN_ASKING: break; /* a call has a deadline of its own */
    }
    return INT64_MAX / 2000000;
}

/* What to answer; NULL: nothing, the connection is closed. */
static const http_fault *fault_of(const connection *c) {
    static const http_fault slow_head = {408, "the head of the request did not come within 10 s"};
    static const http_fault slow_body = {408, "the body of the request did not come within 60 s"};
    static const http_fault slow_piece = {
        408, "no more of the body came for 60 s; what came before was taken"};

    if (c->http.state == HTTP_CONN_READING) return &slow_head;
    if (c->http.state != HTTP_CONN_BODY) return NULL;
    return c->exchange.route->body == ROUTE_STREAM ? &slow_piece : &slow_body;
}

static void end(dn_self *self, server *s, connection *c) {
    const http_fault *fault = fault_of(c);

    if (!fault) {
        connection_close(c, &s->world);
        return;
    }
    requests_refuse(self, s, c, fault);
    requests_resume(self, s, c);
}

void timeouts_check(dn_self *self, server *s) {
    for (EACH_CONNECTION(&s->connections, c)) {
        const int64_t age_ns = dn_mono_ns(self) - c->http.since_ns;
        if (requests_has_piece(c) && age_ns >= PIECE_MS * INT64_C(1000000))
            requests_hand_on_piece(self, s, c);
        else if (c->http.state != HTTP_CONN_FREE && age_ns >= limit_ms(c->http.state) * 1000000)
            end(self, s, c);
    }
}
