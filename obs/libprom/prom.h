/* prom.h - counters, gauges and histograms, by the names and with the meaning of prometheus-client-c (libprom 0.1.3).
 * It has the name of libprom's own header and stands in its place: include "obs/metrics.h", and it comes along.
 *
 * Functions that return an int answer 0 when it is done and 1 when it is not, those that make something answer NULL.
 * What makes and registers says on the log what was wrong: those are mistakes of whoever wrote the program.
 * Any thread, all of it, but for destroying: by then nobody else may use what is destroyed. */
#ifndef DIURNAL_OBS_LIBPROM_PROM_H
#define DIURNAL_OBS_LIBPROM_PROM_H

#include <stddef.h>

typedef struct prom_metric                  prom_metric_t;
typedef prom_metric_t                       prom_counter_t;
typedef prom_metric_t                       prom_gauge_t;
typedef prom_metric_t                       prom_histogram_t;
typedef struct prom_metric_sample           prom_metric_sample_t;
typedef struct prom_metric_sample_histogram prom_metric_sample_histogram_t;
typedef struct prom_collector               prom_collector_t;
typedef struct prom_collector_registry      prom_collector_registry_t;
typedef struct prom_map                     prom_map_t;

/* ---- Registries ----
 * A registry owns its collectors, a collector its metrics. Names are unique in a registry, with all that the formats
 * append to them. */

extern prom_collector_registry_t *PROM_COLLECTOR_REGISTRY_DEFAULT;

/* Makes the default registry, with process metrics; a second time it does nothing. */
int prom_collector_registry_default_init(void);

prom_collector_registry_t *prom_collector_registry_new(const char *name);
int                        prom_collector_registry_destroy(prom_collector_registry_t *self);
/* process_cpu_seconds_total, process_open_fds and so on; they are left out where there is no /proc. */
int prom_collector_registry_enable_process_metrics(prom_collector_registry_t *self);

/* Into the default registry, which owns it on 0. must: the process exits when it is refused; NULL is refused too. */
int            prom_collector_registry_register_metric(prom_metric_t *metric);
prom_metric_t *prom_collector_registry_must_register_metric(prom_metric_t *metric);

int prom_collector_registry_register_collector(prom_collector_registry_t *self,
                                               prom_collector_t          *collector);
/* 0: a name for a metric. */
int prom_collector_registry_validate_metric_name(prom_collector_registry_t *self,
                                                 const char                *metric_name);

/* All of it as text, format 0.0.4. The caller frees it. NULL: no memory. */
const char *prom_collector_registry_bridge(prom_collector_registry_t *self);

/* ---- Collectors ---- */

/* Called for every text, by one thread at a time. It brings the metrics up to date and returns those of a collector,
 * or NULL: there is nothing to show of it this time. It must not register, and not ask for a text. */
typedef prom_map_t *prom_collect_fn(prom_collector_t *self);

prom_collector_t *prom_collector_new(const char *name);
int               prom_collector_destroy(prom_collector_t *self);
int               prom_collector_add_metric(prom_collector_t *self, prom_metric_t *metric);
int               prom_collector_set_collect_fn(prom_collector_t *self, prom_collect_fn *fn);

/* ---- Metrics ----
 * label_keys: as many as label_key_count; label_values: as many again, any bytes; NULL for both if there are none.
 * A metric keeps a series for each set of values, up to a limit (PROM_SERIES_MAX); what comes then is counted
 * in one series, whose values are all "overflow". So is what finds no memory for a series of its own. */

prom_counter_t *prom_counter_new(const char *name, const char *help, size_t label_key_count,
                                 const char **label_keys);
int             prom_counter_destroy(prom_counter_t *self);
int             prom_counter_inc(prom_counter_t *self, const char **label_values);
/* 1: r_value is negative, or no number. */
int prom_counter_add(prom_counter_t *self, double r_value, const char **label_values);

prom_gauge_t *prom_gauge_new(const char *name, const char *help, size_t label_key_count,
                             const char **label_keys);
int           prom_gauge_destroy(prom_gauge_t *self);
int           prom_gauge_inc(prom_gauge_t *self, const char **label_values);
int           prom_gauge_dec(prom_gauge_t *self, const char **label_values);
int           prom_gauge_add(prom_gauge_t *self, double r_value, const char **label_values);
int           prom_gauge_sub(prom_gauge_t *self, double r_value, const char **label_values);
int           prom_gauge_set(prom_gauge_t *self, double r_value, const char **label_values);

typedef struct prom_histogram_buckets {
    int count;
    const double *
        upper_bounds; /* they rise, from 0 on or later; the bucket behind the last is always there */
} prom_histogram_buckets_t;

extern prom_histogram_buckets_t *prom_histogram_default_buckets; /* 5 ms to 10 s */

prom_histogram_buckets_t *prom_histogram_buckets_new(size_t count, double bucket, ...);
prom_histogram_buckets_t *prom_histogram_buckets_linear(double start, double width, size_t count);
prom_histogram_buckets_t *prom_histogram_buckets_exponential(double start, double factor,
                                                             size_t count);
int                       prom_histogram_buckets_destroy(prom_histogram_buckets_t *self);
size_t                    prom_histogram_buckets_count(prom_histogram_buckets_t *self);

/* Takes buckets, unless it returns NULL. Without any it has the default ones. */
prom_histogram_t *prom_histogram_new(const char *name, const char *help,
                                     prom_histogram_buckets_t *buckets, size_t label_key_count,
                                     const char **label_keys);
int               prom_histogram_destroy(prom_histogram_t *self);
/* 1: value is negative, or no number; then it is not counted. */
int prom_histogram_observe(prom_histogram_t *self, double value, const char **label_values);

/* ---- Bound handles: the labels looked up once ----
 * Borrowed: good for as long as the metric. NULL: it is not of that kind, values are missing, or memory. */

prom_metric_sample_t *prom_metric_sample_from_labels(prom_metric_t *self,
                                                     const char   **label_values);
/* Of a gauge and of a counter; 1: r_value is negative, or no number. */
int prom_metric_sample_add(prom_metric_sample_t *self, double r_value);
int prom_metric_sample_sub(prom_metric_sample_t *self, double r_value); /* of a gauge */
int prom_metric_sample_set(prom_metric_sample_t *self, double r_value); /* of a gauge */

prom_metric_sample_histogram_t *prom_metric_sample_histogram_from_labels(prom_metric_t *self,
                                                                         const char **label_values);
int prom_metric_sample_histogram_observe(prom_metric_sample_histogram_t *self, double value);

#endif
