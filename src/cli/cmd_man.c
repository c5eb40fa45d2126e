/* cmd_man.c - the manual as a man page or as docs/cli.md, written from the table of commands. */
#include "reference.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

typedef struct entry {
    const char *name, *help;
} entry;

static const entry variables[] = {
    {"DIURNAL_URL", "address of the daemon, like --url"},
    {"DIURNAL_TOKEN", "token for the requests"},
    {"DIURNAL_CA", "file of certificates, like --ca"},
    {"DIURNAL_DATA", "data directory, like --data; likewise every setting of serve"},
};

static const entry exits[] = {
    {"0", "done"},
    {"1", "failed"},
    {"2", "wrong usage or configuration; one line names the place, the fault and the remedy"},
    {"3", "an invariant was violated, by the ledger or in a replay or simulation"},
};

static const entry files[] = {
    {"./diurnal-data", "the data directory, if no --data names another"},
    {"DATA/admin.token", "token of the commands for the daemon of that directory"},
    {"DATA/url", "address of that daemon, while it runs"},
};

static const char about[] =
    "diurnal runs something for every user, once a UTC day, before a cutoff, and proves that it "
    "did. diurnal serve is the daemon; the other commands send it HTTP requests. They find the "
    "daemon of --data by themselves, and any other by --url and a token.";

#define ENTRIES(table) (table), sizeof(table) / sizeof(table)[0]

/* "Registers a user" of "registers a user". */
static char capital(const char *text) { return (char)toupper((unsigned char)*text); }

/* ---- man ---- */

/* Escapes the special characters of roff. */
static void roff(const char *text) {
    for (bool begins = true; *text; begins = *text == '\n', text++) {
        if (begins && (*text == '.' || *text == '\'')) printf("\\&");
        if (strncmp(text, "…", strlen("…")) == 0) {
            printf("...");
            text += strlen("…") - 1;
        } else if (*text == '\\') printf("\\e");
        else if (*text == '-') printf("\\-");
        else (void)putchar(*text);
    }
}

static void roff_term(const char *term, const char *arg, const char *help, const char *more) {
    printf(".TP\n.B ");
    roff(term);
    if (*arg) {
        printf(" \\fI");
        roff(arg);
        printf("\\fR");
    }
    printf("\n");
    roff(help);
    roff(more);
    printf("\n");
}

static void roff_entries(const char *title, const entry *entries, size_t len) {
    printf(".SH %s\n", title);
    for (size_t i = 0; i < len; i++) roff_term(entries[i].name, "", entries[i].help, "");
}

static void roff_command(const command *c) {
    reference_flag flags[REFERENCE_FLAGS_MAX];
    const size_t   len = reference_flags(c, flags);

    printf(".SS diurnal %s", c->name);
    if (*c->operands) {
        printf(" ");
        roff(c->operands);
    }
    printf("\n%c", capital(c->help));
    roff(c->help + 1);
    printf(".\n");
    if (c->more) {
        printf(".br\n");
        roff(c->more);
    }
    for (size_t i = 0; i < len; i++)
        roff_term(flags[i].name, flags[i].arg, flags[i].help, flags[i].more);
}

static void man(void) {
    size_t         len = 0;
    const command *all = command_table(&len);

    printf(".TH DIURNAL 1 \"\" \"diurnal " DIURNAL_VERSION "\"\n"
           ".SH NAME\ndiurnal \\- something for every user, once a day\n"
           ".SH SYNOPSIS\n.B diurnal\n.I command\n[\\fIflag\\fR ...]\n.SH DESCRIPTION\n");
    roff(about);
    printf("\n.SH COMMANDS\n");
    for (size_t i = 0; i < len; i++) roff_command(&all[i]);
    roff_entries("EXIT STATUS", ENTRIES(exits));
    roff_entries("ENVIRONMENT", ENTRIES(variables));
    roff_entries("FILES", ENTRIES(files));
}

/* ---- Markdown ---- */

/* A | would end a cell. */
static void cell(const char *text) {
    for (; *text; text++) {
        if (*text == '|') (void)putchar('\\');
        (void)putchar(*text);
    }
}

static void markdown_row(const char *term, const char *arg, const char *help, const char *more) {
    printf("| `%s%s", term, *arg ? " " : "");
    cell(arg);
    printf("` | ");
    cell(help);
    cell(more);
    printf(" |\n");
}

static void markdown_entries(const char *title, const entry *entries, size_t len) {
    printf("\n## %s\n\n| | |\n|---|---|\n", title);
    for (size_t i = 0; i < len; i++) markdown_row(entries[i].name, "", entries[i].help, "");
}

static void markdown_flags(const reference_flag *flags, size_t len) {
    if (len > 0) printf("\n| | |\n|---|---|\n");
    for (size_t i = 0; i < len; i++)
        markdown_row(flags[i].name, flags[i].arg, flags[i].help, flags[i].more);
}

/* The common flags are listed once, below. */
static void markdown_command(const command *c) {
    reference_flag flags[REFERENCE_FLAGS_MAX];

    (void)reference_flags(c, flags);
    printf("\n## diurnal %s%s%s\n\n%c%s.%s\n%s", c->name, *c->operands ? " " : "", c->operands,
           capital(c->help), c->help + 1, c->prints_data ? " Also with `--json`." : "",
           c->more ? c->more : "");
    if (c->serves)
        printf("\n"
               "Every setting of [configuration.md](configuration.md) is a flag: `tick_ms` is "
               "`--tick-ms`.\n");
    markdown_flags(flags, c->flags_len);
}

/* The flags of the first command that sends requests, without its own. */
static void markdown_common(const command *all, size_t len) {
    reference_flag flags[REFERENCE_FLAGS_MAX];
    size_t         i = 0;

    while (i < len && !(all[i].asks && all[i].prints_data)) i++;
    const size_t flags_len = reference_flags(&all[i], flags);
    printf("\n"
           "## Flags of most commands\n"
           "\n"
           "Commands that send requests to a daemon have `--url`, `--token-file` and `--ca`. All "
           "but `serve` take `--data`, and no other setting.\n");
    markdown_flags(flags + all[i].flags_len, flags_len - all[i].flags_len);
}

static void markdown(void) {
    size_t         len = 0;
    const command *all = command_table(&len);

    printf("# The commands\n"
           "\n"
           "Written by `diurnal man --markdown`; `diurnal COMMAND --help` prints the same.\n"
           "\n"
           "%s\n",
           about);
    for (size_t i = 0; i < len; i++) markdown_command(&all[i]);
    markdown_common(all, len);
    markdown_entries("Exit codes", ENTRIES(exits));
    markdown_entries("Environment", ENTRIES(variables));
    markdown_entries("Files", ENTRIES(files));
}

int cmd_man(const call *c) {
    if (call_flag(c, "markdown")) markdown();
    else man();
    return DN_EXIT_DONE;
}
