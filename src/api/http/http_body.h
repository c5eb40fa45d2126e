/* http_body.h - takes the body of a request out of its framing.
 * Content-Length gives its length, or it comes in chunks, each with its own. It is as strict as http_head.h: a body that
 * two readers could end in two places is refused. Pure. */
#ifndef DIURNAL_API_HTTP_BODY_H
#define DIURNAL_API_HTTP_BODY_H

#include "http_head.h"

/* A line with the size of a chunk, and all trailers after the last chunk. */
enum { HTTP_CHUNK_LINE_MAX = 256, HTTP_TRAILER_MAX = 4096 };

typedef enum http_body_at {
    HTTP_BODY_BYTES,   /* `left` bytes of the body, or of the chunk, are still to come */
    HTTP_BODY_SIZE,    /* in the line with the size of a chunk */
    HTTP_BODY_CRLF,    /* after the bytes of a chunk */
    HTTP_BODY_TRAILER, /* after the last chunk */
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

/* Takes *out_taken of the bytes that come next; *out_piece is the part of them that belongs to the body, maybe none. Call
 * again with the rest until nothing is taken. DN_OK; DN_EINVAL: see *out_fault. */
DN_MUST_USE int http_body_take(http_body *b, const char *bytes, size_t len, size_t *out_taken,
                               http_text *out_piece, http_fault *out_fault);

static inline bool http_body_has_ended(const http_body *b) { return b->at == HTTP_BODY_END; }

#endif
