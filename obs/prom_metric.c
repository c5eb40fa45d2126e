/* prom_metric.c - what a metric is called, and its series by the values of its labels.
 * Looking up a series takes no lock. A new one is linked under a lock that all metrics share: that happens a few
 * hundred times in the life of a process. Nothing is ever taken out, so a bound handle stays good. */
#include "log.h"
#include "prom_cells.h"
#include "prom_internal.h"

#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const char overflow_value[] = "overflow";

static pthread_mutex_t  linking = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint64_t overflows; /* relaxed: a count */

uint64_t prom_overflows(void) { return atomic_load_explicit(&overflows, memory_order_relaxed); }

/* ---- Text that a scraper can read ---- */

/* The bytes of the character at c, or 0 if it is not well-formed UTF-8 (RFC 3629). */
static size_t character_len(const unsigned char *c) {
    const size_t len = c[0] < 0x80                  ? 1
                       : c[0] < 0xc2 || c[0] > 0xf4 ? 0
                       : c[0] < 0xe0                ? 2
                       : c[0] < 0xf0                ? 3
                                                    : 4;
    /* Too long for what it says, half of a pair, or behind the last character there is. */
    const unsigned char low = c[0] == 0xe0 ? 0xa0 : c[0] == 0xf0 ? 0x90 : 0x80;
    const unsigned char high = c[0] == 0xed ? 0x9f : c[0] == 0xf4 ? 0x8f : 0xbf;

    if (len >= 2 && (c[1] < low || c[1] > high)) return 0;
    for (size_t i = 2; i < len; i++)
        if ((c[i] & 0xc0) != 0x80) return 0; /* a NUL is none, so it ends here */
    return len;
}

/* One byte that is no UTF-8 would cost the whole scrape: it becomes \xHH. Writes its NUL too; returns the length without
 * it. `to` may be NULL. */
static size_t clean(const char *text, char *to) {
    static const char hex[] = "0123456789abcdef";
    size_t            len = 0;

    for (const unsigned char *c = (const unsigned char *)text; *c;) {
        size_t n = character_len(c);
        if (n > 0) {
            if (to) memcpy(to + len, c, n);
            len += n;
            c += n;
            continue;
        }
        if (to) {
            const char escaped[] = {'\\', 'x', hex[*c >> 4], hex[*c & 15]};
            memcpy(to + len, escaped, sizeof escaped);
        }
        len += 4;
        c++;
    }
    if (to) to[len] = '\0';
    return len;
}

static char *clean_copy(const char *text) {
    char *copy = malloc(clean(text, NULL) + 1);

    if (copy) clean(text, copy);
    return copy;
}

/* ---- Names ---- */

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_name(const char *name, bool colons) {
    if (!is_letter(*name) && !(colons && *name == ':')) return false;
    for (const char *c = name; *c; c++)
        if (!is_letter(*c) && !(*c >= '0' && *c <= '9') && !(colons && *c == ':')) return false;
    return true;
}

bool prom_name_is_valid(const char *name) { return name && is_name(name, /* colons= */ true); }

size_t prom_family_len(const prom_metric_t *metric) {
    const size_t len = strlen(metric->name), end = strlen("_total");

    if (metric->type == PROM_COUNTER && len > end && !strcmp(metric->name + len - end, "_total"))
        return len - end;
    return len;
}

/* NULL: the name, the help and the labels are all right. */
static const char *fault_of(const char *name, const char *help, size_t count, const char **keys) {
    if (!prom_name_is_valid(name))
        return "its name must be of letters, digits, _ and :, and begin with no digit";
    if (!help || !*help) return "it has no help";
    if (count > 0 && !keys) return "the names of its labels are missing";
    for (size_t i = 0; i < count; i++) {
        if (!keys[i] || !is_name(keys[i], /* colons= */ false))
            return "the name of a label must be of letters, digits and _, and begin with no digit";
        if (!strncmp(keys[i], "__", 2)) return "names of labels that begin with __ are Prometheus'";
        if (!strcmp(keys[i], "le") || !strcmp(keys[i], "quantile"))
            return "labels called le and quantile are Prometheus'";
        for (size_t j = 0; j < i; j++)
            if (!strcmp(keys[i], keys[j])) return "two of its labels have one name";
    }
    return NULL;
}

