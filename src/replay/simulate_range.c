/* simulate_range.c - see simulate_range.h. Worker i of n has the seeds first + i, first + i + n and so on, and says what it has
 * done now and then; the first that fails is its last. Those beyond the least that has failed are of no interest. */
#include "simulate_range.h"

#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WORKERS_MAX = 64, SAY_EVERY = 16, POLL_MS = 100, HANGS_MS = 120000, KEPT_BYTES = 1 << 28 };

/* What a worker says, in one piece. */
typedef struct report {
    uint64_t         done; /* since the last one */
    uint64_t         seed; /* the last of them */
    int              failed;
    simulate_verdict verdict;
    simulate_counts  counts;
} report;

typedef struct worker {
    pid_t              pid; /* 0: it has ended */
    int                fd;
    volatile uint64_t *seed; /* the one it is at; written by it alone, read when it is no more */
    uint64_t           said; /* the last seed that it has told of */
    int64_t            heard_ms;
} worker;

typedef struct crew {
    const simulate_range *range;
    simulate_found       *found;
    worker                workers[WORKERS_MAX];
    uint32_t              len;
    int                   failed;
} crew;

static int64_t now_ms(void) {
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- A worker ---- */

int simulate_seed(uint64_t seed, const plan_bounds *bounds, simulate_counts *counts,
                  simulate_verdict *out_verdict) {
    const simulate_watch watch = {.counts = counts};
    plan                 p;
    int                  rc = plan_draw(seed, bounds, &p);

    if (rc < 0) return rc;
    rc = simulate_run(&p, &watch, out_verdict);
    plan_done(&p);
    return rc;
}

static bool say(int fd, const report *r) {
    const char *at = (const char *)r;

    for (size_t left = sizeof *r; left > 0;) {
        const ssize_t len = write(fd, at, left);
        if (len < 0 && errno == EINTR) continue;
        if (len <= 0) return false;
        at += len;
        left -= (size_t)len;
    }
    return true;
}

static bool is_over(const simulate_range *range, int64_t end_ms) {
    return range->for_ms > 0 && now_ms() >= end_ms;
}

static _Noreturn void work(const simulate_range *range, uint64_t first, uint32_t step, int fd,
                           volatile uint64_t *at) {
    const int64_t end_ms = now_ms() + range->for_ms;
    report        r = {.seed = first};

    (void)signal(SIGINT, SIG_DFL);
    (void)signal(SIGPIPE, SIG_DFL);
    /* Each run asks for the same few large pieces again: the system need not be asked for them. */
    (void)mallopt(M_MMAP_THRESHOLD, KEPT_BYTES);
    (void)mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
    for (uint64_t seed = first; seed <= range->last && !is_over(range, end_ms); seed += step) {
        *at = r.seed = seed;
        r.failed = simulate_seed(seed, &range->bounds, &r.counts, &r.verdict);
        r.done++;
        if (r.failed || r.verdict.broken) break;
        if (r.done < SAY_EVERY) {
            if (range->last - seed < step) break;
            continue;
        }
        if (!say(fd, &r)) _exit(1);
        r = (report){.seed = seed};
        if (range->last - seed < step) break;
    }
    _exit(say(fd, &r) ? 0 : 1);
}

/* ---- The crew ---- */

static void found_one(crew *c, uint64_t seed, const simulate_verdict *verdict, int by_signal) {
    simulate_found *f = c->found;

    if (f->any && f->seed <= seed) return;
    f->any = true;
    f->seed = seed;
    f->signal = by_signal;
    f->verdict = verdict ? *verdict : (simulate_verdict){.broken = true};
}

static void take(crew *c, worker *w, const report *r) {
    w->heard_ms = now_ms();
    w->said = r->seed;
    c->found->done += r->done;
    simulate_counts_add(&c->found->counts, &r->counts);
    if (r->failed) c->failed = r->failed;
    else if (r->done > 0 && r->verdict.broken) found_one(c, r->seed, &r->verdict, 0);
}

/* Nobody wants it to go on: it is not its end that is looked at. */
static void dismiss(worker *w) {
    if (w->pid == 0) return;
    (void)kill(w->pid, SIGKILL);
    (void)waitpid(w->pid, NULL, 0);
    (void)close(w->fd);
    w->pid = 0;
}

static void has_ended(crew *c, worker *w) {
    int status = 0;

    (void)waitpid(w->pid, &status, 0);
    (void)close(w->fd);
    w->pid = 0;
    if (WIFSIGNALED(status)) found_one(c, *w->seed, NULL, WTERMSIG(status));
}

static void hear(crew *c, worker *w) {
    report r = {0};
    size_t have = 0;

    while (have < sizeof r) {
        const ssize_t len = read(w->fd, (char *)&r + have, sizeof r - have);
        if (len < 0 && errno == EINTR) continue;
        if (len <= 0) {
            has_ended(c, w);
            return;
        }
        have += (size_t)len;
    }
    take(c, w, &r);
}

static bool look_after(crew *c) {
    const bool stop = c->failed || (c->range->stop && *c->range->stop);
    bool       any = false;

    for (uint32_t i = 0; i < c->len; i++) {
        worker *w = &c->workers[i];
        if (w->pid == 0) continue;
        if (stop || (c->found->any && w->said >= c->found->seed)) {
            dismiss(w);
        } else if (now_ms() - w->heard_ms > HANGS_MS) {
            found_one(c, *w->seed, NULL, SIGKILL);
            dismiss(w);
        }
        any = any || w->pid != 0;
    }
    return any;
}

static void gather(crew *c) {
    struct pollfd fds[WORKERS_MAX];
    uint32_t      of[WORKERS_MAX];

    while (look_after(c)) {
        nfds_t len = 0;
        for (uint32_t i = 0; i < c->len; i++)
            if (c->workers[i].pid != 0) {
                of[len] = i;
                fds[len++] = (struct pollfd){.fd = c->workers[i].fd, .events = POLLIN};
            }
        if (poll(fds, len, POLL_MS) < 0) continue; /* a signal: look_after asks for it */
        for (nfds_t k = 0; k < len; k++)
            if (fds[k].revents) hear(c, &c->workers[of[k]]);
        if (c->range->progress) c->range->progress(c->range->context, c->found->done);
    }
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the worker writes its own */
static int hire(crew *c, uint32_t i, volatile uint64_t *seeds) {
    worker *w = &c->workers[i];
    int     ends[2];

    if (pipe(ends) < 0) return DN_EIO;
    *w = (worker){.fd = ends[0], .seed = &seeds[i], .heard_ms = now_ms()};
    w->pid = fork();
    if (w->pid == 0) {
        (void)close(ends[0]);
        work(c->range, c->range->first + i, c->len, ends[1], w->seed);
    }
    (void)close(ends[1]);
    if (w->pid > 0) return DN_OK;
    (void)close(ends[0]);
    w->pid = 0;
    return DN_EIO;
}

static uint32_t crew_of(const simulate_range *range) {
    const long     cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t       len = range->workers ? range->workers : cores > 0 ? (uint64_t)cores : 1;
    const uint64_t seeds = range->last - range->first;

    if (len > WORKERS_MAX) len = WORKERS_MAX;
    return (uint32_t)(len - 1 > seeds ? seeds + 1 : len);
}

int simulate_seeds(const simulate_range *range, simulate_found *out_found) {
    crew            c = {.range = range, .found = out_found, .len = crew_of(range)};
    const size_t    size = WORKERS_MAX * sizeof(uint64_t);
    uint64_t *const seeds =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    *out_found = (simulate_found){0};
    if (seeds == MAP_FAILED) return DN_ENOMEM;
    for (uint32_t i = 0; i < c.len && !c.failed; i++) c.failed = hire(&c, i, seeds);
    gather(&c);
    (void)munmap(seeds, size);
    return c.failed;
}
