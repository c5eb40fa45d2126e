/* daily_reads.c - what kv is asked about the daily path. Answers hold what is committed, and are short enough that no
 * write waits long for one. */
#include "daily_own.h"

#include <string.h>

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* ---- Loading ---- */

/* The users after a registration, as many as fit. Each page bears the number of the last commit, so the planner knows
 * which changes are in it. */
static int on_load(dn_self *self, dn_kv *k, void *part, const dn_msg *msg) {
    const size_t most = sizeof(dn_change) + DN_ID_MAX + 8;
    daily_part  *p = part;
    char        *page = dn_kv_scratch_borrow(k);
    size_t       bytes = 0, len = 0;

    const int rc = dn_store_load(
        dn_kv_store_borrow(k), *DN_BODY(uint64_t, msg), p->users,
        least(dn_bound(p->config->bounds.page_users, DAILY_PAGE_USERS), DN_KV_ANSWER_BYTES / most),
        &len);
    dn_kv_expect_store(k, rc, "loading users");
    if (rc < 0) return rc;
    for (size_t i = 0; i < len; i++) {
        const dn_user *u = &p->users[i];
        dn_change     *c = (dn_change *)(void *)(page + bytes);
        *c = daily_change_of(u, p->commit, u->id_len);
        memcpy(c->id, u->id, u->id_len);
        bytes += dn_pipe_stride(sizeof *c + u->id_len);
    }
    dn_reply(self, msg, MSG_KV_PAGE, page, bytes);
    return DN_OK;
}

/* ---- Successes that wait ---- */

typedef struct gathering {
    char  *bytes; /* NULL: only their number is wanted */
    size_t len;
} gathering;

static void gather(void *context, const void *entries, size_t bytes) {
    gathering *g = context;

    if (g->bytes) memcpy(g->bytes + g->len, entries, bytes);
    g->len += bytes;
}

/* A queue that starts while successes wait must know of them, or their users would be attempted again. */
static int on_successes(dn_self *self, dn_kv *k, void *part, const dn_msg *msg) {
    gathering all = {0};

    (void)part;
    dn_kv_line_each(k, MSG_FINALIZE_SUCCESS, gather, &all);
    dn_msg *answer = dn_msg_new(self, MSG_KV_PAGE, all.len);
    all = (gathering){.bytes = dn_msg_body(answer)};
    dn_kv_line_each(k, MSG_FINALIZE_SUCCESS, gather, &all);
    dn_reply(self, msg, MSG_KV_PAGE, dn_msg_body_borrow(answer), all.len);
    dn_msg_free(self, answer);
    return DN_OK;
}

/* ---- Users ---- */

static int on_user(dn_self *self, dn_kv *k, void *part, const dn_msg *msg) {
    const dn_kv_id   *id = DN_BODY(dn_kv_id, msg);
    dn_kv_user_answer answer = {.status = DN_OK};

    (void)part;
    answer.status = dn_store_user(dn_kv_store_borrow(k), id->id, id->len, &answer.user);
    dn_kv_expect_store(k, answer.status, "reading a user");
    dn_reply(self, msg, MSG_KV_ANSWER, &answer, sizeof answer);
    return DN_OK;
}

static int on_list(dn_self *self, dn_kv *k, void *part, const dn_msg *msg) {
    const dn_kv_list    *l = DN_BODY(dn_kv_list, msg);
    dn_kv_list_answer   *answer = dn_kv_scratch_borrow(k);
    const dn_user_filter filter = {
        .after_id = l->after_len ? l->after : NULL,
        .after_len = l->after_len,
        .prefix = l->prefix_len ? l->prefix : NULL,
        .prefix_len = l->prefix_len,
        .due_from = l->due_from,
        .due_to = l->due_to,
        .status = (dn_daily_status)l->status,
        .scan_max = DAILY_SCAN_MAX,
    };
    const size_t max = least(l->max, (DN_KV_ANSWER_BYTES - sizeof *answer) / sizeof *answer->users);
    dn_user      last = {0};
    size_t       len = 0;
    bool         more = false;

    (void)part;
    memset(answer, 0, sizeof *answer);
    answer->status =
        dn_store_list(dn_kv_store_borrow(k), &filter, answer->users, max, &len, &more, &last);
    dn_kv_expect_store(k, answer->status, "listing users");
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

static dn_kv_rows_answer *rows_answer(const dn_kv *k) {
    dn_kv_rows_answer *answer = dn_kv_scratch_borrow(k);

    memset(answer, 0, sizeof *answer);
    return answer;
}

static size_t rows_max(size_t wanted, size_t size) {
    return least(wanted, (DN_KV_ANSWER_BYTES - sizeof(dn_kv_rows_answer)) / size);
}

static int rows_reply(dn_self *self, const dn_kv *k, const dn_msg *msg, dn_kv_rows_answer *answer,
                      int rc, size_t len, size_t size) {
    dn_kv_expect_store(k, rc, "reading the ledger");
    answer->status = rc;
    answer->len = rc == DN_OK ? (uint32_t)len : 0;
    dn_reply(self, msg, MSG_KV_ANSWER, answer, sizeof *answer + answer->len * size);
    return DN_OK;
}

static int on_days_of(dn_self *self, dn_kv *k, void *part, const dn_msg *msg) {
    const dn_kv_days_of *d = DN_BODY(dn_kv_days_of, msg);
    dn_kv_rows_answer   *answer = rows_answer(k);
    dn_ledger_row       *rows = (dn_ledger_row *)(void *)answer->rows;
    size_t               len = 0;

    (void)part;
    const int rc = dn_store_days_of(dn_kv_store_borrow(k), d->registration, d->before, rows,
                                    rows_max(d->max, sizeof *rows), &len);
    return rows_reply(self, k, msg, answer, rc, len, sizeof *rows);
}

static int on_day(dn_self *self, dn_kv *k, void *part, const dn_msg *msg) {
    const dn_kv_day   *d = DN_BODY(dn_kv_day, msg);
    dn_kv_rows_answer *answer = rows_answer(k);
    dn_ledger_row     *rows = (dn_ledger_row *)(void *)answer->rows;
    size_t             len = 0;

    (void)part;
    const int rc = dn_store_day(dn_kv_store_borrow(k), d->day, d->after, rows,
                                rows_max(d->max, sizeof *rows), &len);
    return rows_reply(self, k, msg, answer, rc, len, sizeof *rows);
}

static int on_totals(dn_self *self, dn_kv *k, void *part, const dn_msg *msg) {
    const dn_kv_totals *t = DN_BODY(dn_kv_totals, msg);
    dn_kv_rows_answer  *answer = rows_answer(k);
    dn_day_totals      *rows = (dn_day_totals *)(void *)answer->rows;
    size_t              len = 0;

    (void)part;
    const int rc = dn_store_totals(dn_kv_store_borrow(k), t->first, t->last, rows,
                                   rows_max(SIZE_MAX, sizeof *rows), &len);
    return rows_reply(self, k, msg, answer, rc, len, sizeof *rows);
}

const dn_kv_handler daily_reads[] = {
    {MSG_KV_LOAD, on_load},     {MSG_KV_SUCCESSES, on_successes}, {MSG_KV_USER, on_user},
    {MSG_KV_LIST, on_list},     {MSG_KV_DAYS_OF, on_days_of},     {MSG_KV_DAY, on_day},
    {MSG_KV_TOTALS, on_totals},
};
const size_t daily_reads_len = sizeof daily_reads / sizeof *daily_reads;
