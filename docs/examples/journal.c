/* journal.c - two loops, group commit, and a sender that is faster than its receiver.
 * The writer, on loop main, has lines to be kept. The journal, on loop disk, may wait for the disk
 * without holding up anybody else: it writes what has gathered, commits once, and answers all. */
#include "diurnal/runtime.h"

#include <stdio.h>
#include <string.h>

enum {
    JOURNAL_APPEND = 1, /* call: line -> JOURNAL_KEPT, once it is on the disk */
    JOURNAL_KEPT,       /* reply */
};

enum { LINES = 5000, LINE_SIZE = 40, WAITING_MAX = 256, CALL_MS = 60000 };

typedef struct line {
    char text[LINE_SIZE];
} line;

/* ---- The journal ---- */

typedef struct journal {
    FILE   *file;
    dn_msg *waiting[WAITING_MAX]; /* requests whose line is written and not yet committed */
    int     waiting_len;
} journal;

static void close_file(void *file) { (void)fclose(file); }

static int journal_init(dn_self *self, void *state, const void *config) {
    journal *j = state;

    (void)config;
    j->file = tmpfile();
    if (!j->file) return DN_EIO;
    dn_own(self, j->file, close_file);
    return DN_OK;
}

/* flush: after all that had gathered. Also called when there is no room for more. */
static int journal_commit(dn_self *self, void *state) {
    journal *j = state;

    if (fflush(j->file) != 0) return DN_EIO; /* and fsync, where it matters */
    for (int i = 0; i < j->waiting_len; i++) dn_reply(self, j->waiting[i], JOURNAL_KEPT, NULL, 0);
    j->waiting_len = 0;
    return DN_OK;
}

static int journal_on_append(dn_self *self, void *state, const dn_msg *msg) {
    journal    *j = state;
    const line *l = DN_BODY(line, msg);

    dn_require(dn_msg_is_request(msg));
    if (fputs(l->text, j->file) == EOF) return DN_EIO;
    j->waiting[j->waiting_len++] = dn_msg_keep(self, msg);
    return j->waiting_len < WAITING_MAX ? DN_OK : journal_commit(self, j);
}

static const dn_handler journal_handlers[] = {
    {JOURNAL_APPEND, journal_on_append},
};

static const dn_class journal_class = {
    .name = "journal",
    .state_size = sizeof(journal),
    .init = journal_init,
    .handlers = DN_SLICE(journal_handlers),
    .flush = journal_commit,
};

/* ---- The writer ---- */

typedef struct writer {
    dn_ref journal;
    int    sent, kept;
} writer;

static int writer_init(dn_self *self, void *state, const void *config) {
    const dn_spawn_spec spec = {
        .actor_class = &journal_class, .loop = "disk", .linked = true, .monitored = true};
    const int rc = dn_spawn(self, &spec, NULL);

    (void)state, (void)config;
    return rc == DN_PENDING ? DN_OK : rc; /* on another loop: DN_MSG_STARTED will tell */
}

/* As many as there is room for; the rest when there is room again. */
static int writer_go_on(dn_self *self, writer *w) {
    for (; w->sent < LINES; w->sent++) {
        line l = {0};
        (void)snprintf(l.text, sizeof l.text, "line %d\n", w->sent);
        const int rc = dn_call(self, w->journal, JOURNAL_APPEND, &l, sizeof l, CALL_MS, NULL);
        if (rc == DN_EFULL) return dn_wait_room(self, w->journal);
        if (rc < 0) return rc;
    }
    return DN_OK;
}

static int writer_on_started(dn_self *self, void *state, const dn_msg *msg) {
    writer           *w = state;
    const dn_started *s = DN_BODY(dn_started, msg);

    if (s->status < 0) return s->status;
    w->journal = s->who;
    return writer_go_on(self, w);
}

static int writer_on_room(dn_self *self, void *state, const dn_msg *msg) {
    (void)msg;
    return writer_go_on(self, state);
}

static int writer_on_kept(dn_self *self, void *state, const dn_msg *msg) {
    writer *w = state;

    (void)msg;
    if (++w->kept == LINES) dn_inspect(self, "disk", /* max= */ 10);
    return DN_OK;
}

static int writer_on_report(dn_self *self, void *state, const dn_msg *msg) {
    const writer    *w = state;
    const dn_report *r = dn_msg_body_borrow(msg);

    dn_require(dn_msg_size(msg) > 0); /* empty if there was no memory for it */
    for (size_t i = 0; i < r->actors_len; i++)
        printf("%s on %s has handled %d messages\n", r->rows[i].name, r->loop,
               (int)r->rows[i].handled);
    return dn_stop(self, w->journal);
}

static int writer_on_down(dn_self *self, void *state, const dn_msg *msg) {
    const writer  *w = state;
    const dn_down *down = DN_BODY(dn_down, msg);

    (void)self;
    printf("%d lines kept; the journal has ended: %s\n", w->kept, dn_error_text(down->reason));
    return down->reason == DN_ESHUTDOWN ? DN_STOP : down->reason;
}

static int writer_on_failed(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state;
    return DN_BODY(dn_call_failed, msg)->status;
}

static const dn_handler writer_handlers[] = {
    {JOURNAL_KEPT, writer_on_kept},         {DN_MSG_ROOM, writer_on_room},
    {DN_MSG_STARTED, writer_on_started},    {DN_MSG_DOWN, writer_on_down},
    {DN_MSG_CALL_FAILED, writer_on_failed}, {DN_MSG_REPORT, writer_on_report},
};

static const dn_class writer_class = {
    .name = "writer",
    .state_size = sizeof(writer),
    .init = writer_init,
    .handlers = DN_SLICE(writer_handlers),
};

int main(void) {
    static const char *const loops[] = {"main", "disk"};
    const dn_runtime_config  config = {.loops = loops, .loops_len = 2};
    const dn_spawn_spec      root = {.actor_class = &writer_class};
    dn_runtime              *runtime = NULL;
    int                      rc = dn_runtime_new(&config, &runtime);

    if (rc == DN_OK) rc = dn_runtime_run(runtime, &root);
    dn_runtime_free(runtime);
    return rc == DN_OK ? 0 : 1;
}
