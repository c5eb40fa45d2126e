/* draw_text.c - see draw_text.h. */
#include "draw_text.h"

static bool op_is_of_a_trace(const plan_op *op) {
    switch (op->kind) {
    case PLAN_USER:
    case PLAN_REMOVE:
    case PLAN_CRASH:
    case PLAN_CLOCK:
    case PLAN_STORE_FAILS: return true;
    case PLAN_CRASH_SOON:
    case PLAN_COMMIT:
    case PLAN_ACTOR_CRASH:
    case PLAN_OUTAGE: break;
    }
    return false;
}

static bool has_faults(const dn_sim_faults *f) {
    return f->delay_ppm > 0 || f->double_reply_ppm > 0 || f->slow_turn_ppm > 0;
}

bool plan_is_trace(const plan *p) {
    if (!p->has_answers || p->ticks_move || p->hooks || has_faults(&p->faults)) return false;
    for (size_t i = 0; i < p->ops_len; i++)
        if (!op_is_of_a_trace(&p->ops[i])) return false;
    return true;
}

static const char *result_text(answer_result result) {
    switch (result) {
    case ANSWER_OK: return "ok";
    case ANSWER_ERROR: return "error";
    case ANSWER_TIMEOUT: return "timeout";
    case ANSWER_HANG: return "hang";
    case ANSWER_CRASH: break;
    }
    return "crash";
}

static void write_header(const plan *p, FILE *file) {
    const trace_settings *s = &p->settings;
    const dn_sim_faults  *f = &p->faults;
    char                  start[DN_INSTANT_TEXT], end[DN_INSTANT_TEXT];

    dn_instant_write(s->start_ms, start);
    dn_instant_write(s->end_ms, end);
    fprintf(
        file,
        "{\"trace\":1,\"start\":\"%s\",\"end\":\"%s\",\"tick_ms\":%lld,\"max_concurrency\":%lld,"
        "\"job_timeout_ms\":%lld,\"window_minutes\":%lld,\"retry_delay_minutes\":%lld",
        start, end, (long long)s->tick_ms, (long long)s->max_concurrency,
        (long long)s->job_timeout_ms, (long long)s->window_minutes,
        (long long)s->retry_delay_minutes);
    if (p->ticks_move) fprintf(file, ",\"ticks\":\"move with the clock\"");
    if (p->any_order) fprintf(file, ",\"order\":\"any\"");
    if (p->hooks) fprintf(file, ",\"hooks\":true");
    if (f->delay_ppm > 0)
        fprintf(file, ",\"delay_ppm\":%u,\"delay_ms_max\":%lld", f->delay_ppm,
                (long long)f->delay_ms_max);
    if (f->double_reply_ppm > 0) fprintf(file, ",\"double_reply_ppm\":%u", f->double_reply_ppm);
    if (f->slow_turn_ppm > 0)
        fprintf(file, ",\"slow_turn_ppm\":%u,\"slow_turn_ms_max\":%lld", f->slow_turn_ppm,
                (long long)f->slow_turn_ms_max);
    if (!p->has_answers) fprintf(file, ",\"outcomes\":\"drawn from the seed\"");
    fprintf(file, "}\n");
}

static void write_op(const plan *p, const plan_op *op, FILE *file) {
    static const char *const commits[PLAN_COMMITS] = {"crash before", "crash after", "error before",
                                                      "error after"};
    static const char *const outages[PLAN_OUTAGES] = {"error", "error, late", "hang", "crash",
                                                      "ok, late"};
    char                     at[DN_INSTANT_TEXT], day[DN_DAY_TEXT];
    const long long          ms = (long long)op->ms;

    dn_instant_write(p->settings.start_ms + op->at_ms, at);
    fprintf(file, "{\"at\":\"%s\",\"op\":", at);
    switch (op->kind) {
    case PLAN_USER:
        fprintf(file, "\"user\",\"id\":\"u%u\",\"due\":\"%02u:%02u\"", op->user, op->due / 60U,
                op->due % 60U);
        if (op->ms != 0) {
            dn_day_write((dn_day)op->ms, day);
            fprintf(file, ",\"starts_on\":\"%s\"", day);
        }
        fprintf(file, "}\n");
        break;
    case PLAN_REMOVE: fprintf(file, "\"remove\",\"id\":\"u%u\"}\n", op->user); break;
    case PLAN_CRASH: fprintf(file, "\"crash\",\"down_ms\":%lld}\n", ms); break;
    case PLAN_CRASH_SOON:
        fprintf(file, "\"crash\",\"in_steps\":%u,\"down_ms\":%lld}\n", op->nth, ms);
        break;
    case PLAN_COMMIT:
        fprintf(file, "\"%s a commit\",\"nth\":%u,\"down_ms\":%lld}\n", commits[op->how], op->nth,
                ms);
        break;
    case PLAN_ACTOR_CRASH:
        fprintf(file, "\"actor crashes\",\"name\":\"%s\",\"message\":%u}\n", plan_actors[op->how],
                op->nth);
        break;
    case PLAN_CLOCK: fprintf(file, "\"clock\",\"step_ms\":%lld}\n", ms); break;
    case PLAN_STORE_FAILS: fprintf(file, "\"store_fails\",\"for_ms\":%lld}\n", ms); break;
    case PLAN_OUTAGE:
        fprintf(file,
                "\"outage\",\"for_ms\":%lld,\"result\":\"%s\",\"of\":\"users whose number is %u "
                "modulo %u\"}\n",
                ms, outages[op->how], op->user, op->nth);
        break;
    }
}

static void write_answer(const plan_answer *a, FILE *file) {
    char day[DN_DAY_TEXT];

    dn_day_write(a->day, day);
    fprintf(file,
            "{\"op\":\"outcome\",\"id\":\"u%u\",\"day\":\"%s\",\"attempt\":%u,\"result\":\"%s\"",
            a->user, day, a->attempt, result_text(a->is.result));
    if (a->is.cls != DN_CLASS_NONE)
        fprintf(file, ",\"error_class\":\"%s\"", dn_error_class_text(a->is.cls));
    fprintf(file, ",\"duration_ms\":%u}\n", a->is.duration_ms);
}

void plan_write(const plan *p, FILE *file) {
    write_header(p, file);
    for (size_t i = 0; i < p->ops_len; i++) write_op(p, &p->ops[i], file);
    for (size_t i = 0; i < p->answers_len; i++) write_answer(&p->answers[i], file);
}
