/* settings.h - the settings of `diurnal serve`, and the source of each value.
 * A setting is a flag, else a DIURNAL_ variable, else a line of the file, else its default; settings.def has them all. Anything
 * unknown is refused, even if another value would override it: a typing error must never run for months as a default. Reads
 * only the named file; any thread. */
#ifndef DIURNAL_CLI_SETTINGS_H
#define DIURNAL_CLI_SETTINGS_H

#include <stdio.h>

#include "diurnal/base.h"

/* ---- The table ---- */

typedef enum dn_setting_type {
    DN_SETTING_INT,
    DN_SETTING_REAL,
    DN_SETTING_BOOL,
    DN_SETTING_TEXT,
    DN_SETTING_ADDR,
    DN_SETTING_WORD,
} dn_setting_type;

typedef struct dn_setting {
    const char     *key;
    dn_setting_type type;
    const char     *default_text, *unit, *help;
    int64_t         min, max;
    bool            live, masked; /* live: it can change while the daemon runs */
    size_t          offset;       /* of its value in dn_settings */
} dn_setting;

enum {
#define SETTING(type, key, default_text, min, max, unit, reload, shown, help) DN_SETTING_##key,
#include "settings.def"
    DN_SETTINGS
};
extern const dn_setting dn_settings_table[DN_SETTINGS]; /* by DN_SETTING_key */

/* ---- The values ---- */

typedef enum dn_setting_from {
    DN_FROM_DEFAULT,
    DN_FROM_STATE_DIRECTORY, /* `data` under systemd: $STATE_DIRECTORY takes the place of its default */
    DN_FROM_FILE,
    DN_FROM_ENVIRONMENT,
    DN_FROM_FLAG,
} dn_setting_from;

typedef struct dn_setting_source {
    dn_setting_from from;
    uint32_t        line; /* of the file named by `config` */
} dn_setting_source;

/* A text is never NULL. A word is the index of its word, from 0: log_level is a dn_log_level. */
#define DN_SETTING_C_INT  int64_t
#define DN_SETTING_C_REAL double
#define DN_SETTING_C_BOOL bool
#define DN_SETTING_C_TEXT const char *
#define DN_SETTING_C_ADDR const char *
#define DN_SETTING_C_WORD int

typedef struct dn_settings {
#define SETTING(type, key, default_text, min, max, unit, reload, shown, help)                      \
    DN_SETTING_C_##type key;
#include "settings.def"
    dn_setting_source sources[DN_SETTINGS];
} dn_settings;

/* ---- Reading ---- */

/* A command's own flag. value is NULL if the flag is missing, "" if it takes no value. */
typedef struct dn_flag {
    const char *name; /* without -- */
    const char *arg;  /* name of its value in --help; NULL: takes none */
    const char *help;
    const char *value; /* borrowed from argv */
} dn_flag;

typedef struct dn_settings_input {
    int          argc; /* the arguments after the name of the command */
    char *const *argv;
    char *const *environ; /* NULL-terminated */
    dn_flag     *flags;   /* their values are set here */
    size_t       flags_len;
    const char **operands;     /* room for argc operands. NULL: operands are refused */
    size_t       operands_len; /* is set */
} dn_settings_input;

/* DN_EINVAL: why (DN_SETTINGS_WHY bytes) has one line: place, fault and remedy. SIGHUP calls it again with the same input, and
 * keeps the old settings on an error. */
enum { DN_SETTINGS_WHY = 512 };
DN_MUST_USE int dn_settings_load(dn_settings_input *input, dn_settings **out_settings, char *why);
void            dn_settings_free(dn_settings *settings); /* accepts NULL */
static inline void dn_settings_freep(dn_settings **settings) { dn_settings_free(*settings); }

/* Checks that the values fit together and that `serve` has what it needs. Errors as dn_settings_load. */
DN_MUST_USE int dn_settings_check(const dn_settings *settings, char *why);

/* The URL of the store in the directory that --data names. Of a path too long for a store the URL is cut, and
 * dn_store_open still refuses it as too long. */
typedef struct dn_data_url {
    char text[4096 + 64];
} dn_data_url;
dn_data_url dn_data_url_of(const char *data);

/* True if the setting has the same value in both. SIGHUP reports the others. */
bool dn_settings_same(const dn_settings *a, const dn_settings *b, size_t setting);

/* ---- Showing ---- */

/* Text: a file that would set the same, with the source of each value as a comment. JSON: {"items": [{"key", "value",
 * "source": "default"|"file"|"environment"|"flag", "at", "live"}]}. DN_EIO: out does not take it. */
DN_MUST_USE int dn_settings_show(const dn_settings *settings, bool json, FILE *out);

/* A runner for display, for free(): *** replaces user, password and query of a URL and the arguments of a command, because
 * these may contain tokens. NULL: out of memory. */
char *dn_settings_masked_copy(const char *url);

/* The name of a setting's flag (with --) or variable. */
enum { DN_SETTING_NAME = 48 };
void dn_setting_flag(size_t setting, char name[DN_SETTING_NAME]);
void dn_setting_variable(size_t setting, char name[DN_SETTING_NAME]);

#endif
