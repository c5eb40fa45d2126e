/* metrics_accept.c - which format an Accept header asks for: RFC 9110, 12.5.1.
 * Of the ranges that fit a format the most exact one says how much it is liked (its q). Of two that are liked equally
 * the one that was named more exactly is taken: who names OpenMetrics and adds anything else means it. */
#include "metrics_library.h"

#include <string.h>
#include <strings.h>

/* How exactly a range names a format. */
typedef enum exactness { NAMES_NOT, NAMES_ANY, NAMES_FAMILY, NAMES_TYPE, NAMES_VERSION } exactness;

typedef struct liking {
    exactness exactness;
    int       q; /* in thousandths */
} liking;

static const struct {
    const char *family, *type, *version;
} formats[] = {
    [DN_METRICS_TEXT] = {"text", "plain", "0.0.4"},
    [DN_METRICS_OPENMETRICS] = {"application", "openmetrics-text", "1.0.0"},
};
static const dn_metrics_format last_format = DN_METRICS_OPENMETRICS;

/* ---- Words ---- */

typedef struct word {
    const char *at;
    size_t      len;
} word;

static bool is(word w, const char *text) {
    return w.len == strlen(text) && !strncasecmp(w.at, text, w.len);
}

static const char *blanks_end(const char *c) { return c + strspn(c, " \t"); }

/* Up to a separator; empty if one stands there. */
static word token(const char **c) {
    const word w = {*c, strcspn(*c, " \t,;=/\"")};

    *c += w.len;
    return w;
}

/* A token, or a string in quotes without its quotes; what is escaped in it stays so: nothing known needs it. False:
 * the string does not end. */
static bool value(const char **c, word *out) {
    *out = token(c);
    if (out->len > 0 || **c != '"') return true;
    for (out->at = ++*c; **c && **c != '"'; ++*c)
        if (**c == '\\' && (*c)[1]) ++*c;
    out->len = (size_t)(*c - out->at);
    if (!**c) return false;
    ++*c;
    return true;
}

/* qvalue: 0 or 1 with up to three decimals. -1: it is none. */
static int thousandths(word w) {
    int q = 0;

    if (w.len < 1 || w.len > 5 || (w.at[0] != '0' && w.at[0] != '1')) return -1;
    if (w.len > 1 && w.at[1] != '.') return -1;
    for (size_t i = 0; i < 5; i++) {
        if (i == 1) continue;
        const char digit = i < w.len ? w.at[i] : '0';
        if (digit < '0' || digit > '9') return -1;
        q = q * 10 + (digit - '0');
    }
    return q <= 1000 ? q : -1;
}

/* ---- Ranges ---- */

typedef struct range {
    word family, type, version; /* of no length: not said */
    int  q;
} range;

static const char *range_end(const char *c) {
    word w;

    while (*c && *c != ',') {
        if (*c == '"') (void)value(&c, &w);
        else c++;
    }
    return c;
}

/* False: it cannot be read, and says nothing. */
static bool range_read(const char *c, range *out) {
    *out = (range){.q = 1000};
    out->family = token(&c);
    if (out->family.len == 0 || *c++ != '/') return false;
    out->type = token(&c);
    if (out->type.len == 0) return false;
    for (c = blanks_end(c); *c == ';'; c = blanks_end(c)) {
        c = blanks_end(c + 1);
        const word name = token(&c);
        if (name.len == 0) continue; /* two semicolons, or one at the end */
        word said;
        if (*c++ != '=' || !value(&c, &said)) return false;
        if (is(name, "q")) out->q = thousandths(said);
        if (is(name, "version")) out->version = said;
    }
    return (!*c || *c == ',') && out->q >= 0;
}

/* Other parameters than the version are no reason to refuse: Prometheus adds charset and escaping, and both fit. */
static exactness exactness_of(const range *r, dn_metrics_format format) {
    if (is(r->family, "*")) return is(r->type, "*") ? NAMES_ANY : NAMES_NOT;
    if (!is(r->family, formats[format].family)) return NAMES_NOT;
    if (is(r->type, "*")) return NAMES_FAMILY;
    if (!is(r->type, formats[format].type)) return NAMES_NOT;
    if (r->version.len == 0) return NAMES_TYPE;
    return is(r->version, formats[format].version) ? NAMES_VERSION : NAMES_NOT;
}

dn_metrics_format dn_metrics_negotiate(const char *accept) {
    liking            likings[DN_METRICS_OPENMETRICS + 1] = {0};
    dn_metrics_format best = DN_METRICS_TEXT;

    for (const char *c = accept; c && *c; c += *c == ',') {
        const char *from = blanks_end(c);
        range       r;
        c = range_end(from);
        if (!range_read(from, &r)) continue;
        for (dn_metrics_format f = 0; f <= last_format; f++) {
            const exactness e = exactness_of(&r, f);
            if (e > likings[f].exactness ||
                (e > NAMES_NOT && e == likings[f].exactness && r.q > likings[f].q))
                likings[f] = (liking){e, r.q};
        }
    }
    for (dn_metrics_format f = 0; f <= last_format; f++) {
        if (!dn_metrics_offered(f)) continue;
        if (likings[f].q > likings[best].q ||
            (likings[f].q == likings[best].q && likings[f].q > 0 &&
             likings[f].exactness > likings[best].exactness))
            best = f;
    }
    return best;
}
