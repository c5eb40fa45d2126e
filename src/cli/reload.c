/* reload.c - see reload.h. */
#include "reload.h"

#include "api/web.h"
#include "demo_users.h"
#include "secrets.h"
#include "serve_config.h"
#include "store/store.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static_assert((int)RELOAD_WORDS >= (int)DN_SETTINGS_WHY, "what is wrong fits");
static_assert((int)RELOAD_WORDS >= (int)DN_STORE_WHY && (int)RELOAD_WORDS >= (int)DN_WEB_WHY,
              "what is wrong with the world fits");

static bool secrets_same(const char *a, const char *b) {
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static reload compare(const dn_settings *now, const dn_settings *fresh, bool same_secrets,
                      char words[RELOAD_WORDS]) {
    reload verdict = RELOAD_SAME;
    size_t used = 0;

    *words = '\0';
    for (size_t i = 0; i < DN_SETTINGS; i++) {
        if (dn_settings_same(now, fresh, i) && (i != DN_SETTING_secret_file || same_secrets))
            continue;
        if (!dn_settings_table[i].live) verdict = RELOAD_ANEW;
        else if (verdict == RELOAD_SAME) verdict = RELOAD_LIVE;
        if (used < RELOAD_WORDS)
            used += (size_t)snprintf(words + used, RELOAD_WORDS - used, "%s%s", used ? ", " : "",
                                     dn_settings_table[i].key);
    }
    return verdict;
}

reload reload_read(const dn_settings_input *input, const dn_settings *now, const char *secrets_now,
                   dn_settings **out_fresh, char words[RELOAD_WORDS]) {
    DN_AUTO(dn_settings) fresh = NULL;
    dn_service_config service;
    char             *secrets = NULL;
    const int         rc = serve_settings_take(input, &fresh, &secrets, &service, words);
    const bool        same_secrets = rc == DN_OK && secrets_same(secrets_now, secrets);

    dn_secrets_free(secrets);
    if (rc < 0) {
        if (rc != DN_EINVAL) (void)snprintf(words, RELOAD_WORDS, "%s", dn_error_text(rc));
        return RELOAD_REFUSED;
    }
    const reload verdict = compare(now, fresh, same_secrets, words);
    *out_fresh = DN_TAKE(fresh);
    return verdict;
}

/* ---- Data directory and address ---- */

/* Another path may name the same directory, which this process has locked. */
static bool is_same_directory(const char *a, const char *b) {
    struct stat one, other;

    return strcmp(a, b) == 0 || (stat(a, &one) == 0 && stat(b, &other) == 0 &&
                                 one.st_dev == other.st_dev && one.st_ino == other.st_ino);
}

/* True if another directory has real users. If they cannot be read, the start reports that. */
static bool is_strangers(const char *dir) {
    const dn_data_url     url = dn_data_url_of(dir);
    const dn_store_config config = {.url = url.text, .read_only = true};
    DN_AUTO(dn_store) store = NULL;
    char why[DN_STORE_WHY];
    bool is_stranger = false;

    return dn_store_open(&config, &store, why) == DN_OK &&
           demo_is_stranger(store, &is_stranger) == DN_OK && is_stranger;
}

int reload_probe(const dn_settings *now, const dn_settings *fresh, int listener,
                 char words[RELOAD_WORDS]) {
    const dn_data_url     url = dn_data_url_of(fresh->data);
    const dn_store_config store = {.url = url.text};
    const bool            is_same = is_same_directory(now->data, fresh->data);
    int                   rc = is_same ? DN_OK : dn_store_probe(&store, words);

    const bool own_data =
        is_same ? !now->demo : rc == DN_OK && fresh->demo && is_strangers(fresh->data);
    if (fresh->demo && own_data) {
        (void)snprintf(words, RELOAD_WORDS,
                       "demo is on and would invent results for the users in %s; name another data "
                       "directory, or drop demo",
                       fresh->data);
        rc = DN_EINVAL;
    }
    if (rc == DN_OK && strcmp(now->listen, fresh->listen) != 0)
        rc = dn_web_probe(fresh->listen, listener, words);
    return rc;
}
