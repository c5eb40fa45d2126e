/* demo_users.h - the thousand users of a demo: due around now, so that work starts at once. */
#ifndef DIURNAL_CLI_DEMO_USERS_H
#define DIURNAL_CLI_DEMO_USERS_H

#include "daily/daily_messages.h"

enum { DEMO_USERS = 1000, DEMO_ID = 16 };

/* "demo-0001" for 0. */
void demo_id(uint32_t i, char id[DEMO_ID]);

/* The index of a demo user, or DEMO_USERS for any other. */
uint32_t demo_index(const char *id, size_t len);

/* The due time of user i if registered now: from five minutes ago to seventy minutes from now. */
uint32_t demo_due(uint32_t i, int64_t now_ms);

/* True if the store has users and none of the demo's: the demo would then invent results for real users. */
DN_MUST_USE int demo_is_stranger(dn_store *store, bool *out_is);

/* True if an existing demo user needs no new due time: its day is done, or its cutoff is still near. */
bool demo_may_stay(const dn_user *user, int64_t now_ms);

#endif
