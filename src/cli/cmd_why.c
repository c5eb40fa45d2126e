/* cmd_why.c - explains what happened to a user and what happens next. The daemon writes the sentences
 * (src/api/daily/explain.c). */
#include "client.h"
#include "when.h"

#include <stdio.h>

int cmd_why(const call *c) {
    const char *day = call_flag(c, "day");
    dn_day      date;
    int         exit_code = when_day(c, "day", &date);
    DN_AUTO(client) asked = exit_code == DN_EXIT_DONE ? client_of(c, &exit_code) : NULL;

    if (!asked) return exit_code;
    const char *path = client_path(asked, "/api/v1/daily/users/", c->operands[0], "/why");
    json_t     *answer =
        client_get(asked, path, json_pack("{s:s?}", "day", day), "sentences", &exit_code);
    if (!answer) return exit_code;
    if (c->json) return print_json(answer);
    const json_t *lines = json_object_get(answer, "sentences");
    for (size_t i = 0; i < json_array_size(lines); i++)
        printf("%s\n", json_string_value(json_array_get(lines, i)));
    json_decref(answer);
    return DN_EXIT_DONE;
}
