/* wire.c - see wire.h. Uses libcurl's multi interface for a single transfer, so that a wait can be ended from here. */
#include "wire.h"

#include "base/array.h"
#include "base/text.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

enum {
    CONNECT_SECONDS = 10,
    PATIENCE_SECONDS = 90,
    LOOK_MS = 1000,
    ALIVE_SECONDS = 30,
    ANSWER_MAX = 64 << 20, /* a hundred times the longest answer of a daemon */
    UPLOAD_BUFFER = 256 << 10,
};

struct wire {
    wire_config        config;
    CURL              *easy;
    CURLM             *multi;
    struct curl_slist *fields;
    char               url[2048], error[CURL_ERROR_SIZE];
    char              *bytes; /* of the answer */
    size_t             len, cap;
    const wire_body   *body;
    bool               read_failed, too_long;
    time_t             moved_at; /* the last byte sent or received */
    int                until;    /* see wire_waits_until */
};

static time_t now_s(void) {
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec;
}

/* ---- What libcurl calls ---- */

static size_t on_bytes(char *bytes, size_t one, size_t len, void *context) {
    wire *w = context;

    (void)one; /* is 1 */
    w->moved_at = now_s();
    if (w->len + len > ANSWER_MAX) {
        w->too_long = true;
        return 0;
    }
    if (DN_ARRAY_RESERVE(w->bytes, w->cap, w->len + len + 1) < 0) return 0;
    memcpy(w->bytes + w->len, bytes, len);
    w->len += len;
    w->bytes[w->len] = '\0';
    return len;
}

/* Resets the timeout, because a slow input is not a slow daemon. */
static size_t on_wanted(char *bytes, size_t one, size_t max, void *context) {
    wire         *w = context;
    const ssize_t got = w->body->read(w->body->context, bytes, one * max);

    w->moved_at = now_s();
    if (got >= 0) return (size_t)got;
    w->read_failed = true;
    return CURL_READFUNC_ABORT;
}

/* ---- Life ---- */

static bool set_up(wire *w) {
    CURL *e = w->easy;
    bool  set = true;

#define SET(option, value) set = set && curl_easy_setopt(e, CURLOPT_##option, (value)) == CURLE_OK
    SET(ERRORBUFFER, w->error);
    SET(PROTOCOLS_STR, "http,https");
    SET(PROXY, "");
    SET(PATH_AS_IS, 1L);
    SET(HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    SET(CONNECTTIMEOUT, (long)CONNECT_SECONDS);
    SET(TCP_KEEPALIVE, 1L);
    SET(TCP_KEEPIDLE, (long)ALIVE_SECONDS);
    SET(UPLOAD_BUFFERSIZE, (long)UPLOAD_BUFFER);
    SET(WRITEFUNCTION, on_bytes);
    SET(WRITEDATA, w);
    SET(READFUNCTION, on_wanted);
    SET(READDATA, w);
    SET(USERAGENT, "diurnal");
    if (w->config.token) {
        SET(HTTPAUTH, (long)CURLAUTH_BEARER);
        SET(XOAUTH2_BEARER, w->config.token);
    }
    if (w->config.ca) SET(CAINFO, w->config.ca);
    if (w->config.pin) {
        SET(PINNEDPUBLICKEY, w->config.pin);
        SET(SSL_VERIFYPEER, 0L);
        SET(SSL_VERIFYHOST, 0L);
    }
#undef SET
    return set;
}

int wire_new(const wire_config *config, wire **out_wire) {
    wire *w;

    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) return DN_ENOMEM;
    w = calloc(1, sizeof *w);
    if (w) {
        w->config = *config;
        w->until = -1;
        w->easy = curl_easy_init();
        w->multi = curl_multi_init();
    }
    if (!w || !w->easy || !w->multi || !set_up(w)) {
        wire_free(w);
        return DN_ENOMEM;
    }
    *out_wire = w;
    return DN_OK;
}

void wire_free(wire *w) {
    if (!w) return;
    curl_slist_free_all(w->fields);
    curl_easy_cleanup(w->easy);
    curl_multi_cleanup(w->multi);
    free(w->bytes);
    free(w);
}

void wire_waits_until(wire *w, int fd) { w->until = fd; }

/* ---- What goes wrong ---- */

