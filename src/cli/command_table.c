/* command_table.c - all commands, once: --help, what is refused, completions, the manual and docs/cli.md come from here. */
#include "command.h"

#include <assert.h>

static const dn_flag set_flags[] = {
    {"due", "HH:MM", "the minute of the day (UTC) by which it is to be done", NULL},
    {"starts-on", "DATE", "its first day (YYYY-MM-DD), or today", NULL},
};
static const dn_flag list_flags[] = {
    {"status", "success|cutoff_reached", "only those whose last day ended so", NULL},
    {"due-from", "HH:MM", "only those due at it or later", NULL},
    {"due-to", "HH:MM", "only those due at it or sooner", NULL},
    {"prefix", "TEXT", "only those whose id begins so", NULL},
    {"limit", "N", "not more than so many", NULL},
};
static const dn_flag format_flags[] = {
    {"format", "csv|ndjson", "without it the name of the file says, or its first byte", NULL},
};
static const dn_flag export_flags[] = {
    {"format", "csv|ndjson", "what it is to be (csv)", NULL},
};
static const dn_flag day_flags[] = {
    {"day", "DATE", "only that day (YYYY-MM-DD)", NULL},
};
static const dn_flag today_flags[] = {
    {"day", "DATE", "another day (YYYY-MM-DD)", NULL},
    {"watch", NULL, "drawn anew every two seconds, until Ctrl-C", NULL},
};
static const dn_flag replay_flags[] = {
    {"out", "DIR", "where report.html, events.ndjson, users.ndjson and summary.json go", NULL},
    {"seed", "N", "another order within an instant; 0 is that of the real loops", NULL},
    {"set", "KEY=VALUE,…", "other settings than the trace's header has: max_concurrency=40", NULL},
    {"compare", "OTHER", "what differs from an earlier run, which had OTHER as --out", NULL},
    {"progress", NULL, "how far it is, also where standard error is no terminal", NULL},
};

static const dn_flag simulate_flags[] = {
    {"seeds", "A..B", "from which to draw: A, B and all between", NULL},
    {"users", "N", "how many may be registered at once (12)", NULL},
    {"days", "D", "how long each run is; the last day is one without faults (3)", NULL},
    {"faults", "LIST", "which faults, with commas between; all (the default), none", NULL},
    {"shrink", "N", "runs to make what fails shorter; 0: it stays as it is (2000)", NULL},
    {"progress", NULL, "how far it is, also where standard error is no terminal", NULL},
};

static const dn_flag token_flags[] = {
    {"scope", "read|operate|admin", "what it may: look (the default), register too, all", NULL},
    {"days", "N", "for how long; without it until it is revoked", NULL},
    {"tenant", "T", "the one tenant it sees and changes; without it all", NULL},
    {"user", "U", "the user of that tenant whose reminders it sees", NULL},
};
static const dn_flag top_flags[] = {
    {"every", "SECONDS", "how often it is drawn anew (2)", NULL},
};
static const dn_flag man_flags[] = {
    {"markdown", NULL, "as docs/cli.md, not as a page of man", NULL},
};

#define FLAGS(table) .flags = (table), .flags_len = sizeof(table) / sizeof((table)[0])

