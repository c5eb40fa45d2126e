/* json_status.c - see json_status.h. */
#include "json_status.h"

#include "daily/json_user.h"

static json_int_t number(uint64_t n) { return (json_int_t)n; }

json_t *json_of_kv_status(const dn_kv_status *s) {
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:o}", "users", number(s->users),
                     "waiting_writes", number(s->waiting), "tried", number(s->tried), "commits",
                     number(s->commits), "writes", number(s->writes), "failures",
                     number(s->failures), "full", s->full, "ledger_since",
                     json_of_day(s->ledger_since));
}

json_t *json_of_tick_status(const dn_tick_status *s) {
    return json_pack(
        "{s:b, s:b, s:I, s:I, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:I}", "loaded", s->loaded,
        "planning", s->planning, "users", number(s->users), "ticks", number(s->ticks), "last_at",
        json_of_instant(s->last_ms ? s->last_ms : INT64_MIN), "next_at",
        json_of_instant(s->next_ms ? s->next_ms : INT64_MIN), "took_us", (json_int_t)s->took_us,
        "users_scanned", number(s->scanned), "eligible_in_window", number(s->eligible), "enqueued",
        number(s->enqueued), "cutoff_finalized", number(s->cutoffs), "missed", number(s->missed));
}

json_t *json_of_queue_status(const dn_queue_status *s) {
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "queued", number(s->queued),
                     "running", number(s->running), "known", number(s->known), "deduped",
                     number(s->deduped), "throttled", number(s->throttled), "expired",
                     number(s->expired), "late_success", number(s->late), "queued_peak",
                     number(s->queued_peak));
}

json_t *json_of_executor_status(const dn_executor_status *s) {
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "in_flight", number(s->in_flight),
                     "max_concurrency", number(s->max_concurrency), "in_flight_peak",
                     number(s->in_flight_peak), "started", number(s->started), "ok", number(s->ok),
                     "error", number(s->failed), "timeout", number(s->timed_out));
}

static const char *state_of(const dn_slo_status *s) {
    if (s->breached) return "breached";
    return s->now.measured ? "ok" : "no_data";
}

static json_t *slo_item(const dn_slo_status *s) {
    static const char *const units[] = {[DN_SLO_MS] = "ms",
                                        [DN_SLO_SHARE] = "share",
                                        [DN_SLO_COUNT] = "count",
                                        [DN_SLO_TIMES] = "times"};
    char                     sentence[DN_SLO_SENTENCE], due[DN_DUE_TEXT];

    dn_slo_sentence(s, sentence);
    json_t *item = json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:o, s:f, s:i, s:i}", "name", s->row->name, "description",
        s->row->description, "state", state_of(s), "sentence", sentence, "unit",
        units[s->row->unit], "value", s->now.measured ? json_real(s->now.value) : json_null(),
        "threshold", s->row->limit, "window_minutes", (int)s->minutes, "streak", (int)s->streak);
    if (item && s->worst >= 0) {
        dn_due_write((uint32_t)s->worst, due);
        (void)json_object_set_new(item, "worst_due", json_string(due));
    }
    return item;
}

json_t *json_of_slo_report(const dn_slo_report *r) {
    json_t *list = json_array();

    for (size_t i = 0; i < r->len && list; i++)
        if (!r->slo[i].row->off) (void)json_array_append_new(list, slo_item(&r->slo[i]));
    return list;
}
