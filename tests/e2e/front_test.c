/* front_test.c - tokens, the link to the dashboard, and the live view, by their commands. */
#include "place.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

static place *served(void) {
    place *p = place_new(NULL);

    place_serve(p, ARGS("--runner=exec:/bin/true", "--tick-ms=20"));
    return p;
}

static void stops(place *p) {
    place_signal(p, SIGTERM);
    CHECK_INT(place_wait(p), 0);
}

/* ---- Tokens ---- */

static void keep_token(char token[128]) {
    (void)snprintf(token, 128, "%.*s", (int)strcspn(place_said(), "\n"), place_said());
    CHECK(setenv("DIURNAL_TOKEN", token, 1) == 0);
}

TEST(a_token_may_what_its_scope_says_until_it_is_revoked_and_then_nothing_at_once) {
    place *p = served();
    char   token[128];

    CHECK_RUN(p, 0, "token", "create", "grafana");
    CHECK_MSG(strncmp(place_said(), "diurnal_", 8) == 0, "it said: %s", place_said());
    keep_token(token);
    CHECK_RUN(p, 0, "status");
    CHECK_RUN(p, 1, "users", "set", "ada", "--due", "08:00");
    CHECK_SAID("token scope \"read\" is not enough; \"operate\" is required");
    CHECK_RUN(p, 1, "token", "list");
    CHECK_RUN(p, 1, "db", "backup", "copy.db");
    CHECK(unsetenv("DIURNAL_TOKEN") == 0);
    CHECK_RUN(p, 0, "token", "list");
    CHECK_SAID("  read     ");
    CHECK_SAID("never                 -             -             grafana\n");
    CHECK(!strstr(place_said(), token));
    CHECK_RUN(p, 0, "token", "revoke", "2");
    CHECK_SAID("2: revoked");
    CHECK_RUN(p, 1, "token", "revoke", "2");
    CHECK_SAID("unknown token: \"2\"\n");
    CHECK(setenv("DIURNAL_TOKEN", token, 1) == 0);
    CHECK_RUN(p, 1, "status");
    CHECK_SAID("does not accept the token from DIURNAL_TOKEN: it expired, was revoked or belongs "
               "to another daemon");
    stops(p);
}

TEST(token_create_makes_a_token_of_a_tenant_and_of_a_user) {
    place *p = served();
    char   token[128];

    CHECK_RUN(p, 0, "token", "create", "app", "--tenant", "acme", "--user", "ada");
    CHECK_RUN(p, 0, "token", "list");
    CHECK_SAID("never                 acme          ada           app\n");
    CHECK_RUN(p, 2, "token", "create", "x", "--user", "ada");
    CHECK_SAID("\"user\" needs a tenant");
    CHECK_RUN(p, 2, "token", "create", "x", "--tenant", "a b");
    CHECK_SAID("\"tenant\" must be 1 to 64 characters");
    CHECK_RUN(p, 0, "token", "create", "y", "--tenant", "acme", "--scope", "admin");
    keep_token(token);
    CHECK(setenv("DIURNAL_TOKEN", token, 1) == 0);
    CHECK_RUN(p, 0, "token", "list");
    CHECK(!strstr(place_said(), "admin.token"));
    CHECK_RUN(p, 1, "status");
    CHECK_SAID("this belongs to no tenant");
    CHECK(unsetenv("DIURNAL_TOKEN") == 0);
    stops(p);
}

TEST(a_token_has_the_scope_and_the_end_that_were_asked_for) {
    place *p = served();

    CHECK_RUN(p, 0, "token", "create", "deploy", "--scope", "operate", "--days", "30", "--json");
    CHECK_SAID("\"scope\":\"operate\"");
    CHECK_SAID("\"token\":\"diurnal_");
    CHECK(!strstr(place_said(), "\"expires_at\":null"));
    CHECK_RUN(p, 0, "token", "list", "--json");
    CHECK_SAID("\"name\":\"deploy\"");
    CHECK_RUN(p, 2, "token", "create", "x", "--scope", "king");
    CHECK_SAID("\"scope\" must be read, operate or admin");
    CHECK_RUN(p, 2, "token", "create", "x", "--days", "0");
    CHECK_SAID("--days: invalid number \"0\"; use 1 to 36500");
    CHECK_RUN(p, 2, "token", "create", "");
    CHECK_RUN(p, 2, "token", "create");
    CHECK_RUN(p, 1, "token", "revoke", "x");
    stops(p);
}