static const command commands[] = {
    {.name = "serve",
     .operands = "",
     .help = "runs the daemon",
     .more =
         "It runs until SIGTERM or Ctrl-C: then running jobs may finish, and a second signal does\n"
         "not wait for them. SIGHUP reads the configuration again; if it has changed, running "
         "jobs\n"
         "may finish, and the daemon starts anew with it in the same process. SIGUSR1 writes its\n"
         "state to the log.\n",
     .run = cmd_serve,
     .serves = true},
    {.name = "users set",
     .operands = "ID",
     .help = "registers a user, or changes when it is due",
     .asks = true,
     .run = cmd_users_set,
     FLAGS(set_flags),
     .operands_min = 1,
     .operands_max = 1,
     .prints_data = true},
    {.name = "users get",
     .operands = "ID",
     .help = "one user, as it is now",
     .asks = true,
     .run = cmd_users_get,
     .operands_min = 1,
     .operands_max = 1,
     .prints_data = true},
    {.name = "users rm",
     .operands = "ID",
     .help = "removes a user, and all that is known of it",
     .asks = true,
     .run = cmd_users_rm,
     .operands_min = 1,
     .operands_max = 1,
     .prints_data = true},
    {.name = "users list",
     .operands = "",
     .help = "all users, or some",
     .asks = true,
     .run = cmd_users_list,
     FLAGS(list_flags),
     .prints_data = true},
    {.name = "users import",
     .operands = "FILE",
     .help = "registers all users of a file (CSV or NDJSON); - is standard input",
     .more =
         "A line is id,due or id,due,starts_on, or a JSON object of these. Bad lines are named by "
         "number,\nand good ones kept; then the exit code is 1.\n",
     .asks = true,
     .run = cmd_users_import,
     FLAGS(format_flags),
     .operands_min = 1,
     .operands_max = 1,
     .prints_data = true},
    {.name = "users export",
     .operands = "",
     .help = "all users, as import takes them",
     .asks = true,
     .run = cmd_users_export,
     FLAGS(export_flags)},
    {.name = "today",
     .operands = "",
     .help = "the day at a glance",
     .asks = true,
     .run = cmd_today,
     FLAGS(today_flags),
     .prints_data = true},
    {.name = "why",
     .operands = "ID",
     .help = "what happened to a user, and what comes next",
     .asks = true,
     .run = cmd_why,
     FLAGS(day_flags),
     .operands_min = 1,
     .operands_max = 1,
     .prints_data = true},
    {.name = "audit",
     .operands = "",
     .help = "proves the ledger: every user one record a day, no gap, no double",
     .more = "It asks the daemon if one is there, else reads --data. Exit code 3: the ledger is "
             "wrong.\nA record that the next tick is to write is waited for.\n",
     .asks = true,
     .run = cmd_audit,
     FLAGS(day_flags),
     .prints_data = true},
    {.name = "status",
     .operands = "",
     .help = "how the daemon is",
     .asks = true,
     .run = cmd_status,
     .prints_data = true},
    {.name = "top",
     .operands = "",
     .help = "actors, queue, jobs and SLOs, live",
     .more =
         "q or Ctrl-C ends it. Where the output is no terminal, or a dumb one, it is said once.\n",
     .asks = true,
     .run = cmd_top,
     FLAGS(top_flags),
     .prints_data = true},
    {.name = "token create",
     .operands = "NAME",
     .help = "makes a token, and prints it: it is shown this once",
     .more = "Make one for each program that asks, with no more scope than it needs.\n",
     .asks = true,
     .run = cmd_token_create,
     FLAGS(token_flags),
     .operands_min = 1,
     .operands_max = 1,
     .prints_data = true},
    {.name = "token list",
     .operands = "",
     .help = "the tokens there are",
     .asks = true,
     .run = cmd_token_list,
     .prints_data = true},
    {.name = "token revoke",
     .operands = "ID",
     .help = "ends a token, at once; ID is its number in the list",
     .asks = true,
     .run = cmd_token_revoke,
     .operands_min = 1,
     .operands_max = 1,
     .prints_data = true},
    {.name = "dashboard",
     .operands = "",
     .help = "prints a link by which a browser comes in, once and within a minute",
     .asks = true,
     .run = cmd_dashboard,
     .prints_data = true},
    {.name = "db check",
     .operands = "",
     .help = "checks the whole database for damage",
     .more = "While a daemon runs, the daemon makes a copy in the data directory, which needs "
             "room, and\n"
             "goes on; the command checks the copy. It asks with the token of --token-file or\n"
             "DIURNAL_TOKEN, else with that of --data.\n",
     .asks_here = true,
     .run = cmd_db_check,
     .prints_data = true},
    {.name = "db backup",
     .operands = "FILE",
     .help = "copies the database to a new file; the daemon may go on running",
     .more =
         "The copy is checked before it gets its name: of a damaged database no file is left, and "
         "the\n"
         "exit code is 1. While a daemon runs, it needs room for a copy in its data directory.\n",
     .asks = true,
     .run = cmd_db_backup,
     .operands_min = 1,
     .operands_max = 1,
     .prints_data = true},
    {.name = "check-config",
     .operands = "",
     .help = "says whether serve would start with these settings",
     .run = cmd_check_config,
     .serves = true},
    {.name = "config show",
     .operands = "",
     .help = "every setting, and where its value came from",
     .run = cmd_config_show,
     .serves = true,
     .prints_data = true},
    {.name = "replay",
     .operands = "TRACE",
     .help = "runs the days of a trace in virtual time, with the daemon's own actors",
     .more = "TRACE is a file of JSON lines, - the standard input; docs/replay.md says what is in "
             "it. Exit code 3:\nan invariant did not hold.\n",
     .stands_alone = true,
     .run = cmd_replay,
     FLAGS(replay_flags),
     .operands_min = 1,
     .operands_max = 1,
     .prints_data = true},
    {.name = "simulate",
     .operands = "",
     .help = "runs days and faults drawn from seeds, until an invariant does not hold",
     .more =
         "Each seed switches each kind of fault on or off. The first seed that fails is made as "
         "short as it\ngoes and printed, with the command that runs it again. Exit code 3: "
         "there was one.\nFaults: crash, actor, delay, double, slow, clock, store, outage, "
         "users.\n",
     .stands_alone = true,
     .run = cmd_simulate,
     FLAGS(simulate_flags),
     .prints_data = true},
    {.name = "completion",
     .operands = "bash|zsh|fish",
     .help = "what makes bash, zsh or fish complete these commands",
     .more = "For bash: source <(diurnal completion bash), in ~/.bashrc.\n",
     .run = cmd_completion,
     .operands_min = 1,
     .operands_max = 1,
     .stands_alone = true},
    {.name = "man",
     .operands = "",
     .help = "the manual, as a page of man",
     .more = "To read it: diurnal man | man -l -\n",
     .run = cmd_man,
     FLAGS(man_flags),
     .stands_alone = true},
    {.name = "version",
     .operands = "",
     .help = "which diurnal this is",
     .stands_alone = true,
     .run = cmd_version,
     .prints_data = true},
};

