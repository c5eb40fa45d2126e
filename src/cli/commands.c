/* commands.c - the table of all commands, and the way from argv to one of them. */
#include "command.h"

#include "text.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_COLUMN = 34, FLAGS_MAX = 16 };

/* ---- The table ---- */

static const dn_flag set_flags[] = {
    {"due", "HH:MM", "the minute of the day (UTC) by which it is to be done", NULL},
    {"starts-on", "DATE", "its first day (YYYY-MM-DD), or today", NULL},
};
static const dn_flag list_flags[] = {
    {"status", "WORD", "only those whose last day ended so: success, cutoff_reached", NULL},
    {"due-from", "HH:MM", "only those due at it or later", NULL},
    {"due-to", "HH:MM", "only those due at it or sooner", NULL},
    {"prefix", "TEXT", "only those whose id begins so", NULL},
    {"limit", "N", "not more than so many", NULL},
};
static const dn_flag format_flags[] = {
    {"format", "WORD", "csv or ndjson; without it the name of the file decides, or its first byte",
     NULL},
};
static const dn_flag export_flags[] = {
    {"format", "WORD", "csv (the default) or ndjson", NULL},
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
    {"progress", NULL, "how far it is, also where standard error is no terminal", NULL},
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
         "may finish, and the daemon starts anew with it in the same process.\n",
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
             "wrong.\n",
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
    {.name = "db check",
     .operands = "",
     .help = "looks through the whole database for damage",
     .more = "While a daemon runs it has the daemon make a copy in the data directory and looks at "
             "that, for\nwhich there has to be room; the daemon goes on meanwhile.\n",
     .run = cmd_db_check,
     .prints_data = true},
    {.name = "db backup",
     .operands = "FILE",
     .help = "copies the database to a new file; the daemon may go on running",
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
     .run = cmd_simulate,
     FLAGS(simulate_flags),
     .prints_data = true},
    {.name = "version",
     .operands = "",
     .help = "which diurnal this is",
     .run = cmd_version,
     .prints_data = true},
};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

/* ---- Help ---- */

static bool is_help(const char *arg) {
    return strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0 || strcmp(arg, "help") == 0;
}

static void help_line(const char *left, const char *arg, const char *help) {
    const int used = printf("  %s%s%s", left, *arg ? " " : "", arg);

    printf("%*s%s\n", used < NAME_COLUMN ? NAME_COLUMN - used : 1, "", help);
}

/* Of all commands, or of those that begin with a word. */
static int help_of_commands(const char *word) {
    const size_t len = strlen(word);

    printf("usage: diurnal %s%sCOMMAND …\n\n", word, len ? " " : "");
    for (int i = 0; i < COMMANDS; i++)
        if (len == 0 || (strncmp(commands[i].name, word, len) == 0 && commands[i].name[len] == ' '))
            help_line(commands[i].name, commands[i].operands, commands[i].help);
    printf("\ndiurnal COMMAND --help says more of each. Times are UTC.\n"
           "Exit codes: 0 done, 1 failed, 2 wrong usage or configuration, 3 an invariant was "
           "violated.\n");
    return DN_EXIT_DONE;
}

static int help_of(const command *c, const dn_flag *flags, size_t flags_len) {
    const bool operands = *c->operands != '\0';

    printf("usage: diurnal %s [FLAG…]%s%s\n\n%c%s.\n", c->name, operands ? " " : "", c->operands,
           toupper((unsigned char)*c->help), c->help + 1);
    if (c->more) printf("%s", c->more);
    printf("\n");
    if (c->serves)
        return dn_settings_help(flags, flags_len, stdout) < 0 ? DN_EXIT_FAILED : DN_EXIT_DONE;
    for (size_t i = 0; i < flags_len; i++) {
        char flag[DN_SETTING_NAME];
        (void)snprintf(flag, sizeof flag, "--%s", flags[i].name);
        help_line(flag, flags[i].arg ? flags[i].arg : "", flags[i].help);
    }
    help_line("--data", "DIR", "where the daemon has its data (DIURNAL_DATA; ./diurnal-data)");
    help_line("--config", "FILE", "a file that may say so (DIURNAL_CONFIG)");
    return DN_EXIT_DONE;
}

