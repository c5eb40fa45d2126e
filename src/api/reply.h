/* reply.h - how a handler answers. Each sets the response of the request and returns ROUTE_DONE, to be returned by the
 * handler. Where memory runs out the response is a 503. */
#ifndef DIURNAL_API_REPLY_H
#define DIURNAL_API_REPLY_H

#include "route.h"

/* Takes value; NULL is out of memory. */
route_step reply_json(exchange *x, int status, json_t *value);
/* {"items":items,"next_cursor":cursor}; takes both, NULL is out of memory. The last page has json_null(). */
route_step reply_page(exchange *x, json_t *items, json_t *cursor);
route_step reply_text(exchange *x, int status, const char *text);
route_step reply_empty(exchange *x); /* 204 */
route_step reply_response(exchange *x, http_response response);

route_step reply_problem(exchange *x, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
route_step reply_no_memory(exchange *x);
/* 401, with the ways to authenticate. */
route_step reply_unauthorized(exchange *x, const char *detail);
/* 404: the id in the path is that of no `what`. */
route_step reply_unknown(exchange *x, const char *what);
/* An error of kv: 404 for DN_EDEAD, 507 for DN_EFULL, else 500. */
route_step reply_store_error(exchange *x, int status);

/* Appends to a JSON array and takes item. Without memory *array becomes NULL, which the functions above accept. */
void reply_append(json_t **array, json_t *item);

#endif
