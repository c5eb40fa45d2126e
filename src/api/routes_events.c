/* routes_events.c - GET /api/v1/events: what changes, as it changes. */
#include "feed.h"
#include "routes.h"

/* Last-Event-ID is what a browser says when it comes back. */
static route_step events(dn_self *self, const route_world *w, exchange *x, const dn_msg *reply) {
    const http_text *last = http_field_of(x->head, "last-event-id");

    (void)self, (void)reply;
    if (http_text_is(x->head->method, "HEAD"))
        return exchange_answer(x, http_answer(200, "text/event-stream", NULL, 0));
    x->next_event = w->feed->next;
    x->begins_anew = last && !feed_resumes(w->feed, last->at, last->len, &x->next_event);
    return ROUTE_STREAMS;
}

const route routes_events[] = {
    {"GET", "/api/v1/events", DN_SCOPE_READ, ROUTE_NO_BODY, events, NULL},
    {.method = NULL},
};
