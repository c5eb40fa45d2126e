/* demo_users.c - see demo_users.h. */
#include "demo_users.h"

#include <stdio.h>
#include <string.h>

enum { BEFORE_MINUTES = 5, AFTER_MINUTES = 70 };

void demo_id(uint32_t i, char id[DEMO_ID]) { (void)snprintf(id, DEMO_ID, "demo-%04u", i + 1); }

uint32_t demo_index(const char *id, size_t len) {
    char text[DEMO_ID];

    for (uint32_t i = 0; i < DEMO_USERS; i++) {
        demo_id(i, text);
        if (strlen(text) == len && memcmp(text, id, len) == 0) return i;
    }
    return DEMO_USERS;
}

uint32_t demo_due(uint32_t i, int64_t now_ms) {
    const int64_t spread = BEFORE_MINUTES + AFTER_MINUTES;
    const int64_t first = now_ms / DN_MINUTE_MS - BEFORE_MINUTES;

    return (uint32_t)((first + i % spread) % DN_DAY_MINUTES);
}

int demo_is_stranger(dn_store *store, bool *out_is) {
    uint64_t users = 0;
    dn_user  user;
    char     id[DEMO_ID];

    int rc = dn_store_count(store, &users);
    *out_is = users > 0;
    for (uint32_t i = 0; rc == DN_OK && *out_is && i < DEMO_USERS; i++) {
        demo_id(i, id);
        rc = dn_store_user(store, id, strlen(id), &user);
        if (rc == DN_OK) *out_is = false;
        else if (rc == DN_EDEAD) rc = DN_OK;
    }
    return rc;
}

bool demo_may_stay(const dn_user *user, int64_t now_ms) {
    const dn_day  today = dn_day_of_ms(now_ms);
    const int64_t past_ms = BEFORE_MINUTES * DN_MINUTE_MS, ahead_ms = AFTER_MINUTES * DN_MINUTE_MS;

    if (user->last_day >= today) return true;
    for (dn_day day = today; day <= today + 1; day++) {
        const int64_t cutoff_ms = dn_daily_cutoff_ms(user->due, day);
        if (cutoff_ms > now_ms - past_ms && cutoff_ms < now_ms + ahead_ms) return true;
    }
    return false;
}
