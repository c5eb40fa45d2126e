/* pending.c - see pending.h. */
#include "pending.h"

#include "actor/pipe.h"
#include "base/array.h"
#include "daily/daily_messages.h"
#include "text_out.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct pending_op {
    trace_op_kind kind;
    uint32_t      due, count;
    dn_day        starts_on;
    uint8_t       id_len;
    char          id[]; /* of TRACE_USERS: what the ids begin with */
};

void pending_free(pending *p) {
    for (size_t i = 0; i < p->len; i++) free(p->ops[i]);
    free(p->ops);
    *p = (pending){0};
}

/* What is done goes when it is half of all. */
static void tidy(pending *p) {
    if (p->done.op == 0 || p->done.op < p->len / 2) return;
    memmove(p->ops, p->ops + p->done.op, (p->len - p->done.op) * sizeof *p->ops);
    p->len -= p->done.op;
    p->sent.op -= p->done.op;
    p->done.op = 0;
}

int pending_add(pending *p, const trace_op *op) {
    tidy(p);
    if (DN_ARRAY_RESERVE(p->ops, p->cap, p->len + 1) < 0) return DN_ENOMEM;
    pending_op *one = malloc(sizeof *one + op->id_len);
    if (!one) return DN_ENOMEM;
    *one = (pending_op){
        .kind = op->kind,
        .due = op->due,
        .count = op->kind == TRACE_USERS ? op->count : 1,
        .starts_on = op->starts_on,
        .id_len = (uint8_t)op->id_len,
    };
    memcpy(one->id, op->id, op->id_len);
    p->ops[p->len++] = one;
    return DN_OK;
}

/* ---- Handing on ---- */

/* Which of the users of a line comes at that place. Those that are spread come minute by minute: who is due at one minute is
 * met at one time ever after, and stands together in all tables that number users as they come. */
static uint32_t index_at(const pending_op *o, uint32_t place) {
    const uint32_t least = o->count / DN_DAY_MINUTES, more = o->count % DN_DAY_MINUTES;
    const uint32_t in_more =
        more * (least + 1); /* users of the first minutes, which have one more */

    if (o->due != TRACE_DUE_SPREAD) return place;
    if (place < in_more) return place / (least + 1) + place % (least + 1) * DN_DAY_MINUTES;
    return more + (place - in_more) / least + (place - in_more) % least * DN_DAY_MINUTES;
}

static size_t put_set(char *at, const pending_op *o, uint32_t place) {
    dn_kv_set     *s = (dn_kv_set *)(void *)at;
    char          *end = s->id + o->id_len;
    const uint32_t i = index_at(o, place);

    *s = (dn_kv_set){
        .due = (uint16_t)(o->due == TRACE_DUE_SPREAD ? i % DN_DAY_MINUTES : o->due),
        .starts_on = o->starts_on,
        .letter_if_new = true,
    };
    memcpy(s->id, o->id, o->id_len);
    if (o->kind == TRACE_USERS) end = text_out_number(end, i);
    s->id_len = (uint8_t)(end - s->id);
    const size_t size = sizeof *s + s->id_len, room = dn_pipe_stride(size);
    memset(at + size, 0, room - size);
    return room;
}

static void step(pending *p, pending_place *place) {
    if (++place->user < p->ops[place->op]->count) return;
    place->op++;
    place->user = 0;
}

static size_t next_sets(pending *p, void *body) {
    size_t at = 0;

    while (p->sent.op < p->len && p->ahead < PENDING_AHEAD_MAX) {
        const pending_op *o = p->ops[p->sent.op];
        if (o->kind == TRACE_REMOVE) break;
        if (o->count > 0) {
            if (at + dn_pipe_stride(sizeof(dn_kv_set) + DN_ID_MAX) > PENDING_BYTES) break;
            at += put_set((char *)body + at, o, p->sent.user);
            p->ahead++;
        }
        step(p, &p->sent);
    }
    return at;
}

size_t pending_next(pending *p, uint32_t *out_kind, void *body) {
    *out_kind = MSG_KV_SET;
    const size_t size = next_sets(p, body);
    if (size > 0 || p->sent.op == p->len || p->ahead >= PENDING_AHEAD_MAX) return size;
    const pending_op *o = p->ops[p->sent.op];
    dn_kv_id         *id = body;
    *out_kind = MSG_KV_REMOVE;
    id->len = o->id_len;
    memcpy(id->id, o->id, o->id_len);
    step(p, &p->sent);
    return sizeof *id;
}

/* ---- Done ---- */

/* Nobody says that there was none to remove: what is said of what came behind it tells. */
static const pending_op *first_but_removals(pending *p, bool removals_too) {
    while (p->done.op < p->sent.op || (p->done.op == p->sent.op && p->done.user < p->sent.user)) {
        const pending_op *o = p->ops[p->done.op];
        if (o->count > 0 && (removals_too || o->kind != TRACE_REMOVE)) return o;
        free(p->ops[p->done.op]);
        p->ops[p->done.op++] = NULL;
        p->done.user = 0;
    }
    return NULL;
}

static void one_is_done(pending *p) {
    const size_t op = p->done.op;

    step(p, &p->done);
    if (p->done.op == op) return;
    free(p->ops[op]);
    p->ops[op] = NULL;
}

void pending_is_set(pending *p) {
    if (!first_but_removals(p, false)) return;
    p->ahead--;
    one_is_done(p);
}

void pending_is_removed(pending *p, const char *id, size_t id_len) {
    for (const pending_op *o; (o = first_but_removals(p, true)) && o->kind == TRACE_REMOVE;) {
        const bool same = o->id_len == id_len && memcmp(o->id, id, id_len) == 0;
        one_is_done(p);
        if (same) return;
    }
}

void pending_again(pending *p) {
    p->sent = p->done;
    p->ahead = 0;
}
