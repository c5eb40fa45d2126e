/* kv_read.c - what kv is asked. Answers say what is committed, and are short enough that no write waits long
 * behind one. */
#include "kv.h"

#include "obs/log.h"

#include <string.h>

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* ---- Loading ---- */

/* A planner that starts while successes wait in the line is to know of them: nobody else would keep their jobs from
 * running once more, if the queue is new too. Which they are is looked up once, and kept until it has all users: it alone
 * is sure to ask for them to the end, or ends itself, and the next one begins anew. */
static void end_to_load(kv *k) {
    k->loading = false;
    dn_number_map_done(&k->pending_ok);
}

static void begin_to_load(kv *k) {
    end_to_load(k);
    k->loading = true;
    for (size_t i = 0; i < k->line.len; i++)
        if (dn_msg_kind(k->line.rows[i].msg) == MSG_FINALIZE_SUCCESS)
            kv_note_pending(k, k->line.rows[i].msg);
}

/* The last day that is finalized, a success that is decided and not committed included while a planner loads. */
static dn_day last_day_of(const kv *k, const dn_user *u) {
    const uint64_t *day = dn_number_map_find(&k->pending_ok, u->n);

    return day && (dn_day)*day > u->last_day ? (dn_day)*day : u->last_day;
}

static dn_change change_of(const dn_user *u, dn_day last_day) {
    return (dn_change){
        .n = u->n,
        .last_day = last_day,
        .starts_on = u->starts_on,
        .recorded = u->recorded,
        .context_epoch = u->context_epoch,
        .due = (uint16_t)u->due,
        .status = (uint8_t)u->status,
        .id_len = u->id_len,
    };
}

/* The users behind that number, as many as fit, as the planner is to know them or as they are committed. */
static int read_page(kv *k, const dn_msg *msg, bool for_planner, size_t *out_len,
                     size_t *out_bytes) {
    const size_t most = sizeof(dn_change) + DN_ID_MAX + 8;
    size_t       bytes = 0;

    const int rc = dn_store_load(k->store, *DN_BODY(uint64_t, msg), k->users,
                                 least(KV_PAGE_USERS, KV_ANSWER_BYTES / most), out_len);
    kv_look_at(k, rc, "loading users");
    if (rc < 0) return rc;
    for (size_t i = 0; i < *out_len; i++) {
        const dn_user *u = &k->users[i];
        dn_change     *c = (dn_change *)(void *)(k->answer + bytes);
        *c = change_of(u, for_planner ? last_day_of(k, u) : u->last_day);
        memcpy(c->id, u->id, u->id_len);
        bytes += dn_pipe_stride(sizeof *c + u->id_len);
    }
    *out_bytes = bytes;
    return DN_OK;
}

int kv_on_load(dn_self *self, void *state, const dn_msg *msg) {
    kv    *k = state;
    size_t len = 0, bytes = 0;

    if (*DN_BODY(uint64_t, msg) == 0) begin_to_load(k);
    const int rc = read_page(k, msg, true, &len, &bytes);
    if (rc < 0) return rc;
    if (len == 0) end_to_load(k);
    dn_reply(self, msg, MSG_KV_PAGE, k->answer, bytes);
    return DN_OK;
}

int kv_on_by_number(dn_self *self, void *state, const dn_msg *msg) {
    kv       *k = state;
    size_t    len = 0, bytes = 0;
    const int rc = read_page(k, msg, false, &len, &bytes);

    if (rc == DN_OK) dn_reply(self, msg, MSG_KV_PAGE, k->answer, bytes);
    return rc;
}

/* ---- Users ---- */

int kv_on_user(dn_self *self, void *state, const dn_msg *msg) {
    kv               *k = state;
    const dn_kv_id   *id = DN_BODY(dn_kv_id, msg);
    dn_kv_user_answer answer = {.status = DN_OK};

    answer.status = dn_store_user(k->store, id->id, id->len, &answer.user);
    kv_look_at(k, answer.status, "reading a user");
    dn_reply(self, msg, MSG_KV_ANSWER, &answer, sizeof answer);
    return DN_OK;
}

