/* log_out.c - see log_out.h.
 * Lines wait in a ring that any thread adds to. One thread at a time writes them: whoever finds nobody at it. The
 * others leave theirs to him, and he looks once more after he has stopped.
 *
 * A write must not wait, and O_NONBLOCK belongs to the open file that we share with whoever started us: a shell would
 * find its terminal changed. So a pipe or a terminal is opened again, by its name in /proc, for an open file of our own;
 * a socket, which the journal gives us, is asked call by call (MSG_DONTWAIT). Where opening again is not allowed (the
 * file is another user's) poll is asked before each line: then a pipe takes a line without waiting, unless
 * somebody else fills it in that very moment. A file is written to as files are: at the disk's pace. */
#include "log_out.h"

#include "log_line.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- The output ---- */

typedef enum way { WAY_UNKNOWN, WAY_SOCKET, WAY_OWN, WAY_POLLED, WAY_FILE } way;

typedef struct out {
    int    fd;     /* borrowed */
    int    own_fd; /* the same pipe or terminal, opened again */
    way    way;
    size_t taken;   /* what it has of the oldest line */
    bool   is_torn; /* it has a part of a line whose rest it failed at */
} out;

/* Only by who writes, but for log_out_open. */
static out output = {.fd = STDERR_FILENO, .own_fd = -1};

enum { IS_KNOWN = 1, IS_TERMINAL = 2, IS_JOURNAL = 4 };
static _Atomic(int) output_is; /* relaxed: whoever looks finds the same */

void log_out_open(int fd) {
    if (output.own_fd >= 0) close(output.own_fd);
    output = (out){.fd = fd, .own_fd = -1};
    atomic_store_explicit(&output_is, 0, memory_order_relaxed);
}

/* "dev:inode" of what systemd connected to the journal: still that, or has somebody led it elsewhere since? */
static bool is_journal(int fd) {
    const char *stream = getenv("JOURNAL_STREAM");
    char       *end;
    struct stat s;

    if (!stream || fstat(fd, &s) != 0) return false;
    if (strtoull(stream, &end, 10) != s.st_dev || *end != ':') return false;
    return strtoull(end + 1, &end, 10) == s.st_ino && *end == '\0';
}

static int look_at_output(void) {
    int is = atomic_load_explicit(&output_is, memory_order_relaxed);

    if (is & IS_KNOWN) return is;
    is =
        IS_KNOWN | (isatty(output.fd) ? IS_TERMINAL : 0) | (is_journal(output.fd) ? IS_JOURNAL : 0);
    atomic_store_explicit(&output_is, is, memory_order_relaxed);
    return is;
}

bool log_out_is_terminal(void) { return look_at_output() & IS_TERMINAL; }
bool log_out_is_journal(void) { return look_at_output() & IS_JOURNAL; }

static void find_way(void) {
    char        path[40];
    struct stat s;

    output.way = WAY_FILE;
    if (fstat(output.fd, &s) != 0) return;
    if (S_ISSOCK(s.st_mode)) output.way = WAY_SOCKET;
    if (!S_ISFIFO(s.st_mode) && !isatty(output.fd)) return;
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", output.fd);
    output.own_fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    output.way = output.own_fd >= 0 ? WAY_OWN : WAY_POLLED;
}

/* The bytes it took; 0: none for now; negative: it failed. */
static ssize_t output_take(const char *bytes, size_t len) {
    struct pollfd room = {.fd = output.fd, .events = POLLOUT};
    ssize_t       took = -1;

    if (output.way == WAY_UNKNOWN) find_way();
    do {
        switch (output.way) {
        case WAY_SOCKET: took = send(output.fd, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL); break;
        case WAY_OWN: took = write(output.own_fd, bytes, len); break;
        case WAY_POLLED:
            if (poll(&room, 1, 0) == 0) return 0;
            took = write(output.fd, bytes, len);
            break;
        case WAY_FILE:
        case WAY_UNKNOWN: took = write(output.fd, bytes, len); break;
        }
    } while (took < 0 && errno == EINTR);
    return took < 0 && errno == EAGAIN ? 0 : took;
}

/* ---- The ring ---- */

/* A line's sequence number gives its cell and the round through the ring. The cell's turn is twice the round while the
 * cell is free for that line, and one more once the line is in it. */
typedef struct cell {
    _Atomic(uint64_t) turn;
    uint64_t          lines; /* those it stands for */
    size_t            len;
    char              bytes[LOG_LINE_MAX];
} cell;

