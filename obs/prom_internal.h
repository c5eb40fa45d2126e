/* prom_internal.h - what metrics and registries are made of. */
#ifndef DIURNAL_OBS_PROM_INTERNAL_H
#define DIURNAL_OBS_PROM_INTERNAL_H

#include "metrics.h"

#include <stdatomic.h>

enum {
    PROM_SERIES_MAX = 256, /* of a metric; behind it: the overflow series */
    PROM_TABLE = 64,
    PROM_LE_MAX = 32 /* bytes of a bound as text */
};

typedef enum prom_metric_type { PROM_COUNTER, PROM_GAUGE, PROM_HISTOGRAM } prom_metric_type;

/* What each series begins with. */
typedef struct prom_series {
    /* Set before it is seen. */
    const char        **values; /* well-formed UTF-8 */
    uint64_t            hash;   /* of them */
    struct prom_series *chained;
    /* Any thread: released when the next one is linked. */
    _Atomic(struct prom_series *) later;
} prom_series;

/* A series with a bound handle has cells too (prom_cells.h): set once, with release; 0 before, and if there were none.
 * What stands in the series itself is then of threads without a row.
 * A counter is whole + rest, and its cell is of whole. A gauge is rest alone. Doubles are kept by their bits. */
struct prom_metric_sample {
    prom_series      series;
    prom_metric_type type;
    _Atomic uint32_t cell;
    _Atomic uint64_t whole, rest; /* any thread, relaxed: they order nothing */
};

struct prom_metric_sample_histogram {
    prom_series          series;
    const prom_metric_t *metric;
    _Atomic uint32_t     first_cell; /* of the sum; those of the counts are behind it */
    _Atomic uint64_t     sum;        /* any thread, relaxed; a double by its bits */
    _Atomic uint64_t counts[]; /* a bucket each, not cumulative; one more than there are bounds */
};

struct prom_metric {
    /* Set before it is seen. */
    prom_metric_type          type;
    char                     *name, *help;
    size_t                    label_key_count;
    char                    **label_keys;
    prom_histogram_buckets_t *buckets;
    char (*le)[PROM_LE_MAX]; /* the bounds as text */
    /* Its only series if it has no labels; else that of what found no room, shown once it was needed. */
    prom_series *own;
    /* Any thread: series are linked under a lock (prom_metric.c), with release, and looked up without, with acquire. */
    _Atomic(prom_series *) table[PROM_TABLE], first;
    atomic_bool            overflowed;
    /* Under that lock. */
    prom_series *last;
    size_t       series_len;
    /* Of the registry, under its lock. */
    prom_metric_t *next;
    bool           owned;
};

struct prom_map {
    prom_metric_t *first, *last;
};

struct prom_collector {
    char                      *name;
    prom_map_t                 metrics;
    prom_collect_fn           *collect;
    void                      *context; /* of a collect function of ours; freed with it */
    prom_collector_registry_t *registry;
    prom_collector_t          *next;
};

struct prom_collector_registry {
    char             *name;
    prom_collector_t *first, *last;
};

int  prom_metric_destroy(prom_metric_t *self);
bool prom_name_is_valid(const char *name);
/* The name without its _total: what a counter is called in OpenMetrics. */
size_t prom_family_len(const prom_metric_t *metric);
/* How many lookups ended at an overflow series. */
uint64_t prom_overflows(void);

double prom_double_of(uint64_t bits);
/* What has been added up, wherever. Any thread. */
uint64_t prom_sample_whole(const prom_metric_sample_t *sample);
double   prom_sample_rest(const prom_metric_sample_t *sample);
uint64_t prom_histogram_count(const prom_metric_sample_histogram_t *histogram, int bucket);
double   prom_histogram_sum(const prom_metric_sample_histogram_t *histogram);
/* For a collector of ours, whose counter is counted elsewhere. */
void prom_sample_store(prom_metric_sample_t *sample, double total);

/* Each metric of each collector, brought up to date, under the lock of the registries. False from visit ends it. */
void prom_registry_each(prom_collector_registry_t *registry,
                        bool (*visit)(void *context, const prom_metric_t *metric), void *context);

/* A bound as the value of the label le, the same in both formats. */
void prom_bound_text(char to[PROM_LE_MAX], double bound);
/* malloc'ed and ended by a NUL that out_len does not count. NULL: no memory. */
char *prom_text(prom_collector_registry_t *registry, bool openmetrics, size_t *out_len);

#endif
