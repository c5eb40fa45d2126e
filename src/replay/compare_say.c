/* compare_say.c - a comparison, for people and for programs. */
#include "compare_own.h"

#include <inttypes.h>
#include <string.h>

enum { DAYS_NAMED = 20 };

static const char *const outcome_names[COMPARE_OUTCOMES] = {
    [COMPARE_NOTHING] = "nothing",
    [COMPARE_SUCCESS] = "success",
    [COMPARE_CUTOFF] = "cutoff_reached",
    [COMPARE_MISSED] = "missed",
};

/* ---- For people ---- */

static void row(FILE *f, const char *what, uint64_t other, uint64_t own) {
    fprintf(f, "%-26s%14" PRIu64 "%14" PRIu64, what, other, own);
    if (own > other) fprintf(f, "%+14" PRId64, (int64_t)(own - other));
    if (own < other) fprintf(f, "%+14" PRId64, -(int64_t)(other - own));
    fprintf(f, "\n");
}

static void rows_of_times(FILE *f, const char *what, const compare_times *other,
                          const compare_times *own) {
    char name[40];

    (void)snprintf(name, sizeof name, "%s, p50 ms", what);
    row(f, name, compare_times_quantile(other, 0.5), compare_times_quantile(own, 0.5));
    (void)snprintf(name, sizeof name, "%s, p95 ms", what);
    row(f, name, compare_times_quantile(other, 0.95), compare_times_quantile(own, 0.95));
    (void)snprintf(name, sizeof name, "%s, longest ms", what);
    row(f, name, other->longest_ms, own->longest_ms);
}

static void print_totals(const compare *c, FILE *f) {
    const compare_totals *other = &c->totals[0], *own = &c->totals[1];

    fprintf(f, "%-26s%14s%14s\n", "", "other", "this");
    row(f, "users", c->people.len[0], c->people.len[1]);
    row(f, "successes", other->all.success, own->all.success);
    row(f, "cutoffs", other->all.cutoff_reached, own->all.cutoff_reached);
    row(f, "missed", other->all.missed, own->all.missed);
    row(f, "late successes", other->all.late_success, own->all.late_success);
    row(f, "starts", other->all.starts, own->all.starts);
    row(f, "running at once, most", other->peak_in_flight, own->peak_in_flight);
    row(f, "in the queue, most", other->peak_depth, own->peak_depth);
    rows_of_times(f, "a job took", compare_log_jobs(c->logs[0]), compare_log_jobs(c->logs[1]));
    rows_of_times(f, "waited for it", compare_log_waits(c->logs[0]), compare_log_waits(c->logs[1]));
    fprintf(f, "%-26s%14.4f%14.4f\n", "a tick took, p95 ms", other->tick_p95_ms, own->tick_p95_ms);
    row(f, "invariants violated", other->violations, own->violations);
}

typedef struct day_list {
    FILE  *f;
    size_t len;
} day_list;

static void put_difference(FILE *f, const char *what, uint64_t other, uint64_t own) {
    if (other != own) fprintf(f, "  %s %" PRIu64 " → %" PRIu64, what, other, own);
}

static void print_day(void *context, dn_day day, const summary_totals *other,
                      const summary_totals *own) {
    day_list *list = context;
    char      text[DN_DAY_TEXT];

    if (list->len++ >= DAYS_NAMED) return;
    dn_day_write(day, text);
    fprintf(list->f, "  %s", text);
    put_difference(list->f, "successes", other->success, own->success);
    put_difference(list->f, "cutoffs", other->cutoff_reached, own->cutoff_reached);
    put_difference(list->f, "missed", other->missed, own->missed);
    put_difference(list->f, "late successes", other->late_success, own->late_success);
    put_difference(list->f, "starts", other->starts, own->starts);
    fprintf(list->f, "\n");
}

static void print_days(const compare *c, FILE *f) {
    const size_t differ = compare_totals_days(&c->totals[0], &c->totals[1], NULL, NULL);
    day_list     list = {.f = f};

    fprintf(f, differ > 0 ? "%zu %s:\n" : "no day has other totals\n", differ,
            differ == 1 ? "day has other totals" : "days have other totals");
    (void)compare_totals_days(&c->totals[0], &c->totals[1], print_day, &list);
    if (differ > DAYS_NAMED) fprintf(f, "  … and %zu more\n", differ - DAYS_NAMED);
}

