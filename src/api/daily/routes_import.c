/* routes_import.c - POST /api/v1/daily/users:import: any number of users, in the memory of two batches.
 * While kv commits one batch the other is filled. When both are full, nothing is read from the connection until a commit
 * is done, so a slow disk slows the sender down and nothing piles up. A slow sender's users are committed as they come. */
#include "actor/pipe.h"
#include "reply.h"
#include "userfile.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    /* Users of one call, and so of one commit: about ten milliseconds, in which readers of the store wait. */
    SETS_MAX = DN_KV_CALL_WRITES_MAX,
    BATCH = 1 << 18,  /* bytes of it */
    ERRORS_MAX = 100, /* lines whose faults are told; the others are only counted */
    COMMIT_MS = 60000,
};

typedef struct batch {
    size_t   bytes, sets;
    uint64_t lines[SETS_MAX];
    bool     silent[SETS_MAX]; /* it has no starts_on */
    char     packed[BATCH];
} batch;

typedef struct import {
    dn_userfile *reader;
    batch        batches[2];
    int  filling; /* index of the batch that is filled; while `committing`, kv has the other one */
    bool committing;
    bool trickles; /* the last piece was short: the sender is slow */
    bool holds;    /* the reader holds users for which the batch had no room */
    bool come;     /* the whole body has come */
    bool at_end;   /* the reader was told so */
    uint64_t accepted, rejected, tomorrow;
    json_t  *errors;
} import;

static bool import_is_sound(const import *im) {
    for (int i = 0; i < 2; i++)
        if (im->batches[i].bytes > BATCH || im->batches[i].sets > SETS_MAX) return false;
    return (im->filling == 0 || im->filling == 1) && (im->come || !im->at_end);
}

static void import_free(void *state) {
    import *im = state;

    dn_userfile_free(im->reader);
    json_decref(im->errors);
    free(im);
}

/* ---- Reading ---- */

static int refuse_line(import *im, uint64_t line, const char *sentence) {
    im->rejected++;
    if (json_array_size(im->errors) >= ERRORS_MAX) return DN_OK;
    return json_array_append_new(im->errors, json_pack("{s:I, s:s}", "line", (json_int_t)line,
                                                       "detail", sentence)) == 0
               ? DN_OK
               : DN_ENOMEM;
}

static bool is_full(const batch *b) {
    return b->sets == SETS_MAX || b->bytes + dn_pipe_stride(sizeof(dn_kv_set) + DN_ID_MAX) > BATCH;
}

static int on_fault(void *context, const char *sentence, uint64_t line) {
    return refuse_line(context, line, sentence);
}

static int on_user(void *context, const dn_userfile_user *user, uint64_t line) {
    import      *im = context;
    batch       *b = &im->batches[im->filling];
    const size_t room = dn_pipe_stride(sizeof(dn_kv_set) + user->id_len);
    dn_kv_set   *set = (dn_kv_set *)(void *)(b->packed + b->bytes);

    assert(!is_full(b));
    memset(set, 0, room);
    *set = (dn_kv_set){.due = (uint16_t)user->due,
                       .id_len = (uint8_t)user->id_len,
                       .letter = user->starts_today,
                       .starts_on = user->starts_on};
    memcpy(set->id, user->id, user->id_len);
    b->silent[b->sets] = !user->starts_today && user->starts_on == DN_DAY_NONE;
    b->lines[b->sets++] = line;
    b->bytes += room;
    return is_full(b) ? DN_PENDING : DN_OK;
}

/* rc: what the reader returned last. Tells the reader when it has all there is. */
static int after_read(import *im, int rc) {
    if (rc == DN_OK && im->come && !im->at_end) {
        im->at_end = true;
        rc = dn_userfile_end(im->reader);
    }
    im->holds = rc == DN_PENDING;
    return rc < 0 ? rc : DN_OK;
}

/* ---- Committing ---- */

static reply_fn committed;

static route_step commit(dn_self *self, const api_world *w, exchange *x, import *im) {
    const batch *b = &im->batches[im->filling];

    /* It may have waited for another commit since it was read. */
    if (!exchange_still_may(self, w, x))
        return reply_unauthorized(x, "the token is no longer valid; the rest is not read");
    im->committing = true;
    im->filling = !im->filling;
    im->batches[im->filling].bytes = im->batches[im->filling].sets = 0;
    return exchange_try(self, w, x, w->kv, MSG_KV_SET, b->packed, b->bytes, COMMIT_MS, committed);
}

