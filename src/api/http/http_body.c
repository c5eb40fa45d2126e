/* http_body.c - see http_body.h. */
#include "http_body.h"

#include <string.h>

enum { SIZE_DIGITS = 15 };

void http_body_begin(http_body *b, const http_head *head) {
    *b = (http_body){.at = HTTP_BODY_END, .chunked = head->chunked};
    if (head->chunked) {
        b->at = HTTP_BODY_SIZE;
    } else if (head->content_length > 0) {
        b->at = HTTP_BODY_BYTES;
        b->left = (uint64_t)head->content_length;
    }
}

static int refuse(http_fault *out, const char *detail) {
    *out = (http_fault){400, detail};
    return DN_EINVAL;
}

/* ---- Lines ---- */

/* One byte of a line into `line`, without its end. DN_PENDING: the line goes on. */
static int line_take(http_body *b, char c, http_fault *out_fault) {
    const bool half = b->line_len > 0 && b->line[b->line_len - 1] == '\r';

    if ((c == '\n') != half) return refuse(out_fault, "lines of chunks must end with CR LF");
    if (half) {
        b->line_len--;
        return DN_OK;
    }
    if (((unsigned char)c < ' ' && c != '\r' && c != '\t') || c == 0x7f)
        return refuse(out_fault, "lines of chunks must have no control characters");
    if (b->line_len == sizeof b->line)
        return refuse(out_fault, "a line of a chunk is longer than 256 bytes, the most allowed");
    b->line[b->line_len++] = c;
    return DN_PENDING;
}

static int hex_of(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* SIZE or SIZE;extension: extensions are understood by nobody, and passed over. */
static int size_read(http_body *b, http_fault *out_fault) {
    size_t digits = 0;

    b->left = 0;
    while (digits < b->line_len && hex_of(b->line[digits]) >= 0) {
        if (digits == SIZE_DIGITS) return refuse(out_fault, "the size of the chunk is too large");
        b->left = b->left * 16 + (uint64_t)hex_of(b->line[digits++]);
    }
    if (digits == 0 || (digits < b->line_len && b->line[digits] != ';'))
        return refuse(out_fault, "a chunk must begin with its size in hexadecimal digits");
    b->line_len = 0;
    b->at = b->left > 0 ? HTTP_BODY_BYTES : HTTP_BODY_TRAILER;
    return DN_OK;
}

/* Fields that come behind the body: nobody here wants one, so only their end is looked for. */
static int trailer_take(http_body *b, http_fault *out_fault) {
    if (b->line_len == 0) b->at = HTTP_BODY_END;
    b->left += b->line_len + 2;
    b->line_len = 0;
    return b->left <= HTTP_TRAILER_MAX
               ? DN_OK
               : refuse(out_fault, "the trailers are longer than 4096 bytes, the most allowed");
}

/* ---- All of it ---- */

static int whole_line(http_body *b, http_fault *out_fault) {
    switch (b->at) {
    case HTTP_BODY_SIZE: return size_read(b, out_fault);
    case HTTP_BODY_TRAILER: return trailer_take(b, out_fault);
    case HTTP_BODY_CRLF:
        if (b->line_len > 0)
            return refuse(out_fault, "the chunk is longer or shorter than its size");
        b->at = HTTP_BODY_SIZE;
        return DN_OK;
    case HTTP_BODY_BYTES:
    case HTTP_BODY_END: break;
    }
    return DN_OK;
}

int http_body_take(http_body *b, const char *bytes, size_t len, size_t *out_taken,
                   http_text *out_piece, http_fault *out_fault) {
    *out_taken = 0;
    *out_piece = (http_text){bytes, 0};
    while (b->at != HTTP_BODY_END && b->at != HTTP_BODY_BYTES && *out_taken < len) {
        int rc = line_take(b, bytes[(*out_taken)++], out_fault);
        if (rc == DN_OK) rc = whole_line(b, out_fault);
        if (rc < 0) return rc;
    }
    if (b->at != HTTP_BODY_BYTES) return DN_OK;
    const size_t there = len - *out_taken;
    *out_piece = (http_text){bytes + *out_taken, b->left < there ? (size_t)b->left : there};
    *out_taken += out_piece->len;
    b->left -= out_piece->len;
    if (b->left == 0) b->at = b->chunked ? HTTP_BODY_CRLF : HTTP_BODY_END;
    return DN_OK;
}
