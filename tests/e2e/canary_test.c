/* canary_test.c - secrets that can be told apart from everything else are given to a daemon in each way there is, and then looked
 * for in all it says and writes: they are where they were put, and nowhere else. */
#define _GNU_SOURCE /* memmem */
#include "api/token.h"
#include "asking.h"
#include "endpoint.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* "canary of the signing secret" as base64, and more of the kind. */
#define SIGNING  "Y2FuYXJ5IG9mIHRoZSBzaWduaW5nIHNlY3JldA=="
#define PASSWORD "canary-of-a-password"

enum { CANARIES_MAX = 16 };

static struct canary {
    const char *what;
    char        text[160];
} canaries[CANARIES_MAX];
static size_t canaries_len;

static void plant(const char *what, const char *text) {
    CHECK(canaries_len < CANARIES_MAX && strlen(text) >= 16);
    canaries[canaries_len] = (struct canary){.what = what};
    (void)snprintf(canaries[canaries_len++].text, sizeof canaries->text, "%s", text);
}

/* A token without the word that all of them begin with. */
static void plant_token(const char *what, const char *token) {
    static const char begin[] = DN_TOKEN_BEGIN;

    CHECK(strncmp(token, begin, sizeof begin - 1) == 0);
    plant(what, token + sizeof begin - 1);
}

/* The one that is in there; NULL: none. */
static const char *canary_in(const char *bytes, size_t len) {
    for (size_t i = 0; i < canaries_len; i++)
        if (memmem(bytes, len, canaries[i].text, strlen(canaries[i].text))) return canaries[i].what;
    return NULL;
}

static void check_bytes(const char *where, const char *bytes, size_t len) {
    const char *found = canary_in(bytes, len);

    CHECK_MSG(!found, "%s has %s", where, found);
}

/* ---- Files ---- */

static const char *homes[3]; /* the files they were put into; ends with NULL */

static bool is_home(const char *path) {
    for (const char *const *home = homes; *home; home++)
        if (strcmp(path, *home) == 0) return true;
    return false;
}

static int look_into(const char *path, const struct stat *about, int type, struct FTW *at) {
    (void)at;
    if (type != FTW_F || about->st_size == 0) return 0;
    char     *bytes = malloc((size_t)about->st_size);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    CHECK(bytes && fd >= 0);
    const ssize_t len = read(fd, bytes, (size_t)about->st_size);
    CHECK(len >= 0);
    if (is_home(path)) CHECK_MSG(canary_in(bytes, (size_t)len), "%s has none", path);
    else check_bytes(path, bytes, (size_t)len);
    (void)close(fd);
    free(bytes);
    return 0;
}

/* What `ps` shows of it. */
static void look_at_arguments(const place *p) {
    char    path[64], bytes[8192];
    ssize_t len;

    (void)snprintf(path, sizeof path, "/proc/%d/cmdline", (int)p->daemon);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    CHECK(fd >= 0);
    len = read(fd, bytes, sizeof bytes);
    CHECK(len > 0);
    check_bytes(path, bytes, (size_t)len);
    (void)close(fd);
}

/* ---- Answers ---- */

/* An answer has it only if it is the one that is to show it. */
static void look_at_answer(const char *where) { check_bytes(where, answer, strlen(answer)); }

static void asks_with_canaries(const place *p) {
    static const char fields[] =
        "X-Password: " PASSWORD "\r\nCookie: diurnal_session_1440=" PASSWORD "; other=" PASSWORD
        "\r\nIdempotency-Key: " PASSWORD "\r\nProxy-Authorization: Basic " PASSWORD "\r\n"
        "Last-Event-ID: " PASSWORD "\r\nIf-None-Match: \"" PASSWORD "\"\r\n";
    static const char body[] = "{\"token\":\"" PASSWORD "\",\"name\":\"" PASSWORD "\"}";
    static const struct {
        const char *method, *path, *body;
    } rows[] = {
        {"GET", "/api/v1/status", NULL},
        {"GET", "/api/v1/status?token=" PASSWORD, NULL},
        {"GET", "/api/v1/daily/users?limit=" PASSWORD, NULL},
        {"GET", "/nowhere", NULL},
        {"PATCH", "/api/v1/status", NULL},
        {"POST", "/api/v1/session", body},
        {"POST", "/api/v1/tokens", body},
        {"PUT", "/api/v1/daily/users/ada", body},
        {"POST", "/api/v1/daily/users:import", body},
        {"DELETE", "/api/v1/tokens/7", NULL},
        {"HEAD", "/api/v1/events", NULL},
    };
    static const char *const tokens[] = {NULL, PASSWORD, DN_TOKEN_BEGIN PASSWORD, admin};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t t = 0; t < sizeof tokens / sizeof *tokens; t++) {
            (void)asks_whole(p, rows[i].method, rows[i].path, tokens[t], fields, rows[i].body,
                             rows[i].body ? strlen(rows[i].body) : 0);
            look_at_answer(rows[i].path);
        }
}