static_assert(sizeof commands / sizeof commands[0] <= COMMANDS_MAX, "raise COMMANDS_MAX");

const command *command_table(size_t *out_len) {
    *out_len = sizeof commands / sizeof commands[0];
    return commands;
}

size_t command_flags(const command *c, dn_flag flags[COMMAND_FLAGS_MAX]) {
    static const dn_flag help = {"help", NULL, "this", NULL};
    static const dn_flag json = {"json", NULL, "as JSON", NULL};
    enum { ASKS_BY = 1 };
    static const dn_flag asks[] = {
        {"url", "URL", "where the daemon is (DIURNAL_URL; that of --data)", NULL},
        [ASKS_BY] = {"token-file", "FILE",
                     "a file with a token (DIURNAL_TOKEN has one; that of --data)", NULL},
        {"ca", "FILE", "certificates (PEM) it is trusted by (DIURNAL_CA; the system's)", NULL},
    };
    size_t len = 0;

    /* Its own, --json, those of asks, and --help. */
    assert(c->flags_len + 1 + sizeof asks / sizeof *asks + 1 + 1 <= COMMAND_FLAGS_MAX);
    for (size_t i = 0; i < c->flags_len; i++) flags[len++] = c->flags[i];
    if (c->prints_data) flags[len++] = json;
    for (size_t i = 0; c->asks && i < sizeof asks / sizeof *asks; i++) flags[len++] = asks[i];
    if (c->asks_here) flags[len++] = asks[ASKS_BY];
    flags[len++] = help;
    return len;
}
