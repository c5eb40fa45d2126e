/* idempotency.h - answers to POST requests with an Idempotency-Key, so that a repeated request is done once.
 * A client that gets no answer cannot know whether its request was done, so it sends the request again with the same key
 * and gets the first answer. Answers stay in the memory of one actor: bounded, for ten minutes, and not over a restart. */
#ifndef DIURNAL_API_IDEMPOTENCY_H
#define DIURNAL_API_IDEMPOTENCY_H

#include "http_response.h"

enum {
    IDEMPOTENCY_MAX = 256,           /* entries; beyond them the oldest is evicted */
    IDEMPOTENCY_BYTES_MAX = 1 << 20, /* of all answers together; likewise */
    IDEMPOTENCY_MS = 10 * 60 * 1000,
    IDEMPOTENCY_KEY_MAX = 255,
    IDEMPOTENCY_DIGEST = 32,
};

typedef enum idempotency_state {
    /* *out_entry is in progress from here on; idempotency_keep, _mark_unknown, _mark_lost or _forget ends that. */
    IDEMPOTENCY_NEW,
    IDEMPOTENCY_IN_PROGRESS, /* another request with this key has no answer yet */
    IDEMPOTENCY_UNKNOWN,     /* another request may have been done, and never gets an answer */
    IDEMPOTENCY_LOST,        /* another request was done, and its answer could not be kept */
    IDEMPOTENCY_ANSWERED,    /* *out_entry has the answer, and is held until idempotency_release */
    IDEMPOTENCY_NO_MEMORY,
} idempotency_state;

typedef struct idempotency_entry {
    uint8_t           key[IDEMPOTENCY_DIGEST];  /* of the token, method, path and key */
    uint8_t           body[IDEMPOTENCY_DIGEST]; /* of the request's body */
    idempotency_state state;
    uint32_t          held; /* requests that read it; it is not evicted meanwhile */
    int64_t           since_ms;
    int               status; /* of the answer */
    const char       *type;
    char             *answer;
    size_t            answer_len;
} idempotency_entry;

typedef struct idempotency {
    idempotency_entry *entries[IDEMPOTENCY_MAX];
    size_t             bytes; /* of all answers */
} idempotency;

void idempotency_done(idempotency *table);
bool idempotency_is_sound(const idempotency *table);

/* token: its number. Times by a clock that does not step. */
idempotency_state idempotency_find(idempotency *table, uint64_t token, http_text method,
                                   http_text path, http_text key, int64_t now_ms,
                                   idempotency_entry **out_entry);

/* Ends a request in progress with its answer, copied. Without memory for the copy the entry is marked lost. */
void idempotency_keep(idempotency *table, idempotency_entry *entry,
                      const uint8_t body[IDEMPOTENCY_DIGEST], const http_response *r);
/* Ends it as one that was not done: the key may be used again. */
void idempotency_forget(idempotency *table, idempotency_entry *entry);
/* Ends it as one that was done without an answer to give again. */
void idempotency_mark_lost(idempotency_entry *entry);
/* Ends it as one that may have been done: until the entry expires, counted from now, it is not done again. */
void idempotency_mark_unknown(idempotency_entry *entry, int64_t now_ms);

void idempotency_release(idempotency_entry *entry);

/* The answer once more; a copy. */
http_response idempotency_replay(const idempotency_entry *entry);

#endif
