/* place.h - a data directory of a test's own, the real daemon in it, and commands run against it.
 * Nothing sleeps for a fixed time: what is waited for is looked at until it is so, or a deadline has passed. Children die
 * with the test. Due times lie around now, and days are those of the cutoffs: a test that runs over midnight meets
 * the rule for windows that cross it, and nothing else. */
#ifndef DIURNAL_TESTS_E2E_PLACE_H
#define DIURNAL_TESTS_E2E_PLACE_H

#include "test.h"

#include <sys/types.h>

enum { PLACE_PATH = 512, PLACE_SAID = 1 << 20 };

typedef struct place {
    char  dir[PLACE_PATH];     /* of the test; gone at its end */
    char  data[PLACE_PATH];    /* in it */
    char  log[PLACE_PATH];     /* all that the daemons said */
    char  errors[PLACE_PATH];  /* their standard error, if it is to be apart from the rest */
    char  program[PLACE_PATH]; /* that place_start starts, if it is not the one that was built */
    pid_t daemon;
    off_t log_at; /* where the present daemon's words begin */
} place;

/* A new directory below `base`, or below /tmp for NULL. Of the environment no DIURNAL_ variable is left but what is of the
 * tests themselves. */
place *place_new(const char *base);

/* Starts `diurnal serve --data … args`; args end with NULL. Does not wait. */
void place_start(place *p, const char *const *args);
/* And waits until it says it is ready. */
void place_serve(place *p, const char *const *args);
/* Likewise `diurnal serve args` with no flag of this place's: where the data are, args say. */
void place_serve_bare(place *p, const char *const *args);
bool place_is_ready(const place *p);
bool place_has_said(const place *p, const char *text); /* the present daemon */

/* Connects to the HTTP door of the present daemon, which is ready. -1: it is refused. */
int place_connect(const place *p);
/* Sends that, reads until the other side ends it, and gives what came; valid until the next one. It is as openapi.json
 * describes it. */
const char *place_asks(const place *p, const char *bytes, size_t len);
/* GET path on a connection of its own. */
const char *place_gets(const place *p, const char *path);
/* Likewise of another server of this machine, by HTTP/1.0: its answer is in one piece. */
const char *place_gets_at(uint16_t port, const char *path);
uint16_t    place_port(const place *p); /* of the present daemon, which is ready */

/* From here on what daemons say on standard error goes to a file of its own, p->errors. */
void place_keep_errors_apart(place *p);

/* In this place, so that it can be exchanged; daemons started from here on are of it. */
void place_copy_program(place *p);

/* From here on place_is_ready and place_has_said know what is said from here on. */
void place_forget_said(place *p);

void place_signal(const place *p, int signal);
/* Waits for its end; the exit code, or 128 + the signal. */
int place_wait(place *p);

/* Runs `diurnal args --data …`; args end with NULL. The exit code. What it printed (both streams) is in place_said,
 * until the next run. */
int         place_run(const place *p, const char *const *args);
const char *place_said(void);

/* Starts it and does not wait; what it prints goes to the log. Its number, for waitpid. */
pid_t place_begin(const place *p, const char *const *args);

/* Likewise at a terminal of its own, of that size: *out_terminal is the side where a person would sit. */
pid_t place_begin_at_terminal(const place *p, const char *const *args, int rows, int cols,
                              int *out_terminal);

/* Likewise another program, found on PATH; what it prints goes to the file `log` of the place. */
pid_t place_begin_other(const place *p, const char *program, const char *const *args,
                        const char *log);

/* Likewise a line of a shell, in which $0 is the program and $1 the data directory. */
pid_t place_begin_in_shell(const place *p, const char *line, const char *log);

/* As place_run without --data, in the directory of the test if it has one; `input` on standard input (NULL: nothing). */
int place_run_bare(const char *const *args, const char *input);

#define ARGS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define CHECK_RUN(p, code, ...)                                                                    \
    do {                                                                                           \
        const int run_code_ = place_run((p), ARGS(__VA_ARGS__));                                   \
        CHECK_MSG(run_code_ == (code), "exit %d: %s", run_code_, place_said());                    \
    } while (0)
#define CHECK_SAID(text) CHECK_MSG(strstr(place_said(), (text)), "it said: %s", place_said())

/* The whole of a text file, valid until the next one and to be changed at will; "" if there is none. */
char *place_read(const char *path);

/* A file in the place; its path, valid until the next one. */
const char *place_write(const place *p, const char *name, const void *bytes, size_t len);

/* HH:MM so many minutes from now. */
const char *due_in(int minutes, char out[8]);
int64_t     mono_ms(void);
void        pause_ms(int ms); /* between two looks */

/* Looks until cond holds; what is said if it does not for so long. */
#define WAIT_FOR(cond, ms)                                                                         \
    do {                                                                                           \
        const int64_t until_ = mono_ms() + (ms)*TEST_SLOW_FACTOR;                                  \
        while (!(cond)) {                                                                          \
            CHECK_MSG(mono_ms() < until_, "not within %d ms: " #cond, (int)(ms)*TEST_SLOW_FACTOR); \
            pause_ms(5);                                                                           \
        }                                                                                          \
    } while (0)

#endif
