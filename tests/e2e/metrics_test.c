/* metrics_test.c - /metrics of the real daemon, as Prometheus reads it: all that is promised, and what moves. */
#define _GNU_SOURCE
#include "contract_metrics.h"
#include "place.h"

#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TEXT_TYPE "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
#define OPENMETRICS_TYPE                                                                           \
    "Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n"

static place *serves(const char *runner) {
    place *p = place_new(NULL);

    place_serve(p, ARGS("--runner", runner, "--tick-ms=20", "--retry-delay-minutes=0"));
    return p;
}

static void stops(place *p) {
    place_signal(p, SIGTERM);
    CHECK_INT(place_wait(p), 0);
}

/* What is there for that Accept; "": without one. The head too. */
static const char *accepts(const place *p, const char *accept) {
    char request[512];

    const int len =
        snprintf(request, sizeof request,
                 "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n%s%s%s\r\n",
                 *accept ? "Accept: " : "", accept, *accept ? "\r\n" : "");
    return place_asks(p, request, (size_t)len);
}

static const char *body_of(const char *answer) {
    const char *end = strstr(answer, "\r\n\r\n");

    CHECK_MSG(strncmp(answer, "HTTP/1.1 200", 12) == 0 && end, "it is: %s", answer);
    return end + 4;
}

static const char *page(const place *p) { return body_of(accepts(p, "")); }

/* Where the value of a series stands in a page; NULL: there is no such series. */
static const char *value_at(const char *text, const char *series) {
    const size_t len = strlen(series);

    for (const char *at = text; (at = strstr(at, series)); at++) {
        if (at != text && at[-1] != '\n') continue;
        if (at[len] == ' ') return at + len + 1;
        if (at[len] == '{') return strchr(at, ' ') ? strstr(at, "} ") + 2 : NULL;
    }
    return NULL;
}

static double value_of(const char *text, const char *series) {
    const char *at = value_at(text, series);

    CHECK_MSG(at, "there is no %s in: %s", series, text);
    return strtod(at, NULL);
}

static int series_of(const char *text) {
    int n = 0;

    for (const char *at = text; *at; at = strchr(at, '\n') + 1) n += *at != '#';
    return n;
}

/* ---- What is there ---- */

/* Its value is there from the first time it is measured. */
static bool is_of_measuring(const char *series) {
    return strncmp(series, "diurnal_slo_value", sizeof "diurnal_slo_value" - 1) == 0;
}

TEST(every_series_that_is_promised_is_there_before_anything_has_happened_and_they_are_at_most_300) {
    place      *p = serves("exec:/bin/true");
    const char *text = page(p);

    for (int i = 0; i < CONTRACT_METRICS; i++)
        CHECK_MSG((value_at(text, contract_metrics[i]) != NULL) !=
                      is_of_measuring(contract_metrics[i]),
                  "%s in: %s", contract_metrics[i], text);
    CHECK_MSG(strstr(text, "\n# TYPE diurnal_slo_value gauge\n"), "%s", text);
    CHECK_MSG(series_of(text) <= 300, "%d series", series_of(text));
    CHECK(series_of(text) > CONTRACT_METRICS);
    stops(p);
}

TEST(promtool_has_nothing_to_say_about_them) {
    place *p = serves("exec:/bin/true");
    char   command[PLACE_PATH * 2], said[4000];

    const char *text = page(p);
    const char *path = place_write(p, "page", text, strlen(text));
    snprintf(command, sizeof command, "promtool check metrics <%s 2>&1", path);
    FILE *answer = popen(command, "r"); /* NOLINT(cert-env33-c): the command is ours */
    CHECK(answer);
    said[fread(said, 1, sizeof said - 1, answer)] = '\0';
    const int status = pclose(answer);
    CHECK_MSG(WIFEXITED(status) && WEXITSTATUS(status) != 127,
              "there is no promtool: ./dev test fetches it (Debian: prometheus)");
    CHECK_STR(said, "");
    CHECK_INT(WEXITSTATUS(status), 0);
    stops(p);
}

