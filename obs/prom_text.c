/* prom_text.c - a registry as text: Prometheus' own format 0.0.4, and OpenMetrics 1.0.0.
 * They differ in little: OpenMetrics calls a counter by its name without _total, knows units, escapes quotes in helps
 * and says where it ends. A value and a label read the same in both, so series keep their names whichever is asked. */
#include "prom_internal.h"

#include "base/array.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST = 4096, NUMBER_MAX = 32 };

typedef struct text {
    char  *at; /* NULL: memory ran out, and nothing more is written */
    size_t len, cap;
    bool   openmetrics;
} text;

/* ---- Pieces ---- */

/* One byte is always left for the NUL at the end. */
static bool room_for(text *t, size_t len) {
    if (!t->at) return false;
    if (DN_ARRAY_RESERVE(t->at, t->cap, t->len + len + 1) == DN_OK) return true;
    free(t->at);
    t->at = NULL;
    return false;
}

static void put(text *t, const char *what, size_t len) {
    if (!room_for(t, len)) return;
    memcpy(t->at + t->len, what, len);
    t->len += len;
}

static void put_str(text *t, const char *what) { put(t, what, strlen(what)); }

static void put_escaped(text *t, const char *what, bool quotes) {
    const char *const escaped = quotes ? "\\\n\"" : "\\\n";

    for (;;) {
        const size_t plain = strcspn(what, escaped);
        put(t, what, plain);
        what += plain;
        if (!*what) return;
        const char pair[] = {'\\', *what == '\n' ? 'n' : *what};
        put(t, pair, sizeof pair);
        what++;
    }
}

static size_t whole_text(char to[NUMBER_MAX], uint64_t value) {
    char   reversed[NUMBER_MAX];
    size_t len = 0;

    do reversed[len++] = (char)('0' + value % 10);
    while ((value /= 10) > 0);
    for (size_t i = 0; i < len; i++) to[i] = reversed[len - 1 - i];
    return len;
}

/* As short as it can be and still the same number. */
static size_t number_text(char to[NUMBER_MAX], double value) {
    int len;

    if (isnan(value)) len = snprintf(to, NUMBER_MAX, "NaN");
    else if (isinf(value)) len = snprintf(to, NUMBER_MAX, value > 0 ? "+Inf" : "-Inf");
    else if (value >= 0 && value < 1e15 && (double)(int64_t)value == value)
        return whole_text(to, (uint64_t)value);
    else {
        int digits = 15;
        do len = snprintf(to, NUMBER_MAX, "%.*g", digits, value);
        while (strtod(to, NULL) != value && ++digits <= 17);
    }
    return (size_t)len;
}

/* As Go writes it, and so Prometheus: it would write another form anew (version 3), or take it for another series. */
void prom_bound_text(char to[PROM_LE_MAX], double bound) {
    char shortest[PROM_LE_MAX];
    int  digits = 0;
    long exponent;

    do snprintf(shortest, sizeof shortest, "%.*e", digits, bound);
    while (strtod(shortest, NULL) != bound && ++digits <= 16);
    exponent = strtol(strchr(shortest, 'e') + 1, NULL, 10);
    if (exponent < -4 || exponent >= 6) memcpy(to, shortest, sizeof shortest);
    else snprintf(to, PROM_LE_MAX, "%.*f", digits > exponent ? (int)(digits - exponent) : 1, bound);
}

static void put_whole(text *t, uint64_t value) {
    char number[NUMBER_MAX];

    put(t, number, whole_text(number, value));
}

static void put_number(text *t, double value) {
    char number[NUMBER_MAX];

    put(t, number, number_text(number, value));
}

/* ---- Heads ---- */

static void put_head(text *t, const prom_metric_t *metric, const char *what) {
    put_str(t, what);
    put(t, metric->name, t->openmetrics ? prom_family_len(metric) : strlen(metric->name));
    put(t, " ", 1);
}

/* The unit is what the name ends in: they are Prometheus' base units. */
static const char *unit_of(const prom_metric_t *metric) {
    static const char *const units[] = {"seconds", "bytes", "ratio"};
    const size_t             len = prom_family_len(metric);

    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        const size_t unit_len = strlen(units[i]);
        if (len > unit_len + 1 && metric->name[len - unit_len - 1] == '_' &&
            !strncmp(metric->name + len - unit_len, units[i], unit_len))
            return units[i];
    }
    return NULL;
}