/* ---- Finding one ---- */

/* The longest name that argv begins with; *out_used is how many words it has. */
static const command *command_find(int argc, char **argv, int *out_used) {
    for (int i = 0; i < COMMANDS; i++) {
        const char  *name = commands[i].name, *space = strchr(name, ' ');
        const size_t first = space ? (size_t)(space - name) : strlen(name);
        if (argc < 1 || strlen(argv[0]) != first || memcmp(argv[0], name, first) != 0) continue;
        if (space && (argc < 2 || strcmp(argv[1], space + 1) != 0)) continue;
        *out_used = space ? 2 : 1;
        return &commands[i];
    }
    return NULL;
}

static bool is_group(const char *word) {
    const size_t len = strlen(word);

    for (int i = 0; i < COMMANDS; i++)
        if (strncmp(commands[i].name, word, len) == 0 && commands[i].name[len] == ' ') return true;
    return false;
}

static int refuse_unknown(int argc, char **argv) {
    const char *names[COMMANDS], *nearest;
    const bool  group = is_group(argv[0]);
    char        asked[256], quoted[DN_TEXT_QUOTED];

    if (group && argc < 2) {
        (void)help_of_commands(argv[0]);
        return DN_EXIT_USAGE;
    }
    (void)snprintf(asked, sizeof asked, "%s%s%s", argv[0], group ? " " : "", group ? argv[1] : "");
    for (int i = 0; i < COMMANDS; i++) names[i] = commands[i].name;
    nearest = dn_text_nearest(asked, strlen(asked), names, COMMANDS);
    return complain(
        DN_EXIT_USAGE, "there is no command %s; %s%s", dn_text_quoted(asked, strlen(asked), quoted),
        nearest ? "the nearest is " : "diurnal --help has them all", nearest ? nearest : "");
}

/* ---- Running it ---- */

const char *call_variable(const call *c, const char *name) {
    const size_t len = strlen(name);

    for (char *const *at = c->input.environ; at && *at; at++)
        if (strncmp(*at, name, len) == 0 && (*at)[len] == '=') return *at + len + 1;
    return NULL;
}

const char *call_flag(const call *c, const char *name) {
    for (size_t i = 0; i < c->input.flags_len; i++)
        if (strcmp(c->input.flags[i].name, name) == 0) return c->input.flags[i].value;
    return NULL;
}

/* A command that asks a daemon has no use for the daemon's settings. NULL: none was given. */
static const char *flag_out_of_place(const dn_settings *s, char name[DN_SETTING_NAME]) {
    for (size_t i = 0; i < DN_SETTINGS; i++) {
        if (s->sources[i].from != DN_FROM_FLAG || i == DN_SETTING_data || i == DN_SETTING_config)
            continue;
        dn_setting_flag(i, name);
        return name;
    }
    return NULL;
}

static int operands_check(const command *c, size_t len) {
    if (len < c->operands_min)
        return complain(DN_EXIT_USAGE, "%s: %s is missing; as: diurnal %s %s", c->name, c->operands,
                        c->name, c->operands);
    if (len > c->operands_max)
        return complain(DN_EXIT_USAGE, "%s: it takes %s%s, and nothing more", c->name,
                        *c->operands ? "one " : "no operand", c->operands);
    return DN_EXIT_DONE;
}

