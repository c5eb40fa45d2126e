/* command_table.c - all commands. Help, the check of flags, completions, the manual and docs/cli.md come from this table. */
#include "command.h"

#include "cli_text.h"

#include <assert.h>
#include <string.h>

static const dn_flag set_flags[] = {
    {"due", "HH:MM", "time of the daily cutoff (UTC)", NULL},
    {"starts-on", "DATE", "first day (YYYY-MM-DD), or today", NULL},
};
static const dn_flag list_flags[] = {
    {"status", "success|cutoff_reached", "only users whose last day ended with this status", NULL},
    {"due-from", "HH:MM", "only users due at this time or later", NULL},
    {"due-to", "HH:MM", "only users due at this time or earlier", NULL},
    {"prefix", "TEXT", "only users whose id begins with TEXT", NULL},
    {"limit", "N", "at most N users", NULL},
};
static const dn_flag format_flags[] = {
    {"format", "csv|ndjson", "default: by the name of the file, else by its first byte", NULL},
};
static const dn_flag export_flags[] = {
    {"format", "csv|ndjson", "format of the output (csv)", NULL},
};
static const dn_flag day_flags[] = {
    {"day", "DATE", "only this day (YYYY-MM-DD)", NULL},
};
static const dn_flag today_flags[] = {
    {"day", "DATE", "another day (YYYY-MM-DD)", NULL},
    {"watch", NULL, "redraw every two seconds, until Ctrl-C", NULL},
};
static const dn_flag replay_flags[] = {
    {"out", "DIR", "directory for report.html and the files of the run", NULL},
    {"seed", "N", "order of events within an instant; 0: that of the real loops", NULL},
    {"set", "KEY=VALUE,…", "override settings of the trace header: max_concurrency=40", NULL},
    {"compare", "OTHER", "print the differences from an earlier run with --out OTHER", NULL},
    {"progress", NULL, "show progress even if standard error is not a terminal", NULL},
};

static const dn_flag simulate_flags[] = {
    {"seeds", "A..B", "range of seeds, including A and B", NULL},
    {"users", "N", "most users registered at once (12)", NULL},
    {"days", "D", "length of each run; the last day has no faults (3)", NULL},
    {"faults", "LIST", "kinds of faults, separated by commas; all (the default), none", NULL},
    {"shrink", "N", "most runs spent on shortening the failing seed (2000)", NULL},
    {"progress", NULL, "show progress even if standard error is not a terminal", NULL},
};

static const dn_flag token_flags[] = {
    {"scope", "read|operate|admin", "allow reading (the default), registering too, or everything",
     NULL},
    {"days", "N", "days until the token expires; default: never", NULL},
    {"tenant", "T", "the only tenant the token sees and changes; default: all", NULL},
    {"user", "U", "the user of that tenant whose reminders the token sees", NULL},
};
static const dn_flag top_flags[] = {
    {"every", "SECONDS", "time between two redraws (2)", NULL},
};
static const dn_flag man_flags[] = {
    {"markdown", NULL, "print docs/cli.md instead of a man page", NULL},
};

#define FLAGS(table) .flags = (table), .flags_len = sizeof(table) / sizeof((table)[0])

