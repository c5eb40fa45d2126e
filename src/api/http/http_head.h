/* http_head.h - the head of an HTTP/1.1 request, read strictly.
 * What two readers could read in two ways is refused (RFC 9112): behind a proxy such a request is how one client speaks
 * in another's name. Pure: bytes in, pointers into them out. */
#ifndef DIURNAL_API_HTTP_HEAD_H
#define DIURNAL_API_HTTP_HEAD_H

#include "diurnal/base.h"

enum { HTTP_HEAD_MAX = 16384, HTTP_LINE_MAX = 8192, HTTP_FIELDS_MAX = 64 };

/* Of the bytes that were read; not ended by a zero. */
typedef struct http_text {
    const char *at;
    size_t      len;
} http_text;

typedef struct http_field {
    http_text name, value;
} http_field;

typedef struct http_head {
    http_text  method, path, query; /* query: behind the "?"; at is NULL if there is none */
    http_field fields[HTTP_FIELDS_MAX];
    size_t     fields_len;
    int64_t    content_length; /* -1: not said */
    bool       chunked, expects_continue, keep_alive, is_http10;
} http_head;

/* Why a head is refused: the status to answer, and a sentence. */
typedef struct http_fault {
    int         status;
    const char *detail;
} http_fault;

/* Where the head ends, of bytes that come by and by; *looked_at, 0 before the first, is kept between the calls. DN_OK:
 * *out_len bytes are it. DN_PENDING: there is more to come. DN_EINVAL: nothing good can come any more. */
DN_MUST_USE int http_head_end(const char *bytes, size_t len, size_t *looked_at, size_t *out_len,
                              http_fault *out_fault);

/* What stands in those. DN_EINVAL: see *out_fault. */
DN_MUST_USE int http_head_read(const char *bytes, size_t len, http_head *out,
                               http_fault *out_fault);

/* The value of the first field of that name, or NULL. */
const http_text *http_field_of(const http_head *head, const char *name);

/* Is it asked for by an address, or as localhost? Of any other name its owner can say that it leads here, and then the pages he
 * serves under it may read what this one answers (DNS rebinding). No browser says none, as HTTP/1.0 may. */
bool http_host_is_address(const http_head *head);
/* Digits; empty: it says none. */
http_text http_host_port(const http_head *head);

bool http_text_is(http_text text, const char *words);      /* byte for byte */
bool http_text_is_like(http_text text, const char *words); /* whatever the case */

/* Does the list of words a,b;x=1,c of a field's value have this one? Whatever the case. */
bool http_list_has(http_text list, const char *word);

#endif
