/* trace.c - reads a trace once, and gives again what happens in it.
 * Lines are judged one by one in a buffer that holds the longest there may be. Of a line nothing stays but a row of
 * the book, or an op of some seventy bytes in a file without a name. */
#define _GNU_SOURCE /* O_CLOEXEC */
#include "trace.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/text.h"
#include "trace_header.h"
#include "trace_judge.h"
#include "trace_line.h"
#include "trace_temp.h"

enum { CHUNK = 256 * 1024, OPS_BUFFER = 64 * 1024, PATH_SHOWN = 400 };

/* What there is to say of DN_EIO, unless it is the trace that cannot be read. */
#define NO_ROOM "no temporary file can be written; set TMPDIR to a folder with free space"

/* The lines of a file. */
typedef struct lines {
    int    fd;
    bool   at_end;
    size_t at, len, scanned; /* of bytes; from at, so many have no line end */
    char   bytes[TRACE_LINE_MAX + 1 + CHUNK];
} lines;

/* An op as it waits in the file; the id stands behind it. */
typedef struct op_row {
    int64_t  at_ms, ms, last_run_ms;
    uint64_t line;
    uint32_t due, count, context_epoch;
    dn_day   starts_on, last_date;
    uint8_t  kind, id_len, status, is_durable;
} op_row;

/* From that instant on the disk is full for so long: for all that is of the instant, also what stands before. */
typedef struct full_disk {
    int64_t at_ms, for_ms;
} full_disk;

struct trace {
    trace_settings settings;
    answers       *book;
    FILE          *ops;
    int64_t        written_ms; /* the instant of the op written last */
    full_disk     *full;       /* by instants, where such a line is not the first of its own */
    size_t full_len, full_cap, full_at; /* at: nothing that is given from now on is before */
    char   id[DN_ID_MAX];               /* of the op given last */
};

static int     input_open(const char *path, int *out_fd, char *fault);
static int     trace_new(trace **out_trace);
static int     trace_read(trace *t, lines *in, trace_judge *judge, char *fault);
static int     line_read(trace *t, trace_judge *judge, const char *text, size_t len, bool ended,
                         char *fault);
static int     header_take(trace *t, const trace_line *line, char *fault);
static int     op_write(trace *t, const trace_op *op);
static int     full_note(trace *t, const trace_op *op);
static int64_t full_find(trace *t, int64_t at_ms);
static int     lines_next(lines *in, const char **out_text, size_t *out_len, bool *out_ended,
                          char *fault);
static void    mark_skip(const char **text, size_t *len);
static bool    is_blank(const char *text, size_t len);
static void    why_write(const char *path, uint64_t line, const char *fault, char *why);

/* ---- Reading ---- */

int trace_open(const char *path, trace **out_trace, char why[TRACE_WHY]) {
    char         fault[TRACE_FAULT] = NO_ROOM;
    trace_judge  judge = {0};
    trace       *t = NULL;
    lines *const in = malloc(sizeof *in); /* what of it is read has been written before */
    int          rc = in ? DN_OK : DN_ENOMEM;

    if (rc == DN_OK) {
        memset(in, 0, offsetof(lines, bytes));
        in->fd = -1;
        rc = input_open(path, &in->fd, fault);
    }
    if (rc == DN_OK) rc = trace_new(&t);
    if (rc == DN_OK) rc = trace_read(t, in, &judge, fault);
    if (rc == DN_ENOMEM) (void)dn_refuse(DN_EINVAL, fault, TRACE_FAULT, "%s", dn_error_text(rc));
    if (rc < 0) why_write(path, rc == DN_EINVAL ? judge.line : 0, fault, why);
    if (in && in->fd >= 0) (void)close(in->fd);
    free(in);
    if (rc < 0) trace_free(t);
    else *out_trace = t;
    return rc;
}

void trace_free(trace *t) {
    if (!t) return;
    answers_free(t->book);
    if (t->ops) (void)fclose(t->ops);
    free(t->full);
    free(t);
}

static int input_open(const char *path, int *out_fd, char *fault) {
    const bool  is_stdin = strcmp(path, "-") == 0;
    const int   fd = is_stdin ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                              : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    struct stat about;

    if (fd < 0)
        return dn_refuse(DN_EINVAL, fault, TRACE_FAULT,
                         "it cannot be opened (%s); name a trace, or - for standard input",
                         strerror(errno));
    if (fstat(fd, &about) == 0 && S_ISDIR(about.st_mode)) {
        (void)close(fd);
        return dn_refuse(DN_EINVAL, fault, TRACE_FAULT, "it is a directory; name a file");
    }
    *out_fd = fd;
    return DN_OK;
}

