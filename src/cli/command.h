/* command.h - one command of the program: its usage and its function.
 * The table in command_table.c has them all; --help, the check of flags and operands, the suggestion of the nearest name,
 * completions and the manual come from it. */
#ifndef DIURNAL_CLI_COMMAND_H
#define DIURNAL_CLI_COMMAND_H

#include "settings.h"

#include <jansson.h>

/* Exit codes (CONTRACT §5). */
enum { DN_EXIT_DONE = 0, DN_EXIT_FAILED = 1, DN_EXIT_USAGE = 2, DN_EXIT_VIOLATED = 3 };

typedef struct command command;

/* The arguments of a command. */
typedef struct call {
    const char        *program; /* argv[0] */
    char *const       *argv;    /* all of it */
    const command     *command;
    dn_settings_input  input; /* the source of the settings; SIGHUP reads it again */
    const dn_settings *settings;
    const char *const *operands;
    size_t             operands_len;
    bool               json;
} call;

typedef int command_fn(const call *c); /* an exit code */

struct command {
    const char    *name;     /* "users set" */
    const char    *operands; /* "ID"; "" */
    const char    *help;     /* one line, without a full stop */
    const char    *more;     /* more lines for --help; NULL: none */
    command_fn    *run;
    const dn_flag *flags; /* its own */
    size_t         flags_len;
    size_t         operands_min, operands_max;
    bool           serves;       /* every setting is a flag; else only --data and --config */
    bool           asks;         /* sends requests to a daemon: has --url, --token-file, --ca */
    bool           asks_here;    /* only to the daemon of its directory: has --token-file */
    bool           stands_alone; /* needs no data directory */
    bool           prints_data;  /* has --json */
};

/* In the order of --help; the commands of a group ("users") are adjacent. */
enum { COMMAND_FLAGS_MAX = 24 };
const command *command_table(size_t *out_len);
/* The command whose name is nearest to what was typed; NULL: none is near. */
const command *command_nearest(const char *typed);
/* Fills in the command's own flags and those of its kind, without the settings. Returns their number. */
size_t command_flags(const command *c, dn_flag flags[COMMAND_FLAGS_MAX]);

/* The value of a command's own flag: NULL if it is missing, "" if it takes no value. */
const char *call_flag(const call *c, const char *name);

/* An environment variable; NULL: not set. */
const char *call_variable(const call *c, const char *name);

/* Runs the command in argv. Returns its exit code. */
int commands_run(int argc, char **argv, char **environment);

/* Prints one line, "diurnal: …", on standard error. Returns exit_code. */
int complain(int exit_code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Sets a function that complain calls first, to restore the terminal. NULL: none. */
void complain_behind(void (*fn)(void));

/* Prints a JSON object as one line. Takes it. */
int print_json(json_t *value);

/* ---- All commands: one file each, or a few related ones in a file ---- */
command_fn cmd_serve, cmd_users_set, cmd_users_get, cmd_users_rm, cmd_users_list, cmd_users_import,
    cmd_users_export, cmd_today, cmd_why, cmd_audit, cmd_status, cmd_db_check, cmd_db_backup,
    cmd_check_config, cmd_config_show, cmd_replay, cmd_simulate, cmd_version, cmd_top,
    cmd_token_create, cmd_token_list, cmd_token_revoke, cmd_dashboard, cmd_completion, cmd_man;

#endif
