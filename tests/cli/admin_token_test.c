/* admin_token_test.c - when the daemon creates its own admin token. */
#include "admin_token.h"
#include "own_dir.h"

#include "daily/daily_messages.h"
#include "store/store.h"

#include <string.h>

/* A store whose only token is an admin token of the daemon's name; tenant: "": of no tenant. */
static dn_store *store_with_admin(const char *tenant) {
    const dn_store_config config = {.url = "memory:", .ledger_days = 1};
    dn_token              t = {.made_ms = 1,
                               .ends_ms = INT64_MAX,
                               .scope = DN_SCOPE_ADMIN,
                               .hash = {1},
                               .name = "admin",
                               .name_len = 5,
                               .tenant_len = (uint8_t)strlen(tenant)};
    const dn_write        write = {.op = DN_WRITE_TOKEN_ADD, .token_add = {&t}};
    dn_write_result       result;
    dn_store             *store = NULL;
    char                  why[DN_STORE_WHY];

    memcpy(t.tenant, tenant, strlen(tenant));
    CHECK_INT(dn_store_open(&config, &store, why), DN_OK);
    CHECK_INT(dn_store_write(store, &write, 1, &result, NULL), DN_OK);
    return store;
}

/* The working directory has no admin.token. */
static void check_made(const char *tenant, bool want_made) {
    DN_AUTO(dn_store) store = store_with_admin(tenant);
    bool made = !want_made, older = !want_made;
    char why[ADMIN_TOKEN_WHY];

    CHECK_INT(admin_token_make(store, ".", 2, &made, &older, why), DN_OK);
    CHECK_INT(made, want_made);
    CHECK_INT(older, want_made);
    CHECK_INT(unlink(ADMIN_TOKEN_FILE) == 0, want_made);
}

TEST(admin_token_of_a_tenant_is_not_the_daemons_own) {
    own_file_write("unused", "", 0);
    check_made("acme", false);
    check_made("", true);
}
