/* spec.c - which specs make sense, and what their zeros mean. */
#include "sup.h"

#include <stdio.h>
#include <string.h>

/* Far beyond any sense, and small enough that arithmetic on nanoseconds cannot overflow. */
#define MS_MAX (INT64_MAX / 1000000 / 4)

/* More than that is a mistake in a table, not a design. */
enum { CHILDREN_MAX = 1 << 20 };

static const char *backoff_fault(const dn_backoff *b) {
    if (b->min_ms < 0 || b->max_ms < 0 || b->stable_ms < 0) return "a backoff cannot be negative";
    if (b->min_ms > MS_MAX || b->max_ms > MS_MAX || b->stable_ms > MS_MAX)
        return "a backoff of ages";
    if (b->max_ms > 0 && b->max_ms < b->min_ms) return "backoff: max_ms is below min_ms";
    return NULL;
}

static const char *shutdown_fault(int64_t shutdown_ms) {
    if (shutdown_ms < DN_SHUTDOWN_FOREVER || shutdown_ms > MS_MAX)
        return "shutdown_ms is out of range";
    return NULL;
}

static const char *child_fault(const dn_child_spec *c, dn_auto_shutdown auto_shutdown) {
    const char *fault = NULL;

    if (!c->actor_class) return "it has no class";
    if ((unsigned)c->restart > DN_TEMPORARY) return "there is no such restart";
    if (c->significant && c->restart == DN_PERMANENT) return "a permanent child is not significant";
    if (c->significant && auto_shutdown == DN_NEVER) return "significant, but auto_shutdown never";
    fault = shutdown_fault(c->shutdown_ms);
    if (fault) return fault;
    if ((c->start_ms < 0 && c->start_ms != DN_START_FOREVER) || c->start_ms > MS_MAX)
        return "start_ms is out of range";
    return backoff_fault(&c->backoff);
}

static bool say(char *why, const char *fault) {
    if (!fault) return true;
    snprintf(why, DN_CRASH_WHY_MAX, "%s", fault);
    return false;
}

bool sup_spec_is_sound(const dn_supervisor_spec *spec, char *why) {
    if (!spec) return say(why, "a supervisor needs a spec");
    if ((unsigned)spec->strategy > DN_REST_FOR_ONE) return say(why, "there is no such strategy");
    if ((unsigned)spec->auto_shutdown > DN_ALL_SIGNIFICANT)
        return say(why, "there is no such auto_shutdown");
    if (spec->intensity > DN_INTENSITY_MAX) return say(why, "intensity is above DN_INTENSITY_MAX");
    if (spec->period_ms < 0 || spec->period_ms > MS_MAX)
        return say(why, "period_ms is out of range");
    if (spec->children.len > CHILDREN_MAX) return say(why, "more than a million children");
    if (spec->children.len > 0 && !spec->children.rows)
        return say(why, "a number of children, but no rows");
    for (size_t i = 0; i < spec->children.len; i++) {
        const dn_child_spec *c = &spec->children.rows[i];
        const char          *fault = NULL;

        if (!c->name || !*c->name || strnlen(c->name, DN_NAME_MAX + 1) > DN_NAME_MAX) {
            snprintf(why, DN_CRASH_WHY_MAX, "child %zu: a name of 1 to %d bytes is needed", i,
                     DN_NAME_MAX);
            return false;
        }
        fault = child_fault(c, spec->auto_shutdown);
        if (fault) {
            snprintf(why, DN_CRASH_WHY_MAX, "%s: %s", c->name, fault);
            return false;
        }
    }
    return true;
}

bool sup_dynamic_spec_is_sound(const dn_dynamic_spec *spec, char *why) {
    if (!spec) return say(why, "a dynamic supervisor needs a spec");
    if (!spec->actor_class) return say(why, "its children have no class");
    return say(why, shutdown_fault(spec->shutdown_ms));
}

int64_t sup_start_ms(const dn_child_spec *spec) {
    if (spec->start_ms == DN_START_FOREVER) return -1;
    return spec->start_ms > 0 ? spec->start_ms : DN_START_DEFAULT_MS;
}

int64_t sup_shutdown_ms(int64_t shutdown_ms) {
    if (shutdown_ms == DN_SHUTDOWN_FOREVER) return -1;
    if (shutdown_ms == DN_SHUTDOWN_KILL) return 0;
    return shutdown_ms > 0 ? shutdown_ms : DN_SHUTDOWN_DEFAULT_MS;
}

int64_t sup_period_ms(const dn_supervisor_spec *spec) {
    return spec->period_ms > 0 ? spec->period_ms : 5000;
}

dn_child_spec dn_supervisor_child(const char *name, const dn_supervisor_spec *spec) {
    return (dn_child_spec){
        .name = name,
        .actor_class = &dn_supervisor_class,
        .config = spec,
        .restart = DN_PERMANENT,
        .shutdown_ms = DN_SHUTDOWN_FOREVER,
        .start_ms = DN_START_FOREVER,
    };
}

dn_child_spec dn_dynamic_child(const char *name, const dn_dynamic_spec *spec) {
    return (dn_child_spec){
        .name = name,
        .actor_class = &dn_dynamic_class,
        .config = spec,
        .restart = DN_PERMANENT,
        .shutdown_ms = DN_SHUTDOWN_FOREVER,
    };
}
