/* http_resolve.c - see http_resolve.h. One lookup at a time: a thread of the pool cannot be called back, and
 * the next lookup would only hang behind it. */
#include "http_resolve.h"

#include "http_address.h"

#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

enum { ADDRESSES_MAX = 16, HOST_MAX = 256 };

/* Outlives the resolver if it has to. */
typedef struct lookup {
    uv_getaddrinfo_t request;
    resolver        *owner; /* NULL: nobody waits any more */
} lookup;

struct resolver {
    uv_loop_t  *uv;
    uv_timer_t *limit;
    void (*changed)(void *context);
    void    *context;
    int64_t  limit_ms;
    bool     is_address;
    lookup  *asking;
    bool     overdue; /* asking has taken longer than limit_ms, and who waited has been told */
    bool     known;
    uint64_t known_at_ms, failed_at_ms;
    bool     failed;
    uint32_t pin_number;
    char     fault[96];
    char     host[HOST_MAX];
    char     port[8];
    char     pin[HOST_MAX + 16 + ADDRESSES_MAX * (ADDRESS_TEXT + 3)];
};

static void timer_closed(uv_handle_t *handle) { free(handle); }

int resolver_new(uv_loop_t *uv, const char *host, uint16_t port, int64_t limit_ms,
                 void (*changed)(void *context), void *context, resolver **out_resolver) {
    struct sockaddr_storage address;
    resolver               *r = calloc(1, sizeof *r);
    uv_timer_t             *limit = calloc(1, sizeof *limit);

    if (!r || !limit) {
        free(r);
        free(limit);
        return DN_ENOMEM;
    }
    r->uv = uv;
    r->changed = changed;
    r->context = context;
    r->limit_ms = limit_ms > 0 ? limit_ms : RESOLVE_LIMIT_MS;
    r->is_address = address_of_host(host, &address);
    (void)snprintf(r->host, sizeof r->host, "%s", host);
    (void)snprintf(r->port, sizeof r->port, "%u", port);
    uv_timer_init(uv, limit);
    limit->data = r;
    r->limit = limit;
    *out_resolver = r;
    return DN_OK;
}

void resolver_free(resolver *r) {
    if (!r) return;
    if (r->asking) {
        r->asking->owner = NULL;
        (void)uv_cancel((uv_req_t *)&r->asking->request); /* if a thread has it, it just goes on */
    }
    uv_close((uv_handle_t *)r->limit, timer_closed);
    free(r);
}

/* ---- Asking ---- */

static void has_failed(resolver *r, const char *what) {
    (void)snprintf(r->fault, sizeof r->fault, "was not found: %s", what);
    r->failed = true;
    r->failed_at_ms = uv_now(r->uv);
}

/* In the order the system prefers; libcurl tries them so. */
static void learn(resolver *r, const struct addrinfo *all) {
    char *at = r->pin, *const end = r->pin + sizeof r->pin;
    size_t n = 0;

    at += snprintf(at, (size_t)(end - at), "%s:%s:", r->host, r->port);
    for (const struct addrinfo *a = all; a && n < ADDRESSES_MAX; a = a->ai_next) {
        char text[ADDRESS_TEXT];
        if (a->ai_family != AF_INET && a->ai_family != AF_INET6) continue;
        address_write(a->ai_addr, text);
        at += snprintf(at, (size_t)(end - at), a->ai_family == AF_INET6 ? "%s[%s]" : "%s%s",
                       n > 0 ? "," : "", text);
        n++;
    }
    if (n == 0) {
        has_failed(r, "it has no address");
        return;
    }
    r->pin_number++;
    r->known = true;
    r->known_at_ms = uv_now(r->uv);
    r->failed = false;
}

static void on_answer(uv_getaddrinfo_t *request, int status, struct addrinfo *all) {
    lookup   *l = (lookup *)request;
    resolver *r = l->owner;

    if (r) {
        r->asking = NULL;
        r->overdue = false;
        uv_timer_stop(r->limit);
        if (status == 0) learn(r, all);
        else has_failed(r, uv_strerror(status));
    }
    uv_freeaddrinfo(all);
    free(l);
    if (r) r->changed(r->context);
}

static void on_limit(uv_timer_t *timer) {
    resolver *r = timer->data;

    r->overdue = true;
    has_failed(r, "no answer from DNS in time");
    r->changed(r->context);
}

static void ask(resolver *r) {
    const struct addrinfo hints = {
        .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG};
    lookup *l = calloc(1, sizeof *l);
    int     rc = l ? 0 : UV_ENOMEM;

    if (rc == 0) rc = uv_getaddrinfo(r->uv, &l->request, on_answer, r->host, NULL, &hints);
    if (rc != 0) {
        free(l);
        has_failed(r, uv_strerror(rc));
        return;
    }
    l->owner = r;
    r->asking = l;
    uv_timer_start(r->limit, on_limit, (uint64_t)r->limit_ms, 0);
}

resolve_state resolver_look(resolver *r) {
    const uint64_t now_ms = uv_now(r->uv);

    if (r->is_address) return RESOLVE_KNOWN;
    if (r->known && now_ms - r->known_at_ms > RESOLVE_STALE_MS) r->known = false;
    const bool too_soon = r->failed && now_ms - r->failed_at_ms < RESOLVE_AGAIN_MS;
    const bool due = !r->known || now_ms - r->known_at_ms > RESOLVE_FRESH_MS;
    if (due && !r->asking && !too_soon) ask(r);
    if (r->known) return RESOLVE_KNOWN;
    return r->asking && !r->overdue ? RESOLVE_ASKING : RESOLVE_FAILED;
}

const char *resolver_fault_borrow(const resolver *r) { return r->fault; }

const char *resolver_pin_borrow(const resolver *r) { return r->is_address ? NULL : r->pin; }

uint32_t resolver_pin_number(const resolver *r) { return r->pin_number; }
