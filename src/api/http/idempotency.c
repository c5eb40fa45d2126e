/* idempotency.c - see idempotency.h. */
#include "idempotency.h"

#include <assert.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

bool idempotency_is_sound(const idempotency *table) {
    size_t bytes = 0;

    for (size_t i = 0; i < IDEMPOTENCY_MAX; i++) {
        const idempotency_entry *e = table->entries[i];
        if (!e) continue;
        const bool answered = e->state == IDEMPOTENCY_ANSWERED;
        if (e->state == IDEMPOTENCY_NEW || e->state == IDEMPOTENCY_NO_MEMORY) return false;
        if ((e->answer != NULL) != answered || (e->held > 0 && !answered)) return false;
        bytes += e->answer_len;
    }
    return bytes == table->bytes && bytes <= IDEMPOTENCY_BYTES_MAX;
}

void idempotency_forget(idempotency *table, idempotency_entry *entry) {
    assert(idempotency_is_sound(table));
    for (size_t i = 0; i < IDEMPOTENCY_MAX; i++)
        if (table->entries[i] == entry) table->entries[i] = NULL;
    table->bytes -= entry->answer_len;
    free(entry->answer);
    free(entry);
    assert(idempotency_is_sound(table));
}

void idempotency_done(idempotency *table) {
    for (size_t i = 0; i < IDEMPOTENCY_MAX; i++)
        if (table->entries[i]) idempotency_forget(table, table->entries[i]);
}

/* Each part follows its length, so that no two requests have the same bytes. */
static bool key_digest(uint64_t token, http_text method, http_text path, http_text key,
                       uint8_t out[IDEMPOTENCY_DIGEST]) {
    const http_text parts[] = {method, path, key};
    EVP_MD_CTX     *sum = EVP_MD_CTX_new();
    bool            fine = sum && EVP_DigestInit_ex(sum, EVP_sha256(), NULL) == 1 &&
                EVP_DigestUpdate(sum, &token, sizeof token) == 1;

    for (size_t i = 0; fine && i < sizeof parts / sizeof *parts; i++)
        fine = EVP_DigestUpdate(sum, &parts[i].len, sizeof parts[i].len) == 1 &&
               EVP_DigestUpdate(sum, parts[i].at, parts[i].len) == 1;
    fine = fine && EVP_DigestFinal_ex(sum, out, NULL) == 1;
    EVP_MD_CTX_free(sum);
    return fine;
}

static bool is_evictable(const idempotency_entry *e) {
    return e && e->state != IDEMPOTENCY_IN_PROGRESS && e->held == 0;
}

static void forget_expired(idempotency *table, int64_t now_ms) {
    for (size_t i = 0; i < IDEMPOTENCY_MAX; i++) {
        idempotency_entry *e = table->entries[i];
        if (is_evictable(e) && now_ms - e->since_ms >= IDEMPOTENCY_MS) idempotency_forget(table, e);
    }
}

/* False: no entry can be evicted. */
static bool evict_oldest(idempotency *table) {
    idempotency_entry *oldest = NULL;

    for (size_t i = 0; i < IDEMPOTENCY_MAX; i++) {
        idempotency_entry *e = table->entries[i];
        if (is_evictable(e) && (!oldest || e->since_ms < oldest->since_ms)) oldest = e;
    }
    if (oldest) idempotency_forget(table, oldest);
    return oldest != NULL;
}

static idempotency_entry **free_place(idempotency *table) {
    for (size_t i = 0; i < IDEMPOTENCY_MAX; i++)
        if (!table->entries[i]) return &table->entries[i];
    return evict_oldest(table) ? free_place(table) : NULL;
}

static idempotency_entry *entry_of(const idempotency *table,
                                   const uint8_t      digest[IDEMPOTENCY_DIGEST]) {
    for (size_t i = 0; i < IDEMPOTENCY_MAX; i++) {
        idempotency_entry *e = table->entries[i];
        if (e && memcmp(e->key, digest, IDEMPOTENCY_DIGEST) == 0) return e;
    }
    return NULL;
}

idempotency_state idempotency_find(idempotency *table, uint64_t token, http_text method,
                                   http_text path, http_text key, int64_t now_ms,
                                   idempotency_entry **out_entry) {
    uint8_t digest[IDEMPOTENCY_DIGEST];

    forget_expired(table, now_ms);
    if (!key_digest(token, method, path, key, digest)) return IDEMPOTENCY_NO_MEMORY;
    idempotency_entry *e = entry_of(table, digest);
    if (e) {
        if (e->state != IDEMPOTENCY_ANSWERED) return e->state;
        e->held++;
        *out_entry = e;
        return IDEMPOTENCY_ANSWERED;
    }
    idempotency_entry **place = free_place(table);
    if (!place || !(*place = calloc(1, sizeof **place))) return IDEMPOTENCY_NO_MEMORY;
    (*place)->state = IDEMPOTENCY_IN_PROGRESS;
    (*place)->since_ms = now_ms;
    memcpy((*place)->key, digest, sizeof digest);
    *out_entry = *place;
    assert(idempotency_is_sound(table));
    return IDEMPOTENCY_NEW;
}

void idempotency_keep(idempotency *table, idempotency_entry *entry,
                      const uint8_t body[IDEMPOTENCY_DIGEST], const http_response *r) {
    while (r->body_len > IDEMPOTENCY_BYTES_MAX - table->bytes && evict_oldest(table)) {}
    entry->answer =
        r->body_len <= IDEMPOTENCY_BYTES_MAX - table->bytes ? malloc(r->body_len + 1) : NULL;
    if (!entry->answer) {
        idempotency_mark_lost(entry);
        return;
    }
    if (r->body_len > 0) memcpy(entry->answer, r->body, r->body_len);
    memcpy(entry->body, body, IDEMPOTENCY_DIGEST);
    entry->answer_len = r->body_len;
    entry->status = r->status;
    entry->type = r->type;
    entry->state = IDEMPOTENCY_ANSWERED;
    table->bytes += r->body_len;
    assert(idempotency_is_sound(table));
}

void idempotency_mark_lost(idempotency_entry *entry) { entry->state = IDEMPOTENCY_LOST; }

void idempotency_mark_unknown(idempotency_entry *entry, int64_t now_ms) {
    entry->state = IDEMPOTENCY_UNKNOWN;
    entry->since_ms = now_ms;
}

void idempotency_release(idempotency_entry *entry) {
    assert(entry->held > 0);
    entry->held--;
}

http_response idempotency_replay(const idempotency_entry *entry) {
    char *body = malloc(entry->answer_len + 1);

    if (!body) return http_problem(503, "out of memory");
    memcpy(body, entry->answer, entry->answer_len);
    return http_answer(entry->status, entry->type, body, entry->answer_len);
}
