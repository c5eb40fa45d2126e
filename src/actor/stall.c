/* stall.c - the stall detector.
 * It looks at each loop four times in a stall's length. Where actors run and the window of time has not
 * changed since the first of those looks is a stall: a window is one long handler or some brief ones; it is said once, and once more when it is over. It only reads what loops
 * publish for it, so it costs them two stores a turn. */
#include "stall.h"

#include "clock.h"
#include "mem.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>

enum { LOOKS = 4 };

typedef struct seen_turn {
    uint64_t window;
    int64_t  since_ns; /* first look at that window */
    bool     said;
    char     name[DN_NAME_MAX + 1];
    uint32_t kind;
} seen_turn;

struct stall_watch {
    dn_runtime     *runtime;
    pthread_t       thread;
    pthread_mutex_t mutex;
    pthread_cond_t  stop_asked;
    bool            stop; /* under mutex */
    seen_turn       seen[DN_LOOPS_MAX];
};

static void say(const dn_loop *l, const seen_turn *s, dn_notice_kind kind, int64_t ms) {
    notice(l, kind, s->name, s->kind, DN_OK, ms,
           kind == DN_NOTICE_STALL ? "its loop stands still until it does" : "");
}

static void look(dn_loop *l, seen_turn *s, int64_t now_ns, int64_t stall_ns) {
    const uint64_t window = atomic_load_explicit(&l->windows, memory_order_relaxed);
    dn_self       *a = atomic_load_explicit(&l->running, memory_order_relaxed);

    if (window != s->window || !a) {
        if (s->said) say(l, s, DN_NOTICE_STALL_OVER, (now_ns - s->since_ns) / 1000000);
        *s = (seen_turn){.window = window, .since_ns = now_ns};
        return;
    }
    if (s->said || now_ns - s->since_ns < stall_ns) return;
    s->kind = atomic_load_explicit(&l->handling_kind, memory_order_relaxed);
    /* acquire: pairs with actor_show. NULL: that actor has gone just now, and its slot is being taken. */
    const char *shown = atomic_load_explicit(&a->shown, memory_order_acquire);
    if (!shown) return;
    text_copy(s->name, sizeof s->name, shown);
    /* Still in the same window: what was read is of the actor that stalls. */
    if (atomic_load_explicit(&l->windows, memory_order_relaxed) != window) return;
    s->said = true;
    say(l, s, DN_NOTICE_STALL, (now_ns - s->since_ns) / 1000000);
}

static void *stall_main(void *context) {
    stall_watch  *w = context;
    const int64_t stall_ms = w->runtime->stall_ms;
    const int64_t stall_ns = stall_ms < INT64_MAX / 1000000 ? stall_ms * 1000000 : INT64_MAX;
    bool          stop = false;

    while (!stop) {
        const int64_t   at_ns = clock_mono_ns() + stall_ns / LOOKS;
        struct timespec at = {.tv_sec = at_ns / 1000000000, .tv_nsec = at_ns % 1000000000};

        pthread_mutex_lock(&w->mutex);
        int rc = 0;
        while (!w->stop && rc == 0) rc = pthread_cond_timedwait(&w->stop_asked, &w->mutex, &at);
        stop = w->stop;
        pthread_mutex_unlock(&w->mutex);
        const int64_t now_ns = clock_mono_ns();
        for (uint32_t i = 0; i < w->runtime->loops_len && !stop; i++)
            look(w->runtime->loops[i], &w->seen[i], now_ns, stall_ns);
    }
    return NULL;
}

int stall_start(dn_runtime *rt, stall_watch **out_watch) {
    stall_watch       *w = mem_alloc(sizeof *w);
    pthread_condattr_t steady;

    if (!w) return DN_ENOMEM;
    w->runtime = rt;
    pthread_mutex_init(&w->mutex, NULL);
    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_cond_init(&w->stop_asked, &steady);
    pthread_condattr_destroy(&steady);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int failed = pthread_create(&w->thread, NULL, stall_main, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed) {
        pthread_cond_destroy(&w->stop_asked);
        pthread_mutex_destroy(&w->mutex);
        mem_free(w);
        return DN_ENOMEM;
    }
    *out_watch = w;
    return DN_OK;
}

void stall_stop(stall_watch *w) {
    if (!w) return;
    pthread_mutex_lock(&w->mutex);
    w->stop = true;
    pthread_cond_signal(&w->stop_asked);
    pthread_mutex_unlock(&w->mutex);
    pthread_join(w->thread, NULL);
    pthread_cond_destroy(&w->stop_asked);
    pthread_mutex_destroy(&w->mutex);
    mem_free(w);
}
