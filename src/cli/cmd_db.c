/* cmd_db.c - the database as a whole: a check of it, and a copy. */
#define _GNU_SOURCE /* renameat2 */
#include "endings.h"
#include "store_copy.h"
#include "store_direct.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_ROOM = 4096 };

static int say(const call *c, const char *words) {
    if (c->json) return print_json(json_pack("{s:b, s:s}", "done", 1, "words", words));
    printf("%s\n", words);
    return DN_EXIT_DONE;
}

/* ---- check ---- */

/* Prints the result; damage is a failure with exit code 1. */
static int check(dn_store *store, const char *of, const char *sound, const call *c) {
    char      why[DN_STORE_WHY];
    const int rc = dn_store_check(store, why);

    return rc == DN_OK ? say(c, sound)
                       : complain(DN_EXIT_FAILED, "%s%s", of, *why ? why : dn_error_text(rc));
}

int cmd_db_check(const call *c) {
    DN_AUTO(client) asked = NULL;
    DN_AUTO(dn_store) store = NULL;
    int exit_code;

    if (!daemon_or_store(c, &asked, &store, &exit_code)) return exit_code;
    if (!asked) return check(store, "", "no damage found", c);
    store = store_copy(c, asked, &exit_code);
    if (!store) return exit_code;
    return check(store, STORE_COPY_OF, "no damage found (in a copy, because the daemon is running)",
                 c);
}

/* ---- backup ---- */

/* FILE gets its name last. Until then the copy is FILE.part-PID/diurnal.db, in a directory of its own because
 * dn_store_open takes a directory. */
typedef struct making {
    const call *call;
    const char *file;
    char        dir[PATH_ROOM], copy[PATH_ROOM];
} making;

static int cannot(const char *path, const char *what) {
    return complain(DN_EXIT_FAILED, "%s cannot be %s: %s", path, what, strerror(errno));
}

static int is_there(const making *m) {
    return complain(DN_EXIT_FAILED, "%s already exists; name a new file", m->file);
}

static int making_begin(making *m) {
    struct stat found;

    if (strlen(m->file) > PATH_ROOM - 64)
        return complain(DN_EXIT_FAILED, "the path of the backup is too long");
    (void)snprintf(m->dir, sizeof m->dir, "%s.part-%ld", m->file, (long)getpid());
    (void)snprintf(m->copy, sizeof m->copy, "%.*s/diurnal.db", PATH_ROOM - 16, m->dir);
    if (lstat(m->file, &found) == 0) return is_there(m);
    return mkdir(m->dir, S_IRWXU) == 0 ? DN_EXIT_DONE : cannot(m->dir, "created");
}

static void making_end(const making *m) {
    (void)unlink(m->copy);
    (void)rmdir(m->dir);
}

static int copy_of_daemon(const making *m, client *asked) {
    const int fd = open(m->copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);

    if (fd < 0) return cannot(m->copy, "created");
    int exit_code = client_copy(asked, fd);
    if (exit_code == DN_EXIT_DONE && fsync(fd) < 0) exit_code = cannot(m->copy, "written");
    (void)close(fd);
    return exit_code;
}

static int copy_of_store(const making *m, dn_store *store, const endings *held) {
    char       why[DN_STORE_WHY] = "";
    dn_backup *backup = NULL;
    int        rc = dn_store_backup(store, m->copy, &backup, why);

    if (rc == DN_OK) do {
            rc = dn_backup_step(backup, why);
            if (rc == DN_PENDING && endings_came(held)) {
                (void)snprintf(why, sizeof why, "interrupted");
                rc = DN_ESHUTDOWN;
            }
        } while (rc == DN_PENDING);
    dn_backup_free(backup);
    return rc == DN_OK ? DN_EXIT_DONE
                       : complain(DN_EXIT_FAILED, "%s", *why ? why : dn_error_text(rc));
}

/* The copy has the damage of the database, so the copy is checked. */
static int copy_check(const making *m) {
    const dn_data_url     url = dn_data_url_of(m->dir);
    const dn_store_config config = {
        .url = url.text,
        .ledger_days = (uint32_t)m->call->settings->ledger_days,
        .read_only = true,
    };
    DN_AUTO(dn_store) store = NULL;
    char why[DN_STORE_WHY];

    int rc = dn_store_open(&config, &store, why);
    if (rc == DN_OK) rc = dn_store_check(store, why);
    if (rc == DN_OK) return DN_EXIT_DONE;
    /* The error begins with the path of the copy, which is about to be removed. */
    const size_t len = strncmp(why, m->copy, strlen(m->copy)) == 0 ? strlen(m->copy) : 0;
    return complain(DN_EXIT_FAILED, "%s was not created: the database%s%s", m->file,
                    len ? "" : " cannot be checked: ", why + len);
}

static int dir_sync(const char *file) {
    char path[PATH_ROOM];

    (void)snprintf(path, sizeof path, "%s", file);
    char *const slash = strrchr(path, '/');
    if (slash) slash[slash == path] = '\0';
    const int  fd = open(slash ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool synced = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0) (void)close(fd);
    return synced ? DN_EXIT_DONE : cannot(file, "written");
}

/* Never replaces a file made in the meantime. Falls back to link, because some file systems lack RENAME_NOREPLACE. */
static int copy_name(const making *m) {
    if (renameat2(AT_FDCWD, m->copy, AT_FDCWD, m->file, RENAME_NOREPLACE) == 0)
        return dir_sync(m->file);
    if (errno == EEXIST) return is_there(m);
    if (errno != EINVAL && errno != ENOSYS) return cannot(m->file, "created");
    if (link(m->copy, m->file) == 0) return dir_sync(m->file);
    return errno == EEXIST ? is_there(m) : cannot(m->file, "created");
}

static int copy_make(making *m, client *asked, dn_store *store) {
    endings held;
    int     exit_code;

    endings_hold(&held);
    if (asked) client_waits_until(asked, held.fd, /* silently= */ false);
    exit_code = making_begin(m);
    if (exit_code == DN_EXIT_DONE) {
        exit_code = asked ? copy_of_daemon(m, asked) : copy_of_store(m, store, &held);
        if (exit_code == DN_EXIT_DONE) exit_code = copy_check(m);
        if (exit_code == DN_EXIT_DONE) exit_code = copy_name(m);
        making_end(m);
    }
    endings_let(&held);
    return exit_code;
}

int cmd_db_backup(const call *c) {
    making m = {.call = c, .file = c->operands[0]};
    DN_AUTO(client) asked = NULL;
    DN_AUTO(dn_store) store = NULL;
    char said[PATH_ROOM + 16];
    int  exit_code;

    if (!daemon_or_store(c, &asked, &store, &exit_code)) return exit_code;
    exit_code = copy_make(&m, asked, store);
    if (exit_code != DN_EXIT_DONE) return exit_code;
    (void)snprintf(said, sizeof said, "copied to %s", m.file);
    return say(c, said);
}
