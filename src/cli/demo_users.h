/* demo_users.h - the thousand users of a demo: due around now, so that something happens at once. */
#ifndef DIURNAL_CLI_DEMO_USERS_H
#define DIURNAL_CLI_DEMO_USERS_H

#include "daily/daily_messages.h"

enum { DEMO_USERS = 1000, DEMO_ID = 16 };

/* "demo-0001" for 0. */
void demo_id(uint32_t i, char id[DEMO_ID]);

/* Which of them it is, or DEMO_USERS. */
uint32_t demo_index(const char *id, size_t len);

/* When i is due, if it is made now: five minutes ago to seventy minutes from now. */
uint32_t demo_due(uint32_t i, int64_t now_ms);

/* Are there users, and none of them the demo's? What it makes up is in the place of somebody's own days then. */
DN_MUST_USE int demo_is_stranger(dn_store *store, bool *out_is);

/* One that is there already stays as it is, if its day is done or its cutoff is still near; else it moves to now. */
bool demo_may_stay(const dn_user *user, int64_t now_ms);

#endif
