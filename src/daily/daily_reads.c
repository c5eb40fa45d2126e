/* daily_reads.c - what kv is asked about the daily path. Answers hold what is committed, and are short enough that no
 * write waits long for one. */
#include "daily_own.h"

#include <string.h>

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* ---- Loading ---- */

/* A planner that starts while successes wait in the line must know of them, or their jobs would run again if the queue is
 * new too. They are collected once, and kept until the planner has all users. A planner asks for pages to the end, or
 * ends itself, and then the next one begins anew. */
static void loading_ends(daily_part *p) {
    p->loading = false;
    dn_number_map_done(&p->pending_ok);
}

static void visit_success(void *context, const dn_msg *msg) { daily_note_pending(context, msg); }

static void loading_begins(dn_kv *k, daily_part *p) {
    loading_ends(p);
    p->loading = true;
    dn_kv_line_each(k, MSG_FINALIZE_SUCCESS, visit_success, p);
}

/* The last finalized day; while a planner loads, a success that is decided and not committed counts too. */
static dn_day last_day_of(const daily_part *p, const dn_user *u) {
    const uint64_t *day = dn_number_map_find(&p->pending_ok, u->n);

    return day && (dn_day)*day > u->last_day ? (dn_day)*day : u->last_day;
}

/* Each page bears the number of the last commit, so the planner knows which changes are in it. */
static dn_change change_of(const daily_part *p, const dn_user *u, dn_day last_day) {
    return (dn_change){
        .n = u->n,
        .commit = p->commit,
        .last_day = last_day,
        .starts_on = u->starts_on,
        .recorded = u->recorded,
        .context_epoch = u->context_epoch,
        .due = (uint16_t)u->due,
        .status = (uint8_t)u->status,
        .id_len = u->id_len,
    };
}

/* Reads the users after a registration, as many as fit: as the planner must know them, or as they are committed. */
static int read_page(dn_kv *k, daily_part *p, const dn_msg *msg, bool for_planner, size_t *out_len,
                     size_t *out_bytes) {
    const size_t most = sizeof(dn_change) + DN_ID_MAX + 8;
    char        *page = dn_kv_scratch_borrow(k);
    size_t       bytes = 0;

    const int rc = dn_store_load(dn_kv_store_borrow(k), *DN_BODY(uint64_t, msg), p->users,
                                 least(DAILY_PAGE_USERS, DN_KV_ANSWER_BYTES / most), out_len);
    dn_kv_expect_store(k, rc, "loading users");
    if (rc < 0) return rc;
    for (size_t i = 0; i < *out_len; i++) {
        const dn_user *u = &p->users[i];
        dn_change     *c = (dn_change *)(void *)(page + bytes);
        *c = change_of(p, u, for_planner ? last_day_of(p, u) : u->last_day);
        memcpy(c->id, u->id, u->id_len);
        bytes += dn_pipe_stride(sizeof *c + u->id_len);
    }
    *out_bytes = bytes;
    return DN_OK;
}

static int on_load(dn_self *self, dn_kv *k, void *part, const dn_msg *msg) {
    daily_part *p = part;
    size_t      len = 0, bytes = 0;

    if (*DN_BODY(uint64_t, msg) == 0) loading_begins(k, p);
    const int rc = read_page(k, p, msg, /* for_planner= */ true, &len, &bytes);
    if (rc < 0) return rc;
    if (len == 0) loading_ends(p);
    dn_reply(self, msg, MSG_KV_PAGE, dn_kv_scratch_borrow(k), bytes);
    return DN_OK;
}

static int on_by_number(dn_self *self, dn_kv *k, void *part, const dn_msg *msg) {
    size_t    len = 0, bytes = 0;
    const int rc = read_page(k, part, msg, /* for_planner= */ false, &len, &bytes);

    if (rc == DN_OK) dn_reply(self, msg, MSG_KV_PAGE, dn_kv_scratch_borrow(k), bytes);
    return rc;
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
    const int rc = dn_store_days_of(dn_kv_store_borrow(k), d->n, d->before, rows,
                                    rows_max(d->max, sizeof *rows), &len);
    return rows_reply(self, k, msg, answer, rc, len, sizeof *rows);
}

static int on_day(dn_self *self, dn_kv *k, void *part, const dn_msg *msg) {
    const dn_kv_day   *d = DN_BODY(dn_kv_day, msg);
    dn_kv_rows_answer *answer = rows_answer(k);
    dn_ledger_row     *rows = (dn_ledger_row *)(void *)answer->rows;
    size_t             len = 0;

    (void)part;
    const int rc = dn_store_day(dn_kv_store_borrow(k), d->day, d->after_n, rows,
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
    {MSG_KV_LOAD, on_load},     {MSG_KV_BY_NUMBER, on_by_number}, {MSG_KV_USER, on_user},
    {MSG_KV_LIST, on_list},     {MSG_KV_DAYS_OF, on_days_of},     {MSG_KV_DAY, on_day},
    {MSG_KV_TOTALS, on_totals},
};
const size_t daily_reads_len = sizeof daily_reads / sizeof *daily_reads;
