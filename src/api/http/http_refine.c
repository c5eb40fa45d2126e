/* http_refine.c - see http_refine.h. */
#define _GNU_SOURCE /* memmem */
#include "http_refine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

enum {
    GZIP_FROM = 1024, /* less is one packet anyway */
    /* A loop that plans waits meanwhile, so fast before small; and little memory, which is had and given back each time. */
    GZIP_LEVEL = 1,
    GZIP_WINDOW = 13,
    GZIP_MEMORY = 6,
    GZIP_FRAME = 16, /* zlib: with the head and end of gzip */
    QUALITY_MOST = 1000,
};

/* ---- Lists ---- */

static http_text trimmed(http_text t) {
    while (t.len > 0 && (*t.at == ' ' || *t.at == '\t')) t.at++, t.len--;
    while (t.len > 0 && (t.at[t.len - 1] == ' ' || t.at[t.len - 1] == '\t')) t.len--;
    return t;
}

/* Up to the next `by`; what is behind it is left in *rest. False: there is nothing more. */
static bool next_part(http_text *rest, char by, http_text *out_part) {
    if (!rest->at) return false;
    const char  *stop = rest->len > 0 ? memchr(rest->at, by, rest->len) : NULL;
    const size_t len = stop ? (size_t)(stop - rest->at) : rest->len;

    *out_part = trimmed((http_text){rest->at, len});
    *rest = stop ? (http_text){stop + 1, rest->len - len - 1} : (http_text){0};
    return true;
}

/* ---- gzip ---- */

/* 0 to 1, with at most three digits: in thousandths. What is none is 0. */
static int quality_read(http_text t) {
    int value = 0, unit = QUALITY_MOST;

    if (t.len == 0 || t.len > 5 || t.at[0] < '0' || t.at[0] > '1') return 0;
    if (t.len > 1 && t.at[1] != '.') return 0;
    for (size_t i = 0; i < t.len; i++) {
        if (i == 1) continue;
        if (t.at[i] < '0' || t.at[i] > '9') return 0;
        value += (t.at[i] - '0') * unit;
        unit /= 10;
    }
    return value <= QUALITY_MOST ? value : 0;
}

static int quality_of(http_text params) {
    for (http_text part; next_part(&params, ';', &part);)
        if (part.len >= 2 && strncasecmp(part.at, "q=", 2) == 0)
            return quality_read((http_text){part.at + 2, part.len - 2});
    return QUALITY_MOST;
}

bool http_takes_gzip(const http_head *head) {
    const http_text *codings = http_field_of(head, "accept-encoding");
    int              gzip = -1, any = -1, identity = -1;

    if (!codings) return false;
    http_text rest = *codings;
    for (http_text part; next_part(&rest, ',', &part);) {
        http_text name;
        if (!next_part(&part, ';', &name)) continue;
        const int quality = part.at ? quality_of(part) : QUALITY_MOST;
        if (http_text_is_like(name, "gzip")) gzip = quality;
        if (http_text_is_like(name, "*")) any = quality;
        if (http_text_is_like(name, "identity")) identity = quality;
    }
    if (gzip < 0) gzip = any;
    return gzip > 0 && gzip >= identity;
}

/* Stays as it is where that fails, or makes nothing smaller. */
static void gzip(http_response *r) {
    z_stream z = {0};

    if (deflateInit2(&z, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW + GZIP_FRAME, GZIP_MEMORY,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        return;
    char *const out = malloc(r->body_len);
    if (out) {
        z.next_in = (unsigned char *)r->body;
        z.avail_in = (unsigned int)r->body_len;
        z.next_out = (unsigned char *)out;
        z.avail_out = (unsigned int)r->body_len;
        r->gzipped = deflate(&z, Z_FINISH) == Z_STREAM_END;
    }
    if (r->gzipped) {
        free(r->body);
        r->body = out;
        r->body_len = z.total_out;
    } else {
        free(out);
    }
    (void)deflateEnd(&z);
}

/* ---- Tags ---- */

bool http_has_tag(const http_head *head, const char *tag) {
    const http_text *known = http_field_of(head, "if-none-match");

    if (!known) return false;
    http_text rest = *known;
    for (http_text part; next_part(&rest, ',', &part);) {
        const bool is_weak = part.len > 2 && memcmp(part.at, "W/", 2) == 0;
        if (is_weak) part = (http_text){part.at + 2, part.len - 2};
        if (http_text_is(part, tag) || http_text_is(part, "*")) return true;
    }
    return false;
}

/* When it was made is no part of what it says: an answer is the same as one that says all else. A quote within a text has a
 * backslash before it, so this is a member and nothing that somebody chose. */
static uint64_t hash_of(dn_hash_key key, const http_response *r) {
    static const char now[] = "\"now\":\"";
    const char       *at = memmem(r->body, r->body_len, now, sizeof now - 1);
    const char       *end = r->body + r->body_len;
    const char       *stop =
        at ? memchr(at + sizeof now - 1, '"', (size_t)(end - at) - sizeof now + 1) : NULL;

    if (!stop) return dn_hash(key, r->body, r->body_len);
    const uint64_t before = dn_hash(key, r->body, (size_t)(at - r->body));
    return dn_hash((dn_hash_key){key.k0 ^ before, key.k1}, stop, (size_t)(end - stop));
}

static bool is_json(const http_response *r) { return strcmp(r->type, "application/json") == 0; }

void http_refine(const http_head *head, dn_hash_key key, http_response *r) {
    const bool reads = http_text_is(head->method, "GET") || http_text_is(head->method, "HEAD");

    if (!reads || r->status != 200 || !r->body || !r->type || r->cache) return;
    r->varies = true;
    if (is_json(r)) {
        (void)snprintf(r->tag, sizeof r->tag, "\"%016" PRIx64 "\"", hash_of(key, r));
        r->cache = "private, no-cache";
    }
    if (*r->tag && http_has_tag(head, r->tag)) {
        r->status = 304;
        free(r->body);
        r->body = NULL;
        r->body_len = 0;
        r->type = NULL;
    } else if (r->body_len >= GZIP_FROM && http_takes_gzip(head)) {
        gzip(r);
    }
}
