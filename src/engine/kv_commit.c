/* kv_commit.c - takes writes from the line into the store, and tells the parts what became of them.
 * One transaction takes what stands first, a few thousand writes at most. While the disk is full, or the store is away,
 * the line stays as it is and is tried again after a while, or when something joins it. Only calls are refused then,
 * because their callers wait and can be told. */
#include "engine_events.h"
#include "kv_own.h"
#include "obs/log.h"

#include <inttypes.h>
#include <string.h>

enum { RETRY_LEAST_MS = 100, RETRY_MOST_MS = 5000 };

/* ---- A transaction ---- */

static bool has_place(const dn_kv *k) {
    const dn_kv_bounds *b = &k->config->bounds;

    return k->len < dn_bound(b->writes, DN_KV_WRITES_MAX) &&
           k->rows < dn_bound(b->rows, DN_KV_ROWS_MAX);
}

static void gather_entry(dn_kv *k, kv_waiting *w, const void *entry, dn_kv_instant now) {
    const dn_kv_write_kind *row = w->kind->row;
    dn_write               *write = &k->writes[k->len];

    if (row->is_void && row->is_void(entry)) return;
    *write = (dn_write){0};
    row->fill(w->kind->part, entry, now, write);
    k->rows += row->rows ? row->rows(write) : 1;
    k->sources[k->len++] = (kv_source){w->kind, entry};
    w->writes++;
}

/* A request is never split across transactions, because it gets one reply. */
static void gather_message(dn_kv *k, kv_waiting *w, dn_kv_instant now) {
    const char *body = dn_msg_body_borrow(w->msg);
    const bool  call = dn_msg_is_request(w->msg);

    w->taken = w->done;
    w->writes = 0;
    while (w->taken < dn_msg_size(w->msg) && (call || has_place(k))) {
        const void *entry = body + w->taken;
        gather_entry(k, w, entry, now);
        w->taken += kv_entry_stride(w->kind, w->msg, entry);
    }
}

static void gather(dn_self *self, dn_kv *k) {
    const dn_kv_instant now = {.wall_ms = dn_store_now_ms(k->store, dn_now_ms(self)),
                               .outbox_ms = dn_kv_outbox_ms(self, k)};

    k->len = k->line.gathered = 0;
    k->rows = 0;
    while (k->line.gathered < k->line.len && has_place(k))
        gather_message(k, &k->line.rows[k->line.gathered++], now);
}

/* ---- After it ---- */

static void tell(dn_self *self, dn_kv *k) {
    for (size_t i = 0; i < k->len; i++) {
        const kv_source *s = &k->sources[i];
        if (s->kind->row->committed)
            s->kind->row->committed(self, k, s->kind->part, s->entry, &k->writes[i],
                                    &k->results[i]);
    }
    for (size_t i = 0; i < k->config->parts_len; i++)
        if (k->config->parts[i]->changed) k->config->parts[i]->changed(self, k, k->parts[i]);
    if (!k->outbox_added) return;
    k->outbox_added = false;
    /* An outbox that is not there looks when it starts. */
    if (dn_send(self, dn_name(self, ACTOR_OUTBOX), MSG_OUTBOX_ADDED, NULL, 0) == DN_EFULL)
        dn_log(DN_LOG_DEBUG, "hooks.busy",
               "the outbox's mailbox is full; the outbox reads the store by itself");
}

/* at: where the request's writes begin. */
static void answer(dn_self *self, dn_kv *k, const kv_waiting *w, size_t at, size_t len,
                   int status) {
    const dn_kv_words words = {.status = status};

    if (w->kind->row->answer)
        w->kind->row->answer(self, k, w->msg, status == DN_OK ? &k->results[at] : NULL, len,
                             status);
    else dn_reply(self, w->msg, MSG_KV_ANSWER, &words, sizeof words);
}

/* Takes out of the line what has been written. If nothing could be, takes out the calls, wherever they stand, and
 * refuses them. */
static void settle(dn_self *self, dn_kv *k, int status) {
    size_t at = 0, kept = 0;

    for (size_t i = 0; i < k->line.len; i++) {
        kv_waiting   w = k->line.rows[i];
        const bool   tried = i < k->line.gathered;
        const bool   call = dn_msg_is_request(w.msg);
        const bool   told = call && (tried || status < 0);
        const size_t writes = tried ? w.writes : told ? kv_entries_in(w.kind, w.msg) : 0;

        if (told) answer(self, k, &w, tried ? at : 0, writes, status);
        if (tried && status == DN_OK) w.done = w.taken;
        if (told || (tried && status == DN_OK)) k->line.entries -= writes;
        if (tried) at += writes;
        if (told) continue;
        if (w.done == dn_msg_size(w.msg)) dn_msg_free(self, w.msg);
        else k->line.rows[kept++] = w;
    }
    k->line.len = kept;
    k->line.gathered = 0;
}

/* ---- Trying ---- */

static void store_is(dn_self *self, dn_kv *k, bool writable) {
    k->full = !writable;
    for (size_t i = 0; i < k->config->parts_len; i++)
        if (k->config->parts[i]->store_is)
            k->config->parts[i]->store_is(self, k->parts[i], writable);
}

static const char *trouble(int rc) {
    if (rc == DN_EFULL) return "the disk is full";
    return rc == DN_EAWAY ? "the store cannot be reached" : "out of memory";
}

static void try_later(dn_self *self, dn_kv *k, int rc) {
    if (!k->full) {
        store_is(self, k, /* writable= */ false);
        k->retry_ms = RETRY_LEAST_MS;
        dn_log(DN_LOG_WARN, rc == DN_EAWAY ? "store.away" : "store.full",
               "%s: %" PRIu64 " writes wait in memory and are retried until they are committed",
               trouble(rc), k->line.entries);
    } else {
        k->retry_ms = k->retry_ms * 2 < RETRY_MOST_MS ? k->retry_ms * 2 : RETRY_MOST_MS;
    }
    k->status.failures++;
    if (k->retry_timer) (void)dn_timer_cancel(self, k->retry_timer);
    k->retry_timer = dn_timer_after(self, k->retry_ms, KV_RETRY, 0);
}

static void well_again(dn_self *self, dn_kv *k) {
    if (!k->full) return;
    store_is(self, k, /* writable= */ true);
    if (k->retry_timer) (void)dn_timer_cancel(self, k->retry_timer);
    k->retry_timer = 0;
    dn_log(DN_LOG_INFO, "store.well", "writes are committed again");
}

static int write_all(dn_self *self, dn_kv *k) {
    const bool    listened = dn_event_wanted(&dn_commit_stop);
    const int64_t begun_ns = listened ? dn_read_mono_ns(self) : 0;
    const int     rc = dn_store_write(k->store, k->writes, k->len, k->results, NULL);

    if (listened)
        DN_EMIT(dn_commit_stop, .duration_ms = (double)(dn_read_mono_ns(self) - begun_ns) / 1e6,
                .writes = (int64_t)k->len, .result = rc == DN_OK ? "ok" : "error");
    return rc;
}

void kv_commit(dn_self *self, dn_kv *k) {
    gather(self, k);
    const int rc = k->len > 0 ? write_all(self, k) : DN_OK;
    dn_kv_expect_store(k, rc, "writing");
    if (rc == DN_OK && k->len > 0) {
        k->status.commits++;
        k->status.writes += k->len;
        k->wrote_lately = true;
        well_again(self, k);
        tell(self, k);
    }
    settle(self, k, rc);
    if (rc == DN_OK) return;
    if (k->line.len > 0) try_later(self, k, rc);
    else k->status.failures++; /* all callers were told, and nothing waits */
}
