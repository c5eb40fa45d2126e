/* recorder_file.h - the files of a record: FILE, which is a whole trace at any instant; FILE.new, which becomes it;
 * FILE.1 and so on, which were it. Of lines it knows where they end, and where a header's `end` stands. */
#ifndef DIURNAL_TRACE_RECORDER_FILE_H
#define DIURNAL_TRACE_RECORDER_FILE_H

#include "diurnal/base.h"

#include <assert.h>

/* What is written at once ends where a block of the file does: the system looks twice at a page that one write ends in and
 * the next begins with, and a long write that begins at its own multiple gets pages in one piece (measured: 45 ns a line of
 * 137 bytes by 64 KiB at any place, 35 by 256, and a dozen less in their places). */
enum { RECORD_PATH_MAX = 4096, RECORD_BLOCK = 262144 };

typedef struct record_file {
    const char *path;  /* borrowed */
    uint32_t    files; /* older ones that are kept */
    int         fd;    /* -1: none is open */
    bool        fresh; /* it is FILE.new still */
    size_t      end_at;
    int64_t     bytes; /* on the disk, whole lines all */
    size_t      len;   /* in the buffer, whole lines too */
    size_t      block; /* what of it may be written at once: up to the end of the file's block */
    int         error; /* of the system, where it failed */
    char        buffer[RECORD_BLOCK];
} record_file;

void record_file_init(record_file *f, const char *path, uint32_t files);

/* Each answers DN_OK, or DN_EIO and f->error: then record_file_give_up is all there is left to do. */

/* Begins FILE.new, in place of what is open. end_at: where in the header its `end` stands. */
DN_MUST_USE int record_file_begin(record_file *f, const char *header, size_t len, size_t end_at);
DN_MUST_USE int record_file_add(record_file *f, const char *line, size_t len);
/* Room for a line of up to max bytes, to be written there and then taken, before anything else. NULL: it failed. */
char               *record_file_room_slow(record_file *f, size_t max);
static inline char *record_file_room(record_file *f, size_t max) {
    return f->len + max <= f->block ? f->buffer + f->len : record_file_room_slow(f, max);
}
static inline void record_file_take(record_file *f, size_t len) {
    f->len += len;
    assert(f->len <= sizeof f->buffer);
}
/* What was added is in the file, and its trace ends there: what happens then is not in it. */
DN_MUST_USE int record_file_flush(record_file *f, const char *end_text, size_t end_len);
/* FILE.new is FILE from now on. */
DN_MUST_USE int record_file_complete(record_file *f);

/* Closes it. A FILE stays as it was when it was flushed; a FILE.new goes. */
void record_file_give_up(record_file *f);
void record_file_close(record_file *f); /* which was flushed */

/* A directory that files can be made in, and there is none yet or one that begins so, or is empty: a power cut may leave
 * one of ours so. DN_EINVAL: why has a sentence. */
DN_MUST_USE int record_file_check(const char *path, const char *begins, char *why, size_t why_max);

/* The first bytes of FILE, at most max. An errno; 0: they are there. */
DN_MUST_USE int record_file_first(const char *path, char *bytes, size_t max, size_t *out_len);

#endif