TEST(whoever_accepts_openmetrics_gets_it_whole_and_nobody_is_told_that_he_wants_too_much) {
    static const struct {
        const char *accept, *type;
    } rows[] = {
        {"", TEXT_TYPE},
        {"*/*", TEXT_TYPE},
        {"image/png", TEXT_TYPE},
        {"text/plain;q=0, application/openmetrics-text;q=0", TEXT_TYPE},
        {"nonsense;;;=,,", TEXT_TYPE},
        {"application/openmetrics-text", OPENMETRICS_TYPE},
        {"application/openmetrics-text; version=1.0.0; charset=utf-8", OPENMETRICS_TYPE},
        {"text/plain;version=0.0.4;q=0.5,*/*;q=0.1,application/openmetrics-text;q=0.9",
         OPENMETRICS_TYPE},
        {"application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/"
         "*;q=0.1",
         TEXT_TYPE},
    };
    place *p = serves("exec:/bin/true");

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *answer = accepts(p, rows[i].accept), *text = body_of(answer);
        CHECK_MSG(strstr(answer, rows[i].type), "%s: %s", rows[i].accept, answer);
        const bool open = strcmp(rows[i].type, OPENMETRICS_TYPE) == 0;
        CHECK_INT(strcmp(text + strlen(text) - 6, "# EOF\n") == 0, open);
        CHECK(value_at(text, "diurnal_queue_depth"));
    }
    stops(p);
}

TEST(a_head_without_the_page_says_how_long_it_would_be) {
    place *p = serves("exec:/bin/true");

    const char *request = "HEAD /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    const char *answer = place_asks(p, request, strlen(request));
    CHECK_STR(body_of(answer), "");
    CHECK_MSG(strstr(answer, "Content-Length: ") &&
                  strtol(strstr(answer, "Content-Length: ") + 16, NULL, 10) > 1000,
              "it is: %s", answer);
    stops(p);
}

/* As the page of a site asks that has its name lead to this machine. */
TEST(by_a_name_that_anybody_may_have_lead_here_the_metrics_are_shown_to_nobody_without_a_token) {
    static const char
        by_name[] = "GET /metrics HTTP/1.1\r\nHost: evil.example:1440\r\nConnection: close\r\n",
        by_address[] = "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:1440\r\nConnection: close\r\n\r\n";
    place *p = serves("exec:/bin/true");
    char   token[128], path[PLACE_PATH + 32], request[512];

    (void)snprintf(path, sizeof path, "%s/admin.token", p->data);
    (void)snprintf(token, sizeof token, "%.51s", place_read(path));
    int         len = snprintf(request, sizeof request, "%s\r\n", by_name);
    const char *answer = place_asks(p, request, (size_t)len);
    CHECK_MSG(strncmp(answer, "HTTP/1.1 401", 12) == 0, "it is: %s", answer);
    len = snprintf(request, sizeof request, "%sAuthorization: Bearer %s\r\n\r\n", by_name, token);
    CHECK(value_at(body_of(place_asks(p, request, (size_t)len)), "diurnal_queue_depth"));
    answer = place_asks(p, by_address, sizeof by_address - 1);
    CHECK(value_at(body_of(answer), "diurnal_queue_depth"));
    stops(p);
}

/* ---- What moves ---- */

static double now(const place *p, const char *series) { return value_of(page(p), series); }

