/* cmd_db.c - the database as a whole: is it sound, and a copy of it. */
#include "store_copy.h"
#include "store_direct.h"

#include <stdio.h>

static int say(const call *c, const char *words) {
    if (c->json) return print_json(json_pack("{s:b, s:s}", "done", 1, "words", words));
    printf("%s\n", words);
    return DN_EXIT_DONE;
}

/* ---- check ---- */

/* Damage is what this command was asked to find: it has said so, and failed. */
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
    if (!asked) return check(store, "", "sound", c);
    store = store_copy(c, asked, &exit_code);
    if (!store) return exit_code;
    return check(store, STORE_COPY_OF, "sound; the daemon runs, so a copy was looked at", c);
}

/* ---- backup ---- */

static int backup_here(dn_store *store, const char *path) {
    char       why[DN_STORE_WHY] = "";
    dn_backup *backup = NULL;
    int        rc = dn_store_backup(store, path, &backup, why);

    if (rc == DN_OK) do
            rc = dn_backup_step(backup, why);
        while (rc == DN_PENDING);
    if (backup) dn_backup_free(backup);
    return rc == DN_OK ? DN_EXIT_DONE
                       : complain(DN_EXIT_FAILED, "%s", *why ? why : dn_error_text(rc));
}

int cmd_db_backup(const call *c) {
    DN_AUTO(client) asked = NULL;
    DN_AUTO(dn_store) store = NULL;
    char said[512];
    int  exit_code;

    if (!daemon_or_store(c, &asked, &store, &exit_code)) return exit_code;
    exit_code = asked ? client_backup(asked, c->operands[0]) : backup_here(store, c->operands[0]);
    if (exit_code != DN_EXIT_DONE) return exit_code;
    (void)snprintf(said, sizeof said, "copied to %s", c->operands[0]);
    return say(c, said);
}
