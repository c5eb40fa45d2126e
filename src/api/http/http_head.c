/* http_head.c - from bytes to a head. */
#include "http_head.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

static int refuse(http_fault *out, int status, const char *detail) {
    *out = (http_fault){status, detail};
    return DN_EINVAL;
}

/* ---- Words ---- */

bool http_text_is(http_text text, const char *words) {
    return text.len == strlen(words) && memcmp(text.at, words, text.len) == 0;
}

bool http_text_is_like(http_text text, const char *words) {
    return text.len == strlen(words) && strncasecmp(text.at, words, text.len) == 0;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

static bool is_one_of(char c, const char *set) { return c != '\0' && strchr(set, c); }

static bool is_token(char c) {
    return is_digit(c) || is_letter(c) || is_one_of(c, "!#$%&'*+-.^_`|~");
}

static bool is_hex(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

static http_text trimmed(const char *from, const char *to) {
    while (from < to && is_blank(*from)) from++;
    while (to > from && is_blank(to[-1])) to--;
    return (http_text){from, (size_t)(to - from)};
}

/* ---- Its end ---- */

/* A byte that is in no line, or half an end of one. */
static bool breaks_a_line(const char *bytes, size_t at, size_t len) {
    const unsigned char c = (unsigned char)bytes[at];

    if (c == '\n') return at == 0 || bytes[at - 1] != '\r';
    if (c == '\r') return at + 1 < len && bytes[at + 1] != '\n';
    return (c < ' ' && c != '\t') || c == 0x7f;
}

int http_head_end(const char *bytes, size_t len, size_t *looked_at, size_t *out_len,
                  http_fault *out_fault) {
    /* One back: the other half of a line's end may have been missing. */
    for (size_t at = *looked_at > 0 ? *looked_at - 1 : 0; at < len; at++) {
        if (at >= HTTP_HEAD_MAX)
            return refuse(out_fault, 431,
                          "the head of the request is longer than 16384 bytes, the most allowed");
        if (breaks_a_line(bytes, at, len))
            return refuse(out_fault, 400,
                          "lines must end with CR LF and have no control characters");
        if (bytes[at] == '\n' && at >= 3 && bytes[at - 2] == '\n') {
            *out_len = at + 1;
            return DN_OK;
        }
    }
    *looked_at = len;
    if (len >= HTTP_HEAD_MAX)
        return refuse(out_fault, 431,
                      "the head of the request is longer than 16384 bytes, the most allowed");
    return DN_PENDING;
}

/* ---- The first line ---- */

/* Of a path or a query, as RFC 3986 has them. */
static bool is_in_target(char c) {
    return is_digit(c) || is_letter(c) || is_one_of(c, "-._~!$&'()*+,;=:@/?%");
}

static bool is_sound_target(http_text t) {
    for (size_t i = 0; i < t.len; i++) {
        if (!is_in_target(t.at[i])) return false;
        if (t.at[i] == '%' && (i + 2 >= t.len || !is_hex(t.at[i + 1]) || !is_hex(t.at[i + 2])))
            return false;
    }
    return true;
}

static bool begins_with(http_text t, const char *words) {
    const size_t len = strlen(words);

    return t.len >= len && strncasecmp(t.at, words, len) == 0;
}

/* A proxy may ask with the whole address: what counts is behind the host. Which scheme it says is not looked at: what comes
 * encrypted to one may go on as it is. */
static http_text without_host(http_text t) {
    static const char http[] = "http://", https[] = "https://", root[] = "/";
    const char *const end = t.at + t.len;
    const size_t      skip = begins_with(t, http)    ? sizeof http - 1
                             : begins_with(t, https) ? sizeof https - 1
                                                     : 0;

    if (skip == 0) return t;
    const char *at = t.at + skip;
    while (at < end && !is_one_of(*at, "/?")) at++;
    if (at == t.at + skip) return t;
    if (at == end) return (http_text){root, 1};
    return (http_text){at, (size_t)(end - at)};
}

static int read_target(http_text target, http_head *out, http_fault *out_fault) {
    const http_text t = without_host(target);

    if (http_text_is(t, "*") && http_text_is(out->method, "OPTIONS")) {
        out->path = t;
        return DN_OK;
    }
    if (t.len == 0 || t.at[0] != '/' || !is_sound_target(t))
        return refuse(out_fault, 400,
                      "the target must be a path that begins with /, percent-encoded");
    const char *mark = memchr(t.at, '?', t.len);
    out->path = (http_text){t.at, mark ? (size_t)(mark - t.at) : t.len};
    if (mark) out->query = (http_text){mark + 1, (size_t)(t.at + t.len - mark - 1)};
    return DN_OK;
}

static int read_version(http_text v, http_head *out, http_fault *out_fault) {
    if (v.len != 8 || memcmp(v.at, "HTTP/", 5) != 0 || !is_digit(v.at[5]) || v.at[6] != '.' ||
        !is_digit(v.at[7]))
        return refuse(out_fault, 400, "the request must begin with METHOD PATH HTTP/1.1");
    if (v.at[5] != '1')
        return refuse(out_fault, 505, "unsupported HTTP version; use HTTP/1.1 or HTTP/1.0");
    out->is_http10 = v.at[7] == '0';
    return DN_OK;
}

static int read_first_line(const char *line, const char *end, http_head *out,
                           http_fault *out_fault) {
    const char *method_end = memchr(line, ' ', (size_t)(end - line));
    const char *target = method_end ? method_end + 1 : NULL;
    const char *target_end = target ? memchr(target, ' ', (size_t)(end - target)) : NULL;

    if (end - line > HTTP_LINE_MAX)
        return refuse(out_fault, 414, "the target is longer than 8192 bytes, the most allowed");
    if (!target_end)
        return refuse(out_fault, 400, "the request must begin with METHOD PATH HTTP/1.1");
    out->method = (http_text){line, (size_t)(method_end - line)};
    for (size_t i = 0; i < out->method.len; i++)
        if (!is_token(line[i])) return refuse(out_fault, 400, "the method must be one word");
    if (out->method.len == 0) return refuse(out_fault, 400, "the method must be one word");
    const http_text version = {target_end + 1, (size_t)(end - target_end - 1)};
    const int       rc = read_version(version, out, out_fault);
    if (rc < 0) return rc;
    return read_target((http_text){target, (size_t)(target_end - target)}, out, out_fault);
}

/* ---- Fields ---- */

static int read_field(const char *line, const char *end, http_head *out, http_fault *out_fault) {
    const char *colon = memchr(line, ':', (size_t)(end - line));

    if (is_blank(*line)) return refuse(out_fault, 400, "a header must be on one line");
    if (!colon || colon == line) return refuse(out_fault, 400, "a header must be NAME: VALUE");
    for (const char *c = line; c < colon; c++)
        if (!is_token(*c)) return refuse(out_fault, 400, "the name of a header must be one word");
    if (out->fields_len == HTTP_FIELDS_MAX)
        return refuse(out_fault, 431, "more than 64 headers, the most allowed");
    out->fields[out->fields_len++] = (http_field){
        .name = {line, (size_t)(colon - line)},
        .value = trimmed(colon + 1, end),
    };
    return DN_OK;
}

const http_text *http_field_of(const http_head *head, const char *name) {
    for (size_t i = 0; i < head->fields_len; i++)
        if (http_text_is_like(head->fields[i].name, name)) return &head->fields[i].value;
    return NULL;
}

static size_t fields_called(const http_head *head, const char *name) {
    size_t len = 0;

    for (size_t i = 0; i < head->fields_len; i++)
        len += http_text_is_like(head->fields[i].name, name);
    return len;
}

bool http_list_has(http_text list, const char *word) {
    const char *at = list.at, *const end = list.at + list.len;

    while (at < end) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const char *stop = comma ? comma : end;
        const char *mark = memchr(at, ';', (size_t)(stop - at));
        if (http_text_is_like(trimmed(at, mark ? mark : stop), word)) return true;
        at = stop + 1;
    }
    return false;
}

/* ---- What the fields mean for the reading ---- */

static int read_host(const http_head *head, http_fault *out_fault) {
    const http_text *host = http_field_of(head, "host");

    if (fields_called(head, "host") > 1 || (!host && !head->is_http10))
        return refuse(out_fault, 400, "exactly one Host header is required");
    for (size_t i = 0; host && i < host->len; i++)
        if (!is_digit(host->at[i]) && !is_letter(host->at[i]) &&
            !is_one_of(host->at[i], "-._~!$&'()*+,;=:[]%"))
            return refuse(out_fault, 400, "Host must be NAME or NAME:PORT");
    return DN_OK;
}

/* False: it is neither NAME nor NAME:PORT. Of a name in brackets, is_v6, they are left out. */
static bool split_host(http_text host, http_text *name, http_text *port, bool *is_v6) {
    const char *at = host.at, *const end = at + host.len;

    *is_v6 = at < end && *at == '[';
    at += *is_v6;
    const char *stop = memchr(at, *is_v6 ? ']' : ':', (size_t)(end - at));
    if (*is_v6 && !stop) return false;
    if (!stop) stop = end;
    *name = (http_text){at, (size_t)(stop - at)};
    at = stop + *is_v6;
    *port = (http_text){at, (size_t)(end - at)};
    if (port->len == 0) return true;
    *port = (http_text){at + 1, port->len - 1};
    for (size_t i = 0; i < port->len; i++)
        if (!is_digit(port->at[i])) return false;
    return *at == ':';
}

bool http_host_is_address(const http_head *head) {
    const http_text *host = http_field_of(head, "host");
    char             address[INET6_ADDRSTRLEN] = "";
    struct in6_addr  unused;
    http_text        name, port;
    bool             is_v6;

    if (!host) return true;
    if (!split_host(*host, &name, &port, &is_v6) || name.len >= sizeof address) return false;
    memcpy(address, name.at, name.len);
    return inet_pton(is_v6 ? AF_INET6 : AF_INET, address, &unused) == 1 ||
           (!is_v6 && http_text_is_like(name, "localhost"));
}

http_text http_host_port(const http_head *head) {
    const http_text *host = http_field_of(head, "host");
    http_text        name, port;
    bool             is_v6;

    return host && split_host(*host, &name, &port, &is_v6) ? port : (http_text){"", 0};
}

static int read_length(http_head *head, http_fault *out_fault) {
    const http_text *length = http_field_of(head, "content-length");

    head->content_length = -1;
    if (!length) return DN_OK;
    if (fields_called(head, "content-length") > 1)
        return refuse(out_fault, 400, "only one Content-Length header is allowed");
    if (length->len == 0 || length->len > 18)
        return refuse(out_fault, 400, "Content-Length must be a number of bytes");
    head->content_length = 0;
    for (size_t i = 0; i < length->len; i++) {
        if (!is_digit(length->at[i]))
            return refuse(out_fault, 400, "Content-Length must be a number of bytes");
        head->content_length = head->content_length * 10 + (length->at[i] - '0');
    }
    return DN_OK;
}

static int read_coding(http_head *head, http_fault *out_fault) {
    const http_text *coding = http_field_of(head, "transfer-encoding");

    if (!coding) return DN_OK;
    if (head->content_length >= 0)
        return refuse(out_fault, 400,
                      "Content-Length and Transfer-Encoding must not be used together");
    if (head->is_http10)
        return refuse(out_fault, 400, "Transfer-Encoding is not allowed in HTTP/1.0");
    if (fields_called(head, "transfer-encoding") > 1 || !http_text_is_like(*coding, "chunked"))
        return refuse(out_fault, 400, "Transfer-Encoding must be chunked, once");
    head->chunked = true;
    return DN_OK;
}

/* To whom nothing is compressed, what is would be garbage: each line of an import wrong, and nobody registered. */
static int read_content_coding(const http_head *head, http_fault *out_fault) {
    const http_text *coding = http_field_of(head, "content-encoding");

    if (!coding || (head->content_length <= 0 && !head->chunked)) return DN_OK;
    if (fields_called(head, "content-encoding") == 1 && http_text_is_like(*coding, "identity"))
        return DN_OK;
    return refuse(out_fault, 415,
                  "compressed bodies are not supported; leave out Content-Encoding");
}

static int read_expect(http_head *head, http_fault *out_fault) {
    const http_text *expect = http_field_of(head, "expect");

    if (!expect || head->is_http10) return DN_OK;
    if (!http_text_is_like(*expect, "100-continue"))
        return refuse(out_fault, 417, "Expect must be 100-continue");
    head->expects_continue = true;
    return DN_OK;
}

static void read_connection(http_head *head) {
    head->keep_alive = !head->is_http10;
    for (size_t i = 0; i < head->fields_len; i++) {
        const http_field *f = &head->fields[i];
        if (http_text_is_like(f->name, "connection") && http_list_has(f->value, "close"))
            head->keep_alive = false;
    }
}

int http_head_read(const char *bytes, size_t len, http_head *out, http_fault *out_fault) {
    const char *line = bytes, *const end = bytes + len - 2; /* before the empty line */
    int rc = DN_OK;

    out->fields_len = 0;
    out->query = (http_text){0};
    out->chunked = out->expects_continue = false;
    while (line < end && rc == DN_OK) {
        const char *stop = memchr(line, '\r', (size_t)(end - line));
        rc = line == bytes ? read_first_line(line, stop, out, out_fault)
                           : read_field(line, stop, out, out_fault);
        line = stop + 2;
    }
    if (rc == DN_OK) rc = read_host(out, out_fault);
    if (rc == DN_OK && fields_called(out, "authorization") > 1)
        rc = refuse(out_fault, 400, "only one Authorization header is allowed");
    if (rc == DN_OK) rc = read_length(out, out_fault);
    if (rc == DN_OK) rc = read_coding(out, out_fault);
    if (rc == DN_OK) rc = read_content_coding(out, out_fault);
    if (rc == DN_OK) rc = read_expect(out, out_fault);
    if (rc == DN_OK) read_connection(out);
    return rc;
}
