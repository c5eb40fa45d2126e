/* json_status.c - see json_status.h. */
#include "json_status.h"

#include "json_user.h"

static json_int_t number(uint64_t n) { return (json_int_t)n; }

json_t *json_of_kv_status(const dn_kv_status *s) {
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:b}", "users", number(s->users),
                     "waiting_writes", number(s->waiting), "tried", number(s->tried), "commits",
                     number(s->commits), "writes", number(s->writes), "failures",
                     number(s->failures), "full", s->full);
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
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "queued", number(s->queued), "running",
                     number(s->running), "known", number(s->known), "deduped", number(s->deduped),
                     "throttled", number(s->throttled), "expired", number(s->expired),
                     "queued_peak", number(s->queued_peak));
}

json_t *json_of_executor_status(const dn_executor_status *s) {
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "in_flight", number(s->in_flight),
                     "max_concurrency", number(s->max_concurrency), "in_flight_peak",
                     number(s->in_flight_peak), "started", number(s->started), "ok", number(s->ok),
                     "error", number(s->failed), "timeout", number(s->timed_out), "late_success",
                     number(s->late));
}
