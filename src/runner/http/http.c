/* http.c - a run is one POST.
 * http_resolve.c finds the address, http_client.c has the connections; this file puts a request together, keeps its answer,
 * and explains what went wrong in one line. A run whose actor crashes loses its connection.
 *
 * What an endpoint may do, and what comes of it:
 * - A body of more than 1 MiB: the connection is closed there, and the status that came before it counts. An endpoint
 *   that answered 200 has done the work, however long its answer is.
 * - An end before the end it promised (a short body, a broken chunk): an error, even after a 200, because the server may have
 *   died during the work. The next attempt has the same key.
 * - Headers of more than 64 KiB, or informational answers (1xx) of that size: an error.
 * - Extensions of chunks, or anything else that is neither header nor body, without end: an error.
 * - Nothing, or nearly nothing: idle_ms ends it, and so does the limit of the run, which its caller watches too. */
#include "base/text.h"
#include "http_client.h"
#include "http_headers.h"
#include "http_resolve.h"
#include "http_sign.h"
#include "http_url.h"
#include "scheme.h"
#include "traceparent.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

enum {
    HEADERS_BYTES_MAX = 64 * 1024,
    HEADERS_MAX = 5, /* of one request besides http.always */
    HEADER_TEXTS_MAX = 4 * DN_RUN_KEY_MAX + SIGN_TEXT_MAX + 256, /* with their ends; see compose */
    BODY_SIZE_MIN = 1024,
    SOME_DAYS_MS = 7 * 24 * 3600 * 1000, /* a limit where another one holds */
    CONNECTION_LIFE_S = 300,             /* then a new one: DNS may have moved the endpoint */
};

typedef enum place { PLACE_NONE, PLACE_WAITS, PLACE_MOVES } place;

typedef struct http_run {
    dn_run run;
    TAILQ_ENTRY(http_run) line;
    place          where;
    http_transfer *transfer; /* PLACE_MOVES */
    int64_t        timeout_ms;
    uint64_t       touched_ms;  /* when its last byte came */
    uint64_t       launched_ns; /* by uv_hrtime */

    size_t header_bytes;
    bool   headers_flood, cut_short;
    bool   again; /* it has been sent a second time */
    char  *received;
    size_t received_len, received_size;

    int64_t           now_ms; /* wall clock at begun_ms of the loop's */
    uint64_t          begun_ms;
    size_t            headers_len, texts_len;
    struct curl_slist headers[HEADERS_MAX]; /* linked here, and not by libcurl: no allocation */
    char              texts[HEADER_TEXTS_MAX];
} http_run;
typedef TAILQ_HEAD(http_line, http_run) http_line;

typedef struct http {
    char             *url, *ca_file;
    bool              http2;
    int64_t           connect_ms, idle_ms;
    struct curl_slist always[2]; /* headers of every request */
    signer           *sign;      /* NULL: nothing is signed */
    resolver         *where;
    http_route       *route;
    http_line         waiting; /* for an address */
    http_line         moving;  /* has a transfer; the one that was silent longest is first */
    uv_timer_t       *idle;    /* NULL: silence is allowed */
} http;

static int  http_check(const dn_runner_config *config, char *why);
static int  http_open(dn_runner *runner, const dn_runner_config *config);
static void http_close(dn_runner *runner);
static void http_begin(dn_run *run, dn_self *self, const dn_run_request *request);
static void http_cut(dn_run *run, dn_self *self);
static void http_drop(dn_run *run);
static void launch(http_run *r);

const scheme http_scheme = {
    .run_size = sizeof(http_run),
    .traces = true,
    .check = http_check,
    .open = http_open,
    .close = http_close,
    .begin = http_begin,
    .cut = http_cut,
    .drop = http_drop,
};

/* ---- Where a run stands ---- */

static http *http_of(const http_run *r) { return r->run.runner->state; }

/* In no line, with no transfer. */
static void let_go(http_run *r) {
    http *h = http_of(r);

    if (r->where == PLACE_WAITS) TAILQ_REMOVE(&h->waiting, r, line);
    if (r->where == PLACE_MOVES) TAILQ_REMOVE(&h->moving, r, line);
    r->where = PLACE_NONE;
    if (r->transfer) {
        http_transfer *t = DN_TAKE(r->transfer);
        http_transfer_stop(t);
        http_transfer_give(t);
    }
}

