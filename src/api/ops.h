/* ops.h - what a daemon can be asked, and how it is answered: members of a request, and of its answer.
 *
 *     {"op":"remove","id"}                                                   "user"
 *     {"op":"user","id"}                                                     "user"
 *     {"op":"list","status","due_from","due_to","prefix","after","max"}      "items": users, "more", "last": id
 *     {"op":"numbers","after","max"} "items": [n,due,starts_on,last_day,recorded,status,id], days as numbers
 *     {"op":"day","day","after","max"}    "items": [n,status,cls,attempts,at_ms]
 *     {"op":"today","day"}          "items": due, users, success, cutoff_reached, missed, pending, running; "queue",
 *                                                                         "executor"
 *     {"op":"why","id","day"}       "user", "days", "sentences"
 *     {"op":"status"}               "daemon", "tick", "queue", "executor", "store", "slo": one each; "slo" is null
 *                                                                         while the watcher is being started again
 *     {"op":"backup","path"}        done, when the copy is whole
 *     {"op":"put","id","due","starts_on"}   "new", "tomorrow", "user"
 *     {"op":"days","id","before","max"}     "items": ledger rows, newest first; "next_cursor"
 *     {"op":"history","first","last","cursor"} "items": totals, by day; "next_cursor"
 *     {"op":"running","max"}                "items": id, due, day, attempt, since, the oldest first; "running": all
 *     {"op":"slo"}                          "items"
 *     {"op":"actors"}                       "items", "loops", "crashes"
 *     {"op":"tokens"}                       "items": "id", "name", "scope", "created_at", "expires_at"
 *     {"op":"token_make","name","scope","expires_at"}  one of these, and "token": it is shown only here
 *     {"op":"token_revoke","id"}            done
 *
 * A request is a row of steps: each sends one question to an actor and goes on with its answer. */
#ifndef DIURNAL_API_OPS_H
#define DIURNAL_API_OPS_H

#include "about.h"
#include "auth/auth.h"
#include "daily/daily_messages.h"

#include <jansson.h>

/* What all requests share. */
typedef struct ops_world {
    const dn_about *about;
    dn_ref          kv, tick, queue, executor, watcher;
    guard          *guard;    /* who may */
    int64_t         since_ms; /* the daemon is up */
    char           *scratch;  /* OPS_SCRATCH bytes, for the length of a step */
} ops_world;
enum { OPS_SCRATCH = 1 << 17 };

typedef enum ask_step {
    ASK_WAITS,   /* for the answer to `call` */
    ASK_DONE,    /* answer is whole */
    ASK_REFUSED, /* `why` says so */
} ask_step;

enum { ASK_WHY = 512, ASK_ROWS_MAX = 8 };

/* One request under way. Freed with ask_done, whenever. */
typedef struct ask {
    uint64_t         late; /* dn_queue_status.late */
    const struct op *op;
    json_t          *request, *answer;
    int              stage;
    dn_call_id       call;
    bool             whole;  /* the answer, also if that call fails */
    bool             done;   /* what was asked for, whatever becomes of the answer */
    bool             unsure; /* refused, and what was asked for may yet be done */
    dn_user          user;
    dn_day           day;
    dn_queued_user   queued;
    dn_ledger_row    rows[ASK_ROWS_MAX];
    size_t           rows_len;
    struct past_day *past; /* of ops_today.c, or NULL */
    const char      *code; /* of a refusal, for programs; NULL: "failed" */
    char             why[ASK_WHY];
} ask;

/* Takes request. */
ask_step ask_begin(dn_self *self, const ops_world *w, ask *a, json_t *request);
/* The answer to a->call, or its DN_MSG_CALL_FAILED. */
ask_step ask_go_on(dn_self *self, const ops_world *w, ask *a, const dn_msg *reply);
void     ask_done(ask *a);

/* ---- For the files that make the operations ---- */

typedef ask_step op_fn(dn_self *self, const ops_world *w, ask *a, const dn_msg *reply);

ask_step ask_refuse(ask *a, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
ask_step ask_call(dn_self *self, ask *a, dn_ref to, uint32_t kind, const void *body, size_t size);
ask_step ask_call_long(dn_self *self, ask *a, dn_ref to, uint32_t kind, const void *body,
                       size_t size);
/* The last question, and one that the answer can do without: if nobody answers, it is done as it stands. */
ask_step ask_call_for_more(dn_self *self, ask *a, dn_ref to, uint32_t kind, const void *body,
                           size_t size);
/* Puts a value into the answer, which takes it; NULL is out of memory. */
void ask_put(ask *a, const char *key, json_t *value);
/* The "id" of the request, which is a text, is nobody's. */
ask_step ask_refuse_unknown(ask *a, const char *what);
/* A status an actor answered that is not DN_OK. */
ask_step ask_refuse_status(ask *a, int status);

/* Members of the request. False: there, but not that (a->why says so). Left out or null is true, and *out untouched. */
bool ask_text(ask *a, const char *key, const char **out_text, size_t *out_len);
bool ask_number(ask *a, const char *key, int64_t least, int64_t most, int64_t *out_number);
bool ask_day(ask *a, const char *key, dn_day *out_day);
bool ask_id(ask *a, dn_kv_id *out_id); /* required */

/* ops_users.c, ops_ledger.c, ops_today.c, ops_daemon.c, ops_actors.c, ops_tokens.c */
op_fn op_put, op_remove, op_user, op_list, op_numbers;
op_fn op_day, op_days, op_history, op_why;
op_fn op_today, op_running, op_status, op_slo, op_actors, op_backup;
op_fn op_tokens, op_token_make, op_token_revoke;

#endif