TEST(jobs_that_succeed_and_the_days_they_finalize_are_counted) {
    place *p = serves("exec:/bin/true");
    char   due[8];

    CHECK_RUN(p, 0, "users", "set", "ada", "--due", due_in(30, due));
    CHECK_RUN(p, 0, "users", "set", "bob", "--due", due);
    WAIT_FOR(now(p, "diurnal_finalizations_total{status=\"success\"}") == 2, 20000);
    const char *text = page(p);
    CHECK_INT(value_of(text, "diurnal_jobs_total{result=\"ok\",error_class=\"\"}"), 2);
    CHECK_INT(value_of(text, "diurnal_jobs_total{result=\"error\",error_class=\"unknown\"}"), 0);
    CHECK_INT(value_of(text, "diurnal_job_duration_seconds_count{result=\"ok\"}"), 2);
    CHECK(value_of(text, "diurnal_job_duration_seconds_sum{result=\"ok\"}") > 0);
    CHECK_INT(value_of(text, "diurnal_finalizations_total{status=\"cutoff_reached\"}"), 0);
    CHECK_INT(value_of(text, "diurnal_users"), 2);
    CHECK(value_of(text, "diurnal_tick_duration_seconds_count") > 0);
    CHECK(value_of(text, "diurnal_store_commit_seconds_count") > 0);
    CHECK(value_of(text, "diurnal_actor_handled_total{actor=\"kv\"}") > 0);
    CHECK_INT(value_of(text, "diurnal_executor_max_concurrency"), 64);
    stops(p);
}

TEST(jobs_that_fail_are_counted_by_class) {
    place *p = serves("exec:/bin/false");
    char   due[8];

    CHECK_RUN(p, 0, "users", "set", "ada", "--due", due_in(30, due));
    WAIT_FOR(now(p, "diurnal_jobs_total{result=\"error\",error_class=\"unknown\"}") >= 3, 20000);
    const char *text = page(p);
    CHECK_INT(value_of(text, "diurnal_jobs_total{result=\"ok\",error_class=\"\"}"), 0);
    CHECK_INT(value_of(text, "diurnal_finalizations_total{status=\"success\"}"), 0);
    CHECK_INT(value_of(text, "diurnal_job_duration_seconds_count{result=\"error\"}"),
              value_of(text, "diurnal_jobs_total{result=\"error\",error_class=\"unknown\"}"));
    stops(p);
}

static time_t day_now(void) { return time(NULL) / 86400; }

/* The minute that has begun is a cutoff that has passed, so that nobody waits for a minute to end; unless it was the last
 * of the day meanwhile. */
TEST(days_that_end_at_their_cutoff_are_counted) {
    place *p = serves("exec:/bin/false");
    char   due[8], name[16];
    int    users = 0;
    time_t day;

    do {
        day = day_now();
        snprintf(name, sizeof name, "ada-%d", users++);
        CHECK_RUN(p, 0, "users", "set", name, "--due", due_in(0, due), "--starts-on", "today");
    } while (day_now() != day);
    WAIT_FOR(now(p, "diurnal_finalizations_total{status=\"cutoff_reached\"}") >= 1, 20000);
    const char *text = page(p);
    CHECK(value_of(text, "diurnal_finalizations_total{status=\"cutoff_reached\"}") <= users);
    CHECK_INT(value_of(text, "diurnal_finalizations_total{status=\"success\"}"), 0);
    stops(p);
}

TEST(a_job_that_takes_too_long_is_counted_as_a_timeout_and_runs_meanwhile) {
    place *p = place_new(NULL);
    char   due[8];

    place_serve(p, ARGS("--runner=exec:/bin/sleep 60", "--tick-ms=20", "--job-timeout-ms=1500",
                        "--max-concurrency=3"));
    CHECK_RUN(p, 0, "users", "set", "ada", "--due", due_in(30, due));
    WAIT_FOR(now(p, "diurnal_executor_in_flight") == 1, 20000);
    CHECK_INT(now(p, "diurnal_executor_max_concurrency"), 3);
    WAIT_FOR(now(p, "diurnal_jobs_total{result=\"timeout\",error_class=\"\"}") == 1, 20000);
    CHECK_INT(now(p, "diurnal_executor_in_flight"), 0);
    stops(p);
}

