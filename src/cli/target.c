/* target.c - see target.h. */
#include "target.h"

#include "admin_token.h"
#include "cli_text.h"
#include "settings.h"
#include "store/store.h"
#include "wire.h"

#include "api/token.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEMO_DATA "./diurnal-demo"

/* is_heeded: the command reads the variable. */
static const char *given(const call *c, const char *flag, const char *variable, bool is_heeded) {
    const char *value = flag ? call_flag(c, flag) : NULL;

    if (!value && variable && is_heeded) value = call_variable(c, variable);
    return value && *value ? value : NULL;
}

static dn_setting_from data_from(const call *c) {
    return c->settings->sources[DN_SETTING_data].from;
}

/* A flag comes before the environment, even if the flag names a directory and the variable a URL. */
const char *target_named(const call *c) {
    return given(c, "url", "DIURNAL_URL", c->command->asks && data_from(c) != DN_FROM_FLAG);
}

/* ---- The token ---- */

/* The token goes into a request header. Accept only the characters of a token and its prefix, so that no other secret or
 * file is sent by mistake. */
static bool is_token(const char *text) {
    if (strncmp(text, DN_TOKEN_BEGIN, sizeof DN_TOKEN_BEGIN - 1) != 0) return false;
    for (const char *at = text; *at; at++)
        if (*at <= ' ' || *at >= 0x7f) return false;
    return strlen(text) < TARGET_TOKEN;
}

static int token_is(target *t, const char *text, const char *from, char *why) {
    if (!is_token(text))
        return dn_refuse(DN_EINVAL, why, TARGET_WHY,
                         "%s has no token; put the line there that diurnal token create prints",
                         from);
    (void)snprintf(t->token, sizeof t->token, "%s", text);
    (void)snprintf(t->token_from, sizeof t->token_from, "%s", from);
    return DN_OK;
}

static int token_of_file(target *t, const char *path, char *why) {
    char        line[TARGET_TOKEN + 2] = "";
    const char *fault = NULL;
    FILE       *file = NULL;

    if (text_open(path, &file, &fault) < 0)
        return dn_refuse(DN_EINVAL, why, TARGET_WHY, "%s: %s", path,
                         fault ? fault : "out of memory");
    if (!fgets(line, sizeof line, file)) line[0] = '\0';
    (void)fclose(file);
    line[strcspn(line, "\r\n")] = '\0';
    return token_is(t, line, path, why);
}

/* For free(). */
static char *admin_path_copy(const call *c) {
    const size_t len = strlen(c->settings->data) + sizeof "/" ADMIN_TOKEN_FILE;
    char        *path = malloc(len);

    if (path) (void)snprintf(path, len, "%s/" ADMIN_TOKEN_FILE, c->settings->data);
    return path;
}

/* Reads the token that the daemon wrote at its first start. */
static int token_of_data(const call *c, target *t, char *why) {
    char *path = admin_path_copy(c);
    int   rc = path ? token_of_file(t, path, why) : DN_ENOMEM;

    if (rc == DN_EINVAL) {
        char so_far[TARGET_WHY];
        (void)snprintf(so_far, sizeof so_far, "%s", why);
        rc = dn_refuse(DN_EIO, why, TARGET_WHY,
                       "%.600s; ask the operator of the daemon for a token, and put it into "
                       "DIURNAL_TOKEN or a file for --token-file",
                       so_far);
    }
    free(path);
    return rc;
}

/* DN_EDEAD: no token was given. */
static int token_given(const call *c, target *t, char *why) {
    const char *path = given(c, "token-file", NULL, false),
               *token = given(c, NULL, "DIURNAL_TOKEN", c->command->asks || c->command->asks_here);

    if (path) return token_of_file(t, path, why);
    return token ? token_is(t, token, "DIURNAL_TOKEN", why) : DN_EDEAD;
}

/* ---- The address ---- */

static bool data_is_named(const call *c) { return data_from(c) != DN_FROM_DEFAULT; }

static bool runs_in(const char *data) {
    const dn_data_url url = dn_data_url_of(data);
    char              why[DN_STORE_WHY];
    dn_store_hold     hold;

    return dn_store_held(url.text, &hold, why) == DN_OK && hold.held;
}

/* A default directory may belong to anybody, as in /tmp; a named directory is trusted if its owner wrote the file. */
static bool is_trusted(const call *c, uint32_t owner) {
    struct stat about;

    if (owner == geteuid() || owner == 0) return true;
    return data_is_named(c) && stat(c->settings->data, &about) == 0 && owner == about.st_uid;
}

