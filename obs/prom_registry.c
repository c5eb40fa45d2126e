/* prom_registry.c - which metrics there are. They are registered at the start, so one lock is enough for all of
 * it; who adds to a metric never comes here. */
#include "log.h"
#include "prom_internal.h"
#include "prom_process.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t registering = PTHREAD_MUTEX_INITIALIZER;

prom_collector_registry_t *PROM_COLLECTOR_REGISTRY_DEFAULT;

static char *copy_of(const char *text) {
    const size_t size = strlen(text) + 1;
    char        *copy = malloc(size);

    if (copy) memcpy(copy, text, size);
    return copy;
}

/* ---- Names that meet ---- */

static bool is_family_and(const prom_metric_t *metric, const char *name, const char *end) {
    const size_t len = prom_family_len(metric);

    return !strncmp(name, metric->name, len) && !strcmp(name + len, end);
}

/* The metric shows samples by this name, or might in OpenMetrics. */
static bool shows(const prom_metric_t *metric, const char *name) {
    if (is_family_and(metric, name, "")) return true;
    if (metric->type == PROM_COUNTER) return is_family_and(metric, name, "_total");
    return metric->type == PROM_HISTOGRAM &&
           (is_family_and(metric, name, "_bucket") || is_family_and(metric, name, "_sum") ||
            is_family_and(metric, name, "_count"));
}

static const prom_metric_t *met_in(const prom_collector_t *collector, const prom_metric_t *metric) {
    for (const prom_metric_t *m = collector->metrics.first; m; m = m->next)
        if (shows(m, metric->name) || shows(metric, m->name)) return m;
    return NULL;
}

/* One that is there already and would be taken for this one. */
static const prom_metric_t *met(const prom_collector_t *collector, const prom_metric_t *metric) {
    if (!collector->registry) return met_in(collector, metric);
    for (const prom_collector_t *c = collector->registry->first; c; c = c->next) {
        const prom_metric_t *m = met_in(c, metric);
        if (m) return m;
    }
    return NULL;
}

static void refuse_met(const prom_metric_t *metric, const prom_metric_t *there) {
    if (!strcmp(metric->name, there->name))
        dn_log(DN_LOG_ERROR, "metrics.refused", "the metric \"%s\" is registered twice",
               metric->name);
    else
        dn_log(DN_LOG_ERROR, "metrics.refused",
               "the metric \"%s\" would be taken for \"%s\", which is registered: give it another "
               "name",
               metric->name, there->name);
}

/* ---- Collectors ---- */

prom_map_t *prom_collector_default_collect(prom_collector_t *self) { return &self->metrics; }

prom_collector_t *prom_collector_new(const char *name) {
    prom_collector_t *self = calloc(1, sizeof *self);

    if (!self) return NULL;
    self->collect = prom_collector_default_collect;
    self->name = copy_of(name);
    if (self->name) return self;
    free(self);
    return NULL;
}

int prom_collector_destroy(prom_collector_t *self) {
    if (!self) return 0;
    for (prom_metric_t *m = self->metrics.first, *next; m; m = next) {
        next = m->next;
        prom_metric_destroy(m);
    }
    free(self->context);
    free(self->name);
    free(self);
    return 0;
}

int prom_collector_set_collect_fn(prom_collector_t *self, prom_collect_fn *fn) {
    if (!self || !fn) return 1;
    self->collect = fn;
    return 0;
}

int prom_collector_add_metric(prom_collector_t *self, prom_metric_t *metric) {
    if (!self || !metric) return 1;
    pthread_mutex_lock(&registering);
    const prom_metric_t *there = metric->owned ? metric : met(self, metric);
    if (there) {
        refuse_met(metric, there);
    } else {
        metric->owned = true;
        *(self->metrics.last ? &self->metrics.last->next : &self->metrics.first) = metric;
        self->metrics.last = metric;
    }
    pthread_mutex_unlock(&registering);
    return there != NULL;
}

/* ---- Registries ---- */

