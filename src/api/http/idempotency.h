/* idempotency.h - requests that may come twice, and are to be done once: what was answered to a POST with an Idempotency-Key.
 * Who hears no answer does not know whether anything was done, and asks again with the same key: then the first answer is given
 * again. Kept in memory beside the actor that answers, so bounded, for a while, and not over a restart. */
#ifndef DIURNAL_API_IDEMPOTENCY_H
#define DIURNAL_API_IDEMPOTENCY_H

#include "http_response.h"

enum {
    ONCE_MAX = 256,           /* the oldest makes room */
    ONCE_BYTES_MAX = 1 << 20, /* of all answers together; likewise */
    ONCE_MS = 10 * 60 * 1000,
    ONCE_KEY_MAX = 255,
    ONCE_DIGEST = 32,
};

typedef enum once_found {
    ONCE_NEW, /* *out_entry is under way from here on: once_keep, once_doubt, once_lose or once_drop ends that */
    ONCE_UNDER_WAY, /* of another request that has no answer yet */
    ONCE_UNSURE,    /* of another request that may have been done, and will never have one */
    ONCE_LOST,      /* of another request that was done, and its answer was not to be kept */
    ONCE_KNOWN,     /* *out_entry has its answer, and is held until once_release */
    ONCE_NO_ROOM,
} once_found;

typedef struct once_entry {
    uint8_t     key[ONCE_DIGEST];  /* of who asked, for what, and the key */
    uint8_t     body[ONCE_DIGEST]; /* of what was asked */
    once_found  found;             /* who looks for it finds that */
    uint32_t    held;              /* so many requests are at it: it stays */
    int64_t     since_ms;
    int         status; /* the answer */
    const char *type;
    char       *answer;
    size_t      answer_len;
} once_entry;

typedef struct once {
    once_entry *entries[ONCE_MAX];
    size_t      bytes;
} once;

void once_done(once *o);

/* who: the number of a token. Times by a clock that does not step. */
once_found once_look(once *o, uint64_t who, http_text method, http_text path, http_text key,
                     int64_t now_ms, once_entry **out_entry);

/* What the request that is under way was answered, copied. Without memory for it the answer is lost, and not the key. */
void once_keep(once *o, once_entry *entry, const uint8_t body[ONCE_DIGEST], const http_response *r);
void once_drop(once *o, once_entry *entry);
/* It was done, and there is no answer to give again. */
void once_lose(once_entry *entry);
/* It is not known whether it was done: while this is remembered, from now on, it is not done again. */
void once_doubt(once_entry *entry, int64_t now_ms);

void once_release(once_entry *entry);

/* The answer once more; a copy. */
http_response once_answer(const once_entry *entry);

#endif