static int trace_new(trace **out_trace) {
    trace *const t = calloc(1, sizeof *t);
    int          fd = -1, rc = t ? DN_OK : DN_ENOMEM;

    if (rc == DN_OK) rc = trace_temp_open(&fd);
    if (rc == DN_OK) {
        t->ops = fdopen(fd, "w+");
        if (!t->ops) {
            rc = DN_ENOMEM;
            (void)close(fd);
        } else {
            (void)setvbuf(t->ops, NULL, _IOFBF, OPS_BUFFER);
        }
    }
    if (rc < 0) free(t);
    else *out_trace = t;
    return rc;
}

/* All of it. judge->line: the one the fault is about; 0: none. */
static int trace_read(trace *t, lines *in, trace_judge *judge, char *fault) {
    const char *text = NULL;
    size_t      len = 0;
    bool        ended = true;
    int         rc;

    judge->settings = &t->settings;
    t->written_ms = INT64_MIN;
    while ((rc = lines_next(in, &text, &len, &ended, fault)) == DN_OK) {
        if (++judge->line == 1) mark_skip(&text, &len);
        rc = line_read(t, judge, text, len, ended, fault);
        if (rc < 0) return rc;
    }
    if (rc < 0) return rc;
    if (judge->line == 0) {
        judge->line = 1;
        return header_take(t, &(trace_line){0}, fault);
    }
    rc = answers_seal(t->book);
    if (rc < 0) return rc;
    return fflush(t->ops) == 0 && fseek(t->ops, 0, SEEK_SET) == 0 ? DN_OK : DN_EIO;
}

static int line_read(trace *t, trace_judge *judge, const char *text, size_t len, bool ended,
                     char *fault) {
    trace_line line;
    trace_op   op;
    int        rc = DN_OK;

    if (len > TRACE_LINE_MAX)
        return dn_refuse(DN_EINVAL, fault, TRACE_FAULT,
                         "the line is longer than %d bytes, the maximum", TRACE_LINE_MAX);
    if (is_blank(text, len))
        return dn_refuse(DN_EINVAL, fault, TRACE_FAULT,
                         "the line is empty; each line is one JSON object");
    if (judge->line == 1 || !trace_line_scan(text, len, &line))
        rc = trace_line_parse(text, len, ended, &line, fault);
    if (rc < 0) return rc;
    if (judge->line == 1) {
        rc = header_take(t, &line, fault);
        judge->book = t->book;
    } else {
        rc = trace_judge_line(judge, &line, &op, fault);
        /* What lies behind the end is judged, and nothing comes of it. */
        if (rc == DN_OK && op.at_ms < t->settings.end_ms) rc = op_write(t, &op);
    }
    trace_line_done(&line);
    return rc;
}

static int header_take(trace *t, const trace_line *line, char *fault) {
    const int rc = trace_header_read(line, &t->settings, fault);

    return rc == DN_OK ? answers_new(t->settings.otherwise, &t->book) : rc;
}

/* ---- Lines ---- */

/* The next line without its end. A length of more than TRACE_LINE_MAX: it goes on, who knows how far. DN_STOP: there
 * is none. */
static int lines_next(lines *in, const char **out_text, size_t *out_len, bool *out_ended,
                      char *fault) {
    for (;;) {
        char *const begin = in->bytes + in->at;
        char *const end = memchr(begin + in->scanned, '\n', in->len - in->at - in->scanned);
        ssize_t     part;

        in->scanned = end ? (size_t)(end - begin) : in->len - in->at;
        if (end || in->scanned > TRACE_LINE_MAX || (in->at_end && in->scanned > 0)) {
            *out_text = begin;
            *out_len = in->scanned;
            *out_ended = end != NULL;
            in->at += in->scanned + (end != NULL);
            in->scanned = 0;
            return DN_OK;
        }
        if (in->at_end) return DN_STOP;

        if (in->at > 0) memmove(in->bytes, begin, in->scanned);
        in->at = 0;
        in->len = in->scanned;
        part = read(in->fd, in->bytes + in->len, sizeof in->bytes - in->len);
        if (part < 0 && errno == EINTR) continue;
        if (part < 0) {
            (void)dn_refuse(DN_EINVAL, fault, TRACE_FAULT, "it cannot be read to its end (%s)",
                            strerror(errno));
            return DN_EIO;
        }
        in->at_end = part == 0;
        in->len += (size_t)part;
    }
}

/* A byte order mark, as some editors write one. */
static void mark_skip(const char **text, size_t *len) {
    if (*len < 3 || memcmp(*text, "\xef\xbb\xbf", 3) != 0) return;
    *text += 3;
    *len -= 3;
}