TEST(a_check_of_the_database_is_asked_for_with_a_token_that_was_given) {
    place *p = served();
    char   token[128];

    CHECK_RUN(p, 0, "token", "create", "mine", "--scope", "admin");
    keep_token(token);
    CHECK_RUN(p, 0, "token", "revoke", "1");
    CHECK_RUN(p, 0, "db", "check");
    CHECK(unsetenv("DIURNAL_TOKEN") == 0);
    CHECK_RUN(p, 1, "db", "check");
    CHECK_SAID("does not accept the token from ");
    CHECK_RUN(p, 0, "db", "check", "--token-file", place_write(p, "mine", token, strlen(token)));
    CHECK_RUN(p, 2, "db", "check", "--url",
              "http://127.0.0.1:1440"); /* it looks at this machine's */
    stops(p);
}

/* ---- The dashboard ---- */

static int logs_in(const place *p, const char *ticket) {
    char request[1024], body[256];

    const int body_len = snprintf(body, sizeof body, "{\"token\":\"%s\"}", ticket);
    const int len = snprintf(request, sizeof request,
                             "POST /api/v1/session HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
                             "X-Diurnal-Request: 1\r\nContent-Length: %d\r\n\r\n%s",
                             body_len, body);
    return (int)strtol(place_asks(p, request, (size_t)len) + 9, NULL, 10);
}

TEST(a_link_to_the_dashboard_is_good_for_one_login) {
    place *p = served();
    char   ticket[128], url[64];

    CHECK_RUN(p, 0, "dashboard");
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u/#ticket=diurnal_", place_port(p));
    CHECK_SAID(url);
    const char *at = strstr(place_said(), "#ticket=") + 8;
    (void)snprintf(ticket, sizeof ticket, "%.*s", (int)strcspn(at, "\n"), at);
    CHECK_INT(logs_in(p, ticket), 200);
    CHECK_INT(logs_in(p, ticket), 401);
    CHECK_RUN(p, 0, "dashboard", "--json");
    CHECK_SAID("\"seconds\":60}");
    stops(p);
}

/* ---- top ---- */

static char   seen[1 << 20]; /* of the terminal */
static size_t seen_len;

/* Reads what there is. */
static void look(int terminal) {
    struct pollfd more = {.fd = terminal, .events = POLLIN};

    while (seen_len < sizeof seen - 1 && poll(&more, 1, 0) == 1 && more.revents & POLLIN) {
        const ssize_t got = read(terminal, seen + seen_len, sizeof seen - 1 - seen_len);
        if (got <= 0) break;
        seen_len += (size_t)got;
    }
    seen[seen_len] = '\0';
}

static void forget(void) {
    seen_len = 0;
    seen[0] = '\0';
}

/* A page is whole when what is below it is cleared. */
static bool shows(int terminal, const char *text) {
    look(terminal);
    const char *at = strstr(seen, text);
    return at && strstr(at, "\033[J");
}

/* No line of the last whole page is wider, nor are there more of them. */
static void check_fits(int rows, int cols) {
    char *begin = NULL;

    for (char *at = seen; (at = strstr(at, "\033[H")) && strstr(at, "\033[J"); at++) begin = at;
    CHECK(begin);
    begin += strlen("\033[H");
    *strstr(begin, "\033[J") = '\0';
    int lines = 0;
    for (char *line = begin; line; lines++) {
        char *next = strstr(line, "\r\n");
        if (next) *next = '\0';
        /* The terminal adds a return of its own before each line feed. */
        const size_t len = strcspn(line, "\r") - strlen("\033[K");
        CHECK_MSG(len <= (size_t)cols, "it is %zu wide: %s", len, line);
        line = next ? next + 2 : NULL;
    }
    CHECK_MSG(lines <= rows && lines > 5, "it has %d lines", lines);
}

static bool is_as_before(int terminal) {
    struct termios now;

    CHECK(tcgetattr(terminal, &now) == 0);
    return (now.c_lflag & ICANON) && (now.c_lflag & ECHO);
}

