/* cmd_today.c - draws the day in the terminal: an hour a row, with the states of its users. */
#include "client.h"
#include "screen.h"
#include "when.h"

#include "api/words.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { HOURS = 24, BAR = 40, WATCH_SECONDS = 2 };

typedef enum part {
    PART_SUCCESS,
    PART_CUTOFF,
    PART_MISSED,
    PART_RUNNING,
    PART_PENDING,
    PARTS
} part;

typedef struct hour {
    json_int_t users, parts[PARTS];
} hour;

/* The look of a part: a colour on a colour terminal, else a letter. */
static const struct {
    const char *key, *name, *colour;
    char        letter;
} looks[PARTS] = {
    [PART_SUCCESS] = {"success", "success", "\033[42m", '#'},
    [PART_CUTOFF] = {"cutoff_reached", "cutoff", "\033[41m", 'x'},
    [PART_MISSED] = {"missed", "missed", "\033[45m", '-'},
    [PART_RUNNING] = {"running", "running", "\033[43m", '>'},
    [PART_PENDING] = {"pending", "pending", "\033[100m", '.'},
};

/* The daemon counts running users as pending too; the drawing shows each user once. */
static void gather(const json_t *answer, hour hours[HOURS], hour *out_all) {
    const json_t *items = json_object_get(answer, "items");

    for (size_t i = 0; i < json_array_size(items); i++) {
        const json_t *m = json_array_get(items, i);
        const char   *due = json_string_value(json_object_get(m, "due"));
        uint32_t      minute;
        if (!due || dn_due_read(due, strlen(due), &minute) < 0) continue;
        const uint32_t at = minute / 60;
        hours[at].users += json_integer_value(json_object_get(m, "users"));
        for (int p = 0; p < PARTS; p++)
            hours[at].parts[p] += json_integer_value(json_object_get(m, looks[p].key));
    }
    for (int h = 0; h < HOURS; h++) {
        hour *o = &hours[h];
        o->parts[PART_PENDING] -= o->parts[PART_RUNNING];
        if (o->parts[PART_PENDING] < 0) o->parts[PART_PENDING] = 0;
        out_all->users += o->users;
        for (int p = 0; p < PARTS; p++) out_all->parts[p] += o->parts[p];
    }
}

/* A part with at least one user gets at least one cell. */
static void draw_bar(const hour *h, json_int_t most, bool colours) {
    int used = 0;

    for (int p = 0; p < PARTS; p++) {
        int cells = most > 0 ? (int)(h->parts[p] * BAR / most) : 0;
        if (h->parts[p] > 0 && cells == 0) cells = 1;
        if (cells > BAR - used) cells = BAR - used;
        used += cells;
        if (cells > 0 && colours) printf("%s%*s\033[0m", looks[p].colour, cells, "");
        for (int i = 0; i < cells && !colours; i++) putchar(looks[p].letter);
    }
    printf("%*s", BAR - used, "");
}

static void draw(const json_t *answer, bool colours) {
    hour        hours[HOURS] = {0}, all = {0};
    json_int_t  most = 0;
    const char *day = json_string_value(json_object_get(answer, "day"));
    const char *now = json_string_value(json_object_get(answer, "now"));
    const bool  is_today = day && now && strncmp(day, now, 10) == 0;
    char        users[DN_WORDS];

    gather(answer, hours, &all);
    for (int h = 0; h < HOURS; h++)
        if (hours[h].users > most) most = hours[h].users;
    printf("%s, users by the hour of their cutoff (UTC)", day ? day : "-");
    if (is_today) printf("; now %.5s", now + 11);
    printf("\n\n");
    for (int h = 0; h < HOURS; h++) {
        char two[8];
        (void)snprintf(two, sizeof two, "%02d", h);
        printf("%c%s  ", is_today && strncmp(now + 11, two, 2) == 0 ? '>' : ' ', two);
        draw_bar(&hours[h], most, colours);
        for (int p = 0; p < PARTS; p++)
            if (hours[h].parts[p] > 0)
                printf("  %lld %s", (long long)hours[h].parts[p], looks[p].name);
        printf("\n");
    }
    printf("\n%s:", dn_words_count((uint64_t)all.users, "user", users));
    for (int p = 0; p < PARTS; p++) {
        if (p == PART_MISSED && all.parts[p] == 0) continue; /* shown only if there are any */
        if (colours) printf("  %s  \033[0m", looks[p].colour);
        else printf("  %c", looks[p].letter);
        printf(" %lld %s", (long long)all.parts[p], looks[p].name);
    }
    printf("\n");
}

/* no-color.org: any value but an empty one. */
static bool wants_colours(const call *c) {
    const char *no = call_variable(c, "NO_COLOR");

    return !no || *no == '\0';
}

int cmd_today(const call *c) {
    const bool  watch = call_flag(c, "watch") != NULL;
    const bool  screen = screen_is_there(call_variable(c, "TERM"));
    const char *day = call_flag(c, "day");
    dn_day      date;
    int         exit_code = when_day(c, "day", &date);
    DN_AUTO(client) asked = exit_code == DN_EXIT_DONE ? client_of(c, &exit_code) : NULL;

    if (!asked) return exit_code;
    do {
        json_t *answer = client_get(asked, "/api/v1/daily/today", json_pack("{s:s?}", "day", day),
                                    "items", &exit_code);
        if (!answer) return exit_code;
        exit_code = DN_EXIT_DONE;
        if (watch && screen && !c->json) printf("\033[H\033[J");
        if (c->json) exit_code = print_json(json_incref(answer));
        else draw(answer, screen && wants_colours(c));
        json_decref(answer);
        if (fflush(stdout) != 0) return complain(DN_EXIT_FAILED, "cannot write the output");
        if (watch) (void)sleep(WATCH_SECONDS);
    } while (watch && exit_code == DN_EXIT_DONE);
    return exit_code;
}
