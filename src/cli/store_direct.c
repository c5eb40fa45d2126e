/* store_direct.c - see store_direct.h. */
#include "store_direct.h"

#include "target.h"

#include <stdio.h>
#include <unistd.h>

/* A store in the data directory comes before a daemon elsewhere that no flag names. */
static bool store_comes_first(const call *c) {
    char              path[4096 + 32], why[DN_STORE_WHY];
    const dn_data_url url = dn_data_url_of(c->settings->data);
    dn_store_hold     hold;

    if (target_named(c)) return false;
    (void)snprintf(path, sizeof path, "%s/diurnal.db", c->settings->data);
    return dn_store_held(url.text, &hold, why) == DN_OK && !hold.held && access(path, F_OK) == 0;
}

bool daemon_or_store(const call *c, client **out_client, dn_store **out_store, int *out_exit) {
    const dn_data_url     url = dn_data_url_of(c->settings->data);
    const dn_store_config config = {
        .url = url.text,
        .ledger_days = (uint32_t)c->settings->ledger_days,
        .read_only = true,
    };
    char why[CLIENT_WHY], store_why[DN_STORE_WHY];
    int  rc = store_comes_first(c) ? DN_EDEAD : client_new(c, out_client, why);

    if (rc == DN_OK) return true;
    if (rc != DN_EDEAD) {
        *out_exit = complain(rc == DN_EINVAL ? DN_EXIT_USAGE : DN_EXIT_FAILED, "%s", why);
        return false;
    }
    rc = dn_store_open(&config, out_store, store_why);
    if (rc == DN_OK) return true;
    *out_exit = complain(DN_EXIT_FAILED, "%s", store_why);
    return false;
}
