/* settings_show.c - prints the settings as a file or as JSON. */
#define _GNU_SOURCE /* mempcpy */
#include "settings.h"

#include <assert.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli_text.h"

enum { SOURCE_COLUMN = 40, NUMBER_TEXT = 32 };

static int         show_text(const dn_settings *s, FILE *out);
static int         show_json(const dn_settings *s, FILE *out);
static char       *value_copy(const dn_settings *s, size_t i, bool *out_masked);
static json_t     *value_json(const dn_settings *s, size_t i, const char *text);
static char       *source_copy(const dn_settings *s, size_t i);
static char       *quoted_copy(const char *value);
static const void *field_of(const dn_settings *s, size_t i);

int dn_settings_show(const dn_settings *settings, bool json, FILE *out) {
    const int rc = json ? show_json(settings, out) : show_text(settings, out);

    if (rc < 0) return rc;
    return fflush(out) == 0 && !ferror(out) ? DN_OK : DN_EIO;
}

static int show_text(const dn_settings *s, FILE *out) {
    for (size_t i = 0; i < DN_SETTINGS; i++) {
        bool        masked = false;
        char *const value = value_copy(s, i, &masked);
        char *const quoted = value ? quoted_copy(value) : NULL;
        char *const source = source_copy(s, i);

        if (quoted && source) {
            /* A masked value, or `config`, is a comment, because a file cannot have it. */
            const bool comment = masked || i == DN_SETTING_config;
            const int  used =
                fprintf(out, "%s%s = %s", comment ? "# " : "", dn_settings_table[i].key, quoted);

            (void)fprintf(out, "%*s # %s\n", used < SOURCE_COLUMN ? SOURCE_COLUMN - used : 0, "",
                          source);
        }
        const int rc = quoted && source ? DN_OK : DN_ENOMEM;
        free(source);
        free(quoted);
        free(value);
        if (rc < 0) return rc;
    }
    return DN_OK;
}

static int show_json(const dn_settings *s, FILE *out) {
    static const char *const names[] = {
        [DN_FROM_DEFAULT] = "default", [DN_FROM_STATE_DIRECTORY] = "default",
        [DN_FROM_FILE] = "file",       [DN_FROM_ENVIRONMENT] = "environment",
        [DN_FROM_FLAG] = "flag",
    };
    json_t *const items = json_array();
    json_t *const root = json_pack("{s:o?}", "items", items);
    int           rc = root && items ? DN_OK : DN_ENOMEM;

    for (size_t i = 0; i < DN_SETTINGS && rc == DN_OK; i++) {
        const dn_setting *const setting = &dn_settings_table[i];
        bool                    masked = false;
        char *const             value = value_copy(s, i, &masked);
        char *const             at = source_copy(s, i);
        const bool              by_default = s->sources[i].from == DN_FROM_DEFAULT;
        json_t                 *item = NULL;

        if (value && at)
            item = json_pack("{s:s, s:o, s:s, s:s?, s:b}", "key", setting->key, "value",
                             value_json(s, i, value), "source", names[s->sources[i].from], "at",
                             by_default ? NULL : at, "live", setting->live);
        if (json_array_append_new(items, item) < 0) rc = DN_ENOMEM;
        free(at);
        free(value);
    }
    if (rc == DN_OK && json_dumpf(root, out, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) < 0)
        rc = DN_EIO;
    if (rc == DN_OK) (void)fputc('\n', out);
    json_decref(root);
    return rc;
}

static json_t *value_json(const dn_settings *s, size_t i, const char *text) {
    switch (dn_settings_table[i].type) {
    case DN_SETTING_INT: return json_integer(*(const int64_t *)field_of(s, i));
    case DN_SETTING_REAL: return json_real(*(const double *)field_of(s, i));
    case DN_SETTING_BOOL: return json_boolean(*(const bool *)field_of(s, i));
    case DN_SETTING_TEXT:
    case DN_SETTING_ADDR:
    case DN_SETTING_WORD: return json_string(text);
    }
    assert(false);
    return NULL;
}

