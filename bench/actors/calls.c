/* calls.c - request and reply, each with a deadline of five seconds that is armed and never met.
 * With two loops the server sits on the second one. */
#include <inttypes.h>
#include <string.h>

#include "common.h"

enum { MSG_GET = BENCH_KIND_OWN, MSG_GOT };
enum { TIMEOUT_MS = 5000, CLIENTS_MAX = 8 };

typedef struct call_options {
    size_t clients;
    bool   timed; /* each call on its own, for the percentiles */
} call_options;

typedef struct request { /* two words */
    uint64_t what, k;
} request;

typedef struct client_brief {
    dn_ref   server;
    uint64_t n;
    int64_t *samples; /* room for n, the bench's; NULL: calls are not timed one by one */
} client_brief;

typedef struct client {
    dn_ref     server, conductor;
    uint64_t   n, k;
    int64_t   *samples;
    int64_t    began_ns, called_ns;
    dn_call_id call;
} client;

static int client_on_got(dn_self *self, void *state, const dn_msg *msg);
static int client_on_failed(dn_self *self, void *state, const dn_msg *msg);
static int client_on_brief(dn_self *self, void *state, const dn_msg *msg);
static int client_on_start(dn_self *self, void *state, const dn_msg *msg);
static int server_on_get(dn_self *self, void *state, const dn_msg *msg);

static const dn_handler client_handlers[] = {
    {MSG_GOT, client_on_got},               /* server    -> check, time, ask again */
    {DN_MSG_CALL_FAILED, client_on_failed}, /* runtime   -> no call may fail here */
    {BENCH_BRIEF, client_on_brief},         /* conductor -> whom to ask, how often */
    {BENCH_START, client_on_start},         /* conductor -> the first call */
};
static const dn_handler server_handlers[] = {
    {MSG_GET, server_on_get}, /* client -> its k */
};
static const dn_class client_class = {
    .name = "client", .state_size = sizeof(client), .handlers = DN_SLICE(client_handlers)};
static const dn_class server_class = {.name = "server", .handlers = DN_SLICE(server_handlers)};

static int client_ask(dn_self *self, client *c) {
    const request body = {MSG_GET, c->k};

    if (c->samples) c->called_ns = bench_now_ns();
    return dn_call(self, c->server, MSG_GET, &body, sizeof body, TIMEOUT_MS, &c->call);
}

static int client_on_got(dn_self *self, void *state, const dn_msg *msg) {
    client        *c = state;
    const uint64_t k = *DN_BODY(uint64_t, msg);

    if (c->samples) c->samples[c->k] = bench_now_ns() - c->called_ns;
    if (k != c->k || dn_msg_call(msg) != c->call) {
        bench_wrong("call %" PRIu64 " was answered with %" PRIu64, c->k, k);
    }
    if (++c->k < c->n) return client_ask(self, c);
    return bench_tell_done(self, c->conductor, bench_now_ns() - c->began_ns, c->k);
}

static int client_on_failed(dn_self *self, void *state, const dn_msg *msg) {
    const client         *c = state;
    const dn_call_failed *failed = DN_BODY(dn_call_failed, msg);

    (void)self;
    bench_wrong("call %" PRIu64 " failed: %s", c->k, dn_error_text(failed->status));
}

static int client_on_brief(dn_self *self, void *state, const dn_msg *msg) {
    client             *c = state;
    const client_brief *brief = DN_BODY(client_brief, msg);

    *c = (client){.server = brief->server, .n = brief->n, .samples = brief->samples};
    return bench_answer_ready(self, msg);
}

static int client_on_start(dn_self *self, void *state, const dn_msg *msg) {
    client *c = state;

    c->conductor = dn_msg_from(msg);
    c->began_ns = bench_now_ns();
    return client_ask(self, c);
}

static int server_on_get(dn_self *self, void *state, const dn_msg *msg) {
    const request *asked = DN_BODY(request, msg);

    (void)state;
    dn_reply(self, msg, MSG_GOT, &asked->k, sizeof asked->k);
    return DN_OK;
}

/* ---- What the conductor does ---- */

/* The clients stand first in the crew, the server behind them. */
static void call_hire(dn_self *self, bench_run *run) {
    const call_options *options = run->bench->options;

    if (run->n < options->clients) {
        bench_wrong("n must be %zu at least", options->clients * BENCH_WARM_UP_SHARE);
    }
    if (options->timed && !run->data) {
        const size_t size = run->n_asked * sizeof(int64_t);
        memset(bench_data(run, size), 0xff, size); /* no page is touched first inside a call */
    }
    for (size_t i = 0; i < options->clients; i++) {
        bench_hire(self, run, &client_class, NULL, 0, NULL);
    }
    bench_hire(self, run, &server_class, NULL, 0, BENCH_SECOND);
}

static size_t call_brief(dn_self *self, bench_run *run) {
    const call_options *options = run->bench->options;
    const client_brief  brief = {run->crew[options->clients], run->n / options->clients,
                                options->timed ? run->data : NULL};

    for (size_t i = 0; i < options->clients; i++) {
        bench_tell(self, run->crew[i], BENCH_BRIEF, &brief, sizeof brief);
    }
    return options->clients;
}

static void call_start(dn_self *self, bench_run *run) {
    const call_options *options = run->bench->options;

    run->began_ns = bench_now_ns();
    for (size_t i = 0; i < options->clients; i++) {
        bench_tell(self, run->crew[i], BENCH_START, NULL, 0);
    }
}

static bool call_done(bench_run *run, const bench_done *done) {
    const call_options *options = run->bench->options;

    (void)done;
    if (run->done < options->clients) return false;
    run->ended_ns = bench_now_ns();
    if (run->done_sum != run->n / options->clients * options->clients) {
        bench_wrong("%" PRIu64 " calls were answered instead of %" PRIu64, run->done_sum, run->n);
    }
    return true;
}

static void call_report(const bench_run *run) {
    const call_options *options = run->bench->options;
    int64_t            *samples = run->data;

    bench_print_rate(run, "calls_per_s");
    if (!options->timed) return;
    bench_sort(samples, run->n);
    bench_print(run, "p50_ns", (double)bench_rank(samples, run->n, 500), "ns");
    bench_print(run, "p99_ns", (double)bench_rank(samples, run->n, 990), "ns");
    bench_print(run, "p999_ns", (double)bench_rank(samples, run->n, 999), "ns");
}

#define CALL                                                                                       \
    .hire = call_hire, .brief = call_brief, .start = call_start, .done = call_done,                \
    .report = call_report

static const call_options one_timed = {.clients = 1, .timed = true};
static const call_options eight = {.clients = CLIENTS_MAX, .timed = false};

const bench bench_calls[] = {
    {.name = "call", .threads_min = 1, .options = &one_timed, CALL},
    {.name = "call_cross", .threads_min = 2, .options = &one_timed, CALL},
    {.name = "call8", .threads_min = 1, .options = &eight, CALL},
    {.name = NULL},
};
