/* daily_work.c - how a user's job and a cutoff's hook are run: what their runners are asked. */
#include "daily_path.h"
#include "daily_request.h"

static_assert(DN_DAILY_KEY_MAX <= DN_RUN_KEY_MAX + 1, "every key fits a request");

/* The log of a run names the user, so the body says who it is for. */
static void begins(const void *context, dn_self *self, uint64_t subject, const dn_blob *body) {
    const dn_daily_config *config = context;
    const dn_journal      *journal = config->journal;
    char                   id[DN_ID_MAX];
    dn_daily_request       r;

    if (!journal || !(journal->kinds & DN_HAPPENED_BIT(DN_HAPPENED_STARTED))) return;
    if (dn_daily_request_read(dn_blob_bytes_borrow(body), dn_blob_len(body), id, &r) < 0)
        dn_fail("the queue wrote a request that cannot be read");
    DN_SAY(journal, self, DN_HAPPENED_STARTED, .registration = subject, .id = r.id,
           .id_len = (uint8_t)r.id_len, .at_ms = dn_now_ms(self), .day = r.day,
           .attempt = r.attempt);
}

dn_work_type dn_daily_work_type(const dn_daily_config *config, const dn_runner_config *runner) {
    return (dn_work_type){.name = "daily", .runner = runner, .begins = begins, .context = config};
}

int dn_daily_hook_request(const dn_hook *hook, int64_t deadline_ms,
                          dn_outbox_request *out_request) {
    const dn_daily_request request = {
        .type = DN_REQUEST_CUTOFF,
        .id = hook->user_id,
        .id_len = hook->user_id_len,
        .day = hook->day,
        .due = hook->due,
        .attempt = hook->attempts,
        .context_epoch = hook->context_epoch,
        .deadline_ms = deadline_ms,
    };
    char     key[DN_DAILY_KEY_MAX];
    dn_blob *body = dn_daily_request_new(&request);

    if (!body) return DN_ENOMEM;
    out_request->body = body;
    out_request->key_len = (uint16_t)dn_daily_request_key(&request, key);
    memcpy(out_request->key, key, out_request->key_len);
    return DN_OK;
}