TEST(top_draws_itself_again_and_again_in_whatever_room_there_is) {
    place *p = served();
    int    terminal, status;

    CHECK(setenv("TERM", "xterm", 1) == 0);
    const pid_t top = place_begin_at_terminal(p, ARGS("top", "--every", "1"), 24, 80, &terminal);
    WAIT_FOR(shows(terminal, "ACTOR"), 20000);
    CHECK(strncmp(seen, "\033[?1049h\033[?25l", 14) == 0 && !is_as_before(terminal));
    CHECK(strstr(seen, "jobs:  0 of 64 running [....................]"));
    CHECK(strstr(seen, "(limit)") && strstr(seen, "tick:  next in "));
    check_fits(24, 80);
    forget();
    WAIT_FOR(shows(terminal, "diurnal "), 20000); /* the next one */
    const struct winsize narrow = {.ws_row = 10, .ws_col = 40};
    forget();
    CHECK(ioctl(terminal, TIOCSWINSZ, &narrow) == 0);
    WAIT_FOR(shows(terminal, "SLOs:  none breached"), 20000);
    check_fits(10, 40);
    CHECK(write(terminal, "\003", 1) == 1); /* Ctrl-C */
    CHECK(waitpid(top, &status, 0) == top);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    forget();
    look(terminal);
    CHECK(is_as_before(terminal));
    (void)close(terminal);
    stops(p);
}

/* What it draws there, with that in its environment. */
static const char *today_drawn(const place *p, const char *variable, const char *value) {
    int terminal, status;

    CHECK(setenv("TERM", "xterm", 1) == 0 && unsetenv("NO_COLOR") == 0);
    CHECK(setenv(variable, value, 1) == 0);
    forget();
    const pid_t today =
        place_begin_at_terminal(p, ARGS("today", "--day", "2999-01-01"), 40, 100, &terminal);
    WAIT_FOR((look(terminal), strstr(seen, " pending\r\n")), 20000);
    CHECK(waitpid(today, &status, 0) == today && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    (void)close(terminal);
    return seen;
}

TEST(today_has_colours_but_where_nobody_can_or_wants_to_see_them_letters) {
    place *p = served();

    CHECK_RUN(p, 0, "users", "set", "ada", "--due", "23:59", "--starts-on", "today");
    CHECK(strstr(today_drawn(p, "NO_COLOR", ""), "\033["));
    CHECK(!strstr(seen, "...."));
    CHECK(!strstr(today_drawn(p, "NO_COLOR", "1"), "\033["));
    CHECK(strstr(seen, "....") && strstr(seen, ". 1 pending"));
    CHECK(!strstr(today_drawn(p, "TERM", "dumb"), "\033["));
    CHECK(strstr(seen, "...."));
    stops(p);
}

TEST(top_gives_the_terminal_back_however_it_ends) {
    static const struct {
        int         signal; /* 0: what is typed */
        const char *typed;
        bool        daemon_goes;
        int         code;
    } rows[] = {
        {0, "q", false, 0}, {SIGTERM, "", false, 0}, {SIGHUP, "", false, 0}, {0, "", true, 1}};
    place *p = served();

    CHECK(setenv("TERM", "xterm", 1) == 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int terminal, status;
        forget();
        const pid_t top =
            place_begin_at_terminal(p, ARGS("top", "--every", "1"), 24, 80, &terminal);
        WAIT_FOR(shows(terminal, "ACTOR"), 20000);
        if (rows[i].daemon_goes) stops(p);
        else if (rows[i].signal) CHECK(kill(top, rows[i].signal) == 0);
        else CHECK(write(terminal, rows[i].typed, 1) == 1);
        WAIT_FOR((look(terminal), strstr(seen, "\033[?25h\033[?1049l")), 20000);
        CHECK(waitpid(top, &status, 0) == top);
        CHECK_MSG(WIFEXITED(status) && WEXITSTATUS(status) == rows[i].code, "%zu: %d", i, status);
        look(terminal);
        CHECK(is_as_before(terminal));
        /* What it complains of is on the page that stays. */
        const char *back = strstr(seen, "\033[?1049l");
        if (rows[i].daemon_goes) CHECK_MSG(strstr(back, "diurnal: http://"), "it shows: %s", back);
        (void)close(terminal);
    }
}

TEST(top_says_it_once_at_a_terminal_that_cannot_be_drawn_at) {
    static const char *const terms[] = {"dumb", "", NULL};
    place                   *p = served();
    int                      terminal, status;

    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++) {
        CHECK((terms[i] ? setenv("TERM", terms[i], 1) : unsetenv("TERM")) == 0);
        forget();
        const pid_t top = place_begin_at_terminal(p, ARGS("top"), 24, 80, &terminal);
        WAIT_FOR((look(terminal), waitpid(top, &status, WNOHANG) == top), 20000);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        look(terminal);
        CHECK(strstr(seen, "ACTOR"));
        CHECK_MSG(!strchr(seen, '\033'), "it shows: %s", seen);
        (void)close(terminal);
    }
    stops(p);
}

