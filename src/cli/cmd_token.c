/* cmd_token.c - tokens: create, list, revoke. */
#include "client.h"

#include "cli_text.h"
#include "domain/daily_rule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { DAYS_MOST = 36500 };
#define TOKENS "/api/v1/tokens"

static const char *text(const json_t *token, const char *key, const char *without) {
    const char *value = json_string_value(json_object_get(token, key));

    return value ? value : without;
}

/* ---- create ---- */

/* "": the token never expires. False: the error is printed. */
static bool end_read(const call *c, char out[DN_INSTANT_TEXT]) {
    const char *days = call_flag(c, "days");
    char       *end = NULL, quoted[DN_TEXT_QUOTED];

    out[0] = '\0';
    if (!days) return true;
    const long n = strtol(days, &end, 10);
    if (*days < '0' || *days > '9' || *end || n < 1 || n > DAYS_MOST) {
        (void)complain(DN_EXIT_USAGE, "--days: invalid number %s; use 1 to %d",
                       dn_text_quoted(days, strlen(days), quoted), DAYS_MOST);
        return false;
    }
    dn_instant_write((int64_t)time(NULL) * 1000 + n * DN_DAY_MS, out);
    return true;
}

/* Only the token goes to standard output, so that a script can store it. */
static void made_say(const json_t *made) {
    printf("%s\n", text(made, "token", ""));
    if (isatty(STDERR_FILENO) == 1)
        (void)fprintf(
            stderr,
            "Scope: %s. The token is never shown again. To revoke it: diurnal token revoke %lld\n",
            text(made, "scope", ""), (long long)json_integer_value(json_object_get(made, "id")));
}

int cmd_token_create(const call *c) {
    const char *scope = call_flag(c, "scope");
    char        ends[DN_INSTANT_TEXT];
    int         exit_code = DN_EXIT_USAGE;

    if (!end_read(c, ends)) return DN_EXIT_USAGE;
    DN_AUTO(client) asked = client_of(c, &exit_code);
    if (!asked) return exit_code;
    json_t *made =
        client_send(asked, "POST", TOKENS,
                    json_pack("{s:s, s:s, s:s?, s:s?, s:s?}", "name", c->operands[0], "scope",
                              scope ? scope : "read", "tenant", call_flag(c, "tenant"), "user",
                              call_flag(c, "user"), "expires_at", *ends ? ends : NULL),
                    "token", &exit_code);
    if (!made) return exit_code;
    if (c->json) return print_json(made);
    made_say(made);
    json_decref(made);
    return DN_EXIT_DONE;
}

/* ---- list, revoke ---- */

static void print_token(const json_t *t) {
    printf("%4lld  %-7s  %-20.19s  %-20.19s  %-12s  %-12s  %s\n",
           (long long)json_integer_value(json_object_get(t, "id")), text(t, "scope", "-"),
           text(t, "created_at", "-"), text(t, "expires_at", "never"), text(t, "tenant", "-"),
           text(t, "user", "-"), text(t, "name", "-"));
}

int cmd_token_list(const call *c) {
    int exit_code = DN_EXIT_DONE;
    DN_AUTO(client) asked = client_of(c, &exit_code);

    if (!asked) return exit_code;
    json_t *answer = client_call(asked, "GET", TOKENS, "items", &exit_code);
    if (!answer) return exit_code;
    exit_code = DN_EXIT_DONE;
    const json_t *items = json_object_get(answer, "items");
    if (!c->json)
        printf("%4s  %-7s  %-20s  %-20s  %-12s  %-12s  %s\n", "id", "scope", "created", "expires",
               "tenant", "user", "name");
    for (size_t i = 0; i < json_array_size(items); i++) {
        json_t *token = json_array_get(items, i);
        if (c->json) exit_code = print_json(json_incref(token));
        else print_token(token);
    }
    json_decref(answer);
    return exit_code;
}

int cmd_token_revoke(const call *c) {
    const char *id = c->operands[0];
    int         exit_code = DN_EXIT_DONE;
    DN_AUTO(client) asked = client_of(c, &exit_code);

    if (!asked) return exit_code;
    json_t *answer =
        client_call(asked, "DELETE", client_path(asked, TOKENS "/", id, ""), NULL, &exit_code);
    if (!answer) return exit_code;
    json_decref(answer);
    if (c->json) return print_json(json_pack("{s:s, s:b}", "id", id, "revoked", 1));
    printf("%s: revoked\n", id);
    return DN_EXIT_DONE;
}
