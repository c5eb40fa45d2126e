/* spent.c - bench_spent COMMAND ARGUMENT...: runs it, and says on standard error what it took: wall clock, CPU of user and
 * system, and the most memory that was resident. What the command prints is its own; its exit code is handed on. */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_s(void) {
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double seconds(struct timeval t) { return (double)t.tv_sec + (double)t.tv_usec / 1e6; }

int main(int argc, char **argv) {
    const double  began_s = now_s();
    const pid_t   child = argc > 1 ? fork() : -1;
    struct rusage used;
    int           status;

    if (child == 0) {
        (void)execvp(argv[1], argv + 1);
        perror(argv[1]);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) {
        fprintf(stderr, "bench_spent: want COMMAND ARGUMENT..., and a system that runs it\n");
        return 2;
    }
    /* Of children that were waited for, and that is this one alone. */
    (void)getrusage(RUSAGE_CHILDREN, &used);
    fprintf(stderr, "wall_s=%.3f cpu_s=%.3f rss_kib=%ld\n", now_s() - began_s,
            seconds(used.ru_utime) + seconds(used.ru_stime), used.ru_maxrss);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
