/* prom_kit.h - reading what the metrics say. */
#ifndef DIURNAL_TESTS_OBS_PROM_KIT_H
#define DIURNAL_TESTS_OBS_PROM_KIT_H

#include "obs/log.h"
#include "obs/metrics.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline const char **labels_of(const char *first, const char *second) {
    static _Thread_local const char *labels[2];

    labels[0] = first;
    labels[1] = second;
    return labels;
}

static inline void registry_begins(void) { CHECK_INT(prom_collector_registry_default_init(), 0); }

/* Borrowed until a few more are asked for. */
static inline char *text_in(dn_metrics_format format) {
    static _Thread_local char  *kept[4];
    static _Thread_local size_t next;
    char                       *text = NULL;
    size_t                      len = 0;

    CHECK_INT(dn_metrics_text(format, &text, &len), DN_OK);
    CHECK_INT(strlen(text), len);
    free(kept[next]);
    kept[next] = text;
    next = (next + 1) % (sizeof kept / sizeof *kept);
    return text;
}

/* The value behind "name{labels} " as it is written; NULL: there is no such line. Borrowed until the next call. */
static inline const char *value_in(const char *text, const char *sample) {
    static _Thread_local char value[64];
    const size_t              len = strlen(sample);

    for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
        if (strncmp(line, sample, len) != 0 || line[len] != ' ') continue;
        const size_t value_len = strcspn(line + len + 1, "\n");
        CHECK(value_len < sizeof value);
        memcpy(value, line + len + 1, value_len);
        value[value_len] = '\0';
        return value;
    }
    return NULL;
}

/* Likewise, of the default registry as it is now. */
static inline const char *value_of(const char *sample) {
    return value_in(text_in(DN_METRICS_TEXT), sample);
}

/* What is on the log since log_begins, a line each. */
static char log_text[4000];

static inline void log_take(void *context, dn_log_level level, const char *event,
                            const char *text) {
    const size_t len = strlen(log_text);

    (void)context, (void)level;
    snprintf(log_text + len, sizeof log_text - len, "%s: %s\n", event, text);
}

static inline void log_begins(void) {
    log_text[0] = '\0';
    dn_log_to(log_take, NULL);
}

#endif