static const char *fault_of(const wire *w, CURLcode code) {
    switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST: return "unknown host";
    case CURLE_COULDNT_CONNECT:
        return "no server listens there; start one with diurnal serve, or name another --url";
    case CURLE_OPERATION_TIMEDOUT: return "no answer within 10 s";
    case CURLE_SSL_CACERT_BADFILE:
        return "the file of --ca cannot be read, or has no certificates (PEM)";
    case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
        return "the server there is not the daemon of this data directory";
    case CURLE_PEER_FAILED_VERIFICATION:
        return "its certificate is not trusted; name its authority with --ca FILE, or the host of "
               "the certificate in --url";
    case CURLE_SSL_CONNECT_ERROR: return "the server there does not speak TLS; use http://";
    case CURLE_WRITE_ERROR:
        return w->too_long ? "the answer is too long for a diurnal daemon" : "out of memory";
    case CURLE_OUT_OF_MEMORY: return "out of memory";
    case CURLE_UNSUPPORTED_PROTOCOL: /* HTTP/0.9 */
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_HTTP2:
    case CURLE_BAD_CONTENT_ENCODING: return "the server there is not a diurnal daemon";
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_PARTIAL_FILE:
    case CURLE_SSL_SHUTDOWN_FAILED: return "the daemon stopped or closed the connection";
    default: return *w->error ? w->error : curl_easy_strerror(code);
    }
}

static int failed(const wire *w, int code, const char *what, char *why) {
    (void)snprintf(why, WIRE_WHY, "%s: %s", w->config.url, what);
    return code;
}

static int failed_by(const wire *w, CURLcode code, char *why) {
    if (code == CURLE_ABORTED_BY_CALLBACK && w->read_failed)
        return failed(w, DN_EFAILED, "cannot read the input to its end", why);
    return failed(w, code == CURLE_COULDNT_CONNECT ? DN_EDEAD : DN_EIO, fault_of(w, code), why);
}

/* ---- Asking ---- */

/* Closes the connection of a transfer that is given up. */
static int wait_for_end(wire *w, wire_patience patience, CURLcode *out_code, char *why) {
    struct curl_waitfd until = {.fd = w->until, .events = CURL_WAIT_POLLIN};
    int                running = 1, left;

    for (;;) {
        if (curl_multi_perform(w->multi, &running) != CURLM_OK)
            return failed(w, DN_EIO, "out of memory", why);
        if (running == 0) break;
        if (patience == WIRE_AS_USUAL && now_s() - w->moved_at > PATIENCE_SECONDS)
            return failed(w, DN_EIO, "the daemon does not answer", why);
        until.revents = 0;
        (void)curl_multi_poll(w->multi, &until, w->until >= 0, LOOK_MS, NULL);
        if (w->until >= 0 && until.revents)
            return dn_refuse(DN_ESHUTDOWN, why, WIRE_WHY, "interrupted");
    }
    const CURLMsg *m = curl_multi_info_read(w->multi, &left);
    *out_code = m ? m->data.result : CURLE_FAILED_INIT;
    return DN_OK;
}

static bool add_field(wire *w, const char *field) {
    struct curl_slist *more = curl_slist_append(w->fields, field);

    if (more) w->fields = more;
    return more != NULL;
}

/* Waiting for "100 Continue" would cost a second with a server that never sends it. */
static bool set_fields(wire *w, const wire_body *body) {
    char type[128];

    curl_slist_free_all(w->fields);
    w->fields = NULL;
    if (!add_field(w, "Expect:") || !add_field(w, "Accept: application/json")) return false;
    if (!body) return true;
    (void)snprintf(type, sizeof type, "Content-Type: %s", body->type);
    if (!add_field(w, type)) return false;
    /* No length is sent for a file, because the file may grow or shrink while it is read. */
    return body->bytes || add_field(w, "Transfer-Encoding: chunked");
}

