/* cmd_audit.c - proves the ledger, or prints its faults.
 * The daemon may write while users and rows are read page by page. So each fault is first a suspicion, and is checked again
 * by itself until it has stayed wrong for a while. */
#include "audit_source.h"
#include "cli_text.h"
#include "store_direct.h"
#include "when.h"

#include "api/words.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    SUSPECTS_MAX = 10000, /* most suspects of a day that are checked by name */
    SUSPECTS_FEW = 200,
    LOOKS = 25, /* checks of the suspects of a day, with a pause between two */
    BETWEEN_LOOKS_MS = 200,
    QUIET_LOOKS = 600,
    TICK_LOOKS = 325, /* 65 s: two ticks are at most a minute apart */
    HERD = 4096,      /* waiting writes */
    READS_AGAIN = 3,
    SAID_MAX = 100,
};

typedef struct suspect {
    audit_fault fault;
    uint64_t    n;
} suspect;

typedef struct run {
    const call   *call;
    audit_source  source;
    source_state  state;
    audit        *audit;
    suspect      *suspects; /* of the day under way */
    size_t        suspects_len;
    source_user  *users; /* one page */
    dn_ledger_row rows[SOURCE_PAGE];
    json_t       *days, *faults;
    uint64_t      records, faulty, open;
} run;

static void wait_a_little(void) {
    const struct timespec t = {.tv_nsec = BETWEEN_LOOKS_MS * 1000000L};

    (void)nanosleep(&t, NULL);
}

/* ---- One user again ---- */

static void count_fault(void *context, audit_fault fault, uint64_t n) {
    suspect *s = context;

    *s = (suspect){fault, n};
}

/* Checks one user again. found->n is 0 if the fault is gone. False: reading failed. */
static bool look_again(const run *r, dn_day day, uint64_t n, suspect *found, source_user *user) {
    audit_day d = {
        .day = day, .as_of_ms = r->state.as_of_ms, .on_fault = count_fault, .context = found};
    audit        *alone = NULL;
    dn_ledger_row row;
    size_t        len = 0;
    bool          has_row = false;

    *found = (suspect){0};
    if (!source_users(&r->source, n - 1, user, 1, &len) ||
        !source_row(&r->source, n, day, &row, &has_row))
        return false;
    const bool there = len == 1 && user->user.n == n;
    if (!there) *user = (source_user){0};
    if (audit_new(&alone) < 0 || (there && audit_add_user(alone, &user->user) < 0)) {
        audit_free(alone);
        return false;
    }
    if (has_row) audit_day_row(alone, &d, &row);
    audit_day_end(alone, &d);
    audit_free(alone);
    return true;
}

static void fault_say(run *r, dn_day day, const suspect *s, const source_user *user) {
    char        date[DN_DAY_TEXT], quoted[DN_TEXT_QUOTED];
    const char *fault = audit_fault_text(s->fault);

    r->faulty++;
    if (r->faulty > SAID_MAX) return;
    dn_day_write(day, date);
    (void)json_array_append_new(r->faults, json_pack("{s:s, s:s%, s:I, s:s}", "day", date, "id",
                                                     user->id, (size_t)user->id_len, "n",
                                                     (json_int_t)s->n, "fault", fault));
    if (!r->call->json)
        printf("%s: user %s (number %" PRIu64 ") %s\n", date,
               dn_text_quoted(user->id, user->id_len, quoted), s->n, fault);
}

/* Without a daemon nothing writes to the store, so one check is enough. */
static bool confirm(run *r, dn_day day) {
    int looks = r->source.asked ? LOOKS : 1;

    for (size_t i = 0; i < r->suspects_len; i++) {
        suspect     found = r->suspects[i];
        source_user user = {0};
        do {
            if (found.fault != AUDIT_DOUBLE && !look_again(r, day, r->suspects[i].n, &found, &user))
                return false;
            if (found.n == 0 || found.fault == AUDIT_DOUBLE || looks <= 1) break;
            wait_a_little();
        } while (looks-- > 1);
        if (found.n != 0) fault_say(r, day, &found, &user);
    }
    return true;
}

