/* openapi.h - holds what the daemon answers to what openapi.json says of it. */
#ifndef DIURNAL_TESTS_E2E_OPENAPI_H
#define DIURNAL_TESTS_E2E_OPENAPI_H

#include <jansson.h>
#include <stddef.h>

/* The document; its own for ever. */
const json_t *openapi(void);

/* What stands at "a/b/c" below a node, with each {"$ref": …} on the way resolved; a "/" in a name is written "~1". NULL: nothing. */
const json_t *openapi_at(const json_t *node, const char *path);

/* The operation of a method and a path as in a request, without its query; NULL: there is none. *out_pattern, if wanted,
 * is the path it stands under. */
const json_t *openapi_operation(const char *method, const char *path, const char **out_pattern);

/* NULL: the first answer to the first request is as the document says: its status, its type, its body, its fields. Else what
 * is to be mended, and where; valid until the next call. Of what is no request it says that the answer is a problem. */
const char *openapi_fault(const char *request, size_t len, const char *answer);

/* Likewise of the events of a stream, as far as it has been heard. */
const char *openapi_events_fault(const char *heard);

#endif
