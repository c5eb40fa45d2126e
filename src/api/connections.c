/* connections.c - see connections.h. */
#include "connections.h"

#include "http/eviction.h"

#include <assert.h>
#include <stdlib.h>
#include <unistd.h>

enum { STALLED_MS = 1000 /* without a byte taken: a writing connection may be evicted */ };

void connections_done(connections *all, const api_world *w) {
    for (uint32_t i = 0; i < all->used; i++) {
        if (all->at[i]->http.state != HTTP_CONN_FREE) connection_close(all->at[i], w);
        free(all->at[i]);
    }
    all->used = 0;
}

bool connections_is_sound(const connections *all) {
    if (all->used > all->max || all->max > DN_WEB_CONNS_MOST) return false;
    for (uint32_t i = 0; i < all->used; i++)
        if (!all->at[i] || (all->at[i]->http.state == HTTP_CONN_FREE) != !all->at[i]->http.watch)
            return false;
    return true;
}

void connection_close(connection *c, const api_world *w) {
    http_conn_close(&c->http);
    exchange_done(w, &c->exchange);
}

void connection_enter(dn_self *self, connection *c, http_conn_state state) {
    c->http.state = state;
    c->http.since_ns = dn_mono_ns(self);
}

bool connection_wait_to_read(connection *c) {
    http_conn_wait(&c->http, /* to_read= */ true, /* to_write= */ false);
    return false;
}

/* ---- Tags ---- */

/* A place is used again and again: `use` tells its connections apart. */
static uint64_t tag_of(uint32_t index, const connection *c) {
    return (uint64_t)c->http.use << 32 | index;
}

connection *connections_find(const connections *all, uint64_t tag) {
    const uint32_t index = (uint32_t)tag;

    if (index >= all->used) return NULL;
    connection *c = all->at[index];
    return c->http.state != HTTP_CONN_FREE && c->http.use == (uint32_t)(tag >> 32) ? c : NULL;
}

/* ---- Places ---- */

static bool is_evictable(const http_conn *c, int64_t now_ns) {
    return c->state == HTTP_CONN_IDLE || c->state == HTTP_CONN_READING ||
           c->state == HTTP_CONN_BODY || c->state == HTTP_CONN_LINGERING ||
           (c->state == HTTP_CONN_WRITING && now_ns - c->since_ns >= STALLED_MS * INT64_C(1000000));
}

/* Its token was checked, and its body is on the way. */
static bool is_authenticated(const connection *c) {
    return c->http.state == HTTP_CONN_BODY && c->exchange.who.scope > DN_SCOPE_NONE;
}

/* -1: all are being served. */
static int32_t evict_one(const connections *all, const api_world *w, int64_t now_ns) {
    eviction_candidate candidates[DN_WEB_CONNS_MOST];

    static_assert((int)DN_WEB_CONNS_MOST <= (int)EVICTION_MAX, "all of them are candidates");
    for (uint32_t i = 0; i < all->used; i++)
        candidates[i] = (eviction_candidate){.source = all->at[i]->source,
                                             .since_ns = all->at[i]->http.since_ns,
                                             .evictable = is_evictable(&all->at[i]->http, now_ns),
                                             .authenticated = is_authenticated(all->at[i])};
    const int32_t index = eviction_choose(candidates, all->used, w->tag_key.k0);
    if (index >= 0) connection_close(all->at[index], w);
    return index;
}

/* -1: there is none, or no memory for it. */
static int32_t free_place(connections *all, const api_world *w, int64_t now_ns) {
    for (uint32_t i = 0; i < all->used; i++)
        if (all->at[i]->http.state == HTTP_CONN_FREE) return (int32_t)i;
    if (all->used == all->max) return evict_one(all, w, now_ns);
    all->at[all->used] = calloc(1, sizeof *all->at[0]);
    return all->at[all->used] ? (int32_t)all->used++ : -1;
}

void connections_open(dn_self *self, connections *all, const api_world *w, int fd,
                      const struct sockaddr_storage *address, dn_web_tls *tls,
                      uint32_t ready_kind) {
    const int32_t place = free_place(all, w, dn_mono_ns(self));
    connection   *c = place < 0 ? NULL : all->at[place];

    if (!c || fd_watch_new(self, fd, ready_kind, tag_of((uint32_t)place, c), &c->http.watch) < 0) {
        (void)close(fd);
        return;
    }
    if (tls && !(c->http.tls = tls_conn_new(tls, fd))) {
        connection_close(c, w);
        return;
    }
    c->source = eviction_source(address);
    connection_enter(self, c, HTTP_CONN_IDLE);
    (void)connection_wait_to_read(c);
    assert(connections_is_sound(all));
}
