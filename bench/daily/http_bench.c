/* http_bench.c - POSTs a second, on one loop, against an endpoint next door that keeps connections alive.
 *
 *     bench_http [n] [k]     n requests (default 200000), k at once (default 256)
 *
 * diurnal: k actors, each of which begins a run, gets its result and begins the next.
 * raw:     a bare loop of libcurl (socket_action on epoll) with the same handles, headers and body, and nothing else.
 * Both in rounds by turns, the best of each is printed: whatever else runs on the machine meets both. */
#include "diurnal/runtime.h"
#include "runner/runner.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 5, K_MAX = 4096 };

static uint64_t n_wanted = 200000;
static uint32_t k_at_once = 256;
static char     url[64];

static _Noreturn void wrong(const char *what) {
    fprintf(stderr, "bench_http: %s\n", what);
    exit(1);
}

static double now_s(void) {
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double cpu_s(void) {
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

/* ---- The endpoint ---- */

static _Noreturn void serve(int listener) {
    static const char  answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n{\"ok\":true}";
    const int          epoll = epoll_create1(0);
    struct epoll_event e = {.events = EPOLLIN, .data.fd = listener};
    char               request[8192];

    epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &e);
    for (;;) {
        struct epoll_event events[256];
        const int          n = epoll_wait(epoll, events, 256, -1);
        for (int i = 0; i < n; i++) {
            const int fd = events[i].data.fd;
            if (fd == listener) {
                e.data.fd = accept(listener, NULL, NULL);
                if (e.data.fd >= 0) epoll_ctl(epoll, EPOLL_CTL_ADD, e.data.fd, &e);
            } else if (read(fd, request, sizeof request) <= 0 || /* a request comes whole */
                       send(fd, answer, sizeof answer - 1, MSG_NOSIGNAL) < 0) {
                close(fd);
            }
        }
    }
}

static void endpoint_begins(void) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t          at_len = sizeof at;
    const int          listener = socket(AF_INET, SOCK_STREAM, 0);

    if (listener < 0 || bind(listener, (struct sockaddr *)&at, sizeof at) != 0 ||
        listen(listener, K_MAX) != 0 || getsockname(listener, (struct sockaddr *)&at, &at_len) != 0)
        wrong("cannot listen");
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%d/run", ntohs(at.sin_port));
    const pid_t pid = fork();
    if (pid < 0) wrong("cannot fork");
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        serve(listener);
    }
    close(listener);
}

/* ---- diurnal ---- */

enum { BENCH_TOLD = 1, BENCH_GO };

static dn_runner *runner;
static uint64_t   begun, done;
static double     began_s, ended_s;

typedef struct asker {
    dn_run *run;
} asker;

static int asker_begins(dn_self *self, asker *a) {
    char      key[64], body[160];
    const int key_len =
        snprintf(key, sizeof key, "daily:user-%llu:2024-10-04", (unsigned long long)begun);
    const int body_len =
        snprintf(body, sizeof body,
                 "{\"type\":\"daily.run\",\"user_id\":\"user-%llu\",\"day\":\"2024-10-04\","
                 "\"due\":\"08:30\",\"attempt\":1,\"context_epoch\":0}",
                 (unsigned long long)begun);
    const dn_run_request request = {
        .key = key,
        .key_len = (size_t)key_len,
        .body = dn_blob_of(body, (size_t)body_len),
        .now_ms = dn_now_ms(self),
        .timeout_ms = 60000,
        .entropy = {dn_random(self), dn_random(self), dn_random(self)},
    };
    begun++;
    const int rc = dn_run_begin(runner, self, &request, BENCH_TOLD, &a->run);
    if (rc == DN_OK) dn_own(self, a->run, dn_run_free);
    return rc;
}

static int asker_init(dn_self *self, void *state, const void *config) {
    (void)config;
    return asker_begins(self, state);
}

static int asker_on_told(dn_self *self, void *state, const dn_msg *msg) {
    asker *a = state;

    if (dn_run_outcome(*DN_BODY(dn_run_result, msg)) != DN_OUTCOME_OK)
        wrong(dn_run_answer_borrow(a->run)->error);
    (void)dn_disown(self, a->run);
    dn_run_free(a->run);
    if (++done == n_wanted) ended_s = now_s();
    return begun < n_wanted ? asker_begins(self, a) : DN_STOP;
}

