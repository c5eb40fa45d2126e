/* exec.c - a run is one process, and whatever it starts.
 * It gets the request on its standard input, already written when it begins and ended behind it, so
 * that a process that never reads holds up nobody. It leads a process group of its own, and what
 * counts as "gone" is that group: a run is not over while something of it may still be at work.
 *
 * - It ends by itself: what it has written is read, what is left of its group gets KILL, and its
 *   exit counts. A grandchild that holds standard output open is not waited for.
 * - It is cut: TERM to the group, KILL kill_ms later to what is still there.
 * - Its actor or its runner goes: KILL at once.
 *
 * A process may outlive its run: it is the runner's until it is reaped. */
#include "answer.h"
#include "command.h"
#include "last_line.h"
#include "request.h"
#include "scheme.h"
#include "traceparent.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

enum {
    KILL_MS = 5000,
    GROUP_LOOK_MS = 10, /* nothing tells when a group has become empty */
    /* KILL has been sent; what is a zombie still, because nobody reaps orphans here, or stuck in the
     * kernel, is not waited for longer. */
    GROUP_PATIENCE_MS = 1000,
    STDERR_MAX = 512,
    READ_SIZE = 16 * 1024,
    DRAIN_MAX = 1 << 20, /* what a pipe may hold; a grandchild may go on writing */
};

typedef struct exec_run {
    dn_run          run;
    struct process *process; /* NULL: it never began, or is over */
} exec_run;

typedef struct process process;
struct process {
    uv_process_t
        handle; /* first: it becomes a handle of libuv like the others, and all are closed alike */
    uv_pipe_t  out, err;
    uv_timer_t timer;
    int        open; /* handles; the last one that closes frees the process */
    TAILQ_ENTRY(process) link;
    struct exec *owner;
    exec_run    *run; /* NULL: nobody is told */
    bool         exited, cut, killed;
    int64_t      exit_status;
    int          term_signal;
    uint64_t     kill_at_ms, give_up_at_ms;
    last_line    said, complained;
};

/* A runner's. */
typedef struct exec {
    command   *command;
    uv_loop_t *uv;
    int64_t    kill_ms;
    TAILQ_HEAD(process_list, process) processes;
    char buffer[READ_SIZE]; /* of whoever reads: one at a time */
} exec;

static int  exec_check(const dn_runner_config *config, char *why);
static int  exec_open(dn_runner *runner, const dn_runner_config *config);
static void exec_close(dn_runner *runner);
static void exec_begin(dn_run *run, dn_self *self, const dn_run_request *request);
static void exec_cut(dn_run *run, dn_self *self);
static void exec_drop(dn_run *run);

const scheme exec_scheme = {
    .run_size = sizeof(exec_run),
    .traces = true,
    .check = exec_check,
    .open = exec_open,
    .close = exec_close,
    .begin = exec_begin,
    .cut = exec_cut,
    .drop = exec_drop,
};

/* ---- Letting go ---- */

static void on_closed(uv_handle_t *handle) {
    process *p = handle->data;

    if (--p->open > 0) return;
    last_line_done(&p->said);
    last_line_done(&p->complained);
    free(p);
}

static void close_handle(process *p, void *handle) {
    (void)p;
    if (!uv_is_closing(handle)) uv_close(handle, on_closed);
}

/* All that it holds; the memory goes when libuv is done with it. */
static void process_free(process *p) {
    TAILQ_REMOVE(&p->owner->processes, p, link);
    close_handle(p, &p->handle);
    close_handle(p, &p->out);
    close_handle(p, &p->err);
    close_handle(p, &p->timer);
}

/* ---- Its end ---- */

/* The group has the number of the process, and keeps it from being given again as long as anybody is
 * in it. */
static void process_signal(const process *p, int signal) { (void)kill(-p->handle.pid, signal); }

static bool process_is_gone(const process *p) {
    return p->exited && kill(-p->handle.pid, 0) != 0 && errno == ESRCH;
}

