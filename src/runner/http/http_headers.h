/* http_headers.h - the headers of an answer that matter to callers. Any thread. */
#ifndef DIURNAL_RUNNER_HTTP_HEADERS_H
#define DIURNAL_RUNNER_HTTP_HEADERS_H

#include "runner.h"

/* One line as it came. A status line forgets the headers before it, which belong to an informational answer (1xx).
 * now_ms: wall clock; an HTTP date is a distance from it.
 *
 *     Retry-After: 120 | Wed, 21 Oct 2015 07:28:00 GMT      X-RateLimit-Bucket: text (cut where there is no room)
 *     X-RateLimit-Remaining: 0                              X-RateLimit-Global: true
 *     X-RateLimit-Reset-After: 1.336
 *
 * What is not of that form is as if it had not come. */
void http_header_read(dn_run_answer *answer, const char *line, size_t len, int64_t now_ms);

/* application/json, or anything/…+json; parameters do not matter. Accepts NULL. */
bool http_type_is_json(const char *content_type);

#endif
