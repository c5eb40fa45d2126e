/* client.c - see client.h. */
#include "client.h"

#include "target.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH = 2048, NOTHING_TO_SAY = 204 };

struct client {
    target target;
    wire  *wire;
    int    status;
    bool   ends_silently, json; /* json: answers are printed as JSON, unchanged */
    char   path[PATH];
};

void client_free(client *c) {
    if (!c) return;
    wire_free(c->wire);
    free(c);
}

int client_new(const call *c, client **out_client, char *why) {
    client *made = calloc(1, sizeof *made);
    int     rc = DN_ENOMEM;

    if (made) made->json = c->json;
    if (made) rc = target_find(c, &made->target, why);
    if (rc == DN_OK) {
        const target     *t = &made->target;
        const wire_config config = {
            .url = t->url, .token = t->token, .ca = t->ca, .pin = *t->pin ? t->pin : NULL};
        rc = wire_new(&config, &made->wire);
    }
    if (rc == DN_ENOMEM) (void)snprintf(why, CLIENT_WHY, "out of memory");
    if (rc == DN_OK) *out_client = made;
    else client_free(made);
    return rc;
}

client *client_of(const call *c, int *out_exit) {
    char    why[CLIENT_WHY];
    client *made = NULL;

    const int rc = client_new(c, &made, why);
    if (rc == DN_OK) return made;
    *out_exit = complain(rc == DN_EINVAL ? DN_EXIT_USAGE : DN_EXIT_FAILED, "%s", why);
    return NULL;
}

int         client_status(const client *c) { return c->status; }
const char *client_url(const client *c) { return c->target.url; }

void client_waits_until(client *c, int fd, bool silently) {
    c->ends_silently = silently;
    wire_waits_until(c->wire, fd);
}

/* ---- Paths ---- */

static bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '~';
}

/* Encodes dots too, because proxies would normalize "/../". False: the path is too long. */
static bool put_encoded(char *out, size_t *len, const char *text) {
    for (; *text; text++) {
        if (*len + 4 > PATH) return false;
        if (is_plain(*text)) out[(*len)++] = *text;
        else *len += (size_t)sprintf(out + *len, "%%%02X", (unsigned char)*text);
    }
    out[*len] = '\0';
    return true;
}

const char *client_path(client *c, const char *before, const char *id, const char *behind) {
    size_t len = (size_t)snprintf(c->path, sizeof c->path, "%s", before);

    (void)put_encoded(c->path, &len,
                      id); /* an id that is cut off here is still too long for the daemon */
    (void)snprintf(c->path + len, sizeof c->path - len, "%s", behind);
    return c->path;
}

/* False: the query is too long. */
static bool put_query(char out[PATH], const char *path, const json_t *query) {
    size_t      len = (size_t)snprintf(out, PATH, "%s", path);
    const char *key;
    json_t     *value;
    char        sign = '?';

    json_object_foreach((json_t *)query, key, value) {
        char number[32];
        if (json_is_null(value)) continue;
        (void)snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        if (len + strlen(key) + 8 > PATH) return false;
        len += (size_t)sprintf(out + len, "%c%s=", sign, key);
        sign = '&';
        if (!put_encoded(out, &len, json_is_string(value) ? json_string_value(value) : number))
            return false;
    }
    return true;
}

/* ---- Answers ---- */

static int exit_of_status(int status) {
    switch (status) {
    case 400:
    case 413:
    case 414:
    case 431: return DN_EXIT_USAGE;
    default: return DN_EXIT_FAILED;
    }
}

/* C0, DEL, and in UTF-8 the two bytes of C1. */
static bool is_control(const unsigned char *at) {
    return *at < ' ' || *at == 0x7f || (*at == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0);
}

