/* kv.c - the durable truth.
 * It alone calls the store. What other actors decide arrives as messages, waits in one line in the order it was decided,
 * and is committed many writes at a time when a batch of messages has been taken in (flush). Only then is anybody told.
 * A crash loses what was not committed, and every actor that believed it restarts with kv. */
#include "kv_own.h"

#include "obs/log.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { IDLE_MS = 60000 };

static int kv_init(dn_self *self, void *state, const void *config);
static int kv_on_any(dn_self *self, void *state, const dn_msg *msg);
static int kv_on_go_on(dn_self *self, void *state, const dn_msg *msg);
static int kv_on_retry(dn_self *self, void *state, const dn_msg *msg);
static int kv_on_idle(dn_self *self, void *state, const dn_msg *msg);
static int kv_on_room(dn_self *self, void *state, const dn_msg *msg);
static int kv_flush(dn_self *self, void *state);
static int kv_stopping(dn_self *self, void *state);

static const dn_handler handlers[] = {
    {KV_GO_ON, kv_on_go_on},   {KV_RETRY, kv_on_retry},  {KV_IDLE, kv_on_idle},
    {DN_MSG_ROOM, kv_on_room}, {DN_KIND_ANY, kv_on_any}, /* what the tables of the parts name */
};

const dn_class dn_kv_class = {
    .name = "kv",
    .state_size = sizeof(dn_kv),
    .init = kv_init,
    .handlers = DN_SLICE(handlers),
    .flush = kv_flush,
    .stopping = kv_stopping,
    .mailbox_max = 4096,
    .heap_max = (size_t)64 << 20,
    .drains = true, /* what was sent before the stop is written before the end */
};

/* ---- Start ---- */

static int outbox_clock_begins(dn_self *self, dn_kv *k) {
    int64_t   begun_ms = 0;
    const int rc =
        dn_store_outbox_clock(k->store, dn_store_now_ms(k->store, dn_now_ms(self)), &begun_ms);

    dn_kv_expect_store(k, rc, "reading the outbox");
    k->outbox_ahead_ms = begun_ms - dn_mono_ns(self) / 1000000;
    return rc;
}

static int part_begins(dn_self *self, dn_kv *k, const dn_kv_part *part, void **out_state) {
    void *state = part->state_size > 0 ? dn_alloc(self, part->state_size) : NULL;

    dn_require(k->kinds_len + part->writes_len <= KV_KINDS_MAX);
    for (size_t i = 0; i < part->writes_len; i++)
        k->kinds[k->kinds_len++] = (kv_kind){&part->writes[i], state};
    *out_state = state;
    return part->init ? part->init(self, k, state, part->config) : DN_OK;
}

static int kv_init(dn_self *self, void *state, const void *config) {
    dn_kv       *k = state;
    const size_t most = DN_KV_WRITES_MAX + DN_KV_CALL_WRITES_MAX;

    k->config = config;
    k->store = k->config->store;
    dn_own(self, &k->line, kv_line_done);
    k->writes = dn_alloc(self, most * sizeof *k->writes);
    k->results = dn_alloc(self, most * sizeof *k->results);
    k->sources = dn_alloc(self, most * sizeof *k->sources);
    k->scratch = dn_alloc(self, DN_KV_ANSWER_BYTES);
    int rc = outbox_clock_begins(self, k);
    for (size_t i = 0; rc == DN_OK && i < k->config->parts_len; i++)
        rc = part_begins(self, k, k->config->parts[i], &k->parts[i]);
    if (rc < 0) return rc;
    if (k->config->all_written) *k->config->all_written = false;
    dn_timer_after(self, IDLE_MS, KV_IDLE, 0);
    return DN_OK;
}

/* ---- For the parts ---- */

dn_store *dn_kv_store_borrow(const dn_kv *k) { return k->store; }
void     *dn_kv_scratch_borrow(const dn_kv *k) { return k->scratch; }
void      dn_kv_outbox_added(dn_kv *k) { k->outbox_added = true; }

int64_t dn_kv_outbox_ms(const dn_self *self, const dn_kv *k) {
    return dn_mono_ns(self) / 1000000 + k->outbox_ahead_ms;
}

void dn_kv_expect_store(const dn_kv *k, int rc, const char *doing) {
    char why[DN_STORE_WHY + 64];

    if (rc != DN_EIO) return;
    const char *damage = dn_store_damage(k->store);
    if (damage) snprintf(why, sizeof why, "%s (found while %s)", damage, doing);
    else
        snprintf(why, sizeof why,
                 "the store failed while %s; no acknowledged write is lost; restart when the disk "
                 "works again",
                 doing);
    dn_log(DN_LOG_ERROR, "store.failed", "%s", why);
    k->config->fatal(k->config->fatal_context, why);
    dn_fail_code(rc, "the store failed");
}

/* ---- Joining the line ---- */

static const kv_kind *kind_of(const dn_kv *k, uint32_t message) {
    for (size_t i = 0; i < k->kinds_len; i++)
        if (k->kinds[i].row->message == message) return &k->kinds[i];
    return NULL;
}

/* True: at least one entry is to be written. */
static bool admit(dn_self *self, const kv_kind *kind, dn_msg *msg) {
    char *body = dn_msg_body(msg);
    bool  any = false;

    for (size_t at = 0; at < dn_msg_size(msg); at += kv_entry_stride(kind, msg, body + at))
        any |= kind->row->admit(self, kind->part, body + at);
    return any;
}