static const dn_handler asker_rows[] = {{BENCH_TOLD, asker_on_told}};
static const dn_class   asker_class = {
      .name = "asker",
      .state_size = sizeof(asker),
      .init = asker_init,
      .handlers = DN_SLICE(asker_rows),
};

typedef struct conductor {
    uint32_t left;
} conductor;

static int conductor_init(dn_self *self, void *state, const void *config) {
    const dn_runner_config how = {.url = url, .concurrency_max = k_at_once};
    char                   why[DN_RUNNER_WHY];

    (void)state, (void)config;
    if (dn_runner_new(self, &how, &runner, why) < 0) wrong(why);
    dn_own(self, runner, dn_runner_free);
    return dn_send(self, dn_self_ref(self), BENCH_GO, NULL, 0);
}

static int conductor_on_go(dn_self *self, void *state, const dn_msg *msg) {
    conductor *c = state;

    (void)msg;
    began_s = now_s();
    for (uint32_t i = 0; i < k_at_once; i++) {
        const dn_spawn_spec spec = {.actor_class = &asker_class, .monitored = true};
        if (dn_spawn(self, &spec, NULL) < 0) wrong("no asker");
        c->left++;
    }
    return DN_OK;
}

static int conductor_on_down(dn_self *self, void *state, const dn_msg *msg) {
    conductor *c = state;

    (void)self, (void)msg;
    return --c->left == 0 ? DN_STOP : DN_OK;
}

static const dn_handler conductor_rows[] = {{DN_MSG_DOWN, conductor_on_down},
                                            {BENCH_GO, conductor_on_go}};
static const dn_class   conductor_class = {
      .name = "conductor",
      .state_size = sizeof(conductor),
      .init = conductor_init,
      .handlers = DN_SLICE(conductor_rows),
};

static double diurnal_round(void) {
    const dn_spawn_spec root = {.actor_class = &conductor_class};
    dn_runtime         *rt;

    begun = done = 0;
    if (dn_runtime_new(NULL, &rt) < 0 || dn_runtime_run(rt, &root) != DN_OK || done != n_wanted)
        wrong("diurnal did not come to its end");
    dn_runtime_free(rt);
    return ended_s - began_s;
}

/* ---- raw ---- */

static int      raw_epoll;
static uint32_t raw_watched[65536]; /* by descriptor: what epoll has been told */
static int64_t  raw_timeout_ms;

static int raw_on_socket(CURL *easy, curl_socket_t fd, int what, void *context, void *own) {
    struct epoll_event e = {.data.fd = fd};

    (void)easy, (void)context, (void)own;
    if (what == CURL_POLL_REMOVE) {
        epoll_ctl(raw_epoll, EPOLL_CTL_DEL, fd, NULL);
        raw_watched[fd] = 0;
        return 0;
    }
    if (what & CURL_POLL_IN) e.events |= EPOLLIN;
    if (what & CURL_POLL_OUT) e.events |= EPOLLOUT;
    epoll_ctl(raw_epoll, raw_watched[fd] ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &e);
    raw_watched[fd] = e.events;
    return 0;
}

