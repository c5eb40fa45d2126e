/* admin_token.c - see admin_token.h. The file is written before the store: a stored token without a file would lock everybody
 * out, while a file whose token is not stored is replaced at the next start. */
#include "admin_token.h"

#include "api/token.h"
#include "base/text.h"
#include "daily/daily_messages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH = 4096 + 32 };

static const char name[] = "admin";

static bool write_all(int fd, const char *text, size_t len) {
    while (len > 0) {
        const ssize_t put = write(fd, text, len);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        text += put;
        len -= (size_t)put;
    }
    return fsync(fd) == 0;
}

static bool sync_dir(const char *data) {
    const int  fd = open(data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool synced = fd >= 0 && fsync(fd) == 0;

    if (fd >= 0) (void)close(fd);
    return synced;
}

/* Writes the file whole or not at all, also if the machine fails meanwhile. */
static bool put_file(const char *data, const char *path, const char *text, size_t len) {
    char fresh[PATH + 8];

    (void)snprintf(fresh, sizeof fresh, "%s.new", path);
    (void)unlink(fresh);
    const int fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    bool      put = fd >= 0 && write_all(fd, text, len);
    if (fd >= 0) put = close(fd) == 0 && put;
    return put && rename(fresh, path) == 0 && sync_dir(data);
}

/* The daemon's own token belongs to no tenant: a tenant may have one of the same name. */
static bool is_own(const dn_token *t) {
    return t->scope == DN_SCOPE_ADMIN && t->tenant_len == 0 && t->name_len == sizeof name - 1 &&
           memcmp(t->name, name, sizeof name - 1) == 0;
}

/* A token is wanted if the store has none, or if it has the daemon's own and the file is missing, as in a data directory
 * restored from a backup: then nobody knows that token. An operator who wants no such token revokes it. */
static int is_wanted(dn_store *store, const char *path, bool *out_wanted, bool *out_older) {
    dn_token *all = calloc(DN_TOKENS_MAX, sizeof *all);
    size_t    len = 0;
    bool      has_own = false;
    const int rc = all ? dn_store_tokens(store, all, DN_TOKENS_MAX, &len) : DN_ENOMEM;

    for (size_t i = 0; i < len; i++) has_own |= is_own(&all[i]);
    *out_wanted = len == 0 || (has_own && len < DN_TOKENS_MAX && access(path, F_OK) < 0);
    *out_older = has_own;
    free(all);
    return rc;
}

static const char *failure(dn_store *store, int rc) {
    const char *damage = dn_store_damage(store);

    return damage ? damage : dn_error_text(rc);
}

int admin_token_make(dn_store *store, const char *data, int64_t now_ms, bool *out_made,
                     bool *out_older, char *why) {
    dn_token        t = {.made_ms = now_ms,
                         .ends_ms = INT64_MAX,
                         .scope = DN_SCOPE_ADMIN,
                         .name_len = sizeof name - 1};
    const dn_write  write = {.op = DN_WRITE_TOKEN_ADD, .token_add = {&t}};
    dn_write_result result;
    char            path[PATH], line[DN_TOKEN_TEXT + 1];
    bool            wanted = false;

    *out_made = *out_older = false;
    (void)snprintf(path, sizeof path, "%s/" ADMIN_TOKEN_FILE, data);
    int rc = is_wanted(store, path, &wanted, out_older);
    if (rc == DN_OK && !wanted) return DN_OK;
    if (rc == DN_OK) rc = dn_token_make(line, t.hash);
    if (rc < 0)
        return dn_refuse(rc, why, ADMIN_TOKEN_WHY, "cannot create the admin token: %s",
                         failure(store, rc));
    memcpy(line + DN_TOKEN_TEXT - 1, "\n", sizeof "\n");
    if (!put_file(data, path, line, DN_TOKEN_TEXT))
        return dn_refuse(DN_EIO, why, ADMIN_TOKEN_WHY, "cannot write %.400s: %s", path,
                         strerror(errno));
    memcpy(t.name, name, sizeof name);
    rc = dn_store_write(store, &write, 1, &result, NULL);
    *out_made = rc == DN_OK;
    if (rc < 0)
        return dn_refuse(rc, why, ADMIN_TOKEN_WHY, "cannot store the admin token: %s",
                         failure(store, rc));
    return rc;
}
