/* prom_process_test.c - what the process says of itself is true. */
#include "prom_kit.h"

#include <fcntl.h>
#include <math.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static double number_of(const char *sample) {
    const char *value = value_of(sample);

    CHECK_MSG(value != NULL, "%s", sample);
    return strtod(value, NULL);
}

/* Linkers put it in the place of stat (tests/CMakeLists.txt). Linux before 6.2 does not say how many descriptors there
 * are. */
int         __real_stat(const char *path, struct stat *out);
int         __wrap_stat(const char *path, struct stat *out);
static bool linux_is_old;

int __wrap_stat(const char *path, struct stat *out) {
    const int rc = __real_stat(path, out);

    if (linux_is_old) out->st_size = 0;
    return rc;
}

static void count_fds(void) {
    registry_begins();
    const double before = number_of("process_open_fds");
    const int    first = dup(STDERR_FILENO), second = dup(STDERR_FILENO);

    CHECK(before >= 3 && first >= 0 && second >= 0);
    CHECK_INT(number_of("process_open_fds"), before + 2);
    close(first);
    close(second);
    CHECK_INT(number_of("process_open_fds"), before);
}

TEST(open_file_descriptors_are_counted_and_the_counting_leaves_none) { count_fds(); }

TEST(an_old_linux_has_its_file_descriptors_counted_one_by_one) {
    registry_begins();
    const double said = number_of("process_open_fds");
    linux_is_old = true;
    CHECK_INT(number_of("process_open_fds"), said);
    count_fds();
}

TEST(the_limit_of_file_descriptors_is_that_of_the_process) {
    struct rlimit limit;

    registry_begins();
    CHECK_INT(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = 123;
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &limit), 0);
    CHECK_INT(number_of("process_max_fds"), 123);
}

TEST(memory_that_is_mapped_and_touched_is_seen) {
    enum { BYTES = 64 << 20 };
    registry_begins();
    const double virtual = number_of("process_virtual_memory_bytes");
    const double resident = number_of("process_resident_memory_bytes");
    char *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(memory != MAP_FAILED);
    for (size_t i = 0; i < BYTES; i += 4096) memory[i] = 1;
    CHECK(number_of("process_virtual_memory_bytes") >= virtual + BYTES);
    CHECK(number_of("process_resident_memory_bytes") >= resident + BYTES * 0.9);
}

TEST(time_on_the_processor_is_counted_and_never_goes_down) {
    struct timespec used;

    registry_begins();
    double last = number_of("process_cpu_seconds_total");
    /* Until the clock of the process says that it must be seen. */
    do {
        const double now = number_of("process_cpu_seconds_total");
        CHECK_MSG(now >= last, "%g after %g", now, last);
        last = now;
        CHECK_INT(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used), 0);
    } while ((double)used.tv_sec + (double)used.tv_nsec / 1e9 < 0.3);
    CHECK_MSG(last > 0.15 && last < 0.6, "%g of 0.3", last);
}

TEST(the_process_began_a_moment_ago) {
    registry_begins();
    const double began = number_of("process_start_time_seconds"), now = (double)time(NULL);

    /* The time of the boot is told in whole seconds. */
    CHECK_MSG(began > now - 130 && began < now + 2, "%f at %f", began, now);
}

TEST(a_program_without_file_descriptors_is_still_scraped) {
    struct rlimit limit, none;

    registry_begins();
    prom_gauge_t *g =
        prom_collector_registry_must_register_metric(prom_gauge_new("depth", "D.", 0, NULL));
    CHECK_INT(prom_gauge_set(g, 7, NULL), 0);
    CHECK_INT(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = limit;
    none.rlim_cur = 0;
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &none), 0);
    const char *text = text_in(DN_METRICS_TEXT);
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &limit), 0);
    CHECK_STR(value_in(text, "depth"), "7");
    CHECK_PTR(value_in(text, "process_cpu_seconds_total"), NULL); /* not known is not 0 */
}
