/* http_client.c - see http_client.h.
 * What is easily got wrong, and is right here: libcurl is never called from its own callbacks; a
 * descriptor is no longer watched when it is closed; where completions are read, next to nothing is
 * started, or hot connections starve the others.
 *
 * Watching: libcurl wants a socket watched at the start of an answer and no longer at its end, for
 * every request. Each of these is a system call. So a socket goes on being watched when libcurl has
 * let it go, until it becomes readable while nobody wants it (the peer has closed); the next request
 * finds it watched already.
 *
 * Connections are a route's own: the check of addresses of one route must not be passed by on a connection that another one,
 * without that check, has made, and K runs of a runner have K connections. libcurl keeps connections apart by
 * CURLOPT_ADDRESS_SCOPE, so each route has a number of its own there. Of an address that is not link-local the system ignores
 * the scope; a link-local one is either forbidden or has its scope in its URL, and then that one counts. */
#include "http_client.h"

#include "http_address.h"
#include "http_received.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

enum { UNHEARD_MAX = 4 << 20 };

/* A watched descriptor. */
typedef struct watched {
    uv_poll_t      poll;
    http_client   *client;
    http_route    *route;    /* whose connection it is; NULL: the route has closed */
    http_transfer *transfer; /* that uses it now; NULL: none, or several may (HTTP/2) */
    curl_socket_t  fd;
    int            wanted;          /* by libcurl: UV_READABLE, UV_WRITABLE */
    int            watched;         /* by libuv */
    bool           connected;       /* it was wanted for reading: there is a connection */
    uint32_t       reads;           /* since a transfer on it ended */
    uint64_t       received, heard; /* before the first of these that are counted; since then */
    bool           flooded;
} watched;

struct http_client {
    CURLM            *multi;
    struct uv_loop_s *uv;
    uv_timer_t       *timer;
    uint32_t          routes;          /* the last one that closes frees the client */
    long              connections_max; /* of all routes */
    long              scope;           /* of the newest route */
    bool              inside;          /* libcurl is at work */
    watched          *reading; /* for this one; NULL: it has gone, or it is a timer's turn */
    watched         **by_fd;   /* descriptors are small numbers */
    size_t            by_fd_len;
};

struct http_route {
    http_client      *client;
    http_route_config config;
    long              scope;
    http_transfer    *idle;
    uint32_t          idle_len;
};

/* Of the loop of this thread. NULL: there is no route. */
static _Thread_local http_client *the_client;

static bool client_is_sound(const http_client *c) {
    return c == the_client && c->multi && c->timer && c->routes > 0 &&
           c->connections_max >= (long)c->routes;
}

static void free_handle(uv_handle_t *handle) { free(handle); }

/* ---- What has come to its end ---- */

static http_transfer *transfer_of(CURL *easy) {
    http_transfer *t = NULL;

    (void)curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&t);
    return t;
}

static void finish(http_client *c, http_transfer *t, CURLcode code) {
    curl_multi_remove_handle(c->multi, t->easy);
    t->started = false;
    if (c->reading) c->reading->reads = 0;
    t->route->config.done(t->route->config.context, t, code);
}

static void settle(http_client *c) {
    const CURLMsg *m;
    int            left;

    while ((m = curl_multi_info_read(c->multi, &left))) {
        if (m->msg != CURLMSG_DONE) continue;
        const CURLcode code = m->data.result;
        finish(c, transfer_of(m->easy_handle), code); /* m is gone after this */
    }
}

static void act(http_client *c, curl_socket_t fd, int events) {
    int running;

    c->inside = true;
    curl_multi_socket_action(c->multi, fd, events, &running);
    c->inside = false;
    settle(c);
}

/* ---- Descriptors ---- */

static watched *watched_of(const http_client *c, curl_socket_t fd) {
    return (size_t)fd < c->by_fd_len ? c->by_fd[fd] : NULL;
}

static bool by_fd_grow(http_client *c, size_t fd) {
    const size_t len = fd < 256 ? 512 : fd * 2;
    watched    **grown;

    if (fd < c->by_fd_len) return true;
    grown = realloc(c->by_fd, len * sizeof *grown);
    if (!grown) return false;
    memset(grown + c->by_fd_len, 0, (len - c->by_fd_len) * sizeof *grown);
    c->by_fd = grown;
    c->by_fd_len = len;
    return true;
}

static void on_ready(uv_poll_t *poll, int status, int events);

