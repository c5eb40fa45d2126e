/* http_client.c - see http_loop.h.
 * What is easily got wrong, and is right here: libcurl is never called from its own callbacks; a
 * descriptor is no longer watched when it is closed; where completions are read, next to nothing is
 * started, or hot connections starve the others.
 *
 * Watching: libcurl wants a socket watched at the start of an answer and no longer at its end, for
 * every request. Each of these is a system call. So a socket goes on being watched when libcurl has
 * let it go, until it becomes readable while nobody wants it (the peer has closed); the next request
 * finds it watched already. */
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
    uv_poll_t     poll;
    http_loop    *loop;
    curl_socket_t fd;
    int           wanted;          /* by libcurl: UV_READABLE, UV_WRITABLE */
    int           watched;         /* by libuv */
    bool          connected;       /* it was wanted for reading: there is a connection */
    uint32_t      reads;           /* since a transfer on it ended */
    uint64_t      received, heard; /* before the first of these that are counted; since then */
    bool          flooded;
} watched;

struct http_loop {
    CURLM           *multi;
    uv_timer_t      *timer;
    http_loop_config config;
    http_transfer   *idle;
    uint32_t         idle_len;
    bool             inside;     /* libcurl is at work */
    watched         *reading;    /* for this one; NULL: it has gone, or it is a timer's turn */
    uint32_t         broken_off; /* for a flood: so many, of which none has ended yet */
    watched        **by_fd;      /* descriptors are small numbers */
    size_t           by_fd_len;
};

static void free_handle(uv_handle_t *handle) { free(handle); }

/* ---- What has come to its end ---- */

static http_transfer *transfer_of(CURL *easy) {
    http_transfer *t = NULL;

    (void)curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&t);
    return t;
}

static void finish(http_loop *l, http_transfer *t, CURLcode code) {
    curl_multi_remove_handle(l->multi, t->easy);
    t->started = false;
    /* One ends by it soon: whether in that go or the next. If it should be another that ends so, its words are wrong. */
    if (l->broken_off > 0 && code != CURLE_OK && code != CURLE_OPERATION_TIMEDOUT) {
        l->broken_off--;
        t->flooded = true;
    }
    if (l->reading) l->reading->reads = 0;
    l->config.done(l->config.context, t, code);
}

static void settle(http_loop *l) {
    const CURLMsg *m;
    int            left;

    while ((m = curl_multi_info_read(l->multi, &left))) {
        if (m->msg != CURLMSG_DONE) continue;
        const CURLcode code = m->data.result;
        finish(l, transfer_of(m->easy_handle), code); /* m is gone after this */
    }
}

static void act(http_loop *l, curl_socket_t fd, int events) {
    int running;

    l->inside = true;
    curl_multi_socket_action(l->multi, fd, events, &running);
    l->inside = false;
    settle(l);
}

/* ---- Descriptors ---- */

static watched *watched_of(const http_loop *l, curl_socket_t fd) {
    return (size_t)fd < l->by_fd_len ? l->by_fd[fd] : NULL;
}

static bool by_fd_grow(http_loop *l, size_t fd) {
    const size_t len = fd < 256 ? 512 : fd * 2;
    watched    **grown;

    if (fd < l->by_fd_len) return true;
    grown = realloc(l->by_fd, len * sizeof *grown);
    if (!grown) return false;
    memset(grown + l->by_fd_len, 0, (len - l->by_fd_len) * sizeof *grown);
    l->by_fd = grown;
    l->by_fd_len = len;
    return true;
}

static void on_ready(uv_poll_t *poll, int status, int events);

static void watch(watched *w, int events) {
    if (w->watched == events) return;
    w->watched = events;
    if (events) uv_poll_start(&w->poll, events, on_ready);
    else uv_poll_stop(&w->poll);
}

