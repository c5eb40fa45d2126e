/* exec.c - a run is one process, and whatever that starts.
 * Standard input is a file in memory that holds the whole request before the process begins, so a process that never reads
 * blocks nothing. The process leads a process group of its own, and a run is not over before that group is gone.
 *
 * - The process exits: what it has written is read, what is left of its group gets KILL, and its exit status counts.
 *   A grandchild that holds standard output open is not waited for.
 * - The run is cut: TERM to the group, KILL kill_ms later to what is still there.
 * - Its actor or its runner goes: KILL at once.
 *
 * A process may outlive its run: it is the runner's until it is reaped. */
#define _GNU_SOURCE /* memfd_create */
#include "base/text.h"
#include "exec_command.h"
#include "exec_output.h"
#include "last_line.h"
#include "scheme.h"
#include "traceparent.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

enum {
    KILL_MS = 5000,
    GROUP_LOOK_MS = 10, /* between looks: the system does not tell when a group becomes empty */
    /* After KILL. A process that is still there then is stuck in the kernel, or a zombie that no init reaps. */
    GROUP_PATIENCE_MS = 1000,
    STDERR_MAX = 4096, /* its last line is told */
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
    exec_run    *run; /* NULL: it was dropped, and no message is sent */
    bool         exited, cut, killed;
    int64_t      exit_status;
    int          term_signal;
    uint64_t     kill_at_ms, give_up_at_ms;
    exec_output  out_text, err_text;
};