static void process_kill(process *p) {
    if (p->killed) return;
    p->killed = true;
    p->give_up_at_ms = uv_now(p->owner->uv) + GROUP_PATIENCE_MS;
    process_signal(p, SIGKILL);
}

static void process_finish(process *p) {
    exec_run           *r = p->run;
    const dn_run_result result =
        answer_of_exit(p->exit_status, p->term_signal, p->said.text ? p->said.text : "",
                       p->said.len, p->said.cut_short);

    if (r) {
        const int len = (int)p->complained.len;
        r->process = NULL;
        if (p->cut) run_say(&r->run, "cut off");
        else if (p->term_signal)
            run_say(&r->run, "%s%s%.*s", strsignal(p->term_signal), len ? ": " : "", len,
                    len ? p->complained.text : "");
        else if (p->exit_status)
            run_say(&r->run, "exit %d%s%.*s", (int)p->exit_status, len ? ": " : "", len,
                    len ? p->complained.text : "");
        run_end(&r->run, result);
    }
    process_free(p);
}

/* The process has exited; is anything left of its group, and how long may that stay? */
static void process_look(process *p);

static void on_look(uv_timer_t *timer) { process_look(timer->data); }

static void process_look(process *p) {
    const uint64_t now_ms = uv_now(p->owner->uv);

    if (p->exited && (process_is_gone(p) || (p->killed && now_ms >= p->give_up_at_ms))) {
        process_finish(p);
        return;
    }
    if (!p->killed && now_ms >= p->kill_at_ms) process_kill(p);
    if (p->exited) uv_timer_start(&p->timer, on_look, GROUP_LOOK_MS, 0);
    else if (!p->killed) uv_timer_start(&p->timer, on_look, p->kill_at_ms - now_ms, 0);
}

/* What was written before the end is in the pipe now, and nothing that matters comes later. */
static void drain(process *p, uv_pipe_t *pipe, last_line *line) {
    uv_os_fd_t fd;
    size_t     all = 0;

    if (uv_is_closing((uv_handle_t *)pipe) || uv_fileno((uv_handle_t *)pipe, &fd) != 0) return;
    while (all < DRAIN_MAX) {
        const ssize_t n = read(fd, p->owner->buffer, READ_SIZE);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        last_line_add(line, p->owner->buffer, (size_t)n);
        all += (size_t)n;
    }
}

static void on_exit_of(uv_process_t *handle, int64_t exit_status, int term_signal) {
    process *p = handle->data;

    p->exited = true;
    p->exit_status = exit_status;
    p->term_signal = term_signal;
    drain(p, &p->out, &p->said);
    drain(p, &p->err, &p->complained);
    close_handle(p, &p->out);
    close_handle(p, &p->err);
    /* Of one that is cut the others may use what time is left for their own clean-up. */
    if (!p->cut && !process_is_gone(p)) process_kill(p);
    process_look(p);
}

/* ---- What it says ---- */

static void on_room(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer) {
    const process *p = handle->data;

    (void)suggested;
    *buffer = uv_buf_init(p->owner->buffer, READ_SIZE);
}

static void on_said(uv_stream_t *stream, ssize_t n, const uv_buf_t *buffer) {
    process *p = stream->data;

    if (n > 0)
        last_line_add((uv_pipe_t *)stream == &p->out ? &p->said : &p->complained, buffer->base,
                      (size_t)n);
    if (n < 0) close_handle(p, stream); /* its end of the pipe is closed */
}

/* ---- Its beginning ---- */

typedef struct pipes {
    int in[2], out[2], err[2]; /* read, write */
} pipes;

