/* userfile.c - reads files of users record by record.
 * Such files come from spreadsheets, databases and mail, and may have a million lines with a hundred broken ones. So the
 * reader reports a broken record and continues after it. Only a wrong CSV header rejects the lines below, because its
 * columns decide what those lines mean.
 *
 * Bytes collect in one buffer until a record is complete. A record is a line, except that a quoted CSV field may contain
 * line ends. A well-formed record is read as a whole, so a line within quotes never becomes a user. A malformed record (a
 * quote is not closed, or bytes follow the closing quote) costs its first line only, and reading continues with the
 * second; otherwise a stray quote would swallow the rest of the file. Each byte is scanned a few times at most, because
 * the scan after a stray quote ends at the next quote or the length limit. */
#include "userfile.h"

#include <assert.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"

enum { COLUMNS_MAX = 64, SENTENCE = 320 };
#define NOT_CLOSED "a quote is not closed"
#define BELOW_IT   "Nothing below it is read"

/* The known columns. The reader uses the first three; an export may also have the others, which it ignores. */
enum {
    COLUMN_ID,
    COLUMN_DUE,
    COLUMN_STARTS_ON,
    COLUMN_LAST_DATE,
    COLUMN_STATUS,
    COLUMN_LAST_RUN_AT,
    COLUMN_CONTEXT_EPOCH,
    COLUMNS,
};
static const char *const column_names[COLUMNS] = {
    "id", "due", "starts_on", "last_date", "status", "last_run_at", "context_epoch"};

typedef struct field {
    const char *text; /* NULL if missing */
    size_t      len;
} field;

/* The state of the CSV scanner before the next byte. */
typedef enum place {
    PLACE_BEGIN,  /* at the start of a field */
    PLACE_PLAIN,  /* in a field without quotes */
    PLACE_QUOTED, /* in a quoted field */
    PLACE_CLOSED, /* after a quote in a quoted field: it closes the field unless a second one follows */
    PLACE_CR,     /* after the CR that follows a closing quote */
} place;

struct dn_userfile {
    dn_userfile_sink   sink;
    dn_userfile_format format; /* ANY until the first byte that is not blank */
    bool               begun;  /* a byte order mark has been checked for */
    bool               headed; /* CSV: the first record has been read */
    bool               unread; /* CSV: the header is wrong, so the rest is not read */
    bool               skips;  /* to the end of a line already reported */
    bool               holds;  /* the sink was full: records remain in bytes */
    bool               ended;  /* no more bytes will come */
    uint8_t            columns_len;
    int8_t             columns[COLUMNS_MAX]; /* CSV: the column of each field; -1: ignored */

    uint64_t line; /* line number of the next record */
    size_t   at;   /* its offset in bytes */
    size_t   len;  /* of bytes */

    /* Progress of its scan; offsets count from its start. */
    place    place;
    size_t   scanned;
    size_t   second; /* the start of its second line; 0: none so far */
    uint64_t ends;   /* line ends within quotes */
    char     bytes[DN_USERFILE_LINE_MAX + 1 + DN_USERFILE_PIECE];
};

typedef enum scan {
    SCAN_MORE,  /* the record is incomplete */
    SCAN_WHOLE, /* complete; the next byte is its line end */
    SCAN_STRAY, /* a byte that is not allowed at its place */
    SCAN_LONG,  /* over the length limit */
} scan;

