/* http_body.h - the body of a request, out of its framing.
 * Its length is said before it, or it comes in chunks, each with its own. As strict as http_head.h, for the same reason:
 * what could end in two places is refused. Pure: bytes in, and which of them are the body's. */
#ifndef DIURNAL_API_HTTP_BODY_H
#define DIURNAL_API_HTTP_BODY_H

#include "http_head.h"

/* A line with the size of a chunk, and all fields behind the last one. */
enum { HTTP_CHUNK_LINE_MAX = 256, HTTP_TRAILER_MAX = 4096 };

typedef enum http_body_at {
    HTTP_BODY_BYTES,   /* so many of the body's bytes are to come: `left` */
    HTTP_BODY_SIZE,    /* in the line with the size of a chunk */
    HTTP_BODY_CRLF,    /* behind a chunk's bytes */
    HTTP_BODY_TRAILER, /* behind the last chunk */
    HTTP_BODY_END,
} http_body_at;

typedef struct http_body {
    http_body_at at;
    bool         chunked;
    uint64_t     left;
    size_t       line_len; /* of the line, or the trailer, under way */
    char         line[HTTP_CHUNK_LINE_MAX];
} http_body;

void http_body_begin(http_body *b, const http_head *head);

/* Looks at bytes that come next, and takes *out_taken of them: *out_piece is what is the body's in them, which may be
 * nothing; call again with the others until nothing is taken. DN_OK; DN_EINVAL: see *out_fault. */
DN_MUST_USE int http_body_take(http_body *b, const char *bytes, size_t len, size_t *out_taken,
                               http_text *out_piece, http_fault *out_fault);

static inline bool http_body_has_ended(const http_body *b) { return b->at == HTTP_BODY_END; }

#endif
