/* id.c - what an id may be.
 * An id is written into files, tables, logs, URLs and terminals, and typed by people. What cannot be seen
 * there is refused: control characters (an escape sequence in an id would run in the terminal of whoever
 * lists it) and white space at the ends, of whatever script, which nobody finds in a CSV file. */
#include "id.h"

#include "base/text.h"

static bool is_control(uint32_t c);
static bool is_space(uint32_t c);

const char *dn_id_fault(const char *id, size_t len) {
    bool space = false;

    if (len == 0) return "is empty";
    if (len > DN_ID_MAX) return "is longer than 128 bytes";
    for (size_t at = 0; at < len;) {
        uint32_t c;

        if (id[at] > ' ' && id[at] < 0x7f) { /* most are */
            space = false;
            at++;
            continue;
        }
        const size_t c_len = dn_utf8_read(id + at, len - at, &c);

        if (c_len == 0) return "is not UTF-8";
        if (is_control(c)) return "has a control character in it";
        space = is_space(c);
        if (space && at == 0) return "begins with a space";
        at += c_len;
    }
    return space ? "ends with a space" : NULL;
}

/* General category Cc: C0, DEL and C1. */
static bool is_control(uint32_t c) { return c < 0x20 || (c >= 0x7f && c < 0xa0); }

/* The property White_Space, without the control characters that have it. */
static bool is_space(uint32_t c) {
    return c == 0x20 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 ||
           c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}
