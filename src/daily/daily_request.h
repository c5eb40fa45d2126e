/* daily_request.h - what a runner is asked for a user's day: the JSON body and the idempotency key (CONTRACT §3).
 * Any thread. */
#ifndef DIURNAL_DAILY_DAILY_REQUEST_H
#define DIURNAL_DAILY_DAILY_REQUEST_H

#include "base/blob.h"
#include "domain/daily_rule.h"

typedef enum dn_daily_request_type { DN_REQUEST_RUN, DN_REQUEST_CUTOFF } dn_daily_request_type;

typedef struct dn_daily_request {
    dn_daily_request_type type;
    const char           *id; /* of the user, borrowed */
    size_t                id_len;
    dn_day                day;
    uint32_t              due, attempt, context_epoch;
    int64_t               deadline_ms;
} dn_daily_request;

enum { DN_DAILY_KEY_MAX = 32 + 3 * DN_ID_MAX }; /* with its end */

/* The body, with one reference; NULL: no memory.
 * {"type":"daily.run","user_id":…,"day":…,"due":…,"attempt":…,"context_epoch":…,"deadline":…} */
DN_MUST_USE dn_blob *dn_daily_request_new(const dn_daily_request *request);

/* daily:{user_id}:{day}, or cutoff:…; the same for every attempt. Returns its length. So that it may stand in a header,
 * each byte of the id that is not visible ASCII, and '%' itself, is written as %XX: two ids never make one key. */
size_t dn_daily_request_key(const dn_daily_request *request, char key[DN_DAILY_KEY_MAX]);

/* Reads a body as dn_daily_request_new writes it, and nothing else: DN_EINVAL, and *out_request is untouched. Simulated
 * endpoints do this for millions of attempts, so it is no parser of JSON. out_request->id points into id. The deadline is
 * not read, and is 0. */
DN_MUST_USE int dn_daily_request_read(const char *bytes, size_t len, char id[DN_ID_MAX],
                                      dn_daily_request *out_request);

#endif