static void text_make_printable(json_t *text) {
    const size_t len = json_string_length(text);
    char        *copy = malloc(len + 1);
    bool         same = true;

    if (copy) memcpy(copy, json_string_value(text), len + 1);
    for (size_t i = 0; copy && i < len; i++) {
        if (!is_control((const unsigned char *)copy + i)) continue;
        same = false;
        if ((unsigned char)copy[i] == 0xc2) copy[i + 1] = '?';
        copy[i] = '?';
    }
    if (!copy) (void)json_string_set(text, "out of memory");
    else if (!same) (void)json_string_setn(text, copy, len);
    free(copy);
}

/* The server may not be a daemon, so no control character of its answer may reach a terminal. */
static void make_printable(json_t *value) {
    const char *key;
    json_t     *member;
    size_t      i;

    if (json_is_string(value)) text_make_printable(value);
    json_object_foreach(value, key, member) make_printable(member);
    json_array_foreach(value, i, member) make_printable(member);
}

/* Prints a problem document as one line. */
static int refused(const client *c, const json_t *problem) {
    const char *detail = json_string_value(json_object_get(problem, "detail"));

    if (c->status == 401)
        return complain(DN_EXIT_FAILED,
                        "%s does not accept the token from %s: it expired, was revoked or belongs "
                        "to another daemon; diurnal token create makes one",
                        c->target.url, c->target.token_from);
    if (detail) return complain(exit_of_status(c->status), "%s", detail);
    return complain(DN_EXIT_FAILED,
                    "%s answered %d and is not a diurnal daemon; name another --url", c->target.url,
                    c->status);
}

static bool is_good(const wire_answer *answer) {
    return answer->status >= 200 && answer->status < 300;
}

/* Any server may answer 200, so the wanted member must be there too. */
static bool is_wanted(const wire_answer *answer, const json_t *said, const char *wanted) {
    if (!wanted) return answer->status == NOTHING_TO_SAY;
    return is_good(answer) && json_object_get(said, wanted);
}

/* NULL: the error is printed. */
static json_t *json_of(client *c, const wire_answer *answer, const char *wanted, int *out_exit) {
    json_error_t error;

    c->status = answer->status;
    *out_exit = DN_EXIT_FAILED;
    json_t    *said = answer->status == NOTHING_TO_SAY
                          ? json_object()
                          : json_loadb(answer->bytes, answer->len, JSON_REJECT_DUPLICATES, &error);
    const bool is_answer = is_wanted(answer, said, wanted);
    if (!is_answer || !c->json) make_printable(said);
    if (is_answer) return said;
    if (is_good(answer))
        *out_exit = complain(DN_EXIT_FAILED,
                             "%s answered, but not like a diurnal daemon; name another --url",
                             c->target.url);
    else *out_exit = refused(c, said);
    json_decref(said);
    return NULL;
}

static json_t *ask(client *c, const char *method, const char *path, const wire_body *body,
                   const char *wanted, wire_patience patience, int *out_exit) {
    char        why[WIRE_WHY];
    wire_answer answer;

    const int rc = wire_ask(c->wire, method, path, body, patience, &answer, why);
    if (rc == DN_OK) return json_of(c, &answer, wanted, out_exit);
    *out_exit = DN_EXIT_DONE;
    if (rc == DN_ESHUTDOWN && c->ends_silently) return NULL;
    *out_exit = complain(rc == DN_EINVAL ? DN_EXIT_USAGE : DN_EXIT_FAILED, "%s", why);
    return NULL;
}

static json_t *not_utf8(int *out_exit) {
    *out_exit = complain(DN_EXIT_USAGE, "an argument is not UTF-8");
    return NULL;
}

json_t *client_get(client *c, const char *path, json_t *query, const char *wanted, int *out_exit) {
    char whole[PATH];

    if (!query) return not_utf8(out_exit);
    const bool fits = put_query(whole, path, query);
    json_decref(query);
    if (fits) return ask(c, "GET", whole, NULL, wanted, WIRE_AS_USUAL, out_exit);
    *out_exit = complain(DN_EXIT_USAGE, "the request is too long");
    return NULL;
}

