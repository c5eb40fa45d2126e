/* reference.c - see reference.h. */
#include "reference.h"

#include <stdio.h>
#include <string.h>

static reference_flag of_setting(size_t i) {
    const dn_setting *s = &dn_settings_table[i];
    const bool        counts = s->type == DN_SETTING_INT;
    reference_flag    f = {.arg = counts ? "N" : s->unit, .help = s->help};

    dn_setting_flag(i, f.name);
    if (counts)
        (void)snprintf(f.more, sizeof f.more, " (%s %s)", s->default_text,
                       strcmp(s->unit, "milliseconds") == 0 ? "ms" : s->unit);
    else if (s->type != DN_SETTING_BOOL && *s->default_text)
        (void)snprintf(f.more, sizeof f.more, " (%s)", s->default_text);
    return f;
}

static reference_flag of_flag(const dn_flag *flag) {
    reference_flag f = {.arg = flag->arg ? flag->arg : "", .help = flag->help};

    (void)snprintf(f.name, sizeof f.name, "--%s", flag->name);
    return f;
}

size_t reference_flags(const command *c, reference_flag flags[REFERENCE_FLAGS_MAX]) {
    static const dn_flag data[] = {
        {"data", "DIR", "data directory of the daemon (DIURNAL_DATA; ./diurnal-data)", NULL},
        {"config", "FILE", "configuration file, which may set data (DIURNAL_CONFIG)", NULL},
    };
    dn_flag      own[COMMAND_FLAGS_MAX];
    const size_t own_len = command_flags(c, own);
    size_t       len = 0;

    for (size_t i = 0; i < own_len; i++) flags[len++] = of_flag(&own[i]);
    for (size_t i = 0; c->serves && i < DN_SETTINGS; i++) flags[len++] = of_setting(i);
    for (size_t i = 0; !c->serves && !c->stands_alone && i < sizeof data / sizeof *data; i++)
        flags[len++] = of_flag(&data[i]);
    return len;
}

size_t reference_group(const command *c) {
    const char *space = strchr(c->name, ' ');

    return space ? (size_t)(space - c->name) : 0;
}

const char *reference_last_word(const command *c) {
    const size_t group = reference_group(c);

    return group ? c->name + group + 1 : c->name;
}