static const command commands[] = {
    {.name = "serve",
     .operands = "",
     .help = "runs the daemon",
     .more =
         "The daemon runs until SIGTERM or Ctrl-C. Then running jobs may finish, unless a second "
         "signal\n"
         "cuts them off. SIGHUP reads the configuration again. If it changed, running jobs may "
         "finish, and\n"
         "the daemon restarts with it in the same process. SIGUSR1 writes the state to the log.\n",
     .run = cmd_serve,
     .serves = true},
    {.name = "users set",
     .operands = "ID",
     .help = "registers a user, or changes when the user is due",
     .asks = true,
     .run = cmd_users_set,
     FLAGS(set_flags),
     .operands_min = 1,
     .operands_max = 1,
     .prints_data = true},
    {.name = "users get",
     .operands = "ID",
     .help = "shows a user",
     .asks = true,
     .run = cmd_users_get,
     .operands_min = 1,
     .operands_max = 1,
     .prints_data = true},
    {.name = "users rm",
     .operands = "ID",
     .help = "removes a user and all its records",
     .asks = true,
     .run = cmd_users_rm,
     .operands_min = 1,
     .operands_max = 1,
     .prints_data = true},
    {.name = "users list",
     .operands = "",
     .help = "lists users",
     .asks = true,
     .run = cmd_users_list,
     FLAGS(list_flags),
     .prints_data = true},
    {.name = "users import",
     .operands = "FILE",
     .help = "registers all users of a file (CSV or NDJSON); - reads standard input",
     .more = "A line is id,due or id,due,starts_on, or a JSON object with these keys. Bad lines "
             "are listed by\n"
             "number, good lines are registered, and the exit code is then 1.\n",
     .asks = true,
     .run = cmd_users_import,
     FLAGS(format_flags),
     .operands_min = 1,
     .operands_max = 1,
     .prints_data = true},
    {.name = "users export",
     .operands = "",
     .help = "exports all users in the format of import",
     .asks = true,
     .run = cmd_users_export,
     FLAGS(export_flags)},
    {.name = "today",
     .operands = "",
     .help = "shows the day, hour by hour",
     .asks = true,
     .run = cmd_today,
     FLAGS(today_flags),
     .prints_data = true},
    {.name = "why",
     .operands = "ID",
     .help = "explains what happened to a user, and what happens next",
     .asks = true,
     .run = cmd_why,
     FLAGS(day_flags),
     .operands_min = 1,
     .operands_max = 1,
     .prints_data = true},
    {.name = "audit",
     .operands = "",
     .help = "proves that the ledger has exactly one record for each user and finished day",
     .more = "The audit asks the daemon, or reads --data if no daemon runs. Exit code 3: the "
             "ledger is wrong.\n"
             "The audit waits for records that the next tick writes.\n",
     .asks = true,
     .run = cmd_audit,
     FLAGS(day_flags),
     .prints_data = true},
    {.name = "status",
     .operands = "",
     .help = "shows the state of the daemon",
     .asks = true,
     .run = cmd_status,
     .prints_data = true},
    {.name = "top",
     .operands = "",
     .help = "shows actors, queue, jobs and SLOs, live",
     .more = "q or Ctrl-C ends it. If the output is not a terminal, or TERM is dumb, top prints "
             "once and ends.\n",
     .asks = true,
     .run = cmd_top,
     FLAGS(top_flags),
     .prints_data = true},
    {.name = "token create",
     .operands = "NAME",
     .help = "creates a token and prints it; it is never shown again",
     .more = "Create a token for each program, with no more scope than the program needs.\n",
     .asks = true,
     .run = cmd_token_create,
     FLAGS(token_flags),
     .operands_min = 1,
     .operands_max = 1,
     .prints_data = true},
    {.name = "token list",
     .operands = "",
     .help = "lists the tokens",
     .asks = true,
     .run = cmd_token_list,
     .prints_data = true},
    {.name = "token revoke",
     .operands = "ID",
     .help = "revokes a token at once; ID is its number in the list",
     .asks = true,
     .run = cmd_token_revoke,
     .operands_min = 1,
     .operands_max = 1,
     .prints_data = true},
    {.name = "dashboard",
     .operands = "",
     .help = "prints a link that logs a browser in, once and within a minute",
     .asks = true,
     .run = cmd_dashboard,
     .prints_data = true},
    {.name = "db check",
     .operands = "",
     .help = "checks the whole database for damage",
     .more = "While a daemon runs, it makes a copy in the data directory, which needs free space, "
             "and the\n"
             "command checks the copy. The token comes from --token-file, else DIURNAL_TOKEN, else "
             "--data.\n",
     .asks_here = true,
     .run = cmd_db_check,
     .prints_data = true},
    {.name = "db backup",
     .operands = "FILE",
     .help = "copies the database to a new file, also while the daemon runs",
     .more =
         "The copy is checked before it gets its name. If the database is damaged, no file is "
         "left, and the\n"
         "exit code is 1. A running daemon needs free space for a copy in its data directory.\n",
     .asks = true,
     .run = cmd_db_backup,
     .operands_min = 1,
     .operands_max = 1,
     .prints_data = true},
    {.name = "check-config",
     .operands = "",
     .help = "checks whether serve would start with these settings",
     .run = cmd_check_config,
     .serves = true},
    {.name = "config show",
     .operands = "",
     .help = "shows every setting and the source of its value",
     .run = cmd_config_show,
     .serves = true,
     .prints_data = true},
    {.name = "replay",
     .operands = "TRACE",
     .help = "runs the days of a trace in virtual time, with the daemon's own actors",
     .more = "TRACE is a file of JSON lines, or - for standard input; docs/replay.md describes it. "
             "Exit code 3:\n"
             "an invariant was violated.\n",
     .stands_alone = true,
     .run = cmd_replay,
     FLAGS(replay_flags),
     .operands_min = 1,
     .operands_max = 1,
     .prints_data = true},
    {.name = "simulate",
     .operands = "",
     .help = "runs days and faults drawn from seeds, until an invariant is violated",
     .more = "Each seed switches each kind of fault on or off. The first seed that fails is "
             "shortened and\n"
             "printed, with the command that runs it again. Exit code 3: a seed failed.\n"
             "Faults: crash, actor, delay, double, slow, clock, store, outage, users.\n",
     .stands_alone = true,
     .run = cmd_simulate,
     FLAGS(simulate_flags),
     .prints_data = true},
    {.name = "completion",
     .operands = "bash|zsh|fish",
     .help = "prints the completion script for bash, zsh or fish",
     .more = "For bash: source <(diurnal completion bash), in ~/.bashrc.\n",
     .run = cmd_completion,
     .operands_min = 1,
     .operands_max = 1,
     .stands_alone = true},
    {.name = "man",
     .operands = "",
     .help = "prints the manual as a man page",
     .more = "To read it: diurnal man | man -l -\n",
     .run = cmd_man,
     FLAGS(man_flags),
     .stands_alone = true},
    {.name = "version",
     .operands = "",
     .help = "prints the version",
     .stands_alone = true,
     .run = cmd_version,
     .prints_data = true},
};