static int raw_on_timer(CURLM *multi, long ms, void *context) {
    (void)multi, (void)context;
    raw_timeout_ms = ms;
    return 0;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the type is libcurl's */
static size_t raw_on_body(char *data, size_t one, size_t len, void *context) {
    (void)data, (void)context;
    return one * len;
}

static double raw_round(void) {
    static const char body[] =
        "{\"type\":\"daily.run\",\"user_id\":\"user-100000\",\"day\":\"2024-10-04\",\"due\":\"08:"
        "30\","
        "\"attempt\":1,\"context_epoch\":0,\"deadline\":\"2024-10-04T08:01:00.123Z\"}";
    CURLM             *multi = curl_multi_init();
    struct curl_slist *headers = NULL;
    CURL              *again[K_MAX];
    uint64_t           started = 0, finished = 0;
    int                running;

    raw_epoll = epoll_create1(EPOLL_CLOEXEC);
    memset(raw_watched, 0, sizeof raw_watched);
    headers = curl_slist_append(headers, "Idempotency-Key: daily:user-100000:2024-10-04");
    headers = curl_slist_append(
        headers, "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    headers = curl_slist_append(headers, "Content-Type: application/json");
    headers = curl_slist_append(headers, "Expect:");
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, raw_on_socket);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, raw_on_timer);
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)k_at_once);
    const double from_s = now_s();
    for (; started < k_at_once; started++) {
        CURL *easy = curl_easy_init();
        curl_easy_setopt(easy, CURLOPT_URL, url);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body);
        curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
        curl_easy_setopt(easy, CURLOPT_USERAGENT, "diurnal");
        curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, 60000L);
        curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 4096L);
        curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, raw_on_body);
        curl_multi_add_handle(multi, easy);
    }
    while (finished < n_wanted) {
        struct epoll_event events[256];
        if (raw_timeout_ms == 0) curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running);
        const int n = epoll_wait(raw_epoll, events, 256, (int)raw_timeout_ms);
        if (n == 0) curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running);
        for (int i = 0; i < n; i++)
            curl_multi_socket_action(multi, events[i].data.fd,
                                     (events[i].events & EPOLLIN ? CURL_CSELECT_IN : 0) |
                                         (events[i].events & EPOLLOUT ? CURL_CSELECT_OUT : 0),
                                     &running);
        const CURLMsg *m;
        int            left;
        uint32_t       again_len = 0;
        while ((m = curl_multi_info_read(multi, &left))) {
            CURL *const easy = m->easy_handle;
            if (m->data.result != CURLE_OK) wrong(curl_easy_strerror(m->data.result));
            finished++;
            curl_multi_remove_handle(multi, easy);
            if (started < n_wanted) {
                again[again_len++] = easy;
                started++;
            } else {
                curl_easy_cleanup(easy);
            }
        }
        while (again_len > 0) curl_multi_add_handle(multi, again[--again_len]);
    }
    const double s = now_s() - from_s;
    curl_multi_cleanup(multi);
    curl_slist_free_all(headers);
    close(raw_epoll);
    return s;
}

/* ---- Both ---- */

typedef struct figures {
    double best_s, best_cpu_s;
} figures;

static void measure(double (*round)(void), figures *f) {
    const double cpu_before_s = cpu_s();
    const double s = round();
    const double used_s = cpu_s() - cpu_before_s;

    if (f->best_s == 0 || s < f->best_s) f->best_s = s;
    if (f->best_cpu_s == 0 || used_s < f->best_cpu_s) f->best_cpu_s = used_s;
}

static void print(const char *peer, const char *metric, double value, const char *unit) {
    printf("{\"peer\":\"%s\",\"bench\":\"http\",\"n\":%" PRIu64
           ",\"metric\":\"%s\",\"value\":%.3f,\"unit\":\"%s\"}\n",
           peer, n_wanted, metric, value, unit);
}

int main(int argc, char **argv) {
    const struct rlimit many = {65536, 65536};
    figures             ours = {0}, raw = {0};

    if (argc > 1) n_wanted = strtoull(argv[1], NULL, 10);
    if (argc > 2) k_at_once = (uint32_t)strtoul(argv[2], NULL, 10);
    if (k_at_once == 0 || k_at_once > K_MAX || n_wanted < k_at_once)
        wrong("usage: bench_http [n] [k]");
    (void)setrlimit(RLIMIT_NOFILE, &many);
    endpoint_begins();
    curl_global_init(CURL_GLOBAL_DEFAULT);
    for (int i = 0; i < ROUNDS; i++) {
        measure(diurnal_round, &ours);
        measure(raw_round, &raw);
    }
    print("diurnal", "per_s", (double)n_wanted / ours.best_s, "1/s");
    print("raw", "per_s", (double)n_wanted / raw.best_s, "1/s");
    print("diurnal", "cpu_us", ours.best_cpu_s * 1e6 / (double)n_wanted, "us");
    print("raw", "cpu_us", raw.best_cpu_s * 1e6 / (double)n_wanted, "us");
    return 0;
}
