/* openapi.h - what the HTTP API is, for programs: openapi.json, in the binary.
 * Served as it stands. tests/e2e hold the routes and every answer to it. */
#ifndef DIURNAL_API_OPENAPI_H
#define DIURNAL_API_OPENAPI_H

#include <stddef.h>

extern const char   openapi_json[];
extern const size_t openapi_json_len;

#endif