static void print_changes(const compare *c, FILE *f) {
    const compare_changes *changes = c->changes;

    if (changes->all == 0) {
        fprintf(f, "every user-day came out the same\n");
        return;
    }
    fprintf(f, "%" PRIu64 " %s came out otherwise:\n", changes->all,
            changes->all == 1 ? "user-day" : "user-days");
    for (int from = 0; from < COMPARE_OUTCOMES; from++)
        for (int to = 0; to < COMPARE_OUTCOMES; to++)
            if (changes->from_to[from][to] > 0)
                fprintf(f, "%12" PRIu64 "  %s → %s\n", changes->from_to[from][to],
                        outcome_names[from], outcome_names[to]);
    fprintf(f, changes->all > COMPARE_NAMED ? "the first of them:\n" : "these:\n");
    for (size_t i = 0; i < changes->named_len; i++) {
        const compare_change *n = &changes->named[i];
        char                  day[DN_DAY_TEXT];
        dn_day_write(n->day, day);
        fprintf(f, "  %s  %.*s: %s → %s\n", day, (int)n->id_len, n->id,
                outcome_names[n->outcome[0]], outcome_names[n->outcome[1]]);
    }
}

void compare_print(const compare *c, FILE *f) {
    const compare_users *people = &c->people;

    fprintf(f, "\ncompared with %s (other):\n", c->dirs[0]);
    print_totals(c, f);
    print_days(c, f);
    print_changes(c, f);
    if (people->otherwise > 0)
        fprintf(f, "users whose end is another: %" PRIu64 "\n", people->otherwise);
    if (people->only[0] + people->only[1] > 0)
        fprintf(f, "users only the other has in the end: %" PRIu64 "; only this: %" PRIu64 "\n",
                people->only[0], people->only[1]);
}

/* ---- For programs ---- */

static json_t *count(uint64_t n) { return json_integer((json_int_t)n); }

static json_t *json_of_totals(const summary_totals *t) {
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "success", count(t->success), "cutoff_reached",
                     count(t->cutoff_reached), "late_success", count(t->late_success), "missed",
                     count(t->missed), "starts", count(t->starts));
}

static json_t *json_of_times(const compare_times *t) {
    return json_pack("{s:o, s:o, s:o}", "p50", count(compare_times_quantile(t, 0.5)), "p95",
                     count(compare_times_quantile(t, 0.95)), "max", count(t->longest_ms));
}

static json_t *json_of_side(const compare *c, int side) {
    const compare_totals *t = &c->totals[side];
    json_t               *all = json_of_totals(&t->all);

    if (all)
        (void)json_object_update_new(
            all,
            json_pack("{s:s, s:o, s:o, s:o, s:f, s:o, s:o, s:o}", "dir", c->dirs[side], "users",
                      count(c->people.len[side]), "peak_in_flight", count(t->peak_in_flight),
                      "peak_depth", count(t->peak_depth), "tick_wall_p95_ms", t->tick_p95_ms,
                      "invariant_violations", count(t->violations), "job_ms",
                      json_of_times(compare_log_jobs(c->logs[side])), "wait_ms",
                      json_of_times(compare_log_waits(c->logs[side]))));
    return all;
}

static void json_day(void *context, dn_day day, const summary_totals *other,
                     const summary_totals *own) {
    char text[DN_DAY_TEXT];

    dn_day_write(day, text);
    (void)json_object_set_new(
        context, text,
        json_pack("{s:o, s:o}", "other", json_of_totals(other), "this", json_of_totals(own)));
}

/* An id as the lines have it is the inside of a JSON string. */
static json_t *json_of_id(const compare_change *n) {
    char quoted[COMPARE_ID_MAX + 2];

    quoted[0] = '"';
    memcpy(quoted + 1, n->id, n->id_len);
    quoted[n->id_len + 1] = '"';
    return json_loadb(quoted, (size_t)n->id_len + 2, JSON_DECODE_ANY, NULL);
}

static json_t *json_of_changes(const compare_changes *changes) {
    json_t *from_to = json_array(), *named = json_array();

    for (int from = 0; from < COMPARE_OUTCOMES; from++)
        for (int to = 0; to < COMPARE_OUTCOMES; to++)
            if (changes->from_to[from][to] > 0)
                (void)json_array_append_new(from_to, json_pack("{s:s, s:s, s:o}", "other",
                                                               outcome_names[from], "this",
                                                               outcome_names[to], "user_days",
                                                               count(changes->from_to[from][to])));
    for (size_t i = 0; i < changes->named_len; i++) {
        const compare_change *n = &changes->named[i];
        char                  day[DN_DAY_TEXT];
        dn_day_write(n->day, day);
        (void)json_array_append_new(
            named, json_pack("{s:o, s:s, s:s, s:s}", "user", json_of_id(n), "day", day, "other",
                             outcome_names[n->outcome[0]], "this", outcome_names[n->outcome[1]]));
    }
    return json_pack("{s:o, s:o, s:o}", "user_days", count(changes->all), "from_to", from_to,
                     "first", named);
}

json_t *compare_json(const compare *c) {
    json_t *days = json_object();

    (void)compare_totals_days(&c->totals[0], &c->totals[1], json_day, days);
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "other", json_of_side(c, 0), "this",
                     json_of_side(c, 1), "days", days, "changed", json_of_changes(c->changes),
                     "users_otherwise", count(c->people.otherwise), "users_only_other",
                     count(c->people.only[0]), "users_only_this", count(c->people.only[1]));
}