static void close_fd(int *fd) {
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

static void pipes_close(pipes *p) {
    for (int i = 0; i < 2; i++) {
        close_fd(&p->in[i]);
        close_fd(&p->out[i]);
        close_fd(&p->err[i]);
    }
}

/* Pipes and not libuv's socket pairs: /dev/stdin can be opened, and a program that looks finds what
 * it expects. */
static int pipes_open(pipes *p) {
    int rc;

    *p = (pipes){{-1, -1}, {-1, -1}, {-1, -1}};
    rc = uv_pipe(p->in, 0, UV_NONBLOCK_PIPE);
    if (rc == 0) rc = uv_pipe(p->out, UV_NONBLOCK_PIPE, 0);
    if (rc == 0) rc = uv_pipe(p->err, UV_NONBLOCK_PIPE, 0);
    if (rc != 0) pipes_close(p);
    return rc;
}

/* A pipe holds 4 KiB at least. */
static int write_request(pipes *p, const dn_run_request *request) {
    char    body[REQUEST_BODY_MAX + 1];
    size_t  len = request_body(request, body);
    ssize_t written;

    _Static_assert((int)REQUEST_BODY_MAX < 4096, "a request fits every pipe");
    body[len++] = '\n';
    do written = write(p->in[1], body, len);
    while (written < 0 && errno == EINTR);
    close_fd(&p->in[1]);
    return written == (ssize_t)len ? 0 : UV_EIO;
}

static int listen_to(process *p, uv_pipe_t *pipe, int *fd) {
    int rc = uv_pipe_open(pipe, *fd);

    if (rc != 0) return rc;
    *fd = -1; /* the handle's now */
    pipe->data = p;
    return uv_read_start((uv_stream_t *)pipe, on_room, on_said);
}

static int spawn(process *p, pipes *ends, const dn_run_request *request) {
    const command *c = p->owner->command;
    char           key[32 + REQUEST_KEY_MAX] = "DIURNAL_IDEMPOTENCY_KEY=";
    char           trace[16 + TRACEPARENT_TEXT] = "TRACEPARENT=";
    int            rc;

    request_key(request, key + strlen(key));
    traceparent_write(request->entropy, trace + strlen(trace));
    c->env[c->env_len] = key; /* for the length of this call */
    c->env[c->env_len + 1] = trace;
    uv_stdio_container_t stdio[3] = {
        {.flags = UV_INHERIT_FD, .data.fd = ends->in[0]},
        {.flags = UV_INHERIT_FD, .data.fd = ends->out[1]},
        {.flags = UV_INHERIT_FD, .data.fd = ends->err[1]},
    };
    const uv_process_options_t options = {
        .exit_cb = on_exit_of,
        .file = c->argv[0],
        .args = c->argv,
        .env = c->env,
        .flags = UV_PROCESS_DETACHED, /* a session, and so a group, of its own */
        .stdio_count = 3,
        .stdio = stdio,
    };
    rc = uv_spawn(p->owner->uv, &p->handle, &options);
    c->env[c->env_len] = c->env[c->env_len + 1] = NULL;
    return rc;
}

static process *process_new(exec *e, exec_run *r) {
    process *p = calloc(1, sizeof *p);

    if (!p) return NULL;
    p->owner = e;
    p->run = r;
    p->kill_at_ms = UINT64_MAX;
    p->said.max = ANSWER_MAX;
    p->complained.max = STDERR_MAX;
    uv_pipe_init(e->uv, &p->out, /* ipc= */ 0);
    uv_pipe_init(e->uv, &p->err, /* ipc= */ 0);
    uv_timer_init(e->uv, &p->timer);
    p->handle.data = p->out.data = p->err.data = p->timer.data = p;
    p->open = 4;
    TAILQ_INSERT_TAIL(&e->processes, p, link);
    return p;
}

/* It has come to nothing: there is no process. */
static void begin_failed(exec_run *r, process *p, const char *path, int rc) {
    run_say(&r->run, "%s cannot be started: %s", path, uv_strerror(rc));
    if (p) process_free(p);
    run_end(&r->run, dn_run_result_of(DN_OUTCOME_ERROR, DN_CLASS_REQ, 0));
}

static void exec_begin(dn_run *run, dn_self *self, const dn_run_request *request) {
    exec_run   *r = (exec_run *)run;
    exec       *e = run->runner->own;
    const char *path = e->command->argv[0];
    pipes       ends;
    int         rc = pipes_open(&ends);

    (void)self;
    if (rc == 0) rc = write_request(&ends, request);
    if (rc != 0) {
        pipes_close(&ends);
        begin_failed(r, NULL, path, rc);
        return;
    }
    process *p = process_new(e, r);
    if (!p) {
        pipes_close(&ends);
        begin_failed(r, NULL, path, UV_ENOMEM);
        return;
    }
    rc = spawn(p, &ends, request);
    const bool runs = rc == 0;
    if (rc == 0) rc = listen_to(p, &p->out, &ends.out[0]);
    if (rc == 0) rc = listen_to(p, &p->err, &ends.err[0]);
    pipes_close(&ends);
    if (!runs) {
        begin_failed(r, p, path, rc);
        return;
    }
    r->process = p;
    if (rc != 0) process_kill(p); /* nobody could hear it; its end is told like any other */
}

/* ---- Cutting it off ---- */

static void exec_cut(dn_run *run, dn_self *self) {
    process *p = ((exec_run *)run)->process;

    (void)self;
    uv_update_time(p->owner->uv);
    p->cut = true;
    if (!p->killed) p->kill_at_ms = uv_now(p->owner->uv) + (uint64_t)p->owner->kill_ms;
    process_signal(p, SIGTERM);
    process_look(p);
}

static void exec_drop(dn_run *run) {
    process *p = DN_TAKE(((exec_run *)run)->process);

    if (!p) return;
    p->run = NULL;
    process_kill(p);
}

/* ---- The runner ---- */

static const char *behind_scheme(const dn_runner_config *config) {
    return config->url + strlen("exec:");
}

static int exec_check(const dn_runner_config *config, char *why) {
    const char *fault = NULL;
    command    *c = NULL;
    int         rc = command_new(behind_scheme(config), &c, &fault);

    if (rc == DN_EINVAL) return runner_refuse(why, "runner \"%.100s\" %s", config->url, fault);
    if (rc < 0) return rc;
    fault = command_fault(c);
    if (fault) rc = runner_refuse(why, "the runner's program %.120s %s", c->argv[0], fault);
    else if (config->kill_ms < 0)
        rc = runner_refuse(why, "kill_ms is milliseconds from 1; 0 means %d", KILL_MS);
    command_free(c);
    return rc;
}

static int exec_open(dn_runner *runner, const dn_runner_config *config) {
    const char *fault;
    exec       *e = calloc(1, sizeof *e);
    int         rc = e ? command_new(behind_scheme(config), &e->command, &fault) : DN_ENOMEM;

    if (rc < 0) {
        free(e);
        return rc;
    }
    e->uv = runner->uv;
    e->kill_ms = config->kill_ms > 0 ? config->kill_ms : KILL_MS;
    TAILQ_INIT(&e->processes);
    runner->own = e;
    return DN_OK;
}

/* Killed processes end within microseconds; one that is stuck in the kernel is left to whoever
 * adopts it. */
static void reap(const exec *e) {
    const struct timespec a_little = {.tv_nsec = 1000000};
    int                   patience = GROUP_PATIENCE_MS;
    process              *p;

    for (p = TAILQ_FIRST(&e->processes); p; p = TAILQ_NEXT(p, link)) {
        while (!p->exited && waitpid(p->handle.pid, NULL, WNOHANG) == 0 && patience-- > 0)
            (void)nanosleep(&a_little, NULL);
    }
}

static void exec_close(dn_runner *runner) {
    exec    *e = runner->own;
    process *p;

    for (p = TAILQ_FIRST(&e->processes); p; p = TAILQ_NEXT(p, link)) process_signal(p, SIGKILL);
    reap(e);
    while ((p = TAILQ_FIRST(&e->processes))) process_free(p);
    command_free(e->command);
    free(e);
}
