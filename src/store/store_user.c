/* store_user.c - see store_user.h. */
#include "store_user.h"

#include "store/outbox.h"

#include <assert.h>
#include <string.h>

bool user_is_sound(const dn_user *u) {
    const bool finalized = u->last_day != DN_DAY_NONE;
    const bool has_status = u->status == DN_DAILY_SUCCESS || u->status == DN_DAILY_CUTOFF;

    return u->registration > 0 && u->id_len > 0 && u->id_len <= DN_ID_MAX &&
           u->due < DN_DAY_MINUTES && u->starts_on != DN_DAY_NONE && u->recorded >= u->last_day &&
           finalized == has_status && (finalized || u->status == DN_DAILY_NONE);
}

static dn_day later(dn_day a, dn_day b) { return a > b ? a : b; }

void user_begin(dn_user *user, uint64_t n, const struct dn_write_set *set) {
    *user = (dn_user){
        .registration = n,
        .due = set->due,
        .last_day = DN_DAY_NONE,
        .starts_on =
            set->starts_on != DN_DAY_NONE ? later(set->starts_on, set->today) : set->new_starts_on,
        .recorded = DN_DAY_NONE,
        .status = DN_DAILY_NONE,
        .last_run_ms = INT64_MIN,
        .id_len = set->id_len,
    };
    memcpy(user->id, set->id, set->id_len);
    assert(user_is_sound(user));
}

bool user_set(dn_user *user, const struct dn_write_set *set) {
    /* No outcome is ever written for a day up to the last finalized one, so none of them can be a first day. */
    const dn_day open = later(set->today, user->last_day + 1);
    const dn_day least = user->starts_on < open ? user->starts_on : open;
    const dn_day starts_on =
        set->starts_on != DN_DAY_NONE ? later(set->starts_on, least) : user->starts_on;
    const bool changed = user->due != set->due || user->starts_on != starts_on;

    user->due = set->due;
    user->starts_on = starts_on;
    return changed;
}

dn_wrote user_finalize(dn_user *user, const struct dn_write_finalize *f) {
    const dn_daily_user rule = {user->due, user->last_day, user->starts_on};

    if (dn_daily_is_finalized(&rule, f->day)) return DN_WROTE_LATE;
    if (f->status == DN_DAILY_CUTOFF && f->at_ms < dn_daily_cutoff_ms(user->due, f->day))
        return DN_WROTE_EARLY;
    user->last_day = f->day;
    user->status = f->status;
    if (f->status == DN_DAILY_SUCCESS) user->last_run_ms = f->at_ms;
    else user->context_epoch++;
    if (user->recorded < f->day) user->recorded = f->day;
    assert(user_is_sound(user));
    return DN_WROTE;
}

dn_day_range user_missed(const dn_user *user, const struct dn_write_missed *m) {
    dn_day_range range = {m->first, m->last};

    if (range.first < user->starts_on) range.first = user->starts_on;
    if (user->last_day != DN_DAY_NONE && range.first <= user->last_day)
        range.first = user->last_day + 1;
    return range;
}

dn_day ledger_since_after(dn_day since, dn_day day) {
    return since > day || day == INT32_MAX ? since : day + 1;
}

int64_t hooks_clock_after(int64_t clock_ms, uint16_t attempts, int64_t next_ms) {
    const int64_t delay_ms = dn_hook_delay_ms(attempts);

    return clock_ms < next_ms - delay_ms ? next_ms - delay_ms : clock_ms;
}

int id_compare(const char *a, size_t a_len, const char *b, size_t b_len) {
    const size_t both = a_len < b_len ? a_len : b_len;
    const int    order = both ? memcmp(a, b, both) : 0;

    if (order != 0) return order;
    return a_len < b_len ? -1 : a_len > b_len;
}

bool user_passes(const dn_user *user, const dn_user_filter *filter) {
    return user->due >= filter->due_from && user->due <= filter->due_to &&
           (filter->status == DN_DAILY_NONE || filter->status == user->status);
}

bool id_has_prefix(const char *id, size_t id_len, const dn_user_filter *filter) {
    return filter->prefix_len == 0 ||
           (id_len >= filter->prefix_len && memcmp(id, filter->prefix, filter->prefix_len) == 0);
}
