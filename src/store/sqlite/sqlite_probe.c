/* sqlite_probe.c - finds what would keep a store from being opened, without making or writing anything. */
#include "sqlite/sqlite_store.h"

#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The directory does not exist: could it be made? */
static int probe_parent(const char *dir, char *why) {
    char parent[DB_PATH_MAX];

    dir_parent(dir, parent);
    return access(parent, W_OK | X_OK) == 0 ? DN_OK : dir_failed("cannot be created", dir, why);
}

static int probe_dir(const char *dir, bool *out_there, char *why) {
    struct stat found;

    *out_there = stat(dir, &found) == 0;
    if (!*out_there && errno == ENOENT) return probe_parent(dir, why);
    if (!*out_there) return dir_failed("cannot be read", dir, why);
    if (!S_ISDIR(found.st_mode))
        return dn_refuse(DN_EINVAL, why, DN_STORE_WHY, "%s is not a directory; --data needs one",
                         dir);
    if (access(dir, R_OK | W_OK | X_OK) < 0) return dir_failed("cannot be written", dir, why);
    return DN_OK;
}

static int probe_file(const char *path, char *why) {
    if (access(path, R_OK | W_OK) == 0 || errno == ENOENT) return DN_OK;
    return dn_refuse(DN_EIO, why, DN_STORE_WHY, "%s cannot be written: %s", path, strerror(errno));
}

/* Takes the lock and gives it back, to see that no process has it. */
static int probe_lock(const char *dir, char *why) {
    char path[DB_PATH_MAX];
    int  fd = -1;

    (void)snprintf(path, sizeof path, "%s/lock", dir);
    int code = probe_file(path, why);
    if (code == DN_OK) code = dir_lock_take(dir, /* read_only= */ true, &fd, why);
    if (fd >= 0) (void)close(fd);
    return code;
}

int db_probe(const char *dir, const dn_store_config *config, char *why) {
    char    path[DB_PATH_MAX];
    db_look look;
    bool    there = false;

    if (strlen(dir) > DB_PATH_MAX - DB_SUFFIX_ROOM)
        return dn_refuse(DN_EINVAL, why, DN_STORE_WHY,
                         "the path of the data directory is too long");
    (void)snprintf(path, sizeof path, "%s/diurnal.db", dir);
    int code = probe_dir(dir, &there, why);
    if (code < 0 || !there) return code;
    code = probe_lock(dir, why);
    if (code == DN_OK) code = probe_file(path, why);
    return code == DN_OK ? look_at(config->vfs, path, &look, why) : code;
}
