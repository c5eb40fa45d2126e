/* store_user.h - what a write makes of a user, whatever the user is kept in.
 * The rules of store.h in one place: a backend reads a user, asks here, and keeps the answer. No I/O. */
#ifndef DIURNAL_STORE_STORE_USER_H
#define DIURNAL_STORE_STORE_USER_H

#include "store/store.h"

/* True of every user there can be; a backend that reads another one has a damaged file. */
bool user_is_sound(const dn_user *user);

/* What SET makes: a new user with that number; or of one that was there, true if anything changed. */
void user_begin(dn_user *user, uint64_t n, const dn_write *set);
bool user_set(dn_user *user, const dn_write *set);

/* DN_WROTE, and user is as it is after; or DN_WROTE_LATE, DN_WROTE_EARLY, and it is as it was. */
dn_wrote user_finalize(dn_user *user, const dn_write *w);

/* The days that MISSED is about: first <= D <= last, none if first > last. */
dn_day_range user_missed(const dn_user *user, const dn_write *w);

/* What becomes of the day since which the ledger is whole, when a day is written that gets no row. */
dn_day ledger_since_after(dn_day since, dn_day day);

/* What becomes of what the outbox's clock is to show, when a hook is due at next_ms. */
int64_t hooks_clock_after(int64_t clock_ms, uint16_t attempts, int64_t next_ms);

/* The order of ids: their bytes, and the shorter first. */
int id_compare(const char *a, size_t a_len, const char *b, size_t b_len);

/* Does a filter let it pass, apart from its id? And does its id begin as the filter wants? */
bool user_passes(const dn_user *user, const dn_user_filter *filter);
bool id_has_prefix(const char *id, size_t id_len, const dn_user_filter *filter);

#endif