static watched *watched_new(http_loop *l, curl_socket_t fd) {
    watched *w;

    if (!by_fd_grow(l, (size_t)fd)) return NULL;
    w = calloc(1, sizeof *w);
    if (!w) return NULL;
    if (uv_poll_init_socket(l->config.uv, &w->poll, fd) != 0) {
        free(w);
        return NULL;
    }
    w->loop = l;
    w->fd = fd;
    l->by_fd[fd] = w;
    return w;
}

static void watched_free(http_loop *l, watched *w) {
    if (l->reading == w) l->reading = NULL;
    l->by_fd[w->fd] = NULL;
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
    w->loop->broken_off++;
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
    http_loop *l = w->loop;
    l->reading = w;
    if (events & UV_READABLE) look_for_flood(w);
    act(l, w->fd, bits); /* w may be closing after this */
    l->reading = NULL;
}

void http_loop_heard(http_loop *l, http_transfer *t, size_t len) {
    t->unheard = 0;
    if (l->reading) l->reading->heard += len;
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
    if (t->loop->config.http2 || ++t->unheard < GOES_UNCOUNTED) return 0;
    const uint64_t received = received_for(t);
    if (t->unheard == GOES_UNCOUNTED) t->received = received;
    t->flooded = received > t->received + UNHEARD_MAX;
    return t->flooded; /* 1: it is given up */
}

/* libcurl 7.88 to 8.2 closes a socket that was never connected without on_close (curl issue 11439), so the watch of such a
 * socket ends here: its number is given again. A socket that is open after all is watched anew when libcurl wants it. */
static void let_go(http_loop *l, watched *w) {
    w->wanted = 0;
    if (!w->connected) watched_free(l, w);
    else if (w->watched & UV_WRITABLE) watch(w, 0); /* it is always writable */
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *context, void *socket_context) {
    http_loop *l = context;
    watched   *w = watched_of(l, fd);

    (void)socket_context;
    if (what == CURL_POLL_REMOVE) {
        if (w) let_go(l, w);
        return 0;
    }
    if (!w) w = watched_new(l, fd);
    if (!w) {
        /* To answer -1 would end all transfers there are. This one gets no events: its limits end it. */
        http_transfer *t = transfer_of(easy);
        t->socket_errno = ENOMEM;
        return 0;
    }
    w->connected = w->connected || what & CURL_POLL_IN;
    w->wanted = (what & CURL_POLL_IN ? UV_READABLE : 0) | (what & CURL_POLL_OUT ? UV_WRITABLE : 0);
    watch(w, w->wanted);
    return 0;
}

static void on_timer(uv_timer_t *timer) { act(timer->data, CURL_SOCKET_TIMEOUT, 0); }

static int on_timeout(CURLM *multi, long ms, void *context) {
    http_loop *l = context;

    (void)multi;
    if (ms < 0) uv_timer_stop(l->timer);
    else uv_timer_start(l->timer, on_timer, (uint64_t)ms, 0); /* 0: at the next turn, not now */
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
    http_loop *l = context;
    watched   *w = watched_of(l, fd);

    if (w) watched_free(l, w); /* libuv aborts on a closed descriptor that it watches */
    close(fd);
    return 0;
}

/* ---- Transfers ---- */

static bool easy_prepare(http_loop *l, http_transfer *t) {
    CURL *e = t->easy;
    bool  ok = true;

    ok &= curl_easy_setopt(e, CURLOPT_PRIVATE, t) == CURLE_OK;
    ok &= curl_easy_setopt(e, CURLOPT_ERRORBUFFER, t->error) == CURLE_OK;
    ok &= curl_easy_setopt(e, CURLOPT_OPENSOCKETFUNCTION,
                           l->config.allow_private ? on_open : on_open_guarded) == CURLE_OK;
    ok &= curl_easy_setopt(e, CURLOPT_OPENSOCKETDATA, t) == CURLE_OK;
    ok &= curl_easy_setopt(e, CURLOPT_NOPROGRESS, 0L) == CURLE_OK;
    ok &= curl_easy_setopt(e, CURLOPT_XFERINFOFUNCTION, on_progress) == CURLE_OK;
    ok &= curl_easy_setopt(e, CURLOPT_XFERINFODATA, t) == CURLE_OK;
    ok &= curl_easy_setopt(e, CURLOPT_CLOSESOCKETFUNCTION, on_close) == CURLE_OK;
    ok &= curl_easy_setopt(e, CURLOPT_CLOSESOCKETDATA, l) == CURLE_OK;
    return ok && l->config.prepare(l->config.context, t);
}