static int    file_parse(dn_userfile *f);
static void   file_begin(dn_userfile *f, bool *out_wait);
static scan   record_scan(dn_userfile *f);
static scan   record_scan_csv(dn_userfile *f, const char *text, size_t len);
static void   record_next(dn_userfile *f, size_t at, uint64_t lines);
static int    record_break(dn_userfile *f, const char *sentence);
static int    record_take(dn_userfile *f);
static int    csv_read(dn_userfile *f, char *text, size_t len);
static size_t csv_split(char *text, size_t len, field *fields);
static bool   csv_is_header(const field *fields, size_t len);
static int    csv_header_read(dn_userfile *f, const field *fields, size_t len);
static int  starts_on_missed(const dn_userfile *f, const char *name, size_t len, const char *cost);
static int  ndjson_read(dn_userfile *f, const char *text, size_t len);
static int  user_read(dn_userfile *f, const field fields[COLUMNS]);
static int  column_find(const char *name, size_t len);
static bool is_blank(const char *text, size_t len);
static int  fault(const dn_userfile *f, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

dn_userfile_format dn_userfile_format_of(const char *name) {
    static const char *const ndjson[] = {".ndjson", ".jsonl", ".json"};
    const size_t             len = strlen(name);

    if (len > 4 && strcasecmp(name + len - 4, ".csv") == 0) return DN_USERFILE_CSV;
    for (size_t i = 0; i < sizeof ndjson / sizeof ndjson[0]; i++) {
        const size_t end = strlen(ndjson[i]);

        if (len > end && strcasecmp(name + len - end, ndjson[i]) == 0) return DN_USERFILE_NDJSON;
    }
    return DN_USERFILE_ANY;
}

int dn_userfile_new(dn_userfile_format format, const dn_userfile_sink *sink,
                    dn_userfile **out_file) {
    dn_userfile *const f = malloc(sizeof *f); /* the buffer is written before it is read */

    if (!f) return DN_ENOMEM;
    memset(f, 0, offsetof(dn_userfile, bytes));
    f->sink = *sink;
    f->format = format;
    f->line = 1;
    f->columns_len = 3;
    for (int8_t i = 0; i < 3; i++) f->columns[i] = i;
    *out_file = f;
    return DN_OK;
}

void dn_userfile_free(dn_userfile *file) { free(file); }

int dn_userfile_feed(dn_userfile *file, const char *bytes, size_t len) {
    assert(!file->holds && !file->ended && len <= DN_USERFILE_PIECE);
    if (len > 0) memcpy(file->bytes + file->len, bytes, len);
    file->len += len;
    return file_parse(file);
}

int dn_userfile_go_on(dn_userfile *file) { return file_parse(file); }

int dn_userfile_end(dn_userfile *file) {
    assert(!file->holds);
    file->ended = true;
    return file_parse(file);
}

/* ---- Records ---- */

/* Reads all complete records, or until the sink is full. The rest moves to the start of the buffer. */
static int file_parse(dn_userfile *f) {
    bool wait = false;
    int  rc = DN_OK;

    file_begin(f, &wait);
    while (rc == DN_OK && !wait && f->at < f->len) {
        if (f->unread) {
            f->at = f->len;
            continue;
        }
        if (f->skips) {
            const char *const end = memchr(f->bytes + f->at, '\n', f->len - f->at);

            f->skips = !end;
            record_next(f, end ? (size_t)(end - f->bytes) + 1 : f->len, /* lines= */ end != NULL);
            continue;
        }
        switch (record_scan(f)) {
        case SCAN_WHOLE: rc = record_take(f); break;
        case SCAN_STRAY: rc = record_break(f, "a quote is not allowed here"); break;
        case SCAN_LONG:
            rc =
                record_break(f, f->second > 0 ? NOT_CLOSED : "the line is longer than 65536 bytes");
            break;
        case SCAN_MORE:
            wait = !f->ended;
            if (wait) break;
            rc = f->place == PLACE_QUOTED ? record_break(f, NOT_CLOSED) : record_take(f);
            break;
        }
    }
    f->len -= f->at;
    if (f->at > 0) memmove(f->bytes, f->bytes + f->at, f->len);
    f->at = 0;
    f->holds = rc == DN_PENDING;
    assert(rc != DN_OK || f->len <= DN_USERFILE_LINE_MAX + 1);
    return rc;
}

/* Skips a byte order mark and detects the format. */
static void file_begin(dn_userfile *f, bool *out_wait) {
    static const char mark[] = "\xef\xbb\xbf";

    if (!f->begun) {
        const size_t seen = f->len < 3 ? f->len : 3;

        *out_wait = seen < 3 && memcmp(f->bytes, mark, seen) == 0 && !f->ended;
        if (*out_wait) return;
        f->begun = true;
        if (seen == 3 && memcmp(f->bytes, mark, 3) == 0) f->at = 3;
    }
    if (f->format != DN_USERFILE_ANY) return;
    for (size_t i; (i = f->at + f->scanned) < f->len && i < DN_USERFILE_LINE_MAX; f->scanned++) {
        if (is_blank(f->bytes + i, 1) || f->bytes[i] == '\n') continue;
        f->format = f->bytes[i] == '{' || f->bytes[i] == '[' ? DN_USERFILE_NDJSON : DN_USERFILE_CSV;
        f->scanned = 0;
        return;
    }
    *out_wait = f->len < DN_USERFILE_LINE_MAX && !f->ended;
    if (*out_wait) return;
    f->format = DN_USERFILE_CSV;
    f->scanned = 0;
}

static scan record_scan(dn_userfile *f) {
    const char *const text = f->bytes + f->at;
    const size_t      most = DN_USERFILE_LINE_MAX + 1; /* with the line end */
    const size_t      len = f->len - f->at < most ? f->len - f->at : most;
    scan              found = SCAN_MORE;

    if (f->format == DN_USERFILE_CSV) {
        found = record_scan_csv(f, text, len);
    } else {
        const char *const end = memchr(text + f->scanned, '\n', len - f->scanned);

        f->scanned = end ? (size_t)(end - text) : len;
        if (end) found = SCAN_WHOLE;
    }
    return found == SCAN_MORE && len == most ? SCAN_LONG : found;
}

static scan record_scan_csv(dn_userfile *f, const char *text, size_t len) {
    place now = f->place;
    scan  found = SCAN_MORE;

    for (; f->scanned < len && found == SCAN_MORE; f->scanned++) {
        const char c = text[f->scanned];

        switch (now) {
        case PLACE_BEGIN:
            if (c == '"') {
                now = PLACE_QUOTED;
                break;
            }
            now = PLACE_PLAIN;
            __attribute__((fallthrough));
        case PLACE_PLAIN:
            if (c == ',') now = PLACE_BEGIN;
            if (c == '\n') found = SCAN_WHOLE;
            if (c == '"') found = SCAN_STRAY;
            break;
        case PLACE_QUOTED:
            if (c == '"') now = PLACE_CLOSED;
            if (c != '\n') break;
            f->ends++;
            if (f->second == 0) f->second = f->scanned + 1;
            break;
        case PLACE_CLOSED:
            if (c == '"') now = PLACE_QUOTED;
            else if (c == ',') now = PLACE_BEGIN;
            else if (c == '\r') now = PLACE_CR;
            else found = c == '\n' ? SCAN_WHOLE : SCAN_STRAY;
            break;
        case PLACE_CR: found = c == '\n' ? SCAN_WHOLE : SCAN_STRAY; break;
        }
    }
    if (found != SCAN_MORE) f->scanned--; /* back to the deciding byte */
    f->place = now;
    return found;
}

/* Reads the scanned record and moves past it and its line end. */
static int record_take(dn_userfile *f) {
    char *const  text = f->bytes + f->at;
    const size_t len = f->scanned;
    const size_t end = f->at + len;
    int          rc = DN_OK;

    if (f->format == DN_USERFILE_NDJSON) {
        if (!is_blank(text, len)) rc = ndjson_read(f, text, len);
    } else {
        /* The CR of a CR LF is not part of the last field. */
        const size_t own = len - (len > 0 && text[len - 1] == '\r');

        if (!is_blank(text, own)) rc = csv_read(f, text, own);
    }
    record_next(f, end < f->len ? end + 1 : end, f->ends + 1);
    return rc;
}

/* Reports a malformed record and continues with its second line. */
static int record_break(dn_userfile *f, const char *sentence) {
    const int rc = fault(f, "%s", sentence);

    f->skips = f->second == 0;
    if (f->skips) record_next(f, f->at + f->scanned, /* lines= */ 0);
    else record_next(f, f->at + f->second, /* lines= */ 1);
    return rc;
}

static void record_next(dn_userfile *f, size_t at, uint64_t lines) {
    assert(at <= f->len);
    f->at = at;
    f->line += lines;
    f->place = PLACE_BEGIN;
    f->scanned = f->second = 0;
    f->ends = 0;
}

/* ---- CSV ---- */

static int csv_read(dn_userfile *f, char *text, size_t len) {
    field        fields[COLUMNS_MAX], of_columns[COLUMNS] = {0};
    const size_t fields_len = csv_split(text, len, fields);
    const bool   first = !f->headed;

    f->headed = true;
    if (fields_len > COLUMNS_MAX) return fault(f, "more than %d fields", COLUMNS_MAX);
    if (first && csv_is_header(fields, fields_len)) return csv_header_read(f, fields, fields_len);
    if (fields_len > f->columns_len)
        return fault(f, "%zu fields, but at most %u are allowed", fields_len, f->columns_len);
    if (fields_len == 1) return fault(f, "one field only; write id,due or id,due,starts_on");
    for (size_t i = 0; i < fields_len; i++)
        if (f->columns[i] >= 0) of_columns[f->columns[i]] = fields[i];
    return user_read(f, of_columns);
}

/* Splits a well-formed record and removes quotes in place. Fields beyond COLUMNS_MAX are counted but not stored. */
static size_t csv_split(char *text, size_t len, field *fields) {
    const char *at = text, *const end = text + len;
    size_t count = 0;

    for (;;) {
        const char *begin = at;
        size_t      field_len;

        if (at < end && *at == '"') {
            char *to = text + (++at - text);

            begin = to;
            for (; *at != '"' || (at + 1 < end && at[1] == '"'); at++) {
                if (*at == '"') at++;
                *to++ = *at;
            }
            field_len = (size_t)(to - begin);
            at++;
        } else {
            const char *const comma = memchr(at, ',', (size_t)(end - at));

            at = comma ? comma : end;
            field_len = (size_t)(at - begin);
        }
        if (count < COLUMNS_MAX) fields[count] = (field){.text = begin, .len = field_len};
        count++;
        if (at == end) return count;
        assert(*at == ',');
        at++;
    }
}

/* True if a field is id or due and no field is a due time. */
static bool csv_is_header(const field *fields, size_t len) {
    bool named = false;

    for (size_t i = 0; i < len; i++) {
        const int column = column_find(fields[i].text, fields[i].len);
        uint32_t  due;

        if (dn_due_read(fields[i].text, fields[i].len, &due) == DN_OK) return false;
        named = named || column == COLUMN_ID || column == COLUMN_DUE;
    }
    return named;
}

/* f->unread stays true unless the whole header is valid. */
static int csv_header_read(dn_userfile *f, const field *fields, size_t len) {
    bool there[COLUMNS] = {false};

    f->unread = true;
    for (size_t i = 0; i < len; i++) {
        const int column = column_find(fields[i].text, fields[i].len);

        if (column >= 0 && there[column])
            return fault(f, "the header has %s twice. " BELOW_IT, column_names[column]);
        if (column >= 0) there[column] = true;
    }
    if (!there[COLUMN_ID] || !there[COLUMN_DUE])
        return fault(f, "the header has no %s. " BELOW_IT,
                     column_names[there[COLUMN_ID] ? COLUMN_DUE : COLUMN_ID]);
    f->columns_len = (uint8_t)len;
    for (size_t i = 0; i < len; i++)
        f->columns[i] = (int8_t)column_find(fields[i].text, fields[i].len);
    for (size_t i = 0; i < len && !there[COLUMN_STARTS_ON]; i++) {
        const int rc = f->columns[i] < 0
                           ? starts_on_missed(f, fields[i].text, fields[i].len, " " BELOW_IT)
                           : 0;

        if (rc != DN_OK) return rc < 0 ? rc : DN_OK;
    }
    f->unread = false;
    return DN_OK;
}

/* ---- NDJSON ---- */

/* Skips blanks, then the wanted character; false if another one follows. */
static bool plain_passes(const char **at, const char *end, char wanted) {
    while (*at < end && is_blank(*at, 1)) ++*at;
    if (*at == end || **at != wanted) return false;
    ++*at;
    return true;
}

/* A string of printable ASCII without escapes. */
static bool plain_string(const char **at, const char *end, field *out_string) {
    if (!plain_passes(at, end, '"')) return false;
    const char *const begin = *at;
    while (*at < end && **at >= ' ' && **at < 0x7f && **at != '"' && **at != '\\') ++*at;
    if (*at == end || **at != '"') return false; /* JSON does not allow a control character here */
    *out_string = (field){.text = begin, .len = (size_t)(*at - begin)};
    ++*at;
    return true;
}

/* Reads the common form {"id":"ada","due":"08:00"} in a tenth of the library's time. False: the line has another form or
 * an error, which the library decides. */
static bool ndjson_read_plain(const char *text, size_t len, field fields[COLUMNS]) {
    const char *at = text, *const end = text + len;
    field key, value;

    if (!plain_passes(&at, end, '{')) return false;
    do {
        if (!plain_string(&at, end, &key) || !plain_passes(&at, end, ':') ||
            !plain_string(&at, end, &value))
            return false;
        const int column = column_find(key.text, key.len);
        if (column < 0 || column > COLUMN_STARTS_ON || fields[column].text) return false;
        fields[column] = value;
    } while (plain_passes(&at, end, ','));
    return plain_passes(&at, end, '}') && is_blank(at, (size_t)(end - at));
}

static int ndjson_read(dn_userfile *f, const char *text, size_t len) {
    field        fields[COLUMNS] = {0};
    const char  *key;
    json_t      *value;
    json_error_t error;
    int          rc = DN_OK;

    if (ndjson_read_plain(text, len, fields)) return user_read(f, fields);
    memset(fields, 0, sizeof fields);
    json_t *const root = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
    if (!root) {
        switch (json_error_code(&error)) {
        case json_error_out_of_memory: return DN_ENOMEM;
        case json_error_duplicate_key: return fault(f, "a key is there twice");
        case json_error_invalid_utf8: return fault(f, "not UTF-8");
        default: return fault(f, "not JSON, near column %d", error.column);
        }
    }
    if (!json_is_object(root)) {
        json_decref(root);
        return fault(f, "not a JSON object");
    }
    json_object_foreach(root, key, value) {
        const int column = column_find(key, strlen(key));

        if (column > COLUMN_STARTS_ON) continue;
        if (column < 0) {
            if (json_object_get(root, column_names[COLUMN_STARTS_ON])) continue;
            rc = starts_on_missed(f, key, strlen(key), "");
        } else if (json_is_string(value)) {
            fields[column] = (field){json_string_value(value), json_string_length(value)};
        } else if (column != COLUMN_STARTS_ON || !json_is_null(value)) {
            const int told = fault(f, "%s must be a string", column_names[column]);

            rc = told < 0 ? told : DN_STOP;
        }
        if (rc != DN_OK) break;
    }
    if (rc == DN_OK) rc = user_read(f, fields);
    json_decref(root);
    return rc == DN_STOP ? DN_OK : rc;
}

/* An unknown name is ignored unless it is similar to starts_on, because a wrong first day would be noticed too late.
 * DN_STOP: reported. */
static int starts_on_missed(const dn_userfile *f, const char *name, size_t len, const char *cost) {
    const char *const wanted[] = {column_names[COLUMN_STARTS_ON]};
    char              quoted[DN_TEXT_QUOTED];
    int               rc;

    if (!dn_text_nearest(name, len, wanted, 1)) return DN_OK;
    rc = fault(f, "unknown name %s; did you mean starts_on?%s", dn_text_quoted(name, len, quoted),
               cost);
    return rc < 0 ? rc : DN_STOP;
}

/* ---- Users ---- */

static int user_read(dn_userfile *f, const field fields[COLUMNS]) {
    const field id = fields[COLUMN_ID], due = fields[COLUMN_DUE], day = fields[COLUMN_STARTS_ON];
    const char *id_fault;
    dn_userfile_user user = {.id = id.text, .id_len = id.len, .starts_on = DN_DAY_NONE};
    char             quoted[DN_TEXT_QUOTED];

    if (!id.text) return fault(f, "id is missing");
    id_fault = dn_id_fault(id.text, id.len);
    if (id_fault)
        return fault(f, "the id %s %s", dn_text_quoted(id.text, id.len, quoted), id_fault);
    if (!due.text) return fault(f, "due is missing");
    if (dn_due_read(due.text, due.len, &user.due) < 0)
        return fault(f, "invalid due time %s; use HH:MM, for example 08:00",
                     dn_text_quoted(due.text, due.len, quoted));
    user.starts_today = day.len == 5 && memcmp(day.text, "today", 5) == 0;
    if (day.len > 0 && !user.starts_today && dn_day_read(day.text, day.len, &user.starts_on) < 0)
        return fault(f, "invalid starts_on %s; use YYYY-MM-DD or today",
                     dn_text_quoted(day.text, day.len, quoted));
    return f->sink.on_user(f->sink.context, &user, f->line);
}

static int column_find(const char *name, size_t len) {
    for (int i = 0; i < COLUMNS; i++)
        if (strlen(column_names[i]) == len && strncasecmp(column_names[i], name, len) == 0)
            return i;
    return -1;
}

static bool is_blank(const char *text, size_t len) {
    for (; len > 0; text++, len--)
        if (*text != ' ' && *text != '\t' && *text != '\r') return false;
    return true;
}

static int fault(const dn_userfile *f, const char *format, ...) {
    char    sentence[SENTENCE];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    return f->sink.on_fault(f->sink.context, sentence, f->line);
}

/* ---- Writing ---- */

int dn_userfile_write_header(FILE *out, dn_userfile_format format) {
    if (format != DN_USERFILE_NDJSON && fputs("id,due,starts_on\n", out) < 0) return DN_EIO;
    return DN_OK;
}

int dn_userfile_write(FILE *out, dn_userfile_format format, const dn_userfile_user *user) {
    const bool json = format == DN_USERFILE_NDJSON;
    const bool quotes =
        json || memchr(user->id, ',', user->id_len) || memchr(user->id, '"', user->id_len);
    char due[DN_DUE_TEXT], day[DN_DAY_TEXT] = "";

    assert(!dn_id_fault(user->id, user->id_len));
    dn_due_write(user->due, due);
    if (user->starts_today) memcpy(day, "today", sizeof "today");
    else if (user->starts_on != DN_DAY_NONE) dn_day_write(user->starts_on, day);

    if (json) (void)fputs("{\"id\":", out);
    if (quotes) (void)putc('"', out);
    for (size_t i = 0; i < user->id_len; i++) {
        /* An id has no control characters, so nothing else needs an escape. */
        if (user->id[i] == '"') (void)putc(json ? '\\' : '"', out);
        if (user->id[i] == '\\' && json) (void)putc('\\', out);
        (void)putc(user->id[i], out);
    }
    if (quotes) (void)putc('"', out);
    if (!json) (void)fprintf(out, ",%s,%s\n", due, day);
    else if (*day == '\0') (void)fprintf(out, ",\"due\":\"%s\"}\n", due);
    else (void)fprintf(out, ",\"due\":\"%s\",\"starts_on\":\"%s\"}\n", due, day);
    return ferror(out) ? DN_EIO : DN_OK;
}
