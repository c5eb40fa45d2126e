/* settings.h - what `diurnal serve` goes by, and where each value came from.
 * A setting is a flag, else a DIURNAL_ variable, else a line of the file, else its default; settings.def has them
 * all. Whatever is not understood is refused, wherever it stands and also where another value would win: a
 * typing error must never run for months as a default. Reads the file it is told to read, and nothing else of the
 * world; any thread. */
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

/* A text is never NULL. A word is which of its words it is, from 0: log_level is a dn_log_level. */
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

/* A flag that is no setting: a command's own. value is NULL if it is not given, "" if it is and takes none. */
typedef struct dn_flag {
    const char *name; /* without -- */
    const char *arg;  /* what --help calls its value; NULL: it takes none */
    const char *help;
    const char *value; /* borrowed from argv */
} dn_flag;

typedef struct dn_settings_input {
    int          argc; /* what stands after the name of the command */
    char *const *argv;
    char *const *environ; /* NULL-terminated */
    dn_flag     *flags;   /* its values are set */
    size_t       flags_len;
    const char **operands;     /* room for argc: what is no flag. NULL: there must not be any */
    size_t       operands_len; /* is set */
} dn_settings_input;

/* DN_EINVAL: why (DN_SETTINGS_WHY bytes) has one line: where, what, and what would be right. A SIGHUP calls it
 * again with the same input, and leaves everything as it is if that fails. */
enum { DN_SETTINGS_WHY = 512 };
DN_MUST_USE int dn_settings_load(dn_settings_input *input, dn_settings **out_settings, char *why);
void            dn_settings_free(dn_settings *settings); /* accepts NULL */
static inline void dn_settings_freep(dn_settings **settings) { dn_settings_free(*settings); }

/* What no value can tell by itself: do they go together, and is there what `serve` needs? As dn_settings_load. */
DN_MUST_USE int dn_settings_check(const dn_settings *settings, char *why);

/* The URL of the store in the directory that --data names. Of a path too long for a store the URL is cut, and
 * dn_store_open still refuses it as too long. */
typedef struct dn_data_url {
    char text[4096 + 64];
} dn_data_url;
dn_data_url dn_data_url_of(const char *data);

/* Is the value of that setting the same in both? For telling what a SIGHUP changes. */
bool dn_settings_same(const dn_settings *a, const dn_settings *b, size_t setting);

/* ---- Showing ---- */

/* Text: a file that would set the same, with the source of each value as a comment. JSON: {"items": [{"key", "value",
 * "source": "default"|"file"|"environment"|"flag", "at", "live"}]}. DN_EIO: out does not take it. */
DN_MUST_USE int dn_settings_show(const dn_settings *settings, bool json, FILE *out);

/* A runner as it may be shown, for free(): of a URL *** for user, password and query, which is where people put tokens;
 * of a command for what stands after the program, for the same reason. NULL: out of memory. */
char *dn_settings_masked_copy(const char *url);

/* The name of a setting's flag (with --) or variable. */
enum { DN_SETTING_NAME = 48 };
void dn_setting_flag(size_t setting, char name[DN_SETTING_NAME]);
void dn_setting_variable(size_t setting, char name[DN_SETTING_NAME]);

#endif
