/* ops_daemon.c - who runs, and how the daemon is. */
#include "actor/pipe.h"
#include "admin/json_status.h"
#include "daily/json_user.h"
#include "ops.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- running: who runs, and since when ---- */

enum { RUNNING_MAX = 500 };

static int older_first(const void *a, const void *b) {
    const dn_running *const *r = a, *const *s = b;

    return ((*r)->since_ms > (*s)->since_ms) - ((*r)->since_ms < (*s)->since_ms);
}

static json_t *running_item(const dn_running *r) {
    char due[DN_DUE_TEXT];

    dn_due_write(r->due, due);
    return json_pack("{s:s%, s:s, s:o, s:I, s:o}", "id", r->id, (size_t)r->id_len, "due", due,
                     "day", json_of_day(r->day), "attempt", (json_int_t)r->attempt, "since",
                     json_of_instant(r->since_ms));
}

static ask_step running_answer(ask *a, const dn_msg *reply, size_t max) {
    size_t len = 0, at = 0;

    for (DN_PIPE_EACH_ID(dn_running, r, reply)) len++;
    const dn_running **all = len > 0 ? malloc(len * sizeof *all) : NULL;
    json_t            *items = json_array();
    if (all) {
        for (DN_PIPE_EACH_ID(dn_running, r, reply)) all[at++] = r;
        qsort(all, len, sizeof *all, older_first);
    }
    for (size_t i = 0; i < at && i < max; i++)
        (void)json_array_append_new(items, running_item(all[i]));
    free(all);
    const bool whole = at == len && json_array_size(items) == (len < max ? len : max);
    ask_put(a, "items", items);
    ask_put(a, "running", json_integer((json_int_t)len));
    return whole ? ASK_DONE : ask_refuse(a, "failed", "out of memory");
}

ask_step op_running(dn_self *self, const ops_world *w, ask *a, const dn_msg *reply) {
    int64_t max = RUNNING_MAX;

    if (!ask_number(a, "max", 1, RUNNING_MAX, &max)) return ASK_REFUSED;
    if (reply) return running_answer(a, reply, (size_t)max);
    return ask_call(self, a, w->queue, MSG_ASK_RUNNING, NULL, 0);
}

/* ---- status: each actor in turn ---- */

enum { STATUS_TICK = 1, STATUS_QUEUE, STATUS_EXECUTOR, STATUS_KV, STATUS_SLO };

static json_t *daemon_item(dn_self *self, const ops_world *w) {
    const dn_service_config *c = w->about->service;

    return json_pack(
        "{s:I, s:s, s:s, s:s, s:s, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:I}", "pid",
        (json_int_t)getpid(), "version", w->about->version, "data", w->about->data, "runner",
        w->about->runner, "listen", w->about->listens, "now", json_of_instant(dn_now_ms(self)),
        "started_at", json_of_instant(w->since_ms), "tick_ms", (json_int_t)c->tick_ms,
        "window_minutes", (json_int_t)c->window_minutes, "retry_delay_minutes",
        (json_int_t)c->retry_delay_minutes, "max_concurrency", (json_int_t)c->max_concurrency,
        "job_timeout_ms", (json_int_t)c->job_timeout_ms, "ledger_days", (json_int_t)c->ledger_days);
}

ask_step op_status(dn_self *self, const ops_world *w, ask *a, const dn_msg *reply) {
    switch (a->stage) {
    case STATUS_TICK:
        ask_put(a, "tick", json_of_tick_status(DN_BODY(dn_tick_status, reply)));
        return ask_call(self, a, w->queue, MSG_ASK_STATUS, NULL, 0);
    case STATUS_QUEUE:
        ask_put(a, "queue", json_of_queue_status(DN_BODY(dn_queue_status, reply)));
        a->late = DN_BODY(dn_queue_status, reply)->late;
        return ask_call(self, a, w->executor, MSG_ASK_STATUS, NULL, 0);
    case STATUS_EXECUTOR:
        ask_put(a, "executor",
                json_of_executor_status(DN_BODY(dn_executor_status, reply), a->late));
        return ask_call(self, a, w->kv, MSG_KV_STATUS, NULL, 0);
    case STATUS_KV:
        ask_put(a, "store", json_of_kv_status(DN_BODY(dn_kv_status, reply)));
        ask_put(a, "slo", json_null()); /* while the watcher is being started again */
        return ask_call_for_more(self, a, w->watcher, DN_SLO_ASK, NULL, 0);
    case STATUS_SLO:
        ask_put(a, "slo", json_of_slo_report(DN_BODY(dn_slo_report, reply)));
        return ASK_DONE;
    default:
        ask_put(a, "daemon", daemon_item(self, w));
        return ask_call(self, a, w->tick, MSG_ASK_STATUS, NULL, 0);
    }
}

/* ---- The SLOs ---- */

ask_step op_slo(dn_self *self, const ops_world *w, ask *a, const dn_msg *reply) {
    if (!reply) return ask_call(self, a, w->watcher, DN_SLO_ASK, NULL, 0);
    ask_put(a, "items", json_of_slo_report(DN_BODY(dn_slo_report, reply)));
    return ASK_DONE;
}

/* ---- A copy of the store ---- */

static ask_step backup_answer(ask *a, const dn_msg *reply) {
    const dn_kv_words *answer = DN_BODY(dn_kv_words, reply);

    const char *why = answer->words[0] ? answer->words : dn_error_text(answer->status);

    switch (answer->status) {
    case DN_OK: return ASK_DONE;
    case DN_EINVAL: return ask_refuse(a, "invalid", "%s", why);
    case DN_EFULL: return ask_refuse(a, "full", "%s", why);
    case DN_EEXIST: /* it is there already, or another one is under way */
    case DN_EFAILED: return ask_refuse(a, "conflict", "%s", why); /* no such directory */
    default: return ask_refuse(a, "failed", "%s", why);
    }
}

ask_step op_backup(dn_self *self, const ops_world *w, ask *a, const dn_msg *reply) {
    const char *path = "";
    size_t      len = 0;

    if (reply) return backup_answer(a, reply);
    if (!ask_text(a, "path", &path, &len)) return ASK_REFUSED;
    /* The daemon's working directory is not its client's. */
    if (*path != '/' || strlen(path) != len)
        return ask_refuse(a, "invalid", "\"path\" is not an absolute path");
    return ask_call_long(self, a, w->kv, MSG_KV_BACKUP, path, len);
}
