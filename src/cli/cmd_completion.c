/* cmd_completion.c - completion scripts for shells, written from the table of commands. */
#include "cli_text.h"
#include "reference.h"

#include <stdio.h>
#include <string.h>

/* True for the first command of a group, and for a command without a group. */
static bool begins_group(const command *all, size_t i) {
    const size_t group = reference_group(&all[i]);

    return group == 0 || i == 0 || strncmp(all[i - 1].name, all[i].name, group + 1) != 0;
}

/* Escapes a text for single quotes, and its colons for zsh. */
static void put_quoted(const char *text, bool colons) {
    for (; *text; text++) {
        if (*text == '\'') printf("'\\''");
        else if (*text == ':' && colons) printf("\\:");
        else (void)putchar(*text);
    }
}

/* "a|b" as "a b"; NULL: the argument is not a choice of words. */
static const char *words_of(const char *arg, char out[256]) {
    if (!strchr(arg, '|')) return NULL;
    (void)snprintf(out, 256, "%s", arg);
    for (char *at = out; *at; at++)
        if (*at == '|') *at = ' ';
    return out;
}

/* ---- For all shells ---- */

static void put_first_words(void) {
    size_t         len = 0;
    const command *all = command_table(&len);
    bool           first = true;

    for (size_t i = 0; i < len; i++) {
        const size_t group = reference_group(&all[i]);
        if (!begins_group(all, i)) continue;
        printf("%s%.*s", first ? "" : " ", group ? (int)group : (int)strlen(all[i].name),
               all[i].name);
        first = false;
    }
}

static void put_words_of_group(const char *name, size_t group) {
    size_t         len = 0;
    const command *all = command_table(&len);
    bool           first = true;

    for (size_t i = 0; i < len; i++) {
        if (reference_group(&all[i]) != group || strncmp(all[i].name, name, group) != 0) continue;
        printf("%s%s", first ? "" : " ", reference_last_word(&all[i]));
        first = false;
    }
}

/* ---- bash ---- */

static void bash_groups(void) {
    size_t         len = 0;
    const command *all = command_table(&len);

    for (size_t i = 0; i < len; i++) {
        const size_t group = reference_group(&all[i]);
        if (group == 0 || !begins_group(all, i)) continue;
        printf("        %.*s) words='", (int)group, all[i].name);
        put_words_of_group(all[i].name, group);
        printf("' ;;\n");
    }
}

/* Completes the value of a flag: one of its words, a file, a directory, or nothing. */
static void bash_value(const reference_flag *f) {
    char        words[256];
    const char *choice = words_of(f->arg, words);

    printf("    %s) ", f->name);
    if (choice) printf("COMPREPLY=($(compgen -W '%s' -- \"$cur\")); ", choice);
    else if (strcmp(f->arg, "FILE") == 0) printf("COMPREPLY=($(compgen -f -- \"$cur\")); ");
    else if (strcmp(f->arg, "DIR") == 0) printf("COMPREPLY=($(compgen -d -- \"$cur\")); ");
    printf("return ;;\n");
}

/* Does one of the first len commands have that flag? */
static bool has_flag(const command *all, size_t len, const char *name) {
    for (size_t i = 0; i < len; i++) {
        reference_flag flags[REFERENCE_FLAGS_MAX];
        const size_t   flags_len = reference_flags(&all[i], flags);
        for (size_t f = 0; f < flags_len; f++)
            if (strcmp(flags[f].name, name) == 0) return true;
    }
    return false;
}

/* A flag of one name takes the same value in every command, so each is written once. */
static void bash_values(void) {
    size_t         len = 0;
    const command *all = command_table(&len);

    for (size_t i = 0; i < len; i++) {
        reference_flag flags[REFERENCE_FLAGS_MAX];
        const size_t   flags_len = reference_flags(&all[i], flags);
        for (size_t f = 0; f < flags_len; f++) {
            if (*flags[f].arg != '\0' && !has_flag(all, i, flags[f].name)) bash_value(&flags[f]);
        }
    }
}

static void bash_flags(void) {
    size_t         len = 0;
    const command *all = command_table(&len);

    for (size_t i = 0; i < len; i++) {
        reference_flag flags[REFERENCE_FLAGS_MAX];
        const size_t   flags_len = reference_flags(&all[i], flags);
        /* A command of one word matches whatever follows it. */
        printf("    '%s'%s) flags='", all[i].name, reference_group(&all[i]) ? "" : "' '*");
        for (size_t f = 0; f < flags_len; f++) printf("%s%s", f ? " " : "", flags[f].name);
        char words[256];
        printf("'");
        if (words_of(all[i].operands, words)) printf(" words='%s'", words);
        printf(" ;;\n");
    }
}

