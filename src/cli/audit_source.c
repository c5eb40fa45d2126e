/* audit_source.c - see audit_source.h. */
#include "audit_source.h"
#include "store/store.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static json_int_t integer(const json_t *array, size_t i) {
    return json_integer_value(json_array_get(array, i));
}

static bool stored(dn_store *store, int rc) {
    const char *damage = dn_store_damage(store);

    if (rc == DN_OK) return true;
    (void)complain(DN_EXIT_FAILED, "cannot read the store: %s",
                   damage ? damage : dn_error_text(rc));
    return false;
}

static json_t *asked_for(const audit_source *s, const char *path, json_t *query,
                         const char *wanted) {
    int exit_code;

    return client_get(s->asked, path, query, wanted, &exit_code);
}

static const char *day_text(dn_day day, char text[DN_DAY_TEXT]) {
    dn_day_write(day, text);
    return text;
}

/* ---- Progress of the daemon ---- */

static bool instant(const json_t *answer, const char *part, const char *key, int64_t *out_ms) {
    const char *text = json_string_value(json_object_get(json_object_get(answer, part), key));

    return text && dn_instant_read(text, strlen(text), out_ms) == DN_OK;
}

bool source_look(const audit_source *s, const call *c, source_state *out_state) {
    source_state state = {.as_of_ms = INT64_MIN,
                          .now_ms = (int64_t)time(NULL) * 1000,
                          .ledger_days = (uint32_t)c->settings->ledger_days,
                          .ledger_since = s->store ? dn_store_ledger_since(s->store) : DN_DAY_NONE};

    if (s->asked) {
        json_t *answer = asked_for(s, "/api/v1/status", json_object(), "daemon");
        if (!answer) return false;
        const json_t *store = json_object_get(answer, "store");
        (void)instant(answer, "daemon", "now", &state.now_ms);
        (void)instant(answer, "tick", "last_at", &state.as_of_ms);
        state.ledger_days = (uint32_t)json_integer_value(
            json_object_get(json_object_get(answer, "daemon"), "ledger_days"));
        const char *since = json_string_value(json_object_get(store, "ledger_since"));
        if (since && dn_day_read(since, strlen(since), &state.ledger_since) < 0)
            state.ledger_since = DN_DAY_NONE;
        const json_t *tick = json_object_get(answer, "tick");
        state.planning = json_is_true(json_object_get(tick, "planning"));
        state.ticks = (uint64_t)json_integer_value(json_object_get(tick, "ticks"));
        state.full = json_is_true(json_object_get(store, "full"));
        state.waiting = (uint64_t)json_integer_value(json_object_get(store, "waiting_writes"));
        json_decref(answer);
    }
    *out_state = state;
    return true;
}

/* ---- Users ---- */

static void user_of_item(const json_t *item, source_user *out) {
    const json_t *id = json_array_get(item, 6);
    const size_t  id_len = json_string_length(id);

    *out = (source_user){
        .user = {.n = (uint64_t)integer(item, 0),
                 .due = (uint32_t)integer(item, 1) % DN_DAY_MINUTES,
                 .starts_on = (dn_day)integer(item, 2),
                 .last_day = (dn_day)integer(item, 3),
                 .recorded = (dn_day)integer(item, 4),
                 .status = (dn_daily_status)integer(item, 5)},
        .id_len = (uint8_t)(id_len < DN_ID_MAX ? id_len : DN_ID_MAX),
    };
    if (json_is_string(id)) memcpy(out->id, json_string_value(id), out->id_len);
}

static void user_of_store(const dn_user *u, source_user *out) {
    *out = (source_user){
        .user = {u->registration, u->due, u->starts_on, u->last_day, u->recorded, u->status},
        .id_len = u->id_len};
    memcpy(out->id, u->id, u->id_len);
}

static bool users_of_store(dn_store *store, uint64_t after_n, source_user *users, size_t max,
                           size_t *out_len) {
    dn_user *page = calloc(max, sizeof *page);
    size_t   len = 0;
    bool read = stored(store, page ? dn_store_load(store, after_n, page, max, &len) : DN_ENOMEM);

    for (size_t i = 0; read && i < len; i++) user_of_store(&page[i], &users[i]);
    free(page);
    *out_len = len;
    return read;
}

