/* notice.c - what the runtime says when no actor is there to say it. */
#include "rt.h"

#include <stdio.h>

bool notice_worth(uint64_t count) {
    enum { FIRST_FEW = 5 };

    return count <= FIRST_FEW || (count & (count - 1)) == 0;
}

void notice(const dn_loop *l, dn_notice_kind kind, const char *actor, uint32_t msg_kind, int reason,
            int64_t amount, const char *why) {
    const dn_notice n = {
        .kind = kind,
        .loop = l->name,
        .actor = actor,
        .msg_kind = msg_kind,
        .reason = reason,
        .amount = amount,
        .why = why,
    };

    l->runtime->notice(l->runtime->notice_context, &n);
}

void dn_notice_print(void *context, const dn_notice *n) {
    static const char *const words[] = {
        [DN_NOTICE_CRASH] = "actor failed",
        [DN_NOTICE_DEAD_LETTERS] = "dead letter",
        [DN_NOTICE_UNHANDLED] = "message not handled",
        [DN_NOTICE_STALL] = "handler has not returned",
        [DN_NOTICE_STALL_OVER] = "handler has returned",
        [DN_NOTICE_CLOCK_STEP] = "clock step",
        [DN_NOTICE_LEFTOVER] = "left over at shutdown",
    };

    (void)context;
    fprintf(stderr, "diurnal: %s: loop=%s actor=%s kind=%u amount=%lld reason=%d: %s\n",
            words[n->kind], n->loop, *n->actor ? n->actor : "-", n->msg_kind, (long long)n->amount,
            n->reason, n->why);
}