static void bash(void) {
    printf("# Completion of diurnal for bash: source <(diurnal completion bash)\n"
           "_diurnal() {\n"
           "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
           "    local words= flags= named=\"${COMP_WORDS[1]} ${COMP_WORDS[2]}\"\n"
           "    COMPREPLY=()\n"
           "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
           "        words='");
    put_first_words();
    printf("'\n"
           "    elif [ \"$COMP_CWORD\" -eq 2 ]; then\n"
           "        case ${COMP_WORDS[1]} in\n");
    bash_groups();
    printf("        esac\n"
           "    fi\n"
           "    if [ -n \"$words\" ]; then\n"
           "        COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
           "        return\n"
           "    fi\n"
           "    case $prev in\n");
    bash_values();
    printf("    esac\n"
           "    case $named in\n");
    bash_flags();
    printf("    esac\n"
           "    case $cur in\n"
           "    -*) COMPREPLY=($(compgen -W \"$flags\" -- \"$cur\")) ;;\n"
           "    *) if [ -n \"$words\" ]; then COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
           "       else COMPREPLY=($(compgen -f -- \"$cur\")); fi ;;\n"
           "    esac\n"
           "}\n"
           "complete -o filenames -F _diurnal diurnal\n");
}

/* ---- zsh ---- */

static void zsh_command(const command *c) {
    reference_flag flags[REFERENCE_FLAGS_MAX];
    const size_t   len = reference_flags(c, flags);

    printf("    '%s'%s) flags=(", c->name, reference_group(c) ? "" : "' '*");
    for (size_t i = 0; i < len; i++) {
        printf("\n        '%s:", flags[i].name);
        put_quoted(flags[i].help, /* colons= */ true);
        printf("'");
    }
    char words[256];
    printf(")");
    if (words_of(c->operands, words)) printf(" operands=(%s)", words);
    printf(" ;;\n");
}

static void zsh(void) {
    size_t         len = 0;
    const command *all = command_table(&len);

    printf("#compdef diurnal\n"
           "# Completion of diurnal for zsh: a file _diurnal in a directory of $fpath.\n"
           "_diurnal() {\n"
           "    local -a commands flags operands\n"
           "    if (( CURRENT == 2 )); then\n"
           "        commands=(");
    put_first_words();
    printf(")\n"
           "        _describe command commands\n"
           "        return\n"
           "    fi\n"
           "    if (( CURRENT == 3 )); then\n"
           "        case $words[2] in\n");
    for (size_t i = 0; i < len; i++) {
        const size_t group = reference_group(&all[i]);
        if (group == 0 || !begins_group(all, i)) continue;
        printf("        %.*s) commands=(", (int)group, all[i].name);
        put_words_of_group(all[i].name, group);
        printf(") ;;\n");
    }
    printf("        esac\n"
           "        (( $#commands )) && { _describe command commands; return }\n"
           "    fi\n"
           "    case \"$words[2] $words[3]\" in\n");
    for (size_t i = 0; i < len; i++) zsh_command(&all[i]);
    printf("    esac\n"
           "    if [[ $words[CURRENT] == -* ]]; then _describe -o flag flags\n"
           "    elif (( $#operands )); then compadd -a operands; else _files; fi\n"
           "}\n"
           "_diurnal \"$@\"\n");
}

/* ---- fish ---- */

static void fish_flag(const command *c, const reference_flag *f) {
    const size_t group = reference_group(c);
    char         words[256];
    const char  *choice = words_of(f->arg, words);

    printf("complete -c diurnal -n '__fish_seen_subcommand_from %.*s",
           group ? (int)group : (int)strlen(c->name), c->name);
    if (group) printf("; and __fish_seen_subcommand_from %s", reference_last_word(c));
    printf("' -l %s", f->name + 2);
    if (choice) printf(" -x -a '%s'", choice);
    else if (*f->arg)
        printf(strcmp(f->arg, "FILE") == 0 || strcmp(f->arg, "DIR") == 0 ? " -r" : " -x");
    printf(" -d '");
    put_quoted(f->help, /* colons= */ false);
    printf("'\n");
}

static void fish(void) {
    size_t         len = 0;
    const command *all = command_table(&len);

    printf("# Completion of diurnal for fish: diurnal completion fish | source\n");
    printf("complete -c diurnal -n __fish_use_subcommand -f -a '");
    put_first_words();
    printf("'\n");
    for (size_t i = 0; i < len; i++) {
        reference_flag flags[REFERENCE_FLAGS_MAX];
        const size_t   group = reference_group(&all[i]);
        if (group) {
            printf("complete -c diurnal -n '__fish_seen_subcommand_from %.*s; and not "
                   "__fish_seen_subcommand_from ",
                   (int)group, all[i].name);
            put_words_of_group(all[i].name, group);
            printf("' -f -a %s -d '", reference_last_word(&all[i]));
            put_quoted(all[i].help, /* colons= */ false);
            printf("'\n");
        }
        char words[256];
        if (words_of(all[i].operands, words))
            printf("complete -c diurnal -n '__fish_seen_subcommand_from %s' -f -a '%s'\n",
                   all[i].name, words);
        const size_t flags_len = reference_flags(&all[i], flags);
        for (size_t f = 0; f < flags_len; f++) fish_flag(&all[i], &flags[f]);
    }
}

int cmd_completion(const call *c) {
    static const struct {
        const char *name;
        void (*write)(void);
    } shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};
    const char *asked = c->operands[0];
    char        quoted[DN_TEXT_QUOTED];

    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (strcmp(asked, shells[i].name) == 0) {
            shells[i].write();
            return DN_EXIT_DONE;
        }
    return complain(DN_EXIT_USAGE, "unknown shell %s; use bash, zsh or fish",
                    dn_text_quoted(asked, strlen(asked), quoted));
}
