/* common.h - what all actor benches share: clock, figures, and the conductor that runs one bench.
 *
 * A bench is a crew of actors and the four or five functions of `struct bench`. The conductor, the
 * root actor, hires the crew, waits until all of it is there, gives the start signal, and waits for
 * the end; once with a tenth of n to warm up, once with n for the figures.
 *
 * A figure is only printed for a right result: whatever is wrong (an answer out of order, a sum,
 * a crash nobody meant) ends the process through bench_wrong. */
#ifndef DIURNAL_BENCH_ACTORS_COMMON_H
#define DIURNAL_BENCH_ACTORS_COMMON_H

#include "diurnal/actor.h"

enum {
    BENCH_NOT_OFFERED = 3, /* exit code of a bench or a thread count we do not have */
    BENCH_CREW_MAX = 1000,
    BENCH_MAILBOX_MAX = 4096, /* of the actors that hear from a whole crew at once */
    BENCH_WARM_UP_SHARE = 10, /* a warm-up is this part of n */
};

/* The other loop, if there are two; with one, the runtime takes the name for that one. */
#define BENCH_SECOND "second"

/* What conductor and crew say to each other. A bench's own kinds start at BENCH_KIND_OWN. */
enum {
    BENCH_BRIEF = 1, /* conductor -> crew: whom to talk to; the body is the bench's own */
    BENCH_READY,     /* crew -> conductor: briefed */
    BENCH_START,     /* conductor -> crew: go */
    BENCH_DONE,      /* crew -> conductor: bench_done */
    BENCH_KIND_OWN = 16,
};

typedef struct bench_done {
    int64_t  ns;    /* a span or an instant, as the bench has it */
    uint64_t value; /* what the conductor is to check */
} bench_done;

typedef struct bench bench;

typedef struct bench_run {
    const bench *bench;
    int          threads;
    uint64_t     n_asked;  /* as on the command line */
    uint64_t     n;        /* of the run under way */
    bool         measured; /* false: this is the warm-up */

    dn_ref   crew[BENCH_CREW_MAX];
    size_t   crew_len, crew_here; /* hired; of those, known to be alive */
    size_t   ready_wanted, ready;
    uint64_t done;         /* BENCH_DONE so far, the one in hand included */
    uint64_t done_sum;     /* of their values */
    int64_t  began_ns;     /* set by start */
    int64_t  ended_ns;     /* set by done */
    uint64_t crash_points; /* set during a measured run, if the bench asks for them */

    void *
        data; /* the bench's own, from its first hire; lives until the runtime is gone, then freed */
} bench_run;

struct bench {
    const char *name;
    int         threads_min;
    bool        warms_up_itself; /* or has no warm-up by definition */
    bool        crashes;         /* its actors are meant to fail */
    bool        counts_crash_points;
    const void *options; /* what tells the variants of a bench apart */

    /* All on the conductor. hire spawns the crew with bench_hire. brief, if there is one, tells them
     * whom they need and returns how many will answer BENCH_READY. start gives the signal. done has a
     * BENCH_DONE in hand and answers whether it was the last one. report prints the figures. */
    void (*hire)(dn_self *self, bench_run *run);
    size_t (*brief)(dn_self *self, bench_run *run);
    void (*start)(dn_self *self, bench_run *run);
    bool (*done)(bench_run *run, const bench_done *done);
    void (*report)(const bench_run *run);
};

/* The benches, a table a theme; each ends with a row without a name. */
extern const bench bench_messages[], bench_fanins[], bench_calls[], bench_spawns[],
    bench_restarts[], bench_timers[];

/* Runs one bench from start to end and prints its figures. */
void bench_perform(const bench *what, int threads, uint64_t n);

/* Floors: what this machine gives the smallest thing that could be called an actor loop. */
void   bench_floors(void);
double bench_setjmp_ns(void); /* one jump point set, the median of a few batches */

/* ---- For the functions of a bench ---- */

/* Spawns the next member of the crew. config_size as in dn_spawn_spec; loop NULL: the main loop. */
void bench_hire(dn_self *self, bench_run *run, const dn_class *cls, const void *config,
                size_t config_size, const char *loop);

/* The same message to one, and to all, of the crew. */
void bench_tell(dn_self *self, dn_ref whom, uint32_t kind, const void *body, size_t size);
void bench_tell_all(dn_self *self, const bench_run *run, uint32_t kind);

/* The most common `done`: the crew has one member to wait for, whose ns is the elapsed time. */
bool bench_done_by_one(bench_run *run, const bench_done *done);

/* A block of memory that is the run's data. */
void *bench_data(bench_run *run, size_t size);

/* ---- For actors ---- */

/* Both answer as a handler does. */
int bench_answer_ready(dn_self *self, const dn_msg *brief);
int bench_tell_done(dn_self *self, dn_ref conductor, int64_t ns, uint64_t value);

/* ---- Measures ---- */

int64_t bench_now_ns(void); /* CLOCK_MONOTONIC */
int64_t bench_cpu_ns(void); /* user and system, this process */
int64_t bench_status_kb(const char *key);
void    bench_reset_peak(void); /* VmHWM starts anew from here */

void    bench_sort(int64_t *samples, size_t len);
int64_t bench_rank(const int64_t *sorted, size_t len, unsigned permille); /* nearest rank */

void bench_print(const bench_run *run, const char *metric, double value, const char *unit);
void bench_print_rate(const bench_run *run, const char *metric); /* n a second, began to ended */
void bench_print_line(const char *peer, const char *name, int threads, uint64_t n,
                      const char *metric, double value, const char *unit);

/* Says what was wrong and aborts: a wrong result has no speed. */
void bench_wrong(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

#endif