/* ---- A day ---- */

static void on_fault(void *context, audit_fault fault, uint64_t n) {
    run *r = context;

    if (r->suspects_len < SUSPECTS_MAX) r->suspects[r->suspects_len++] = (suspect){fault, n};
}

static bool read_day(run *r, audit_day *d) {
    uint64_t after_n = 0;
    size_t   len;

    do {
        if (!source_day(&r->source, d->day, after_n, r->rows, &len)) return false;
        for (size_t i = 0; i < len; i++) audit_day_row(r->audit, d, &r->rows[i]);
        if (len > 0) after_n = r->rows[len - 1].registration;
    } while (len > 0);
    audit_day_end(r->audit, d);
    return true;
}

static json_t *json_of_date(dn_day day) {
    char date[DN_DAY_TEXT];

    dn_day_write(day, date);
    return json_string(date);
}

/* Totals count every row ever written, also of users removed since. So there cannot be more rows than totals. A missed row
 * may change its status during the audit. */
static bool totals_agree(const audit_day *d, const dn_day_totals *t) {
    return d->rows[DN_DAILY_SUCCESS] <= t->success && d->rows[DN_DAILY_CUTOFF] <= t->cutoff;
}

static void day_say(run *r, const audit_day *d, const dn_day_totals *t, uint64_t faulty) {
    const uint64_t rows =
        d->rows[DN_DAILY_SUCCESS] + d->rows[DN_DAILY_CUTOFF] + d->rows[DN_DAILY_MISSED];
    const uint64_t ever = t->success + t->cutoff + t->missed;
    const uint64_t removed = ever > rows ? ever - rows : 0;
    char           date[DN_DAY_TEXT], records[DN_WORDS];

    dn_day_write(d->day, date);
    (void)json_array_append_new(
        r->days,
        json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "day", date, "expected",
                  (json_int_t)d->expected, "success", (json_int_t)d->rows[DN_DAILY_SUCCESS],
                  "cutoff_reached", (json_int_t)d->rows[DN_DAILY_CUTOFF], "missed",
                  (json_int_t)d->rows[DN_DAILY_MISSED], "open", (json_int_t)d->open,
                  "of_removed_users", (json_int_t)removed, "faults", (json_int_t)faulty));
    if (r->call->json) return;
    printf("%s  %s: %" PRIu64 " success, %" PRIu64 " cutoff_reached, %" PRIu64 " missed", date,
           dn_words_count(rows, "record", records), d->rows[DN_DAILY_SUCCESS],
           d->rows[DN_DAILY_CUTOFF], d->rows[DN_DAILY_MISSED]);
    if (d->open > 0) printf("; %" PRIu64 " still open", d->open);
    if (removed > 0) printf("; %" PRIu64 " more belonged to users removed since", removed);
    printf("%s\n", faulty ? "; WRONG" : "");
}

/* ---- All of it ---- */

/* Waits while many writes are pending: a record that is decided but not committed is no gap. */
static bool look_when_quiet(run *r) {
    for (int i = 0; i < QUIET_LOOKS; i++) {
        if (!source_look(&r->source, r->call, &r->state)) return false;
        if (r->state.full || (!r->state.planning && r->state.waiting < HERD)) break;
        wait_a_little();
    }
    return true;
}

/* A user registered for a past day, or whose due time was moved into the past, gets the record at a tick. A tick that begins
 * after our reading knows that user. */
static bool look_after_a_tick(run *r) {
    const int64_t  as_of_ms = r->state.as_of_ms;
    bool           read = look_when_quiet(r);
    const uint64_t before = r->state.ticks;

    for (int i = 0; read && i < TICK_LOOKS && (r->state.ticks == before || r->state.ticks == 0);
         i++) {
        wait_a_little();
        read = source_look(&r->source, r->call, &r->state);
    }
    read = read && look_when_quiet(r);
    r->state.as_of_ms = as_of_ms;
    return read;
}

