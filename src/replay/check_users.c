/* check_users.c - see check_users.h. Tables that grow by half, and nothing else. */
#include "check_users.h"

#include "base/array.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { LEAST = 64, FETCH_MOST = 8192 };
#define HUGE_PAGE ((size_t)2 << 20)

int check_users_init(check_users *u) {
    *u = (check_users){.era = 1, .process = 1};
    check_users_recount(u);
    return DN_OK;
}

void check_users_done(check_users *u) {
    for (size_t i = 0; i < 1440; i++) free(u->minutes[i].rows);
    free(u->people);
    free(u->records);
    free(u->ids);
    free(u->left);
}

void check_users_recount(check_users *u) {
    for (size_t i = 0; i < 1440; i++) {
        u->minutes[i].begun_day = u->minutes[i].done_day = DN_DAY_NONE;
        u->minutes[i].begun = u->minutes[i].done = 0;
    }
}

/* ---- Eras ---- */

/* But not of which days an ok may be on its way to the disk. */
static void forget_tries(check_person *p) {
    for (int i = 0; i < 2; i++) {
        if (!(p->maybe_ok & 1U << i)) p->days[i].day = DN_DAY_NONE;
        p->days[i].starts = 0;
        p->days[i].asked_ms = CHECK_NEVER;
    }
}

void check_person_renew(check_users *u, check_person *p) {
    if (p->era < u->process) {
        p->flags &= (uint16_t)~CHECK_BEHIND;
        p->maybe_ok = 0;
    } else if (p->state == CHECK_OK_WAITS) {
        p->maybe_ok |= 1U;
    }
    p->state = CHECK_IDLE;
    forget_tries(p);
    p->era = u->era;
}

check_tries *check_tries_open(check_person *p, dn_day day, bool *out_fresh) {
    const check_tries first = p->days[0];
    const uint8_t     maybe_ok = p->maybe_ok;

    *out_fresh = false;
    if (first.day == day) return &p->days[0];
    *out_fresh = p->days[1].day != day;
    p->days[0] = *out_fresh ? (check_tries){.day = day, .asked_ms = CHECK_NEVER} : p->days[1];
    p->days[1] = first;
    p->maybe_ok = (uint8_t)((maybe_ok & 1U) << 1 | (*out_fresh ? 0U : maybe_ok >> 1));
    return &p->days[0];
}

check_person *check_busy(check_users *u, check_person *p) {
    if (p->state != CHECK_IDLE) return p;
    if (!(p->flags & CHECK_HAS_ELDER)) return NULL;
    const uint32_t elder = u->records[check_number_of(u, p)].elder;
    check_person  *before = check_person_of(u, elder);
    return before && before->state != CHECK_IDLE ? before : NULL;
}

/* ---- Growing ---- */

static size_t more_than(size_t n, size_t cap) {
    while (cap <= n) cap *= 2;
    return cap;
}

/* In large pages, if the system has any: users are met in no order. */
static void *moved(void *rows, size_t old_bytes, size_t bytes) {
    void *room = NULL;

    if (posix_memalign(&room, bytes < HUGE_PAGE ? 64 : HUGE_PAGE, bytes) != 0) return NULL;
    if (bytes >= HUGE_PAGE) (void)madvise(room, bytes, MADV_HUGEPAGE);
    if (old_bytes > 0) memcpy(room, rows, old_bytes);
    free(rows);
    return room;
}

static int reserve_people(check_users *u, uint32_t n) {
    const size_t old = u->cap, cap = more_than(n, old < LEAST ? LEAST : old);

    if (n < old) return DN_OK;
    check_person *people = moved(u->people, old * sizeof *people, cap * sizeof *people);
    if (!people) return DN_ENOMEM;
    u->people = people;
    check_record *records = moved(u->records, old * sizeof *records, cap * sizeof *records);
    if (!records) return DN_ENOMEM;
    u->records = records;
    u->cap = (uint32_t)cap;
    return DN_OK;
}

void check_users_fetch(const check_users *u, uint32_t minute) {
    const check_minute *m = &u->minutes[minute];

    for (uint32_t i = 0; i < m->len && i < FETCH_MOST; i++) check_users_fetch_one(u, m->rows[i]);
}

/* ---- Minutes ---- */

static int minute_add(check_users *u, uint32_t n) {
    check_minute *m = &u->minutes[u->people[n].due];

    if (DN_ARRAY_RESERVE(m->rows, m->cap, (size_t)m->len + 1) < 0) return DN_ENOMEM;
    u->records[n].at = m->len;
    m->rows[m->len++] = n;
    return DN_OK;
}

/* What was counted there may have counted this one. */
static void minute_drop(check_users *u, uint32_t n) {
    check_minute  *m = &u->minutes[u->people[n].due];
    const uint32_t at = u->records[n].at, last = m->rows[--m->len];

    m->rows[at] = last;
    u->records[last].at = at;
    m->begun = m->done = 0;
}

/* ---- Ids ---- */

/* FNV-1a. Two ids with one hash: an attempt too few would be asked for, once. */
static uint64_t hash_of(const char *id, uint8_t len) {
    uint64_t h = 14695981039346656037U;

    for (uint8_t i = 0; i < len; i++) h = (h ^ (unsigned char)id[i]) * 1099511628211U;
    return h;
}