/* The run is over: let go of all it holds. */
static void leave(http_run *r) {
    let_go(r);
    free(DN_TAKE(r->received));
}

static void fail(http_run *r, uint32_t status) {
    leave(r);
    run_end(&r->run, dn_run_result_of(DN_OUTCOME_ERROR, DN_CODE_TRANSPORT, status));
}

static void http_drop(dn_run *run) { leave((http_run *)run); }

static void http_cut(dn_run *run, dn_self *self) {
    http_run *r = (http_run *)run;

    (void)self;
    leave(r);
    run_error(run, "cut off: its connection is closed");
    run_end(run, dn_run_result_of(DN_OUTCOME_TIMEOUT, DN_CODE_NONE, 0));
}

/* ---- Silence ---- */

static void touch(http_run *r) {
    http *h = http_of(r);

    if (!h->idle) return;
    r->touched_ms = uv_now(r->run.runner->uv);
    TAILQ_REMOVE(&h->moving, r, line);
    TAILQ_INSERT_TAIL(&h->moving, r, line);
}

static void on_idle(uv_timer_t *timer) {
    http          *h = timer->data;
    const uint64_t now_ms = uv_now(timer->loop);
    http_run      *r;

    while ((r = TAILQ_FIRST(&h->moving)) && now_ms - r->touched_ms >= (uint64_t)h->idle_ms) {
        run_error(&r->run, "no data for %lld ms", (long long)h->idle_ms);
        fail(r, 0);
    }
    if (r) uv_timer_start(timer, on_idle, (uint64_t)h->idle_ms - (now_ms - r->touched_ms), 0);
}

/* ---- An answer, piece by piece ---- */

static uint32_t status_of(const http_transfer *t) {
    long status = 0;

    (void)curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
    return (uint32_t)status;
}

/* False: no memory. */
static bool received_grow(http_run *r, size_t wanted) {
    size_t size = wanted < BODY_SIZE_MIN ? BODY_SIZE_MIN : 2 * wanted;

    if (wanted <= r->received_size) return true;
    if (size > DN_RUN_ANSWER_MAX) size = DN_RUN_ANSWER_MAX;
    char *grown = realloc(r->received, size);
    if (!grown) return false;
    r->received = grown;
    r->received_size = size;
    return true;
}

/* Less than len: libcurl ends the transfer and closes the connection. */
static size_t on_body(char *data, size_t one, size_t len, void *context) {
    http_transfer *t = context;
    http_run      *r = t->owner;
    size_t         kept = len;

    (void)one;
    touch(r);
    http_transfer_heard(t, len);
    if (kept > DN_RUN_ANSWER_MAX - r->received_len) kept = DN_RUN_ANSWER_MAX - r->received_len;
    if (!received_grow(r, r->received_len + kept)) kept = 0;
    if (kept > 0) memcpy(r->received + r->received_len, data, kept);
    r->received_len += kept;
    r->cut_short = kept < len;
    return r->cut_short ? 0 : len;
}

static size_t on_header(char *data, size_t one, size_t len, void *context) {
    http_transfer *t = context;
    http_run      *r = t->owner;

    (void)one;
    touch(r);
    http_transfer_heard(t, len);
    r->header_bytes += len;
    if (r->header_bytes > HEADERS_BYTES_MAX) r->headers_flood = true;
    http_header_read(&r->run.answer, data, len,
                     r->now_ms + (int64_t)(uv_now(r->run.runner->uv) - r->begun_ms));
    return r->headers_flood ? 0 : len;
}

/* ---- What it comes to ---- */

static void answer_from(http_run *r) {
    dn_run_answer *a = &r->run.answer;
    char          *type = NULL;

    (void)curl_easy_getinfo(r->transfer->easy, CURLINFO_CONTENT_TYPE, &type);
    a->json = http_type_is_json(type);
    a->truncated = r->cut_short;
    if (r->received_len == 0) return;
    a->body = dn_blob_of(r->received, r->received_len);
    if (!a->body) a->truncated = true;
}