static void refuse(dn_self *self, dn_kv *k, const kv_kind *kind, const dn_msg *msg, int status) {
    const dn_kv_words words = {.status = status};

    if (!dn_msg_is_request(msg)) return;
    if (kind->row->answer) kind->row->answer(self, k, msg, NULL, kv_entries_in(kind, msg), status);
    else dn_reply(self, msg, MSG_KV_ANSWER, &words, sizeof words);
}

static void join(dn_self *self, dn_kv *k, const kv_kind *kind, const dn_msg *msg) {
    const int rc = kind->row->check ? kind->row->check(msg) : DN_OK;

    if (rc < 0) {
        refuse(self, k, kind, msg, rc);
        return;
    }
    dn_msg *m = dn_msg_keep(self, msg);
    if (kind->row->admit && !admit(self, kind, m)) {
        dn_msg_free(self, m);
        return;
    }
    kv_line_add(&k->line, kind, m);
    k->fresh = true;
}

static const dn_kv_handler *handler_of(const dn_kv_part *part, uint32_t message) {
    for (size_t t = 0; t < sizeof part->handlers / sizeof *part->handlers; t++)
        for (size_t i = 0; i < part->handlers[t].len; i++)
            if (part->handlers[t].rows[i].message == message) return &part->handlers[t].rows[i];
    return NULL;
}

static int kv_on_any(dn_self *self, void *state, const dn_msg *msg) {
    dn_kv         *k = state;
    const uint32_t message = dn_msg_kind(msg);
    const kv_kind *kind = kind_of(k, message);

    if (kind) {
        join(self, k, kind, msg);
        return DN_OK;
    }
    for (size_t i = 0; i < k->config->parts_len; i++) {
        const dn_kv_handler *h = handler_of(k->config->parts[i], message);
        if (h) return h->handle(self, k, k->parts[i], msg);
    }
    return DN_OK; /* dropped, as the runtime drops a message that no handler names */
}

/* ---- Committing ---- */

/* Calls each pipe of each part. */
static bool pipes_each(dn_self *self, dn_kv *k, bool (*call)(dn_self *self, dn_pipe *pipe)) {
    dn_pipe *pipes[DN_KV_PIPES_MAX];
    bool     all = true;

    for (size_t i = 0; i < k->config->parts_len; i++) {
        const dn_kv_part *part = k->config->parts[i];
        const size_t      len = part->pipes ? part->pipes(k->parts[i], pipes) : 0;
        for (size_t j = 0; j < len; j++) all &= call(self, pipes[j]);
    }
    return all;
}

static bool pipe_is_free(dn_self *self, dn_pipe *pipe) {
    (void)self;
    return dn_pipe_is_free(pipe);
}

static bool pipe_flush(dn_self *self, dn_pipe *pipe) {
    dn_pipe_flush(self, pipe);
    return true;
}

static bool pipe_on_room(dn_self *self, dn_pipe *pipe) {
    dn_pipe_on_room(self, pipe);
    return true;
}

/* Asked to stop, kv ends when the line is empty, or when the store does not take the rest. */
static int may_end(const dn_kv *k) {
    if (!k->stopping || (k->line.len > 0 && (!k->full || k->fresh))) return DN_OK;
    if (k->line.len > 0)
        dn_log(DN_LOG_WARN, "store.full",
               "stopped with %llu writes lost, because the disk is full; those users are eligible "
               "again",
               (unsigned long long)k->line.entries);
    else if (k->config->all_written) *k->config->all_written = true;
    return DN_STOP;
}

/* One transaction a turn, so that questions wait for no more than that. */
static int kv_flush(dn_self *self, void *state) {
    dn_kv *k = state;

    assert(kv_line_is_sound(&k->line));
    if (k->line.len == 0 || (k->full && !k->fresh) || !pipes_each(self, k, pipe_is_free))
        return may_end(k);
    k->fresh = false;
    kv_commit(self, k);
    (void)pipes_each(self, k, pipe_flush);
    /* A mailbox that is full brings the next flush by itself. */
    if (k->line.len > 0 && !k->full && !k->going_on)
        k->going_on = dn_send(self, dn_self_ref(self), KV_GO_ON, NULL, 0) == DN_OK;
    assert(kv_line_is_sound(&k->line));
    return may_end(k);
}

static int kv_on_go_on(dn_self *self, void *state, const dn_msg *msg) {
    dn_kv *k = state;

    (void)self, (void)msg;
    k->going_on = false; /* the flush after this handler goes on */
    return DN_OK;
}

static int kv_on_retry(dn_self *self, void *state, const dn_msg *msg) {
    dn_kv *k = state;

    (void)self, (void)msg;
    k->retry_timer = 0;
    k->fresh = true;
    return DN_OK;
}

static int kv_on_room(dn_self *self, void *state, const dn_msg *msg) {
    (void)msg;
    (void)pipes_each(self, state, pipe_on_room);
    return DN_OK;
}

static int kv_on_idle(dn_self *self, void *state, const dn_msg *msg) {
    dn_kv *k = state;

    (void)msg;
    if (!k->wrote_lately && k->line.len == 0)
        dn_kv_expect_store(k, dn_store_idle(k->store), "tidying up");
    k->wrote_lately = false;
    dn_timer_after(self, IDLE_MS, KV_IDLE, 0);
    return DN_OK;
}

/* Every actor that stops before kv has stopped, and all it sent is in the line: write it before the end, a transaction a
 * turn as always. */
static int kv_stopping(dn_self *self, void *state) {
    dn_kv *k = state;

    (void)self;
    k->stopping = k->fresh = true;
    return k->line.len == 0 ? may_end(k) : DN_OK;
}
