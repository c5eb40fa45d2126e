/* exchange_test.c - what is answered when the store does not do what it is asked for, or does not say: the steps of a request
 * in a simulation, with a stand-in for kv. */
#include "diurnal/sim.h"
#include "exchange.h"
#include "starving.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STAGE_ASK = 1, CALL_MS = 31000 /* more than one waits for an answer */ };

static struct {
    dn_sim     *sim;
    api_world   world;
    router     *router;
    auth        auth;
    idempotency idempotency;
    char        token[DN_TOKEN_TEXT];

    bool     kv_is_silent;
    int      kv_status, kv_was_asked; /* what it answers, and how often it was asked */
    uint64_t starves_at; /* the allocation with which kv's answer is taken, that fails; 0: none */
    bool     has_starved;
    bool     is_revoked_meanwhile; /* the token, while kv does what it is asked for */

    exchange    x;
    http_head   head;
    char        request[1024];
    const char *body;
    int         status; /* of the answer; 0: there is none */
    char        answer[1024];
} w;

/* ---- Who is asked ---- */

static int kv_on_backup(dn_self *self, void *state, const dn_msg *msg) {
    const dn_kv_words answer = {.status = w.kv_status};

    (void)state;
    w.kv_was_asked++;
    dn_reply(self, msg, MSG_KV_ANSWER, &answer, sizeof answer);
    return DN_OK;
}

static int kv_on_copy(dn_self *self, void *state, const dn_msg *msg) {
    const dn_kv_copy_answer answer = {.status = w.kv_status, .copy = 3, .bytes = 4096};

    (void)state;
    if (w.kv_is_silent) (void)dn_msg_keep(self, msg);
    else dn_reply(self, msg, MSG_KV_ANSWER, &answer, sizeof answer);
    return DN_OK;
}

static int kv_on_token_add(dn_self *self, void *state, const dn_msg *msg) {
    dn_kv_token_answer answer = {.status = w.kv_status, .token = *DN_BODY(dn_token, msg)};

    (void)state;
    answer.token.id = 7 + (uint64_t)w.kv_was_asked++;
    if (w.kv_is_silent) (void)dn_msg_keep(self, msg);
    else dn_reply(self, msg, MSG_KV_ANSWER, &answer, sizeof answer);
    return DN_OK;
}

static int kv_on_set(dn_self *self, void *state, const dn_msg *msg) {
    const dn_kv_set_answer answer = {.status = DN_OK};

    (void)state;
    w.kv_was_asked++;
    if (w.is_revoked_meanwhile) auth_revoke(&w.auth, 1);
    dn_reply(self, msg, MSG_KV_ANSWER, &answer, sizeof answer);
    return DN_OK;
}

/* ---- Who asks ---- */

static void take(dn_self *self, route_step step) {
    exchange *x = &w.x;

    if (step == ROUTE_WANTS_BODY)
        step = exchange_body(self, &w.world, x, w.body, strlen(w.body), /* ends= */ true);
    if (step == ROUTE_WAITS) return;
    CHECK_INT(step, ROUTE_DONE);
    exchange_finish(self, &w.world, x);
    w.status = x->response.status;
    (void)snprintf(w.answer, sizeof w.answer, "%.*s", (int)x->response.body_len,
                   x->response.body ? x->response.body : "");
    exchange_done(&w.world, x);
}

static int stage_on_any(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    w.world.kv = dn_name(self, ACTOR_KV);
    if (dn_msg_kind(msg) == STAGE_ASK) {
        take(self, exchange_begin(self, &w.world, &w.x, &w.head));
        return DN_OK;
    }
    if (w.starves_at > 0) starve_nth(w.starves_at);
    take(self, exchange_go_on(self, &w.world, &w.x, msg));
    if (w.starves_at > 0) w.has_starved = starve_end();
    return DN_OK;
}

/* ---- Life ---- */

static const dn_handler kv_rows[] = {{MSG_KV_BACKUP, kv_on_backup},
                                     {MSG_KV_COPY, kv_on_copy},
                                     {MSG_KV_SET, kv_on_set},
                                     {MSG_KV_TOKEN_ADD, kv_on_token_add}},
                        stage_rows[] = {{DN_KIND_ANY, stage_on_any}};
static const dn_class kv_class = {.name = ACTOR_KV, .handlers = DN_SLICE(kv_rows)},
                      stage_class = {.name = "stage", .handlers = DN_SLICE(stage_rows)};

static void silence(void *context, const dn_notice *notice) { (void)context, (void)notice; }

static void begins(void) {
    static const dn_child_spec      children[] = {{.name = "stage", .actor_class = &stage_class},
                                                  {.name = ACTOR_KV, .actor_class = &kv_class}};
    static const dn_supervisor_spec top = {.intensity = 10, .children = DN_SLICE(children)};
    static const dn_spawn_spec      root = {
             .actor_class = &dn_supervisor_class, .config = &top, .name = "top"};
    const dn_sim_config config = {.seed = test_seed(), .notice = silence};
    dn_token            admin = {.id = 1, .ends_ms = INT64_MAX, .scope = DN_SCOPE_ADMIN};

    CHECK_INT(dn_token_make(w.token, admin.hash), DN_OK);
    CHECK_INT(auth_load(&w.auth, &admin, 1), DN_OK);
    CHECK_INT(router_new(routes_all, &w.router), DN_OK);
    w.world = (api_world){.auth = &w.auth, .idempotency = &w.idempotency, .router = w.router};
    CHECK_INT(dn_sim_new(&config, &w.sim), DN_OK);
    CHECK(dn_sim_boot(w.sim, &root) >= 0);
}