/* A redirect is not followed. */
static dn_run_result result_of_answer(http_run *r, uint32_t status) {
    const bool ok = status >= 200 && status < 300;

    if (!ok)
        run_error(&r->run, "HTTP %u%s", status, status < 400 ? ": redirects are not followed" : "");
    else if (r->cut_short)
        run_error(&r->run, "HTTP %u, the answer cut off at %d KiB", status,
                  DN_RUN_ANSWER_MAX / 1024);
    return dn_run_result_of(ok ? DN_OUTCOME_OK : DN_OUTCOME_ERROR, DN_CODE_HTTP, status);
}

/* libcurl keeps a header line until it has all of it, up to 100 KiB, or 4 KiB behind a chunked body. What is longer it calls
 * a want of memory, by its code or only by its words; newer ones have a code for it. Before an answer has begun it is
 * memory that is wanted. */
static bool is_line_too_long(const http_transfer *t, CURLcode code) {
    enum { TOO_LARGE = 100 }; /* CURLE_TOO_LARGE, which libcurl 7.88 does not know */
    curl_off_t begun_us = 0;

    (void)curl_easy_getinfo(t->easy, CURLINFO_STARTTRANSFER_TIME_T, &begun_us);
    return begun_us > 0 && (code == CURLE_OUT_OF_MEMORY || (int)code == TOO_LARGE ||
                            strncmp(t->error, "Out of memory", 13) == 0);
}

static dn_run_result result_of_trouble(http_run *r, CURLcode code, uint32_t status) {
    const http_transfer *t = r->transfer;
    const uint64_t       took_ms = (uv_hrtime() - r->launched_ns) / 1000000;
    dn_outcome           outcome = DN_OUTCOME_ERROR;

    if (r->headers_flood) {
        run_error(&r->run, "more than %d KiB of headers", HEADERS_BYTES_MAX / 1024);
    } else if (is_line_too_long(t, code)) {
        run_error(
            &r->run,
            "a header is too long, or memory is exhausted; all headers together may have %d KiB",
            HEADERS_BYTES_MAX / 1024);
    } else if (t->flooded && code != CURLE_OPERATION_TIMEDOUT) {
        run_error(&r->run, "too much data that is neither headers nor body");
    } else if (t->forbidden) {
        run_error(&r->run,
                  "%s is a link-local or metadata address; set runner_allow_private to allow it",
                  t->address);
    } else if (t->socket_errno) {
        run_error(&r->run, "no socket: %s", strerror(t->socket_errno));
    } else if (code == CURLE_OPERATION_TIMEDOUT && r->timeout_ms > 0 &&
               took_ms + 1 >= (uint64_t)r->timeout_ms) {
        /* It is not connect_ms that has passed. libcurl counts whole milliseconds, so that one may be missing, and its own
         * total begins later than its limit. */
        run_error(&r->run, "no answer within %lld ms", (long long)r->timeout_ms);
        outcome = DN_OUTCOME_TIMEOUT;
    } else {
        run_error(&r->run, "%s", t->error[0] ? t->error : curl_easy_strerror(code));
    }
    return dn_run_result_of(outcome, outcome == DN_OUTCOME_ERROR ? DN_CODE_TRANSPORT : DN_CODE_NONE,
                            status);
}

/* A kept connection that the server closed just when it was used again is no fault of the job's.
 * libcurl sends such a request once more by itself, but counts these over the whole life of an easy
 * handle, and after five gives up (and begins to count anew): so what it gave up is begun once more
 * here. It bears the same key. */
static bool found_it_closed(const http_run *r, const http_transfer *t, CURLcode code) {
    long connects = 0;

    if (r->again || t->flooded || r->header_bytes > 0) return false;
    if (code != CURLE_RECV_ERROR && code != CURLE_SEND_ERROR && code != CURLE_GOT_NOTHING)
        return false;
    (void)curl_easy_getinfo(t->easy, CURLINFO_NUM_CONNECTS, &connects);
    return connects == 0;
}

static void on_done(void *context, http_transfer *t, CURLcode code) {
    http_run      *r = t->owner;
    const uint32_t status = status_of(t);
    dn_run_result  result;

    (void)context;
    if (found_it_closed(r, t, code)) {
        let_go(r);
        r->again = true;
        launch(r);
        return;
    }
    answer_from(r);
    if (code == CURLE_OK || (r->cut_short && !r->headers_flood))
        result = result_of_answer(r, status);
    else result = result_of_trouble(r, code, status);
    leave(r);
    run_end(&r->run, result);
}

