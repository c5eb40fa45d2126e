/* http_refine.h - what an answer becomes for the one who asks: nothing, if they have it already; smaller, if they take it so. */
#ifndef DIURNAL_API_HTTP_REFINE_H
#define DIURNAL_API_HTTP_REFINE_H

#include "base/hash.h"
#include "http_response.h"

/* An answer of 200 to GET or HEAD, of which nothing was said about keeping it. JSON gets a tag, and is answered 304 if the request
 * names that; what is longer than a packet goes out as gzip if that is taken. key: whoever does not know it cannot make two answers of one tag. */
void http_refine(const http_head *head, dn_hash_key key, http_response *r);

/* Is gzip no worse to them than what it is made of? By Accept-Encoding, with its q. */
bool http_takes_gzip(const http_head *head);
/* Does If-None-Match name this tag, or any? tag: with its quotes, without W/. */
bool http_has_tag(const http_head *head, const char *tag);

#endif
