/* lock.h - a mutex, for the few things that threads share and that are touched rarely. */
#ifndef DIURNAL_ACTOR_LOCK_H
#define DIURNAL_ACTOR_LOCK_H

#include <pthread.h>

typedef struct lock {
    pthread_mutex_t mutex;
} lock;

void lock_init(lock *l);
void lock_done(lock *l);
void lock_take(lock *l);
void lock_give(lock *l);

#endif
