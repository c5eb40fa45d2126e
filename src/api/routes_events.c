/* routes_events.c - GET /api/v1/events: what changes, as server-sent events. */
#include "feed.h"
#include "reply.h"

/* All events there are tell of the daily path, so a tenant gets none but the greeting (web.c). A browser that reconnects sends the id of the last event it got. */
static route_step get_events(dn_self *self, const api_world *w, exchange *x) {
    const http_text *last = http_field_of(x->head, "last-event-id");

    (void)self;
    if (http_text_is(x->head->method, "HEAD"))
        return reply_response(x, http_answer(200, "text/event-stream", NULL, 0));
    x->next_event = w->feed->next;
    x->resets = last && !feed_resumes(w->feed, last->at, last->len, &x->next_event);
    return ROUTE_STREAMS;
}

const route routes_events[] = {
    {"GET", "/api/v1/events", DN_SCOPE_READ, .handler = get_events, .for_tenants = true},
    {.method = NULL},
};