int kv_on_list(dn_self *self, void *state, const dn_msg *msg) {
    kv                  *k = state;
    const dn_kv_list    *l = DN_BODY(dn_kv_list, msg);
    dn_kv_list_answer   *answer = (dn_kv_list_answer *)(void *)k->answer;
    const dn_user_filter filter = {
        .after_id = l->after_len ? l->after : NULL,
        .after_len = l->after_len,
        .prefix = l->prefix_len ? l->prefix : NULL,
        .prefix_len = l->prefix_len,
        .due_from = l->due_from,
        .due_to = l->due_to,
        .status = (dn_daily_status)l->status,
        .scan_max = KV_SCAN_MAX,
    };
    const size_t max = least(l->max, (KV_ANSWER_BYTES - sizeof *answer) / sizeof *answer->users);
    dn_user      last = {0};
    size_t       len = 0;
    bool         more = false;

    memset(answer, 0, sizeof *answer);
    answer->status = dn_store_list(k->store, &filter, answer->users, max, &len, &more, &last);
    kv_look_at(k, answer->status, "listing users");
    if (answer->status == DN_OK) {
        answer->len = (uint32_t)len;
        answer->more = more;
        answer->last_len = last.id_len;
        memcpy(answer->last, last.id, last.id_len);
    }
    dn_reply(self, msg, MSG_KV_ANSWER, answer, sizeof *answer + answer->len * sizeof(dn_user));
    return DN_OK;
}

/* ---- The ledger ---- */

static dn_kv_rows_answer *rows_answer(const kv *k) {
    dn_kv_rows_answer *answer = (dn_kv_rows_answer *)(void *)k->answer;

    memset(answer, 0, sizeof *answer);
    return answer;
}

static size_t rows_max(size_t wanted, size_t size) {
    return least(wanted, (KV_ANSWER_BYTES - sizeof(dn_kv_rows_answer)) / size);
}

static void rows_reply(dn_self *self, const kv *k, const dn_msg *msg, dn_kv_rows_answer *answer,
                       int rc, size_t len, size_t size) {
    kv_look_at(k, rc, "reading the ledger");
    answer->status = rc;
    answer->len = rc == DN_OK ? (uint32_t)len : 0;
    dn_reply(self, msg, MSG_KV_ANSWER, answer, sizeof *answer + answer->len * size);
}

int kv_on_days_of(dn_self *self, void *state, const dn_msg *msg) {
    kv                  *k = state;
    const dn_kv_days_of *d = DN_BODY(dn_kv_days_of, msg);
    dn_kv_rows_answer   *answer = rows_answer(k);
    dn_ledger_row       *rows = (dn_ledger_row *)(void *)answer->rows;
    size_t               len = 0;

    const int rc =
        dn_store_days_of(k->store, d->n, d->before, rows, rows_max(d->max, sizeof *rows), &len);
    rows_reply(self, k, msg, answer, rc, len, sizeof *rows);
    return DN_OK;
}

int kv_on_day(dn_self *self, void *state, const dn_msg *msg) {
    kv                *k = state;
    const dn_kv_day   *d = DN_BODY(dn_kv_day, msg);
    dn_kv_rows_answer *answer = rows_answer(k);
    dn_ledger_row     *rows = (dn_ledger_row *)(void *)answer->rows;
    size_t             len = 0;

    const int rc =
        dn_store_day(k->store, d->day, d->after_n, rows, rows_max(d->max, sizeof *rows), &len);
    rows_reply(self, k, msg, answer, rc, len, sizeof *rows);
    return DN_OK;
}