static route_step reply_import(exchange *x, import *im) {
    return reply_json(x, 200,
                      json_pack("{s:I, s:I, s:I, s:o}", "accepted", (json_int_t)im->accepted,
                                "rejected", (json_int_t)im->rejected, "begin_tomorrow",
                                (json_int_t)im->tomorrow, "errors", DN_TAKE(im->errors)));
}

/* After the next piece, or a commit that is done: what now? */
static route_step proceed(dn_self *self, const api_world *w, exchange *x, import *im) {
    for (;;) {
        assert(import_is_sound(im));
        const batch *b = &im->batches[im->filling];
        const bool   ended = im->at_end && !im->holds;
        const bool   must = is_full(b) || (ended && b->sets > 0);

        if (!im->committing && (must || (im->trickles && b->sets > 0))) {
            if (commit(self, w, x, im) == ROUTE_DONE) return ROUTE_DONE;
        } else if (must) {
            return ROUTE_WAITS;
        } else if (im->holds) {
            if (after_read(im, dn_userfile_go_on(im->reader)) < 0) return reply_no_memory(x);
        } else if (!ended) {
            return ROUTE_WANTS_BODY;
        } else {
            return im->committing ? ROUTE_WAITS : reply_import(x, im);
        }
    }
}

/* starts_on was not given, and today's cutoff has passed. */
static bool begins_tomorrow(const dn_kv_set_answer *s, bool silent, dn_day today) {
    return silent && s->wrote == DN_WROTE_NEW && s->user.starts_on > today;
}

/* Answers come in the order of the batch that is not filled. */
static route_step committed(dn_self *self, const api_world *w, exchange *x, const dn_msg *reply) {
    import      *im = x->state;
    const batch *b = &im->batches[!im->filling];

    im->committing = false;
    if (!reply || dn_msg_kind(reply) != MSG_KV_ANSWER)
        return reply_problem(x, 503, "the daemon did not answer in time; send everything again");
    const dn_kv_set_answer *answers = dn_msg_body_borrow(reply);
    const size_t            len = dn_msg_size(reply) / sizeof *answers;
    const dn_day            today = dn_day_of_ms(dn_now_ms(self));
    for (size_t i = 0; i < len && i < b->sets; i++) {
        if (answers[i].status == DN_EAWAY)
            return reply_problem(x, 503, "the store cannot be reached; send everything again");
        if (answers[i].status == DN_EFULL)
            return reply_problem(x, 507,
                                 "the disk is full; free some space and send everything again");
        im->tomorrow +=
            answers[i].status == DN_OK && begins_tomorrow(&answers[i], b->silent[i], today);
        if (answers[i].status == DN_OK) im->accepted++;
        else if (refuse_line(im, b->lines[i], dn_error_text(answers[i].status)) < 0) break;
    }
    return proceed(self, w, x, im);
}

/* ---- The request ---- */

static bool is_type(const http_text *type, const char *name) {
    const size_t len = strlen(name);

    return type && type->len >= len && strncasecmp(type->at, name, len) == 0;
}

/* NDJSON, unless Content-Type says CSV, or leaves it to the first byte. */
static dn_userfile_format format_of(const exchange *x) {
    const http_text *type = http_field_of(x->head, "content-type");

    if (is_type(type, "text/csv")) return DN_USERFILE_CSV;
    return is_type(type, "application/octet-stream") ? DN_USERFILE_ANY : DN_USERFILE_NDJSON;
}

/* NULL: out of memory. */
static import *import_begin(exchange *x) {
    import *im = exchange_keep(x, sizeof *im, import_free);

    if (!im) return NULL;
    const dn_userfile_sink sink = {on_user, on_fault, im};
    im->errors = json_array();
    return im->errors && dn_userfile_new(format_of(x), &sink, &im->reader) == DN_OK ? im : NULL;
}

/* Once for each piece of the body. */
static route_step import_users(dn_self *self, const api_world *w, exchange *x) {
    import *im = x->state ? x->state : import_begin(x);

    if (!im) return reply_no_memory(x);
    im->come = x->body_ends;
    im->trickles = x->body_len < ROUTE_PIECE;
    if (after_read(im, dn_userfile_feed(im->reader, x->body, x->body_len)) < 0)
        return reply_no_memory(x);
    return proceed(self, w, x, im);
}

const route routes_import[] = {
    {"POST", "/api/v1/daily/users:import", DN_SCOPE_OPERATE, ROUTE_STREAM, .handler = import_users},
    {.method = NULL},
};
