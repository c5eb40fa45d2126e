/* lock.c - a mutex whose failures are bugs. */
#include "lock.h"

#include <assert.h>

static void must(int rc) {
    assert(rc == 0 && "a mutex was misused");
    (void)rc;
}

void lock_init(lock *l) { must(pthread_mutex_init(&l->mutex, NULL)); }
void lock_done(lock *l) { must(pthread_mutex_destroy(&l->mutex)); }
void lock_take(lock *l) { must(pthread_mutex_lock(&l->mutex)); }
void lock_give(lock *l) { must(pthread_mutex_unlock(&l->mutex)); }