/* A runner's. */
typedef struct exec {
    command   *command;
    uv_loop_t *uv;
    int64_t    kill_ms;
    TAILQ_HEAD(process_list, process) processes;
    char buffer[READ_SIZE]; /* for one read at a time */
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
    exec_output_done(&p->out_text);
    exec_output_done(&p->err_text);
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

/* As a shell has it. */
static uint32_t exit_code(const process *p) {
    return p->term_signal != 0 ? 128 + (uint32_t)p->term_signal : (uint32_t)p->exit_status & 0xffff;
}

static void explain(process *p, exec_run *r) {
    size_t      len;
    const char *line = dn_last_line(p->err_text.bytes, p->err_text.len, &len);
    char        status[32];

    (void)snprintf(status, sizeof status, "exit %d", (int)p->exit_status);
    run_error(&r->run, "%s%s%.*s", p->term_signal ? strsignal(p->term_signal) : status,
              len > 0 ? ": " : "", (int)len, line);
}

/* Without memory for it the run has failed all the same by what its process answered, but nobody can read the answer. */
static void answer_from(process *p, exec_run *r) {
    dn_run_answer *a = &r->run.answer;

    exec_output_trim(&p->out_text);
    a->truncated = p->out_text.truncated;
    if (p->out_text.len == 0) return;
    a->body = dn_blob_of(p->out_text.bytes, p->out_text.len);
    if (!a->body) a->truncated = true;
}

static void process_finish(process *p) {
    exec_run      *r = p->run;
    const uint32_t code = exit_code(p);

    if (r) {
        r->process = NULL;
        if (p->cut) run_error(&r->run, "cut off");
        else if (code != 0) explain(p, r);
        answer_from(p, r);
        run_end(&r->run,
                dn_run_result_of(code == 0 ? DN_OUTCOME_OK : DN_OUTCOME_ERROR,
                                 p->term_signal != 0 ? DN_CODE_SIGNAL : DN_CODE_EXIT, code));
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
static void drain(process *p, uv_pipe_t *pipe, exec_output *output) {
    uv_os_fd_t fd;
    size_t     all = 0;

    if (uv_is_closing((uv_handle_t *)pipe) || uv_fileno((uv_handle_t *)pipe, &fd) != 0) return;
    while (all < DRAIN_MAX) {
        const ssize_t n = read(fd, p->owner->buffer, READ_SIZE);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        exec_output_add(output, p->owner->buffer, (size_t)n);
        all += (size_t)n;
    }
}

static void on_exit_of(uv_process_t *handle, int64_t exit_status, int term_signal) {
    process *p = handle->data;

    p->exited = true;
    p->exit_status = exit_status;
    p->term_signal = term_signal;
    drain(p, &p->out, &p->out_text);
    drain(p, &p->err, &p->err_text);
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
        exec_output_add((uv_pipe_t *)stream == &p->out ? &p->out_text : &p->err_text, buffer->base,
                        (size_t)n);
    if (n < 0) close_handle(p, stream); /* its end of the pipe is closed */
}

/* ---- Its beginning ---- */

typedef struct ends {
    int in;             /* what the process reads */
    int out[2], err[2]; /* read, write */
} ends;

static void close_fd(int *fd) {
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

static void ends_close(ends *e) {
    close_fd(&e->in);
    for (int i = 0; i < 2; i++) {
        close_fd(&e->out[i]);
        close_fd(&e->err[i]);
    }
}

static int write_all(int fd, const char *bytes, size_t len) {
    while (len > 0) {
        const ssize_t written = write(fd, bytes, len);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return -errno;
        bytes += written;
        len -= (size_t)written;
    }
    return 0;
}

/* The request and a newline. A file and not a pipe: it holds a request of any size before anything reads it. */
static int request_open(const dn_blob *body, int *out_fd) {
    const int fd = memfd_create("request", MFD_CLOEXEC);
    int       rc;

    if (fd < 0) return -errno;
    rc = write_all(fd, dn_blob_bytes_borrow(body), dn_blob_len(body));
    if (rc == 0) rc = write_all(fd, "\n", 1);
    if (rc == 0 && lseek(fd, 0, SEEK_SET) != 0) rc = -errno;
    if (rc == 0) *out_fd = fd;
    else close(fd);
    return rc;
}

/* Pipes and not libuv's socket pairs: a program that looks finds what it expects. Error codes of libuv are those of the
 * system, negative. */
static int ends_open(const dn_blob *body, ends *e) {
    int rc;

    *e = (ends){-1, {-1, -1}, {-1, -1}};
    rc = request_open(body, &e->in);
    if (rc == 0) rc = uv_pipe(e->out, UV_NONBLOCK_PIPE, 0);
    if (rc == 0) rc = uv_pipe(e->err, UV_NONBLOCK_PIPE, 0);
    if (rc != 0) ends_close(e);
    return rc;
}

static int listen_to(process *p, uv_pipe_t *pipe, int *fd) {
    int rc = uv_pipe_open(pipe, *fd);

    if (rc != 0) return rc;
    *fd = -1; /* the handle's now */
    pipe->data = p;
    return uv_read_start((uv_stream_t *)pipe, on_room, on_said);
}

static int spawn(process *p, ends *e, const dn_run_request *request) {
    const command *c = p->owner->command;
    char           key[32 + DN_RUN_KEY_MAX];
    char           trace[16 + TRACEPARENT_TEXT] = "TRACEPARENT=";
    int            rc;

    assert(key_is_sound(request));
    (void)snprintf(key, sizeof key, "DIURNAL_IDEMPOTENCY_KEY=%.*s", (int)request->key_len,
                   request->key);
    traceparent_write(request->entropy, trace + strlen(trace));
    c->env[c->env_len] = key; /* for the length of this call */
    c->env[c->env_len + 1] = trace;
    uv_stdio_container_t stdio[3] = {
        {.flags = UV_INHERIT_FD, .data.fd = e->in},
        {.flags = UV_INHERIT_FD, .data.fd = e->out[1]},
        {.flags = UV_INHERIT_FD, .data.fd = e->err[1]},
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
    p->out_text.max = DN_RUN_ANSWER_MAX;
    p->err_text.max = STDERR_MAX;
    uv_pipe_init(e->uv, &p->out, /* ipc= */ 0);
    uv_pipe_init(e->uv, &p->err, /* ipc= */ 0);
    uv_timer_init(e->uv, &p->timer);
    p->handle.data = p->out.data = p->err.data = p->timer.data = p;
    p->open = 4;
    TAILQ_INSERT_TAIL(&e->processes, p, link);
    return p;
}

/* There is no process. */
static void begin_failed(exec_run *r, process *p, const char *path, int rc) {
    run_error(&r->run, "%s cannot be started: %s", path, uv_strerror(rc));
    if (p) process_free(p);
    run_end(&r->run, dn_run_result_of(DN_OUTCOME_ERROR, DN_CODE_TRANSPORT, 0));
}

static void exec_begin(dn_run *run, dn_self *self, const dn_run_request *request) {
    exec_run   *r = (exec_run *)run;
    exec       *e = run->runner->state;
    const char *path = e->command->argv[0];
    ends        at;
    int         rc = ends_open(request->body, &at);

    (void)self;
    if (rc != 0) {
        begin_failed(r, NULL, path, rc);
        return;
    }
    process *p = process_new(e, r);
    if (!p) {
        ends_close(&at);
        begin_failed(r, NULL, path, UV_ENOMEM);
        return;
    }
    rc = spawn(p, &at, request);
    const bool runs = rc == 0;
    if (rc == 0) rc = listen_to(p, &p->out, &at.out[0]);
    if (rc == 0) rc = listen_to(p, &p->err, &at.err[0]);
    ends_close(&at);
    if (!runs) {
        begin_failed(r, p, path, rc);
        return;
    }
    r->process = p;
    if (rc != 0) process_kill(p); /* nothing reads its output; its end is told like any other */
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

    if (rc == DN_EINVAL)
        return dn_refuse(DN_EINVAL, why, DN_RUNNER_WHY, "runner \"%.100s\" %s", config->url, fault);
    if (rc < 0) return rc;
    fault = command_fault(c);
    if (fault)
        rc = dn_refuse(DN_EINVAL, why, DN_RUNNER_WHY, "the runner's program %.120s %s", c->argv[0],
                       fault);
    else if (config->kill_ms < 0)
        rc = dn_refuse(DN_EINVAL, why, DN_RUNNER_WHY, "kill_ms is milliseconds from 1; 0 means %d",
                       KILL_MS);
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
    runner->state = e;
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
    exec    *e = runner->state;
    process *p;

    for (p = TAILQ_FIRST(&e->processes); p; p = TAILQ_NEXT(p, link)) process_signal(p, SIGKILL);
    reap(e);
    while ((p = TAILQ_FIRST(&e->processes))) process_free(p);
    command_free(e->command);
    free(e);
}
