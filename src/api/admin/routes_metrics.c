/* routes_metrics.c - GET /metrics, for Prometheus and whatever else reads its formats. */
#include "obs/metrics.h"
#include "reply.h"
#include "scrape.h"

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

static route_step reply_metrics(dn_self *self, const api_world *w, exchange *x,
                                const dn_msg *reply) {
    const size_t len = reply ? dn_msg_size(reply) : 0;
    char        *body = len > 0 ? malloc(len) : NULL;

    (void)self, (void)w;
    if (!body) return reply_problem(x, 503, "the metrics cannot be read now; try again");
    memcpy(body, dn_msg_body_borrow(reply), len);
    return reply_response(x,
                          http_answer(200, dn_metrics_content_type(format_of(x->head)), body, len));
}

static route_step get_metrics(dn_self *self, const api_world *w, exchange *x) {
    const uint32_t format = format_of(x->head);

    return exchange_try(self, w, x, w->metrics, DN_METRICS_SCRAPE, &format, sizeof format,
                        SCRAPE_MS, reply_metrics);
}

const route routes_metrics[] = {
    {"GET", "/metrics", DN_SCOPE_READ, .handler = get_metrics},
    {.method = NULL},
};
