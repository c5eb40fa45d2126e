/* cmd_top.c - the state of the daemon, live: queue, jobs, SLOs, actors. */
#include "cli_text.h"
#include "client.h"
#include "screen.h"

#include "api/words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    EVERY_SECONDS = 2,
    EVERY_MOST = 3600,
    ROWS_PLAIN = 1000, /* if the output is not a terminal */
    COLS_PLAIN = 200,
    BAR = 20,
    NARROW = 60,
    SHORT = 16,
    CRASHES_SHOWN = 3,
};

/* The answers of one instant. */
typedef struct look {
    json_t *status, *actors;
    int64_t mono_ms;
} look;

static void look_done(look *l) {
    json_decref(l->status);
    json_decref(l->actors);
    *l = (look){0};
}

static int64_t mono_ms(void) {
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static bool look_take(client *asked, look *out, int *out_exit) {
    look l = {.status = client_get(asked, "/api/v1/status", json_object(), "daemon", out_exit)};

    if (l.status) l.actors = client_get(asked, "/api/v1/actors", json_object(), "items", out_exit);
    l.mono_ms = mono_ms();
    if (l.actors) *out = l;
    else look_done(&l);
    return l.actors != NULL;
}

/* ---- Parts of the answer ---- */

static json_int_t number(const json_t *answer, const char *part, const char *key) {
    return json_integer_value(json_object_get(json_object_get(answer, part), key));
}

static const char *text(const json_t *object, const char *key) {
    const char *value = json_string_value(json_object_get(object, key));

    return value ? value : "-";
}

static int64_t instant(const json_t *answer, const char *part, const char *key) {
    const char *value = text(json_object_get(answer, part), key);
    int64_t     ms = 0;

    (void)!dn_instant_read(value, strlen(value), &ms);
    return ms;
}

static json_int_t ended(const json_t *status) {
    return number(status, "executor", "ok") + number(status, "executor", "error") +
           number(status, "executor", "timeout");
}

/* The rate since the last look; 0 if there was none, or if the daemon has restarted since. */
static double per_second(double now, double before, const look *l, const look *last) {
    const double seconds = (double)(l->mono_ms - last->mono_ms) / 1000;

    return last->status && seconds > 0 && now > before ? (now - before) / seconds : 0;
}

/* ---- The head ---- */

static void put_daemon(FILE *out, const look *l) {
    const json_t *s = l->status, *d = json_object_get(s, "daemon");
    const int64_t now_ms = instant(s, "daemon", "now");
    char          up[DN_WORDS], users[DN_WORDS];

    fprintf(out, "diurnal %s  %.8s UTC  up %s  %s\n", text(d, "version"),
            text(d, "now") + (strlen(text(d, "now")) > 11 ? 11 : 0),
            dn_words_duration(now_ms - instant(s, "daemon", "started_at"), up),
            dn_words_count((uint64_t)number(s, "store", "users"), "user", users));
}

static void put_tick(FILE *out, const look *l) {
    const json_t *s = l->status;
    char          next[DN_WORDS];

    if (!json_is_true(json_object_get(json_object_get(s, "tick"), "loaded"))) {
        fprintf(out, "tick:  loading users\n");
        return;
    }
    fprintf(out, "tick:  next in %s, last took %lld us: %lld attempts, %lld cutoffs\n",
            dn_words_duration(instant(s, "tick", "next_at") - instant(s, "daemon", "now"), next),
            (long long)number(s, "tick", "took_us"),
            (long long)number(s, "tick", "eligible_in_window"),
            (long long)number(s, "tick", "cutoff_finalized"));
}

static void put_jobs(FILE *out, const look *l, const look *last) {
    const json_t    *s = l->status;
    const json_int_t run = number(s, "executor", "in_flight"),
                     most = number(s, "executor", "max_concurrency");
    const int full = most > 0 ? (int)(run * BAR / most) : 0;

    fprintf(out, "jobs:  %lld of %lld running [", (long long)run, (long long)most);
    for (int i = 0; i < BAR; i++) (void)fputc(i < full || (i == 0 && run > 0) ? '#' : '.', out);
    fprintf(out, "] %.1f/s  ok %lld  error %lld  timeout %lld\n",
            per_second((double)ended(s), (double)ended(last->status), l, last),
            (long long)number(s, "executor", "ok"), (long long)number(s, "executor", "error"),
            (long long)number(s, "executor", "timeout"));
}

static void put_queue_and_store(FILE *out, const look *l, const look *last) {
    const json_t *s = l->status;

    fprintf(out, "queue: %lld waiting (peak %lld)\n", (long long)number(s, "queue", "queued"),
            (long long)number(s, "queue", "queued_peak"));
    if (json_is_true(json_object_get(json_object_get(s, "store"), "full")))
        fprintf(out, "store: THE DISK IS FULL: %lld writes wait in memory\n",
                (long long)number(s, "store", "waiting_writes"));
    else
        fprintf(out, "store: %.1f writes/s, %lld waiting\n",
                per_second((double)number(s, "store", "writes"),
                           (double)number(last->status, "store", "writes"), l, last),
                (long long)number(s, "store", "waiting_writes"));
}

/* ---- The SLOs ---- */

static void put_slo(FILE *out, const json_t *slo) {
    const json_t *value = json_object_get(slo, "value");
    char          measured[32] = "-";

    if (json_is_number(value))
        (void)snprintf(measured, sizeof measured, "%.6g", json_number_value(value));
    fprintf(out, "%-20s %-9s %10s  (%.6g)\n", text(slo, "name"), text(slo, "state"), measured,
            json_number_value(json_object_get(slo, "threshold")));
}

/* On a short screen only the breached ones. */
static void put_slos(FILE *out, const look *l, bool is_short) {
    const json_t *slos = json_object_get(l->status, "slo");
    size_t        i, breached = 0;
    json_t       *slo;

    if (!json_is_array(slos)) {
        fprintf(out, "SLOs:  unknown\n");
        return;
    }
    json_array_foreach(slos, i, slo) breached += strcmp(text(slo, "state"), "breached") == 0;
    if (is_short && breached == 0) fprintf(out, "SLOs:  none breached\n");
    else fprintf(out, "\n%-20s %-9s %10s  (%s)\n", "SLO", "STATE", "VALUE", "limit");
    json_array_foreach(slos, i, slo) if (!is_short || strcmp(text(slo, "state"), "breached") == 0)
        put_slo(out, slo);
}

/* ---- The actors ---- */

/* All actors of a name on a loop: there may be hundreds of running jobs. */
typedef struct row {
    const char *name, *loop;
    int         len;
    double      mailbox, handled, busy_ms, longest_ms, heap_bytes, restarts;
    double      per_second, busy; /* since the last look; busy: share of the time, in percent */
} row;

static double real(const json_t *object, const char *key) {
    return json_number_value(json_object_get(object, key));
}

static row *row_named(row *rows, size_t len, const char *name, const char *loop) {
    for (size_t i = 0; i < len; i++)
        if (strcmp(rows[i].name, name) == 0 && strcmp(rows[i].loop, loop) == 0) return &rows[i];
    return NULL;
}

/* The rows, for free(); NULL: there are none, or out of memory. */
static row *rows_copy(const look *l, size_t *out_len) {
    const json_t *items = json_object_get(l->actors, "items");
    const size_t  most = json_array_size(items);
    row          *rows = most > 0 ? calloc(most, sizeof *rows) : NULL;
    size_t        len = 0;

    for (size_t i = 0; rows && i < most; i++) {
        const json_t *a = json_array_get(items, i);
        row          *r = row_named(rows, len, text(a, "name"), text(a, "loop"));
        if (!r) {
            r = &rows[len++];
            *r = (row){.name = text(a, "name"), .loop = text(a, "loop")};
        }
        r->len++;
        r->mailbox += real(a, "mailbox");
        r->handled += real(a, "handled");
        r->busy_ms += real(a, "busy_ms");
        r->heap_bytes += real(a, "heap_bytes");
        r->restarts += real(a, "restarts");
        if (real(a, "longest_ms") > r->longest_ms) r->longest_ms = real(a, "longest_ms");
    }
    *out_len = len;
    return rows;
}

/* The busiest first, then by name. */
static int by_work(const void *left, const void *right) {
    const row *a = left, *b = right;

    if (fabs(a->busy - b->busy) > 0.05) return a->busy > b->busy ? -1 : 1;
    return strcmp(a->name, b->name);
}

static void put_row(FILE *out, const row *r, bool is_narrow) {
    char name[32];

    if (r->len > 1) (void)snprintf(name, sizeof name, "%.10s x%d", r->name, r->len);
    else (void)snprintf(name, sizeof name, "%.16s", r->name);
    fprintf(out, "%-16s %-6s %7.0f %9.0f %5.1f%%", name, r->loop, r->mailbox, r->per_second,
            r->busy);
    if (is_narrow) (void)fputc('\n', out);
    else
        fprintf(out, " %6.1f ms %5.0f KiB %8.0f\n", r->longest_ms, r->heap_bytes / 1024,
                r->restarts);
}

static void put_actors(FILE *out, const look *l, const look *last, bool is_narrow) {
    size_t len, before_len;
    row   *rows = rows_copy(l, &len), *before = rows_copy(last, &before_len);

    for (size_t i = 0; i < len; i++) {
        const row *b = row_named(before, before_len, rows[i].name, rows[i].loop);
        if (!b) continue;
        rows[i].per_second = per_second(rows[i].handled, b->handled, l, last);
        rows[i].busy = per_second(rows[i].busy_ms, b->busy_ms, l, last) / 10;
    }
    if (len > 0) qsort(rows, len, sizeof *rows, by_work);
    fprintf(out, "\n%-16s %-6s %7s %9s %6s", "ACTOR", "LOOP", "MAILBOX", "/s", "BUSY");
    fprintf(out, is_narrow ? "\n" : " %9s %9s %8s\n", "LONGEST", "HEAP", "RESTARTS");
    for (size_t i = 0; i < len; i++) put_row(out, &rows[i], is_narrow);
    free(rows);
    free(before);
}

static void put_crashes(FILE *out, const look *l) {
    const json_t *crashes = json_object_get(l->actors, "crashes");

    for (size_t i = 0; i < json_array_size(crashes) && i < CRASHES_SHOWN; i++) {
        const json_t *c = json_array_get(crashes, i);
        fprintf(out, "%s%.19s %s failed: %s\n", i ? "" : "\n", text(c, "at"), text(c, "name"),
                text(c, "why"));
    }
}

/* ---- A page ---- */

/* For free(); NULL: out of memory. */
static char *page_copy(const look *l, const look *last, int rows, int cols) {
    char  *page = NULL;
    size_t len = 0;
    FILE  *out = open_memstream(&page, &len);

    if (!out) return NULL;
    put_daemon(out, l);
    put_tick(out, l);
    put_jobs(out, l, last);
    put_queue_and_store(out, l, last);
    put_slos(out, l, rows < SHORT || cols < NARROW);
    put_crashes(out, l);
    put_actors(out, l, last, cols < NARROW);
    if (fclose(out) == 0) return page;
    free(page);
    return NULL;
}

static int once(const call *c, client *asked) {
    look l = {0};
    int  exit_code = DN_EXIT_DONE;

    if (!look_take(asked, &l, &exit_code)) return exit_code;
    exit_code = DN_EXIT_DONE;
    if (c->json) {
        exit_code = print_json(json_pack("{s:O, s:O}", "status", l.status, "actors", l.actors));
    } else {
        const look none = {0};
        char      *page = page_copy(&l, &none, ROWS_PLAIN, COLS_PLAIN);
        if (page) printf("%s", page);
        free(page);
    }
    look_done(&l);
    return exit_code;
}

static void draw(const look *l, const look *last) {
    int rows, cols;

    screen_size(&rows, &cols);
    char *page = page_copy(l, last, rows, cols);
    if (page) screen_draw(page);
    free(page);
}

/* A key or a new size redraws the last answer; only the time fetches a new one. */
static int live(client *asked, int every_ms) {
    look        now = {0}, last = {0};
    screen_wish wish = SCREEN_ON;
    int         exit_code = DN_EXIT_DONE;

    screen_begin();
    client_waits_until(asked, screen_ends_fd(), /* silently= */ true);
    while (wish != SCREEN_OVER) {
        if (wish == SCREEN_ON || mono_ms() - now.mono_ms >= every_ms) {
            look fresh = {0};
            if (!look_take(asked, &fresh, &exit_code)) break;
            look_done(&last);
            last = now;
            now = fresh;
        }
        draw(&now, &last);
        const int64_t left_ms = every_ms - (mono_ms() - now.mono_ms);
        wish = screen_wait(left_ms > 0 ? (int)left_ms : 0);
    }
    if (wish == SCREEN_OVER) exit_code = DN_EXIT_DONE;
    screen_end();
    look_done(&now);
    look_done(&last);
    return exit_code;
}

static bool every_read(const call *c, int *out_ms) {
    const char *flag = call_flag(c, "every");
    char       *end = NULL;

    *out_ms = EVERY_SECONDS * 1000;
    if (!flag) return true;
    const long seconds = strtol(flag, &end, 10);
    if (*flag < '0' || *flag > '9' || *end || seconds < 1 || seconds > EVERY_MOST) return false;
    *out_ms = (int)seconds * 1000;
    return true;
}

int cmd_top(const call *c) {
    int  every_ms, exit_code = DN_EXIT_DONE;
    char quoted[DN_TEXT_QUOTED];

    if (!every_read(c, &every_ms))
        return complain(
            DN_EXIT_USAGE, "--every: invalid number %s; use 1 to %d seconds",
            dn_text_quoted(call_flag(c, "every"), strlen(call_flag(c, "every")), quoted),
            EVERY_MOST);
    DN_AUTO(client) asked = client_of(c, &exit_code);
    if (!asked) return exit_code;
    return c->json || !screen_is_there(call_variable(c, "TERM")) ? once(c, asked)
                                                                 : live(asked, every_ms);
}
