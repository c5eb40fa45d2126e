/* json_user.c - see json_user.h. */
#include "json_user.h"

static json_t *text_or_null(const char *text) { return text ? json_string(text) : json_null(); }

json_t *json_of_day(dn_day day) {
    char text[DN_DAY_TEXT];

    if (day == DN_DAY_NONE) return json_null();
    dn_day_write(day, text);
    return json_string(text);
}

json_t *json_of_instant(int64_t ms) {
    char text[DN_INSTANT_TEXT];

    if (ms == INT64_MIN) return json_null();
    dn_instant_write(ms, text);
    return json_string(text);
}

json_t *json_of_status(dn_daily_status status) {
    return text_or_null(dn_daily_status_text(status));
}

json_t *json_of_class(dn_error_class cls) { return text_or_null(dn_error_class_text(cls)); }

json_t *json_of_user(const dn_user *u) {
    char due[DN_DUE_TEXT];

    dn_due_write(u->due, due);
    return json_pack("{s:s%, s:s, s:o, s:o, s:o, s:I, s:o}", "id", u->id, (size_t)u->id_len, "due",
                     due, "last_date", json_of_day(u->last_day), "status",
                     json_of_status(u->last_day == DN_DAY_NONE ? DN_DAILY_NONE : u->status),
                     "last_run_at", json_of_instant(u->last_run_ms), "context_epoch",
                     (json_int_t)u->context_epoch, "starts_on", json_of_day(u->starts_on));
}

json_t *json_of_ledger_row(const dn_ledger_row *r) {
    return json_pack("{s:o, s:o, s:o, s:I, s:o}", "day", json_of_day(r->day), "status",
                     json_of_status(r->status), "at", json_of_instant(r->at_ms), "attempts",
                     (json_int_t)r->attempts, "error_class", json_of_class(r->error_class));
}

json_t *json_of_totals(const dn_day_totals *t) {
    return json_pack("{s:o, s:I, s:I, s:I}", "day", json_of_day(t->day), "success",
                     (json_int_t)t->success, "cutoff_reached", (json_int_t)t->cutoff, "missed",
                     (json_int_t)t->missed);
}
