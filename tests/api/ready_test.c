/* ready_test.c - what /readyz and /metrics say when not all is well: the door on a real loop, and stand-ins for those whom
 * it asks, who answer what they are told to, or are silent, or are not there. */
#include "admin/scrape.h"
#include "daily/daily_messages.h"
#include "diurnal/runtime.h"
#include "test.h"
#include "web.h"

#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { TICK_MS = 1000, ANSWER = 4096 };

/* Set before the loop runs. */
static struct {
    dn_tick_status tick;
    dn_kv_status   kv;
    int64_t        ticked_ago_ms;
} w;

/* ---- Stand-ins ---- */

static int tick_on_ask(dn_self *self, void *state, const dn_msg *msg) {
    dn_tick_status status = w.tick;

    (void)state;
    status.last_ns = dn_mono_ns(self) - w.ticked_ago_ms * 1000000;
    dn_reply(self, msg, MSG_STATUS, &status, sizeof status);
    return DN_OK;
}

static int kv_on_ask(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    dn_reply(self, msg, MSG_STATUS, &w.kv, sizeof w.kv);
    return DN_OK;
}

static int empty_on_scrape(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    dn_reply(self, msg, DN_METRICS_PAGE, NULL, 0);
    return DN_OK;
}

/* The caller hears nothing. */
static int silent_on_ask(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    (void)dn_msg_keep(self, msg);
    return DN_OK;
}

static const dn_handler tick_rows[] = {{MSG_ASK_STATUS, tick_on_ask}},
                        kv_rows[] = {{MSG_KV_STATUS, kv_on_ask}},
                        empty_rows[] = {{DN_METRICS_SCRAPE, empty_on_scrape}},
                        silent_rows[] = {{DN_KIND_ANY, silent_on_ask}};
static const dn_class tick_class = {.name = ACTOR_TICK, .handlers = DN_SLICE(tick_rows)},
                      kv_class = {.name = ACTOR_KV, .handlers = DN_SLICE(kv_rows)},
                      empty_class = {.name = DN_METRICS, .handlers = DN_SLICE(empty_rows)},
                      silent_class = {.name = "silent", .handlers = DN_SLICE(silent_rows)};

/* ---- The door ---- */

typedef struct door {
    dn_web_config      config;
    dn_service_config  service;
    dn_child_spec      children[4];
    dn_supervisor_spec top;
    dn_spawn_spec      root;
    dn_runtime        *runtime;
    pthread_t          thread;
    struct sockaddr_in at;
} door;

static door d;

static void *door_runs(void *context) {
    (void)context;
    CHECK_INT(dn_runtime_run(d.runtime, &d.root), DN_OK);
    return NULL;
}

/* Those whom it asks; NULL: it is not there. */
static void opens(const dn_class *tick, const dn_class *kv, const dn_class *metrics) {
    const dn_runtime_config config = {.loops = dn_service_loops, .loops_len = DN_SERVICE_LOOPS};
    char                    bound[DN_WEB_ADDRESS], why[DN_WEB_WHY];
    socklen_t               len = sizeof d.at;
    size_t                  children = 0;

    d.service = (dn_service_config){.tick_ms = TICK_MS};
    d.config = (dn_web_config){
        .service = &d.service, .conns_max = DN_WEB_CONNS_LEAST, .on_loopback = true};
    CHECK_INT(dn_web_listen("127.0.0.1:0", false, &d.config.listener, bound, why), DN_OK);
    CHECK_INT(getsockname(d.config.listener, (struct sockaddr *)&d.at, &len), 0);
    if (tick) d.children[children++] = (dn_child_spec){.name = ACTOR_TICK, .actor_class = tick};
    if (kv) d.children[children++] = (dn_child_spec){.name = ACTOR_KV, .actor_class = kv};
    if (metrics)
        d.children[children++] = (dn_child_spec){.name = DN_METRICS, .actor_class = metrics};
    d.children[children++] = dn_web_child(&d.config);
    d.top = (dn_supervisor_spec){.children = {d.children, children}};
    d.root = (dn_spawn_spec){.actor_class = &dn_supervisor_class, .config = &d.top, .name = "top"};
    CHECK_INT(dn_runtime_new(&config, &d.runtime), DN_OK);
    CHECK_INT(pthread_create(&d.thread, NULL, door_runs, NULL), 0);
}

