/* mem.h - the one place where the runtime gets memory from the system.
 * Everything above asks here, so that a test (or a simulation) can refuse any single request and
 * see what happens. Any thread; a refusal hook holds for the thread that set it. */
#ifndef DIURNAL_ACTOR_MEM_H
#define DIURNAL_ACTOR_MEM_H

#include "diurnal/base.h"

/* Zeroed, aligned for anything; NULL if refused. */
void *mem_alloc(size_t size);
void *mem_alloc_unzeroed(size_t size); /* likewise, with anything in it */
void  mem_free(void *memory);

/* Address space of which nothing may be touched yet, aligned to 2 MiB; NULL if refused. Reserving is
 * free: only what is committed, and then touched, takes memory. */
void *mem_reserve(size_t size);
bool  mem_commit(void *start, size_t size); /* page-aligned; zeroed on first commit */
void  mem_unreserve(void *start, size_t size);

/* Asked before each request of this thread: true refuses it. NULL: nobody asks. */
typedef bool mem_refuse_fn(void *context);
void         mem_refuse(mem_refuse_fn *refuse, void *context);

#endif
