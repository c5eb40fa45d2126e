/* asking.h - a daemon with its first token, and questions to its API: what the tests of the API share. */
#ifndef DIURNAL_TESTS_E2E_ASKING_H
#define DIURNAL_TESTS_E2E_ASKING_H

#include "place.h"

#include <jansson.h>
#include <string.h>

/* Starts one whose jobs succeed at once, ten ticks before anybody can look twice. */
place *serves(void);
/* Likewise with these arguments besides; they end with NULL. */
void serves_with(place *p, const char *const *args);
void stops(place *p);

extern char admin[128]; /* the first token of the present one */

extern const char *answer; /* the last one, whole */
extern json_t     *said;   /* its body, if it is JSON */

/* The status of the answer. Each is held to openapi.json. fields: more of the head, each ended by CR LF. token: NULL for none.
 * body: NULL for none. */
int asks_whole(const place *p, const char *method, const char *path, const char *token,
               const char *fields, const char *body, size_t body_len);
int asks_len(const place *p, const char *method, const char *path, const char *token,
             const char *body, size_t body_len);
int asks(const place *p, const char *method, const char *path, const char *body); /* as admin */

/* The value of a field of the answer's head, or NULL; valid until the next call. */
const char *answer_field(const char *name);

/* A member of what was said: "a.b", a text or what it is as JSON. */
const char *member(const char *path);

/* Makes a token of that scope, and writes it and its id; expires_at: NULL for never. */
void makes_token(const place *p, const char *scope, const char *expires_at, char token[128],
                 char id[32]);

#define CHECK_ASKS(p, status, method, path, body)                                                  \
    do {                                                                                           \
        const int is_ = asks((p), (method), (path), (body));                                       \
        CHECK_MSG(is_ == (status), "%s %s: %s", (method), (path), answer);                         \
    } while (0)

#define CHECK_DETAIL(words)                                                                        \
    CHECK_MSG(strstr(member("detail"), (words)), "it is: %s", answer);                             \
    CHECK(strstr(answer, "application/problem+json"))

#endif
