/* http_response.c - see http_response.h. */
#include "http_response.h"

#include "base/civil.h"

#include <assert.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD_ROOM = 2048 };

const char *http_reason(int status) {
    static const struct {
        int         status;
        const char *reason;
    } reasons[] = {
        {200, "OK"},
        {201, "Created"},
        {204, "No Content"},
        {304, "Not Modified"},
        {400, "Bad Request"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {408, "Request Timeout"},
        {409, "Conflict"},
        {413, "Content Too Large"},
        {414, "URI Too Long"},
        {415, "Unsupported Media Type"},
        {417, "Expectation Failed"},
        {422, "Unprocessable Content"},
        {431, "Request Header Fields Too Large"},
        {500, "Internal Server Error"},
        {503, "Service Unavailable"},
        {505, "HTTP Version Not Supported"},
        {507, "Insufficient Storage"},
    };

    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (reasons[i].status == status) return reasons[i].reason;
    return "Unknown";
}

http_response http_answer(int status, const char *type, char *body, size_t len) {
    return (http_response){.status = status, .type = type, .body = body, .body_len = len};
}

http_response http_answer_text(int status, const char *text) {
    char *copy = strdup(text);

    if (!copy) return (http_response){.status = 503};
    return http_answer(status, "text/plain; charset=utf-8", copy, strlen(copy));
}

http_response http_problem(int status, const char *detail) {
    json_t *problem = json_pack("{s:s, s:s, s:i, s:s}", "type", "about:blank", "title",
                                http_reason(status), "status", status, "detail", detail);
    char   *body = problem ? json_dumps(problem, JSON_COMPACT) : NULL;

    json_decref(problem);
    if (!body) return (http_response){.status = status};
    return http_answer(status, "application/problem+json", body, strlen(body));
}

/* As RFC 9110 wants it: Wed, 18 Nov 2026 08:00:00 GMT. */
static void date_write(int64_t now_ms, char out[40]) {
    static const char *const days[] = {"Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"};
    static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const dn_day             day = dn_day_of_ms(now_ms);
    const int64_t            s = (now_ms - dn_day_start_ms(day)) / 1000;
    char                     text[DN_DAY_TEXT];

    dn_day_write(day, text); /* YYYY-MM-DD */
    const int month = (text[5] - '0') * 10 + text[6] - '0';
    snprintf(out, 40, "%s, %.2s %s %.4s %02d:%02d:%02d GMT", days[(day % 7 + 7) % 7], text + 8,
             months[month - 1], text, (int)(s / 3600), (int)(s / 60 % 60), (int)(s % 60));
}

/* On every answer: it is what its type says, tells nobody where its reader came from, and is in no frame. */
#define GUARDS                                                                                     \
    "X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n"                          \
    "Content-Security-Policy: %s\r\n"
static const char nothing[] = "default-src 'none'; frame-ancestors 'none'";

/* At most HEAD_ROOM: all parts are our own words, and bounded. */
typedef struct head_text {
    char  *at;
    size_t len;
} head_text;

__attribute__((format(printf, 2, 3))) static void put(head_text *h, const char *format, ...) {
    va_list args;

    va_start(args, format);
    h->len += (size_t)vsnprintf(h->at + h->len, HEAD_ROOM - h->len, format, args);
    va_end(args);
    assert(h->len < HEAD_ROOM);
}

static void put_first(head_text *h, int status, int64_t now_ms) {
    char date[40];

    date_write(now_ms, date);
    put(h, "HTTP/1.1 %d %s\r\nDate: %s\r\n", status, http_reason(status), date);
}

/* Of what is not there, or there already, no length is said (RFC 9110, 8.6). */
static void put_about_body(head_text *h, const http_response *r) {
    if (r->status != 204 && r->status != 304) put(h, "Content-Length: %zu\r\n", r->body_len);
    if (r->type) put(h, "Content-Type: %s\r\n", r->type);
    if (r->gzipped) put(h, "Content-Encoding: gzip\r\n");
    if (*r->tag) put(h, "ETag: W/%s\r\n", r->tag);
    if (r->varies) put(h, "Vary: Accept-Encoding\r\n");
}

char *http_response_take(http_response *r, int64_t now_ms, bool for_head, bool ends,
                         size_t *out_len) {
    const bool has_body = r->body && !for_head;
    head_text  h = {.at = malloc(HEAD_ROOM + (has_body ? r->body_len : 0))};

    if (h.at) {
        put_first(&h, r->status, now_ms);
        put_about_body(&h, r);
        if (r->allow) put(&h, "Allow: %s\r\n", r->allow);
        put(&h, "%sCache-Control: %s\r\n" GUARDS "%s\r\n", r->fields ? r->fields : "",
            r->cache ? r->cache : "no-store", r->policy ? r->policy : nothing,
            ends ? "Connection: close\r\n" : "");
        if (has_body) memcpy(h.at + h.len, r->body, r->body_len);
        *out_len = h.len + (has_body ? r->body_len : 0);
    }
    free(DN_TAKE(r->body));
    return h.at;
}

char *http_response_stream(const char *type, int64_t now_ms, size_t *out_len) {
    head_text h = {.at = malloc(HEAD_ROOM)};

    if (!h.at) return NULL;
    put_first(&h, 200, now_ms);
    put(&h,
        "Content-Type: %s\r\nCache-Control: no-store\r\n" GUARDS
        "X-Accel-Buffering: no\r\nConnection: close\r\n\r\n",
        type, nothing);
    *out_len = h.len;
    return h.at;
}