static void look_at_pages(const place *p) {
    static const char *const paths[] = {"/metrics",
                                        "/healthz",
                                        "/readyz?verbose",
                                        "/api/v1/status",
                                        "/api/v1/config",
                                        "/api/v1/actors",
                                        "/api/v1/tokens",
                                        "/api/v1/session",
                                        "/api/v1/daily/today",
                                        "/api/v1/openapi.json"};

    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        CHECK_ASKS(p, 200, "GET", paths[i], NULL);
        look_at_answer(paths[i]);
    }
}

/* ---- All of it ---- */

static void makes_secrets(const place *p) {
    char token[128], id[32], body[256], cookie[128];

    plant_token("the first token", admin);
    makes_token(p, "read", NULL, token, id);
    plant_token("a token that was made", token);
    CHECK_ASKS(p, 201, "POST", "/api/v1/tickets", NULL);
    plant_token("a ticket", member("ticket"));
    (void)snprintf(body, sizeof body, "{\"token\":\"%s\"}", member("ticket"));
    CHECK_INT(asks_whole(p, "POST", "/api/v1/session", NULL, "X-Diurnal-Request: 1\r\n", body,
                         strlen(body)),
              200);
    (void)snprintf(cookie, sizeof cookie, "%s", answer_field("Set-Cookie"));
    cookie[strcspn(cookie, ";")] = '\0';
    plant_token("a session", strchr(cookie, '=') + 1);
}

TEST(no_secret_is_anywhere_but_where_it_was_put) {
    char      secrets[PLACE_PATH], token_file[PLACE_PATH + 32], runner[128], due[8], body[64];
    place    *p = place_new(NULL);
    endpoint *e = endpoint_new();

    (void)snprintf(secrets, sizeof secrets, "%s",
                   place_write(p, "secrets", "whsec_" SIGNING "\n", 6 + sizeof SIGNING));
    CHECK_INT(chmod(secrets, 0600), 0);
    (void)snprintf(runner, sizeof runner, "--runner=http://127.0.0.1:%d/daily?key=" PASSWORD,
                   e->port);
    (void)snprintf(token_file, sizeof token_file, "%s/admin.token", p->data);
    homes[0] = secrets;
    homes[1] = token_file;
    plant("the signing secret", SIGNING);
    plant("the signing secret's bytes", "canary of the signing secret");
    plant("a password", PASSWORD);

    /* It is set by the environment, as a URL with a password may not be an argument. */
    CHECK_INT(setenv("DIURNAL_RUNNER", runner + strlen("--runner="), 1), 0);
    serves_with(p, ARGS("--secret-file", secrets, "--tick-ms=20", "--log-level=debug"));
    makes_secrets(p);
    asks_with_canaries(p);
    /* Jobs that are signed, and some that fail. */
    atomic_store(&e->fail_permille, 500);
    (void)snprintf(body, sizeof body, "{\"due\":\"%s\",\"starts_on\":\"today\"}", due_in(30, due));
    for (int i = 0; i < 8; i++) {
        char path[64];
        (void)snprintf(path, sizeof path, "/api/v1/daily/users/u%d", i);
        CHECK_ASKS(p, 201, "PUT", path, body);
    }
    WAIT_FOR(atomic_load(&e->requests) >= 8, 20000);
    look_at_pages(p);
    look_at_arguments(p);
    CHECK_INT(nftw(p->dir, look_into, 16, FTW_PHYS), 0);
    stops(p);
    CHECK_INT(nftw(p->dir, look_into, 16, FTW_PHYS), 0);
}