static bool set_request(wire *w, const char *method, const wire_body *body) {
    const bool is_get = strcmp(method, "GET") == 0;
    bool       set = set_fields(w, body);
    CURL      *e = w->easy;

#define SET(option, value) set = set && curl_easy_setopt(e, CURLOPT_##option, (value)) == CURLE_OK
    SET(HTTPGET, 1L); /* whatever the last one was */
    if (body) SET(POST, 1L);
    if (body && body->bytes) {
        SET(POSTFIELDS, body->bytes);
        SET(POSTFIELDSIZE_LARGE, (curl_off_t)body->len);
    } else if (body) {
        SET(POSTFIELDS, NULL);
        SET(POSTFIELDSIZE_LARGE, (curl_off_t)-1);
    } else if (strcmp(method, "POST") == 0) {
        SET(POST, 1L);
        SET(POSTFIELDS, "");
        SET(POSTFIELDSIZE_LARGE, (curl_off_t)0);
    }
    SET(CUSTOMREQUEST, is_get ? NULL : method);
    SET(HTTPHEADER, w->fields);
    SET(URL, w->url);
#undef SET
    return set;
}

int wire_ask(wire *w, const char *method, const char *path, const wire_body *body,
             wire_patience patience, wire_answer *out, char *why) {
    CURLcode code = CURLE_OK;
    long     status = 0;

    if (snprintf(w->url, sizeof w->url, "%s%s", w->config.url, path) >= (int)sizeof w->url)
        return failed(w, DN_EINVAL, "the request is too long", why);
    w->len = 0;
    w->error[0] = '\0';
    w->body = body;
    w->read_failed = w->too_long = false;
    w->moved_at = now_s();
    if (!set_request(w, method, body) || curl_multi_add_handle(w->multi, w->easy) != CURLM_OK)
        return failed(w, DN_ENOMEM, "out of memory", why);
    const int rc = wait_for_end(w, patience, &code, why);
    (void)curl_easy_getinfo(w->easy, CURLINFO_RESPONSE_CODE, &status);
    (void)curl_multi_remove_handle(w->multi, w->easy);
    if (rc < 0) return rc;
    if (code != CURLE_OK) return failed_by(w, code, why);
    *out = (wire_answer){.status = (int)status, .bytes = w->len ? w->bytes : "", .len = w->len};
    return DN_OK;
}

/* ---- URLs ---- */

static bool has(CURLU *u, CURLUPart part) {
    char      *text = NULL;
    const bool there = curl_url_get(u, part, &text, 0) == CURLUE_OK;

    curl_free(text);
    return there;
}

const char *wire_url_fault(const char *url) {
    CURLU      *u = curl_url();
    const char *fault = NULL;

    if (!u) return "out of memory";
    if ((strncasecmp(url, "http://", 7) != 0 && strncasecmp(url, "https://", 8) != 0) ||
        curl_url_set(u, CURLUPART_URL, url, 0) != CURLUE_OK)
        fault =
            "is not a URL; use for example http://127.0.0.1:1440 or https://diurnal.example.com";
    else if (has(u, CURLUPART_USER) || has(u, CURLUPART_PASSWORD))
        fault = "contains a user; put the token into DIURNAL_TOKEN or a file for --token-file";
    else if (has(u, CURLUPART_QUERY) || has(u, CURLUPART_FRAGMENT))
        fault = "contains ? or #; give only the address of the daemon";
    curl_url_cleanup(u);
    return fault;
}

static bool part_same(CURLU *a, CURLU *b, CURLUPart part) {
    char      *of_a = NULL, *of_b = NULL;
    const bool same = curl_url_get(a, part, &of_a, CURLU_DEFAULT_PORT) == CURLUE_OK &&
                      curl_url_get(b, part, &of_b, CURLU_DEFAULT_PORT) == CURLUE_OK &&
                      strcasecmp(of_a, of_b) == 0;

    curl_free(of_a);
    curl_free(of_b);
    return same;
}

bool wire_url_same(const char *a, const char *b) {
    CURLU     *of_a = curl_url(), *of_b = curl_url();
    const bool same = of_a && of_b && curl_url_set(of_a, CURLUPART_URL, a, 0) == CURLUE_OK &&
                      curl_url_set(of_b, CURLUPART_URL, b, 0) == CURLUE_OK &&
                      part_same(of_a, of_b, CURLUPART_SCHEME) &&
                      part_same(of_a, of_b, CURLUPART_HOST) &&
                      part_same(of_a, of_b, CURLUPART_PORT);

    curl_url_cleanup(of_a);
    curl_url_cleanup(of_b);
    return same;
}
