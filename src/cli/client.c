/* client.c - see client.h. */
#include "client.h"

#include "api/control.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    CODE = 32,
    LINE_AT_FIRST = 4096,
    ANSWER_MS = 90 * 1000,
    FRESH_SECONDS = 30, /* the daemon ends a connection that says nothing for a minute */
};

struct client {
    int    fd;
    char  *line; /* the last answer */
    size_t line_cap;
    char   code[CODE];
    char  *data;
    time_t asked_at; /* CLOCK_MONOTONIC, in seconds */
    int    until;    /* see client_waits_until; -1: no such */
};

static void hang_up(client *c) {
    if (c->fd >= 0) (void)close(c->fd);
    c->fd = -1;
}

void client_free(client *c) {
    if (!c) return;
    hang_up(c);
    free(c->line);
    free(c->data);
    free(c);
}

static int connect_to(client *c, const char *data, char *why) {
    struct sockaddr_un address;
    int                dir = -1;

    if (dn_control_address(data, &address, &dir) < 0) return DN_EDEAD;
    c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int failed =
        c->fd < 0 || connect(c->fd, (const struct sockaddr *)&address, sizeof address);
    const int code = errno;
    if (dir >= 0) (void)close(dir);
    if (!failed) return DN_OK;
    if (code == ENOENT || code == ECONNREFUSED || code == ENOTDIR) return DN_EDEAD;
    (void)snprintf(why, CLIENT_WHY, "%s: the daemon there cannot be asked: %s%s", data,
                   strerror(code), code == EACCES ? "; only the user it runs as may" : "");
    return DN_EIO;
}

static time_t now_s(void) {
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec;
}