static bool is_owed_any(const run *r) {
    for (size_t i = 0; i < r->suspects_len; i++)
        if (r->suspects[i].fault == AUDIT_OWED) return true;
    return false;
}

static bool load_users(run *r) {
    uint64_t after_n = 0;
    size_t   len;

    audit_free(r->audit);
    r->audit = NULL;
    if (audit_new(&r->audit) < 0) {
        (void)complain(DN_EXIT_FAILED, "out of memory");
        return false;
    }
    do {
        if (!source_users(&r->source, after_n, r->users, SOURCE_PAGE, &len)) return false;
        for (size_t i = 0; i < len; i++) {
            const int rc = audit_add_user(r->audit, &r->users[i].user);
            if (rc < 0) {
                (void)complain(DN_EXIT_FAILED, "cannot read the users: %s", dn_error_text(rc));
                return false;
            }
        }
        if (len > 0) after_n = r->users[len - 1].user.n;
    } while (len > 0);
    return true;
}

static bool read_day_and_totals(run *r, audit_day *d, dn_day_totals *before, dn_day_totals *after) {
    *d = (audit_day){
        .day = d->day, .as_of_ms = r->state.as_of_ms, .on_fault = on_fault, .context = r};
    r->suspects_len = 0;
    return source_totals(&r->source, d->day, before) && read_day(r, d) &&
           source_totals(&r->source, d->day, after);
}

/* Many suspects are not checked one by one: many writes came between users and rows, so everything is read again. The same
 * holds for records that a tick is about to write. */
static bool has_to_be_read_again(const run *r) {
    return r->source.asked && (r->suspects_len > SUSPECTS_FEW || is_owed_any(r));
}

static bool audit_one_day(run *r, dn_day day) {
    const uint64_t faulty = r->faulty;
    audit_day      d = {.day = day};
    dn_day_totals  before, after;

    if (!read_day_and_totals(r, &d, &before, &after)) return false;
    for (int i = 0; i < READS_AGAIN && has_to_be_read_again(r); i++)
        if (!(is_owed_any(r) ? look_after_a_tick(r) : look_when_quiet(r)) || !load_users(r) ||
            !read_day_and_totals(r, &d, &before, &after))
            return false;
    if (!confirm(r, day)) return false;
    if (!totals_agree(&d, &after)) {
        r->faulty++;
        (void)json_array_append_new(r->faults,
                                    json_pack("{s:o, s:s}", "day", json_of_date(day), "fault",
                                              "has more records than were ever written"));
        if (!r->call->json) printf("the totals of the day do not agree with its records\n");
    }
    r->records += d.rows[DN_DAILY_SUCCESS] + d.rows[DN_DAILY_CUTOFF] + d.rows[DN_DAILY_MISSED];
    r->open += d.open;
    day_say(r, &d, &before, r->faulty - faulty);
    return true;
}

static int verdict(run *r) {
    const size_t days = json_array_size(r->days);
    const char  *first = json_string_value(json_object_get(json_array_get(r->days, 0), "day"));
    char         of_days[DN_WORDS], users[DN_WORDS], records[DN_WORDS], faults[DN_WORDS];

    if (r->faulty > 0 && r->state.full)
        return complain(DN_EXIT_FAILED,
                        "no result: the disk is full, and %" PRIu64 " writes wait in memory",
                        r->state.waiting);
    if (r->call->json) {
        (void)print_json(
            json_pack("{s:b, s:I, s:I, s:I, s:o, s:O, s:O}", "sound", r->faulty == 0, "users",
                      (json_int_t)audit_users(r->audit), "records", (json_int_t)r->records, "open",
                      (json_int_t)r->open, "ledger_since",
                      r->state.ledger_since == DN_DAY_NONE ? json_null()
                                                           : json_of_date(r->state.ledger_since),
                      "days", r->days, "faults", r->faults));
    } else if (days == 0) {
        printf("sound: no day is over yet\n");
    } else if (r->faulty == 0) {
        printf("sound: %s from %s on, %s, %s, exactly one for each user and finished day\n",
               dn_words_count(days, "day", of_days), first,
               dn_words_count(audit_users(r->audit), "user", users),
               dn_words_count(r->records, "record", records));
    } else printf("NOT SOUND: %s\n", dn_words_count(r->faulty, "fault", faults));
    return r->faulty == 0 ? DN_EXIT_DONE : DN_EXIT_VIOLATED;
}

