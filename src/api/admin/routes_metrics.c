/* routes_metrics.c - /metrics, for Prometheus and whoever speaks its formats. */
#include "scrape.h"
#include "obs/metrics.h"
#include "routes.h"

#include <stdlib.h>
#include <string.h>

enum { SCRAPE_MS = 2000, ACCEPT_MAX = 512 };

static dn_metrics_format format_of(const http_head *head) {
    const http_text *accept = http_field_of(head, "accept");
    char             text[ACCEPT_MAX] = "";

    if (!accept || accept->len >= sizeof text) return DN_METRICS_TEXT;
    memcpy(text, accept->at, accept->len);
    return dn_metrics_negotiate(text);
}

static http_response page(const exchange *x, const dn_msg *reply) {
    const size_t len = dn_msg_kind(reply) == DN_METRICS_PAGE ? dn_msg_size(reply) : 0;
    char        *body = len > 0 ? malloc(len) : NULL;

    if (!body) return http_problem(503, "the metrics could not be gathered; try again");
    memcpy(body, dn_msg_body_borrow(reply), len);
    return http_answer(200, dn_metrics_content_type((dn_metrics_format)x->format), body, len);
}

route_step route_metrics(dn_self *self, const route_world *w, exchange *x, const dn_msg *reply) {
    if (reply) return exchange_answer(x, page(x, reply));
    x->format = format_of(x->head);
    if (exchange_call(self, x, w->metrics, DN_METRICS_SCRAPE, &x->format, sizeof x->format,
                      SCRAPE_MS) == ROUTE_WAITS)
        return ROUTE_WAITS;
    return exchange_answer(x, http_problem(503, "the metrics are starting; try again"));
}
