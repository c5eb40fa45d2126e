/* command.h - one command of the program: how it is called, and what runs.
 * The table in command_table.c has them all; --help, the check of flags and operands, the suggestion of the nearest name,
 * completions and the manual come from it. */
#ifndef DIURNAL_CLI_COMMAND_H
#define DIURNAL_CLI_COMMAND_H

#include "settings.h"

#include <jansson.h>

/* Exit codes (CONTRACT §5). */
enum { DN_EXIT_DONE = 0, DN_EXIT_FAILED = 1, DN_EXIT_USAGE = 2, DN_EXIT_VIOLATED = 3 };

typedef struct command command;

/* What a command is run with. */
typedef struct call {
    const char        *program; /* as it was called */
    char *const       *argv;    /* all of it */
    const command     *command;
    dn_settings_input  input; /* as the settings were read from; a SIGHUP reads them again */
    const dn_settings *settings;
    const char *const *operands;
    size_t             operands_len;
    bool               json;
} call;

typedef int command_fn(const call *c); /* an exit code */

struct command {
    const char    *name;     /* "users set" */
    const char    *operands; /* "ID"; "" */
    const char    *help;     /* one line, without an end */
    const char    *more;     /* some lines, for --help; NULL: none */
    command_fn    *run;
    const dn_flag *flags; /* its own */
    size_t         flags_len;
    size_t         operands_min, operands_max;
    bool           serves;    /* every setting is a flag of it; else only --data and --config are */
    bool           asks;      /* a daemon: it has --url, --token-file, --ca */
    bool           asks_here; /* that of its directory alone: it has --token-file */
    bool           stands_alone; /* it wants no data directory */
    bool           prints_data;  /* it has --json */
};

/* In the order of --help; a group ("users") stands together. */
enum { COMMAND_FLAGS_MAX = 24 };
const command *command_table(size_t *out_len);
/* The command whose name is nearest to what was typed; NULL: none is near. */
const command *command_nearest(const char *typed);
/* The flags of its own, and those of all that do the like; not the settings. How many. */
size_t command_flags(const command *c, dn_flag flags[COMMAND_FLAGS_MAX]);

/* The value of a flag of the command's own: NULL if it is not given, "" if it takes none. */
const char *call_flag(const call *c, const char *name);

/* A variable of the environment; NULL: it is not set. */
const char *call_variable(const call *c, const char *name);

/* Runs what argv asks for; an exit code. */
int commands_run(int argc, char **argv, char **environment);

/* One line on standard error, "diurnal: …". Returns the exit code. */
int complain(int exit_code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Is called before anything is complained of: it gives back what would hide it. NULL: nothing is. */
void complain_behind(void (*fn)(void));

/* Prints a JSON object, a line; takes it. */
int print_json(json_t *value);

/* ---- All commands; one file each, or a few that belong together ---- */
command_fn cmd_serve, cmd_users_set, cmd_users_get, cmd_users_rm, cmd_users_list, cmd_users_import,
    cmd_users_export, cmd_today, cmd_why, cmd_audit, cmd_status, cmd_db_check, cmd_db_backup,
    cmd_check_config, cmd_config_show, cmd_replay, cmd_simulate, cmd_version, cmd_top,
    cmd_token_create, cmd_token_list, cmd_token_revoke, cmd_dashboard, cmd_completion, cmd_man;

#endif
