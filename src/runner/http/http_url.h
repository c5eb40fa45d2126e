/* http_url.h - the URL of an http runner, looked at before it is used. Any thread. */
#ifndef DIURNAL_RUNNER_HTTP_URL_H
#define DIURNAL_RUNNER_HTTP_URL_H

#include "runner.h"

enum { URL_HOST_MAX = 256 };

typedef struct url_parts {
    char     host[URL_HOST_MAX]; /* as DNS wants it: lower case, punycode; brackets around IPv6 */
    uint16_t port;
    bool     tls;
} url_parts;

/* DN_EINVAL: why has the sentence. */
DN_MUST_USE int url_read(const char *url, bool allow_private, url_parts *out_parts, char *why);

#endif
