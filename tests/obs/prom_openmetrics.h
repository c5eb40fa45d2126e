/* prom_openmetrics.h - what OpenMetrics 1.0.0 demands of a text, read anew from the specification: promtool reads only
 * the older format. */
#ifndef DIURNAL_TESTS_OBS_PROM_OPENMETRICS_H
#define DIURNAL_TESTS_OBS_PROM_OPENMETRICS_H

#include "test.h"

#include <ctype.h>
#include <iconv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OM_LINES_MAX = 4000, OM_NAME_MAX = 200 };

typedef struct om_reader {
    const char *lines[OM_LINES_MAX]; /* samples, up to their value */
    size_t      lines_len[OM_LINES_MAX], lines_count;
    char        families[OM_LINES_MAX][OM_NAME_MAX]; /* the last is the one that is read */
    size_t      families_count;
    char        type[20];
    bool        typed, helped, united, sampled;
    /* Of the histogram that is read. */
    double le, bucket;
} om_reader;

static inline size_t om_name_len(const char *c) {
    size_t len = 0;

    while (isalnum((unsigned char)c[len]) || c[len] == '_' || c[len] == ':') len++;
    CHECK_MSG(len > 0 && len < OM_NAME_MAX && !isdigit((unsigned char)*c), "no name: %.60s", c);
    return len;
}

static inline void om_check_utf8(const char *text) {
    iconv_t converter = iconv_open("UTF-32LE", "UTF-8");
    char   *in = (char *)text;
    size_t  in_left = strlen(text), out_left = in_left * 4 + 4;
    char   *wide = malloc(out_left), *out = wide;

    CHECK_MSG(iconv(converter, &in, &in_left, &out, &out_left) != (size_t)-1, "no UTF-8: %.60s",
              in);
    free(wide);
    iconv_close(converter);
}

/* "# TYPE name rest" */
static inline void om_read_head(om_reader *r, const char *line, size_t line_len) {
    const char  *name = line + strlen("# TYPE ");
    const size_t name_len = om_name_len(name);
    const char  *rest = name + name_len + 1;
    const size_t rest_len = line_len - (size_t)(rest - line);
    char        *family = r->families[r->families_count];

    CHECK_MSG(name[name_len] == ' ', "%.60s", line);
    memcpy(family, name, name_len);
    family[name_len] = '\0';
    if (r->families_count == 0 || strcmp(r->families[r->families_count - 1], family) != 0) {
        for (size_t i = 0; i < r->families_count; i++)
            CHECK_MSG(strcmp(r->families[i], family) != 0, "%s comes twice", family);
        r->families_count++;
        r->typed = r->helped = r->united = r->sampled = false;
        strcpy(r->type, "unknown");
    }
    CHECK_MSG(!r->sampled, "behind samples: %.60s", line);
    bool *seen = NULL;
    if (!strncmp(line, "# TYPE ", 7)) {
        seen = &r->typed;
        CHECK(rest_len < sizeof r->type);
        memcpy(r->type, rest, rest_len);
        r->type[rest_len] = '\0';
        CHECK_MSG(!strcmp(r->type, "counter") || !strcmp(r->type, "gauge") ||
                      !strcmp(r->type, "histogram") || !strcmp(r->type, "unknown"),
                  "%.60s", line);
    } else if (!strncmp(line, "# HELP ", 7)) {
        seen = &r->helped;
        for (size_t i = 0; i < rest_len; i++) {
            CHECK_MSG(rest[i] != '"', "a quote in %.60s", line);
            if (rest[i] == '\\') CHECK_MSG(strchr("\\\"n", rest[++i]) != NULL, "%.60s", line);
        }
    } else if (!strncmp(line, "# UNIT ", 7)) {
        seen = &r->united;
        CHECK_MSG(name_len > rest_len && name[name_len - rest_len - 1] == '_' &&
                      !strncmp(name + name_len - rest_len, rest, rest_len),
                  "the name does not end in it: %.60s", line);
    }
    CHECK_MSG(seen && !*seen, "%.60s", line);
    *seen = true;
}

