/* openapi.h - the description of the HTTP API for programs: openapi.json, embedded in the binary and served as it is.
 * tests/e2e hold the routes and every answer to it. */
#ifndef DIURNAL_API_OPENAPI_H
#define DIURNAL_API_OPENAPI_H

#include <stddef.h>

extern const char   openapi_json[];
extern const size_t openapi_json_len;

#endif
