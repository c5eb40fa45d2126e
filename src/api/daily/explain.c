/* explain.c - see explain.h. Every state a day can be in has its sentence; what cannot be known is said not to be. */
#include "explain.h"

#include "words.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

enum { SENTENCE = 512 };

static dn_daily_user daily_of(const dn_facts *f) {
    return (dn_daily_user){f->user.due, f->user.last_day, f->user.starts_on};
}

__attribute__((format(printf, 2, 3))) static void say(json_t *lines, const char *format, ...) {
    char    text[SENTENCE];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    (void)json_array_append_new(lines, json_string(text));
}

static const char *day_name(const dn_facts *f, dn_day day, char out[DN_WORDS]) {
    const dn_day today = dn_day_of_ms(f->now_ms);
    char         text[DN_DAY_TEXT];

    if (day == today) return "Today";
    if (day == today - 1) return "Yesterday";
    if (day == today + 1) return "Tomorrow";
    dn_day_write(day, text);
    (void)snprintf(out, DN_WORDS, "On %s", text);
    return out;
}

static const dn_ledger_row *row_of(const dn_facts *f, dn_day day) {
    for (size_t i = 0; i < f->rows_len; i++)
        if (f->rows[i].day == day) return &f->rows[i];
    return NULL;
}

/* ---- Days that are over ---- */

/* cls is of the last attempt that was not ok; of those before it nothing is kept. */
static void say_success(json_t *lines, const char *name, const dn_ledger_row *r) {
    char at[DN_WORDS], nth[DN_WORDS], before[DN_WORDS], failed[64] = "";

    if (r->attempts == 2 && r->error_class)
        (void)snprintf(failed, sizeof failed, "; the 1st failed (%s)",
                       dn_error_class_text(r->error_class));
    else if (r->attempts > 2 && r->error_class)
        (void)snprintf(failed, sizeof failed, "; the %s failed (%s)",
                       dn_words_ordinal(r->attempts - 1U, before),
                       dn_error_class_text(r->error_class));
    say(lines, "%s: success at %s UTC on the %s attempt%s.", name,
        dn_words_time(r->at_ms, r->day, at), dn_words_ordinal(r->attempts, nth), failed);
}

static void say_cutoff(json_t *lines, const char *name, const dn_ledger_row *r) {
    const char *cls = dn_error_class_text(r->error_class);
    char        at[DN_WORDS], tried[96];

    if (r->attempts == 0) (void)snprintf(tried, sizeof tried, "before any attempt started");
    else if (r->attempts == 1)
        (void)snprintf(tried, sizeof tried, "after 1 attempt, which %s%s%s",
                       cls ? "failed (" : "did not end", cls ? cls : "", cls ? ")" : "");
    else
        (void)snprintf(tried, sizeof tried, "after %u attempts%s%s%s", r->attempts,
                       cls ? "; the last failure was " : "", cls ? cls : "", "");
    say(lines, "%s: the cutoff was reached, written at %s UTC, %s.", name,
        dn_words_time(r->at_ms, r->day, at), tried);
}

static void say_row(const dn_facts *f, json_t *lines, const char *name, const dn_ledger_row *r) {
    char due[DN_DUE_TEXT];

    dn_due_write(f->user.due, due);
    if (r->status == DN_DAILY_SUCCESS) say_success(lines, name, r);
    else if (r->status == DN_DAILY_CUTOFF) say_cutoff(lines, name, r);
    else say(lines, "%s: missed. The daemon was down at the cutoff.", name);
}

static void say_no_row(const dn_facts *f, json_t *lines, const char *name, dn_day day) {
    char at[DN_WORDS], far[DN_WORDS];

    if (day == f->user.last_day) {
        if (f->user.status == DN_DAILY_SUCCESS && f->user.last_run_ms != INT64_MIN)
            say(lines, "%s: success at %s UTC. The ledger has no details.", name,
                dn_words_time(f->user.last_run_ms, day, at));
        else say(lines, "%s: the cutoff was reached. The ledger has no details.", name);
    } else if (f->ledger_days == 0) {
        say(lines, "%s: unknown; the ledger is turned off (ledger_days = 0).", name);
    } else if (dn_day_of_ms(f->now_ms) - day > (dn_day)f->ledger_days) {
        say(lines, "%s: unknown; the ledger is kept for %s.", name,
            dn_words_count(f->ledger_days, "day", far));
    } else if (f->user.last_day >= day || f->user.recorded >= day) {
        say(lines, "%s: the record is missing from the ledger; run diurnal audit.", name);
    } else {
        say(lines, "%s: over without a record; the next tick records it as missed.", name);
    }
}

