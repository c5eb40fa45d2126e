/* log_line.c - see log_line.h.
 * Everything is written through a pen that knows where the room ends. What does not fit is cut between two
 * characters, or between two fields, so that the line stays whole, and says so. */
#include "log_line.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Text of 1,000 bytes that are all escaped would leave no room for fields. */
enum { TEXT_ROOM = 1400, TAIL_ROOM = 16 };

typedef struct pen {
    char  *out;
    size_t len, room; /* len stays within room */
    bool   cut;
} pen;

/* All of it or nothing. */
static bool put(pen *p, const char *bytes, size_t len) {
    if (p->cut || len > p->room - p->len) {
        p->cut = true;
        return false;
    }
    memcpy(p->out + p->len, bytes, len);
    p->len += len;
    return true;
}

static bool puts_to(pen *p, const char *text) { return put(p, text, strlen(text)); }

/* ---- Characters ---- */

static bool follows(char c) { return ((unsigned char)c & 0xc0) == 0x80; }

/* The bytes of the character s begins with, 0 if it is none: no overlong forms, no surrogates, nothing above
 * U+10FFFF. The end of the string follows nothing. */
static size_t character_len(const char *s) {
    const unsigned char a = (unsigned char)s[0], b = a ? (unsigned char)s[1] : 0;

    if (a < 0x80) return 1;
    if (a < 0xc2 || a > 0xf4 || !follows(s[1])) return 0;
    if (a < 0xe0) return 2;
    if (!follows(s[2])) return 0;
    if (a < 0xf0) return (a == 0xe0 && b < 0xa0) || (a == 0xed && b > 0x9f) ? 0 : 3;
    if ((a == 0xf0 && b < 0x90) || (a == 0xf4 && b > 0x8f)) return 0;
    return follows(s[3]) ? 4 : 0;
}

/* What a terminal would take as an order, in ASCII or in Latin-1's upper half. */
static bool is_control(const char *s) {
    const unsigned char c = (unsigned char)*s;

    return c < ' ' || c == 0x7f || (c == 0xc2 && (unsigned char)s[1] < 0xa0);
}

#define REPLACEMENT "\xef\xbf\xbd"

static bool put_screen_character(pen *p, const char *s, size_t len) {
    if (len == 0) return puts_to(p, REPLACEMENT);
    return is_control(s) ? puts_to(p, " ") : put(p, s, len);
}

static bool put_json_character(pen *p, const char *s, size_t len) {
    char escaped[8];

    if (len == 0) return puts_to(p, REPLACEMENT);
    if (*s == '"' || *s == '\\') {
        escaped[0] = '\\';
        escaped[1] = *s;
        return put(p, escaped, 2);
    }
    if (*s == '\n') return puts_to(p, "\\n");
    if (*s == '\t') return puts_to(p, "\\t");
    if (!is_control(s)) return put(p, s, len);
    (void)snprintf(escaped, sizeof escaped, "\\u%04x", (unsigned char)s[len - 1]);
    return puts_to(p, escaped);
}

static void put_characters(pen *p, const char *text,
                           bool (*put_character)(pen *p, const char *s, size_t len)) {
    while (*text) {
        const size_t len = character_len(text);
        if (!put_character(p, text, len)) return;
        text += len ? len : 1;
    }
}

/* ---- Values ---- */

static void put_json_string(pen *p, const char *text) {
    puts_to(p, "\"");
    put_characters(p, text, put_json_character);
    puts_to(p, "\"");
}

/* Digits that give the same number back, in whatever locale. */
static void put_real(pen *p, double value) {
    char digits[32];

    if (!isfinite(value)) {
        puts_to(p, "null");
        return;
    }
    (void)snprintf(digits, sizeof digits, "%.15g", value);
    const double back = strtod(digits, NULL);
    if (back < value || back > value) (void)snprintf(digits, sizeof digits, "%.17g", value);
    char *comma = strchr(digits, ',');
    if (comma) *comma = '.';
    puts_to(p, digits);
}

static void put_integer(pen *p, int64_t value) {
    char digits[24];

    (void)snprintf(digits, sizeof digits, "%lld", (long long)value);
    puts_to(p, digits);
}

/* Bare, if it is one word and nothing else could be meant. */
static bool is_plain(const char *text) {
    if (!*text) return false;
    for (; *text; text++)
        if (*text <= ' ' || *text > '~' || *text == '"' || *text == '=') return false;
    return true;
}

static void put_value(pen *p, const dn_log_field *f, bool json) {
    switch (f->type) {
    case DN_INTEGER: put_integer(p, f->value.integer); return;
    case DN_REAL: put_real(p, f->value.real); return;
    case DN_TEXT:
        if (!f->value.text) puts_to(p, "null");
        else if (!json && is_plain(f->value.text)) puts_to(p, f->value.text);
        else put_json_string(p, f->value.text);
        return;
    }
}