TEST(a_level_that_is_broken_is_said_in_the_log_once_and_shown) {
    place *p = place_new(NULL);
    char   due[8], name[16];

    place_keep_errors_apart(p);
    place_serve(p, ARGS("--runner=exec:/bin/sleep 0.05", "--tick-ms=20", "--job-p95-max-ms=1",
                        "--slo-eval-ms=100", "--log-format=json"));
    const char *text = page(p);
    CHECK_INT(value_of(text, "diurnal_slo_threshold{slo=\"job_latency\"}"), 1);
    /* What was not measured is not 0, and what is off is not there. */
    CHECK(!value_at(text, "diurnal_slo_value{slo=\"job_latency\"}"));
    CHECK(!value_at(text, "diurnal_slo_threshold{slo=\"cutoff_burn_fast\"}"));
    for (int i = 0; i < 5; i++) {
        snprintf(name, sizeof name, "ada-%d", i);
        CHECK_RUN(p, 0, "users", "set", name, "--due", due_in(30, due));
    }
    WAIT_FOR(now(p, "diurnal_slo_breached{slo=\"job_latency\"}") == 1, 20000);
    CHECK(now(p, "diurnal_slo_value{slo=\"job_latency\"}") >= 50);
    CHECK_INT(now(p, "diurnal_slo_breached{slo=\"tick_budget\"}"), 0);
    const char *line = strstr(place_read(p->errors), "\"event\":\"slo.breached\"");
    CHECK(line);
    CHECK_MSG(strstr(line, "\"slo\":\"job_latency\",\"window_minutes\":15,\"measured\":"), "%s",
              line);
    /* Three in a row, or more where the machine was so slow that not three jobs had ended by the third. */
    static const char told[] = "\"threshold\":1,\"consecutive_breaches\":";
    const char       *breaches = strstr(line, told);
    CHECK_MSG(breaches && strtol(breaches + sizeof told - 1, NULL, 10) >= 3, "%s", line);
    CHECK_MSG(!strstr(strchr(line, '\n'), "slo.breached"), "%s", line);
    stops(p);
}

/* JSON says so many of a number. */
static bool is_in_15_digits(double exact, double said) {
    char one[32], other[32];

    (void)snprintf(one, sizeof one, "%.15g", exact);
    (void)snprintf(other, sizeof other, "%.15g", said);
    return strcmp(one, other) == 0;
}

/* What status says of one level is what the page shows; true if it says that it is measured. */
static bool check_agrees(const char *text, const json_t *slo) {
    const char   *name = json_string_value(json_object_get(slo, "name"));
    const char   *state = json_string_value(json_object_get(slo, "state"));
    const json_t *value = json_object_get(slo, "value");
    char          series[100];

    CHECK(name && state);
    snprintf(series, sizeof series, "diurnal_slo_threshold{slo=\"%s\"}", name);
    CHECK(value_of(text, series) == json_number_value(json_object_get(slo, "threshold")));
    snprintf(series, sizeof series, "diurnal_slo_breached{slo=\"%s\"}", name);
    CHECK_INT(value_of(text, series), strcmp(state, "breached") == 0);
    snprintf(series, sizeof series, "diurnal_slo_value{slo=\"%s\"}", name);
    CHECK_MSG((value_at(text, series) != NULL) == json_is_real(value), "%s: %s", series, text);
    if (json_is_real(value)) CHECK(is_in_15_digits(value_of(text, series), json_real_value(value)));
    return json_is_real(value);
}