const command *command_table(size_t *out_len) {
    *out_len = sizeof commands / sizeof commands[0];
    return commands;
}

const command *command_nearest(const char *typed) {
    enum { COMMANDS = sizeof commands / sizeof commands[0] };
    const char *names[COMMANDS];

    for (size_t i = 0; i < COMMANDS; i++) names[i] = commands[i].name;
    const char *nearest = dn_text_nearest(typed, strlen(typed), names, COMMANDS);
    for (size_t i = 0; i < COMMANDS; i++)
        if (names[i] == nearest) return &commands[i];
    return NULL;
}

size_t command_flags(const command *c, dn_flag flags[COMMAND_FLAGS_MAX]) {
    static const dn_flag help = {"help", NULL, "print this help", NULL};
    static const dn_flag json = {"json", NULL, "print JSON", NULL};
    enum { ASKS_BY = 1 };
    static const dn_flag asks[] = {
        {"url", "URL", "address of the daemon (DIURNAL_URL; the daemon of --data)", NULL},
        [ASKS_BY] = {"token-file", "FILE",
                     "file with a token (DIURNAL_TOKEN holds one; the token of --data)", NULL},
        {"ca", "FILE", "certificates (PEM) to trust (DIURNAL_CA; the system's)", NULL},
    };
    size_t len = 0;

    /* The command's own flags, --json, the flags of asks, and --help. */
    assert(c->flags_len + 1 + sizeof asks / sizeof *asks + 1 + 1 <= COMMAND_FLAGS_MAX);
    for (size_t i = 0; i < c->flags_len; i++) flags[len++] = c->flags[i];
    if (c->prints_data) flags[len++] = json;
    for (size_t i = 0; c->asks && i < sizeof asks / sizeof *asks; i++) flags[len++] = asks[i];
    if (c->asks_here) flags[len++] = asks[ASKS_BY];
    flags[len++] = help;
    return len;
}
