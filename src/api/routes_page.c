/* routes_page.c - the dashboard: one page at /, and its files.
 * Nothing of a user is in them, so they are open: the page asks for a token, and then for all it shows, as every other
 * client does. What a browser may do with them is said here and nowhere else: scripts and styles are ours, requests go back
 * here, nothing is framed, and no text ever becomes markup. */
#include "http/http_refine.h"
#include "page.h"
#include "routes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_FILES "/page/"

static const char policy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'";
static const char apart[] = "Cross-Origin-Opener-Policy: same-origin\r\n"
                            "Cross-Origin-Resource-Policy: same-origin\r\n";

static route_step send(exchange *x, const page_file *f, const char *cache) {
    const bool    zipped = http_takes_gzip(x->head);
    const size_t  len = zipped ? f->gzip_len : f->plain_len;
    http_response r = {
        .status = 304, .cache = cache, .policy = policy, .fields = apart, .varies = true};

    (void)snprintf(r.tag, sizeof r.tag, "\"%s\"", page_version);
    if (http_has_tag(x->head, r.tag)) return exchange_answer(x, r);
    r.status = 200;
    r.type = f->type;
    r.gzipped = zipped;
    r.body = malloc(len);
    r.body_len = len;
    if (!r.body) return exchange_answer(x, http_problem(503, "out of memory"));
    memcpy(r.body, zipped ? f->gzip : f->plain, len);
    return exchange_answer(x, r);
}

/* Asked for anew each time, and then not sent if it is the same: so a daemon that is newer is seen at once. */
static route_step index_page(dn_self *self, const route_world *w, exchange *x,
                             const dn_msg *reply) {
    (void)self, (void)w, (void)reply;
    return send(x, &page_files[0], "no-cache");
}

static bool is_of_this_version(http_text path) {
    const size_t at = strlen(PAGE_FILES), len = strlen(page_version);

    return path.len > at + len && memcmp(path.at + at, page_version, len) == 0 &&
           path.at[at + len] == '/';
}

static route_step file(dn_self *self, const route_world *w, exchange *x, const dn_msg *reply) {
    (void)self, (void)w, (void)reply;
    for (size_t i = 1; i < page_files_len && is_of_this_version(x->head->path); i++)
        if (strlen(page_files[i].name) == x->id_len &&
            memcmp(page_files[i].name, x->id, x->id_len) == 0)
            return send(x, &page_files[i], "public, max-age=31536000, immutable");
    return exchange_answer(x, http_problem(404, "the dashboard has no such file, or not any more: "
                                                "load the page again"));
}

const route routes_page[] = {
    {"GET", "/", DN_SCOPE_NONE, ROUTE_NO_BODY, index_page, NULL},
    {"GET", PAGE_FILES "{version}/{id}", DN_SCOPE_NONE, ROUTE_NO_BODY, file, NULL},
    {.method = NULL},
};