static const char *fault_of_buckets(const prom_histogram_buckets_t *buckets) {
    if (buckets->count < 1) return "it has no buckets";
    for (int i = 0; i < buckets->count; i++) {
        const double bound = buckets->upper_bounds[i];
        if (!isfinite(bound) || bound < 0) return "a bound must be a number, and not negative";
        if (i > 0 && bound <= buckets->upper_bounds[i - 1]) return "its bounds must rise";
    }
    return NULL;
}

/* ---- Series ---- */

/* FNV-1a; the NULs keep "ab", "c" and "a", "bc" apart. */
static uint64_t hash_of(size_t count, const char **values) {
    uint64_t hash = UINT64_C(14695981039346656037);

    for (size_t i = 0; i < count; i++) {
        const char *c = values[i];
        do hash = (hash ^ (unsigned char)*c) * UINT64_C(1099511628211);
        while (*c++);
    }
    return hash;
}

static _Atomic(prom_series *) *place_of(prom_metric_t *metric, uint64_t hash) {
    return &metric->table[(hash ^ hash >> 32) % PROM_TABLE];
}

static bool has_values(const prom_series *s, size_t count, const char **values) {
    for (size_t i = 0; i < count; i++) {
        assert(values[i]);
        if (strcmp(s->values[i], values[i]) != 0) return false;
    }
    return true;
}

static prom_series *find(prom_metric_t *metric, uint64_t hash, const char **values) {
    /* Pairs with the release of chain. */
    prom_series *s = atomic_load_explicit(place_of(metric, hash), memory_order_acquire);

    while (s && (s->hash != hash || !has_values(s, metric->label_key_count, values)))
        s = s->chained;
    return s;
}

/* Under the lock. Now it can be found. */
static void chain(prom_metric_t *metric, prom_series *s) {
    _Atomic(prom_series *) *place = place_of(metric, s->hash);

    s->chained = atomic_load_explicit(place, memory_order_relaxed);
    atomic_store_explicit(place, s, memory_order_release);
}

/* Under the lock. Now it is shown, behind those that came before. */
static void show(prom_metric_t *metric, prom_series *s) {
    /* Pairs with the acquire of those who write the text. */
    atomic_store_explicit(metric->last ? &metric->last->later : &metric->first, s,
                          memory_order_release);
    metric->last = s;
    metric->series_len++;
}

/* One piece of memory: the series itself, its values, their text. All of it starts at zero. */
static prom_series *series_new(const prom_metric_t *metric, const char **values) {
    const size_t count = metric->label_key_count;
    size_t       size = sizeof(prom_metric_sample_t), text = 0;

    if (metric->type == PROM_HISTOGRAM)
        size = sizeof(prom_metric_sample_histogram_t) +
               ((size_t)metric->buckets->count + 1) * sizeof(uint64_t);
    for (size_t i = 0; i < count; i++) text += clean(values[i], NULL) + 1;
    prom_series *s = calloc(1, size + count * sizeof *s->values + text);
    if (!s) return NULL;

    s->values = (const char **)((char *)s + size);
    char *to = (char *)(s->values + count);
    for (size_t i = 0; i < count; i++) {
        s->values[i] = to;
        to += clean(values[i], to) + 1;
    }
    s->hash = hash_of(count, s->values);
    if (metric->type == PROM_HISTOGRAM) ((prom_metric_sample_histogram_t *)s)->metric = metric;
    else ((prom_metric_sample_t *)s)->type = metric->type;
    return s;
}

/* NULL: no memory. */
static prom_series *add(prom_metric_t *metric, const char **values) {
    assert(metric->label_key_count > 0);
    prom_series *made = series_new(metric, values);
    if (!made) return NULL;
    pthread_mutex_lock(&linking);
    /* Somebody was faster, or it has become known by being cleaned. */
    prom_series *s = find(metric, made->hash, made->values);
    if (!s && metric->series_len >= PROM_SERIES_MAX) s = metric->own;
    if (!s) {
        s = made;
        chain(metric, s);
        show(metric, s);
    }
    pthread_mutex_unlock(&linking);
    if (s != made) free(made);
    return s;
}

