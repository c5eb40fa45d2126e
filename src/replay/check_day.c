/* check_day.c - how days end, and what is durable of it. */
#include "check_own.h"

static const char *status_text(dn_daily_status status) {
    switch (status) {
    case DN_DAILY_SUCCESS: return "success";
    case DN_DAILY_CUTOFF: return "cutoff_reached";
    case DN_DAILY_MISSED: return "missed";
    case DN_DAILY_NONE: break;
    }
    return "none";
}

static dn_daily_status status_of(const check_person *p) {
    if (p->flags & CHECK_SUCCESS) return DN_DAILY_SUCCESS;
    return p->flags & CHECK_CUT ? DN_DAILY_CUTOFF : DN_DAILY_NONE;
}

/* One more user has a row for that day. */
static void has_row(check *c, check_person *p, dn_day day) {
    check_tally *t = &c->tallies[(uint32_t)day % CHECK_TALLIES];

    if (p->recorded >= day) return;
    p->recorded = day;
    if (t->day != day) *t = (check_tally){.day = day};
    t->len++;
}

/* The window of the next day may have opened already; a tick has to ask for it then. */
static void look_at_next_day(check *c, const check_person *p, uint64_t n, int64_t since_ms) {
    if (check_cutoff(p->due, p->last_day + 1) - c->window_ms <= c->wall_ms)
        check_look_soon(c, n, since_ms);
}

static bool waits_with_ok(const check_person *p, dn_day day) {
    return p->state == CHECK_OK_WAITS && p->days[0].day == day;
}

static bool has_ok(const check_person *p, dn_day day) {
    return waits_with_ok(p, day) || check_may_have_ok(p, day);
}

/* What waited for the disk may be written just now: the disk is well again, as was said; or the process dies of that very
 * commit, so that nobody says so, and what it wrote is told in its place. */
static bool may_have_waited(const check *c) { return c->disturbed || c->full; }

/* ---- Finalizations ---- */

/* False: it changes nothing that could be judged further. */
static bool judge_once(check *c, const check_person *p, const dn_happening *h) {
    const bool succeeded = p->flags & CHECK_SUCCESS;
    char       day[CHECK_DAY_TEXT];

    if (h->day < p->starts_on) {
        check_say(c, CHECK_I6, h->registration, h->day,
                  "finalized, but it begins on %s: right is nothing",
                  check_day_text(p->starts_on, day));
        return false;
    }
    if (h->day > p->last_day) return true;
    if (h->day == p->last_day && h->status == DN_DAILY_SUCCESS && succeeded)
        check_say(c, CHECK_I1, h->registration, h->day, "a second success: right is one at most");
    else if (h->day == p->last_day)
        check_say(c, CHECK_I6, h->registration, h->day,
                  "finalized as %s, but it was as %s: right is once", status_text(h->status),
                  status_text(status_of(p)));
    else
        check_say(c, CHECK_I6, h->registration, h->day,
                  "finalized, but last_date is %s: right is that it never falls",
                  check_day_text(p->last_day, day));
    return false;
}

static void judge_success(check *c, const check_person *p, const dn_happening *h) {
    if (!has_ok(p, h->day))
        check_say(c, CHECK_I6, h->registration, h->day,
                  "a success, but no attempt of this boot was ok: right is one that was");
}

static void judge_cutoff(check *c, const check_person *p, const dn_happening *h) {
    /* t is the tick's, and the clock may have stepped back since, or while the disk was full. */
    const int64_t cutoff = check_cutoff(p->due, h->day);
    const bool    decided =
        c->wall_ms >= cutoff || (may_have_waited(c) && c->full_tick_ms >= cutoff) ||
        (c->config.lag_ms > 0 && c->tick_wall_ms >= cutoff) || check_is_recent(c, h->registration);
    if (!decided)
        check_say(c, CHECK_I6, h->registration, h->day,
                  "cutoff_reached before its cutoff: right is not before %02u:%02u", p->due / 60U,
                  p->due % 60U);
    /* An executor that ended may have taken its ok along; it is told of when all are there again who end with it. */
    if (waits_with_ok(p, h->day) && !(p->flags & CHECK_BEHIND) && !c->mending &&
        !check_is_recent(c, h->registration))
        check_say(c, CHECK_I6, h->registration, h->day,
                  "cutoff_reached, but an attempt was ok before it was written: right is success");
}

static void apply(check *c, check_person *p, const dn_happening *h) {
    check_record *r = &c->users.records[h->registration];
    const bool    success = h->status == DN_DAILY_SUCCESS;

    has_row(c, p, h->day);
    p->last_day = h->day;
    p->flags &= (uint16_t) ~(CHECK_SUCCESS | CHECK_CUT);
    p->flags |= success ? CHECK_SUCCESS : CHECK_CUT;
    r->closed_ms = (uint32_t)c->now_ms;
    check_minute_done(&c->users.minutes[p->due], h->day);
    check_changed(c, h->registration);
    if (success) {
        r->last_run_ms = p->flags & CHECK_OK_APART ? r->ok_ms : c->wall_ms;
        if (waits_with_ok(p, h->day)) check_ok_is_settled(c, p);
    } else {
        r->epoch++;
        c->cutoffs++;
    }
    /* Behind a cutoff it may still come to light, as a late success. */
    if (success) check_has_no_ok(p, h->day);
    /* The tick that asked for the cutoff could not ask for the next day too. */
    look_at_next_day(c, p, h->registration, c->now_ms + !success);
}

