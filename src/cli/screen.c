/* screen.c - see screen.h. Signals are read from a descriptor, so none interrupts a step. After SIGKILL the user needs
 * `reset`. */
#include "screen.h"

#include "command.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

enum { ROWS = 24, COLS = 80, KEYS = 64 };

static struct {
    bool taken, is_typed; /* is_typed: standard input is that terminal, and `before` how it was */
    int  ends, winks;     /* descriptors: what ends it, and what is to be drawn again after */
    sigset_t       mask_before;
    struct termios before;
} the = {.ends = -1, .winks = -1};

bool screen_is_there(const char *term) {
    return isatty(STDOUT_FILENO) == 1 && term && *term && strcmp(term, "dumb") != 0;
}

static void say(const char *text) {
    size_t len = strlen(text);

    while (len > 0) {
        const ssize_t put = write(STDOUT_FILENO, text, len);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return;
        text += put;
        len -= (size_t)put;
    }
}

static void take(void) {
    if (the.is_typed) {
        struct termios quiet = the.before;
        quiet.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &quiet);
    }
    say("\033[?1049h\033[?25l\033[2J");
}

static void give_back(void) {
    say("\033[?25h\033[?1049l");
    if (the.is_typed) (void)tcsetattr(STDIN_FILENO, TCSANOW, &the.before);
}

static int watch(const int *signals, size_t len) {
    sigset_t set;

    (void)sigemptyset(&set);
    for (size_t i = 0; i < len; i++) (void)sigaddset(&set, signals[i]);
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

void screen_begin(void) {
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP}, winks[] = {SIGWINCH, SIGTSTP};

    (void)sigprocmask(SIG_BLOCK, NULL, &the.mask_before);
    the.ends = watch(ends, sizeof ends / sizeof *ends);
    the.winks = watch(winks, sizeof winks / sizeof *winks);
    the.is_typed = tcgetattr(STDIN_FILENO, &the.before) == 0;
    the.taken = true;
    complain_behind(screen_end);
    take();
}

/* Consumes the signals, so that none kills the process when the block ends. */
static void take_ends(void) {
    struct signalfd_siginfo one;

    while (read(the.ends, &one, sizeof one) == (ssize_t)sizeof one) continue;
}

void screen_end(void) {
    if (!the.taken) return;
    the.taken = false;
    complain_behind(NULL);
    give_back();
    take_ends();
    (void)close(the.ends);
    (void)close(the.winks);
    the.ends = the.winks = -1;
    (void)sigprocmask(SIG_SETMASK, &the.mask_before, NULL);
}

int screen_ends_fd(void) { return the.ends; }

void screen_size(int *out_rows, int *out_cols) {
    struct winsize size;
    const bool     known =
        ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0;

    *out_rows = known ? size.ws_row : ROWS;
    *out_cols = known ? size.ws_col : COLS;
}

/* ---- Waiting ---- */

/* Ctrl-Z: the shell gets its terminal back while the process is stopped. */
static void go_away(void) {
    give_back();
    (void)kill(getpid(), SIGSTOP);
    take();
}

static void see_winks(void) {
    struct signalfd_siginfo one;

    while (read(the.winks, &one, sizeof one) == (ssize_t)sizeof one)
        if (one.ssi_signo == SIGTSTP) go_away();
}

static bool wants_out(void) {
    char          keys[KEYS];
    const ssize_t got = read(STDIN_FILENO, keys, sizeof keys);

    return got > 0 && (memchr(keys, 'q', (size_t)got) || memchr(keys, 'Q', (size_t)got));
}

screen_wish screen_wait(int ms) {
    struct pollfd all[] = {{.fd = the.ends, .events = POLLIN},
                           {.fd = the.winks, .events = POLLIN},
                           {.fd = the.is_typed ? STDIN_FILENO : -1, .events = POLLIN}};

    if (poll(all, sizeof all / sizeof *all, ms) <= 0) return SCREEN_ON;
    if (all[0].revents) return SCREEN_OVER;
    if (all[2].revents & POLLIN && wants_out()) return SCREEN_OVER;
    if (all[2].revents & (POLLHUP | POLLERR)) return SCREEN_OVER;
    if (all[1].revents) see_winks();
    return SCREEN_AGAIN;
}

/* ---- Drawing ---- */

void screen_draw(const char *text) {
    int    rows, cols;
    char  *whole = NULL;
    size_t len = 0;

    screen_size(&rows, &cols);
    FILE *out = open_memstream(&whole, &len);
    if (!out) return;
    (void)fputs("\033[H", out);
    for (int row = 0; row < rows && *text; row++) {
        const int line = (int)strcspn(text, "\n");
        /* No line feed after the last row, because the page would scroll. */
        (void)fprintf(out, "%s%.*s\033[K", row ? "\r\n" : "", line < cols ? line : cols, text);
        text += line + (text[line] == '\n');
    }
    (void)fputs("\033[J", out);
    if (fclose(out) == 0) say(whole);
    free(whole);
}