/* A command's own, and those of all that do the like. */
static size_t flags_of(const command *c, dn_flag flags[FLAGS_MAX]) {
    static const dn_flag help = {"help", NULL, "this", NULL};
    static const dn_flag json = {"json", NULL, "as JSON", NULL};
    static const dn_flag asks[] = {
        {"url", "URL", "where the daemon is (DIURNAL_URL; that of --data)", NULL},
        {"token-file", "FILE", "a file with a token (DIURNAL_TOKEN has one; that of --data)", NULL},
        {"ca", "FILE", "certificates (PEM) it is trusted by (DIURNAL_CA; the system's)", NULL},
    };
    size_t len = 0;

    for (size_t i = 0; i < c->flags_len; i++) flags[len++] = c->flags[i];
    if (c->prints_data) flags[len++] = json;
    for (size_t i = 0; c->asks && i < sizeof asks / sizeof *asks; i++) flags[len++] = asks[i];
    flags[len++] = help;
    return len;
}

static int command_run(char *const *whole_argv, const command *c, int argc, char **argv,
                       char **environment) {
    DN_AUTO(dn_settings) settings = NULL;
    dn_flag      flags[FLAGS_MAX];
    size_t       flags_len = 0;
    const char **operands = calloc((size_t)argc + 1, sizeof *operands);
    char         why[DN_SETTINGS_WHY], name[DN_SETTING_NAME];
    int          code;

    if (!operands) return complain(DN_EXIT_FAILED, "out of memory");
    flags_len = flags_of(c, flags);
    call the_call = {
        .program = whole_argv[0],
        .argv = whole_argv,
        .command = c,
        .input = {.argc = argc,
                  .argv = argv,
                  .environ = environment,
                  .flags = flags,
                  .flags_len = flags_len,
                  .operands = operands},
        .operands = operands,
    };
    /* Whoever asks for help has it, whatever else is wrong. */
    bool wants_help = false;
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        wants_help |= strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0;
    if (wants_help) {
        code = help_of(c, flags, flags_len);
    } else if (dn_settings_load(&the_call.input, &settings, why) < 0) {
        code = complain(DN_EXIT_USAGE, "%s", why);
    } else if (!c->serves && flag_out_of_place(settings, name)) {
        code = complain(DN_EXIT_USAGE, "%s: there is no flag %s; diurnal %s --help has them all",
                        c->name, name, c->name);
    } else {
        the_call.settings = settings;
        the_call.operands_len = the_call.input.operands_len;
        the_call.json = call_flag(&the_call, "json") != NULL;
        code = operands_check(c, the_call.operands_len);
        if (code == DN_EXIT_DONE) code = c->run(&the_call);
    }
    free(operands);
    return code;
}

int commands_run(int argc, char **argv, char **environment) {
    int used = 0;

    if (argc < 2) {
        (void)help_of_commands("");
        return DN_EXIT_USAGE;
    }
    if (is_help(argv[1])) return help_of_commands("");
    if (strcmp(argv[1], "--version") == 0) argv[1] += 2;
    const command *c = command_find(argc - 1, argv + 1, &used);
    if (c) {
        const int code = command_run(argv, c, argc - 1 - used, argv + 1 + used, environment);
        if (fflush(stdout) == 0 && !ferror(stdout)) return code;
        return code != DN_EXIT_DONE ? code
                                    : complain(DN_EXIT_FAILED, "the output could not be written");
    }
    if (argc > 2 && is_group(argv[1]) && is_help(argv[2])) return help_of_commands(argv[1]);
    return refuse_unknown(argc - 1, argv + 1);
}

/* ---- For all of them ---- */

int complain(int exit_code, const char *format, ...) {
    va_list args;

    (void)fflush(stdout);
    (void)fputs("diurnal: ", stderr);
    va_start(args, format);
    (void)vfprintf(stderr, format, args);
    va_end(args);
    (void)fputc('\n', stderr);
    return exit_code;
}

int print_json(json_t *value) {
    enum { REAL_DIGITS = 15 }; /* as the API says it: 0.8, not 0.80000000000000004 */
    const size_t how = JSON_COMPACT | JSON_REAL_PRECISION(REAL_DIGITS);
    const int    failed = value ? json_dumpf(value, stdout, how) : -1;

    json_decref(value);
    if (failed) return complain(DN_EXIT_FAILED, "the output could not be written");
    (void)putchar('\n');
    return DN_EXIT_DONE;
}