static void ends(void) {
    dn_sim_free(w.sim);
    idempotency_done(&w.idempotency);
    router_free(w.router);
    auth_done(&w.auth);
}

/* With a key, if it is not NULL. The status of the answer. */
static int posts(const char *path, const char *key, const char *body) {
    dn_runtime *rt = dn_sim_runtime(w.sim);
    http_fault  fault;
    const int   len =
        snprintf(w.request, sizeof w.request,
                 "POST %s HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\n%s%s%sContent-Length: "
                 "%zu\r\n\r\n",
                 path, w.token, key ? "Idempotency-Key: " : "", key ? key : "", key ? "\r\n" : "",
                 strlen(body));

    w.body = body;
    w.status = 0;
    CHECK_INT(http_head_read(w.request, (size_t)len, &w.head, &fault), DN_OK);
    CHECK_INT(dn_post(rt, dn_runtime_name(rt, "stage"), STAGE_ASK, NULL, 0), DN_OK);
    (void)dn_sim_run(w.sim, dn_sim_mono_ms(w.sim) + CALL_MS);
    return w.status;
}

static int makes_token(const char *key) {
    return posts("/api/v1/tokens", key, "{\"name\":\"a\",\"scope\":\"read\"}");
}

static int backs_up(int kv_status) {
    w.kv_status = kv_status;
    return posts("/api/v1/backup", NULL, "{\"path\":\"/copy\"}");
}

/* ---- Tests ---- */

TEST(a_backup_says_whether_it_is_the_path_or_another_one_or_the_disk) {
    begins();
    CHECK_INT(backs_up(DN_OK), 201);
    CHECK_INT(backs_up(DN_EEXIST), 409);
    CHECK_INT(backs_up(DN_EFAILED), 409);
    CHECK_INT(backs_up(DN_EFULL), 507);
    CHECK_INT(backs_up(DN_EINVAL), 400);
    CHECK_INT(backs_up(DN_EIO), 500);
    ends();
}

TEST(a_copy_has_the_status_of_what_the_store_answers) {
    begins();
    w.kv_status = DN_OK;
    CHECK_INT(posts("/api/v1/backup/copies", NULL, ""), 201);
    CHECK_STR(w.answer, "{\"copy\":3,\"bytes\":4096}");
    w.kv_status = DN_EEXIST;
    CHECK_INT(posts("/api/v1/backup/copies", NULL, ""), 409);
    w.kv_status = DN_EFULL;
    CHECK_INT(posts("/api/v1/backup/copies", NULL, ""), 507);
    w.kv_status = DN_EIO;
    CHECK_INT(posts("/api/v1/backup/copies", NULL, ""), 500);
    ends();
}

TEST(what_may_yet_be_done_is_not_begun_again_by_who_asks_again_with_its_key) {
    begins();
    w.kv_is_silent = true;
    CHECK_INT(makes_token("k"), 503);
    CHECK_INT(w.kv_was_asked, 1);
    w.kv_is_silent = false;
    CHECK_INT(makes_token("k"), 409);
    CHECK_MSG(strstr(w.answer, "may have been done"), "%s", w.answer);
    CHECK_INT(w.kv_was_asked, 1);
    CHECK_INT(makes_token("l"), 201);
    CHECK_INT(w.kv_was_asked, 2);
    ends();
}

TEST(what_was_refused_and_is_not_done_may_be_asked_for_again_with_its_key) {
    begins();
    w.kv_status = DN_EFULL;
    CHECK_INT(makes_token("k"), 507);
    w.kv_status = DN_OK;
    CHECK_INT(makes_token("k"), 201);
    CHECK_INT(makes_token("k"), 201);
    CHECK_INT(w.kv_was_asked, 2);
    ends();
}

TEST(what_was_done_while_memory_ran_out_is_not_done_again_by_who_asks_again_with_its_key) {
    int lost = 0;

    for (uint64_t n = 1; n == 1 || w.has_starved; n++) {
        begins();
        w.kv_was_asked = 0;
        w.starves_at = n;
        const int first = makes_token("k");
        w.starves_at = 0;
        const int again = makes_token("k");
        CHECK_MSG(w.kv_was_asked == 1, "allocation %d: %d, then %d", (int)n, first, again);
        CHECK_MSG(again == 201 || again == 409, "allocation %d: %d, then %d", (int)n, first, again);
        lost += again == 409 && strstr(w.answer, "its answer is lost");
        ends();
    }
    CHECK(lost > 0);
}

/* More lines than one commit has: the others wait for it. */
TEST(what_waits_to_be_written_is_not_when_the_token_is_revoked_meanwhile) {
    static const char line[] = "{\"id\":\"a\",\"due\":\"00:00\"}\n";
    static char       body[2500 * (sizeof line - 1) + 1];

    for (size_t at = 0; at + 1 < sizeof body; at += sizeof line - 1)
        memcpy(body + at, line, sizeof line);
    begins();
    CHECK_INT(posts("/api/v1/daily/users:import", NULL, body), 200);
    CHECK_INT(w.kv_was_asked, 2);
    w.is_revoked_meanwhile = true;
    CHECK_INT(posts("/api/v1/daily/users:import", NULL, body), 401);
    CHECK_MSG(strstr(w.answer, "the rest is not read"), "%s", w.answer);
    CHECK_INT(w.kv_was_asked, 3);
    ends();
}
