/* http_uri.h - what stands in a path and in a query, decoded. Pure. */
#ifndef DIURNAL_API_HTTP_URI_H
#define DIURNAL_API_HTTP_URI_H

#include "http_head.h"

/* %XX made a byte, and in a query + a space. http_head.h has seen that each % has its digits. Writes at most max bytes.
 * DN_EINVAL: there are more. */
DN_MUST_USE int http_uri_decode(http_text text, bool in_query, char *out, size_t max,
                                size_t *out_len);

/* for (http_text rest = query, name, value; http_query_next(&rest, &name, &value);) each NAME=VALUE of a query as it stands
 * there; without a "=" value.at is NULL. Empty ones are left out. */
bool http_query_next(http_text *rest, http_text *out_name, http_text *out_value);

#endif
