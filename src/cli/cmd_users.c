/* cmd_users.c - commands for one user, and the list of users. */
#include "client.h"

#include "cli_text.h"
#include "domain/daily_rule.h"
#include "when.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_PAGE = 500, MADE = 201 };
#define USERS "/api/v1/daily/users/"

static const char *text(const json_t *user, const char *key) {
    const char *value = json_string_value(json_object_get(user, key));

    return value ? value : "-";
}

/* ---- set ---- */

/* Checks the flags before a request is sent, so that the error names the flag. */
static int set_check(const call *c, const char *id, const char *due, const char *starts_on) {
    char        quoted[DN_TEXT_QUOTED];
    dn_day      day;
    const char *fault = dn_id_fault(id, strlen(id));

    if (fault)
        return complain(DN_EXIT_USAGE, "%s: invalid id %s: it %s", c->command->name,
                        dn_text_quoted(id, strlen(id), quoted), fault);
    if (!due)
        return complain(DN_EXIT_USAGE,
                        "%s: --due is missing; example: diurnal users set %s --due 08:00",
                        c->command->name, dn_text_quoted(id, strlen(id), quoted));
    if (when_due(c, "due") != DN_EXIT_DONE) return DN_EXIT_USAGE;
    if (starts_on && strcmp(starts_on, "today") != 0 &&
        dn_day_read(starts_on, strlen(starts_on), &day) < 0)
        return complain(DN_EXIT_USAGE, "--starts-on: invalid date %s; use YYYY-MM-DD or today",
                        dn_text_quoted(starts_on, strlen(starts_on), quoted));
    return DN_EXIT_DONE;
}

/* A new user whose cutoff of today has passed starts tomorrow. The daemon then adds a note, because this may surprise. */
static void set_say(const char *id, const char *due, bool is_new, const json_t *user) {
    const char *first = text(user, "starts_on");

    if (!is_new) {
        printf("%s: changed; due at %s UTC, first day %s\n", id, due, first);
    } else if (json_object_get(user, "note")) {
        printf("%s: registered; due at %s UTC, from tomorrow (%s) on, because today's cutoff has "
               "passed\n"
               "(--starts-on today makes today the first day)\n",
               id, due, first);
    } else printf("%s: registered; due at %s UTC, from %s on\n", id, due, first);
}

int cmd_users_set(const call *c) {
    const char *id = c->operands[0], *due = call_flag(c, "due"),
               *starts_on = call_flag(c, "starts-on");
    int exit_code = set_check(c, id, due, starts_on);
    DN_AUTO(client) asked = exit_code == DN_EXIT_DONE ? client_of(c, &exit_code) : NULL;

    if (!asked) return exit_code;
    json_t *user =
        client_send(asked, "PUT", client_path(asked, USERS, id, ""),
                    json_pack("{s:s, s:s?}", "due", due, "starts_on", starts_on), "id", &exit_code);
    if (!user) return exit_code;
    if (c->json) return print_json(user);
    set_say(id, due, client_status(asked) == MADE, user);
    json_decref(user);
    return DN_EXIT_DONE;
}

/* ---- get, rm ---- */

static void print_user(const json_t *u) {
    const char *status = text(u, "status");

    printf("%s: due at %s UTC, first day %s", text(u, "id"), text(u, "due"), text(u, "starts_on"));
    if (*status != '-') printf("; %s on %s", status, text(u, "last_date"));
    printf("; context epoch %lld\n",
           (long long)json_integer_value(json_object_get(u, "context_epoch")));
}

int cmd_users_get(const call *c) {
    int exit_code = DN_EXIT_DONE;
    DN_AUTO(client) asked = client_of(c, &exit_code);

    if (!asked) return exit_code;
    json_t *user =
        client_call(asked, "GET", client_path(asked, USERS, c->operands[0], ""), "id", &exit_code);
    if (!user) return exit_code;
    if (c->json) return print_json(user);
    print_user(user);
    json_decref(user);
    return DN_EXIT_DONE;
}

int cmd_users_rm(const call *c) {
    const char *id = c->operands[0];
    int         exit_code = DN_EXIT_DONE;
    DN_AUTO(client) asked = client_of(c, &exit_code);

    if (!asked) return exit_code;
    json_t *answer =
        client_call(asked, "DELETE", client_path(asked, USERS, id, ""), NULL, &exit_code);
    if (!answer) return exit_code;
    json_decref(answer);
    if (c->json) return print_json(json_pack("{s:s, s:b}", "id", id, "removed", 1));
    printf("%s: removed\n", id);
    return DN_EXIT_DONE;
}

/* ---- list ---- */

static void print_row(const json_t *u) {
    printf("%-5s  %-14s  %-10s  %-10s  %s\n", text(u, "due"), text(u, "status"),
           text(u, "last_date"), text(u, "starts_on"), text(u, "id"));
}

static bool limit_read(const char *flag, long long *out_limit) {
    char *end;

    *out_limit = INT64_MAX;
    if (!flag) return true;
    *out_limit = strtoll(flag, &end, 10);
    return *flag >= '0' && *flag <= '9' && *end == '\0' && *out_limit > 0;
}

static json_t *list_query(const call *c, const char *cursor, long long max) {
    return json_pack("{s:s?, s:s?, s:s?, s:s?, s:s?, s:I}", "cursor", cursor, "status",
                     call_flag(c, "status"), "due_from", call_flag(c, "due-from"), "due_to",
                     call_flag(c, "due-to"), "q", call_flag(c, "prefix"), "limit",
                     (json_int_t)(max < LIST_PAGE ? max : LIST_PAGE));
}

/* Prints each page before it requests the next. */
int cmd_users_list(const call *c) {
    int         exit_code = DN_EXIT_DONE;
    long long   left, printed = 0;
    json_t     *page = NULL;
    const char *cursor = NULL;
    char        quoted[DN_TEXT_QUOTED];

    if (!limit_read(call_flag(c, "limit"), &left))
        return complain(
            DN_EXIT_USAGE, "--limit: invalid number %s; use a whole number from 1",
            dn_text_quoted(call_flag(c, "limit"), strlen(call_flag(c, "limit")), quoted));
    exit_code = when_due(c, "due-from");
    if (exit_code == DN_EXIT_DONE) exit_code = when_due(c, "due-to");
    DN_AUTO(client) asked = exit_code == DN_EXIT_DONE ? client_of(c, &exit_code) : NULL;
    if (!asked) return exit_code;
    do {
        json_t *next = client_get(asked, "/api/v1/daily/users", list_query(c, cursor, left),
                                  "items", &exit_code);
        json_decref(page);
        page = next;
        if (!page) return exit_code;
        exit_code = DN_EXIT_DONE;
        const json_t *items = json_object_get(page, "items");
        for (size_t i = 0; i < json_array_size(items); i++) {
            json_t *user = json_array_get(items, i);
            if (!c->json && printed == 0)
                printf("%-5s  %-14s  %-10s  %-10s  %s\n", "due", "last status", "on", "first day",
                       "id");
            if (c->json) exit_code = print_json(json_incref(user));
            else print_row(user);
            printed++, left--;
        }
        cursor = json_string_value(json_object_get(page, "next_cursor"));
    } while (cursor && left > 0 && !ferror(stdout));
    json_decref(page);
    return exit_code;
}
