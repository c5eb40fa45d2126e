/* cmd_config.c - check-config, config show, version: commands that need no daemon and no data. */
#include "command.h"
#include "secrets.h"
#include "serve_config.h"

#include "trace/recorder.h"

#include <stdio.h>

/* Checks the places where serve writes, with its exit codes. A daemon that runs in the directory is no fault: it may be
 * the one to be configured. */
static int check_places(const dn_settings *s) {
    const dn_data_url     url = dn_data_url_of(s->data);
    const dn_store_config store = {.url = url.text};
    char                  store_why[DN_STORE_WHY], record_why[DN_RECORDER_WHY];
    const int             rc = dn_store_probe(&store, store_why);

    if (rc < 0 && rc != DN_EEXIST) return complain(DN_EXIT_FAILED, "%s", store_why);
    if (*s->record && dn_recorder_check(s->record, record_why) < 0)
        return complain(DN_EXIT_USAGE, "%s", record_why);
    return DN_EXIT_DONE;
}

int cmd_check_config(const call *c) {
    char              why[DN_SETTINGS_WHY];
    dn_service_config service;
    dn_settings      *settings = NULL;
    char             *secrets = NULL;
    const int         rc = serve_settings_take(&c->input, &settings, &secrets, &service, why);
    int               code = DN_EXIT_FAILED;

    if (rc == DN_EINVAL) code = complain(DN_EXIT_USAGE, "%s", why);
    else if (rc < 0) code = complain(DN_EXIT_FAILED, "%s", dn_error_text(rc));
    else code = check_places(settings);
    dn_settings_free(settings);
    dn_secrets_free(secrets);
    if (code == DN_EXIT_DONE) printf("the settings are valid\n");
    return code;
}

int cmd_config_show(const call *c) {
    if (dn_settings_show(c->settings, c->json, stdout) == DN_OK) return DN_EXIT_DONE;
    return complain(DN_EXIT_FAILED, "cannot write the output");
}

int cmd_version(const call *c) {
    if (c->json) return print_json(json_pack("{s:s}", "version", DIURNAL_VERSION));
    printf("diurnal %s\n", DIURNAL_VERSION);
    return DN_EXIT_DONE;
}