/* NULL: values are missing. */
static prom_series *series_of(prom_metric_t *metric, const char **values,
                              prom_series *without_memory) {
    if (metric->label_key_count == 0) return metric->own;
    if (!values) return NULL;
    for (size_t i = 0; i < metric->label_key_count; i++)
        if (!values[i]) return NULL;
    prom_series *s = find(metric, hash_of(metric->label_key_count, values), values);
    if (!s) s = add(metric, values);
    if (!s) s = without_memory;
    if (s == metric->own) {
        atomic_store_explicit(&metric->overflowed, true, memory_order_relaxed);
        atomic_fetch_add_explicit(&overflows, 1, memory_order_relaxed);
    }
    return s;
}

/* What is counted now is counted somewhere; who binds a handle for ever is told instead. */
static prom_metric_sample_t *sample_of(prom_metric_t *metric, prom_metric_type type,
                                       const char **values) {
    if (!metric || metric->type != type) return NULL;
    return (prom_metric_sample_t *)series_of(metric, values, metric->own);
}

static prom_metric_sample_histogram_t *histogram_of(prom_metric_t *metric, const char **values) {
    if (!metric || metric->type != PROM_HISTOGRAM) return NULL;
    return (prom_metric_sample_histogram_t *)series_of(metric, values, metric->own);
}

/* ---- Handles ---- */

static _Atomic uint32_t *cell_of(const prom_metric_t *metric, prom_series *s) {
    return metric->type == PROM_HISTOGRAM ? &((prom_metric_sample_histogram_t *)s)->first_cell
                                          : &((prom_metric_sample_t *)s)->cell;
}

static size_t cells_len(const prom_metric_t *metric) {
    return metric->type == PROM_GAUGE       ? 0 /* threads set it over each other */
           : metric->type == PROM_HISTOGRAM ? (size_t)metric->buckets->count + 2
                                            : 1;
}

/* It will be added to often: threads get cells for it. Without them it counts as well, and is slower. */
static prom_series *bound(prom_metric_t *metric, prom_series *s) {
    const size_t len = cells_len(metric);

    if (!s || len == 0) return s;
    pthread_mutex_lock(&linking);
    _Atomic uint32_t *cell = cell_of(metric, s);
    if (atomic_load_explicit(cell, memory_order_relaxed) == 0) /* release: pairs with who adds */
        atomic_store_explicit(cell, prom_cells_take(len), memory_order_release);
    pthread_mutex_unlock(&linking);
    return s;
}

prom_metric_sample_t *prom_metric_sample_from_labels(prom_metric_t *self,
                                                     const char   **label_values) {
    if (!self || self->type == PROM_HISTOGRAM) return NULL;
    return (prom_metric_sample_t *)bound(self, series_of(self, label_values, NULL));
}

prom_metric_sample_histogram_t *
prom_metric_sample_histogram_from_labels(prom_metric_t *self, const char **label_values) {
    if (!self || self->type != PROM_HISTOGRAM) return NULL;
    return (prom_metric_sample_histogram_t *)bound(self, series_of(self, label_values, NULL));
}

/* ---- Making one ---- */

/* The series that is made with the metric. */
static bool own_series(prom_metric_t *metric) {
    const char **values = calloc(metric->label_key_count + 1, sizeof *values);

    if (!values) return false;
    for (size_t i = 0; i < metric->label_key_count; i++) values[i] = overflow_value;
    metric->own = series_new(metric, values);
    free(values);
    if (!metric->own) return false;
    /* Whoever asks for those very values means it as well. */
    if (metric->label_key_count > 0) chain(metric, metric->own);
    else show(metric, metric->own);
    return true;
}

static bool filled(prom_metric_t *self, const char *name, const char *help, const char **keys) {
    self->name = clean_copy(name);
    self->help = clean_copy(help);
    self->label_keys = calloc(self->label_key_count + 1, sizeof *self->label_keys);
    if (!self->name || !self->help || !self->label_keys) return false;
    for (size_t i = 0; i < self->label_key_count; i++) {
        self->label_keys[i] = clean_copy(keys[i]);
        if (!self->label_keys[i]) return false;
    }
    if (self->buckets) {
        self->le = calloc((size_t)self->buckets->count, sizeof *self->le);
        if (!self->le) return false;
        for (int i = 0; i < self->buckets->count; i++)
            prom_bound_text(self->le[i], self->buckets->upper_bounds[i]);
    }
    return own_series(self);
}