/* Evaluated once in a while, so that both are of one evaluation. */
TEST(what_the_page_shows_of_the_levels_is_what_status_says_of_them) {
    place *p = place_new(NULL);
    char   due[8], name[16];
    int    measured = 0;

    place_serve(p, ARGS("--runner=exec:/bin/true", "--tick-ms=20", "--job-p95-max-ms=1",
                        "--slo-eval-ms=5000", "--breach-consecutive=1"));
    for (int i = 0; i < 5; i++) {
        snprintf(name, sizeof name, "ada-%d", i);
        CHECK_RUN(p, 0, "users", "set", name, "--due", due_in(30, due));
    }
    WAIT_FOR(now(p, "diurnal_slo_threshold{slo=\"job_latency\"}") == 1 &&
                 value_at(page(p), "diurnal_slo_value{slo=\"job_latency\"}"),
             20000);
    char *text = strdup(page(p));
    CHECK_RUN(p, 0, "status", "--json");
    json_t       *status = json_loads(place_said(), 0, NULL);
    const json_t *slos = json_object_get(status, "slo");
    for (size_t i = 0; i < json_array_size(slos); i++)
        measured += check_agrees(text, json_array_get(slos, i));
    CHECK_INT(json_array_size(slos), 5);
    CHECK(measured > 0);
    json_decref(status);
    free(text);
    stops(p);
}

/* ---- Who comes when others do, or at the end ---- */

static const char scrape[] =
    "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

static void ask_at(int fd) {
    CHECK_INT(send(fd, scrape, sizeof scrape - 1, MSG_NOSIGNAL), sizeof scrape - 1);
}

/* All that came until the other side ended it. */
static const char *hear(int fd) {
    static char answer[1 << 18];
    size_t      len = 0;
    ssize_t     n;

    while ((n = recv(fd, answer + len, sizeof answer - 1 - len, 0)) > 0) len += (size_t)n;
    CHECK(len < sizeof answer - 1);
    CHECK_MSG(n == 0 || errno == ECONNRESET, "%s", strerror(errno));
    answer[len] = '\0';
    (void)close(fd);
    return answer;
}

/* All of it, as long as it says itself. */
static bool is_whole(const char *answer) {
    const char *length = strstr(answer, "Content-Length: "), *end = strstr(answer, "\r\n\r\n");

    return length && end && length < end && strlen(end + 4) == strtoul(length + 16, NULL, 10);
}

TEST(a_hundred_who_scrape_at_once_all_get_the_page) {
    enum { MANY = 100, ROUNDS = 3 };
    place *p = serves("exec:/bin/true");
    int    fds[MANY];

    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < MANY; i++) CHECK((fds[i] = place_connect(p)) >= 0);
        for (int i = 0; i < MANY; i++) ask_at(fds[i]);
        for (int i = 0; i < MANY; i++) {
            const char *answer = hear(fds[i]);
            CHECK_MSG(is_whole(answer), "it is: %s", answer);
            CHECK(value_at(body_of(answer), "diurnal_dead_letters_total"));
        }
    }
    stops(p);
}

TEST(a_scrape_during_the_shutdown_gets_a_whole_answer_or_nothing_at_all) {
    enum { MANY = 60 };
    place *p = place_new(NULL);
    int    fds[MANY];
    char   due[8];

    place_serve(p, ARGS("--runner=exec:/bin/sleep 1", "--tick-ms=20"));
    CHECK_RUN(p, 0, "users", "set", "ada", "--due", due_in(30, due));
    WAIT_FOR(now(p, "diurnal_executor_in_flight") == 1, 20000);
    for (int i = 0; i < MANY; i++) CHECK((fds[i] = place_connect(p)) >= 0);
    /* Before it, with it, and behind it: the first of them is being answered when it comes. */
    for (int i = 0; i < MANY; i++) {
        if (i == MANY / 3) {
            CHECK_INT(poll(&(struct pollfd){.fd = fds[0], .events = POLLIN}, 1, 20000), 1);
            place_signal(p, SIGTERM);
        }
        (void)send(fds[i], scrape, sizeof scrape - 1, MSG_NOSIGNAL);
    }
    CHECK(is_whole(hear(fds[0])));
    for (int i = 1; i < MANY; i++) {
        const char *answer = hear(fds[i]);
        CHECK_MSG(!*answer || is_whole(answer), "it is: %s", answer);
    }
    CHECK_INT(place_wait(p), 0);
}