static int keep_id(check_users *u, uint32_t n, const char *id, uint8_t len) {
    if (DN_ARRAY_RESERVE(u->ids, u->ids_cap, u->ids_len + len) < 0) return DN_ENOMEM;
    u->records[n].id_at = (uint32_t)u->ids_len;
    u->records[n].id_len = len;
    memcpy(u->ids + u->ids_len, id, len);
    u->ids_len += len;
    return DN_OK;
}

static bool stays(check_users *u, uint32_t n, int64_t now_ms, int64_t retry_ms) {
    check_person *p = check_person_of(u, n);

    if (!p) return false;
    if (check_busy(u, p)) return true;
    for (int i = 0; i < 2; i++)
        if (p->days[i].asked_ms != CHECK_NEVER && now_ms < p->days[i].asked_ms + retry_ms)
            return true;
    return false;
}

/* Few at a time are removed within a retry delay: a list will do. */
static void forget_left(check_users *u, int64_t now_ms, int64_t retry_ms) {
    size_t kept = 0;

    for (size_t i = 0; i < u->left_len; i++)
        if (stays(u, u->left[i].n, now_ms, retry_ms)) u->left[kept++] = u->left[i];
    u->left_len = kept;
}

/* What stays with an id: when it was asked for, and that it runs. Its attempts begin anew. */
static void inherit(check_users *u, uint32_t n, uint64_t hash) {
    for (size_t i = u->left_len; i-- > 0;) {
        if (u->left[i].hash != hash) continue;
        const uint32_t      old = u->left[i].n;
        const check_person *before = check_person_of(u, old);
        assert(before); /* who was removed was there */
        check_person *p = &u->people[n];
        u->left[i] = u->left[--u->left_len];
        memcpy(p->days, before->days, sizeof p->days);
        p->days[0].starts = p->days[1].starts = 0;
        const uint32_t runs = before->state != CHECK_IDLE ? old : u->records[old].elder;
        if (runs == CHECK_NOBODY) return;
        p->flags |= CHECK_HAS_ELDER;
        u->records[n].elder = runs;
        u->records[runs].heir = n;
        return;
    }
}

/* ---- Who there is ---- */

static int add(check_users *u, uint32_t n, uint32_t due, dn_day starts_on, const char *id,
               uint8_t id_len) {
    const uint32_t end = u->end > n ? u->end : n + 1;
    int            rc = reserve_people(u, n);

    if (rc < 0) return rc;
    for (uint32_t i = u->end; i < end; i++) {
        u->people[i] =
            (check_person){.era = u->era, .last_day = DN_DAY_NONE, .recorded = DN_DAY_NONE};
        forget_tries(&u->people[i]);
        u->records[i] =
            (check_record){.last_run_ms = CHECK_NEVER, .elder = CHECK_NOBODY, .heir = CHECK_NOBODY};
    }
    u->end = end;
    u->people[n].due = (uint16_t)due;
    u->people[n].starts_on = starts_on;
    u->people[n].flags |= CHECK_LIVES;
    u->live++;
    rc = keep_id(u, n, id, id_len);
    if (rc < 0) return rc;
    if (u->left_len > 0) inherit(u, n, hash_of(id, id_len));
    return minute_add(u, n);
}

int check_users_put(check_users *u, uint32_t n, uint32_t due, dn_day starts_on, const char *id,
                    uint8_t id_len) {
    check_person *p = check_person_of(u, n);

    if (!check_lives(p)) return add(u, n, due, starts_on, id, id_len);
    p->starts_on = starts_on;
    if (p->due == due) return DN_OK;
    minute_drop(u, n);
    p->due = (uint16_t)due;
    return minute_add(u, n);
}

int check_users_stay(check_users *u, uint32_t n, int64_t now_ms, int64_t retry_ms) {
    const check_record *r = &u->records[n];

    if (!stays(u, n, now_ms, retry_ms)) return DN_OK;
    if (u->left_len == u->left_cap) forget_left(u, now_ms, retry_ms);
    if (DN_ARRAY_RESERVE(u->left, u->left_cap, u->left_len + 1) < 0) return DN_ENOMEM;
    u->left[u->left_len++] = (check_left){hash_of(u->ids + r->id_at, r->id_len), n};
    return DN_OK;
}

/* Rare, and then among few. */
check_tries *check_users_bequeath(check_users *u, uint32_t n, dn_day day) {
    const check_record *r = &u->records[n];
    bool                fresh;

    for (uint32_t i = n + 1; i < u->end; i++) {
        const check_record *other = &u->records[i];
        check_person       *p = check_person_of(u, i);
        if (!check_lives(p) || other->id_len != r->id_len ||
            memcmp(u->ids + other->id_at, u->ids + r->id_at, r->id_len) != 0)
            continue;
        p->flags |= CHECK_HAS_ELDER;
        u->records[i].elder = n;
        u->records[n].heir = i;
        return check_tries_open(p, day, &fresh);
    }
    return NULL;
}

int check_users_remove(check_users *u, uint32_t n, int64_t now_ms, int64_t retry_ms) {
    check_person *p = check_person_of(u, n);

    minute_drop(u, n);
    p->flags &= (uint16_t)~CHECK_LIVES;
    u->live--;
    if (p->state == CHECK_QUEUED) p->state = CHECK_IDLE;
    return check_users_stay(u, n, now_ms, retry_ms);
}
