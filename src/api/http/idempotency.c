/* idempotency.c - see idempotency.h. */
#include "idempotency.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

void once_drop(once *o, once_entry *entry) {
    for (size_t i = 0; i < ONCE_MAX; i++)
        if (o->entries[i] == entry) o->entries[i] = NULL;
    o->bytes -= entry->answer_len;
    free(entry->answer);
    free(entry);
}

void once_done(once *o) {
    for (size_t i = 0; i < ONCE_MAX; i++)
        if (o->entries[i]) once_drop(o, o->entries[i]);
}

/* Each part behind its length: no two requests are the same bytes. */
static bool key_digest(uint64_t who, http_text method, http_text path, http_text key,
                       uint8_t out[ONCE_DIGEST]) {
    const http_text parts[] = {method, path, key};
    EVP_MD_CTX     *sum = EVP_MD_CTX_new();
    bool            fine = sum && EVP_DigestInit_ex(sum, EVP_sha256(), NULL) == 1 &&
                EVP_DigestUpdate(sum, &who, sizeof who) == 1;

    for (size_t i = 0; fine && i < sizeof parts / sizeof *parts; i++)
        fine = EVP_DigestUpdate(sum, &parts[i].len, sizeof parts[i].len) == 1 &&
               EVP_DigestUpdate(sum, parts[i].at, parts[i].len) == 1;
    fine = fine && EVP_DigestFinal_ex(sum, out, NULL) == 1;
    EVP_MD_CTX_free(sum);
    return fine;
}

static bool may_go(const once_entry *e) { return e && e->found != ONCE_UNDER_WAY && e->held == 0; }

static void drop_old(once *o, int64_t now_ms) {
    for (size_t i = 0; i < ONCE_MAX; i++) {
        once_entry *e = o->entries[i];
        if (may_go(e) && now_ms - e->since_ms >= ONCE_MS) once_drop(o, e);
    }
}

/* False: none may go. */
static bool drop_oldest(once *o) {
    once_entry *oldest = NULL;

    for (size_t i = 0; i < ONCE_MAX; i++) {
        once_entry *e = o->entries[i];
        if (may_go(e) && (!oldest || e->since_ms < oldest->since_ms)) oldest = e;
    }
    if (oldest) once_drop(o, oldest);
    return oldest != NULL;
}

static once_entry **place(once *o) {
    for (size_t i = 0; i < ONCE_MAX; i++)
        if (!o->entries[i]) return &o->entries[i];
    return drop_oldest(o) ? place(o) : NULL;
}

once_found once_look(once *o, uint64_t who, http_text method, http_text path, http_text key,
                     int64_t now_ms, once_entry **out_entry) {
    uint8_t digest[ONCE_DIGEST];

    drop_old(o, now_ms);
    if (!key_digest(who, method, path, key, digest)) return ONCE_NO_ROOM;
    for (size_t i = 0; i < ONCE_MAX; i++) {
        once_entry *e = o->entries[i];
        if (!e || memcmp(e->key, digest, sizeof digest) != 0) continue;
        if (e->found != ONCE_KNOWN) return e->found;
        e->held++;
        *out_entry = e;
        return ONCE_KNOWN;
    }
    once_entry **at = place(o);
    if (!at || !(*at = calloc(1, sizeof **at))) return ONCE_NO_ROOM;
    (*at)->found = ONCE_UNDER_WAY;
    (*at)->since_ms = now_ms;
    memcpy((*at)->key, digest, sizeof digest);
    *out_entry = *at;
    return ONCE_NEW;
}

void once_keep(once *o, once_entry *entry, const uint8_t body[ONCE_DIGEST],
               const http_response *r) {
    while (r->body_len > ONCE_BYTES_MAX - o->bytes && drop_oldest(o)) {}
    entry->answer = r->body_len <= ONCE_BYTES_MAX - o->bytes ? malloc(r->body_len + 1) : NULL;
    if (!entry->answer) {
        once_lose(entry);
        return;
    }
    if (r->body_len > 0) memcpy(entry->answer, r->body, r->body_len);
    memcpy(entry->body, body, ONCE_DIGEST);
    entry->answer_len = r->body_len;
    entry->status = r->status;
    entry->type = r->type;
    entry->found = ONCE_KNOWN;
    o->bytes += r->body_len;
}

void once_lose(once_entry *entry) { entry->found = ONCE_LOST; }

void once_doubt(once_entry *entry, int64_t now_ms) {
    entry->found = ONCE_UNSURE;
    entry->since_ms = now_ms;
}

void once_release(once_entry *entry) { entry->held--; }

http_response once_answer(const once_entry *entry) {
    char *body = malloc(entry->answer_len + 1);

    if (!body) return http_problem(503, "out of memory");
    memcpy(body, entry->answer, entry->answer_len);
    return http_answer(entry->status, entry->type, body, entry->answer_len);
}
