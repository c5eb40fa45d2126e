/* http_response.c - see http_response.h. */
#include "http_response.h"

#include "domain/civil.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD_ROOM = 512 };

const char *http_reason(int status) {
    static const struct {
        int         status;
        const char *reason;
    } reasons[] = {
        {200, "OK"},
        {201, "Created"},
        {204, "No Content"},
        {400, "Bad Request"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {408, "Request Timeout"},
        {409, "Conflict"},
        {413, "Content Too Large"},
        {414, "URI Too Long"},
        {417, "Expectation Failed"},
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

char *http_response_take(http_response *r, int64_t now_ms, bool for_head, bool ends,
                         size_t *out_len) {
    char        date[40];
    const bool  has_body = r->body && !for_head;
    char *const out = malloc(HEAD_ROOM + (has_body ? r->body_len : 0));

    if (out) {
        date_write(now_ms, date);
        int len =
            snprintf(out, HEAD_ROOM,
                     "HTTP/1.1 %d %s\r\nDate: %s\r\nContent-Length: %zu\r\n%s%s%s%s%s%s%s"
                     "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n%s\r\n",
                     r->status, http_reason(r->status), date, r->body_len,
                     r->type ? "Content-Type: " : "", r->type ? r->type : "", r->type ? "\r\n" : "",
                     r->allow ? "Allow: " : "", r->allow ? r->allow : "", r->allow ? "\r\n" : "",
                     r->fields ? r->fields : "", ends ? "Connection: close\r\n" : "");
        if (has_body) memcpy(out + len, r->body, r->body_len);
        *out_len = (size_t)len + (has_body ? r->body_len : 0);
    }
    free(DN_TAKE(r->body));
    return out;
}

char *http_response_stream(const char *type, int64_t now_ms, size_t *out_len) {
    char        date[40];
    char *const out = malloc(HEAD_ROOM);

    if (!out) return NULL;
    date_write(now_ms, date);
    *out_len = (size_t)snprintf(out, HEAD_ROOM,
                                "HTTP/1.1 200 OK\r\nDate: %s\r\nContent-Type: %s\r\n"
                                "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
                                "X-Accel-Buffering: no\r\nConnection: close\r\n\r\n",
                                date, type);
    return out;
}
