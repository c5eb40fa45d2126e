/* connections.h - the places for connections: opening, finding and closing them.
 * There are as many places as the configuration allows. When all are taken, a new connection gets the place of one that
 * is waiting (http/eviction.h), or is closed at once. */
#ifndef DIURNAL_API_CONNECTIONS_H
#define DIURNAL_API_CONNECTIONS_H

#include "exchange.h"
#include "http/http_conn.h"
#include "web.h"

#include <sys/socket.h>

typedef struct connection {
    http_conn http;
    uint64_t  source;   /* of eviction_source */
    exchange  exchange; /* of the request under way */
} connection;

typedef struct connections {
    connection *at[DN_WEB_CONNS_MOST]; /* made when they are first needed */
    uint32_t    used;                  /* so many of the first have been */
    uint32_t    max;
} connections;

/* Closes all, and frees their places. */
void connections_done(connections *all, const api_world *w);
bool connections_is_sound(const connections *all);

/* Takes fd, an accepted socket, and waits for its first bytes: messages of ready_kind carry the tag for
 * connections_find. It is closed again where there is no place or no memory for it. tls: NULL for none. */
void connections_open(dn_self *self, connections *all, const api_world *w, int fd,
                      const struct sockaddr_storage *address, dn_web_tls *tls, uint32_t ready_kind);

/* The open connection of that tag, or NULL: it was closed meanwhile. */
connection *connections_find(const connections *all, uint64_t tag);

void connection_close(connection *c, const api_world *w);
/* Its time in that state begins now. */
void connection_enter(dn_self *self, connection *c, http_conn_state state);
/* Waits for bytes to read. Returns false: there is nothing more to do for now. */
bool connection_wait_to_read(connection *c);

#define EACH_CONNECTION(all, c)                                                                    \
    uint32_t i_ = 0;                                                                               \
    i_ < (all)->used;                                                                              \
    i_++)                                                                                          \
        for (connection *c = (all)->at[i_], *once_ = c; once_; once_ = NULL

#endif