/* The value as in a file, without quotes. NULL: out of memory. */
static char *value_copy(const dn_settings *s, size_t i, bool *out_masked) {
    const dn_setting *const setting = &dn_settings_table[i];
    const void *const       field = field_of(s, i);
    const char             *word = setting->unit;
    char                    number[NUMBER_TEXT];

    switch (setting->type) {
    case DN_SETTING_INT:
        (void)snprintf(number, sizeof number, "%lld", (long long)*(const int64_t *)field);
        return text_copy(number, strlen(number));
    case DN_SETTING_REAL:
        (void)snprintf(number, sizeof number, "%.15g", *(const double *)field);
        return text_copy(number, strlen(number));
    case DN_SETTING_BOOL:
        return *(const bool *)field ? text_copy("true", 4) : text_copy("false", 5);
    case DN_SETTING_WORD:
        for (int n = *(const int *)field; n > 0; n--) word += strcspn(word, "|") + 1;
        return text_copy(word, strcspn(word, "|"));
    case DN_SETTING_TEXT:
    case DN_SETTING_ADDR: break;
    }
    const char *const text = *(const char *const *)field;
    char *const       copy =
        setting->masked ? dn_settings_masked_copy(text) : text_copy(text, strlen(text));

    *out_masked = copy && strcmp(copy, text) != 0;
    return copy;
}

char *dn_settings_masked_copy(const char *url) {
    static const char mask[] = "***";
    const char       *kept, *end, *host = strstr(url, "://");
    char             *copy, *at;

    if (strncmp(url, "exec:", 5) == 0) {
        kept = url;
        end = url + strcspn(url, " ");
        host = end;
    } else {
        kept = host ? host + 3 : url;
        host = kept;
        for (const char *c = kept; *c != '\0' && !strchr("/?#", *c); c++)
            if (*c == '@') host = c;
        end = host + strcspn(host, "?#");
    }
    copy = malloc(strlen(url) + 2 * sizeof mask);
    if (!copy) return NULL;
    at = mempcpy(copy, url, (size_t)(kept - url));
    if (host > kept && *host == '@') at = mempcpy(at, mask, sizeof mask - 1);
    else host = kept;
    at = mempcpy(at, host, (size_t)(end - host));
    if (*end != '\0') {
        *at++ = *end;
        at = mempcpy(at, mask, sizeof mask - 1);
    }
    *at = '\0';
    return copy;
}

/* With quotes if ini.c would read another value without them. */
static char *quoted_copy(const char *value) {
    const size_t len = strlen(value);
    char *const  copy = malloc(2 * len + 3);
    char        *at = copy;

    if (!copy) return NULL;
    if (len > 0 && *value != ' ' && *value != '"' && *value != '#' && value[len - 1] != ' ' &&
        !strstr(value, " #"))
        return memcpy(copy, value, len + 1);
    *at++ = '"';
    for (; *value != '\0'; value++) {
        if (*value == '"' || *value == '\\') *at++ = '\\';
        *at++ = *value;
    }
    *at++ = '"';
    *at = '\0';
    return copy;
}

static char *source_copy(const dn_settings *s, size_t i) {
    char   name[DN_SETTING_NAME];
    size_t size;
    char  *copy;

    switch (s->sources[i].from) {
    case DN_FROM_DEFAULT: return text_copy("default", 7);
    case DN_FROM_STATE_DIRECTORY: return text_copy("STATE_DIRECTORY", 15);
    case DN_FROM_ENVIRONMENT: dn_setting_variable(i, name); return text_copy(name, strlen(name));
    case DN_FROM_FLAG: dn_setting_flag(i, name); return text_copy(name, strlen(name));
    case DN_FROM_FILE: break;
    }
    size = strlen(s->config) + NUMBER_TEXT;
    copy = malloc(size);
    if (copy) (void)snprintf(copy, size, "%s:%u", s->config, s->sources[i].line);
    return copy;
}

static const void *field_of(const dn_settings *s, size_t i) {
    return (const char *)s + dn_settings_table[i].offset;
}
