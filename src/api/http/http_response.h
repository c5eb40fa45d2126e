/* http_response.h - an HTTP response, from its parts to the bytes that are sent. */
#ifndef DIURNAL_API_HTTP_RESPONSE_H
#define DIURNAL_API_HTTP_RESPONSE_H

#include "http_head.h"

enum { HTTP_DETAIL_MAX = 512 };

typedef struct http_response {
    int         status;
    const char *type;   /* of the body; NULL: there is none */
    const char *allow;  /* with a 405: the methods there are */
    const char *cache;  /* Cache-Control; NULL: no-store */
    const char *policy; /* Content-Security-Policy; NULL: nothing may be loaded or run */
    const char *fields; /* more headers, each NAME: VALUE CR LF; NULL: none */
    char       *body;   /* of malloc, or NULL */
    size_t      body_len;
    char        tag[24];  /* of http_refine: in quotes; "": none */
    bool varies, gzipped; /* likewise: the form depends on Accept-Encoding; this one is gzip */
} http_response;

/* Takes body (of malloc). */
http_response http_answer(int status, const char *type, char *body, size_t len);
/* A plain text, copied; without memory for it a 503 without a body. */
http_response http_answer_text(int status, const char *text);
/* A problem document (RFC 9457). detail is a sentence; every byte is harmless. */
http_response http_problem(int status, const char *detail);

/* The head of a response without end; NULL: out of memory. */
char *http_response_stream(const char *type, int64_t now_ms, size_t *out_len);

const char *http_reason(int status); /* "Not Found" */

/* The bytes, of malloc, and the response's body freed; NULL: out of memory. for_head: without the body. */
char *http_response_take(http_response *r, int64_t now_ms, bool for_head, bool ends,
                         size_t *out_len);

#endif