prom_collector_registry_t *prom_collector_registry_new(const char *name) {
    prom_collector_registry_t *self = calloc(1, sizeof *self);
    prom_collector_t          *metrics = prom_collector_new("default");

    if (self) self->name = copy_of(name);
    if (self && self->name && metrics &&
        prom_collector_registry_register_collector(self, metrics) == 0)
        return self;
    prom_collector_destroy(metrics);
    prom_collector_registry_destroy(self);
    return NULL;
}

int prom_collector_registry_destroy(prom_collector_registry_t *self) {
    if (!self) return 0;
    for (prom_collector_t *c = self->first, *next; c; c = next) {
        next = c->next;
        prom_collector_destroy(c);
    }
    if (self == PROM_COLLECTOR_REGISTRY_DEFAULT) PROM_COLLECTOR_REGISTRY_DEFAULT = NULL;
    free(self->name);
    free(self);
    return 0;
}

/* Under the lock. */
static bool may_join(const prom_collector_registry_t *self, prom_collector_t *collector) {
    for (const prom_collector_t *c = self->first; c; c = c->next) {
        if (!strcmp(c->name, collector->name)) {
            dn_log(DN_LOG_ERROR, "metrics.refused", "the collector \"%s\" is registered twice",
                   c->name);
            return false;
        }
        for (const prom_metric_t *m = collector->metrics.first; m; m = m->next) {
            const prom_metric_t *there = met_in(c, m);
            if (!there) continue;
            refuse_met(m, there);
            return false;
        }
    }
    return true;
}

int prom_collector_registry_register_collector(prom_collector_registry_t *self,
                                               prom_collector_t          *collector) {
    if (!self || !collector) return 1;
    pthread_mutex_lock(&registering);
    const bool joins = !collector->registry && may_join(self, collector);
    if (joins) {
        collector->registry = self;
        *(self->last ? &self->last->next : &self->first) = collector;
        self->last = collector;
    }
    pthread_mutex_unlock(&registering);
    return !joins;
}

int prom_collector_registry_enable_process_metrics(prom_collector_registry_t *self) {
    prom_collector_t *process;

    if (!self) return 1;
    process = prom_process_collector_new();
    if (process && prom_collector_registry_register_collector(self, process) == 0) return 0;
    prom_collector_destroy(process);
    return 1;
}

int prom_collector_registry_default_init(void) {
    prom_collector_registry_t *made;

    if (PROM_COLLECTOR_REGISTRY_DEFAULT) return 0;
    made = prom_collector_registry_new("default");
    if (!made) return 1;
    if (prom_collector_registry_enable_process_metrics(made) != 0) {
        prom_collector_registry_destroy(made);
        return 1;
    }
    PROM_COLLECTOR_REGISTRY_DEFAULT = made;
    return 0;
}

int prom_collector_registry_register_metric(prom_metric_t *metric) {
    if (!metric) return 1;
    if (!PROM_COLLECTOR_REGISTRY_DEFAULT) {
        dn_log(DN_LOG_ERROR, "metrics.refused",
               "the metric \"%s\" comes before there is a registry: "
               "prom_collector_registry_default_init makes it",
               metric->name);
        return 1;
    }
    return prom_collector_add_metric(PROM_COLLECTOR_REGISTRY_DEFAULT->first, metric);
}

prom_metric_t *prom_collector_registry_must_register_metric(prom_metric_t *metric) {
    if (!metric)
        dn_log(DN_LOG_ERROR, "metrics.refused",
               "a metric could not be made: there is no memory, or a line above says why");
    if (prom_collector_registry_register_metric(metric) != 0) exit(1);
    return metric;
}

int prom_collector_registry_validate_metric_name(prom_collector_registry_t *self,
                                                 const char                *metric_name) {
    (void)self;
    return !prom_name_is_valid(metric_name);
}

void prom_registry_each(prom_collector_registry_t *registry,
                        bool (*visit)(void *context, const prom_metric_t *metric), void *context) {
    bool goes_on = true;

    pthread_mutex_lock(&registering);
    for (prom_collector_t *c = registry->first; c && goes_on; c = c->next) {
        const prom_map_t *metrics = c->collect(c);
        for (const prom_metric_t *m = metrics ? metrics->first : NULL; m && goes_on; m = m->next)
            goes_on = visit(context, m);
    }
    pthread_mutex_unlock(&registering);
}
