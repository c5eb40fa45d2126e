/* when.c - see when.h. */
#include "when.h"

#include "cli_text.h"

#include <string.h>

static int refuse(const char *flag, const char *text, const char *what, const char *form) {
    char quoted[DN_TEXT_QUOTED];

    return complain(DN_EXIT_USAGE, "--%s: invalid %s %s; use %s", flag, what,
                    dn_text_quoted(text, strlen(text), quoted), form);
}

int when_day(const call *c, const char *flag, dn_day *out_day) {
    const char *text = call_flag(c, flag);

    if (!text || dn_day_read(text, strlen(text), out_day) == DN_OK) return DN_EXIT_DONE;
    return refuse(flag, text, "date", "YYYY-MM-DD");
}

int when_due(const call *c, const char *flag) {
    const char *text = call_flag(c, flag);
    uint32_t    minute;

    if (!text || dn_due_read(text, strlen(text), &minute) == DN_OK) return DN_EXIT_DONE;
    return refuse(flag, text, "time", "HH:MM, for example 08:00");
}
