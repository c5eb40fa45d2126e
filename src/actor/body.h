/* body.h - memory for the bodies that do not fit into a message.
 * A loop keeps some of the smaller ones it has let go, because the system's allocator costs more than the whole way of
 * a message. Whichever loop lets a body go keeps it, so none of them has a home. Any thread. */
#ifndef DIURNAL_ACTOR_BODY_H
#define DIURNAL_ACTOR_BODY_H

#include "diurnal/base.h"

struct dn_loop;

/* NULL: no memory. What is in it is undefined. */
void *body_new(size_t size);
void *body_new_zeroed(size_t size);
void  body_free(void *body, size_t size); /* size: as asked for */

/* The release function that says a body is one of these. */
void body_release(void *body);

/* At the end of a loop. */
void bodies_done(struct dn_loop *l);

#endif
