/* kv_backup.c - the part of kv that copies the store while it is used.
 * A copy is a few pages a step, so that writes go on in between. A copy with a path is a file of the caller's; a copy
 * without one has no name, and is read in pieces. */
#include "kv.h"

#include <stdio.h>
#include <string.h>

enum {
    MSG_BACKUP_STEP = MSG_OWN + 50,
    MSG_COPY_EXPIRED,
    COPY_IDLE_MS = 60000, /* a copy without a name is dropped when nobody has read it for so long */
};
static_assert(sizeof(dn_kv_copy_piece) + DN_KV_PIECE <= DN_KV_ANSWER_BYTES,
              "one answer holds a piece of a copy");

typedef struct backup_part {
    dn_backup  *backup; /* under way */
    dn_msg     *request;
    dn_backup  *copy;   /* complete, without a name */
    uint64_t    copies; /* the number of the last one */
    uint64_t    reads;  /* only the timer of the last read drops a copy */
    dn_timer_id timer;
} backup_part;

static void reply_words(dn_self *self, const dn_msg *msg, int status, const char *words) {
    dn_kv_words answer = {.status = status};

    memcpy(answer.words, words, strnlen(words, sizeof answer.words - 1));
    dn_reply(self, msg, MSG_KV_ANSWER, &answer, sizeof answer);
}

static void reply_copy(dn_self *self, const backup_part *p, const dn_msg *msg, int status,
                       const char *words) {
    dn_kv_copy_answer answer = {.status = status};

    if (status == DN_OK) {
        answer.copy = p->copies;
        answer.bytes = dn_backup_bytes(p->copy);
    }
    memcpy(answer.words, words, strnlen(words, sizeof answer.words - 1));
    dn_reply(self, msg, MSG_KV_ANSWER, &answer, sizeof answer);
}

static void release_backup(void *backup) { dn_backup_free(backup); }

/* msg is the request that this backup will answer. path NULL: a copy without a name. A backup that fails means nothing
 * for the store. */
static int begin(dn_self *self, dn_kv *k, backup_part *p, const dn_msg *msg, const char *path,
                 char *why) {
    if (p->backup) {
        (void)snprintf(why, DN_STORE_WHY, "another backup is running; try again later");
        return DN_EEXIST;
    }
    const int rc = dn_store_backup(dn_kv_store_borrow(k), path, &p->backup, why);
    if (rc < 0) return rc;
    dn_own(self, p->backup, release_backup);
    p->request = dn_msg_keep(self, msg);
    dn_timer_after(self, 0, MSG_BACKUP_STEP, 0);
    return DN_OK;
}

static int on_backup(dn_self *self, dn_kv *k, void *part, const dn_msg *msg) {
    const size_t len = dn_msg_size(msg);
    char         path[4096], why[DN_STORE_WHY] = "";

    if (len == 0 || len >= sizeof path) {
        reply_words(self, msg, DN_EINVAL, "a path has 1 to 4095 bytes");
        return DN_OK;
    }
    memcpy(path, dn_msg_body_borrow(msg), len);
    path[len] = '\0';
    const int rc = begin(self, k, part, msg, path, why);
    if (rc < 0) reply_words(self, msg, rc, why);
    return DN_OK;
}

/* The disk gets its space back at once. */
static void copy_drop(dn_self *self, backup_part *p) {
    if (!p->copy) return;
    (void)dn_timer_cancel(self, p->timer);
    (void)dn_disown(self, p->copy);
    dn_backup_free(DN_TAKE(p->copy));
}

static void copy_expect_read(dn_self *self, backup_part *p) {
    if (p->timer) (void)dn_timer_cancel(self, p->timer);
    p->timer = dn_timer_after(self, COPY_IDLE_MS, MSG_COPY_EXPIRED, ++p->reads);
}

/* A reader of the copy before hears that it is gone. */
static int on_copy(dn_self *self, dn_kv *k, void *part, const dn_msg *msg) {
    char         why[DN_STORE_WHY] = "";
    backup_part *p = part;

    if (!p->backup) copy_drop(self, p);
    const int rc = begin(self, k, p, msg, NULL, why);
    if (rc < 0) reply_copy(self, p, msg, rc, why);
    return DN_OK;
}

static int on_step(dn_self *self, dn_kv *k, void *part, const dn_msg *msg) {
    backup_part *p = part;
    char         why[DN_STORE_WHY] = "";
    const int    rc = dn_backup_step(p->backup, why);

    (void)k, (void)msg;
    if (rc == DN_PENDING) {
        dn_timer_after(self, 0, MSG_BACKUP_STEP, 0);
        return DN_OK;
    }
    const dn_msg *request = DN_TAKE(p->request);
    const bool    is_copy = dn_msg_kind(request) == MSG_KV_COPY;
    if (is_copy && rc == DN_OK) {
        p->copy = DN_TAKE(p->backup);
        p->copies++;
        copy_expect_read(self, p);
    } else {
        (void)dn_disown(self, p->backup);
        dn_backup_free(DN_TAKE(p->backup));
    }
    if (is_copy) reply_copy(self, p, request, rc, rc == DN_OK ? "" : why);
    else reply_words(self, request, rc, rc == DN_OK ? "" : why);
    return DN_OK;
}

static int on_copy_read(dn_self *self, dn_kv *k, void *part, const dn_msg *msg) {
    const dn_kv_copy_read read = *DN_BODY(dn_kv_copy_read, msg);
    backup_part          *p = part;
    dn_kv_copy_piece     *piece = dn_kv_scratch_borrow(k);
    size_t                len = 0;

    piece->status = DN_EDEAD;
    if (p->copy && read.copy == p->copies)
        piece->status = dn_backup_read(p->copy, read.offset, piece->bytes, DN_KV_PIECE, &len);
    piece->len = (uint32_t)len;
    if (piece->status == DN_OK) {
        if (read.offset + len >= dn_backup_bytes(p->copy)) copy_drop(self, p);
        else copy_expect_read(self, p);
    }
    dn_reply(self, msg, MSG_KV_ANSWER, piece, sizeof *piece + len);
    return DN_OK;
}

static int on_copy_expired(dn_self *self, dn_kv *k, void *part, const dn_msg *msg) {
    backup_part *p = part;

    (void)k;
    if (*DN_BODY(uint64_t, msg) == p->reads) copy_drop(self, p);
    return DN_OK;
}

static const dn_kv_handler handlers[] = {
    {MSG_KV_BACKUP, on_backup},       /* somebody -> copy the store to a path */
    {MSG_KV_COPY, on_copy},           /* somebody -> make a copy to be read */
    {MSG_KV_COPY_READ, on_copy_read}, /* somebody -> a piece of it */
    {MSG_BACKUP_STEP, on_step},       /* timer    -> a few pages more */
    {MSG_COPY_EXPIRED, on_copy_expired},
};

const dn_kv_part dn_kv_backup_part = {
    .name = "backup",
    .state_size = sizeof(backup_part),
    .handlers = {{handlers, sizeof handlers / sizeof *handlers}},
};