static int dial(client *c, char *why) {
    const struct timeval patience = {.tv_sec = ANSWER_MS / 1000};
    const int            rc = connect_to(c, c->data, why);

    if (rc < 0) return rc;
    (void)setsockopt(c->fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    c->asked_at = now_s();
    return DN_OK;
}

int client_connect(const char *data, client **out_client, char *why) {
    client *c = calloc(1, sizeof *c);

    if (!c) return DN_ENOMEM;
    c->fd = -1;
    c->until = -1;
    c->data = strdup(data);
    const int rc = c->data ? dial(c, why) : DN_ENOMEM;
    if (rc == DN_OK) *out_client = c;
    else client_free(c);
    return rc;
}

/* Who reads a slow file asks so seldom that the daemon may have hung up. */
static bool still_there(client *c) {
    char why[CLIENT_WHY];

    if (now_s() - c->asked_at < FRESH_SECONDS) return true;
    hang_up(c);
    return dial(c, why) == DN_OK;
}

client *client_of(const call *c, int *out_exit) {
    char    why[CLIENT_WHY] = "";
    client *made = NULL, *demo = NULL;
    int     rc = client_connect(c->settings->data, &made, why);

    if (rc == DN_OK) return made;
    *out_exit = DN_EXIT_FAILED;
    if (rc != DN_EDEAD) {
        (void)complain(DN_EXIT_FAILED, "%s", *why ? why : dn_error_text(rc));
    } else if (c->settings->sources[DN_SETTING_data].from == DN_FROM_DEFAULT &&
               client_connect("./diurnal-demo", &demo, why) == DN_OK) {
        client_free(demo);
        (void)complain(DN_EXIT_FAILED,
                       "no daemon runs in %s, but a demo does: add --data ./diurnal-demo",
                       c->settings->data);
    } else {
        (void)complain(DN_EXIT_FAILED,
                       "no daemon runs in %s: start it with diurnal serve, or name another --data",
                       c->settings->data);
    }
    return NULL;
}

/* ---- Asking ---- */

static bool put_all(int fd, const char *bytes, size_t len) {
    while (len > 0) {
        const ssize_t put = send(fd, bytes, len, MSG_NOSIGNAL);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        bytes += put;
        len -= (size_t)put;
    }
    return true;
}

static bool put_line(client *c, json_t *request) {
    char *text = request ? json_dumps(request, JSON_COMPACT) : NULL;
    bool  put = false;

    json_decref(request);
    if (text) put = put_all(c->fd, text, strlen(text)) && put_all(c->fd, "\n", 1);
    free(text);
    return put;
}

static bool has_room(client *c, size_t len) {
    if (len < c->line_cap) return true;
    const size_t cap = c->line_cap ? 2 * c->line_cap : LINE_AT_FIRST;
    char        *grown = realloc(c->line, cap);

    if (!grown) return false;
    c->line = grown;
    c->line_cap = cap;
    return true;
}

/* Until there is something to read; false, with the reason in errno, if what it is not to outlive came first. */
static bool wait_for_answer(const client *c, int patience_ms) {
    struct pollfd both[] = {{.fd = c->fd, .events = POLLIN}, {.fd = c->until, .events = POLLIN}};

    for (;;) {
        const int ready = poll(both, sizeof both / sizeof both[0], patience_ms);
        if (ready < 0 && errno == EINTR) continue;
        if (ready > 0 && !both[1].revents) return true;
        if (ready == 0) errno = EAGAIN;
        else if (ready > 0) errno = EINTR;
        return false;
    }
}

/* One answer to one question: what follows a line is nothing. The length without its end; -1 if it did not come. */
static ssize_t get_line(client *c, int patience_ms) {
    size_t len = 0;

    for (;;) {
        if (!has_room(c, len) || !wait_for_answer(c, patience_ms)) return -1;
        const ssize_t got = recv(c->fd, c->line + len, c->line_cap - len, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return -1;
        const char *end = memchr(c->line + len, '\n', (size_t)got);
        if (end) return end - c->line;
        len += (size_t)got;
    }
}

/* A copy of a large store takes its time; a question does not. */
static bool takes_long(const json_t *request) {
    const char *op = json_string_value(json_object_get(request, "op"));

    return op && strcmp(op, "backup") == 0;
}

static const char *why_no_answer(int code) {
    if (code == EINTR) return "interrupted";
    return code == EAGAIN ? "the daemon does not answer"
                          : "the daemon has gone, or ended the connection";
}

json_t *client_ask_for(client *c, json_t *request, int *out_exit, const char **out_code) {
    const int    patience_ms = takes_long(request) ? -1 : ANSWER_MS;
    json_error_t error;
    ssize_t      len = -1;

    *out_code = "";
    *out_exit = DN_EXIT_FAILED;
    if (!request) {
        *out_exit = complain(DN_EXIT_USAGE, "what was given is not UTF-8");
        return NULL;
    }
    errno = 0;
    if (still_there(c)) {
        if (put_line(c, request)) len = get_line(c, patience_ms);
        c->asked_at = now_s();
    } else json_decref(request);
    if (len <= 0) {
        (void)complain(DN_EXIT_FAILED, "%s", why_no_answer(errno));
        return NULL;
    }
    json_t *answer = json_loadb(c->line, (size_t)len, JSON_REJECT_DUPLICATES, &error);
    if (!answer) {
        (void)complain(DN_EXIT_FAILED, "the daemon's answer is no JSON: %s", error.text);
        return NULL;
    }
    const char *why = json_string_value(json_object_get(answer, "error"));
    if (!why) return answer;
    const char *code = json_string_value(json_object_get(answer, "code"));
    (void)snprintf(c->code, sizeof c->code, "%s", code ? code : "failed");
    *out_code = c->code;
    if (strcmp(c->code, "invalid") == 0) *out_exit = DN_EXIT_USAGE;
    (void)complain(*out_exit, "%s", why);
    json_decref(answer);
    return NULL;
}

json_t *client_ask(client *c, json_t *request, int *out_exit) {
    const char *code;

    return client_ask_for(c, request, out_exit, &code);
}

int client_backup(client *c, const char *path) {
    char here[4096] = "", whole[8192];
    int  exit_code;

    if (*path != '/' && !getcwd(here, sizeof here))
        return complain(DN_EXIT_FAILED, "where is this? name FILE from / on");
    (void)snprintf(whole, sizeof whole, "%s%s%s", here, *here ? "/" : "", path);
    json_t *answer =
        client_ask(c, json_pack("{s:s, s:s}", "op", "backup", "path", whole), &exit_code);
    if (!answer) return exit_code;
    json_decref(answer);
    return DN_EXIT_DONE;
}

void client_waits_until(client *c, int fd) { c->until = fd; }
