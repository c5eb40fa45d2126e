/* store_user.h - the rules for writes to a user, shared by all backends.
 * A backend reads a user, calls these functions, and stores the result. No I/O. */
#ifndef DIURNAL_STORE_STORE_USER_H
#define DIURNAL_STORE_STORE_USER_H

#include "store/store.h"

/* True for every user that a write can make. A backend that reads any other has a damaged file. */
bool user_is_sound(const dn_user *user);

/* SET: makes a new user with this number, or changes an old one; true if anything changed. */
void user_begin(dn_user *user, uint64_t n, const struct dn_write_set *set);
bool user_set(dn_user *user, const struct dn_write_set *set);

/* FINALIZE: changes the user on DN_WROTE; leaves it on DN_WROTE_LATE and DN_WROTE_EARLY. */
dn_wrote user_finalize(dn_user *user, const struct dn_write_finalize *f);

/* MISSED: the days it may add rows for, first <= D <= last; none if first > last. */
dn_day_range user_missed(const dn_user *user, const struct dn_write_missed *m);

/* The new dn_store_ledger_since after an outcome of `day` was written without a row. */
dn_day ledger_since_after(dn_day since, dn_day day);

/* The new start of the outbox clock, given one more hook. */
int64_t hooks_clock_after(int64_t clock_ms, uint16_t attempts, int64_t next_ms);

/* The order of ids: by their bytes, a prefix before what it begins. */
int id_compare(const char *a, size_t a_len, const char *b, size_t b_len);

/* Whether a user matches the filter in all but its id, and whether an id has the prefix of the filter. */
bool user_passes(const dn_user *user, const dn_user_filter *filter);
bool id_has_prefix(const char *id, size_t id_len, const dn_user_filter *filter);

#endif
