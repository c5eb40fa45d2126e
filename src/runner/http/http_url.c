/* http_url.c - see http_url.h. libcurl's own parser, so that what is checked here is what will be asked there.
 * A URL may hold what nobody should read in a log (credentials, a token behind the '?'), so no
 * sentence here repeats it. */
#include "http_url.h"
#include "base/text.h"

#include "http_address.h"
#include "scheme.h"

#include <ctype.h>
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The part as text of our own, "" if there is none. */
static void part(CURLU *u, CURLUPart what, unsigned flags, char *text, size_t size) {
    char *got = NULL;

    text[0] = '\0';
    if (curl_url_get(u, what, &got, flags) == CURLUE_OK) (void)snprintf(text, size, "%s", got);
    curl_free(got);
}

static int check_parts(CURLU *u, bool allow_private, url_parts *parts, char *why) {
    char                    text[16], port[16];
    struct sockaddr_storage address;

    part(u, CURLUPART_USER, 0, text, sizeof text);
    part(u, CURLUPART_PASSWORD, 0, port, sizeof port);
    if (text[0] || port[0])
        return dn_refuse(DN_EINVAL, why, DN_RUNNER_WHY,
                         "the runner's URL contains credentials, which logs and lists "
                         "would show; sign the requests with a secret instead");
    part(u, CURLUPART_FRAGMENT, 0, text, sizeof text);
    if (text[0])
        return dn_refuse(DN_EINVAL, why, DN_RUNNER_WHY,
                         "the runner's URL has a fragment (#…), which is never sent; remove it");
    part(u, CURLUPART_HOST, CURLU_PUNYCODE, parts->host, sizeof parts->host);
    part(u, CURLUPART_PORT, CURLU_DEFAULT_PORT, port, sizeof port);
    part(u, CURLUPART_SCHEME, 0, text, sizeof text);
    parts->port = (uint16_t)strtoul(port, NULL, 10);
    parts->tls = strcmp(text, "https") == 0;
    if (parts->host[0] == '\0' || strlen(parts->host) + 1 >= sizeof parts->host)
        return dn_refuse(DN_EINVAL, why, DN_RUNNER_WHY,
                         "the runner's URL has a host that cannot be looked up; write a "
                         "non-ASCII name in punycode (xn--…)");
    if (parts->port == 0)
        return dn_refuse(DN_EINVAL, why, DN_RUNNER_WHY,
                         "the runner's URL has port 0; want 1 to 65535");
    if (!allow_private && address_of_host(parts->host, &address) &&
        address_is_forbidden((const struct sockaddr *)&address))
        return dn_refuse(DN_EINVAL, why, DN_RUNNER_WHY,
                         "the runner's host %.60s is a link-local or metadata address; set "
                         "runner_allow_private to allow it",
                         parts->host);
    for (char *c = parts->host; *c; c++) *c = (char)tolower((unsigned char)*c);
    return DN_OK;
}

int url_read(const char *url, bool allow_private, url_parts *out_parts, char *why) {
    CURLU    *u = curl_url();
    url_parts parts = {0};
    int       rc;

    if (!u) return DN_ENOMEM;
    if (strncmp(url + strcspn(url, ":"), ":///", 4) ==
        0) { /* libcurl would take the path for a host */
        curl_url_cleanup(u);
        return dn_refuse(DN_EINVAL, why, DN_RUNNER_WHY,
                         "the runner's URL has no host; want http://HOST[:PORT]/PATH");
    }
    const CURLUcode code = curl_url_set(u, CURLUPART_URL, url, 0);
    if (code == CURLUE_OUT_OF_MEMORY) rc = DN_ENOMEM;
    else if (code != CURLUE_OK)
        rc = dn_refuse(DN_EINVAL, why, DN_RUNNER_WHY,
                       "the runner's URL is invalid: %s; use http://HOST[:PORT]/PATH",
                       curl_url_strerror(code));
    else rc = check_parts(u, allow_private, &parts, why);
    curl_url_cleanup(u);
    if (rc == DN_OK) *out_parts = parts;
    return rc;
}