static void watch(watched *w, int events) {
    if (w->watched == events) return;
    w->watched = events;
    if (events) uv_poll_start(&w->poll, events, on_ready);
    else uv_poll_stop(&w->poll);
}

static watched *watched_new(http_client *c, curl_socket_t fd) {
    watched *w;

    if (!by_fd_grow(c, (size_t)fd)) return NULL;
    w = calloc(1, sizeof *w);
    if (!w) return NULL;
    if (uv_poll_init_socket(c->uv, &w->poll, fd) != 0) {
        free(w);
        return NULL;
    }
    w->client = c;
    w->fd = fd;
    c->by_fd[fd] = w;
    return w;
}

static void watched_free(http_client *c, watched *w) {
    if (c->reading == w) c->reading = NULL;
    c->by_fd[w->fd] = NULL;
    uv_close((uv_handle_t *)&w->poll, free_handle);
}

/* libcurl finds its end behind what has come already: and so the transfer that it is ends, and no other. That it is closed the
 * other side is told at once, though it has not room to say all it wants. */
static void break_off(int fd) {
    const struct linger at_once = {.l_onoff = 1};

    (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    (void)shutdown(fd, SHUT_RDWR);
}

/* What stands between the chunks of a body, say, libcurl reads over as long as it comes. An answer of usual length is read with
 * a few of these, and not counted. */
static void look_for_flood(watched *w) {
    enum { READS_UNCOUNTED = 16 };

    if (w->flooded || ++w->reads < READS_UNCOUNTED) return;
    const uint64_t received = received_over(w->fd);
    if (w->reads == READS_UNCOUNTED) {
        w->received = received;
        w->heard = 0;
    }
    w->flooded = received > w->received + w->heard + UNHEARD_MAX;
    if (!w->flooded) return;
    if (w->transfer) w->transfer->flooded = true;
    break_off(w->fd);
}

static void on_ready(uv_poll_t *poll, int status, int events) {
    watched *w = (watched *)poll;
    int      bits = 0;

    /* libuv tells an error of the descriptor by a negative status, and has stopped watching it.
     * libcurl is to find out by reading or writing: told of an error outright (CURL_CSELECT_ERR
     * alone), it gives the transfer up, even if all that has happened is that a kept connection was
     * closed a moment ago, which it would mend itself. */
    if (status < 0) {
        w->watched = 0;
        events = w->wanted;
    }
    if (w->wanted == 0) {
        /* Closed by the peer, or talking unasked: libcurl finds out when it wants to use it again. */
        watch(w, 0);
        return;
    }
    if (events & UV_READABLE) bits |= CURL_CSELECT_IN;
    if (events & UV_WRITABLE) bits |= CURL_CSELECT_OUT;
    http_client *c = w->client;
    c->reading = w;
    if (events & UV_READABLE) look_for_flood(w);
    act(c, w->fd, bits); /* w may be closing after this */
    c->reading = NULL;
}

void http_transfer_heard(http_transfer *t, size_t len) {
    http_client *c = t->route->client;

    t->unheard = 0;
    if (c->reading) c->reading->heard += len;
}

/* ---- What libcurl calls; none of these calls libcurl ---- */

static uint64_t received_for(const http_transfer *t) {
    curl_socket_t fd = CURL_SOCKET_BAD;

    (void)curl_easy_getinfo(t->easy, CURLINFO_ACTIVESOCKET, &fd);
    if (fd == CURL_SOCKET_BAD)
        fd = t->opened; /* of a new connection libcurl does not know it yet */
    return fd == CURL_SOCKET_BAD ? 0 : received_over(fd);
}

/* As long as something comes libcurl goes on reading, by timers of its own and not by the descriptor; it says so by this, at the
 * latest each few hundred KiB. What comes over a connection that is shared may be heard by another. */
static int on_progress(void *context, curl_off_t to_read, curl_off_t read, curl_off_t to_write,
                       curl_off_t written) {
    enum { GOES_UNCOUNTED = 16 };
    http_transfer *t = context;

    (void)to_read, (void)read, (void)to_write, (void)written;
    if (t->route->config.http2 || ++t->unheard < GOES_UNCOUNTED) return 0;
    const uint64_t received = received_for(t);
    if (t->unheard == GOES_UNCOUNTED) t->received = received;
    t->flooded = received > t->received + UNHEARD_MAX;
    return t->flooded; /* 1: it is given up */
}

/* libcurl 7.88 to 8.2 closes a socket that was never connected without on_close (curl issue 11439), so the watch of such a
 * socket ends here: its number is given again. A socket that is open after all is watched anew when libcurl wants it. */
static void let_go(http_client *c, watched *w) {
    w->wanted = 0;
    w->transfer = NULL;
    if (!w->connected) watched_free(c, w);
    else if (w->watched & UV_WRITABLE) watch(w, 0); /* it is always writable */
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *context, void *socket_context) {
    http_client *c = context;
    watched     *w = watched_of(c, fd);

    (void)socket_context;
    if (what == CURL_POLL_REMOVE) {
        if (w) let_go(c, w);
        return 0;
    }
    http_transfer *t = transfer_of(easy);
    if (!w) w = watched_new(c, fd);
    if (!w) {
        /* To answer -1 would end all transfers there are. This one gets no events: its limits end it. */
        t->socket_errno = ENOMEM;
        return 0;
    }
    w->route = t->route;
    w->transfer = t->route->config.http2 ? NULL : t;
    w->connected = w->connected || what & CURL_POLL_IN;
    w->wanted = (what & CURL_POLL_IN ? UV_READABLE : 0) | (what & CURL_POLL_OUT ? UV_WRITABLE : 0);
    watch(w, w->wanted);
    return 0;
}

static void on_timer(uv_timer_t *timer) { act(timer->data, CURL_SOCKET_TIMEOUT, 0); }

static int on_timeout(CURLM *multi, long ms, void *context) {
    http_client *c = context;

    (void)multi;
    if (ms < 0) uv_timer_stop(c->timer);
    else uv_timer_start(c->timer, on_timer, (uint64_t)ms, 0); /* 0: at the next turn, not now */
    return 0;
}

static curl_socket_t on_open(void *context, curlsocktype purpose, struct curl_sockaddr *to) {
    http_transfer *t = context;
    int            fd;

    (void)purpose;
    if (t->forbidden) return CURL_SOCKET_BAD;
    fd = socket(to->family, to->socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, to->protocol);
    t->opened = fd;
    if (fd >= 0) return fd;
    t->socket_errno = errno;
    return CURL_SOCKET_BAD;
}

static curl_socket_t on_open_guarded(void *context, curlsocktype purpose,
                                     struct curl_sockaddr *to) {
    http_transfer *t = context;

    t->forbidden = address_is_forbidden(&to->addr);
    if (t->forbidden) address_write(&to->addr, t->address);
    return on_open(context, purpose, to);
}

static int on_close(void *context, curl_socket_t fd) {
    http_client *c = context;
    watched     *w = watched_of(c, fd);

    if (w) watched_free(c, w); /* libuv aborts on a closed descriptor that it watches */
    close(fd);
    return 0;
}

/* ---- Transfers ---- */

static bool easy_prepare(http_route *r, http_transfer *t) {
    CURL *e = t->easy;
    bool  ok = true;

    ok &= curl_easy_setopt(e, CURLOPT_PRIVATE, t) == CURLE_OK;
    ok &= curl_easy_setopt(e, CURLOPT_ERRORBUFFER, t->error) == CURLE_OK;
    ok &= curl_easy_setopt(e, CURLOPT_OPENSOCKETFUNCTION,
                           r->config.allow_private ? on_open : on_open_guarded) == CURLE_OK;
    ok &= curl_easy_setopt(e, CURLOPT_OPENSOCKETDATA, t) == CURLE_OK;
    ok &= curl_easy_setopt(e, CURLOPT_NOPROGRESS, 0L) == CURLE_OK;
    ok &= curl_easy_setopt(e, CURLOPT_XFERINFOFUNCTION, on_progress) == CURLE_OK;
    ok &= curl_easy_setopt(e, CURLOPT_XFERINFODATA, t) == CURLE_OK;
    ok &= curl_easy_setopt(e, CURLOPT_CLOSESOCKETFUNCTION, on_close) == CURLE_OK;
    ok &= curl_easy_setopt(e, CURLOPT_CLOSESOCKETDATA, r->client) == CURLE_OK;
    if (!r->config.is_scoped)
        ok &= curl_easy_setopt(e, CURLOPT_ADDRESS_SCOPE, r->scope) == CURLE_OK;
    return ok && r->config.prepare(r->config.context, t);
}

static void transfer_free(http_transfer *t) {
    curl_easy_cleanup(t->easy);
    curl_slist_free_all(t->pin);
    free(t);
}

static http_transfer *transfer_new(http_route *r) {
    http_transfer *t = calloc(1, sizeof *t);

    if (!t) return NULL;
    t->route = r;
    t->easy = curl_easy_init();
    if (t->easy && easy_prepare(r, t)) return t;
    transfer_free(t);
    return NULL;
}

http_transfer *http_transfer_take(http_route *r) {
    http_transfer *t = r->idle;

    if (t) {
        r->idle = t->next;
        r->idle_len--;
    } else {
        t = transfer_new(r);
        if (!t) return NULL;
    }
    t->error[0] = '\0';
    t->socket_errno = 0;
    t->forbidden = false;
    t->flooded = false;
    t->opened = CURL_SOCKET_BAD;
    t->unheard = 0;
    return t;
}

void http_transfer_give(http_transfer *t) {
    http_route *r = t->route;

    assert(!t->started);
    t->owner = NULL;
    if (r->idle_len >= r->config.connections_max) {
        transfer_free(t);
        return;
    }
    t->next = r->idle;
    r->idle = t;
    r->idle_len++;
}

int http_transfer_start(http_transfer *t) {
    http_client *c = t->route->client;

    assert(!c->inside);
    if (curl_multi_add_handle(c->multi, t->easy) != CURLM_OK) return DN_ENOMEM;
    t->started = true;
    return DN_OK;
}

void http_transfer_stop(http_transfer *t) {
    http_client *c = t->route->client;

    assert(!c->inside && "libcurl cannot let go of a transfer while it is at work");
    if (!t->started) return;
    t->started = false;
    curl_multi_remove_handle(c->multi, t->easy);
}

/* ---- Beginning and end ---- */

static void client_free(http_client *c) {
    if (c->multi) curl_multi_cleanup(c->multi); /* closes what is open, through on_close */
    if (c->timer) uv_close((uv_handle_t *)c->timer, free_handle);
    free(c->by_fd);
    free(c);
    the_client = NULL;
    curl_global_cleanup();
}

static http_client *client_new(struct uv_loop_s *uv) {
    http_client *c;

    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) return NULL;
    c = calloc(1, sizeof *c);
    if (!c) {
        curl_global_cleanup();
        return NULL;
    }
    c->uv = uv;
    c->multi = curl_multi_init();
    c->timer = c->multi ? calloc(1, sizeof *c->timer) : NULL;
    if (!c->timer) {
        client_free(c);
        return NULL;
    }
    uv_timer_init(uv, c->timer);
    c->timer->data = c;
    curl_multi_setopt(c->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl_multi_setopt(c->multi, CURLMOPT_SOCKETDATA, c);
    curl_multi_setopt(c->multi, CURLMOPT_TIMERFUNCTION, on_timeout);
    curl_multi_setopt(c->multi, CURLMOPT_TIMERDATA, c);
    return c;
}

static void add_connections(http_client *c, long more) {
    c->connections_max += more;
    curl_multi_setopt(c->multi, CURLMOPT_MAXCONNECTS, c->connections_max);
}

/* libcurl cannot be asked to close what it keeps for a route, and does so when it next opens a connection. The other side is
 * told now. */
static void hang_up(const http_client *c, const http_route *r) {
    for (size_t fd = 0; fd < c->by_fd_len; fd++) {
        watched *w = c->by_fd[fd];
        if (!w || w->route != r) continue;
        w->route = NULL;
        (void)shutdown((int)fd, SHUT_RDWR);
    }
}

int http_route_open(const http_route_config *config, http_route **out_route) {
    http_route *r = calloc(1, sizeof *r);

    if (!r) return DN_ENOMEM;
    if (!the_client) the_client = client_new(config->uv);
    if (!the_client) {
        free(r);
        return DN_ENOMEM;
    }
    assert(the_client->uv == config->uv && config->connections_max > 0);
    r->client = the_client;
    r->config = *config;
    r->scope = ++the_client->scope;
    the_client->routes++;
    add_connections(the_client, (long)config->connections_max);
    assert(client_is_sound(the_client));
    *out_route = r;
    return DN_OK;
}

void http_route_close(http_route *r) {
    http_transfer *t;

    if (!r) return;
    http_client *c = r->client;
    assert(client_is_sound(c) && !c->inside);
    while ((t = r->idle)) {
        r->idle = t->next;
        transfer_free(t);
    }
    if (c->routes == 1) {
        client_free(c);
    } else {
        c->routes--;
        hang_up(c, r);
        add_connections(c, -(long)r->config.connections_max);
        assert(client_is_sound(c));
    }
    free(r);
}
