/* pace.c - bench_pace: how fast the processor goes just now, in additions a microsecond; of several, the slowest. A machine
 * that is shared goes at half its pace while a neighbour is busy, and so would all that is measured then. */
#define _GNU_SOURCE /* sched_setaffinity */
#include <sched.h>
#include <stdio.h>
#include <time.h>

enum { ADDITIONS = 5000000, LOOKS = 2 };

static double now_us(void) {
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* Each waits for the one before it: what else the processor could do at the same time makes no difference. */
static double additions_a_us(void) {
    const double  began_us = now_us();
    unsigned long sum = 0;

    for (long i = 0; i < ADDITIONS; i++) {
        sum++;
        __asm__ volatile("" : "+r"(sum));
    }
    return (double)sum / (now_us() - began_us);
}

int main(void) {
    double    slowest = 0;
    cpu_set_t all;

    if (sched_getaffinity(0, sizeof all, &all) < 0) {
        perror("bench_pace");
        return 1;
    }
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        cpu_set_t one;
        double    best = 0;

        if (!CPU_ISSET(cpu, &all)) continue;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        if (sched_setaffinity(0, sizeof one, &one) < 0) continue; /* it has just been taken away */
        for (int i = 0; i < LOOKS; i++) {
            const double pace = additions_a_us();
            if (pace > best) best = pace;
        }
        if (slowest == 0 || best < slowest) slowest = best;
    }
    printf("%.0f\n", slowest);
    return 0;
}
