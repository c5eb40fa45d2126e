/* compare.c - see compare.h. */
#include "compare_own.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* So many user-days may wait for their pair: four days of all users, and of few users as many as cost nothing. */
enum { WAITING_LEAST = 1 << 20, WAITING_DAYS = 4 };

static int starved(char *why) { return dn_refuse(DN_ENOMEM, why, COMPARE_WHY, "out of memory"); }

static int side_open(compare *c, int side, char *why) {
    int rc = compare_totals_read(c->dirs[side], &c->totals[side], why);

    if (rc == DN_OK) rc = compare_lines_open(c->dirs[side], "users.ndjson", &c->users[side], why);
    if (rc == DN_OK) rc = compare_log_open(c->dirs[side], &c->logs[side], why);
    return rc;
}

static bool is_same(const char *one, const char *other) {
    struct stat a, b;

    return stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

int compare_open(const char *other, const char *out, compare **out_compare, char why[COMPARE_WHY]) {
    compare *c = calloc(1, sizeof *c);
    int      rc;

    if (!c) return starved(why);
    c->dirs[0] = strdup(other);
    c->dirs[1] = strdup(out);
    if (!c->dirs[0] || !c->dirs[1]) {
        rc = starved(why);
    } else if (is_same(other, out)) {
        rc = DN_EINVAL;
        (void)snprintf(why, COMPARE_WHY,
                       "%s is where this run writes; compare with the directory of another", other);
    } else {
        rc = side_open(c, 0, why);
    }
    if (rc == DN_OK) *out_compare = c;
    else compare_free(c);
    return rc;
}

void compare_free(compare *c) {
    if (!c) return;
    for (int side = 0; side < 2; side++) {
        compare_log_free(c->logs[side]);
        compare_lines_free(c->users[side]);
        compare_totals_done(&c->totals[side]);
        free(c->dirs[side]);
    }
    compare_pairs_free(c->pairs);
    free(c);
}

/* The one that is behind on its steady line is read: what is a pair meets soon. */
static int logs_read(compare *c, char *why) {
    int rc = DN_OK;

    while (rc == DN_OK) {
        int64_t                at_ms[2];
        const compare_day_end *ends[2] = {compare_log_head(c->logs[0], &at_ms[0]),
                                          compare_log_head(c->logs[1], &at_ms[1])};
        if (!ends[0] && !ends[1]) break;
        const int side = !ends[0] || (ends[1] && at_ms[1] < at_ms[0]);
        rc = compare_pairs_tell(c->pairs, side, ends[side]);
        if (rc < 0) return starved(why);
        rc = compare_log_next(c->logs[side], why);
    }
    return rc;
}

int compare_read(compare *c, char why[COMPARE_WHY]) {
    int rc = side_open(c, 1, why);

    if (rc == DN_OK) rc = compare_users_read(c->users[0], c->users[1], &c->people, why);
    if (rc < 0) return rc;
    const uint64_t most = c->people.len[0] > c->people.len[1] ? c->people.len[0] : c->people.len[1];
    c->pairs = compare_pairs_new(WAITING_LEAST + WAITING_DAYS * (size_t)most);
    if (!c->pairs) return starved(why);
    rc = logs_read(c, why);
    if (rc == DN_OK) c->changes = compare_pairs_judge(c->pairs);
    return rc;
}
