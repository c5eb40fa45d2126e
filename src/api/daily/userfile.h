/* userfile.h - files of users: CSV and NDJSON, read line by line, and written.
 *
 *     id,due,starts_on                       the header may be missing, starts_on too
 *     ada,08:00,
 *     "Lovelace, Ada",23:30,2026-12-01       or today
 *
 *     {"id":"ada","due":"08:00","starts_on":"today"}
 *
 * A file of any bytes and any length is read in bounded memory. Each line is a user or a fault, and no fault costs
 * another line: one that is too long is passed over, and a quote nobody closes ends with its line. But below a header that
 * is wrong there are neither. Any thread. */
#ifndef DIURNAL_API_USERFILE_H
#define DIURNAL_API_USERFILE_H

#include <stdio.h>

#include "domain/daily_rule.h"

/* DN_USERFILE_ANY: it begins with { or [ and is NDJSON, or it is CSV. */
typedef enum dn_userfile_format {
    DN_USERFILE_ANY,
    DN_USERFILE_CSV,
    DN_USERFILE_NDJSON,
} dn_userfile_format;

/* What a file's name says: .csv, or .ndjson, .jsonl, .json. */
dn_userfile_format dn_userfile_format_of(const char *name);

enum { DN_USERFILE_LINE_MAX = 64 * 1024, DN_USERFILE_PIECE = 64 * 1024 };

/* One that may be registered: dn_id_fault finds nothing, due is a minute of the day. */
typedef struct dn_userfile_user {
    const char *id; /* borrowed for the call; no NUL behind it */
    size_t      id_len;
    uint32_t    due;
    dn_day      starts_on;    /* DN_DAY_NONE: it does not say */
    bool        starts_today; /* "today": which day that is, the caller knows */
} dn_userfile_user;

/* line counts from 1; of a record over several lines it is the first. A sentence is borrowed for the call, and has
 * printable characters only. A negative answer ends the reading, and is its result. on_user may answer DN_PENDING: it has
 * taken this one, and has no room for another. */
typedef struct dn_userfile_sink {
    int (*on_user)(void *context, const dn_userfile_user *user, uint64_t line);
    int (*on_fault)(void *context, const char *sentence, uint64_t line);
    void *context;
} dn_userfile_sink;

/* Reading, piece by piece, of DN_USERFILE_PIECE bytes at most: where the pieces are cut makes no difference. A piece may
 * bring to light the lines of many before it, when what was taken for a quoted field turns out to be none; so room for the
 * lines of one piece is not enough: DN_PENDING is answered when on_user had no more, and then the next is dn_userfile_go_on,
 * when there is room again, until that is DN_OK. After an error nothing but dn_userfile_free. */
typedef struct dn_userfile dn_userfile;
DN_MUST_USE int            dn_userfile_new(dn_userfile_format format, const dn_userfile_sink *sink,
                                           dn_userfile **out_file);
DN_MUST_USE int            dn_userfile_feed(dn_userfile *file, const char *bytes, size_t len);
DN_MUST_USE int            dn_userfile_go_on(dn_userfile *file);
DN_MUST_USE int    dn_userfile_end(dn_userfile *file);  /* a last line without an end is a line */
void               dn_userfile_free(dn_userfile *file); /* accepts NULL */
static inline void dn_userfile_freep(dn_userfile **file) { dn_userfile_free(*file); }

/* Writing: what is written is read back as the same users. Spreadsheets take a field that begins with = + - or @ for a
 * formula, quoted or not; an id is written as it is, because an id that is changed is another one. DN_EIO: out
 * does not take it. */
DN_MUST_USE int dn_userfile_write_header(FILE *out, dn_userfile_format format);
DN_MUST_USE int dn_userfile_write(FILE *out, dn_userfile_format format,
                                  const dn_userfile_user *user);

#endif