/* ---- A request ---- */

static void add_header(http_run *r, const char *name, const char *value, size_t len) {
    char        *text = r->texts + r->texts_len;
    const size_t room = sizeof r->texts - r->texts_len;
    const int    used = snprintf(text, room, "%s: %.*s", name, (int)len, value);

    assert(r->headers_len < HEADERS_MAX && used > 0 && (size_t)used < room);
    r->texts_len += (size_t)used + 1;
    r->headers[r->headers_len].data = text;
    if (r->headers_len > 0) r->headers[r->headers_len - 1].next = &r->headers[r->headers_len];
    r->headers_len++;
}

/* The key with each '.' as %2E: a signature is over id.timestamp.body, and Standard Webhooks wants no '.' that a user can
 * place. */
static size_t webhook_id(const dn_run_request *request, char id[3 * DN_RUN_KEY_MAX + 1]) {
    char *at = id;

    for (size_t i = 0; i < request->key_len; i++) {
        if (request->key[i] == '.') at = (char *)memcpy(at, "%2E", 3) + 3;
        else *at++ = request->key[i];
    }
    *at = '\0';
    return (size_t)(at - id);
}

static int add_signature(http_run *r, signer *sign, const dn_run_request *request) {
    const int64_t unix_s = request->now_ms / 1000;
    char          id[3 * DN_RUN_KEY_MAX + 1], signature[SIGN_TEXT_MAX], time[24];
    const size_t  id_len = webhook_id(request, id);
    const int     rc = signer_sign(sign, id, unix_s, dn_blob_bytes_borrow(r->run.body),
                                   dn_blob_len(r->run.body), signature);

    if (rc < 0) return rc;
    add_header(r, "webhook-id", id, id_len);
    add_header(r, "webhook-signature", signature, strlen(signature));
    const int time_len = snprintf(time, sizeof time, "%lld", (long long)unix_s);
    add_header(r, "webhook-timestamp", time, (size_t)time_len);
    return DN_OK;
}

static int compose(http_run *r, http *h, const dn_run_request *request) {
    char trace[TRACEPARENT_TEXT];
    int  rc = DN_OK;

    assert(key_is_sound(request));
    add_header(r, "Idempotency-Key", request->key, request->key_len);
    traceparent_write(request->entropy, trace);
    add_header(r, "traceparent", trace, strlen(trace));
    if (h->sign) rc = add_signature(r, h->sign, request);
    r->headers[r->headers_len - 1].next = h->always;
    return rc;
}

static bool tell_pin(const http *h, http_transfer *t) {
    const char *pin = resolver_pin_borrow(h->where);

    if (!pin || t->pin_number == resolver_pin_number(h->where)) return true;
    struct curl_slist *fresh = curl_slist_append(NULL, pin);
    if (!fresh) return false;
    if (curl_easy_setopt(t->easy, CURLOPT_RESOLVE, fresh) != CURLE_OK) {
        curl_slist_free_all(fresh);
        return false;
    }
    curl_slist_free_all(t->pin);
    t->pin = fresh;
    t->pin_number = resolver_pin_number(h->where);
    return true;
}

static bool fill(http_run *r, http_transfer *t) {
    bool ok = true;

    ok &= curl_easy_setopt(t->easy, CURLOPT_POSTFIELDS, dn_blob_bytes_borrow(r->run.body)) ==
          CURLE_OK;
    ok &= curl_easy_setopt(t->easy, CURLOPT_POSTFIELDSIZE, (long)dn_blob_len(r->run.body)) ==
          CURLE_OK;
    ok &= curl_easy_setopt(t->easy, CURLOPT_HTTPHEADER, r->headers) == CURLE_OK;
    ok &= curl_easy_setopt(t->easy, CURLOPT_TIMEOUT_MS,
                           (long)(r->timeout_ms > 0 ? r->timeout_ms : 0)) == CURLE_OK;
    return ok && tell_pin(http_of(r), t);
}

