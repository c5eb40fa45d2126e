/* routes_import.c - POST /api/v1/daily/users:import: as many users as somebody sends, in the memory of a few.
 * While kv commits one batch the next is read; when that is full too, no more is read from the connection until there is
 * room, and what a piece brought to light waits in the reader. So a slow disk slows down who sends, and nothing piles up.
 * Of whoever sends slowly nothing is kept waiting for more: what has come is committed. */
#include "actor/pipe.h"
#include "routes.h"
#include "userfile.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    /* In one call, and so in one commit: it waits for the disk once for all of them, and who reads waits for it. Two
     * thousand take some ten milliseconds. */
    SETS_MAX = 2048,
    BATCH = 1 << 18, /* bytes of it */
    ERRORS_MAX = 100,
    COMMIT_MS = 60000,
};

typedef struct batch {
    size_t   bytes, sets;
    uint64_t lines[SETS_MAX];
    bool     silent[SETS_MAX]; /* it does not say when it begins */
    char     packed[BATCH];
} batch;

typedef struct import {
    dn_userfile *reader;
    batch        batches[2];
    int          filling; /* of the two; the other one is with kv, if `committing` */
    bool         committing;
    bool         trickles;     /* not even a piece came at once */
    bool         holds;        /* the reader, users there was no room for */
    bool         come, at_end; /* the whole body; and the reader knows it */
    uint64_t     accepted, rejected, tomorrow;
    json_t      *errors;
} import;

static void import_free(void *context) {
    import *im = context;

    dn_userfile_free(im->reader);
    json_decref(im->errors);
    free(im);
}

/* ---- What is read ---- */

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

/* rc: of what the reader was asked last. When it has read all there is, it is told that nothing comes behind it. */
static int read_on(import *im, int rc) {
    if (rc == DN_OK && im->come && !im->at_end) {
        im->at_end = true;
        rc = dn_userfile_end(im->reader);
    }
    im->holds = rc == DN_PENDING;
    return rc < 0 ? rc : DN_OK;
}

/* ---- What goes on ---- */

static route_step commit(dn_self *self, const route_world *w, exchange *x, import *im) {
    batch *b = &im->batches[im->filling];

    /* It may have waited for another commit since it was taken. */
    if (!exchange_still_may(self, w, x)) return exchange_no_more(x);
    if (dn_call(self, w->kv, MSG_KV_SET, b->packed, b->bytes, COMMIT_MS, &x->call) < 0)
        return exchange_answer(x, http_problem(503, "the daemon cannot answer now; what was sent "
                                                    "may be sent again"));
    im->committing = true;
    im->filling = !im->filling;
    im->batches[im->filling].bytes = im->batches[im->filling].sets = 0;
    return ROUTE_WAITS;
}

static route_step out_of_memory(exchange *x) {
    return exchange_answer(x, http_problem(503, "out of memory"));
}

static route_step result(exchange *x, import *im) {
    return exchange_answer(
        x, api_json(200, json_pack("{s:I, s:I, s:I, s:o}", "accepted", (json_int_t)im->accepted,
                                   "rejected", (json_int_t)im->rejected, "begin_tomorrow",
                                   (json_int_t)im->tomorrow, "errors", DN_TAKE(im->errors))));
}

/* With the next piece, with a commit that is done, or with both: what now? */
static route_step next(dn_self *self, const route_world *w, exchange *x, import *im) {
    for (;;) {
        const batch *b = &im->batches[im->filling];
        const bool   ended = im->at_end && !im->holds;
        const bool   must = is_full(b) || (ended && b->sets > 0);

        if (!im->committing && (must || (im->trickles && b->sets > 0))) {
            if (commit(self, w, x, im) == ROUTE_DONE) return ROUTE_DONE;
        } else if (must) {
            return ROUTE_WAITS;
        } else if (im->holds) {
            if (read_on(im, dn_userfile_go_on(im->reader)) < 0) return out_of_memory(x);
        } else if (!ended) {
            return ROUTE_WANTS_BODY;
        } else {
            return im->committing ? ROUTE_WAITS : result(x, im);
        }
    }
}

/* It was not said when they begin, and today's cutoff has passed. */
static bool begins_tomorrow(const dn_kv_set_answer *s, bool silent, dn_day today) {
    return silent && s->wrote == DN_WROTE_NEW && s->user.starts_on > today;
}

/* Answers come in the order of the batch: of those that were not with the filling one. */
static route_step committed(dn_self *self, const route_world *w, exchange *x, import *im,
                            const dn_msg *reply) {
    const batch *b = &im->batches[!im->filling];

    im->committing = false;
    if (dn_msg_kind(reply) != MSG_KV_ANSWER)
        return exchange_answer(x, http_problem(503, "the daemon did not answer in time; what was "
                                                    "sent may be sent again"));
    const dn_kv_set_answer *answers = dn_msg_body_borrow(reply);
    const size_t            len = dn_msg_size(reply) / sizeof *answers;
    const dn_day            today = dn_day_of_ms(dn_now_ms(self));
    for (size_t i = 0; i < len && i < b->sets; i++) {
        if (answers[i].status == DN_EAWAY)
            return exchange_answer(x, http_problem(503, "the store cannot be reached: send all of "
                                                        "it again"));
        if (answers[i].status == DN_EFULL)
            return exchange_answer(x, http_problem(507, "the disk is full: make room, and send all "
                                                        "of it again"));
        im->tomorrow +=
            answers[i].status == DN_OK && begins_tomorrow(&answers[i], b->silent[i], today);
        if (answers[i].status == DN_OK) im->accepted++;
        else if (refuse_line(im, b->lines[i], dn_error_text(answers[i].status)) < 0) break;
    }
    return next(self, w, x, im);
}

static bool is_type(const http_text *type, const char *name) {
    const size_t len = strlen(name);

    return type && type->len >= len && strncasecmp(type->at, name, len) == 0;
}

/* NDJSON, unless it is said to be CSV, or its first byte is to say. */
static dn_userfile_format format_of(const exchange *x) {
    const http_text *type = http_field_of(x->head, "content-type");

    if (is_type(type, "text/csv")) return DN_USERFILE_CSV;
    return is_type(type, "application/octet-stream") ? DN_USERFILE_ANY : DN_USERFILE_NDJSON;
}

static int begin(dn_userfile_format format, import **out_import) {
    import *im = calloc(1, sizeof *im);

    if (!im) return DN_ENOMEM;
    const dn_userfile_sink sink = {on_user, on_fault, im};
    im->errors = json_array();
    if (!im->errors || dn_userfile_new(format, &sink, &im->reader) < 0) {
        import_free(im);
        return DN_ENOMEM;
    }
    *out_import = im;
    return DN_OK;
}

route_step route_import(dn_self *self, const route_world *w, exchange *x, const dn_msg *reply) {
    import *im = x->stream;
    int     rc = DN_OK;

    if (reply) return committed(self, w, x, im, reply);
    if (!im) {
        rc = begin(format_of(x), &im);
        if (rc == DN_OK) {
            x->stream = im;
            x->stream_free = import_free;
        }
    }
    if (rc == DN_OK) {
        im->come = x->body_ends;
        im->trickles = x->body_len < ROUTE_PIECE;
        rc = read_on(im, dn_userfile_feed(im->reader, x->body, x->body_len));
    }
    return rc < 0 ? out_of_memory(x) : next(self, w, x, im);
}
