/* store_direct.c - see store_direct.h. */
#include "store_direct.h"

bool daemon_or_store(const call *c, client **out_client, dn_store **out_store, int *out_exit) {
    const dn_store_config config = {
        .dir = c->settings->data,
        .ledger_days = (uint32_t)c->settings->ledger_days,
        .read_only = true,
    };
    char why[CLIENT_WHY] = "", store_why[DN_STORE_WHY];
    int  rc = client_connect(c->settings->data, out_client, why);

    if (rc == DN_OK) return true;
    if (rc != DN_EDEAD) {
        *out_exit = complain(DN_EXIT_FAILED, "%s", *why ? why : dn_error_text(rc));
        return false;
    }
    rc = dn_store_open(&config, out_store, store_why);
    if (rc == DN_OK) return true;
    *out_exit = complain(DN_EXIT_FAILED, "%s", store_why);
    return false;
}
