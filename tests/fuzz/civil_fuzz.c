/* civil_fuzz.c - any bytes as a day, a due time, an instant and an id: what is read is written and read again. */
#include "domain/daily_rule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MUST(cond)                                                                                 \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond);                             \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *const text = (const char *)data;
    char              written[DN_INSTANT_TEXT];
    int64_t           ms, again_ms;
    uint32_t          due;
    dn_day            day;

    if (dn_day_read(text, size, &day) == DN_OK) {
        dn_day_write(day, written);
        MUST(size == DN_DAY_TEXT - 1 && memcmp(written, text, size) == 0);
        MUST(dn_day_of_ms(dn_day_start_ms(day)) == day);
    }
    if (dn_due_read(text, size, &due) == DN_OK) {
        dn_due_write(due, written);
        MUST(size == DN_DUE_TEXT - 1 && memcmp(written, text, size) == 0);
    }
    if (dn_instant_read(text, size, &ms) == DN_OK) {
        dn_instant_write(ms, written);
        MUST(dn_instant_read(written, DN_INSTANT_TEXT - 1, &again_ms) == DN_OK && again_ms == ms);
        /* In UTC and without a leap second what is written begins as what was read. */
        if ((text[size - 1] == 'Z' || text[size - 1] == 'z') && text[17] != '6')
            MUST(memcmp(written, text, 10) == 0 && memcmp(written + 11, text + 11, 8) == 0);
    }
    if (!dn_id_fault(text, size)) {
        MUST(size >= 1 && size <= DN_ID_MAX);
        for (size_t at = 0; at < size;) {
            uint32_t     c;
            const size_t len = dn_utf8_read(text + at, size - at, &c);

            MUST(len >= 1 && c >= 0x20 && (c < 0x7f || c > 0x9f));
            at += len;
        }
    }
    return 0;
}
