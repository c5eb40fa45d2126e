/* routes_backup.c - copies of the database while the daemon runs: to a file of the daemon's machine, or read in pieces. */
#include "http/http_uri.h"
#include "routes.h"

#include <stdlib.h>
#include <string.h>

enum { COPY_MS = 3600000, PIECE_MS = 30000 };

/* ---- POST /api/v1/backup ---- */

static http_response copied(const route_world *w, const exchange *x, json_t *answer) {
    (void)w, (void)answer;
    return api_json(201, json_pack("{s:O}", "path", json_object_get(x->ask.request, "path")));
}

static const char *const backup_members[] = {"path", NULL};

static const api backup = {.op = "backup", .members = backup_members, .response = copied};

/* ---- POST /api/v1/backup/copies ---- */

static route_step unavailable(exchange *x) {
    return exchange_answer(x, http_problem(503, "the store does not answer; try again"));
}

static int status_of(int code) {
    switch (code) {
    case DN_EEXIST: return 409;
    case DN_EFULL: return 507;
    case DN_EINVAL: return 400;
    default: return 500;
    }
}

static route_step copy(dn_self *self, const route_world *w, exchange *x, const dn_msg *reply) {
    if (!reply)
        return exchange_call(self, x, w->kv, MSG_KV_COPY, NULL, 0, COPY_MS) == ROUTE_WAITS
                   ? ROUTE_WAITS
                   : unavailable(x);
    if (dn_msg_kind(reply) != MSG_KV_ANSWER) return unavailable(x);
    const dn_kv_copy_answer *answer = DN_BODY(dn_kv_copy_answer, reply);
    if (answer->status < 0)
        return exchange_answer(
            x, http_problem(status_of(answer->status),
                            answer->words[0] ? answer->words : dn_error_text(answer->status)));
    return exchange_answer(x,
                           api_json(201, json_pack("{s:I, s:I}", "copy", (json_int_t)answer->copy,
                                                   "bytes", (json_int_t)answer->bytes)));
}

/* ---- GET /api/v1/backup/copies/{id}?offset= ---- */

/* False: it is no number. */
static bool number_of(const char *text, size_t len, uint64_t *out_number) {
    uint64_t number = 0;

    if (len == 0 || len > 18) return false;
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9') return false;
        number = number * 10 + (uint64_t)(text[i] - '0');
    }
    *out_number = number;
    return true;
}

static bool offset_of(const exchange *x, uint64_t *out_offset) {
    bool known = true, given = false;

    for (http_text rest = x->head->query, name, value; http_query_next(&rest, &name, &value);) {
        known &= !given && value.at && number_of(value.at, value.len, out_offset);
        given = true;
    }
    return known;
}

static route_step piece_answer(exchange *x, const dn_msg *reply) {
    const dn_kv_copy_piece *piece = dn_msg_body_borrow(reply);

    if (piece->status == DN_EDEAD)
        return exchange_answer(x, http_problem(404, "there is no such copy, or it is gone"));
    if (piece->status < 0)
        return exchange_answer(x, http_problem(500, dn_error_text(piece->status)));
    char *bytes = malloc(piece->len + 1);
    if (!bytes) return exchange_answer(x, http_problem(503, "out of memory"));
    memcpy(bytes, piece->bytes, piece->len);
    return exchange_answer(x, http_answer(200, "application/octet-stream", bytes, piece->len));
}

static route_step piece(dn_self *self, const route_world *w, exchange *x, const dn_msg *reply) {
    dn_kv_copy_read read = {0};

    if (reply && dn_msg_kind(reply) != MSG_KV_ANSWER) return unavailable(x);
    if (reply) return piece_answer(x, reply);
    if (!api_knows_query(x)) return ROUTE_DONE;
    if (!offset_of(x, &read.offset))
        return exchange_answer(x, http_problem(400, "\"offset\" is no whole number"));
    if (!number_of(x->id, x->id_len, &read.copy))
        return exchange_answer(x, http_problem(404, "there is no such copy, or it is gone"));
    return exchange_call(self, x, w->kv, MSG_KV_COPY_READ, &read, sizeof read, PIECE_MS) ==
                   ROUTE_WAITS
               ? ROUTE_WAITS
               : unavailable(x);
}

static const api_param piece_params[] = {{"offset", "offset", true}, {.name = NULL}};
static const api       piece_api = {.params = piece_params, .has_id = true};

const route routes_backup[] = {
    {"POST", "/api/v1/backup", DN_SCOPE_ADMIN, ROUTE_JSON, route_api, &backup},
    {"POST", "/api/v1/backup/copies", DN_SCOPE_ADMIN, ROUTE_NO_BODY, copy, NULL},
    {"GET", "/api/v1/backup/copies/{id}", DN_SCOPE_ADMIN, ROUTE_NO_BODY, piece, &piece_api},
    {.method = NULL},
};