static int refuse_stranger(const call *c, const char *file, uint32_t owner, char *why) {
    return dn_refuse(DN_EIO, why, TARGET_WHY,
                     "%.600s/%s belongs to another user (uid %u); to trust that daemon, name the "
                     "directory with --data or the daemon with --url",
                     c->settings->data, file, owner);
}

static int nobody_runs(const call *c, char *why) {
    const char *data = c->settings->data;

    if (!data_is_named(c) && runs_in(DEMO_DATA))
        return dn_refuse(DN_EDEAD, why, TARGET_WHY,
                         "no daemon runs in %s, but a demo does; add --data " DEMO_DATA, data);
    return dn_refuse(
        DN_EDEAD, why, TARGET_WHY,
        "no daemon runs in %s; start one with diurnal serve, or name another --data or --url",
        data);
}

/* The address of the daemon of the data directory. DN_EDEAD: none runs. */
static int address_of_data(const call *c, target *t, char *why) {
    const char       *data = c->settings->data;
    const dn_data_url url = dn_data_url_of(data);
    char              store_why[DN_STORE_WHY];
    url_file          at = {.url = ""};
    dn_store_hold     hold;

    if (dn_store_held(url.text, &hold, store_why) < 0)
        return dn_refuse(
            DN_EIO, why, TARGET_WHY,
            "%s; ask the operator of the daemon for a token, and name the daemon with --url",
            store_why);
    if (!hold.held) return nobody_runs(c, why);
    if (!is_trusted(c, hold.owner)) return refuse_stranger(c, "lock", hold.owner, why);
    const int rc = url_file_get(data, &at, why);
    if (rc == DN_OK && !is_trusted(c, at.owner)) return refuse_stranger(c, "url", at.owner, why);
    if (rc == DN_EDEAD || (rc == DN_OK && (!*hold.sign || strcmp(hold.sign, at.sign) != 0)))
        return dn_refuse(DN_EIO, why, TARGET_WHY,
                         "%s is in use by a process without an address; it may still be starting, "
                         "else name its --url",
                         data);
    if (rc < 0) return rc;
    memcpy(t->url, at.url, sizeof t->url);
    memcpy(t->pin, at.pin, sizeof t->pin);
    return DN_OK;
}

static int address_named(target *t, const char *url, const char *from, char *why) {
    const char *fault = strlen(url) < sizeof t->url ? wire_url_fault(url) : "is too long";
    char        quoted[DN_TEXT_QUOTED];

    if (fault)
        return dn_refuse(DN_EINVAL, why, TARGET_WHY, "%s: %s %s", from,
                         dn_text_quoted(url, strlen(url), quoted), fault);
    (void)snprintf(t->url, sizeof t->url, "%s", url);
    for (size_t len = strlen(t->url); len > 0 && t->url[len - 1] == '/';) t->url[--len] = '\0';
    t->is_named = true;
    return DN_OK;
}

/* True if the named daemon is that of the directory; then its key is pinned as well. */
static bool is_of_data(const call *c, target *t) {
    target own = {.url = ""};
    char   why[TARGET_WHY];

    if (address_of_data(c, &own, why) < 0 || !wire_url_same(own.url, t->url)) return false;
    memcpy(t->pin, own.pin, sizeof t->pin);
    return true;
}

static int find_named(const call *c, target *t, const char *url, char *why) {
    const char *from = call_flag(c, "url") ? "--url" : "DIURNAL_URL";
    int         rc = address_named(t, url, from, why);

    if (rc == DN_OK) rc = token_given(c, t, why);
    if (rc != DN_EDEAD) return rc;
    if (is_of_data(c, t)) return token_of_data(c, t, why);
    return dn_refuse(DN_EIO, why, TARGET_WHY,
                     "no token for %s; put one into DIURNAL_TOKEN or a file for --token-file (the "
                     "token in %.255s is only for the daemon there)",
                     t->url, c->settings->data);
}

static int find_of_data(const call *c, target *t, char *why) {
    char      token_why[TARGET_WHY];
    int       rc = address_of_data(c, t, why);
    const int given_rc = token_given(c, t, token_why);

    if (given_rc < 0 && given_rc != DN_EDEAD)
        return dn_refuse(given_rc, why, TARGET_WHY, "%s", token_why);
    if (rc == DN_OK) return given_rc == DN_OK ? DN_OK : token_of_data(c, t, why);
    if (rc != DN_EDEAD || data_is_named(c) || given_rc == DN_EDEAD) return rc;
    return address_named(t, TARGET_URL, "", why);
}

int target_find(const call *c, target *out, char *why) {
    const char *url = target_named(c);

    *out = (target){.ca = given(c, "ca", "DIURNAL_CA", c->command->asks)};
    *why = '\0';
    return url ? find_named(c, out, url, why) : find_of_data(c, out, why);
}
