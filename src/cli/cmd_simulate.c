/* cmd_simulate.c - draws, runs and checks seeds, and shortens the first that fails. */
#include "cli_text.h"
#include "command.h"
#include "progress.h"
#include "simulate_shortest.h"

#include "obs/log.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { USERS = 12, DAYS = 3, SHRINK_RUNS = 2000, SHRINK_RUNS_MAX = 1000000 };

static volatile bool stopped; /* by a signal */

static void stop(int number) {
    (void)number;
    stopped = true;
}

static double now_s(void) {
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void progressed(void *context, uint64_t done) {
    progress_at(context, (int64_t)done, (int64_t)done, "seeds");
}

/* ---- Flags ---- */

static int seeds_of(const call *c, simulate_range *r) {
    const char *text = call_flag(c, "seeds");
    const char *dots = text ? strstr(text, "..") : NULL;

    if (text && dots && text_whole(dots + 2, "", &r->last) && text_whole(text, dots, &r->first) &&
        r->first <= r->last)
        return DN_EXIT_DONE;
    return complain(DN_EXIT_USAGE, "simulate: --seeds %s; use a range, for example 1..1000",
                    text ? "is not a range" : "it is missing");
}

static int bound_of(const call *c, const char *flag, uint32_t least, uint32_t most,
                    uint32_t *out_bound) {
    const char *text = call_flag(c, flag);
    uint64_t    n = 0;

    if (!text) return DN_EXIT_DONE;
    if (!text_whole(text, "", &n) || n < least || n > most)
        return complain(DN_EXIT_USAGE, "simulate: --%s: use a number from %u to %u", flag, least,
                        most);
    *out_bound = (uint32_t)n;
    return DN_EXIT_DONE;
}

static bool is_fault(const char *text, size_t len, plan_fault fault) {
    const char *name = plan_fault_name(fault);

    return strlen(name) == len && memcmp(name, text, len) == 0;
}

static int faults_of(const call *c, uint32_t *out_faults) {
    const char *text = call_flag(c, "faults");

    if (!text || strcmp(text, "all") == 0) return DN_EXIT_DONE;
    *out_faults = 0;
    if (strcmp(text, "none") == 0) return DN_EXIT_DONE;
    for (const char *one = text; one; one = strchr(one, ',') ? strchr(one, ',') + 1 : NULL) {
        const size_t len = strcspn(one, ",");
        unsigned     i = 0;
        while (i < PLAN_FAULTS && !is_fault(one, len, (plan_fault)i)) i++;
        if (i == PLAN_FAULTS)
            return complain(DN_EXIT_USAGE,
                            "simulate: --faults: unknown fault \"%.*s\"; use all, none, or some of "
                            "crash,actor,delay,double,slow,clock,store,outage,users",
                            (int)(len < 32 ? len : 32), one);
        *out_faults |= 1U << i;
    }
    return DN_EXIT_DONE;
}

/* ---- The result ---- */

static void print_counts(const simulate_counts *n, FILE *to) {
#define PRINT(name, text) fprintf(to, "  %10llu  %s\n", (unsigned long long)n->name, text);
    SIMULATE_COUNTS(PRINT)
#undef PRINT
}

/* shortest: NULL if there is none. */
static json_t *json_of(const simulate_found *f, const simulate_shortest *shortest, double took_s) {
    json_t *counts = json_object();

#define PUT(name, text)                                                                            \
    (void)json_object_set_new(counts, #name, json_integer((json_int_t)f->counts.name));
    SIMULATE_COUNTS(PUT)
#undef PUT
    json_t *failed =
        f->any ? json_pack("{s:I, s:s, s:s, s:i, s:o}", "seed", (json_int_t)f->seed, "rule",
                           f->signal ? "stops" : simulate_rule_name(f->verdict.rule), "text",
                           f->verdict.text, "signal", f->signal, "shortest",
                           shortest ? simulate_shortest_json(shortest) : json_null())
               : json_null();
    return json_pack("{s:I, s:f, s:o, s:o}", "seeds", (json_int_t)f->done, "took_s", took_s,
                     "failed", failed, "counts", counts);
}

static void print_command(const call *c, uint64_t seed, const simulate_range *r) {
    const char *faults = call_flag(c, "faults");

    printf("run it again: %s simulate --seeds %llu..%llu --users %u --days %u --faults %s\n",
           c->program, (unsigned long long)seed, (unsigned long long)seed, r->bounds.users,
           r->bounds.days, faults ? faults : "all");
}

static bool shorten(const simulate_range *r, const simulate_found *f, uint32_t runs_max,
                    simulate_shortest *out_shortest) {
    return f->any && !f->signal && runs_max > 0 &&
           simulate_shortest_of(r, f, runs_max, out_shortest) == DN_OK;
}

static int print(const call *c, const simulate_range *r, const simulate_found *f, uint32_t runs_max,
                 double took_s) {
    simulate_shortest shortest;

    printf("%llu seeds in %.1f s: %.0f an hour\n", (unsigned long long)f->done, took_s,
           (double)f->done / (took_s > 0 ? took_s : 1) * 3600);
    if (!f->any) {
        print_counts(&f->counts, stdout);
        printf(stopped ? "stopped; no seed failed so far\n" : "no seed failed\n");
        return stopped ? DN_EXIT_FAILED : DN_EXIT_DONE;
    }
    if (f->signal)
        printf("seed %llu: signal %d (%s) ended the process\n", (unsigned long long)f->seed,
               f->signal, strsignal(f->signal));
    else printf("seed %llu: %s\n", (unsigned long long)f->seed, f->verdict.text);
    (void)fflush(stdout);
    if (shorten(r, f, runs_max, &shortest)) {
        simulate_shortest_print(&shortest, f, c->program);
        simulate_shortest_done(&shortest);
    }
    print_command(c, f->seed, r);
    return DN_EXIT_VIOLATED;
}

static int print_as_json(const simulate_range *r, const simulate_found *f, uint32_t runs_max,
                         double took_s) {
    simulate_shortest shortest;
    const bool        any = shorten(r, f, runs_max, &shortest);
    const int         code = print_json(json_of(f, any ? &shortest : NULL, took_s));

    if (any) simulate_shortest_done(&shortest);
    if (code != DN_EXIT_DONE) return code;
    return f->any ? DN_EXIT_VIOLATED : stopped ? DN_EXIT_FAILED : DN_EXIT_DONE;
}

/* ---- The command ---- */

static int run(const call *c, simulate_range *r, uint32_t shrink_runs) {
    progress       bar;
    simulate_found found;
    const double   began_s = now_s();

    progress_begin(&bar, (int64_t)(r->last - r->first + 1));
    if (bar.shown || call_flag(c, "progress")) {
        bar.shown = true;
        r->progress = progressed;
        /* cppcheck-suppress autoVariables; unused after the run */
        r->context = &bar;
    }
    (void)signal(SIGINT, stop);
    (void)signal(SIGTERM, stop);
    r->stop = &stopped;
    const int rc = simulate_seeds(r, &found);
    progress_end(&bar);
    (void)signal(SIGINT, SIG_DFL); /* now they end the process: shortening may take long */
    (void)signal(SIGTERM, SIG_DFL);
    if (rc < 0) return complain(DN_EXIT_FAILED, "simulate: %s", dn_error_text(rc));
    const double took_s = now_s() - began_s;
    return c->json ? print_as_json(r, &found, shrink_runs, took_s)
                   : print(c, r, &found, shrink_runs, took_s);
}

int cmd_simulate(const call *c) {
    simulate_range range = {.bounds = {.users = USERS, .days = DAYS, .faults = PLAN_ALL}};
    uint32_t       shrink_runs = SHRINK_RUNS;
    int            code = seeds_of(c, &range);

    if (code == DN_EXIT_DONE) code = bound_of(c, "users", 1, PLAN_USERS_MAX, &range.bounds.users);
    if (code == DN_EXIT_DONE) code = bound_of(c, "days", 2, PLAN_DAYS_MAX, &range.bounds.days);
    if (code == DN_EXIT_DONE) code = faults_of(c, &range.bounds.faults);
    if (code == DN_EXIT_DONE) code = bound_of(c, "shrink", 0, SHRINK_RUNS_MAX, &shrink_runs);
    if (code != DN_EXIT_DONE) return code;
    dn_log_threshold(DN_LOG_NONE); /* the log would be of simulated days */
    return run(c, &range, shrink_runs);
}
