/* progress.c - see progress.h. */
#include "progress.h"

#include "command.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { EVERY_MS = 100, BAR = 30 };

static int64_t now_ms(void) {
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void take_away(void) { (void)fputs("\r\033[K", stderr); }

void progress_begin(progress *p, int64_t total) {
    *p = (progress){.shown = isatty(STDERR_FILENO) == 1, .total = total};
    if (p->shown) complain_behind(take_away);
}

void progress_at(progress *p, int64_t done, int64_t count, const char *what) {
    char bar[BAR + 1];

    if (!p->shown || now_ms() - p->drawn_ms < EVERY_MS) return;
    p->drawn_ms = now_ms();
    const int64_t full = p->total > 0 ? (done < p->total ? done : p->total) * BAR / p->total : 0;
    for (int i = 0; i < BAR; i++) bar[i] = i < full ? '#' : '.';
    bar[BAR] = '\0';
    if (p->total > 0)
        (void)fprintf(stderr, "\r[%s] %3lld %%  %lld %s ", bar, (long long)(full * 100 / BAR),
                      (long long)count, what);
    else (void)fprintf(stderr, "\r%lld %s ", (long long)count, what);
    (void)fflush(stderr);
}

void progress_end(progress *p) {
    if (p->shown) complain_behind(NULL);
    if (p->shown && p->drawn_ms) take_away();
}