static prom_metric_t *metric_new(prom_metric_type type, const char *name, const char *help,
                                 prom_histogram_buckets_t *buckets, size_t count,
                                 const char **keys) {
    const char *fault = fault_of(name, help, count, keys);

    if (!fault && buckets) fault = fault_of_buckets(buckets);
    if (fault) {
        dn_log(DN_LOG_ERROR, "metrics.refused", "the metric \"%s\": %s", name ? name : "", fault);
        return NULL;
    }
    prom_metric_t *self = calloc(1, sizeof *self);
    if (!self) return NULL;
    self->type = type;
    self->label_key_count = count;
    self->buckets = buckets;
    if (filled(self, name, help, keys)) return self;
    self->buckets = NULL; /* still the caller's */
    prom_metric_destroy(self);
    return NULL;
}

/* NULL: it was never made. */
static void series_free(const prom_metric_t *metric, prom_series *s) {
    if (!s) return;
    const size_t len = cells_len(metric);
    if (len > 0) {
        pthread_mutex_lock(&linking);
        prom_cells_give(atomic_load_explicit(cell_of(metric, s), memory_order_relaxed), len);
        pthread_mutex_unlock(&linking);
    }
    free(s);
}

int prom_metric_destroy(prom_metric_t *self) {
    if (!self) return 0;
    prom_series *s = atomic_load_explicit(&self->first, memory_order_relaxed);
    while (s) {
        prom_series *later = atomic_load_explicit(&s->later, memory_order_relaxed);
        if (s != self->own) series_free(self, s);
        s = later;
    }
    series_free(self, self->own);
    for (size_t i = 0; self->label_keys && i < self->label_key_count; i++)
        free(self->label_keys[i]);
    free(self->label_keys);
    free(self->le);
    prom_histogram_buckets_destroy(self->buckets);
    free(self->name);
    free(self->help);
    free(self);
    return 0;
}

/* ---- By kind ---- */

prom_counter_t *prom_counter_new(const char *name, const char *help, size_t label_key_count,
                                 const char **label_keys) {
    return metric_new(PROM_COUNTER, name, help, NULL, label_key_count, label_keys);
}

int prom_counter_destroy(prom_counter_t *self) { return prom_metric_destroy(self); }

int prom_counter_inc(prom_counter_t *self, const char **label_values) {
    return prom_counter_add(self, 1, label_values);
}

int prom_counter_add(prom_counter_t *self, double r_value, const char **label_values) {
    return prom_metric_sample_add(sample_of(self, PROM_COUNTER, label_values), r_value);
}

prom_gauge_t *prom_gauge_new(const char *name, const char *help, size_t label_key_count,
                             const char **label_keys) {
    return metric_new(PROM_GAUGE, name, help, NULL, label_key_count, label_keys);
}

int prom_gauge_destroy(prom_gauge_t *self) { return prom_metric_destroy(self); }

int prom_gauge_inc(prom_gauge_t *self, const char **label_values) {
    return prom_gauge_add(self, 1, label_values);
}

int prom_gauge_dec(prom_gauge_t *self, const char **label_values) {
    return prom_gauge_sub(self, 1, label_values);
}

int prom_gauge_add(prom_gauge_t *self, double r_value, const char **label_values) {
    return prom_metric_sample_add(sample_of(self, PROM_GAUGE, label_values), r_value);
}

int prom_gauge_sub(prom_gauge_t *self, double r_value, const char **label_values) {
    return prom_metric_sample_sub(sample_of(self, PROM_GAUGE, label_values), r_value);
}

int prom_gauge_set(prom_gauge_t *self, double r_value, const char **label_values) {
    return prom_metric_sample_set(sample_of(self, PROM_GAUGE, label_values), r_value);
}

prom_histogram_t *prom_histogram_new(const char *name, const char *help,
                                     prom_histogram_buckets_t *buckets, size_t label_key_count,
                                     const char **label_keys) {
    return metric_new(PROM_HISTOGRAM, name, help,
                      buckets ? buckets : prom_histogram_default_buckets, label_key_count,
                      label_keys);
}

int prom_histogram_destroy(prom_histogram_t *self) { return prom_metric_destroy(self); }

int prom_histogram_observe(prom_histogram_t *self, double value, const char **label_values) {
    return prom_metric_sample_histogram_observe(histogram_of(self, label_values), value);
}