/* Days before this one cannot be audited, because some of their records are gone. Prints that if `ledger_days` does not
 * explain it. */
static dn_day first_whole_day(const run *r, dn_day first) {
    char date[DN_DAY_TEXT];

    if (first >= r->state.ledger_since) return first;
    dn_day_write(r->state.ledger_since, date);
    if (!r->call->json)
        printf("not audited: days before %s, because not all of their records are kept\n", date);
    return r->state.ledger_since;
}

static int audit_all(run *r) {
    const dn_day today = dn_day_of_ms(r->state.now_ms);
    dn_day       first = audit_first_day(r->audit), last = today;

    if (first < today - (dn_day)r->state.ledger_days) first = today - (dn_day)r->state.ledger_days;
    if (audit_first_day(r->audit) == DN_DAY_NONE) first = today;
    /* Tomorrow may be over for some users: a window over midnight belongs to the day of its cutoff. Records written before the
     * clock was set back are audited too, as far as the ledger reaches. */
    if (audit_last_day(r->audit) > last) last = audit_last_day(r->audit);
    if (last > today + (dn_day)r->state.ledger_days) last = today + (dn_day)r->state.ledger_days;
    for (dn_day day = first_whole_day(r, first); day <= last; day++)
        if (!audit_one_day(r, day)) return DN_EXIT_FAILED;
    return verdict(r);
}

static int audit_asked(run *r, dn_day asked) {
    char date[DN_DAY_TEXT], since[DN_DAY_TEXT];

    if (asked < r->state.ledger_since) {
        dn_day_write(asked, date);
        dn_day_write(r->state.ledger_since, since);
        return complain(DN_EXIT_FAILED, "cannot audit %s: the ledger is complete only from %s on",
                        date, since);
    }
    return audit_one_day(r, asked) ? verdict(r) : DN_EXIT_FAILED;
}

static int run_all(run *r, dn_day asked) {
    if (!look_when_quiet(r)) return DN_EXIT_FAILED;
    if (r->state.ledger_days == 0)
        return complain(DN_EXIT_FAILED, "there is no ledger to audit, because ledger_days is 0");
    r->users = calloc(SOURCE_PAGE, sizeof *r->users);
    r->suspects = calloc(SUSPECTS_MAX, sizeof *r->suspects);
    r->days = json_array();
    r->faults = json_array();
    if (!r->users || !r->suspects || !r->days || !r->faults)
        return complain(DN_EXIT_FAILED, "out of memory");
    if (!load_users(r)) return DN_EXIT_FAILED;
    return asked == DN_DAY_NONE ? audit_all(r) : audit_asked(r, asked);
}

int cmd_audit(const call *c) {
    dn_day asked = DN_DAY_NONE;
    int    exit_code = when_day(c, "day", &asked);

    if (exit_code != DN_EXIT_DONE) return exit_code;
    run *r = calloc(1, sizeof *r);
    if (!r) return complain(DN_EXIT_FAILED, "out of memory");
    r->call = c;
    if (daemon_or_store(c, &r->source.asked, &r->source.store, &exit_code))
        exit_code = run_all(r, asked);
    audit_free(r->audit);
    free(r->users);
    free(r->suspects);
    json_decref(r->days);
    json_decref(r->faults);
    client_free(r->source.asked);
    dn_store_free(r->source.store);
    free(r);
    return exit_code;
}
