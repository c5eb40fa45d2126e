/* settings.c - reads the settings from flags, environment and file.
 * Every value in every place is checked, even if another place wins, so that a configuration stays valid when a flag is
 * removed. The places are applied from the weakest to the strongest, and the last one is the source of the value. */
#define _GNU_SOURCE /* memrchr */
#include "settings.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli_text.h"
#include "ini.h"

#define PREFIX     "DIURNAL_"
#define PREFIX_LEN (sizeof PREFIX - 1)

enum { LIVE = true, ANEW = false, PLAIN = false, MASKED = true };

const dn_setting dn_settings_table[DN_SETTINGS] = {
#define SETTING(type_, key_, default_, min_, max_, unit_, reload_, shown_, help_)                  \
    {                                                                                              \
        .key = #key_,                                                                              \
        .type = DN_SETTING_##type_,                                                                \
        .default_text = (default_),                                                                \
        .unit = (unit_),                                                                           \
        .help = (help_),                                                                           \
        .min = (min_),                                                                             \
        .max = (max_),                                                                             \
        .live = (reload_),                                                                         \
        .masked = (shown_),                                                                        \
        .offset = offsetof(dn_settings, key_),                                                     \
    },
#include "settings.def"
};

/* Variables with the prefix that are no settings. */
static const char *const others[] = {
    "DIURNAL_URL", "DIURNAL_TOKEN", "DIURNAL_CA", /* of the commands that send requests */
    "DIURNAL_TEST_SEED",                          /* of the tests, which run this program */
};
enum { OTHERS = sizeof others / sizeof others[0] };

/* The unchecked values of one place. */
typedef struct given {
    const char *values[DN_SETTINGS]; /* NULL: nothing */
} given;

static int  flags_read(dn_settings_input *input, given *out_given, char *why);
static int  flag_read(dn_settings_input *input, int *at, given *out_given, char *why);
static int  flag_refuse(const dn_settings_input *input, const char *name, size_t len, char *why);
static int  environment_read(char *const *environment, given *out_given,
                             const char **out_state_directory, char *why);
static int  variable_refuse(const char *name, size_t len, char *why);
static int  defaults_apply(dn_settings *s, const char *state_directory, char *why);
static int  given_apply(dn_settings *s, const given *g, dn_setting_from from, char *why);
static int  file_apply(dn_settings *s, char *why);
static int  file_on_line(void *context, const char *key, const char *value, size_t value_len,
                         uint32_t line, char *fault);
static int  value_apply(dn_settings *s, size_t i, const char *value, size_t len,
                        dn_setting_source source, char *fault);
static int  int_read(const dn_setting *setting, const char *value, size_t len, int64_t *out_value,
                     char *fault);
static int  real_read(const dn_setting *setting, const char *value, size_t len, double *out_value,
                      char *fault);
static int  bool_read(const dn_setting *setting, const char *value, size_t len, bool *out_value,
                      char *fault);
static int  word_read(const dn_setting *setting, const char *value, size_t len, int *out_value,
                      char *fault);
static int  text_take(const dn_setting *setting, const char *value, size_t len,
                      const char **out_text, char *fault);