void check_finalized(check *c, const event *e) {
    if (!check_begins(c, e)) return;
    const dn_happening *h = e->h;
    check_person       *p = check_person_of(&c->users, h->registration);

    if (!check_lives(p)) {
        check_say(c, CHECK_I6, h->registration, h->day,
                  "finalized as %s, but there is no such user", status_text(h->status));
        return;
    }
    if (h->status != DN_DAILY_SUCCESS && h->status != DN_DAILY_CUTOFF) {
        check_say(c, CHECK_I6, h->registration, h->day,
                  "finalized as %s: right is success or cutoff_reached", status_text(h->status));
        return;
    }
    if (h->due != p->due)
        check_say(c, CHECK_I6, h->registration, h->day,
                  "due %02u:%02u in its finalization: right is %02u:%02u", h->due / 60U,
                  h->due % 60U, p->due / 60U, p->due % 60U);
    if (!judge_once(c, p, h)) return;
    if (h->status == DN_DAILY_SUCCESS) judge_success(c, p, h);
    else judge_cutoff(c, p, h);
    apply(c, p, h);
}

void check_on_late(check *c, const dn_happening *h) {
    check_person *p = check_person_of(&c->users, h->registration);

    if (!check_lives(p)) {
        check_say(c, CHECK_LATE, h->registration, h->day,
                  "a late success, but there is no such user");
        return;
    }
    if (!has_ok(p, h->day))
        check_say(c, CHECK_LATE, h->registration, h->day, "a late success, but no attempt was ok");
    if (!check_is_closed(p, h->day))
        check_say(c, CHECK_LATE, h->registration, h->day,
                  "a late success, but the day was not finalized: right is a success");
    if (waits_with_ok(p, h->day)) check_ok_is_settled(c, p);
    check_has_no_ok(p, h->day);
    check_changed(c, h->registration);
    check_look_soon(c, h->registration, c->now_ms);
}

/* The rows of several days come one after the other. */
static void judge_row(check *c, check_person *p, const dn_happening *h) {
    const dn_day has = p->last_day > p->recorded ? p->last_day : p->recorded;
    const dn_day next = has < p->starts_on ? p->starts_on : has + 1;
    char         day[CHECK_DAY_TEXT];

    if (h->day > next)
        check_say(c, CHECK_MISSED, h->registration, h->day,
                  "missed, and the days from %s on have no row: right is one each",
                  check_day_text(next, day));
    has_row(c, p, h->day);
}

void check_on_missed(check *c, const dn_happening *h) {
    check_person *p = check_person_of(&c->users, h->registration);
    char          day[CHECK_DAY_TEXT];

    /* What waited for the disk was decided at a tick before; the clock may have stepped back since. */
    const bool waited =
        (may_have_waited(c) && h->day < c->latest_date) || check_is_recent(c, h->registration);
    if (!check_lives(p))
        check_say(c, CHECK_MISSED, h->registration, h->day, "missed, but there is no such user");
    else if (h->day >= c->today && !waited)
        check_say(c, CHECK_MISSED, h->registration, h->day,
                  "missed, but the day is not over: today is %s", check_day_text(c->today, day));
    else if (h->day < p->starts_on)
        check_say(c, CHECK_MISSED, h->registration, h->day, "missed, but it begins on %s",
                  check_day_text(p->starts_on, day));
    else if (h->day <= p->last_day)
        check_say(c, CHECK_MISSED, h->registration, h->day,
                  "missed, but it is finalized (last_date %s)", check_day_text(p->last_day, day));
    else if (h->day <= p->recorded)
        check_say(c, CHECK_MISSED, h->registration, h->day,
                  "missed, but there is a row for it already");
    else judge_row(c, p, h);
}

/* ---- What is in the store at the end ---- */

static void differs(check *c, const check_final *f, const char *what, const char *is,
                    const char *should) {
    check_say(c, CHECK_I5, f->n, DN_DAY_NONE, "%s is %s in the store: what was told makes it %s",
              what, is, should);
}

static const char *run_text(int64_t ms, char text[CHECK_INSTANT_TEXT]) {
    return ms == CHECK_NEVER ? "none" : check_instant_text(ms, text);
}

void check_user(check *c, const check_final *f) {
    check_person *p = check_person_of(&c->users, f->n);
    char          is[CHECK_INSTANT_TEXT], should[CHECK_INSTANT_TEXT];

    if (c->starved) return;
    if (!check_lives(p) || c->users.records[f->n].looked_at) {
        check_say(c, CHECK_I5, f->n, DN_DAY_NONE, "a user in the store that %s",
                  check_lives(p) ? "was there before" : "nobody registered, or that was removed");
        return;
    }
    check_record *r = &c->users.records[f->n];
    r->looked_at = true;
    c->looked_at++;
    if (f->last_day != p->last_day)
        differs(c, f, "last_date", check_day_text(f->last_day, is),
                check_day_text(p->last_day, should));
    if (f->starts_on != p->starts_on)
        differs(c, f, "starts_on", check_day_text(f->starts_on, is),
                check_day_text(p->starts_on, should));
    if (f->status != status_of(p))
        differs(c, f, "status", status_text(f->status), status_text(status_of(p)));
    if (f->last_run_ms != r->last_run_ms)
        differs(c, f, "last_run_at", run_text(f->last_run_ms, is),
                run_text(r->last_run_ms, should));
    if (f->due != p->due)
        check_say(c, CHECK_I5, f->n, DN_DAY_NONE,
                  "due is %02u:%02u in the store: what was told makes it %02u:%02u", f->due / 60U,
                  f->due % 60U, p->due / 60U, p->due % 60U);
    if (f->context_epoch != r->epoch)
        check_say(c, CHECK_EPOCH, f->n, DN_DAY_NONE,
                  "context_epoch is %u: right is %u, the number of its cutoffs", f->context_epoch,
                  r->epoch);
}

void check_user_soon(const check *c, uint64_t n) {
    if (n < c->users.end) check_users_fetch_one(&c->users, (uint32_t)n);
}
