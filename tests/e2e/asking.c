/* asking.c - see asking.h. */
#include "asking.h"

#include "api/token.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

enum { REQUEST_MAX = 1 << 21 };

char        admin[128];
const char *answer;
json_t     *said;

static void admin_of(const place *p) {
    char path[PLACE_PATH + 32];

    (void)snprintf(path, sizeof path, "%s/admin.token", p->data);
    (void)snprintf(admin, sizeof admin, "%.100s", place_read(path));
    CHECK_UINT(strlen(admin), DN_TOKEN_TEXT);
    admin[DN_TOKEN_TEXT - 1] = '\0';
}

void serves_with(place *p, const char *const *args) {
    place_serve(p, args);
    admin_of(p);
}

place *serves(void) {
    place *p = place_new(NULL);

    serves_with(p, ARGS("--runner", "exec:/bin/true", "--tick-ms=20"));
    return p;
}

void stops(place *p) {
    place_signal(p, SIGTERM);
    CHECK_INT(place_wait(p), 0);
}

static void read_answer(const char *request) {
    const char *body = strstr(answer, "\r\n\r\n");

    json_decref(DN_TAKE(said));
    CHECK_MSG(strncmp(answer, "HTTP/1.1 ", 9) == 0 && body, "%.200s is answered: %s", request,
              answer);
    if (strstr(answer, "json\r\n") && body[4] && !answer_field("Content-Encoding")) {
        said = json_loads(body + 4, JSON_REJECT_DUPLICATES, NULL);
        CHECK_MSG(said, "it is: %s", answer);
    }
}

int asks_whole(const place *p, const char *method, const char *path, const char *token,
               const char *fields, const char *body, size_t body_len) {
    static char request[REQUEST_MAX];
    int         len = snprintf(request, sizeof request,
                               "%s %s HTTP/1.1\r\nHost: localhost:%u\r\nConnection: close\r\n%s", method,
                               path, (unsigned)place_port(p), fields);

    if (token)
        len += snprintf(request + len, sizeof request - (size_t)len, "Authorization: Bearer %s\r\n",
                        token);
    if (body && !strstr(fields, "Transfer-Encoding"))
        len += snprintf(request + len, sizeof request - (size_t)len, "Content-Length: %zu\r\n",
                        body_len);
    len += snprintf(request + len, sizeof request - (size_t)len, "\r\n");
    CHECK((size_t)len + body_len < sizeof request);
    if (body) memcpy(request + len, body, body_len);
    answer = place_asks(p, request, (size_t)len + (body ? body_len : 0));
    read_answer(request);
    return (int)strtol(answer + 9, NULL, 10);
}

int asks_len(const place *p, const char *method, const char *path, const char *token,
             const char *body, size_t body_len) {
    return asks_whole(p, method, path, token, "", body, body_len);
}

int asks(const place *p, const char *method, const char *path, const char *body) {
    return asks_len(p, method, path, admin, body, body ? strlen(body) : 0);
}

const char *answer_field(const char *name) {
    static char  value[512];
    const size_t len = strlen(name);

    for (const char *at = strstr(answer, "\r\n"), *end = strstr(answer, "\r\n\r\n"); at < end;
         at = strstr(at + 2, "\r\n")) {
        if (strncasecmp(at + 2, name, len) != 0 || at[2 + len] != ':') continue;
        at += 2 + len + 1;
        at += strspn(at, " ");
        (void)snprintf(value, sizeof value, "%.*s", (int)strcspn(at, "\r"), at);
        return value;
    }
    return NULL;
}

const char *member(const char *path) {
    static char   text[4096];
    const json_t *at = said;
    char          copy[128];

    (void)snprintf(copy, sizeof copy, "%s", path);
    for (char *key = strtok(copy, "."); key; key = strtok(NULL, "."))
        at = json_is_array(at) ? json_array_get(at, strtoul(key, NULL, 10))
                               : json_object_get(at, key);
    if (json_is_string(at)) return json_string_value(at);
    char *dumped = json_dumps(at, JSON_ENCODE_ANY | JSON_COMPACT);
    (void)snprintf(text, sizeof text, "%s", dumped ? dumped : "(nothing)");
    free(dumped);
    return text;
}

void makes_token(const place *p, const char *scope, const char *expires_at, char token[128],
                 char id[32]) {
    char body[256];

    (void)snprintf(body, sizeof body, "{\"name\":\"t\",\"scope\":\"%s\"%s%s%s}", scope,
                   expires_at ? ",\"expires_at\":\"" : "", expires_at ? expires_at : "",
                   expires_at ? "\"" : "");
    CHECK_ASKS(p, 201, "POST", "/api/v1/tokens", body);
    (void)snprintf(token, 128, "%s", member("token"));
    (void)snprintf(id, 32, "%s", member("id"));
}
