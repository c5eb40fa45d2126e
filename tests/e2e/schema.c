/* schema.c - see schema.h. */
#include "schema.h"

#include "test.h"

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_MAX_ = 256 };

/* One look at one value. */
typedef struct look {
    const json_t *root;
    char          path[PATH_MAX_]; /* to the value */
    char         *why;
} look;

static bool fails(const look *l, const char *keyword, const json_t *wants, const json_t *is) {
    char *const wanted = json_dumps(wants, JSON_ENCODE_ANY | JSON_COMPACT);
    char *const found = json_dumps(is, JSON_ENCODE_ANY | JSON_COMPACT);

    (void)snprintf(l->why, SCHEMA_WHY, "%s is %.160s, and \"%s\" wants %.160s",
                   *l->path ? l->path : "it", found ? found : "nothing", keyword, wanted);
    free(wanted);
    free(found);
    return false;
}

const json_t *schema_resolve(const json_t *root, const json_t *node) {
    const char *ref = json_string_value(json_object_get(node, "$ref"));
    char        step[PATH_MAX_];

    if (!ref) return node;
    if (strncmp(ref, "#/", 2) != 0) return NULL;
    for (const char *at = ref + 2; root && *at; at += *at == '/') {
        const size_t len = strcspn(at, "/");
        (void)snprintf(step, sizeof step, "%.*s", (int)len, at);
        root = json_object_get(root, step);
        at += len;
    }
    return root;
}

/* ---- Keywords: each says whether the value fits ---- */

static bool fits(look *l, const json_t *schema, const json_t *value);

static bool fits_ref(look *l, const json_t *schema, const json_t *wants, const json_t *value) {
    const json_t *target = schema_resolve(l->root, schema);

    if (!target) return fails(l, "$ref", wants, value);
    return fits(l, target, value);
}

static bool is_of_type(const char *type, const json_t *value) {
    if (strcmp(type, "object") == 0) return json_is_object(value);
    if (strcmp(type, "array") == 0) return json_is_array(value);
    if (strcmp(type, "string") == 0) return json_is_string(value);
    if (strcmp(type, "integer") == 0) return json_is_integer(value);
    if (strcmp(type, "number") == 0) return json_is_number(value);
    if (strcmp(type, "boolean") == 0) return json_is_boolean(value);
    return strcmp(type, "null") == 0 && json_is_null(value);
}

static bool fits_type(look *l, const json_t *schema, const json_t *wants, const json_t *value) {
    (void)schema;
    if (json_is_string(wants))
        return is_of_type(json_string_value(wants), value) || fails(l, "type", wants, value);
    for (size_t i = 0; i < json_array_size(wants); i++)
        if (is_of_type(json_string_value(json_array_get(wants, i)), value)) return true;
    return fails(l, "type", wants, value);
}

static bool fits_enum(look *l, const json_t *schema, const json_t *wants, const json_t *value) {
    (void)schema;
    for (size_t i = 0; i < json_array_size(wants); i++)
        if (json_equal(json_array_get(wants, i), value)) return true;
    return fails(l, "enum", wants, value);
}

static bool fits_const(look *l, const json_t *schema, const json_t *wants, const json_t *value) {
    (void)schema;
    return json_equal(wants, value) || fails(l, "const", wants, value);
}

static bool fits_required(look *l, const json_t *schema, const json_t *wants, const json_t *value) {
    (void)schema;
    for (size_t i = 0; json_is_object(value) && i < json_array_size(wants); i++)
        if (!json_object_get(value, json_string_value(json_array_get(wants, i))))
            return fails(l, "required", json_array_get(wants, i), value);
    return true;
}

/* Goes down a step, and up again. */
static bool fits_below(look *l, const char *step, const json_t *schema, const json_t *value) {
    const size_t len = strlen(l->path);

    (void)snprintf(l->path + len, sizeof l->path - len, "%s%s", len > 0 ? "." : "", step);
    if (!fits(l, schema, value)) return false;
    l->path[len] = '\0';
    return true;
}

static bool fits_properties(look *l, const json_t *schema, const json_t *wants,
                            const json_t *value) {
    const char *key;
    json_t     *member;

    (void)schema;
    json_object_foreach((json_t *)(uintptr_t)value, key, member) {
        const json_t *own = json_object_get(wants, key);
        if (!own) {
            (void)snprintf(l->why, SCHEMA_WHY, "%s has a member \"%s\" that is not described",
                           *l->path ? l->path : "it", key);
            return false;
        }
        if (!fits_below(l, key, own, member)) return false;
    }
    return true;
}

/* Without it members that are not named are refused here all the same. */
static bool fits_additional(look *l, const json_t *schema, const json_t *wants,
                            const json_t *value) {
    (void)schema;
    return json_is_false(wants) || fails(l, "additionalProperties", wants, value);
}

static bool fits_items(look *l, const json_t *schema, const json_t *wants, const json_t *value) {
    char step[24];

    (void)schema;
    for (size_t i = 0; i < json_array_size(value); i++) {
        (void)snprintf(step, sizeof step, "%zu", i);
        if (!fits_below(l, step, wants, json_array_get(value, i))) return false;
    }
    return true;
}

/* Those by their places; with more there is no place. */
static bool fits_prefix(look *l, const json_t *schema, const json_t *wants, const json_t *value) {
    char step[24];

    (void)schema;
    for (size_t i = 0; i < json_array_size(value); i++) {
        if (i == json_array_size(wants)) return fails(l, "prefixItems", wants, value);
        (void)snprintf(step, sizeof step, "%zu", i);
        if (!fits_below(l, step, json_array_get(wants, i), json_array_get(value, i))) return false;
    }
    return true;
}

