/* day_minutes.c - see day_minutes.h. */
#include "day_minutes.h"

#include "actor/pipe.h"

void day_minutes_take_running(day_minutes *m, dn_day day, const dn_msg *reply) {
    for (int i = 0; i < DN_DAY_MINUTES; i++) m->at[i].running = 0;
    for (DN_PIPE_EACH_ID(dn_running, r, reply))
        if (r->day == day && r->due < DN_DAY_MINUTES) m->at[r->due].running++;
}

void day_minutes_take_planned(day_minutes *m, const dn_msg *reply) {
    const dn_planner_index_minute *planned = dn_msg_body_borrow(reply);

    for (int i = 0; i < DN_DAY_MINUTES; i++) {
        m->at[i].users = planned[i].users;
        m->at[i].success = planned[i].success;
        m->at[i].cutoff_reached = planned[i].cutoff;
    }
}

bool day_minute_is_used(const day_minute *m) { return m->users > 0 || m->running > 0; }

json_t *json_of_minute(uint32_t due, const day_minute *m) {
    char text[DN_DUE_TEXT];

    dn_due_write(due, text);
    return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I}", "due", text, "users",
                     (json_int_t)m->users, "success", (json_int_t)m->success, "cutoff_reached",
                     (json_int_t)m->cutoff_reached, "missed", (json_int_t)m->missed, "pending",
                     (json_int_t)m->users - m->success - m->cutoff_reached - m->missed, "running",
                     (json_int_t)m->running);
}
