/* streams.c - see streams.h. */
#include "streams.h"

#include <stdlib.h>
#include <string.h>

enum {
    HEARTBEAT_MS = 15000, /* a quiet stream sends a comment, so that a dead connection is noticed */
    KEEP_MS = 60000,      /* without listeners: then the feed forgets what it knows */
};

/* At most half of all places: the others are for requests. */
bool streams_begin(dn_self *self, server *s, connection *c) {
    size_t len = 0;
    char  *head;

    if (s->streams.len >= s->connections.max / 2) return false;
    head = http_response_stream("text/event-stream", dn_now_ms(self), &len);
    if (!head) {
        connection_close(c, &s->world);
        return true;
    }
    http_conn_put(&c->http, head, len);
    connection_enter(self, c, HTTP_CONN_STREAMING);
    s->streams.len++;
    s->streams.empty_ns = dn_mono_ns(self);
    feed_round(self, &s->world, &s->feed);
    if (!s->streams.rounds) dn_timer_after(self, FEED_ROUND_MS, streams_round_kind, 0);
    s->streams.rounds = true;
    return true;
}

/* Puts what there is for it to be written; false: nothing. A tenant gets the greeting alone, because every event tells
 * of the daily path, which belongs to no tenant. */
static bool put_more(dn_self *self, const server *s, connection *c) {
    exchange *x = &c->exchange;
    size_t    len = 0;
    char     *text = NULL;

    if (!feed_has_begun(&s->feed)) return false;
    if (!x->greeted) {
        text = feed_greeting(&s->feed, x->next_event, x->resets, dn_now_ms(self), &len);
        x->greeted = text != NULL;
    } else if (!x->who.has_tenant) {
        text = feed_text_for(&s->feed, &x->next_event, dn_now_ms(self), &len);
    }
    if (text) http_conn_put(&c->http, text, len);
    return text != NULL;
}

/* What the listener sends is dropped; that it has gone is noticed. */
void streams_resume(dn_self *self, server *s, connection *c) {
    http_conn *h = &c->http;

    while (h->out || put_more(self, s, c)) {
        const http_wrote wrote = http_conn_write(h);
        if (wrote == HTTP_WROTE_GONE) {
            connection_close(c, &s->world);
            return;
        }
        if (wrote == HTTP_WROTE_PART) {
            http_conn_wait(h, /* to_read= */ true, /* to_write= */ true);
            return;
        }
        h->since_ns = dn_mono_ns(self);
    }
    if (http_conn_drain(h)) (void)connection_wait_to_read(c);
    else connection_close(c, &s->world);
}

static void put_heartbeat(dn_self *self, connection *c) {
    static const char beat[] = ":\n\n";

    if (c->http.out || dn_mono_ns(self) - c->http.since_ns < HEARTBEAT_MS * INT64_C(1000000))
        return;
    char *text = strdup(beat);
    if (text) http_conn_put(&c->http, text, sizeof beat - 1);
}

void streams_resume_all(dn_self *self, server *s) {
    s->streams.len = 0;
    for (EACH_CONNECTION(&s->connections, c)) {
        if (c->http.state != HTTP_CONN_STREAMING) continue;
        if (exchange_still_may(self, &s->world, &c->exchange)) {
            put_heartbeat(self, c);
            streams_resume(self, s, c);
        } else {
            connection_close(c, &s->world);
        }
        s->streams.len += c->http.state == HTTP_CONN_STREAMING;
    }
}

void streams_on_round(dn_self *self, server *s) {
    streams_resume_all(self, s);
    if (s->streams.len > 0) s->streams.empty_ns = dn_mono_ns(self);
    s->streams.rounds = dn_mono_ns(self) - s->streams.empty_ns < KEEP_MS * INT64_C(1000000);
    if (s->streams.rounds) {
        feed_round(self, &s->world, &s->feed);
        dn_timer_after(self, FEED_ROUND_MS, streams_round_kind, 0);
    } else {
        feed_forget(&s->feed);
    }
}
