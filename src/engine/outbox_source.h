/* outbox_source.h - delivers what the store's outbox holds. */
#ifndef DIURNAL_ENGINE_OUTBOX_SOURCE_H
#define DIURNAL_ENGINE_OUTBOX_SOURCE_H

#include "messages.h"

/* What a runner is asked for a hook. */
typedef struct dn_outbox_request {
    dn_blob *body; /* one reference, the outbox's */
    uint16_t key_len;
    char     key[DN_RUN_KEY_MAX];
} dn_outbox_request;

typedef struct dn_outbox_config {
    uint16_t type; /* of its work: an index into dn_executor_config.types */
    int64_t  timeout_ms;
    /* Makes the request for a hook. DN_ENOMEM. */
    int (*request)(const dn_hook *hook, int64_t deadline_ms, dn_outbox_request *out_request);
} dn_outbox_config;

enum { DN_OUTBOX_SLOTS = 16 }; /* deliveries at once */

extern const dn_class dn_outbox_class; /* config: dn_outbox_config */

#endif
