/* hooks.c - delivers what the outbox holds, at least once each.
 * An entry leaves the outbox when its delivery is committed as done; until then it is tried again, after a second,
 * then two, four … at most an hour. What it knows it knows from kv, so a crash here costs a second delivery at
 * most. */
#include "hooks.h"

#include "daily_request.h"
#include "messages.h"
#include "obs/log.h"
#include "service.h"

#include <string.h>

enum {
    AT_ONCE = 16,
    HOOKS_LOOK = MSG_OWN,
    HOOKS_TIME_IS_UP,
    HOOKS_TELL_AGAIN,
    HOOKS_RESULT, /* and AT_ONCE - 1 kinds more: one for each place */
    CALL_TIMEOUT_MS = 30000,
    LOOK_AT_LEAST_MS = 3600000,
    LOOK_AGAIN_MS = 5000, /* when kv did not answer */
};

typedef struct place {
    dn_run    *run; /* NULL: free */
    uint64_t   n;
    uint32_t   use;
    uint16_t   attempts; /* with this one */
    bool       settling; /* kv is being told, or will be again */
    bool       done;
    dn_call_id call; /* to kv */
    bool       cut;
} place;

typedef struct hooks {
    const dn_service_config *config;
    dn_runner               *runner;
    place                    places[AT_ONCE];
    bool                     asking, again; /* again: something came while asking */
    dn_timer_id              timer;
} hooks;

static int hooks_init(dn_self *self, void *state, const void *config);
static int hooks_on_look(dn_self *self, void *state, const dn_msg *msg);
static int hooks_on_answer(dn_self *self, void *state, const dn_msg *msg);
static int hooks_on_call_failed(dn_self *self, void *state, const dn_msg *msg);
static int hooks_on_time_is_up(dn_self *self, void *state, const dn_msg *msg);
static int hooks_on_tell_again(dn_self *self, void *state, const dn_msg *msg);
static int hooks_on_any(dn_self *self, void *state, const dn_msg *msg);

static const dn_handler hooks_handlers[] = {
    {MSG_HOOKS_ADDED, hooks_on_look}, /* kv    -> there are new ones */
    {HOOKS_LOOK, hooks_on_look},      /* timer -> the next is due */
    {MSG_KV_ANSWER, hooks_on_answer}, /* kv    -> those that are due, or: it is written */
    {DN_MSG_CALL_FAILED, hooks_on_call_failed},
    {HOOKS_TIME_IS_UP, hooks_on_time_is_up},
    {HOOKS_TELL_AGAIN, hooks_on_tell_again},
    {DN_KIND_ANY, hooks_on_any}, /* runner -> a delivery has ended */
};

const dn_class dn_hooks_class = {
    .name = "hooks",
    .state_size = sizeof(hooks),
    .init = hooks_init,
    .handlers = DN_SLICE(hooks_handlers),
};

static int hooks_init(dn_self *self, void *state, const void *config) {
    hooks *h = state;
    char   why[DN_RUNNER_WHY];

    h->config = config;
    const int rc = dn_runner_new(self, &h->config->hook, &h->runner, why);
    if (rc < 0) dn_fail_code(rc, why);
    dn_own(self, h->runner, dn_runner_free);
    dn_timer_after(self, 0, HOOKS_LOOK, 0);
    return DN_OK;
}

/* ---- What is due ---- */

static place *free_place(hooks *h) {
    for (int i = 0; i < AT_ONCE; i++)
        if (!h->places[i].run && !h->places[i].settling) return &h->places[i];
    return NULL;
}

static bool is_under_way(const hooks *h, uint64_t n) {
    for (int i = 0; i < AT_ONCE; i++)
        if ((h->places[i].run || h->places[i].settling) && h->places[i].n == n) return true;
    return false;
}

/* By the steady clock: no step of the wall clock makes a delay longer or shorter. */
static void look_after(dn_self *self, hooks *h, int64_t ms) {
    if (h->timer) (void)dn_timer_cancel(self, h->timer);
    h->timer = dn_timer_after(self, ms < LOOK_AT_LEAST_MS ? ms : LOOK_AT_LEAST_MS, HOOKS_LOOK, 0);
}

static int hooks_on_look(dn_self *self, void *state, const dn_msg *msg) {
    hooks *h = state;

    if (dn_msg_kind(msg) == HOOKS_LOOK) h->timer = 0;
    h->again = h->asking;
    if (h->asking || !free_place(h)) return DN_OK; /* whoever ends next looks */
    const int rc =
        dn_call(self, dn_name(self, ACTOR_KV), MSG_KV_HOOKS, NULL, 0, CALL_TIMEOUT_MS, NULL);
    if (rc == DN_OK) h->asking = true;
    else look_after(self, h, LOOK_AGAIN_MS);
    return DN_OK;
}

/* ---- A delivery ---- */

/* Until kv has written it the place is not free, and the outbox's entry not to be delivered again. */
static void tell_kv(dn_self *self, hooks *h, place *p) {
    const dn_hook_outcome o = {
        .n = p->n,
        .done = p->done,
        .attempts = p->attempts,
    };

    p->settling = true;
    p->call = 0;
    if (dn_call(self, dn_name(self, ACTOR_KV), MSG_KV_HOOK_DONE, &o, sizeof o, CALL_TIMEOUT_MS,
                &p->call) < 0)
        dn_timer_after(self, LOOK_AGAIN_MS, HOOKS_TELL_AGAIN, (uint64_t)(p - h->places));
}

