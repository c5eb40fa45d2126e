/* http_resolve.h - finds the addresses of one host without blocking the loop.
 * libcurl would start a thread for each transfer and join it when the transfer is given up: with DNS dead, that blocks the
 * loop for ten seconds. A runner calls one host only, so its name is looked up here, once for all its runs, in libuv's pool.
 * Answers are used for half a minute, and longer while a lookup has no newer one. */
#ifndef DIURNAL_RUNNER_HTTP_RESOLVE_H
#define DIURNAL_RUNNER_HTTP_RESOLVE_H

#include "diurnal/base.h"

typedef struct resolver resolver;
struct uv_loop_s;

enum {
    RESOLVE_FRESH_MS = 30 * 1000,      /* an older answer is looked up again, and used meanwhile */
    RESOLVE_STALE_MS = 10 * 60 * 1000, /* an older answer is not used any more */
    RESOLVE_AGAIN_MS = 1000,           /* a name that was not found is not looked up sooner */
    RESOLVE_LIMIT_MS = 10 * 1000,      /* if no other limit is given */
};

typedef enum resolve_state {
    RESOLVE_KNOWN,
    RESOLVE_ASKING, /* changed() will be called */
    RESOLVE_FAILED,
} resolve_state;

/* changed(context) is called from a callback of the loop whenever RESOLVE_ASKING is over. A host that is an address is
 * always known. limit_ms 0: RESOLVE_LIMIT_MS. */
DN_MUST_USE int resolver_new(struct uv_loop_s *uv, const char *host, uint16_t port,
                             int64_t limit_ms, void (*changed)(void *context), void *context,
                             resolver **out_resolver);
void resolver_free(resolver *r); /* accepts NULL. A lookup under way goes on without it */

resolve_state resolver_look(resolver *r);

/* After RESOLVE_FAILED: the end of a sentence. Borrowed until the next call. */
const char *resolver_fault_borrow(const resolver *r);

/* While it is known: "host:port:address,…" as CURLOPT_RESOLVE wants it, NULL if none is needed, and
 * a number that changes with it. Borrowed until the loop polls again. */
const char *resolver_pin_borrow(const resolver *r);
uint32_t    resolver_pin_number(const resolver *r);

#endif