static bool is_text(const dn_setting *setting);
static bool is_address(const char *value, size_t len);
static int  setting_find(const char *key);
static void place_write(const dn_settings *s, size_t i, char *out, size_t size);
static int  fault_of(const dn_setting *setting, char *fault, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- Loading ---- */

int dn_settings_load(dn_settings_input *input, dn_settings **out_settings, char *why) {
    dn_settings *const s = calloc(1, sizeof *s);
    given              flags = {0}, variables = {0}, config = {0};
    const char        *state_directory = NULL;
    int                rc;

    if (!s) return DN_ENOMEM;
    rc = flags_read(input, &flags, why);
    if (rc == DN_OK) rc = environment_read(input->environ, &variables, &state_directory, why);
    if (rc == DN_OK) rc = defaults_apply(s, state_directory, why);

    /* The file must be known before its values are applied under the others. */
    config.values[DN_SETTING_config] = variables.values[DN_SETTING_config];
    if (rc == DN_OK) rc = given_apply(s, &config, DN_FROM_ENVIRONMENT, why);
    config.values[DN_SETTING_config] = flags.values[DN_SETTING_config];
    if (rc == DN_OK) rc = given_apply(s, &config, DN_FROM_FLAG, why);
    variables.values[DN_SETTING_config] = flags.values[DN_SETTING_config] = NULL;

    if (rc == DN_OK && *s->config != '\0') rc = file_apply(s, why);
    if (rc == DN_OK) rc = given_apply(s, &variables, DN_FROM_ENVIRONMENT, why);
    if (rc == DN_OK) rc = given_apply(s, &flags, DN_FROM_FLAG, why);
    if (rc < 0) dn_settings_free(s);
    else *out_settings = s;
    return rc;
}

void dn_settings_free(dn_settings *settings) {
    if (!settings) return;
    for (size_t i = 0; i < DN_SETTINGS; i++) {
        const dn_setting *const setting = &dn_settings_table[i];

        if (is_text(setting)) free(*(char **)((char *)settings + setting->offset));
    }
    free(settings);
}

/* ---- Flags ---- */

static int flags_read(dn_settings_input *input, given *out_given, char *why) {
    bool only_operands = false;
    int  rc = DN_OK;

    input->operands_len = 0;
    for (size_t i = 0; i < input->flags_len; i++) input->flags[i].value = NULL;
    for (int at = 0; at < input->argc && rc == DN_OK; at++) {
        const char *const arg = input->argv[at];

        if (!only_operands && strcmp(arg, "--") == 0) {
            only_operands = true;
        } else if (!only_operands && arg[0] == '-' && arg[1] != '\0') {
            rc = flag_read(input, &at, out_given, why);
        } else if (!input->operands) {
            char quoted[DN_TEXT_QUOTED];

            rc = dn_refuse(DN_EINVAL, why, DN_SETTINGS_WHY,
                           "unexpected argument %s; flags begin with --",
                           dn_text_quoted(arg, strlen(arg), quoted));
        } else {
            input->operands[input->operands_len++] = arg;
        }
    }
    return rc;
}

/* Reads the flag at argv[*at] and its value, which may be the next argument. */
static int flag_read(dn_settings_input *input, int *at, given *out_given, char *why) {
    const char *const arg = input->argv[*at];
    const char *const name = arg + 2;
    const size_t      len = strncmp(arg, "--", 2) == 0 ? strcspn(name, "=") : 0;
    const char       *value = len > 0 && name[len] == '=' ? name + len + 1 : NULL;
    const char      **place = NULL;
    const char       *wants = NULL; /* name of its value */
    int               found = -1;

    if (len == 0) return flag_refuse(input, arg, strlen(arg), why);
    for (size_t i = 0; i < input->flags_len && !place; i++) {
        if (strlen(input->flags[i].name) != len || memcmp(input->flags[i].name, name, len) != 0)
            continue;
        place = &input->flags[i].value;
        wants = input->flags[i].arg;
        if (!wants && value)
            return dn_refuse(DN_EINVAL, why, DN_SETTINGS_WHY, "--%.*s takes no value", (int)len,
                             name);
        if (!wants) value = "";
    }
    if (!place) {
        char key[DN_SETTING_NAME];

        for (size_t i = 0; i < len && i < sizeof key; i++) key[i] = name[i] == '-' ? '_' : name[i];
        if (len < sizeof key) key[len] = '\0';
        found = len < sizeof key && !memchr(name, '_', len) ? setting_find(key) : -1;
        if (found < 0) return flag_refuse(input, name, len, why);
        place = &out_given->values[found];
        wants =
            dn_settings_table[found].type == DN_SETTING_INT ? "N" : dn_settings_table[found].unit;
        if (dn_settings_table[found].type == DN_SETTING_BOOL && !value) value = "true";
    }
    if (*place)
        return dn_refuse(DN_EINVAL, why, DN_SETTINGS_WHY, "--%.*s is given twice", (int)len, name);
    if (!value && *at + 1 < input->argc && strncmp(input->argv[*at + 1], "--", 2) != 0)
        value = input->argv[++*at];
    if (!value)
        return dn_refuse(DN_EINVAL, why, DN_SETTINGS_WHY,
                         "--%.*s: the value is missing; write --%.*s=%s", (int)len, name, (int)len,
                         name, wants);
    *place = value;
    return DN_OK;
}

static int flag_refuse(const dn_settings_input *input, const char *name, size_t len, char *why) {
    char         dashed[DN_SETTINGS][DN_SETTING_NAME], quoted[DN_TEXT_QUOTED];
    const char **names = calloc(DN_SETTINGS + input->flags_len, sizeof *names);
    size_t       names_len = 0;

    if (!names) return DN_ENOMEM;
    for (size_t i = 0; i < DN_SETTINGS; i++) {
        dn_setting_flag(i, dashed[i]);
        names[names_len++] = dashed[i] + 2;
    }
    for (size_t i = 0; i < input->flags_len; i++) names[names_len++] = input->flags[i].name;
    while (len > 0 && *name == '-') name++, len--;
    const char *const nearest = dn_text_nearest(name, len, names, names_len);
    free(names);
    (void)dn_text_quoted(name, len, quoted);
    if (nearest)
        return dn_refuse(DN_EINVAL, why, DN_SETTINGS_WHY, "unknown flag %s; did you mean --%s?",
                         quoted, nearest);
    return dn_refuse(DN_EINVAL, why, DN_SETTINGS_WHY, "unknown flag %s; --help lists all", quoted);
}

/* ---- Environment ---- */

static int environment_read(char *const *environment, given *out_given,
                            const char **out_state_directory, char *why) {
    static const char state[] = "STATE_DIRECTORY=";

    for (; environment && *environment; environment++) {
        const char *const text = *environment;
        const size_t      len = strcspn(text, "=");
        bool              known = text[len] != '=';
        char              name[DN_SETTING_NAME];

        if (strncmp(text, state, sizeof state - 1) == 0)
            *out_state_directory = text + sizeof state - 1;
        if (strncmp(text, PREFIX, PREFIX_LEN) != 0) continue;
        for (size_t i = 0; i < OTHERS && !known; i++)
            known = strlen(others[i]) == len && memcmp(others[i], text, len) == 0;
        for (size_t i = 0; i < DN_SETTINGS && !known; i++) {
            dn_setting_variable(i, name);
            known = strlen(name) == len && memcmp(name, text, len) == 0;
            /* Of two variables of one name the first counts, as with getenv. */
            if (known && !out_given->values[i]) out_given->values[i] = text + len + 1;
        }
        if (!known) return variable_refuse(text, len, why);
    }
    return DN_OK;
}

static int variable_refuse(const char *name, size_t len, char *why) {
    char        variables[DN_SETTINGS][DN_SETTING_NAME], quoted[DN_TEXT_QUOTED];
    const char *names[DN_SETTINGS + OTHERS];

    /* Without the prefix: with it every name would be near. */
    for (size_t i = 0; i < DN_SETTINGS; i++) {
        dn_setting_variable(i, variables[i]);
        names[i] = variables[i] + PREFIX_LEN;
    }
    for (size_t i = 0; i < OTHERS; i++) names[DN_SETTINGS + i] = others[i] + PREFIX_LEN;
    const char *const nearest =
        dn_text_nearest(name + PREFIX_LEN, len - PREFIX_LEN, names, DN_SETTINGS + OTHERS);
    (void)dn_text_quoted(name, len, quoted);
    if (nearest)
        return dn_refuse(DN_EINVAL, why, DN_SETTINGS_WHY,
                         "environment: unknown setting %s; did you mean " PREFIX "%s?", quoted,
                         nearest);
    return dn_refuse(DN_EINVAL, why, DN_SETTINGS_WHY, "environment: unknown setting %s; unset it",
                     quoted);
}

/* ---- Applying the places ---- */

static int defaults_apply(dn_settings *s, const char *state_directory, char *why) {
    char fault[INI_WHY];
    int  rc = DN_OK;

    for (size_t i = 0; i < DN_SETTINGS && rc == DN_OK; i++) {
        const char *const text = dn_settings_table[i].default_text;

        rc = value_apply(s, i, text, strlen(text), (dn_setting_source){0}, fault);
        assert(rc == DN_OK || rc == DN_ENOMEM);
    }
    if (rc < 0 || !state_directory || *state_directory != '/') return rc;
    /* systemd sets it for StateDirectory= in a unit; of several, separated by colons, the first counts. */
    rc = value_apply(s, DN_SETTING_data, state_directory, strcspn(state_directory, ":"),
                     (dn_setting_source){.from = DN_FROM_STATE_DIRECTORY}, fault);
    return rc == DN_EINVAL
               ? dn_refuse(DN_EINVAL, why, DN_SETTINGS_WHY, "STATE_DIRECTORY: %s", fault)
               : rc;
}

static int given_apply(dn_settings *s, const given *g, dn_setting_from from, char *why) {
    int rc = DN_OK;

    for (size_t i = 0; i < DN_SETTINGS && rc == DN_OK; i++) {
        char fault[INI_WHY], name[DN_SETTING_NAME];

        if (!g->values[i]) continue;
        rc = value_apply(s, i, g->values[i], strlen(g->values[i]),
                         (dn_setting_source){.from = from}, fault);
        if (rc != DN_EINVAL) continue;
        if (from == DN_FROM_FLAG) dn_setting_flag(i, name);
        else dn_setting_variable(i, name);
        rc = dn_refuse(DN_EINVAL, why, DN_SETTINGS_WHY, "%s: %s", name, fault);
    }
    return rc;
}

static int file_apply(dn_settings *s, char *why) {
    const char *const path = s->config;
    char              fault[INI_WHY] = "";
    const char       *sentence;
    uint32_t          line = 0;
    FILE             *file;
    int               rc = text_open(path, &file, &sentence);

    if (rc < 0)
        return rc == DN_EINVAL
                   ? dn_refuse(DN_EINVAL, why, DN_SETTINGS_WHY, "%s: %s", path, sentence)
                   : rc;
    rc = ini_read(file, file_on_line, s, &line, fault);
    (void)fclose(file);
    if (rc == DN_OK || rc == DN_ENOMEM) return rc;
    return line > 0 ? dn_refuse(DN_EINVAL, why, DN_SETTINGS_WHY, "%s:%u: %s", path, line, fault)
                    : dn_refuse(DN_EINVAL, why, DN_SETTINGS_WHY, "%s: %s", path, fault);
}

static int file_on_line(void *context, const char *key, const char *value, size_t value_len,
                        uint32_t line, char *fault) {
    dn_settings *const      s = context;
    const int               i = setting_find(key);
    const dn_setting_source source = {.from = DN_FROM_FILE, .line = line};
    char                    quoted[DN_TEXT_QUOTED], sentence[INI_WHY];
    int                     rc;

    if (i < 0) {
        const char *names[DN_SETTINGS];

        for (size_t n = 0; n < DN_SETTINGS; n++) names[n] = dn_settings_table[n].key;
        const char *const nearest = dn_text_nearest(key, strlen(key), names, DN_SETTINGS);
        (void)dn_text_quoted(key, strlen(key), quoted);
        if (nearest)
            (void)snprintf(fault, INI_WHY, "unknown setting %s; did you mean %s?", quoted, nearest);
        else
            (void)snprintf(fault, INI_WHY, "unknown setting %s; diurnal serve --help lists all",
                           quoted);
        return DN_EINVAL;
    }
    if (i == DN_SETTING_config) {
        (void)snprintf(fault, INI_WHY,
                       "config: a file cannot name another file; use --config or %sCONFIG", PREFIX);
        return DN_EINVAL;
    }
    if (s->sources[i].from == DN_FROM_FILE) {
        (void)snprintf(fault, INI_WHY, "%s: set twice, first in line %u", key, s->sources[i].line);
        return DN_EINVAL;
    }
    rc = value_apply(s, (size_t)i, value, value_len, source, sentence);
    if (rc == DN_EINVAL) return dn_refuse(rc, fault, INI_WHY, "%s: %s", key, sentence);
    return rc;
}

/* ---- Values ---- */

/* DN_EINVAL: fault (INI_WHY bytes) has the error, and s is unchanged. */
static int value_apply(dn_settings *s, size_t i, const char *value, size_t len,
                       dn_setting_source source, char *fault) {
    const dn_setting *const setting = &dn_settings_table[i];
    void *const             field = (char *)s + setting->offset;
    int                     rc = DN_EINVAL;

    switch (setting->type) {
    case DN_SETTING_INT: rc = int_read(setting, value, len, field, fault); break;
    case DN_SETTING_REAL: rc = real_read(setting, value, len, field, fault); break;
    case DN_SETTING_BOOL: rc = bool_read(setting, value, len, field, fault); break;
    case DN_SETTING_WORD: rc = word_read(setting, value, len, field, fault); break;
    case DN_SETTING_TEXT:
    case DN_SETTING_ADDR: rc = text_take(setting, value, len, field, fault); break;
    }
    if (rc == DN_OK) s->sources[i] = source;
    return rc;
}

static int int_read(const dn_setting *setting, const char *value, size_t len, int64_t *out_value,
                    char *fault) {
    const bool negative = len > 0 && *value == '-';
    bool       bad = len == (size_t)negative;
    bool       far = false; /* more than 64 bits */
    int64_t    number = 0;
    char       quoted[DN_TEXT_QUOTED];

    for (size_t i = negative; i < len && !bad; i++) {
        bad = value[i] < '0' || value[i] > '9';
        far = far || __builtin_mul_overflow(number, 10, &number) ||
              __builtin_add_overflow(number, value[i] - '0', &number);
    }
    if (bad)
        return fault_of(setting, fault, "%s is not a whole number of %s",
                        dn_text_quoted(value, len, quoted), setting->unit);
    if (far) number = INT64_MAX;
    if (negative) number = -number;
    if (number < setting->min)
        return fault_of(setting, fault, "%s is less than the minimum %lld",
                        dn_text_quoted(value, len, quoted), (long long)setting->min);
    if (number > setting->max)
        return fault_of(setting, fault, "%s is more than the maximum %lld",
                        dn_text_quoted(value, len, quoted), (long long)setting->max);
    *out_value = number;
    return DN_OK;
}

/* strtod would accept " 0x1p-3", "nan", and in some locales a comma. Up to 15 digits both operands of the division are
 * exact, so the result is the double nearest to the text. */
static int real_read(const dn_setting *setting, const char *value, size_t len, double *out_value,
                     char *fault) {
    const bool negative = len > 0 && *value == '-';
    size_t     digits = 0, point = len;
    double     number = 0, scale = 1;
    bool       bad = false;
    char       quoted[DN_TEXT_QUOTED];

    for (size_t i = negative; i < len && !bad; i++) {
        if (value[i] == '.' && point == len && digits > 0) {
            point = i;
        } else if (value[i] < '0' || value[i] > '9' || ++digits > 15) {
            bad = true;
        } else {
            number = number * 10 + (value[i] - '0');
            if (point < len) scale *= 10;
        }
    }
    if (bad || digits == 0 || point + 1 == len)
        return fault_of(setting, fault, "%s is not a number of up to 15 digits, with a point",
                        dn_text_quoted(value, len, quoted));
    number = (negative ? -number : number) / scale;
    if (number < (double)setting->min)
        return fault_of(setting, fault, "%s is less than the minimum %lld",
                        dn_text_quoted(value, len, quoted), (long long)setting->min);
    if (number > (double)setting->max)
        return fault_of(setting, fault, "%s is more than the maximum %lld",
                        dn_text_quoted(value, len, quoted), (long long)setting->max);
    *out_value = number;
    return DN_OK;
}

static int bool_read(const dn_setting *setting, const char *value, size_t len, bool *out_value,
                     char *fault) {
    const bool is_true = len == 4 && memcmp(value, "true", 4) == 0;
    char       quoted[DN_TEXT_QUOTED];

    if (!is_true && (len != 5 || memcmp(value, "false", 5) != 0))
        return fault_of(setting, fault, "%s is neither true nor false",
                        dn_text_quoted(value, len, quoted));
    *out_value = is_true;
    return DN_OK;
}

static int word_read(const dn_setting *setting, const char *value, size_t len, int *out_value,
                     char *fault) {
    const char *word = setting->unit;
    char        quoted[DN_TEXT_QUOTED];

    for (int i = 0; *word != '\0'; i++) {
        const size_t word_len = strcspn(word, "|");

        if (word_len == len && memcmp(word, value, len) == 0) {
            *out_value = i;
            return DN_OK;
        }
        word += word_len + (word[word_len] == '|');
    }
    return fault_of(setting, fault, "%s is not one of %s", dn_text_quoted(value, len, quoted),
                    setting->unit);
}

static int text_take(const dn_setting *setting, const char *value, size_t len,
                     const char **out_text, char *fault) {
    const char *const bad = dn_text_fault(value, len);
    char              quoted[DN_TEXT_QUOTED];
    char             *copy;

    if (bad) return fault_of(setting, fault, "%s %s", dn_text_quoted(value, len, quoted), bad);
    if (len < (size_t)setting->min) return fault_of(setting, fault, "it is empty");
    if (len > (size_t)setting->max)
        return fault_of(setting, fault, "it is longer than %lld bytes", (long long)setting->max);
    if (setting->type == DN_SETTING_ADDR && !is_address(value, len))
        return fault_of(setting, fault, "%s is not %s", dn_text_quoted(value, len, quoted),
                        setting->unit);
    copy = text_copy(value, len);
    if (!copy) return DN_ENOMEM;
    free((void *)*out_text);
    *out_text = copy;
    return DN_OK;
}

static bool is_text(const dn_setting *setting) {
    return setting->type == DN_SETTING_TEXT || setting->type == DN_SETTING_ADDR;
}

/* A name or an address, in brackets for IPv6, and a port. The listener finds out if it exists. */
static bool is_address(const char *value, size_t len) {
    const char *const colon = memrchr(value, ':', len);
    const size_t      host = colon ? (size_t)(colon - value) : 0;
    uint32_t          port = 0;

    if (host == 0 || host + 1 == len || len - host > sizeof ":65535" - 1) return false;
    for (size_t i = host + 1; i < len; i++) {
        if (value[i] < '0' || value[i] > '9') return false;
        port = port * 10 + (uint32_t)(value[i] - '0');
    }
    if (port > 65535 || memchr(value, ' ', len) || memchr(value, '/', len)) return false;
    if (value[0] == '[') return host > 2 && value[host - 1] == ']';
    return !memchr(value, ':', host);
}

/* ---- Values together ---- */

int dn_settings_check(const dn_settings *s, char *why) {
    const int64_t window_ms = s->window_minutes * 60000;
    char          place[DN_SETTINGS_WHY / 2];

    if (s->job_timeout_ms > window_ms) {
        place_write(s, DN_SETTING_job_timeout_ms, place, sizeof place);
        return dn_refuse(DN_EINVAL, why, DN_SETTINGS_WHY,
                         "%s: %lld is longer than the window of %lld minutes; the maximum is %lld",
                         place, (long long)s->job_timeout_ms, (long long)s->window_minutes,
                         (long long)window_ms);
    }
    if (s->cutoff_objective >= 1) {
        place_write(s, DN_SETTING_cutoff_objective, place, sizeof place);
        return dn_refuse(
            DN_EINVAL, why, DN_SETTINGS_WHY,
            "%s: 1 allows no miss, so there is no burn rate; 0.999 allows one in a thousand",
            place);
    }
    if (*s->runner == '\0' && !s->demo)
        return dn_refuse(DN_EINVAL, why, DN_SETTINGS_WHY,
                         "runner: not set; use for example --runner=http://127.0.0.1:8080/daily, "
                         "or --demo to try diurnal out");
    if (*s->runner != '\0' && s->demo) {
        place_write(s, DN_SETTING_runner, place, sizeof place);
        return dn_refuse(DN_EINVAL, why, DN_SETTINGS_WHY,
                         "%s: the demo has its own runner; remove this one, or demo", place);
    }
    return DN_OK;
}

bool dn_settings_same(const dn_settings *a, const dn_settings *b, size_t setting) {
    const dn_setting *const it = &dn_settings_table[setting];
    const char *const       in_a = (const char *)a + it->offset;
    const char *const       in_b = (const char *)b + it->offset;

    switch (it->type) {
    case DN_SETTING_INT: return *(const int64_t *)in_a == *(const int64_t *)in_b;
    case DN_SETTING_REAL: return memcmp(in_a, in_b, sizeof(double)) == 0;
    case DN_SETTING_BOOL: return *(const bool *)in_a == *(const bool *)in_b;
    case DN_SETTING_WORD: return *(const int *)in_a == *(const int *)in_b;
    case DN_SETTING_TEXT:
    case DN_SETTING_ADDR:
        return strcmp(*(const char *const *)in_a, *(const char *const *)in_b) == 0;
    }
    assert(false);
    return false;
}

/* ---- Names ---- */

void dn_setting_flag(size_t setting, char name[DN_SETTING_NAME]) {
    (void)snprintf(name, DN_SETTING_NAME, "--%s", dn_settings_table[setting].key);
    for (; *name != '\0'; name++)
        if (*name == '_') *name = '-';
}

void dn_setting_variable(size_t setting, char name[DN_SETTING_NAME]) {
    (void)snprintf(name, DN_SETTING_NAME, PREFIX "%s", dn_settings_table[setting].key);
    for (; *name != '\0'; name++)
        if (*name >= 'a' && *name <= 'z') *name = (char)(*name - 'a' + 'A');
}

static int setting_find(const char *key) {
    for (int i = 0; i < DN_SETTINGS; i++)
        if (strcmp(dn_settings_table[i].key, key) == 0) return i;
    return -1;
}

/* Writes the place of a value, as the beginning of an error. */
static void place_write(const dn_settings *s, size_t i, char *out, size_t size) {
    char name[DN_SETTING_NAME];

    switch (s->sources[i].from) {
    case DN_FROM_FLAG:
        dn_setting_flag(i, name);
        (void)snprintf(out, size, "%s", name);
        return;
    case DN_FROM_ENVIRONMENT:
        dn_setting_variable(i, name);
        (void)snprintf(out, size, "%s", name);
        return;
    case DN_FROM_FILE:
        (void)snprintf(out, size, "%s:%u: %s", s->config, s->sources[i].line,
                       dn_settings_table[i].key);
        return;
    case DN_FROM_DEFAULT:
    case DN_FROM_STATE_DIRECTORY: (void)snprintf(out, size, "%s", dn_settings_table[i].key); return;
    }
}

/* Writes the fault of a value, and its default. */
static int fault_of(const dn_setting *setting, char *fault, const char *format, ...) {
    va_list args;
    int     used;

    va_start(args, format);
    used = vsnprintf(fault, INI_WHY, format, args);
    va_end(args);
    if (*setting->default_text != '\0' && used > 0 && used < INI_WHY)
        (void)snprintf(fault + used, (size_t)(INI_WHY - used), "; %s is the default",
                       setting->default_text);
    return DN_EINVAL;
}

dn_data_url dn_data_url_of(const char *data) {
    dn_data_url url;

    (void)snprintf(url.text, sizeof url.text, "sqlite:%s", data);
    return url;
}
