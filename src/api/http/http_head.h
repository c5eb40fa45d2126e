/* http_head.h - parses the head of an HTTP/1.1 request, strictly.
 * A head that two parsers could read in two ways is refused (RFC 9112), because behind a proxy it lets one client smuggle
 * a request into another's connection. Pure: bytes in, pointers into them out. */
#ifndef DIURNAL_API_HTTP_HEAD_H
#define DIURNAL_API_HTTP_HEAD_H

#include "diurnal/base.h"

enum { HTTP_HEAD_MAX = 16384, HTTP_LINE_MAX = 8192, HTTP_FIELDS_MAX = 64 };

/* A slice of the bytes that were read; no zero follows it. */
typedef struct http_text {
    const char *at;
    size_t      len;
} http_text;

typedef struct http_field {
    http_text name, value;
} http_field;

typedef struct http_head {
    http_text  method, path, query; /* query: after the "?"; at is NULL if there is none */
    http_field fields[HTTP_FIELDS_MAX];
    size_t     fields_len;
    int64_t    content_length; /* -1: none given */
    bool       chunked, expects_continue, keep_alive, is_http10;
} http_head;

/* Why a head is refused: the status to answer, and a sentence. */
typedef struct http_fault {
    int         status;
    const char *detail;
} http_fault;

/* Finds the end of a head that arrives in pieces; *looked_at, 0 at first, is kept between the calls. DN_OK: the head is
 * the first *out_len bytes. DN_PENDING: more must come. DN_EINVAL: no valid head can come any more. */
DN_MUST_USE int http_head_end(const char *bytes, size_t len, size_t *looked_at, size_t *out_len,
                              http_fault *out_fault);

/* Parses a whole head. DN_EINVAL: see *out_fault. */
DN_MUST_USE int http_head_read(const char *bytes, size_t len, http_head *out,
                               http_fault *out_fault);

/* The value of the first field of that name, or NULL. */
const http_text *http_field_of(const http_head *head, const char *name);

/* Is the Host an address, or localhost, or missing as in HTTP/1.0? The owner of any other name can point it here, and then
 * pages served under that name may read our answers (DNS rebinding). Browsers always send a Host. */
bool http_host_is_address(const http_head *head);
/* The port in the Host, as digits; empty: none. */
http_text http_host_port(const http_head *head);

bool http_text_is(http_text text, const char *words);      /* byte for byte */
bool http_text_is_like(http_text text, const char *words); /* in any case */

/* Does a header's list a,b;x=1,c have this word, in any case? */
bool http_list_has(http_text list, const char *word);

#endif
