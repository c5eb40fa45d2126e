/* commands.c - finds the command of argv (command_table.c) and runs it, or prints help. */
#include "command.h"

#include "cli_text.h"
#include "reference.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_COLUMN = 34 };

/* ---- Help ---- */

static bool is_help(const char *arg) {
    return strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0 || strcmp(arg, "help") == 0;
}

/* A long flag has its help on the next line. */
static void help_line(const char *left, const char *arg, const char *help, const char *more) {
    const int used = printf("  %s%s%s", left, *arg ? " " : "", arg);

    if (used > NAME_COLUMN - 2) printf("\n%*s", NAME_COLUMN, "");
    else printf("%*s", NAME_COLUMN - used, "");
    printf("%s%s\n", help, more);
}

/* Prints the help of all commands, or of those of a group. */
static int help_of_commands(const char *word) {
    const size_t   len = strlen(word);
    size_t         all = 0;
    const command *commands = command_table(&all);

    printf("usage: diurnal %s%sCOMMAND …\n\n", word, len ? " " : "");
    for (size_t i = 0; i < all; i++)
        if (len == 0 || (strncmp(commands[i].name, word, len) == 0 && commands[i].name[len] == ' '))
            help_line(commands[i].name, commands[i].operands, commands[i].help, "");
    printf("\n"
           "diurnal COMMAND --help describes a command. Times are UTC.\n"
           "Exit codes: 0 done, 1 failed, 2 wrong usage or configuration, 3 an invariant was "
           "violated.\n");
    return DN_EXIT_DONE;
}

static int help_of(const command *c) {
    const bool     operands = *c->operands != '\0';
    reference_flag all[REFERENCE_FLAGS_MAX];
    const size_t   all_len = reference_flags(c, all);

    printf("usage: diurnal %s [FLAG…]%s%s\n\n%c%s.\n", c->name, operands ? " " : "", c->operands,
           toupper((unsigned char)*c->help), c->help + 1);
    if (c->more) printf("%s", c->more);
    printf("\n");
    for (size_t i = 0; i < all_len; i++)
        help_line(all[i].name, all[i].arg, all[i].help, all[i].more);
    return DN_EXIT_DONE;
}

/* ---- Finding one ---- */

/* Finds the command that argv begins with; *out_used is its number of words. */
static const command *command_find(int argc, char **argv, int *out_used) {
    size_t         all = 0;
    const command *commands = command_table(&all);

    for (size_t i = 0; i < all; i++) {
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
    const size_t   len = strlen(word);
    size_t         all = 0;
    const command *commands = command_table(&all);

    for (size_t i = 0; i < all; i++)
        if (strncmp(commands[i].name, word, len) == 0 && commands[i].name[len] == ' ') return true;
    return false;
}

static int refuse_unknown(int argc, char **argv) {
    const bool group = is_group(argv[0]);
    char       typed[256], quoted[DN_TEXT_QUOTED];

    if (group && argc < 2) {
        (void)help_of_commands(argv[0]);
        return DN_EXIT_USAGE;
    }
    (void)snprintf(typed, sizeof typed, "%s%s%s", argv[0], group ? " " : "", group ? argv[1] : "");
    const command *nearest = command_nearest(typed);
    (void)dn_text_quoted(typed, strlen(typed), quoted);
    if (nearest)
        return complain(DN_EXIT_USAGE, "unknown command %s; did you mean %s?", quoted,
                        nearest->name);
    return complain(DN_EXIT_USAGE, "unknown command %s; diurnal --help lists all", quoted);
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

/* A command that sends requests takes none of the daemon's settings. NULL: none was given. */
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
        return complain(DN_EXIT_USAGE, "%s: %s is missing; usage: diurnal %s %s", c->name,
                        c->operands, c->name, c->operands);
    if (len > c->operands_max)
        return complain(DN_EXIT_USAGE, "%s: too many operands; usage: diurnal %s%s%s", c->name,
                        c->name, *c->operands ? " " : "", c->operands);
    return DN_EXIT_DONE;
}

static int command_run(char *const *whole_argv, const command *c, int argc, char **argv,
                       char **environment) {
    DN_AUTO(dn_settings) settings = NULL;
    dn_flag      flags[COMMAND_FLAGS_MAX];
    size_t       flags_len = 0;
    const char **operands = calloc((size_t)argc + 1, sizeof *operands);
    char         why[DN_SETTINGS_WHY], name[DN_SETTING_NAME];
    int          code;

    if (!operands) return complain(DN_EXIT_FAILED, "out of memory");
    flags_len = command_flags(c, flags);
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
    /* --help wins over every error. */
    bool wants_help = false;
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        wants_help |= strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0;
    if (wants_help) {
        code = help_of(c);
    } else if (dn_settings_load(&the_call.input, &settings, why) < 0) {
        code = complain(DN_EXIT_USAGE, "%s", why);
    } else if (!c->serves && flag_out_of_place(settings, name)) {
        code = complain(DN_EXIT_USAGE, "%s: unknown flag %s; diurnal %s --help lists all", c->name,
                        name, c->name);
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

static int run(int argc, char **argv, char **environment) {
    int used = 0;

    if (argc < 2) {
        (void)help_of_commands("");
        return DN_EXIT_USAGE;
    }
    if (is_help(argv[1])) return help_of_commands("");
    if (strcmp(argv[1], "--version") == 0) argv[1] += 2;
    const command *c = command_find(argc - 1, argv + 1, &used);
    if (c) return command_run(argv, c, argc - 1 - used, argv + 1 + used, environment);
    if (argc > 2 && is_group(argv[1]) && is_help(argv[2])) return help_of_commands(argv[1]);
    return refuse_unknown(argc - 1, argv + 1);
}

int commands_run(int argc, char **argv, char **environment) {
    const int  code = run(argc, argv, environment);
    const bool written = fflush(stdout) == 0 && !ferror(stdout);

    if (written || code != DN_EXIT_DONE) return code;
    return complain(DN_EXIT_FAILED, "cannot write the output");
}

/* ---- For all of them ---- */

static void (*before_complaint)(void);

void complain_behind(void (*fn)(void)) { before_complaint = fn; }

int complain(int exit_code, const char *format, ...) {
    va_list args;

    if (before_complaint) before_complaint();
    (void)fflush(stdout);
    (void)fputs("diurnal: ", stderr);
    va_start(args, format);
    (void)vfprintf(stderr, format, args);
    va_end(args);
    (void)fputc('\n', stderr);
    return exit_code;
}

int print_json(json_t *value) {
    enum { REAL_DIGITS = 15 }; /* as in the API: 0.8, not 0.80000000000000004 */
    const size_t how = JSON_COMPACT | JSON_REAL_PRECISION(REAL_DIGITS);
    const int    failed = value ? json_dumpf(value, stdout, how) : -1;

    json_decref(value);
    if (failed) return complain(DN_EXIT_FAILED, "cannot write the output");
    (void)putchar('\n');
    return DN_EXIT_DONE;
}