static const char *type_of(const text *t, const prom_metric_t *metric) {
    static const char *const types[] = {"counter", "gauge", "histogram"};

    /* A counter of OpenMetrics must end in _total. With another type it keeps its name. */
    if (t->openmetrics && metric->type == PROM_COUNTER && !metric->name[prom_family_len(metric)])
        return "unknown";
    return types[metric->type];
}

static void put_heads(text *t, const prom_metric_t *metric) {
    const char *unit = t->openmetrics ? unit_of(metric) : NULL;

    put_head(t, metric, "# HELP ");
    put_escaped(t, metric->help, t->openmetrics);
    put_head(t, metric, "\n# TYPE ");
    put_str(t, type_of(t, metric));
    if (unit) {
        put_head(t, metric, "\n# UNIT ");
        put_str(t, unit);
    }
    put(t, "\n", 1);
}

/* ---- Samples ---- */

/* All but the value; le may be NULL. */
static void put_name(text *t, const prom_metric_t *metric, const char *end, const prom_series *s,
                     const char *le) {
    const char *before = "{";

    put_str(t, metric->name);
    put_str(t, end);
    for (size_t i = 0; i < metric->label_key_count; i++) {
        put(t, before, 1);
        put_str(t, metric->label_keys[i]);
        put(t, "=\"", 2);
        put_escaped(t, s->values[i], /* quotes= */ true);
        put(t, "\"", 1);
        before = ",";
    }
    if (le) {
        put(t, before, 1);
        put(t, "le=\"", 4);
        put_str(t, le);
        put(t, "\"", 1);
    }
    if (metric->label_key_count > 0 || le) put(t, "}", 1);
    put(t, " ", 1);
}

/* Each bucket is read once, and the count is what they come to: so they agree, whoever adds meanwhile. */
static void put_histogram(text *t, const prom_metric_t *metric, const prom_series *s) {
    const prom_metric_sample_histogram_t *h = (const prom_metric_sample_histogram_t *)s;
    uint64_t                              count = 0;

    for (int i = 0; i <= metric->buckets->count; i++) {
        count += prom_histogram_count(h, i);
        put_name(t, metric, "_bucket", s, i < metric->buckets->count ? metric->le[i] : "+Inf");
        put_whole(t, count);
        put(t, "\n", 1);
    }
    put_name(t, metric, "_sum", s, NULL);
    put_number(t, prom_histogram_sum(h));
    put(t, "\n", 1);
    put_name(t, metric, "_count", s, NULL);
    put_whole(t, count);
    put(t, "\n", 1);
}

static void put_sample(text *t, const prom_metric_t *metric, const prom_series *s) {
    const prom_metric_sample_t *sample = (const prom_metric_sample_t *)s;
    const uint64_t              whole = prom_sample_whole(sample);
    const double                rest = prom_sample_rest(sample);

    put_name(t, metric, "", s, NULL);
    if (rest == 0) put_whole(t, whole);
    else put_number(t, (double)whole + rest);
    put(t, "\n", 1);
}

static bool put_metric(void *context, const prom_metric_t *metric) {
    text *t = context;
    void (*put_series)(text *, const prom_metric_t *, const prom_series *) =
        metric->type == PROM_HISTOGRAM ? put_histogram : put_sample;

    put_heads(t, metric);
    /* Pairs with the release of show. */
    for (const prom_series *s = atomic_load_explicit(&metric->first, memory_order_acquire); s;
         s = atomic_load_explicit(&s->later, memory_order_acquire))
        put_series(t, metric, s);
    if (atomic_load_explicit(&metric->overflowed, memory_order_relaxed))
        put_series(t, metric, metric->own);
    return t->at != NULL;
}

char *prom_text(prom_collector_registry_t *registry, bool openmetrics, size_t *out_len) {
    text t = {.cap = LEAST, .openmetrics = openmetrics};

    t.at = malloc(t.cap);
    if (!t.at) return NULL;
    prom_registry_each(registry, put_metric, &t);
    if (openmetrics) put_str(&t, "# EOF\n");
    if (!t.at) return NULL;
    t.at[t.len] = '\0';
    *out_len = t.len;
    return t.at;
}

const char *prom_collector_registry_bridge(prom_collector_registry_t *self) {
    size_t len;

    return self ? prom_text(self, /* openmetrics= */ false, &len) : NULL;
}
