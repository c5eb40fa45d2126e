/* store_changes.c - see store_changes.h. */
#include "store_changes.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROWS = 64 };

/* The rows in between lie between these numbers too, because each commit appends its own. */
static bool changes_is_sound(const store_changes *c) {
    if (c->begin + c->len > c->cap || (c->cap > 0 && !c->rows)) return false;
    if (c->len == 0) return c->begin == 0;
    return c->followed && c->rows[c->begin].seq > 0 &&
           c->rows[c->begin].seq <= c->rows[c->begin + c->len - 1].seq &&
           c->rows[c->begin + c->len - 1].seq <= c->seq;
}

void store_changes_done(store_changes *c) {
    free(c->rows);
    *c = (store_changes){0};
}

void store_changes_follow(store_changes *c) {
    c->begin = c->len = 0;
    c->followed = true;
    assert(changes_is_sound(c));
}

static void move_to_front(store_changes *c) {
    if (c->begin > 0) memmove(c->rows, c->rows + c->begin, c->len * sizeof *c->rows);
    c->begin = 0;
}

int store_changes_reserve(store_changes *c, size_t more) {
    size_t          cap = c->cap ? c->cap : FIRST_ROWS;
    dn_user_change *rows;

    assert(changes_is_sound(c));
    if (!c->followed) return DN_OK;
    if (c->len > 0 && c->len + more > DN_CHANGES_MAX) return DN_ENOMEM;
    if (c->begin + c->len + more <= c->cap) return DN_OK;
    move_to_front(c);
    while (cap < c->len + more) cap *= 2;
    if (cap == c->cap) return DN_OK;
    rows = realloc(c->rows, cap * sizeof *rows);
    if (!rows) return DN_ENOMEM;
    c->rows = rows;
    c->cap = cap;
    assert(changes_is_sound(c));
    return DN_OK;
}

/* Most ids are short, so most of a dn_user is not copied. */
static void change_copy(dn_user_change *to, const dn_user_change *from) {
    memcpy(to, from, offsetof(dn_user_change, user.id) + from->user.id_len + 1U);
}

static void user_copy(dn_user *to, const dn_user *from) {
    memcpy(to, from, offsetof(dn_user, id) + from->id_len + 1U);
}

static bool is_of_user(dn_write_op op) {
    return op == DN_WRITE_SET || op == DN_WRITE_REMOVE || op == DN_WRITE_FINALIZE ||
           op == DN_WRITE_MISSED;
}

uint64_t store_changes_add(store_changes *c, const dn_write *writes, size_t len,
                           const dn_write_result *results) {
    c->seq++;
    for (size_t i = 0; i < len && c->followed; i++) {
        const dn_write *w = &writes[i];
        if (!is_of_user(w->op) || results[i].wrote == DN_WROTE_GONE) continue;
        assert(c->begin + c->len < c->cap);
        dn_user_change *row = &c->rows[c->begin + c->len++];
        row->seq = c->seq;
        row->context = w->context;
        row->removed = w->op == DN_WRITE_REMOVE;
        row->by_request = w->op == DN_WRITE_SET || w->op == DN_WRITE_REMOVE;
        user_copy(&row->user, &results[i].user);
    }
    assert(changes_is_sound(c));
    return c->seq;
}

static void drop_up_to(store_changes *c, uint64_t seq) {
    while (c->len > 0 && c->rows[c->begin].seq <= seq) {
        c->begin++;
        c->len--;
    }
    if (c->len == 0) c->begin = 0;
}

/* The rows of the commit that begins with row i. */
static size_t commit_len(const store_changes *c, size_t i) {
    const dn_user_change *row = &c->rows[c->begin + i];
    size_t                len = 1;

    while (i + len < c->len && row[len].seq == row->seq) len++;
    return len;
}

void store_changes_read(store_changes *c, uint64_t after_seq, dn_user_change *rows, size_t max,
                        size_t *out_len, uint64_t *out_seq) {
    size_t given = 0, next;

    assert(changes_is_sound(c) && c->followed && after_seq <= c->seq);
    drop_up_to(c, after_seq);
    for (; given < c->len; given += next) {
        next = commit_len(c, given);
        if (given + next > max) break;
        for (size_t i = given; i < given + next; i++) change_copy(&rows[i], &c->rows[c->begin + i]);
    }
    assert(given > 0 || c->len == 0); /* max is less than a batch: it would never be given */
    *out_len = given;
    *out_seq = given < c->len ? c->rows[c->begin + given].seq - 1 : c->seq;
    assert(changes_is_sound(c));
}
