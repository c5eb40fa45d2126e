/* prom_promtool_test.c - promtool (of Debian's package prometheus) has nothing to say about what we show. */
#include "prom_kit.h"

#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

/* What promtool says of a text, and its exit code. */
static int promtool(const char *text, char *said, size_t size) {
    char      path[] = "/tmp/prom_promtool_test-XXXXXX", command[100];
    const int file = mkstemp(path);

    CHECK(file >= 0);
    CHECK_INT(write(file, text, strlen(text)), strlen(text));
    CHECK_INT(close(file), 0);
    snprintf(command, sizeof command, "promtool check metrics <%s 2>&1", path);
    FILE *answer = popen(command, "r"); /* NOLINT(cert-env33-c): the command is ours */
    CHECK(answer != NULL);
    said[fread(said, 1, size - 1, answer)] = '\0';
    const int status = pclose(answer);
    CHECK_INT(unlink(path), 0);
    CHECK_MSG(WIFEXITED(status) && WEXITSTATUS(status) != 127,
              "there is no promtool: ./dev test fetches it (Debian: prometheus)");
    return WEXITSTATUS(status);
}

/* A program's worth of metrics, with labels that mean harm. */
static void fill(void) {
    static const char *keys[] = {"kind", "class"};
    uint64_t           random = test_seed();

    CHECK_INT(dn_metrics_start("1.0\"\n\\", "\xff\xfe"), DN_OK);
    prom_counter_t *c = prom_collector_registry_must_register_metric(prom_counter_new(
        "diurnal_jobs_total", "Jobs that ended, with \"quotes\", C:\\paths\nand \xff.", 2, keys));
    prom_gauge_t   *g = prom_collector_registry_must_register_metric(
          prom_gauge_new("diurnal_queue_depth", "Users in the queue.", 2, keys));
    prom_histogram_t *h = prom_collector_registry_must_register_metric(
        prom_histogram_new("diurnal_job_duration_seconds", "How long jobs took.",
                           prom_histogram_buckets_exponential(0.001, 2, 14), 2, keys));
    for (int i = 0; i < 300; i++) { /* more than there is room for */
        char values[2][10] = {{0}};
        for (size_t j = 0; j < 9; j++) {
            values[0][j] = (char)test_random(&random);
            values[1][j] = "\\\"\n{}=, \xc3"[test_random(&random) % 10];
        }
        CHECK_INT(prom_counter_add(c, i * 0.3, labels_of(values[0], values[1])), 0);
        CHECK_INT(
            prom_gauge_set(g, i % 3 == 0 ? -1.0 / i : (double)i, labels_of(values[0], values[1])),
            0);
        if (i % 10 == 0)
            CHECK_INT(prom_histogram_observe(h, i * 0.01, labels_of(values[0], values[1])), 0);
    }
}

TEST(promtool_is_silent_about_labels_of_any_bytes) {
    char said[2000];

    fill();
    const int code = promtool(text_in(DN_METRICS_TEXT), said, sizeof said);
    CHECK_STR(said, "");
    CHECK_INT(code, 0);
}

TEST(promtool_would_say_what_is_wrong) {
    char said[2000];

    CHECK(promtool("# HELP a A.\n# TYPE a counter\na{b=\"\"\"} 1\n", said, sizeof said) != 0);
    CHECK(promtool("# HELP a A.\n# TYPE a counter\na 1\n", said, sizeof said) != 0);
    CHECK_MSG(strstr(said, "_total"), "%s", said);
}
