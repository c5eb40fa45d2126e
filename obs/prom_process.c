/* prom_process.c - the process_* metrics, from /proc. The only file of obs that reads files. It holds nothing open:
 * whoever scrapes while file descriptors run out gets to see just that. */
#include "prom_process.h"

#include "prom_internal.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct process {
    prom_metric_sample_t *cpu, *open_fds, *max_fds, *resident, *virtual, *start;
    double                booted_s; /* since the epoch; NaN: not known */
} process;

/* What /proc/self/stat says, of 52 fields (proc(5)). */
typedef struct usage {
    unsigned long long user_ticks, system_ticks, start_ticks, virtual_bytes, resident_pages;
} usage;

/* Reads the number that stands `skip` fields on, and moves at behind it. False: none stands there. */
static bool field_read(char **at, int skip, unsigned long long *out) {
    for (; skip > 0; skip--) {
        *at = strchr(*at, ' ');
        if (!*at) return false;
        ++*at;
    }
    char *const from = *at;
    *out = strtoull(from, at, 10);
    return *at != from;
}

static bool usage_read(usage *out) {
    char       text[2048];
    const int  fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    const long got = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

    if (fd >= 0) close(fd);
    if (got <= 0) return false;
    text[got] = '\0';
    /* The second field is the name of the program in brackets, which may hold anything but is short. */
    char *at = strrchr(text, ')');
    return at && field_read(&at, 12, &out->user_ticks) && field_read(&at, 1, &out->system_ticks) &&
           field_read(&at, 7, &out->start_ticks) && field_read(&at, 1, &out->virtual_bytes) &&
           field_read(&at, 1, &out->resident_pages);
}

static double booted_s(void) {
    static const char  name[] = "btime ";
    FILE              *file = fopen("/proc/stat", "re");
    char              *line = NULL;
    size_t             cap = 0;
    unsigned long long found = 0;

    if (!file) return NAN;
    /* By lines, of which one may be long: a number for each interrupt there is. */
    while (found == 0 && getline(&line, &cap, file) > 0)
        if (!strncmp(line, name, strlen(name))) found = strtoull(line + strlen(name), NULL, 10);
    free(line);
    fclose(file);
    return found > 0 ? (double)found : NAN;
}

/* Since Linux 6.2 the folder's size is their number; before that it is 0, and they are counted. */
static double open_fds(void) {
    struct stat found;
    double      count = -1; /* the one that looks */

    if (stat("/proc/self/fd", &found) == 0 && found.st_size > 0) return (double)found.st_size;
    DIR *folder = opendir("/proc/self/fd");
    if (!folder) return NAN;
    for (const struct dirent *e; (e = readdir(folder));)
        if (e->d_name[0] != '.') count++;
    closedir(folder);
    return count;
}

static double max_fds(void) {
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return NAN;
    return limit.rlim_cur == RLIM_INFINITY ? INFINITY : (double)limit.rlim_cur;
}

static prom_map_t *collect(prom_collector_t *self) {
    const process *p = self->context;
    const double   ticks_per_s = (double)sysconf(_SC_CLK_TCK);
    usage          now;

    if (!usage_read(&now)) return NULL; /* nothing is better than zeros */
    prom_sample_store(p->cpu, (double)(now.user_ticks + now.system_ticks) / ticks_per_s);
    prom_sample_store(p->virtual, (double)now.virtual_bytes);
    prom_sample_store(p->resident, (double)now.resident_pages * (double)sysconf(_SC_PAGESIZE));
    prom_sample_store(p->start, p->booted_s + (double)now.start_ticks / ticks_per_s);
    prom_sample_store(p->open_fds, open_fds());
    prom_sample_store(p->max_fds, max_fds());
    return prom_collector_default_collect(self);
}

/* The collector has it from here on. */
static bool add(prom_collector_t *to, prom_metric_t *metric, prom_metric_sample_t **out_sample) {
    if (!metric) return false;
    if (prom_collector_add_metric(to, metric) != 0) {
        prom_metric_destroy(metric);
        return false;
    }
    *out_sample = prom_metric_sample_from_labels(metric, NULL);
    return true;
}

static bool filled(prom_collector_t *self, process *p) {
    const struct {
        const char            *name, *help;
        prom_metric_sample_t **sample;
    } gauges[] = {
        {"process_open_fds", "Number of open file descriptors.", &p->open_fds},
        {"process_max_fds", "Maximum number of open file descriptors.", &p->max_fds},
        {"process_virtual_memory_bytes", "Virtual memory size in bytes.", &p->virtual},
        {"process_resident_memory_bytes", "Resident memory size in bytes.", &p->resident},
        {"process_start_time_seconds", "Start time of the process since unix epoch in seconds.",
         &p->start},
    };

    if (!add(self,
             prom_counter_new("process_cpu_seconds_total",
                              "Total user and system CPU time spent in seconds.", 0, NULL),
             &p->cpu))
        return false;
    for (size_t i = 0; i < sizeof gauges / sizeof *gauges; i++)
        if (!add(self, prom_gauge_new(gauges[i].name, gauges[i].help, 0, NULL), gauges[i].sample))
            return false;
    return true;
}

prom_collector_t *prom_process_collector_new(void) {
    prom_collector_t *self = prom_collector_new("process");
    process          *p = calloc(1, sizeof *p);

    if (self && p && filled(self, p)) {
        p->booted_s = booted_s();
        self->context = p;
        prom_collector_set_collect_fn(self, collect);
        return self;
    }
    free(p);
    prom_collector_destroy(self);
    return NULL;
}
