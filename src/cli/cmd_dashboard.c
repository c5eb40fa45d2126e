/* cmd_dashboard.c - prints a link that logs a browser in to the dashboard, once.
 * Browsers never send the part after #, so the ticket appears in no server's log. A ticket expires after a minute or one
 * use. */
#include "client.h"

#include <stdio.h>
#include <unistd.h>

int cmd_dashboard(const call *c) {
    int exit_code = DN_EXIT_DONE;
    DN_AUTO(client) asked = client_of(c, &exit_code);

    if (!asked) return exit_code;
    json_t *answer = client_call(asked, "POST", "/api/v1/tickets", "ticket", &exit_code);
    if (!answer) return exit_code;
    const char     *ticket = json_string_value(json_object_get(answer, "ticket"));
    const long long seconds = json_integer_value(json_object_get(answer, "seconds"));
    json_t         *url = json_sprintf("%s/#ticket=%s", client_url(asked), ticket ? ticket : "");
    exit_code = DN_EXIT_DONE;
    if (c->json) {
        exit_code = print_json(json_pack("{s:O, s:I}", "url", url, "seconds", (json_int_t)seconds));
    } else {
        printf("%s\n", json_string_value(url));
        if (isatty(STDERR_FILENO) == 1)
            (void)fprintf(stderr, "Open the link within %lld seconds; it logs in once.\n", seconds);
    }
    json_decref(url);
    json_decref(answer);
    return exit_code;
}