bool source_users(const audit_source *s, uint64_t after_n, source_user *users, size_t max,
                  size_t *out_len) {
    if (s->store) return users_of_store(s->store, after_n, users, max, out_len);
    json_t *answer = asked_for(
        s, "/api/v1/audit/users",
        json_pack("{s:I, s:I}", "cursor", (json_int_t)after_n, "limit", (json_int_t)max), "items");
    if (!answer) return false;
    const json_t *items = json_object_get(answer, "items");
    const size_t  len = json_array_size(items);
    for (size_t i = 0; i < len && i < max; i++) user_of_item(json_array_get(items, i), &users[i]);
    *out_len = len < max ? len : max;
    json_decref(answer);
    return true;
}

/* ---- The ledger ---- */

static dn_ledger_row row_of_item(const json_t *item, dn_day day) {
    return (dn_ledger_row){.registration = (uint64_t)integer(item, 0),
                           .day = day,
                           .status = (dn_daily_status)integer(item, 1),
                           .error_class = (dn_error_class)integer(item, 2),
                           .attempts = (uint16_t)integer(item, 3),
                           .at_ms = integer(item, 4)};
}

static uint64_t count(const json_t *totals, const char *key) {
    return (uint64_t)json_integer_value(json_object_get(totals, key));
}

static bool rows_of_day(const audit_source *s, dn_day day, uint64_t after_n, dn_ledger_row *rows,
                        size_t max, size_t *out_len) {
    char text[DN_DAY_TEXT];

    json_t *answer = asked_for(s, "/api/v1/audit/records",
                               json_pack("{s:s, s:I, s:I}", "day", day_text(day, text), "cursor",
                                         (json_int_t)after_n, "limit", (json_int_t)max),
                               "items");
    if (!answer) return false;
    const json_t *items = json_object_get(answer, "items");
    const size_t  len = json_array_size(items) < max ? json_array_size(items) : max;
    for (size_t i = 0; i < len; i++) rows[i] = row_of_item(json_array_get(items, i), day);
    *out_len = len;
    json_decref(answer);
    return true;
}

bool source_day(const audit_source *s, dn_day day, uint64_t after_n, dn_ledger_row *rows,
                size_t *out_len) {
    if (s->store)
        return stored(s->store, dn_store_day(s->store, day, after_n, rows, SOURCE_PAGE, out_len));
    return rows_of_day(s, day, after_n, rows, SOURCE_PAGE, out_len);
}

bool source_row(const audit_source *s, uint64_t n, dn_day day, dn_ledger_row *out_row,
                bool *out_found) {
    size_t len = 0;

    *out_found = false;
    if (s->store) {
        if (!stored(s->store, dn_store_days_of(s->store, n, day + 1, out_row, 1, &len)))
            return false;
        *out_found = len == 1 && out_row->day == day;
        return true;
    }
    if (!rows_of_day(s, day, n - 1, out_row, 1, &len)) return false;
    *out_found = len == 1 && out_row->registration == n;
    return true;
}

bool source_totals(const audit_source *s, dn_day day, dn_day_totals *out_totals) {
    char   text[DN_DAY_TEXT];
    size_t len = 0;

    *out_totals = (dn_day_totals){.day = day};
    if (s->store) return stored(s->store, dn_store_totals(s->store, day, day, out_totals, 1, &len));
    (void)day_text(day, text);
    json_t *answer = asked_for(s, "/api/v1/daily/days",
                               json_pack("{s:s, s:s}", "from", text, "to", text), "items");
    if (!answer) return false;
    const json_t *item = json_array_get(json_object_get(answer, "items"), 0);
    out_totals->success = count(item, "success");
    out_totals->cutoff = count(item, "cutoff_reached");
    out_totals->missed = count(item, "missed");
    json_decref(answer);
    return true;
}
