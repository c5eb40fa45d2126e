/* compare_totals.c - see compare_totals.h. The two lists of users are in one order, so they are read side by side. */
#define _GNU_SOURCE /* memmem */
#include "compare_totals.h"

#include "base/text.h"
#include "compare_pairs.h"

#include <assert.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "summary.json"

/* ---- The summary ---- */

static bool count_of(const json_t *object, const char *key, uint64_t *out) {
    const json_t *value = json_object_get(object, key);

    if (!json_is_integer(value) || json_integer_value(value) < 0) return false;
    *out = (uint64_t)json_integer_value(value);
    return true;
}

static bool totals_of(const json_t *object, summary_totals *out) {
    return count_of(object, "success", &out->success) &&
           count_of(object, "cutoff_reached", &out->cutoff_reached) &&
           count_of(object, "late_success", &out->late_success) &&
           count_of(object, "missed", &out->missed) && count_of(object, "starts", &out->starts);
}

static int by_day(const void *a, const void *b) {
    const compare_day *one = a, *two = b;

    return (one->day > two->day) - (one->day < two->day);
}

static void add(summary_totals *to, const summary_totals *t) {
    to->success += t->success;
    to->cutoff_reached += t->cutoff_reached;
    to->late_success += t->late_success;
    to->missed += t->missed;
    to->starts += t->starts;
}

/* DN_EINVAL: it is not what a run writes. */
static int days_of(json_t *days, compare_totals *t) {
    const char *key;
    json_t     *value;

    if (!json_is_object(days)) return DN_EINVAL;
    t->days = calloc(json_object_size(days) + 1, sizeof *t->days);
    if (!t->days) return DN_ENOMEM;
    json_object_foreach(days, key, value) {
        compare_day *day = &t->days[t->days_len++];

        if (dn_day_read(key, strlen(key), &day->day) < 0 || !totals_of(value, &day->totals))
            return DN_EINVAL;
        add(&t->all, &day->totals);
    }
    qsort(t->days, t->days_len, sizeof *t->days, by_day);
    return DN_OK;
}

static int summary_of(const json_t *root, compare_totals *t) {
    const json_t *p95 = json_object_get(json_object_get(root, "tick_wall_ms"), "p95");
    const json_t *violations = json_object_get(root, "invariant_violations");

    if (!json_is_number(p95) || !json_is_array(violations) ||
        !count_of(root, "peak_in_flight", &t->peak_in_flight) ||
        !count_of(root, "peak_depth", &t->peak_depth))
        return DN_EINVAL;
    t->tick_p95_ms = json_number_value(p95);
    t->violations = json_array_size(violations);
    return days_of(json_object_get(root, "days"), t);
}

int compare_totals_read(const char *dir, compare_totals *out, char why[COMPARE_WHY]) {
    const size_t len = strlen(dir) + sizeof "/" NAME;
    char        *path = malloc(len);
    FILE        *file = NULL;
    json_t      *root = NULL;
    int          rc = DN_EINVAL;

    if (!path) return dn_refuse(DN_ENOMEM, why, COMPARE_WHY, "out of memory");
    (void)snprintf(path, len, "%s/" NAME, dir);
    if (!(file = fopen(path, "re"))) {
        (void)snprintf(why, COMPARE_WHY,
                       "%s: %s; to compare with is the directory that an earlier run had as --out",
                       path, strerror(errno));
        goto out;
    }
    root = json_loadf(file, 0, NULL);
    rc = root ? summary_of(root, out) : DN_EINVAL;
    if (rc == DN_EINVAL)
        (void)snprintf(why, COMPARE_WHY, "%s is not the summary of a run as this diurnal writes it",
                       path);
    if (rc == DN_ENOMEM) (void)snprintf(why, COMPARE_WHY, "out of memory");
out:
    if (rc < 0) compare_totals_done(out);
    json_decref(root);
    if (file) (void)fclose(file);
    free(path);
    return rc;
}

void compare_totals_done(compare_totals *t) {
    free(t->days);
    *t = (compare_totals){0};
}

size_t compare_totals_days(const compare_totals *other, const compare_totals *own,
                           compare_days_look *look, void *context) {
    static const summary_totals nothing;
    size_t                      i = 0, j = 0, differ = 0;

    while (i < other->days_len || j < own->days_len) {
        const compare_day *a = i < other->days_len ? &other->days[i] : NULL;
        const compare_day *b = j < own->days_len ? &own->days[j] : NULL;
        assert(a || b);
        const dn_day          day = !b || (a && a->day < b->day) ? a->day : b->day;
        const bool            has_a = a && a->day == day, has_b = b && b->day == day;
        const summary_totals *left = has_a ? &a->totals : &nothing,
                             *right = has_b ? &b->totals : &nothing;
        i += has_a;
        j += has_b;
        if (memcmp(left, right, sizeof *left) == 0) continue;
        differ++;
        if (look) look(context, day, left, right);
    }
    return differ;
}

/* ---- The users ---- */

/* A line: its id, and what of it says how the user ends; when the last run was is no outcome. */
typedef struct user_line {
    compare_lines *lines;
    bool           ended;
    const char    *id, *before, *after;
    size_t         id_len, before_len, after_len;
} user_line;

static int user_next(user_line *u, char *why) {
    static const char begin[] = "{\"id\":\"",
                      run[] = ",\"last_run_at\":", epoch[] = ",\"context_epoch\":";
    const char *text;
    size_t      len;
    const int   rc = compare_lines_next(u->lines, &text, &len, why);

    u->ended = rc == DN_STOP;
    if (rc != DN_OK) return rc < 0 ? rc : DN_OK;
    const char *end = text + len, *at = text + sizeof begin - 1;
    if (len < sizeof begin || memcmp(text, begin, sizeof begin - 1) != 0) goto wrong;
    u->id = at;
    while (at < end && *at != '"') at += *at == '\\' && end - at > 1 ? 2 : 1;
    if (at >= end) goto wrong;
    u->id_len = (size_t)(at - u->id);
    u->before = at;
    if (!(at = memmem(at, (size_t)(end - at), run, sizeof run - 1))) goto wrong;
    u->before_len = (size_t)(at - u->before);
    if (!(at = memmem(at, (size_t)(end - at), epoch, sizeof epoch - 1))) goto wrong;
    u->after = at;
    u->after_len = (size_t)(end - at);
    return DN_OK;
wrong:
    return compare_lines_fault(u->lines, "no user as a replay writes them", why);
}

static bool ends_alike(const user_line *a, const user_line *b) {
    assert(a->before && a->after);
    assert(b->before && b->after);
    return a->before_len == b->before_len && a->after_len == b->after_len &&
           memcmp(a->before, b->before, a->before_len) == 0 &&
           memcmp(a->after, b->after, a->after_len) == 0;
}

int compare_users_read(compare_lines *other, compare_lines *own, compare_users *out,
                       char why[COMPARE_WHY]) {
    user_line a = {.lines = other}, b = {.lines = own};
    int       rc = user_next(&a, why);

    if (rc == DN_OK) rc = user_next(&b, why);
    while (rc == DN_OK && (!a.ended || !b.ended)) {
        const int order = a.ended   ? 1
                          : b.ended ? -1
                                    : compare_id_order(a.id, a.id_len, b.id, b.id_len);
        out->len[0] += order <= 0;
        out->len[1] += order >= 0;
        out->only[0] += order < 0;
        out->only[1] += order > 0;
        out->otherwise += order == 0 && !ends_alike(&a, &b);
        if (order <= 0) rc = user_next(&a, why);
        if (order >= 0 && rc == DN_OK) rc = user_next(&b, why);
    }
    return rc;
}