static bool is_blank(const char *text, size_t len) {
    for (; len > 0; text++, len--)
        if (*text != ' ' && *text != '\t' && *text != '\r') return false;
    return true;
}

static void why_write(const char *path, uint64_t line, const char *fault, char *why) {
    const char *const name = strcmp(path, "-") == 0 ? "standard input" : path;

    if (line == 0) (void)snprintf(why, TRACE_WHY, "%.*s: %s", PATH_SHOWN, name, fault);
    else
        (void)snprintf(why, TRACE_WHY, "%.*s:%llu: %s", PATH_SHOWN, name, (unsigned long long)line,
                       fault);
}

/* ---- What happens ---- */

static int op_write(trace *t, const trace_op *op) {
    const op_row row = {
        .at_ms = op->at_ms,
        .ms = op->ms,
        .line = op->line,
        .due = op->due,
        .count = op->count,
        .starts_on = op->starts_on,
        .last_run_ms = op->last_run_ms,
        .last_date = op->last_date,
        .context_epoch = op->context_epoch,
        .status = (uint8_t)op->status,
        .is_durable = op->is_durable,
        .kind = (uint8_t)op->kind,
        .id_len = (uint8_t)op->id_len,
    };

    assert(op->id_len <= DN_ID_MAX);
    const int rc = full_note(t, op);
    if (rc < 0) return rc;
    if (fwrite(&row, sizeof row, 1, t->ops) != 1) return DN_EIO;
    if (op->id_len == 0) return DN_OK;
    return fwrite(op->id, op->id_len, 1, t->ops) == 1 ? DN_OK : DN_EIO;
}

int trace_next(trace *t, trace_op *out_op) {
    op_row       row;
    const size_t got = fread(&row, 1, sizeof row, t->ops);

    if (got == 0 && feof(t->ops)) return DN_STOP;
    if (got != sizeof row || fread(t->id, 1, row.id_len, t->ops) != row.id_len) return DN_EIO;
    assert(row.at_ms >= t->settings.start_ms && row.at_ms < t->settings.end_ms);
    *out_op = (trace_op){
        .kind = (trace_op_kind)row.kind,
        .at_ms = row.at_ms,
        .line = row.line,
        .id = t->id,
        .id_len = row.id_len,
        .due = row.due,
        .count = row.count,
        .starts_on = row.starts_on,
        .is_durable = row.is_durable,
        .last_date = row.last_date,
        .status = (dn_daily_status)row.status,
        .context_epoch = row.context_epoch,
        .last_run_ms = row.last_run_ms,
        .ms = row.ms,
        .full_ms = full_find(t, row.at_ms),
    };
    return DN_OK;
}

/* Who stands before it in its instant has to know. */
static int full_note(trace *t, const trace_op *op) {
    const bool is_behind = op->at_ms == t->written_ms;
    full_disk *last = t->full_len ? &t->full[t->full_len - 1] : NULL;

    t->written_ms = op->at_ms;
    if (op->kind != TRACE_STORE_FAILS || !is_behind) return DN_OK;
    if (last && last->at_ms == op->at_ms) {
        if (last->for_ms < op->ms) last->for_ms = op->ms;
        return DN_OK;
    }
    if (DN_ARRAY_RESERVE(t->full, t->full_cap, t->full_len + 1) < 0) return DN_ENOMEM;
    t->full[t->full_len++] = (full_disk){op->at_ms, op->ms};
    return DN_OK;
}

static int64_t full_find(trace *t, int64_t at_ms) {
    while (t->full_at < t->full_len && t->full[t->full_at].at_ms < at_ms) t->full_at++;
    return t->full_at < t->full_len && t->full[t->full_at].at_ms == at_ms
               ? t->full[t->full_at].for_ms
               : 0;
}

/* ---- The header ---- */

int trace_set(trace *t, const char *const *assignments, size_t len, char why[TRACE_WHY]) {
    trace_settings s = t->settings;
    char           fault[TRACE_FAULT];
    int            rc = DN_OK;

    for (size_t i = 0; i < len && rc == DN_OK; i++)
        rc = trace_header_set(&s, assignments[i], fault);
    if (rc == DN_OK) rc = trace_header_check(&s, fault);
    if (rc < 0) return dn_refuse(rc, why, TRACE_WHY, "--set: %s", fault);
    t->settings = s;
    return DN_OK;
}

const trace_settings *trace_settings_borrow(const trace *t) { return &t->settings; }

answers *trace_answers_borrow(trace *t) { return t->book; }
