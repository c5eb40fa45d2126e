/* simulate_hooks.c - see simulate_hooks.h. */
#include "simulate_hooks.h"

#include "base/array.h"
#include "simulate_tally.h"
#include "store/outbox.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Settled: beside a job's timeout, what hangs when the calm begins, and kv asked in vain. Put off: an hour at most by itself,
 * and by as many days as the clock was set back. */
#define PUT_OFF_MS (8 * DN_DAY_MS)
enum { SETTLED_MS = 600000, OUTBOX_MOST = 256, HOOKS_TEXT = 200 };

int hooks_watch_init(hooks_watch *h) {
    h->people = calloc(h->plan->users, sizeof *h->people);
    return h->people ? DN_OK : DN_ENOMEM;
}

void hooks_watch_done(hooks_watch *h) {
    free(h->people);
    free(h->cutoffs);
    *h = (hooks_watch){0};
}

/* ---- Cutoffs ---- */

static void on_cutoff(hooks_watch *h, hooks_person *p, const event *e) {
    if (DN_ARRAY_RESERVE(h->cutoffs, h->cap, h->len + 1) < 0) {
        h->starved = true;
        return;
    }
    h->cutoffs[h->len++] = (hooks_cutoff){
        .n = e->h->registration,
        .at_ms = e->steady_ms,
        .day = e->h->day,
        .user = (uint32_t)(p - h->people),
        .epoch = ++p->epoch,
        .older = p->newest,
    };
    p->newest = (uint32_t)h->len;
}

static void on_removed(hooks_watch *h, hooks_person *p) {
    for (uint32_t at = p->newest; at > 0; at = h->cutoffs[at - 1].older)
        h->cutoffs[at - 1].gone = true;
    p->n = 0;
}

void hooks_watch_tell(hooks_watch *h, const event *e) {
    if (e->kind >= DN_HAPPENINGS || !e->h->id) return;
    const uint32_t user = tally_user_of(e->h->id, e->h->id_len);
    if (user >= h->plan->users) return;
    hooks_person *p = &h->people[user];
    if (e->kind == DN_HAPPENED_SET && p->n != e->h->registration) {
        p->n = e->h->registration;
        p->epoch = 0;
    }
    if (e->kind == DN_HAPPENED_REMOVED) on_removed(h, p);
    if (e->kind == DN_HAPPENED_FINALIZED && e->h->status == DN_DAILY_CUTOFF) on_cutoff(h, p, e);
}

/* ---- Deliveries ---- */

void hooks_watch_delivers(hooks_watch *h, const dn_daily_request *r, bool ok) {
    const uint32_t user = tally_user_of(r->id, r->id_len);
    uint32_t       at = user < h->plan->users ? h->people[user].newest : 0;
    char           text[HOOKS_TEXT];

    if (h->starved) return;
    while (at > 0 &&
           (h->cutoffs[at - 1].day != r->day || h->cutoffs[at - 1].epoch != r->context_epoch))
        at = h->cutoffs[at - 1].older;
    if (at > 0) {
        h->cutoffs[at - 1].delivered |= ok;
        return;
    }
    (void)snprintf(
        text, sizeof text,
        "hook: user %.*s day %d: a hook of context_epoch %u, and no such cutoff was told",
        (int)r->id_len, r->id, r->day, r->context_epoch);
    h->say(h->context, text);
}

/* ---- The end ---- */

static const dn_hook *waits(const hooks_cutoff *c, const dn_hook *hooks, size_t len) {
    for (size_t i = 0; i < len; i++)
        if (tally_user_of(hooks[i].user_id, hooks[i].user_id_len) == c->user &&
            hooks[i].day == c->day && hooks[i].context_epoch == c->epoch)
            return &hooks[i];
    return NULL;
}

/* The outbox has a clock of its own, which stays behind when the wall clock is set forward. */
static int64_t behind_ms(const plan *p) {
    int64_t ms = 0;

    for (size_t i = 0; i < p->ops_len; i++)
        if (p->ops[i].kind == PLAN_CLOCK && p->ops[i].ms > 0) ms += p->ops[i].ms;
    return ms;
}

int hooks_watch_end(const hooks_watch *h, dn_store *store, int64_t steady_ms, int64_t wall_ms) {
    const int64_t settled_ms = SETTLED_MS + h->plan->settings.job_timeout_ms;
    const int64_t due_ms = wall_ms - settled_ms - behind_ms(h->plan);
    dn_hook       hooks[OUTBOX_MOST];
    size_t        len = 0;
    int64_t       next_ms;
    char          text[HOOKS_TEXT];

    if (h->starved) return DN_ENOMEM;
    const int rc = dn_store_outbox(store, INT64_MAX, hooks, OUTBOX_MOST, &len, &next_ms);
    if (rc < 0 || len == OUTBOX_MOST) return rc; /* what is not among them may be behind them */
    for (size_t i = 0; i < h->len; i++) {
        const hooks_cutoff *c = &h->cutoffs[i];
        if (c->delivered || c->gone || c->at_ms > steady_ms - settled_ms) continue;
        const dn_hook *hook = waits(c, hooks, len);
        if (hook && hook->next_ms > due_ms && hook->next_ms < wall_ms + PUT_OFF_MS) continue;
        (void)snprintf(
            text, sizeof text,
            "hook: user u%u day %d: its cutoff was written, and its hook %s: right is to "
            "deliver it",
            c->user, c->day,
            hook ? "has been due for long, or put off for good"
                 : "was not delivered and waits no more");
        h->say(h->context, text);
    }
    return DN_OK;
}