static cell              cells[LOG_OUT_LINES];
static _Atomic(uint64_t) pushed; /* places given away */
static _Atomic(uint64_t) gone;   /* places written or given up; set by who writes */
static _Atomic(uint64_t) dropped;

static _Atomic(bool) writing; /* somebody is at it */

static uint64_t turn_free(uint64_t place) { return place / LOG_OUT_LINES * 2; }

bool log_out_is_full(void) {
    const uint64_t place = atomic_load_explicit(&pushed, memory_order_relaxed);
    const cell    *c = &cells[place % LOG_OUT_LINES];

    return atomic_load_explicit(&c->turn, memory_order_relaxed) < turn_free(place);
}

bool log_out_push(const char *line, size_t len, uint64_t lines) {
    uint64_t place = atomic_load_explicit(&pushed, memory_order_relaxed);
    cell    *c;

    for (;;) {
        c = &cells[place % LOG_OUT_LINES];
        /* acquire: pairs with pop; the bytes have been read. */
        const uint64_t turn = atomic_load_explicit(&c->turn, memory_order_acquire);
        if (turn < turn_free(place)) {
            log_out_give_dropped(lines);
            return false;
        }
        if (turn > turn_free(place)) place = atomic_load_explicit(&pushed, memory_order_relaxed);
        else if (atomic_compare_exchange_weak_explicit(&pushed, &place, place + 1,
                                                       memory_order_relaxed, memory_order_relaxed))
            break;
    }
    memcpy(c->bytes, line, len);
    c->len = len;
    c->lines = lines;
    /* seq_cst, as `writing`: either we find nobody writing, or who writes finds this. */
    atomic_store_explicit(&c->turn, turn_free(place) + 1, memory_order_seq_cst);
    return true;
}

/* The oldest line, or NULL. */
static cell *front(void) {
    const uint64_t place = atomic_load_explicit(&gone, memory_order_relaxed);
    cell          *c = &cells[place % LOG_OUT_LINES];

    return atomic_load_explicit(&c->turn, memory_order_seq_cst) == turn_free(place) + 1 ? c : NULL;
}

static void pop(cell *c) {
    const uint64_t place = atomic_load_explicit(&gone, memory_order_relaxed);

    output.taken = 0;
    atomic_store_explicit(&gone, place + 1, memory_order_relaxed);
    atomic_store_explicit(&c->turn, turn_free(place) + 2, memory_order_release);
}

uint64_t log_out_take_dropped(void) {
    return atomic_exchange_explicit(&dropped, 0, memory_order_relaxed);
}

void log_out_give_dropped(uint64_t lines) {
    atomic_fetch_add_explicit(&dropped, lines, memory_order_relaxed);
}

/* ---- Writing ---- */

/* The output has failed at it, and will again. If all but its end has gone, nothing of it is lost. */
static void give_up(cell *c) {
    if (output.taken + 1 < c->len) log_out_give_dropped(c->lines);
    if (output.taken > 0) output.is_torn = true;
    pop(c);
}

/* False: the output takes no more for now. A line that was torn is ended first: it spoils none but itself. */
static bool write_front(cell *c) {
    const bool    ends = output.is_torn;
    const char   *from = ends ? "\n" : c->bytes + output.taken;
    const ssize_t took = output_take(from, ends ? 1 : c->len - output.taken);

    if (took == 0) return false;
    if (took < 0) {
        give_up(c);
        return true;
    }
    output.is_torn = false;
    if (!ends) output.taken += (size_t)took;
    if (output.taken == c->len) pop(c);
    return true;
}

void log_out_write(void) {
    /* Others may add as fast as we write: this thread has something else to do, too. */
    int  left = 2 * LOG_OUT_LINES;
    bool takes = true;

    while (takes && left > 0 && front()) {
        if (atomic_exchange_explicit(&writing, true, memory_order_seq_cst)) return;
        for (cell *c; takes && left > 0 && (c = front()); left--) takes = write_front(c);
        atomic_store_explicit(&writing, false, memory_order_seq_cst);
    }
}

static int64_t now_ms(void) {
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void log_out_write_all(int wait_ms) {
    const int64_t until_ms = now_ms() + wait_ms;
    struct pollfd room = {.fd = output.fd, .events = POLLOUT};

    for (log_out_write(); front(); log_out_write()) {
        const int64_t left_ms = until_ms - now_ms();
        if (left_ms <= 0) return;
        (void)poll(&room, 1, (int)left_ms);
    }
}
