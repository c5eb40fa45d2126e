/* router.h - finds the route of a request by its path and method.
 * The path is looked for first: of the patterns that match it the most specific one is meant, whatever the method. So
 * DELETE /claims/7:renew is a 405 where only POST /claims/{id}:renew is a route, and never deletes a claim "7:renew". */
#ifndef DIURNAL_API_ROUTER_H
#define DIURNAL_API_ROUTER_H

#include "http/path_pattern.h"

struct route;
typedef struct router router;

/* Compiles the patterns of all tables: each ends with a route without a method, and the list of them with NULL. Borrows
 * them. DN_ENOMEM; DN_EINVAL: a pattern is no template, or a method stands twice at a path. */
DN_MUST_USE int router_new(const struct route *const *tables, router **out_router);
void            router_free(router *r); /* accepts NULL */
bool            router_is_sound(const router *r);

/* NULL: no route has this path (*out_allow is NULL), or none of the path has this method (*out_allow lists those it
 * has). HEAD finds the route of GET. */
const struct route *router_find(const router *r, http_text method, http_text path,
                                path_captures *out_captures, const char **out_allow);

#endif