int kv_on_totals(dn_self *self, void *state, const dn_msg *msg) {
    kv                 *k = state;
    const dn_kv_totals *t = DN_BODY(dn_kv_totals, msg);
    dn_kv_rows_answer  *answer = rows_answer(k);
    dn_day_totals      *rows = (dn_day_totals *)(void *)answer->rows;
    size_t              len = 0;

    const int rc =
        dn_store_totals(k->store, t->first, t->last, rows, rows_max(SIZE_MAX, sizeof *rows), &len);
    rows_reply(self, k, msg, answer, rc, len, sizeof *rows);
    return DN_OK;
}

/* ---- The outbox ---- */

int kv_on_hooks(dn_self *self, void *state, const dn_msg *msg) {
    kv                 *k = state;
    dn_kv_hooks_answer *answer = (dn_kv_hooks_answer *)(void *)k->answer;
    const int64_t       now_ms = kv_outbox_ms(self, k);
    int64_t             next_ms = INT64_MAX;
    size_t              len = 0;

    memset(answer, 0, sizeof *answer);
    answer->status = dn_store_hooks(k->store, now_ms, answer->hooks, KV_HOOKS_MAX, &len, &next_ms);
    answer->wait_ms = next_ms == INT64_MAX ? INT64_MAX : next_ms - now_ms;
    kv_look_at(k, answer->status, "reading the outbox");
    answer->len = answer->status == DN_OK ? (uint32_t)len : 0;
    dn_reply(self, msg, MSG_KV_ANSWER, answer, sizeof *answer + answer->len * sizeof(dn_hook));
    return DN_OK;
}

/* ---- How it is ---- */

int kv_on_status(dn_self *self, void *state, const dn_msg *msg) {
    kv *k = state;

    k->status.waiting = k->line.entries;
    k->status.tried = k->attempts.len;
    k->status.full = k->full;
    k->status.ledger_since = dn_store_ledger_since(k->store);
    dn_reply(self, msg, MSG_STATUS, &k->status, sizeof k->status);
    return DN_OK;
}

/* ---- A copy ---- */

static void say(dn_self *self, const dn_msg *msg, int status, const char *words) {
    dn_kv_words answer = {.status = status};

    memcpy(answer.words, words, strnlen(words, sizeof answer.words - 1));
    dn_reply(self, msg, MSG_KV_ANSWER, &answer, sizeof answer);
}

static void release_backup(void *backup) { dn_backup_free(backup); }

int kv_on_backup(dn_self *self, void *state, const dn_msg *msg) {
    kv  *k = state;
    char path[4096], why[DN_STORE_WHY] = "";

    const size_t len = dn_msg_size(msg);
    if (k->backup) {
        say(self, msg, DN_EEXIST, "a backup is under way already");
        return DN_OK;
    }
    if (len == 0 || len >= sizeof path) {
        say(self, msg, DN_EINVAL, "a path has 1 to 4095 bytes");
        return DN_OK;
    }
    memcpy(path, dn_msg_body_borrow(msg), len);
    path[len] = '\0';
    /* A copy that fails says nothing about the store. */
    const int rc = dn_store_backup(k->store, path, &k->backup, why);
    if (rc < 0) {
        say(self, msg, rc, why);
        return DN_OK;
    }
    dn_own(self, k->backup, release_backup);
    k->backup_request = dn_msg_keep(self, msg);
    dn_timer_after(self, 0, KV_BACKUP_STEP, 0);
    return DN_OK;
}

int kv_on_backup_step(dn_self *self, void *state, const dn_msg *msg) {
    kv       *k = state;
    char      why[DN_STORE_WHY] = "";
    const int rc = dn_backup_step(k->backup, why);

    (void)msg;
    if (rc == DN_PENDING) {
        dn_timer_after(self, 0, KV_BACKUP_STEP, 0);
        return DN_OK;
    }
    (void)dn_disown(self, k->backup);
    dn_backup_free(DN_TAKE(k->backup));
    say(self, DN_TAKE(k->backup_request), rc, rc == DN_OK ? "" : why);
    return DN_OK;
}