static int hooks_on_tell_again(dn_self *self, void *state, const dn_msg *msg) {
    hooks *h = state;

    tell_kv(self, h, &h->places[*DN_BODY(uint64_t, msg)]);
    return DN_OK;
}

static void deliver(dn_self *self, hooks *h, place *p, const dn_hook *hook) {
    const uint32_t         at = (uint32_t)(p - h->places);
    const int64_t          now_ms = dn_now_ms(self), timeout_ms = h->config->job_timeout_ms;
    char                   key[DN_DAILY_KEY_MAX];
    const dn_daily_request daily = {
        .type = DN_REQUEST_CUTOFF,
        .id = hook->id,
        .id_len = hook->id_len,
        .day = hook->day,
        .due = hook->due,
        .attempt = hook->attempts + 1U,
        .context_epoch = hook->context_epoch,
        .deadline_ms = now_ms + timeout_ms,
    };
    const dn_run_request request = {
        .key = key,
        .key_len = dn_daily_request_key(&daily, key),
        .body = dn_daily_request_new(&daily),
        .now_ms = now_ms,
        .timeout_ms = timeout_ms,
        .entropy = {dn_random(self), dn_random(self), dn_random(self)},
    };

    *p = (place){.n = hook->n, .use = p->use + 1, .attempts = (uint16_t)(hook->attempts + 1)};
    if (!request.body || dn_run_begin(h->runner, self, &request, HOOKS_RESULT + at, &p->run) < 0) {
        tell_kv(self, h, p);
        return;
    }
    dn_own(self, p->run, dn_run_free);
    dn_timer_after(self, request.timeout_ms, HOOKS_TIME_IS_UP, (uint64_t)p->use << 32 | at);
}

static int hooks_on_time_is_up(dn_self *self, void *state, const dn_msg *msg) {
    hooks         *h = state;
    const uint64_t tag = *DN_BODY(uint64_t, msg);
    place         *p = &h->places[(uint32_t)tag];

    if (!p->run || p->use != tag >> 32) return DN_OK;
    p->cut = true;
    dn_run_cut(p->run, self);
    return DN_OK;
}

static int hooks_on_any(dn_self *self, void *state, const dn_msg *msg) {
    hooks         *h = state;
    const uint32_t at = dn_msg_kind(msg) - HOOKS_RESULT;

    if (at >= AT_ONCE || !h->places[at].run) return DN_OK;
    place     *p = &h->places[at];
    const bool ok = !p->cut && dn_run_outcome(*DN_BODY(dn_run_result, msg)) == DN_OUTCOME_OK;
    if (!ok)
        dn_log(p->attempts == 1 ? DN_LOG_INFO : DN_LOG_DEBUG, "hook.failed",
               "attempt %u: %s; again in %lld ms", p->attempts, dn_run_answer_borrow(p->run)->error,
               (long long)dn_hook_delay_ms(p->attempts));
    (void)dn_disown(self, p->run);
    dn_run_free(DN_TAKE(p->run));
    p->done = ok;
    tell_kv(self, h, p);
    return hooks_on_look(self, h, msg);
}

/* ---- kv's answers ---- */

static place *place_of_call(hooks *h, dn_call_id call) {
    for (int i = 0; i < AT_ONCE; i++)
        if (h->places[i].settling && h->places[i].call == call) return &h->places[i];
    return NULL;
}

/* A full disk: it is told again later. */
static int answered(dn_self *self, hooks *h, place *p, int status) {
    if (status == DN_OK) p->settling = false;
    else dn_timer_after(self, LOOK_AGAIN_MS, HOOKS_TELL_AGAIN, (uint64_t)(p - h->places));
    return DN_OK;
}

static int hooks_on_answer(dn_self *self, void *state, const dn_msg *msg) {
    hooks *h = state;

    place *const told = place_of_call(h, dn_msg_call(msg));
    if (told) {
        (void)answered(self, h, told, DN_BODY(dn_kv_words, msg)->status);
        return hooks_on_look(self, h, msg);
    }
    const dn_kv_hooks_answer *a = dn_msg_body_borrow(msg);
    h->asking = false;
    for (uint32_t i = 0; i < a->len; i++) {
        place *p = is_under_way(h, a->hooks[i].n) ? NULL : free_place(h);
        if (p) deliver(self, h, p, &a->hooks[i]);
    }
    look_after(self, h, a->status == DN_OK ? a->wait_ms : LOOK_AGAIN_MS);
    return h->again ? hooks_on_look(self, h, msg) : DN_OK;
}

/* kv is gone, or slow: what it was told may be written or not, and is told again. */
static int hooks_on_call_failed(dn_self *self, void *state, const dn_msg *msg) {
    hooks       *h = state;
    place *const told = place_of_call(h, dn_msg_call(msg));

    if (told) return answered(self, h, told, DN_BODY(dn_call_failed, msg)->status);
    h->asking = false;
    look_after(self, h, LOOK_AGAIN_MS);
    return DN_OK;
}
