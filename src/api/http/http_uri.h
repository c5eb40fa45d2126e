/* http_uri.h - decodes paths and queries. Pure. */
#ifndef DIURNAL_API_HTTP_URI_H
#define DIURNAL_API_HTTP_URI_H

#include "http_head.h"

/* Decodes %XX, and in a query + to a space. http_head.h has checked that each % has two digits. DN_EINVAL: the result is
 * longer than max bytes. */
DN_MUST_USE int http_uri_decode(http_text text, bool in_query, char *out, size_t max,
                                size_t *out_len);

/* for (http_text rest = query, name, value; http_query_next(&rest, &name, &value);) each NAME=VALUE of a query, not
 * decoded; without a "=" value.at is NULL. Empty ones are skipped. */
bool http_query_next(http_text *rest, http_text *out_name, http_text *out_value);

#endif
