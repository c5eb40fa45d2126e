/* ledger_rows.h - the rows of kv's answers about the ledger. */
#ifndef DIURNAL_API_LEDGER_ROWS_H
#define DIURNAL_API_LEDGER_ROWS_H

#include "daily/daily_messages.h"

static inline int ledger_rows_status(const dn_msg *reply) {
    return ((const dn_kv_rows_answer *)dn_msg_body_borrow(reply))->status;
}

/* Borrowed from reply, of the type that was asked for; NULL: ledger_rows_status says why. */
static inline const void *ledger_rows(const dn_msg *reply, size_t *out_len) {
    const dn_kv_rows_answer *answer = dn_msg_body_borrow(reply);

    *out_len = answer->len;
    return answer->status == DN_OK ? answer->rows : NULL;
}

#endif