static json_t *send_json(client *c, const char *method, const char *path, json_t *body,
                         const char *wanted, wire_patience patience, int *out_exit) {
    char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;

    json_decref(body);
    if (!text) return not_utf8(out_exit);
    const wire_body sent = {.type = "application/json", .bytes = text, .len = strlen(text)};
    json_t *const   answer = ask(c, method, path, &sent, wanted, patience, out_exit);
    free(text);
    return answer;
}

json_t *client_send(client *c, const char *method, const char *path, json_t *body,
                    const char *wanted, int *out_exit) {
    return send_json(c, method, path, body, wanted, WIRE_AS_USUAL, out_exit);
}

json_t *client_call(client *c, const char *method, const char *path, const char *wanted,
                    int *out_exit) {
    return ask(c, method, path, NULL, wanted, WIRE_AS_USUAL, out_exit);
}

json_t *client_upload(client *c, const char *path, const wire_body *body, const char *wanted,
                      int *out_exit) {
    return ask(c, "POST", path, body, wanted, WIRE_AS_USUAL, out_exit);
}

/* Copying a large store may take long, so there is no timeout. */
int client_backup(client *c, const char *path) {
    char here[4096] = "", whole[8192];
    int  exit_code;

    if (*path != '/' && c->target.is_named)
        return complain(DN_EXIT_USAGE,
                        "%s: the daemon at %s writes the file itself; name an absolute path", path,
                        c->target.url);
    if (*path != '/' && !getcwd(here, sizeof here))
        return complain(DN_EXIT_FAILED,
                        "the working directory is unknown; name FILE by an absolute path");
    (void)snprintf(whole, sizeof whole, "%s%s%s", here, *here ? "/" : "", path);
    json_t *answer = send_json(c, "POST", "/api/v1/backup", json_pack("{s:s}", "path", whole),
                               "path", WIRE_FOR_EVER, &exit_code);
    if (!answer) return exit_code;
    json_decref(answer);
    return DN_EXIT_DONE;
}

/* ---- A copy of the store ---- */

/* Fetches a piece of the copy, valid until the next request. */
static int get_piece(client *c, json_int_t copy, json_int_t offset, wire_answer *out) {
    char path[PATH], why[WIRE_WHY];
    int  exit_code;

    (void)snprintf(path, sizeof path,
                   "/api/v1/backup/copies/%" JSON_INTEGER_FORMAT "?offset=%" JSON_INTEGER_FORMAT,
                   copy, offset);
    if (wire_ask(c->wire, "GET", path, NULL, WIRE_AS_USUAL, out, why) < 0)
        return complain(DN_EXIT_FAILED, "%s", why);
    if (is_good(out)) return DN_EXIT_DONE;
    json_decref(json_of(c, out, "", &exit_code));
    return exit_code;
}

static bool write_all(int fd, const char *bytes, size_t len) {
    while (len > 0) {
        const ssize_t put = write(fd, bytes, len);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return false;
        bytes += put;
        len -= (size_t)put;
    }
    return true;
}

int client_copy(client *c, int fd) {
    int     exit_code;
    json_t *made = ask(c, "POST", "/api/v1/backup/copies", NULL, "copy", WIRE_FOR_EVER, &exit_code);

    if (!made) return exit_code;
    const json_int_t copy = json_integer_value(json_object_get(made, "copy"));
    const json_int_t bytes = json_integer_value(json_object_get(made, "bytes"));
    json_decref(made);
    for (json_int_t at = 0; at < bytes;) {
        wire_answer piece;
        exit_code = get_piece(c, copy, at, &piece);
        if (exit_code != DN_EXIT_DONE) return exit_code;
        at += (json_int_t)piece.len;
        if (piece.len == 0 || at > bytes)
            return complain(DN_EXIT_FAILED, "%s sent a copy of the wrong length; try again",
                            c->target.url);
        if (!write_all(fd, piece.bytes, piece.len))
            return complain(DN_EXIT_FAILED, "cannot write the copy: %s", strerror(errno));
    }
    return DN_EXIT_DONE;
}