/* The address is known. */
static void launch(http_run *r) {
    http          *h = http_of(r);
    http_transfer *t = http_transfer_take(h->route);

    if (t) t->owner = r;
    r->launched_ns = uv_hrtime();
    if (!t || !fill(r, t) || http_transfer_start(t) < 0) {
        if (t) http_transfer_give(t);
        run_error(&r->run, "out of memory");
        fail(r, 0);
        return;
    }
    r->transfer = t;
    r->where = PLACE_MOVES;
    r->touched_ms = uv_now(r->run.runner->uv);
    TAILQ_INSERT_TAIL(&h->moving, r, line);
    if (h->idle && !uv_is_active((uv_handle_t *)h->idle))
        uv_timer_start(h->idle, on_idle, (uint64_t)h->idle_ms, 0);
}

/* In no line. */
static void seek(http_run *r) {
    http *h = http_of(r);

    switch (resolver_look(h->where)) {
    case RESOLVE_KNOWN: launch(r); return;
    case RESOLVE_ASKING:
        r->where = PLACE_WAITS;
        TAILQ_INSERT_TAIL(&h->waiting, r, line);
        return;
    case RESOLVE_FAILED:
        run_error(&r->run, "the host %s", resolver_fault_borrow(h->where));
        fail(r, 0);
        return;
    }
}

static void on_resolved(void *context) {
    http     *h = context;
    http_line waited = TAILQ_HEAD_INITIALIZER(waited);
    http_run *r;

    TAILQ_CONCAT(&waited, &h->waiting, line);
    while ((r = TAILQ_FIRST(&waited))) {
        TAILQ_REMOVE(&waited, r, line);
        r->where = PLACE_NONE;
        seek(r);
    }
}

static void http_begin(dn_run *run, dn_self *self, const dn_run_request *request) {
    http_run *r = (http_run *)run;

    (void)self;
    r->timeout_ms = request->timeout_ms;
    r->now_ms = request->now_ms;
    r->begun_ms = uv_now(run->runner->uv);
    if (compose(r, run->runner->state, request) < 0) {
        run_error(run, "out of memory while signing");
        fail(r, 0);
        return;
    }
    seek(r);
}

/* ---- The runner ---- */

static int http_check(const dn_runner_config *config, char *why) {
    const char *fault = NULL;
    signer     *sign = NULL;
    url_parts   parts;
    int         rc = url_read(config->url, config->allow_private, &parts, why);

    if (rc < 0) return rc;
    if (config->ca_file && access(config->ca_file, R_OK) != 0)
        return dn_refuse(DN_EINVAL, why, DN_RUNNER_WHY, "the certificate file %.120s: %s",
                         config->ca_file, strerror(errno));
    if (config->connect_ms < 0 || config->idle_ms < 0)
        return dn_refuse(DN_EINVAL, why, DN_RUNNER_WHY,
                         "the connect and idle limits must be 0 ms or more");
    if (!config->secret) return DN_OK;
    rc = signer_new(config->secret, &sign, &fault);
    signer_free(sign);
    return rc == DN_EINVAL
               ? dn_refuse(DN_EINVAL, why, DN_RUNNER_WHY, "the runner's secret %s", fault)
               : rc;
}

