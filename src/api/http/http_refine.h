/* http_refine.h - 304 for an answer that the client has already, and gzip for a client that accepts it. */
#ifndef DIURNAL_API_HTTP_REFINE_H
#define DIURNAL_API_HTTP_REFINE_H

#include "base/hash.h"
#include "http_response.h"

/* Works on a 200 to GET or HEAD without cache headers of its own. JSON gets an ETag, and becomes a 304 if the request
 * names that tag. An answer longer than a packet is compressed if the client accepts gzip. key seeds the tags, so that
 * nobody outside can make two answers with one tag. */
void http_refine(const http_head *head, dn_hash_key key, http_response *r);

/* Does Accept-Encoding, with its q values, prefer gzip or treat it as equal? */
bool http_takes_gzip(const http_head *head);
/* Does If-None-Match name this tag, or any? tag: with its quotes, without W/. */
bool http_has_tag(const http_head *head, const char *tag);

#endif
