/* schema.h - does a value fit a schema (JSON Schema 2020-12), as far as openapi.json uses it?
 * A keyword that is not known here is a fault of its own: it would be one that nothing is held to. And stricter than a schema is by itself:
 * a member that it does not name is a fault too, for answers are to be described whole. */
#ifndef DIURNAL_TESTS_E2E_SCHEMA_H
#define DIURNAL_TESTS_E2E_SCHEMA_H

#include <jansson.h>
#include <stdbool.h>

enum { SCHEMA_WHY = 512 };

/* What {"$ref": "#/…"} stands for in root, or node itself if it is none; NULL: nothing. */
const json_t *schema_resolve(const json_t *root, const json_t *node);

/* False: why says which value does not, and what it does not. */
bool schema_fits(const json_t *root, const json_t *schema, const json_t *value,
                 char why[SCHEMA_WHY]);

/* Are all its keywords known, in all of its parts? */
bool schema_is_known(const json_t *root, const json_t *schema, char why[SCHEMA_WHY]);

#endif
