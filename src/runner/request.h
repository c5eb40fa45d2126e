/* request.h - what a runner is told of a run: the JSON body and the key that names it.
 * Any thread. */
#ifndef DIURNAL_RUNNER_REQUEST_H
#define DIURNAL_RUNNER_REQUEST_H

#include "runner.h"

/* Room for an id of which every byte has to be escaped, and an end. */
enum { REQUEST_BODY_MAX = 256 + 6 * DN_ID_MAX, REQUEST_KEY_MAX = 32 + 3 * DN_ID_MAX };

/* {"type":…,"user_id":…,"day":…,"due":…,"attempt":…,"context_epoch":…,"deadline":…}; answers its length. */
size_t request_body(const dn_run_request *request, char body[REQUEST_BODY_MAX]);

/* daily:{user_id}:{day}, or cutoff:…; the same for every attempt. So that it may stand in a header,
 * each byte of the id that is not visible ASCII, and '%' itself, is written as %XX: two ids never
 * make one key. */
void request_key(const dn_run_request *request, char key[REQUEST_KEY_MAX]);

/* The same as a webhook-id: '.' is written as %2E too, because a signature is over id.timestamp.body and
 * Standard Webhooks wants no '.' that a user can place. */
void request_webhook_id(const dn_run_request *request, char id[REQUEST_KEY_MAX]);

#endif