static bool prepare(void *context, http_transfer *t) {
    http *h = context;
    CURL *e = t->easy;
    bool  ok = true;

    ok &= curl_easy_setopt(e, CURLOPT_URL, h->url) == CURLE_OK;
    ok &= curl_easy_setopt(e, CURLOPT_POST, 1L) == CURLE_OK;
    ok &= curl_easy_setopt(e, CURLOPT_USERAGENT, "diurnal") == CURLE_OK;
    ok &= curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, on_body) == CURLE_OK;
    ok &= curl_easy_setopt(e, CURLOPT_WRITEDATA, t) == CURLE_OK;
    ok &= curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, on_header) == CURLE_OK;
    ok &= curl_easy_setopt(e, CURLOPT_HEADERDATA, t) == CURLE_OK;
    /* Nothing of the environment, nothing an answer could talk us into. */
    ok &= curl_easy_setopt(e, CURLOPT_PROXY, "") == CURLE_OK;
    ok &= curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK;
    ok &= curl_easy_setopt(e, CURLOPT_REDIR_PROTOCOLS_STR, "http,https") == CURLE_OK;
    ok &= curl_easy_setopt(e, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK;
    ok &= curl_easy_setopt(e, CURLOPT_HTTP09_ALLOWED, 0L) == CURLE_OK;
    ok &= curl_easy_setopt(e, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2) == CURLE_OK;
    if (h->ca_file) ok &= curl_easy_setopt(e, CURLOPT_CAINFO, h->ca_file) == CURLE_OK;
    ok &= curl_easy_setopt(e, CURLOPT_HTTP_VERSION,
                           h->http2 ? (long)CURL_HTTP_VERSION_2TLS : (long)CURL_HTTP_VERSION_1_1) ==
          CURLE_OK;
    ok &= curl_easy_setopt(e, CURLOPT_PIPEWAIT, h->http2 ? 1L : 0L) == CURLE_OK;
    /* Threads and signals: none of either. Names are pinned; should one get past that, its resolver
     * thread is left alone. */
    ok &= curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L) == CURLE_OK;
    ok &= curl_easy_setopt(e, CURLOPT_QUICK_EXIT, 1L) == CURLE_OK;
    /* libcurl's own 0 would be five minutes. */
    ok &= curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS,
                           (long)(h->connect_ms > 0 ? h->connect_ms : SOME_DAYS_MS)) == CURLE_OK;
    ok &= curl_easy_setopt(e, CURLOPT_MAXLIFETIME_CONN, (long)CONNECTION_LIFE_S) == CURLE_OK;
    ok &= curl_easy_setopt(e, CURLOPT_TCP_KEEPALIVE, 1L) == CURLE_OK;
    /* Thousands at once: both are smaller than libcurl's own choice. */
    ok &= curl_easy_setopt(e, CURLOPT_BUFFERSIZE, 4096L) == CURLE_OK;
    ok &= curl_easy_setopt(e, CURLOPT_UPLOAD_BUFFERSIZE, 16384L) == CURLE_OK;
    return ok;
}

static void free_handle(uv_handle_t *handle) { free(handle); }

static void http_done(http *h) {
    http_route_close(h->route);
    resolver_free(h->where);
    if (h->idle) uv_close((uv_handle_t *)h->idle, free_handle);
    signer_free(h->sign);
    free(h->url);
    free(h->ca_file);
    free(h);
}

static void http_close(dn_runner *runner) { http_done(runner->state); }

static int idle_init(http *h, uv_loop_t *uv) {
    if (h->idle_ms == 0) return DN_OK;
    h->idle = calloc(1, sizeof *h->idle);
    if (!h->idle) return DN_ENOMEM;
    uv_timer_init(uv, h->idle);
    h->idle->data = h;
    return DN_OK;
}

static int http_open(dn_runner *runner, const dn_runner_config *config) {
    static char content_type[] = "Content-Type: application/json", expect[] = "Expect:";
    const char *fault;
    url_parts   parts;
    http       *h;
    int         rc = url_read(config->url, config->allow_private, &parts, NULL);

    if (rc < 0) return rc;
    h = calloc(1, sizeof *h);
    if (!h) return DN_ENOMEM;
    h->http2 = config->http2 && parts.tls;
    h->connect_ms = config->connect_ms;
    h->idle_ms = config->idle_ms;
    h->always[0] = (struct curl_slist){.data = content_type, .next = &h->always[1]};
    h->always[1] = (struct curl_slist){.data = expect}; /* no body here is worth asking first */
    TAILQ_INIT(&h->waiting);
    TAILQ_INIT(&h->moving);
    h->url = strdup(config->url);
    if (config->ca_file) h->ca_file = strdup(config->ca_file);
    if (!h->url || (config->ca_file && !h->ca_file)) rc = DN_ENOMEM;
    if (rc == DN_OK && config->secret) rc = signer_new(config->secret, &h->sign, &fault);
    if (rc == DN_OK) rc = idle_init(h, runner->uv);
    if (rc == DN_OK)
        rc = resolver_new(runner->uv, parts.host, parts.port, config->connect_ms, on_resolved, h,
                          &h->where);
    const http_route_config route = {
        .uv = runner->uv,
        .connections_max = config->concurrency_max > 0 ? config->concurrency_max : 1,
        .allow_private = config->allow_private,
        .http2 = h->http2,
        .is_scoped = strchr(parts.host, '%') != NULL,
        .context = h,
        .prepare = prepare,
        .done = on_done,
    };
    if (rc == DN_OK) rc = http_route_open(&route, &h->route);
    if (rc < 0) {
        http_done(h);
        return rc;
    }
    runner->state = h;
    return DN_OK;
}
