/* compare_lines.c - see compare_lines.h. */
#include "compare_lines.h"

#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUFFER = 1 << 20 };

struct compare_lines {
    int      fd;
    char    *path;
    uint64_t line;
    bool     ended; /* nothing more comes from the file */
    size_t   at, len;
    char     buffer[BUFFER];
};

static int starved(char *why) { return dn_refuse(DN_ENOMEM, why, COMPARE_WHY, "out of memory"); }

int compare_lines_open(const char *dir, const char *name, compare_lines **out_lines,
                       char why[COMPARE_WHY]) {
    compare_lines *l = malloc(sizeof *l);

    if (!l) return starved(why);
    l->line = 0;
    l->at = l->len = 0;
    l->ended = false;
    l->fd = -1;
    l->path = malloc(strlen(dir) + strlen(name) + 2);
    if (!l->path) {
        compare_lines_free(l);
        return starved(why);
    }
    (void)sprintf(l->path, "%s/%s", dir, name);
    l->fd = open(l->path, O_RDONLY | O_CLOEXEC);
    if (l->fd < 0) {
        (void)snprintf(why, COMPARE_WHY,
                       "%s: %s; to compare with is the directory that an earlier run had as --out",
                       l->path, strerror(errno));
        compare_lines_free(l);
        return DN_EINVAL;
    }
    *out_lines = l;
    return DN_OK;
}

void compare_lines_free(compare_lines *l) {
    if (!l) return;
    if (l->fd >= 0) (void)close(l->fd);
    free(l->path);
    free(l);
}

/* What is left of the buffer goes to its beginning, and more behind it. */
static int more(compare_lines *l, char *why) {
    memmove(l->buffer, l->buffer + l->at, l->len - l->at);
    l->len -= l->at;
    l->at = 0;
    while (l->len < BUFFER) {
        const ssize_t got = read(l->fd, l->buffer + l->len, BUFFER - l->len);
        if (got > 0) {
            l->len += (size_t)got;
            return DN_OK;
        }
        if (got < 0 && errno == EINTR) continue;
        l->ended = true;
        if (got == 0) return DN_OK;
        return dn_refuse(DN_EIO, why, COMPARE_WHY, "%s cannot be read: %s", l->path,
                         strerror(errno));
    }
    l->line++;
    return compare_lines_fault(l, "no line of a run is as long as this", why);
}

int compare_lines_next(compare_lines *l, const char **out_text, size_t *out_len,
                       char why[COMPARE_WHY]) {
    for (size_t seen = 0;;) {
        const char *const begin = l->buffer + l->at;
        const char *const end = memchr(begin + seen, '\n', l->len - l->at - seen);
        if (end) {
            l->line++;
            l->at += (size_t)(end - begin) + 1;
            *out_text = begin;
            *out_len = (size_t)(end - begin);
            return DN_OK;
        }
        seen = l->len - l->at;
        if (l->ended && seen == 0) return DN_STOP;
        if (l->ended) {
            l->line++;
            return compare_lines_fault(l, "the file ends within this line; it is not whole", why);
        }
        const int rc = more(l, why);
        if (rc < 0) return rc;
    }
}

int compare_lines_fault(const compare_lines *l, const char *sentence, char why[COMPARE_WHY]) {
    return dn_refuse(DN_EINVAL, why, COMPARE_WHY, "%s:%llu: %s", l->path,
                     (unsigned long long)l->line, sentence);
}