static void transfer_free(http_transfer *t) {
    curl_easy_cleanup(t->easy);
    curl_slist_free_all(t->pin);
    free(t);
}

http_transfer *http_loop_take(http_loop *l) {
    http_transfer *t = l->idle;

    if (t) {
        l->idle = t->next;
        l->idle_len--;
    } else {
        t = calloc(1, sizeof *t);
        if (!t) return NULL;
        t->loop = l;
        t->easy = curl_easy_init();
        if (!t->easy || !easy_prepare(l, t)) {
            transfer_free(t);
            return NULL;
        }
    }
    t->error[0] = '\0';
    t->socket_errno = 0;
    t->forbidden = false;
    t->flooded = false;
    t->opened = CURL_SOCKET_BAD;
    t->unheard = 0;
    return t;
}

void http_loop_give(http_loop *l, http_transfer *t) {
    assert(!t->started);
    t->owner = NULL;
    if (l->idle_len >= l->config.connections_max) {
        transfer_free(t);
        return;
    }
    t->next = l->idle;
    l->idle = t;
    l->idle_len++;
}

int http_loop_start(http_loop *l, http_transfer *t) {
    assert(!l->inside);
    if (curl_multi_add_handle(l->multi, t->easy) != CURLM_OK) return DN_ENOMEM;
    t->started = true;
    return DN_OK;
}

void http_loop_stop(http_loop *l, http_transfer *t) {
    assert(!l->inside && "libcurl cannot let go of a transfer while it is at work");
    if (!t->started) return;
    l->broken_off = 0; /* it may have been one of those */
    t->started = false;
    curl_multi_remove_handle(l->multi, t->easy);
}

void http_loop_set_connections(http_loop *l, long max) {
    curl_multi_setopt(l->multi, CURLMOPT_MAX_HOST_CONNECTIONS, max);
}

/* ---- Beginning and end ---- */

int http_loop_new(const http_loop_config *config, http_loop **out_loop) {
    http_loop *l = calloc(1, sizeof *l);

    if (!l) return DN_ENOMEM;
    l->config = *config;
    l->timer = calloc(1, sizeof *l->timer);
    l->multi = l->timer ? curl_multi_init() : NULL;
    if (!l->multi) {
        free(l->timer);
        free(l);
        return DN_ENOMEM;
    }
    uv_timer_init(config->uv, l->timer);
    l->timer->data = l;
    curl_multi_setopt(l->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl_multi_setopt(l->multi, CURLMOPT_SOCKETDATA, l);
    curl_multi_setopt(l->multi, CURLMOPT_TIMERFUNCTION, on_timeout);
    curl_multi_setopt(l->multi, CURLMOPT_TIMERDATA, l);
    curl_multi_setopt(l->multi, CURLMOPT_MAXCONNECTS, (long)config->connections_max);
    *out_loop = l;
    return DN_OK;
}

void http_loop_free(http_loop *l) {
    http_transfer *t;

    if (!l) return;
    assert(!l->inside);
    while ((t = l->idle)) {
        l->idle = t->next;
        transfer_free(t);
    }
    curl_multi_cleanup(l->multi); /* closes what is open, through on_close */
    uv_close((uv_handle_t *)l->timer, free_handle);
    free(l->by_fd);
    free(l);
}
