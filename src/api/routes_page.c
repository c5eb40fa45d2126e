/* routes_page.c - the dashboard: one page at /, and its files.
 * They hold no user's data, so they are open: the page asks for a token, and uses the API as every other client does.
 * What a browser may do with them is said here alone: scripts and styles are ours, requests go to us, nothing is framed,
 * and no text ever becomes markup. */
#include "http/http_refine.h"
#include "page.h"
#include "reply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_FILES "/page/"
enum { FILE_VERSION, FILE_NAME }; /* captures */

static const char policy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'";
static const char isolation[] = "Cross-Origin-Opener-Policy: same-origin\r\n"
                                "Cross-Origin-Resource-Policy: same-origin\r\n";

static route_step reply_file(exchange *x, const page_file *f, const char *cache) {
    const bool    zipped = http_takes_gzip(x->head);
    const size_t  len = zipped ? f->gzip_len : f->plain_len;
    http_response r = {
        .status = 304, .cache = cache, .policy = policy, .fields = isolation, .varies = true};

    (void)snprintf(r.tag, sizeof r.tag, "\"%s\"", page_version);
    if (http_has_tag(x->head, r.tag)) return reply_response(x, r);
    r.status = 200;
    r.type = f->type;
    r.gzipped = zipped;
    r.body = malloc(len);
    r.body_len = len;
    if (!r.body) return reply_no_memory(x);
    memcpy(r.body, zipped ? f->gzip : f->plain, len);
    return reply_response(x, r);
}

/* Revalidated each time, so that a browser sees a newer daemon at once. */
static route_step get_index(dn_self *self, const api_world *w, exchange *x) {
    (void)self, (void)w;
    return reply_file(x, &page_files[0], "no-cache");
}

static route_step get_file(dn_self *self, const api_world *w, exchange *x) {
    const bool is_current = http_text_is(x->captures.at[FILE_VERSION], page_version);

    (void)self, (void)w;
    for (size_t i = 1; i < page_files_len && is_current; i++)
        if (http_text_is(x->captures.at[FILE_NAME], page_files[i].name))
            return reply_file(x, &page_files[i], "public, max-age=31536000, immutable");
    return reply_problem(x, 404, "unknown dashboard file; reload the page");
}

const route routes_page[] = {
    {"GET", "/", .handler = get_index},
    {"GET", PAGE_FILES "{version}/{id}", .handler = get_file},
    {.method = NULL},
};
