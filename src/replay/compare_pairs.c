/* compare_pairs.c - see compare_pairs.h. */
#include "compare_pairs.h"

#include "compare_table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct compare_pairs {
    compare_table   waiting;
    size_t          waiting_max;
    compare_changes changes;
};

compare_pairs *compare_pairs_new(size_t waiting_max) {
    compare_pairs *p = calloc(1, sizeof *p);

    if (p) p->waiting_max = waiting_max;
    return p;
}

void compare_pairs_free(compare_pairs *p) {
    if (!p) return;
    compare_table_clear(&p->waiting);
    free(p);
}

/* An id has no control characters, so all that is ever escaped in one is a quote or a backslash. */
int compare_id_order(const char *a, size_t a_len, const char *b, size_t b_len) {
    size_t i = 0, j = 0;

    for (; i < a_len && j < b_len; i++, j++) {
        i += a[i] == '\\' && i + 1 < a_len;
        j += b[j] == '\\' && j + 1 < b_len;
        if (a[i] != b[j]) return (unsigned char)a[i] < (unsigned char)b[j] ? -1 : 1;
    }
    return (i < a_len) - (j < b_len);
}

static bool is_before(const compare_entry *e, const compare_change *c) {
    if (e->day != c->day) return e->day < c->day;
    return compare_id_order(e->id, e->id_len, c->id, c->id_len) < 0;
}

static void name(compare_changes *c, const compare_entry *e) {
    size_t at = c->named_len;

    while (at > 0 && is_before(e, &c->named[at - 1])) at--;
    if (at == COMPARE_NAMED) return;
    c->named_len += c->named_len < COMPARE_NAMED;
    memmove(&c->named[at + 1], &c->named[at], (c->named_len - at - 1) * sizeof *c->named);
    c->named[at] = (compare_change){
        .day = e->day, .id_len = e->id_len, .outcome = {e->outcome[0], e->outcome[1]}};
    memcpy(c->named[at].id, e->id, e->id_len);
}

static void judge(compare_pairs *p, compare_entry *e) {
    if (e->outcome[0] != e->outcome[1]) {
        p->changes.all++;
        p->changes.from_to[e->outcome[0]][e->outcome[1]]++;
        name(&p->changes, e);
    }
    compare_table_remove(&p->waiting, e);
}

static bool is_closed(uint8_t outcome) {
    return outcome == COMPARE_SUCCESS || outcome == COMPARE_CUTOFF;
}

int compare_pairs_tell(compare_pairs *p, int side, const compare_day_end *end) {
    compare_entry *e = compare_table_need(&p->waiting, end->day, end->id, end->id_len);

    assert(end->id_len <= COMPARE_ID_MAX);
    if (!e) return DN_ENOMEM;
    e->outcome[side] = (uint8_t)end->outcome;
    if (is_closed(e->outcome[0]) && is_closed(e->outcome[1])) judge(p, e);
    else if (compare_table_len(&p->waiting) > p->waiting_max) judge(p, p->waiting.oldest);
    return DN_OK;
}

const compare_changes *compare_pairs_judge(compare_pairs *p) {
    while (p->waiting.oldest) judge(p, p->waiting.oldest);
    return &p->changes;
}
