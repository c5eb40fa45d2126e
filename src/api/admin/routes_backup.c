/* routes_backup.c - copies of the database while the daemon runs: to a file of the daemon's machine, or read in pieces. */
#include "reply.h"

#include <stdlib.h>
#include <string.h>

/* ---- POST /api/v1/backup ---- */

enum { BACKUP_PATH };
static const field backup_members[] = {
    [BACKUP_PATH] = {.name = "path", .type = FIELD_TEXT, .required = true}, {.name = NULL}};

static int status_of(int rc) {
    switch (rc) {
    case DN_EINVAL: return 400;
    case DN_EFULL: return 507;
    case DN_EEXIST:              /* the file is there already, or another backup is under way */
    case DN_EFAILED: return 409; /* there is no such directory */
    default: return 500;
    }
}

static route_step reply_backup(dn_self *self, const api_world *w, exchange *x,
                               const dn_msg *reply) {
    const dn_kv_words *answer = DN_BODY(dn_kv_words, reply);
    const char        *why = answer->words[0] ? answer->words : dn_error_text(answer->status);

    (void)self, (void)w;
    if (answer->status != DN_OK) return reply_problem(x, status_of(answer->status), "%s", why);
    x->committed = true;
    return reply_json(x, 201, json_pack("{s:s}", "path", x->members.at[BACKUP_PATH].text));
}

static route_step post_backup(dn_self *self, const api_world *w, exchange *x) {
    const field_value *path = &x->members.at[BACKUP_PATH];

    /* A relative path would mean the client's directory to the client, and the daemon's to us. */
    if (*path->text != '/' || strlen(path->text) != path->len)
        return reply_problem(x, 400, "\"path\" must be an absolute path");
    return exchange_call_long(self, x, w->kv, MSG_KV_BACKUP, path->text, path->len, reply_backup);
}

/* ---- POST /api/v1/backup/copies ---- */

static route_step reply_copy(dn_self *self, const api_world *w, exchange *x, const dn_msg *reply) {
    const dn_kv_copy_answer *answer = DN_BODY(dn_kv_copy_answer, reply);
    const char              *why = answer->words[0] ? answer->words : dn_error_text(answer->status);

    (void)self, (void)w;
    if (answer->status != DN_OK) return reply_problem(x, status_of(answer->status), "%s", why);
    return reply_json(x, 201,
                      json_pack("{s:I, s:I}", "copy", (json_int_t)answer->copy, "bytes",
                                (json_int_t)answer->bytes));
}

static route_step post_copy(dn_self *self, const api_world *w, exchange *x) {
    return exchange_call_long(self, x, w->kv, MSG_KV_COPY, NULL, 0, reply_copy);
}

/* ---- GET /api/v1/backup/copies/{id}?offset= ---- */

enum { COPY_OFFSET };
static const field copy_query[] = {
    [COPY_OFFSET] = {.name = "offset", .type = FIELD_NUMBER, .max = INT64_MAX}, {.name = NULL}};

static route_step reply_piece(dn_self *self, const api_world *w, exchange *x, const dn_msg *reply) {
    const dn_kv_copy_piece *piece = dn_msg_body_borrow(reply);

    (void)self, (void)w;
    if (piece->status == DN_EDEAD) return reply_unknown(x, "copy");
    if (piece->status != DN_OK) return reply_problem(x, 500, "%s", dn_error_text(piece->status));
    char *bytes = malloc(piece->len + 1);
    if (!bytes) return reply_no_memory(x);
    memcpy(bytes, piece->bytes, piece->len);
    return reply_response(x, http_answer(200, "application/octet-stream", bytes, piece->len));
}

/* False: the path does not name a copy by its number. */
static bool copy_of(const exchange *x, uint64_t *out_copy) {
    const http_text id = x->captures.at[0];
    uint64_t        number = 0;

    if (id.len == 0 || id.len > 18) return false;
    for (size_t i = 0; i < id.len; i++) {
        if (id.at[i] < '0' || id.at[i] > '9') return false;
        number = number * 10 + (uint64_t)(id.at[i] - '0');
    }
    *out_copy = number;
    return true;
}

static route_step get_piece(dn_self *self, const api_world *w, exchange *x) {
    dn_kv_copy_read read = {.offset = (uint64_t)field_number(&x->query.at[COPY_OFFSET], 0)};

    if (!copy_of(x, &read.copy)) return reply_unknown(x, "copy");
    return exchange_call(self, x, w->kv, MSG_KV_COPY_READ, &read, sizeof read, reply_piece);
}

const route routes_backup[] = {
    {"POST", "/api/v1/backup", DN_SCOPE_ADMIN, ROUTE_JSON, post_backup, .members = backup_members},
    {"POST", "/api/v1/backup/copies", DN_SCOPE_ADMIN, ROUTE_NO_BODY, post_copy, .query = NULL},
    {"GET", "/api/v1/backup/copies/{id}", DN_SCOPE_ADMIN, ROUTE_NO_BODY, get_piece,
     .query = copy_query},
    {.method = NULL},
};
