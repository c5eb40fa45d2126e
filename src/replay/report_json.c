/* report_json.c - texts and numbers for the page's script. */
#include "report_json.h"

#include "base/text.h"

#include <math.h>

static void write_character(FILE *f, const char *bytes, size_t len, uint32_t character) {
    if (character == '"' || character == '\\') fprintf(f, "\\%c", (int)character);
    else if (character < ' ' || character == '<' || character == '>' || character == '&')
        fprintf(f, "\\u%04x", (unsigned)character);
    else fwrite(bytes, 1, len, f);
}

void json_text(FILE *f, const char *text, size_t len) {
    uint32_t character = 0;

    fputc('"', f);
    for (size_t i = 0, took; i < len; i += took) {
        took = dn_utf8_read(text + i, len - i, &character);
        if (took > 0) {
            write_character(f, text + i, took, character);
        } else {
            fputs("\xef\xbf\xbd", f);
            took = 1;
        }
    }
    fputc('"', f);
}

#define EXACT_MAX 9007199254740992.0 /* 2^53 */

void json_number(FILE *f, double value) {
    if (!isfinite(value)) fputs("null", f);
    else if (fabs(value) <= EXACT_MAX && value == (double)(int64_t)value) fprintf(f, "%.0f", value);
    else fprintf(f, "%.6g", value);
}

void json_runs(FILE *f, size_t len, json_column *at, const void *of) {
    fputc('[', f);
    for (size_t i = 0, end; i < len; i = end) {
        const double value = at(of, i);
        for (end = i + 1; end < len && at(of, end) == value;) end++;
        if (i > 0) fputc(',', f);
        json_number(f, value);
        fprintf(f, ",%zu", end - i);
    }
    fputc(']', f);
}