static bool fits_items_min(look *l, const json_t *schema, const json_t *wants,
                           const json_t *value) {
    (void)schema;
    return !json_is_array(value) ||
           (json_int_t)json_array_size(value) >= json_integer_value(wants) ||
           fails(l, "minItems", wants, value);
}

static bool fits_items_max(look *l, const json_t *schema, const json_t *wants,
                           const json_t *value) {
    (void)schema;
    return (json_int_t)json_array_size(value) <= json_integer_value(wants) ||
           fails(l, "maxItems", wants, value);
}

static bool fits_minimum(look *l, const json_t *schema, const json_t *wants, const json_t *value) {
    (void)schema;
    return !json_is_number(value) || json_number_value(value) >= json_number_value(wants) ||
           fails(l, "minimum", wants, value);
}

static bool fits_maximum(look *l, const json_t *schema, const json_t *wants, const json_t *value) {
    (void)schema;
    return !json_is_number(value) || json_number_value(value) <= json_number_value(wants) ||
           fails(l, "maximum", wants, value);
}

static json_int_t characters(const json_t *text) {
    json_int_t len = 0;

    for (const char *at = json_string_value(text); *at; at++) len += (*at & 0xc0) != 0x80;
    return len;
}

static bool fits_len_min(look *l, const json_t *schema, const json_t *wants, const json_t *value) {
    (void)schema;
    return !json_is_string(value) || characters(value) >= json_integer_value(wants) ||
           fails(l, "minLength", wants, value);
}

static bool fits_len_max(look *l, const json_t *schema, const json_t *wants, const json_t *value) {
    (void)schema;
    return !json_is_string(value) || characters(value) <= json_integer_value(wants) ||
           fails(l, "maxLength", wants, value);
}

/* Those of the document mean the same as POSIX's extended ones. */
static bool fits_pattern(look *l, const json_t *schema, const json_t *wants, const json_t *value) {
    regex_t pattern;

    (void)schema;
    if (!json_is_string(value)) return true;
    CHECK_INT(regcomp(&pattern, json_string_value(wants), REG_EXTENDED | REG_NOSUB), 0);
    const bool does = regexec(&pattern, json_string_value(value), 0, NULL, 0) == 0;
    regfree(&pattern);
    return does || fails(l, "pattern", wants, value);
}

static bool fits_anyway(look *l, const json_t *schema, const json_t *wants, const json_t *value) {
    (void)l, (void)schema, (void)wants, (void)value;
    return true;
}

static const struct keyword {
    const char *name;
    bool (*fits)(look *l, const json_t *schema, const json_t *wants, const json_t *value);
} keywords[] = {
    {"$ref", fits_ref},
    {"type", fits_type},
    {"enum", fits_enum},
    {"const", fits_const},
    {"required", fits_required},
    {"properties", fits_properties},
    {"additionalProperties", fits_additional},
    {"items", fits_items},
    {"prefixItems", fits_prefix},
    {"minItems", fits_items_min},
    {"maxItems", fits_items_max},
    {"minimum", fits_minimum},
    {"maximum", fits_maximum},
    {"minLength", fits_len_min},
    {"maxLength", fits_len_max},
    {"pattern", fits_pattern},
    {"description", fits_anyway},
    {"examples", fits_anyway},
};

static const struct keyword *keyword_of(look *l, const char *name) {
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (strcmp(keywords[i].name, name) == 0) return &keywords[i];
    (void)snprintf(l->why, SCHEMA_WHY,
                   "the keyword \"%s\" of a schema is not understood: teach it to "
                   "tests/e2e/schema.c, or do without it",
                   name);
    return NULL;
}

static bool fits(look *l, const json_t *schema, const json_t *value) {
    const char *name;
    json_t     *wants;

    CHECK_MSG(json_is_object(schema), "what is to be a schema is none");
    json_object_foreach((json_t *)(uintptr_t)schema, name, wants) {
        const struct keyword *k = keyword_of(l, name);
        if (!k || !k->fits(l, schema, wants, value)) return false;
    }
    return true;
}

/* NOLINTBEGIN(readability-non-const-parameter): it is written to, by way of l */
bool schema_fits(const json_t *root, const json_t *schema, const json_t *value,
                 char why[SCHEMA_WHY]) {
    look l = {.root = root, .why = why};

    return fits(&l, schema, value);
}

/* ---- Without a value ---- */

static bool is_known(look *l, const json_t *schema) {
    const char *name;
    json_t     *part;

    json_object_foreach((json_t *)(uintptr_t)schema, name, part) {
        const char *key;
        json_t     *below;
        if (!keyword_of(l, name)) return false;
        if (strcmp(name, "$ref") == 0 && !schema_resolve(l->root, schema))
            return fails(l, "$ref", part, NULL);
        if (strcmp(name, "items") == 0 && !is_known(l, part)) return false;
        for (size_t i = 0; strcmp(name, "prefixItems") == 0 && i < json_array_size(part); i++)
            if (!is_known(l, json_array_get(part, i))) return false;
        if (strcmp(name, "properties") == 0)
            json_object_foreach(part, key, below) if (!is_known(l, below)) return false;
    }
    return true;
}

bool schema_is_known(const json_t *root, const json_t *schema, char why[SCHEMA_WHY]) {
    look l = {.root = root, .why = why};

    return is_known(&l, schema);
}
/* NOLINTEND(readability-non-const-parameter) */