static void closes(void) {
    dn_runtime_stop(d.runtime);
    CHECK_INT(pthread_join(d.thread, NULL), 0);
    dn_runtime_free(d.runtime);
    (void)close(d.config.listener);
}

/* Valid until the next one. */
static const char *answer_of(const char *path) {
    static char answer[ANSWER];
    char        request[128];
    size_t      got = 0;
    ssize_t     n;
    const int   fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int   len = snprintf(request, sizeof request, "GET %s HTTP/1.0\r\n\r\n", path);

    CHECK(fd >= 0);
    CHECK_INT(connect(fd, (const struct sockaddr *)&d.at, sizeof d.at), 0);
    CHECK_INT(send(fd, request, (size_t)len, MSG_NOSIGNAL), len);
    while ((n = recv(fd, answer + got, sizeof answer - 1 - got, 0)) > 0) got += (size_t)n;
    answer[got] = '\0';
    (void)close(fd);
    return answer;
}

static void check_answer(const char *path, const char *status, const char *words) {
    const char *answer = answer_of(path);

    CHECK_MSG(strncmp(answer + 9, status, 3) == 0 && strstr(answer, words), "%s, and not %s %s",
              answer, status, words);
}

/* Everybody is there, and well. */
static void is_well(void) {
    w.tick = (dn_tick_status){.loaded = true, .users = 3};
    w.kv = (dn_kv_status){.users = 3};
}

/* ---- Tests ---- */

TEST(who_does_its_work_is_ready) {
    is_well();
    w.ticked_ago_ms = 2 * TICK_MS; /* it is late, and may be */
    opens(&tick_class, &kv_class, NULL);
    check_answer("/readyz", "200", "\r\n\r\nready\n");
    check_answer("/readyz?verbose", "200", "planner: ok, 3 users\nstore: ok\nready\n");
    closes();
}

TEST(who_is_loading_its_users_is_not_ready_and_says_how_far_it_is) {
    is_well();
    w.tick.loaded = false;
    opens(&tick_class, &kv_class, NULL);
    check_answer("/readyz", "503", "planner: loading users, 3 so far");
    check_answer("/readyz?verbose", "503",
                 "planner: loading users, 3 so far\nstore: ok\nnot ready\n");
    closes();
}

TEST(whose_last_tick_is_too_long_ago_is_not_ready) {
    is_well();
    w.ticked_ago_ms = 4 * TICK_MS;
    opens(&tick_class, &kv_class, NULL);
    check_answer("/readyz", "503", "planner: the last tick was 4 s ago");
    closes();
}

TEST(whose_disk_is_full_is_not_ready_and_says_how_much_waits) {
    is_well();
    w.kv.full = true;
    w.kv.waiting = 17;
    opens(&tick_class, &kv_class, NULL);
    check_answer("/readyz", "503", "store: the disk is full, 17 writes waiting");
    check_answer("/readyz?verbose", "503", "planner: ok, 3 users\nstore: the disk is full");
    check_answer("/healthz", "200", "alive");
    closes();
}

TEST(who_does_not_answer_is_not_well_and_neither_is_who_is_not_there) {
    is_well();
    opens(&silent_class, NULL, NULL);
    check_answer("/readyz", "503", "planner: no answer within 1000 ms; store: no answer within");
    closes();
}

TEST(whose_planner_is_not_there_says_so_and_how_its_store_is) {
    is_well();
    opens(NULL, &kv_class, NULL);
    check_answer("/readyz?verbose", "503",
                 "planner: no answer within 1000 ms\nstore: ok\nnot ready\n");
    closes();
}

TEST(a_page_of_metrics_that_cannot_be_had_is_a_503_that_says_why) {
    opens(NULL, NULL, NULL);
    check_answer("/metrics", "503", "the metrics cannot be read now; try again");
    closes();
}

TEST(a_page_of_metrics_for_which_there_was_no_memory_is_a_503) {
    opens(NULL, NULL, &empty_class);
    check_answer("/metrics", "503", "the metrics cannot be read now; try again");
    closes();
}