/* It waits for an answer then, and for nothing else. */
TEST(top_is_ended_also_while_the_daemon_does_not_answer) {
    place *p = served();
    int    terminal, status;

    CHECK(setenv("TERM", "xterm", 1) == 0);
    place_signal(p, SIGSTOP);
    forget();
    const pid_t top = place_begin_at_terminal(p, ARGS("top"), 24, 80, &terminal);
    WAIT_FOR((look(terminal), strstr(seen, "\033[?1049h")), 20000);
    CHECK(write(terminal, "\003", 1) == 1);
    WAIT_FOR((look(terminal), strstr(seen, "\033[?1049l")), 20000);
    CHECK(waitpid(top, &status, 0) == top);
    CHECK_MSG(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%d", status);
    look(terminal);
    CHECK_MSG(!strstr(seen, "diurnal: "), "it shows: %s", seen);
    CHECK(is_as_before(terminal));
    (void)close(terminal);
    place_signal(p, SIGCONT);
    stops(p);
}

TEST(an_import_at_a_terminal_shows_how_far_it_is_and_takes_that_away_at_its_end) {
    static const char csv[] = "ada,08:00\nbob,09:00,\ncy,25:00\n";
    place            *p = served();
    const char       *path = place_write(p, "users.csv", csv, sizeof csv - 1);
    int               terminal, status;

    forget();
    const pid_t import =
        place_begin_at_terminal(p, ARGS("users", "import", path), 24, 80, &terminal);
    WAIT_FOR((look(terminal), strstr(seen, "2 users registered, 1 line refused")), 20000);
    CHECK(waitpid(import, &status, 0) == import);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    CHECK_MSG(strstr(seen, "[##############################] 100 %  3 lines \r\033[K"),
              "it shows: %s", seen);
    CHECK(strstr(seen, "users.csv:3: "));
    (void)close(terminal);
    stops(p);
}

TEST(what_is_complained_of_stands_where_the_progress_was) {
    static const char csv[] = "ada,08:00\n";
    place            *p = served();
    const char       *path = place_write(p, "users.csv", csv, sizeof csv - 1);
    int               terminal, status;

    forget();
    CHECK(setenv("DIURNAL_TOKEN", "diurnal_nobody-s", 1) == 0);
    const pid_t import =
        place_begin_at_terminal(p, ARGS("users", "import", path), 24, 80, &terminal);
    WAIT_FOR((look(terminal), strstr(seen, "does not accept the token")), 20000);
    CHECK(waitpid(import, &status, 0) == import);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    CHECK_MSG(strstr(seen, "\r\033[Kdiurnal: "), "it shows: %s", seen);
    (void)close(terminal);
    stops(p);
}

TEST(top_without_a_terminal_says_once_how_it_is) {
    place *p = served();

    CHECK_RUN(p, 0, "top");
    CHECK_SAID("ACTOR");
    CHECK_SAID("executor");
    CHECK(!strchr(place_said(), '\033'));
    CHECK_RUN(p, 0, "top", "--json");
    CHECK_SAID("{\"status\":{");
    CHECK_SAID("\"actors\":{\"items\":[");
    CHECK_RUN(p, 2, "top", "--every", "0");
    stops(p);
}