/* ---- A day that is still open ---- */

static void say_in_window(const dn_facts *f, json_t *lines, const char *name, dn_day day) {
    const int64_t         cutoff_ms = dn_daily_cutoff_ms(f->user.due, day);
    const dn_queued_user *q = &f->queued;
    const bool            of_day = q->known && q->day == day;
    const uint32_t        attempts = of_day ? q->attempts : 0;
    const char           *cls =
        of_day && q->error_class ? dn_error_class_text((dn_error_class)q->error_class) : NULL;
    char at[DN_WORDS], left[DN_WORDS], nth[DN_WORDS], wait[DN_WORDS];

    say(lines, "%s: its window is open until %s UTC, for %s more.", name,
        dn_words_time(cutoff_ms, day, at), dn_words_duration(cutoff_ms - f->now_ms, left));
    if (attempts > 0)
        say(lines, "%s so far%s%s.", dn_words_count(attempts, "attempt", nth),
            cls ? "; the last failure was " : "", cls ? cls : "");
    if (q->running)
        say(lines, "The %s attempt is running now.", dn_words_ordinal(attempts + 1, nth));
    else if (q->queued) say(lines, "It is queued and waits for a free slot.");
    else if (of_day && q->throttled_ms > 0)
        say(lines, "The next attempt may begin in %s.", dn_words_duration(q->throttled_ms, wait));
    else say(lines, "The next tick queues it.");
}

static void say_open(const dn_facts *f, json_t *lines, const char *name, dn_day day) {
    const int64_t start_ms = dn_daily_start_ms(f->user.due, day, f->window_minutes);
    const int64_t cutoff_ms = dn_daily_cutoff_ms(f->user.due, day);
    char          at[DN_WORDS], wait[DN_WORDS];

    if (f->now_ms < start_ms)
        say(lines, "%s: its window opens at %s UTC, in %s.", name, dn_words_time(start_ms, day, at),
            dn_words_duration(start_ms - f->now_ms, wait));
    else if (f->now_ms < cutoff_ms) say_in_window(f, lines, name, day);
    else say(lines, "%s: its cutoff has passed; the next tick writes it.", name);
}

static void say_day(const dn_facts *f, json_t *lines, dn_day day) {
    const dn_ledger_row *r = row_of(f, day);
    const dn_daily_user  user = daily_of(f);
    char                 name_text[DN_WORDS], first[DN_DAY_TEXT];
    const char          *name = day_name(f, day, name_text);

    dn_day_write(f->user.starts_on, first);
    if (r) say_row(f, lines, name, r);
    else if (day < f->user.starts_on)
        say(lines, "%s: nothing, because its first day is %s.", name, first);
    else if (day < dn_day_of_ms(f->now_ms) || dn_daily_is_finalized(&user, day))
        say_no_row(f, lines, name, day);
    else say_open(f, lines, name, day);
}

/* ---- All of it ---- */

/* The first day from today on that is not finalized. */
static dn_day next_open(const dn_facts *f) {
    const dn_daily_user user = daily_of(f);
    const dn_day        today = dn_day_of_ms(f->now_ms);

    if (!dn_daily_is_finalized(&user, today)) return today;
    return user.last_day >= user.starts_on ? user.last_day + 1 : user.starts_on;
}

json_t *dn_explain(const dn_facts *f) {
    const dn_day today = dn_day_of_ms(f->now_ms);
    json_t      *lines = json_array();
    char         due[DN_DUE_TEXT], start[DN_DUE_TEXT], first[DN_DAY_TEXT];

    if (!lines) return NULL;
    if (f->day != DN_DAY_NONE) {
        say_day(f, lines, f->day);
        return lines;
    }
    dn_due_write(f->user.due, due);
    dn_due_write((f->user.due + DN_DAY_MINUTES - f->window_minutes) % DN_DAY_MINUTES, start);
    dn_day_write(f->user.starts_on, first);
    say(lines, "%.*s is due at %s UTC every day, and attempted from %s on; its first day is %s.",
        f->user.id_len, f->user.id, due, start, first);
    if (f->user.starts_on < today) say_day(f, lines, today - 1);
    if (f->user.starts_on <= today) say_day(f, lines, today);
    /* A window over midnight belongs to the day of its cutoff, so tomorrow may have ended today. */
    if (f->user.last_day > today) say_day(f, lines, f->user.last_day);
    const dn_day next = next_open(f);
    if (next != today) say_day(f, lines, next);
    return lines;
}
