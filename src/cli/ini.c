/* ini.c - a file of lines `key = value`, read strictly.
 * A lenient reader turns a typing error into a wrong value for months. So each byte of the file has one meaning, or the file is
 * refused with the line. Any file (a directory, a disk image, /dev/zero) takes a bounded buffer and a short time. */
#include "ini.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "cli_text.h"

typedef struct reader {
    FILE    *file;
    char    *why;
    uint32_t line;
    size_t   len;
    char     text[INI_LINE_MAX + 4]; /* room for a byte order mark, CR and NUL */
} reader;

static int   line_read(reader *r, bool *out_end);
static int   line_check(const reader *r);
static int   line_parse(reader *r, char **out_key, char **out_value, size_t *out_len);
static int   quoted_parse(const reader *r, char *at, const char *end, size_t *out_len);
static char *blanks_skip(char *at, const char *end);
static bool  is_blank(char c) { return c == ' ' || c == '\t'; }
static int   refuse(const reader *r, const char *sentence);

int ini_read(FILE *file, ini_fn *fn, void *context, uint32_t *out_line, char *why) {
    static const char mark[] = "\xef\xbb\xbf";
    reader            r = {.file = file, .why = why};
    int               rc = DN_OK;

    assert(file);
    assert(fn);
    while (rc == DN_OK) {
        char  *key, *value;
        size_t value_len;
        bool   end;

        rc = line_read(&r, &end);
        if (rc < 0 || end) break;
        if (r.line == 1 && r.len >= 3 && memcmp(r.text, mark, 3) == 0)
            memmove(r.text, r.text + 3, (r.len -= 3) + 1);
        rc = line_check(&r);
        if (rc == DN_OK) rc = line_parse(&r, &key, &value, &value_len);
        if (rc == DN_OK && key) rc = fn(context, key, value, value_len, r.line, why);
    }
    if (rc < 0) *out_line = r.line;
    return rc;
}

/* The next line without its end, and a NUL after it. */
static int line_read(reader *r, bool *out_end) {
    int c = EOF;

    r->len = 0;
    r->line++;
    while (r->len < sizeof r->text - 1 && (c = getc(r->file)) != EOF && c != '\n')
        r->text[r->len++] = (char)c;
    if (c == EOF && ferror(r->file)) {
        const int code = errno;

        r->line = 0;
        (void)refuse(r, text_of_errno(code));
        return DN_EIO;
    }
    *out_end = c == EOF && r->len == 0;
    if (*out_end) return DN_OK;
    if (c == '\n' && r->len > 0 && r->text[r->len - 1] == '\r') r->len--;
    r->text[r->len] = '\0';
    if (r->len > INI_LINE_MAX) return refuse(r, "the line is longer than 8192 bytes");
    if (r->line > INI_LINES_MAX) return refuse(r, "there are more than 10000 lines");
    return DN_OK;
}

static int line_check(const reader *r) {
    for (size_t at = 0; at < r->len;) {
        const char *tab = memchr(r->text + at, '\t', r->len - at);
        size_t      len = (tab ? (size_t)(tab - r->text) : r->len) - at;
        const char *fault = dn_text_fault(r->text + at, len);

        if (fault) {
            char sentence[64];

            (void)snprintf(sentence, sizeof sentence, "the line %s", fault);
            return refuse(r, sentence);
        }
        at += len + 1;
    }
    return DN_OK;
}

/* *out_key is NULL for an empty line or a comment. */
static int line_parse(reader *r, char **out_key, char **out_value, size_t *out_len) {
    char *const end = r->text + r->len;
    char *const key = blanks_skip(r->text, end);
    char       *at, *value;

    *out_key = NULL;
    if (key == end || *key == '#') return DN_OK;
    if (*key == '[') return refuse(r, "[sections] are not supported; every line is key = value");
    at = memchr(key, '=', (size_t)(end - key));
    if (!at) {
        char quoted[DN_TEXT_QUOTED], sentence[DN_TEXT_QUOTED + 64];

        (void)snprintf(sentence, sizeof sentence, "%s is not a line of the form key = value",
                       dn_text_quoted(key, (size_t)(end - key), quoted));
        return refuse(r, sentence);
    }
    value = blanks_skip(at + 1, end);
    while (at > key && is_blank(at[-1])) at--;
    if (at == key) return refuse(r, "there is no key before the =");
    *at = '\0';

    if (value < end && *value == '"') {
        const int rc = quoted_parse(r, ++value, end, out_len);
        if (rc < 0) return rc;
    } else {
        for (at = value; at < end && !(*at == '#' && is_blank(at[-1])); at++) continue;
        if (value < end && *value == '#') at = value; /* right after the =, too */
        while (at > value && is_blank(at[-1])) at--;
        *at = '\0';
        *out_len = (size_t)(at - value);
    }
    *out_key = key;
    *out_value = value;
    return DN_OK;
}

/* Starts after the opening quote; removes the backslashes in place. */
static int quoted_parse(const reader *r, char *at, const char *end, size_t *out_len) {
    char *to = at;
    char *rest = at;

    *out_len = 0;
    for (; rest < end && *rest != '"'; rest++) {
        if (*rest == '\\') {
            rest++;
            if (rest == end || (*rest != '"' && *rest != '\\'))
                return refuse(r, "in quotes, a backslash may only precede \" or a backslash");
        }
        *to++ = *rest;
    }
    if (rest == end) return refuse(r, "the closing quote is missing");
    rest = blanks_skip(rest + 1, end);
    if (rest < end && *rest != '#') return refuse(r, "unexpected text after the closing quote");
    *to = '\0';
    *out_len = (size_t)(to - at);
    return DN_OK;
}

static char *blanks_skip(char *at, const char *end) {
    while (at < end && is_blank(*at)) at++;
    return at;
}

static int refuse(const reader *r, const char *sentence) {
    (void)snprintf(r->why, INI_WHY, "%s", sentence);
    return DN_EINVAL;
}
