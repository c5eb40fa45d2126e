/* timed.c - see timed.h. */
#include "timed.h"

/* The id of no timer: what is to come has been sent. */
#define TIMED_SENT UINT64_MAX

/* At once is a message of its own: a timer would wait for the others of its millisecond. */
void timed_after(dn_run *run, dn_self *self, int64_t delay_ms, dn_run_result result) {
    dn_timer_id *timer = &((timed_run *)run)->timer;

    run->alone = true;
    run->lasts_ms = delay_ms;
    if (delay_ms <= 0 &&
        dn_send(self, dn_self_ref(self), run->kind, &result, sizeof result) == DN_OK)
        *timer = TIMED_SENT;
    else *timer = dn_timer_after(self, delay_ms, run->kind, result);
}

void timed_never(dn_run *run) {
    run->alone = true;
    ((timed_run *)run)->timer = 0;
}

void timed_cut(dn_run *run, dn_self *self) {
    timed_run *t = (timed_run *)run;

    /* A timer that cannot be cancelled has fired: its message is there already. */
    if (t->timer && !dn_timer_cancel(self, t->timer)) return;
    dn_blob_unref(DN_TAKE(run->answer.body));
    run_error(run, "cut off");
    timed_after(run, self, /* delay_ms= */ 0,
                dn_run_result_of(DN_OUTCOME_TIMEOUT, DN_CODE_NONE, 0));
}
