/* fields.h - the parameters of a query and the members of a JSON body, checked by one small table of each route.
 * A name that is not in the table is refused, and so is a value that is not of its type: a typing error is never passed
 * over. Pure. */
#ifndef DIURNAL_API_FIELDS_H
#define DIURNAL_API_FIELDS_H

#include "http/http_head.h"

#include <jansson.h>

typedef enum field_type {
    FIELD_TEXT,   /* UTF-8; max: bytes, if it is not 0 */
    FIELD_NUMBER, /* whole, from min to max */
    FIELD_DAY,    /* YYYY-MM-DD; .number is a dn_day */
    FIELD_TIME,   /* HH:MM; .number is the minute of the day */
} field_type;

/* A table ends with a field without a name. */
typedef struct field {
    const char *name;
    field_type  type;
    bool        required;
    bool        nullable; /* null is the same as leaving it out; else it is refused */
    int64_t     min, max;
} field;

typedef struct field_value {
    bool        given;
    int64_t     number;
    const char *text; /* of FIELD_TEXT: ended by a zero, which may not be the only one */
    size_t      len;
} field_value;

enum { FIELDS_WHY = 256 };

/* Zeroed: no values. */
typedef struct field_values {
    field_value *at;   /* one for each field, in the order of the table */
    char        *text; /* what the values of a query borrow */
    json_t      *json; /* what the values of a body borrow */
} field_values;

void field_values_done(field_values *v);

/* *out_values is the caller's, also if it fails. An empty value counts as left out, because forms send one for a field
 * that is not filled in. fields NULL: none is known. DN_EINVAL: why names the parameter and says what would be right;
 * DN_ENOMEM. */
DN_MUST_USE int fields_read_query(const field *fields, http_text query, field_values *out_values,
                                  char why[FIELDS_WHY]);
/* Likewise of a JSON object. */
DN_MUST_USE int fields_read_json(const field *fields, const char *body, size_t len,
                                 field_values *out_values, char why[FIELDS_WHY]);

/* The value, or another where it was left out. */
int64_t field_number(const field_value *v, int64_t otherwise);

#endif
