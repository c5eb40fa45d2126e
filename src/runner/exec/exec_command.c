/* exec_command.c - see exec_command.h. */
#include "exec_command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

enum { ENV_FREE = 3 }; /* two of a run, and the end */

/* The next word, written over the text it is read from, which is never shorter. False: there is none. */
static bool next_word(char **from, char **to, const char **fault) {
    char *in = *from, *out = *to;
    bool  quoted = false;

    while (*in == ' ') in++;
    if (!*in) return false;
    for (; *in && (quoted || *in != ' '); in++) {
        if (*in == '"') {
            quoted = !quoted;
            continue;
        }
        if (*in == '\\' && *++in == '\0') {
            *fault = "ends in a backslash";
            return false;
        }
        *out++ = *in;
    }
    if (quoted) {
        *fault = "has a quote without an end";
        return false;
    }
    if (*in) in++;
    *out++ = '\0';
    *from = in;
    *to = out;
    return true;
}

static int split(command *c, const char **out_fault) {
    char       *from = c->text, *to = c->text, *word = to;
    size_t      argc = 0;
    const char *fault = NULL;

    while (next_word(&from, &to, &fault)) {
        c->argv[argc++] = word;
        word = to;
    }
    if (!fault && argc == 0) fault = "names no program; want exec:/path args…";
    if (!fault && c->argv[0][0] != '/') fault = "needs an absolute path, as exec:/path args…";
    if (!fault) return DN_OK;
    *out_fault = fault;
    return DN_EINVAL;
}

static bool is_ours(const char *variable) {
    return strncmp(variable, "DIURNAL_", 8) == 0 || strncmp(variable, "TRACEPARENT=", 12) == 0;
}

static int copy_env(command *c) {
    size_t all = 0;

    while (environ && environ[all]) all++;
    c->env = calloc(all + ENV_FREE, sizeof *c->env);
    if (!c->env) return DN_ENOMEM;
    for (size_t i = 0; i < all; i++) {
        if (is_ours(environ[i])) continue;
        c->env[c->env_len] = strdup(environ[i]);
        if (!c->env[c->env_len]) return DN_ENOMEM;
        c->env_len++;
    }
    return DN_OK;
}

int command_new(const char *text, command **out_command, const char **out_fault) {
    command *c = calloc(1, sizeof *c);
    int      rc = DN_ENOMEM;

    if (!c) return DN_ENOMEM;
    c->text = strdup(text);
    c->argv =
        calloc(strlen(text) / 2 + 2, sizeof *c->argv); /* a word and its space are two bytes */
    if (c->text && c->argv) rc = split(c, out_fault);
    if (rc == DN_OK) rc = copy_env(c);
    if (rc == DN_OK) *out_command = c;
    else command_free(c);
    return rc;
}

void command_free(command *c) {
    if (!c) return;
    for (size_t i = 0; i < c->env_len; i++) free(c->env[i]);
    free(c->env);
    free(c->argv);
    free(c->text);
    free(c);
}

const char *command_fault(const command *c) {
    struct stat st;

    if (stat(c->argv[0], &st) != 0)
        return errno == ENOENT || errno == ENOTDIR ? "does not exist" : "cannot be read";
    if (!S_ISREG(st.st_mode)) return "is not a file";
    return access(c->argv[0], X_OK) == 0 ? NULL : "is not executable";
}