/* name="value",... up to and with the bracket. Returns what stands behind it; the value of le, or NaN. */
static inline const char *om_read_labels(const char *c, double *out_le) {
    const char *names[50];
    size_t      lens[50], count = 0;

    *out_le = NAN;
    do {
        names[count] = c;
        lens[count] = om_name_len(c);
        for (size_t i = 0; i < count; i++)
            CHECK_MSG(lens[i] != lens[count] || strncmp(names[i], c, lens[i]) != 0, "%.60s", c);
        c += lens[count];
        CHECK_MSG(c[0] == '=' && c[1] == '"', "%.60s", c);
        c += 2;
        if (lens[count] == 2 && !strncmp(names[count], "le", 2)) {
            char *end;
            *out_le = strtod(c, &end);
            CHECK_MSG(*end == '"' && strcspn(c, ".eI") < (size_t)(end - c), "le=%.20s", c);
        }
        for (; *c != '"'; c++) {
            CHECK_MSG(*c && *c != '\n', "no end: %.60s", names[count]);
            if (*c == '\\') CHECK_MSG(strchr("\\\"n", *++c) != NULL, "%.60s", names[count]);
        }
        count++;
    } while (*++c == ',' && c++ && count < 50);
    CHECK_MSG(*c == '}', "%.60s", c);
    return c + 1;
}

static inline bool om_is(const om_reader *r, const char *name, size_t len, const char *end) {
    const char *family = r->families[r->families_count - 1];

    return len == strlen(family) + strlen(end) && !strncmp(name, family, strlen(family)) &&
           !strncmp(name + strlen(family), end, strlen(end));
}

static inline void om_read_sample(om_reader *r, const char *line) {
    const size_t len = om_name_len(line);
    const char  *c = line + len;
    double       le = NAN;
    char        *end;

    if (*c == '{') c = om_read_labels(c + 1, &le);
    CHECK_MSG(*c == ' ', "%.60s", line);
    const size_t key_len = (size_t)(c - line);
    for (size_t i = 0; i < r->lines_count; i++)
        CHECK_MSG(r->lines_len[i] != key_len || strncmp(r->lines[i], line, key_len) != 0,
                  "twice: %.*s", (int)key_len, line);
    CHECK(r->lines_count < OM_LINES_MAX);
    r->lines[r->lines_count] = line;
    r->lines_len[r->lines_count++] = key_len;

    const double value = strtod(c + 1, &end);
    CHECK_MSG(end > c + 1 && *end == '\n', "%.*s", (int)strcspn(line, "\n"), line);
    CHECK_MSG(r->families_count > 0, "of no family: %.60s", line);
    r->sampled = true;
    if (!strcmp(r->type, "counter")) {
        CHECK_MSG(om_is(r, line, len, "_total"), "%.60s", line);
        CHECK_MSG(value >= 0, "%.60s", line);
    } else if (strcmp(r->type, "histogram") != 0) {
        CHECK_MSG(om_is(r, line, len, ""), "%.60s", line);
    } else if (om_is(r, line, len, "_bucket")) {
        CHECK_MSG(!isnan(le), "%.60s", line);
        /* The first of a series begins anew. */
        if (isnan(r->le) || isinf(r->le)) r->bucket = 0;
        else CHECK_MSG(le > r->le, "%.60s", line);
        CHECK_MSG(value >= r->bucket, "%.*s", (int)strcspn(line, "\n"), line);
        r->le = le;
        r->bucket = value;
    } else if (om_is(r, line, len, "_count")) {
        CHECK_MSG(isinf(r->le) && value == r->bucket, "%.*s", (int)strcspn(line, "\n"), line);
    } else {
        CHECK_MSG(om_is(r, line, len, "_sum"), "%.60s", line);
    }
}

/* Returns how many samples there are. */
static inline size_t check_openmetrics(const char *text) {
    om_reader *r = calloc(1, sizeof *r);

    om_check_utf8(text);
    r->le = NAN;
    const char *line = text;
    while (strcmp(line, "# EOF\n") != 0) {
        const size_t len = strcspn(line, "\n");
        CHECK_MSG(line[len] == '\n', "no # EOF");
        CHECK_MSG(len > 0, "an empty line before %.60s", line + 1);
        if (*line == '#') om_read_head(r, line, len);
        else om_read_sample(r, line);
        line += len + 1;
    }
    const size_t count = r->lines_count;
    free(r);
    return count;
}

#endif
