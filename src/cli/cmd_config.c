/* cmd_config.c - check-config, config show, version: what needs no daemon and no data. */
#include "command.h"
#include "secrets.h"
#include "serve_config.h"

#include <stdio.h>

int cmd_check_config(const call *c) {
    char              why[DN_SETTINGS_WHY];
    dn_service_config service;
    dn_settings      *settings = NULL;
    char             *secrets = NULL;
    const int         rc = serve_settings_take(&c->input, &settings, &secrets, &service, why);

    dn_settings_free(settings);
    dn_secrets_free(secrets);
    if (rc == DN_EINVAL) return complain(DN_EXIT_USAGE, "%s", why);
    if (rc < 0) return complain(DN_EXIT_FAILED, "%s", dn_error_text(rc));
    printf("the settings are in order\n");
    return DN_EXIT_DONE;
}

int cmd_config_show(const call *c) {
    if (dn_settings_show(c->settings, c->json, stdout) == DN_OK) return DN_EXIT_DONE;
    return complain(DN_EXIT_FAILED, "the output could not be written");
}

int cmd_version(const call *c) {
    if (c->json) return print_json(json_pack("{s:s}", "version", DIURNAL_VERSION));
    printf("diurnal %s\n", DIURNAL_VERSION);
    return DN_EXIT_DONE;
}