/* ---- The parts of a line ---- */

/* Days since 1970 to a date, for years from 0 (H. Hinnant, chrono-compatible low-level date algorithms). */
static void put_time(pen *p, int64_t wall_ms, bool with_date) {
    const int64_t ms_max =
        INT64_C(253402300799999); /* 9999-12-31T23:59:59.999Z: four digits end there */
    const int64_t ms = wall_ms < 0 ? 0 : wall_ms > ms_max ? ms_max : wall_ms;
    const int     in_day = (int)(ms % 86400000);
    const int     days = (int)(ms / 86400000) + 719468; /* since 0000-03-01 */
    const int     era = days / 146097, of_era = days % 146097;
    const int     year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    const int     of_year = of_era - (365 * year + year / 4 - year / 100);
    const int     month = (5 * of_year + 2) / 153; /* 0 is March */
    char          text[40];

    if (with_date) {
        (void)snprintf(text, sizeof text, "%04d-%02d-%02dT", year + era * 400 + (month >= 10),
                       month < 10 ? month + 3 : month - 9, of_year - (153 * month + 2) / 5 + 1);
        puts_to(p, text);
    }
    (void)snprintf(text, sizeof text, "%02d:%02d:%02d.%03d", in_day / 3600000, in_day / 60000 % 60,
                   in_day / 1000 % 60, in_day % 1000);
    puts_to(p, text);
}

static const char *const level_words[] = {"debug", "info", "warn", "error"};

/* The text gets a part of the room, the fields what is left of all of it; true if all of it is there. A field that
 * does not fit goes as a whole, and those behind it. */
static bool put_text_and_fields(pen *p, const log_line *l, bool json) {
    const size_t room = p->room;
    bool         whole;

    if (p->len + TEXT_ROOM < room) p->room = p->len + TEXT_ROOM;
    put_characters(p, l->text, json ? put_json_character : put_screen_character);
    whole = !p->cut;
    p->room = room;
    p->cut = false;
    if (json) puts_to(p, "\"");
    for (size_t i = 0; i < l->fields_len; i++) {
        const size_t before = p->len;
        puts_to(p, json ? "," : " ");
        if (json) put_json_string(p, l->fields[i].name);
        else put_characters(p, l->fields[i].name, put_screen_character);
        puts_to(p, json ? ":" : "=");
        put_value(p, &l->fields[i], json);
        if (!p->cut) continue;
        p->len = before;
        p->cut = false;
        return false;
    }
    return whole;
}

/* Every line has room for its tail. */
static void put_tail(pen *p, const char *tail) {
    p->room += TAIL_ROOM;
    puts_to(p, tail);
}

static void put_json_line(pen *p, const log_line *l, bool journal) {
    puts_to(p, "{");
    if (!journal) {
        puts_to(p, "\"t\":\"");
        put_time(p, l->wall_ms, true);
        puts_to(p, "Z\",\"level\":\"");
        puts_to(p, level_words[l->level]);
        puts_to(p, "\",");
    }
    puts_to(p, "\"event\":");
    put_json_string(p, l->event);
    puts_to(p, ",\"text\":\"");
    put_tail(p, put_text_and_fields(p, l, true) ? "}\n" : ",\"cut\":true}\n");
}

static void put_screen_line(pen *p, const log_line *l, bool journal) {
    char level[8];

    if (!journal) {
        put_time(p, l->wall_ms, false);
        (void)snprintf(level, sizeof level, " %-5s ", level_words[l->level]);
        puts_to(p, level);
    }
    put_characters(p, l->event, put_screen_character);
    puts_to(p, ": ");
    put_tail(p, put_text_and_fields(p, l, false) ? "\n" : " …\n");
}

size_t log_line_write(log_form form, const log_line *line, char out[LOG_LINE_MAX]) {
    static const char *const priorities[] = {"<7>", "<6>", "<4>", "<3>"}; /* of syslog(3) */
    pen                      p = {.out = out, .room = LOG_LINE_MAX - TAIL_ROOM};

    if (form.journal) puts_to(&p, priorities[line->level]);
    if (form.json) put_json_line(&p, line, form.journal);
    else put_screen_line(&p, line, form.journal);
    out[p.len] = '\0';
    return p.len;
}

void log_line_words(const log_line *line, char out[LOG_LINE_MAX]) {
    pen p = {.out = out, .room = LOG_LINE_MAX - TAIL_ROOM};

    const bool whole = put_text_and_fields(&p, line, false);
    put_tail(&p, whole ? "" : " …");
    out[p.len] = '\0';
}
