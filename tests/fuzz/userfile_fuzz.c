/* userfile_fuzz.c - a file of users in one piece and in pieces: both say the same, and what is read is written and read
 * back, and in pieces there is room for three users at once. The first byte says the format and where to cut. */
#define _GNU_SOURCE /* open_memstream */
#include "api/userfile.h"

#include <stdlib.h>
#include <string.h>

#define MUST(cond)                                                                                 \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond);                             \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

typedef struct told {
    uint64_t hash, line, users;
    uint64_t most, left; /* room for so many at once, and what is left of it; most 0: for all */
    FILE    *copy;       /* NULL: the users are not written */
    dn_userfile_format format;
} told;

static void mix(told *t, const void *bytes, size_t len) {
    for (size_t i = 0; i < len; i++)
        t->hash = (t->hash ^ ((const uint8_t *)bytes)[i]) * UINT64_C(1099511628211);
}

static void mix_user(told *t, const dn_userfile_user *user) {
    const int32_t fixed[] = {(int32_t)user->due, user->starts_on, user->starts_today};

    mix(t, user->id, user->id_len);
    mix(t, fixed, sizeof fixed);
    t->users++;
}

static int on_user(void *context, const dn_userfile_user *user, uint64_t line) {
    told *const t = context;

    MUST(!dn_id_fault(user->id, user->id_len));
    MUST(user->due < DN_DAY_MINUTES);
    MUST(line > t->line);
    t->line = line;
    mix_user(t, user);
    if (t->copy) MUST(dn_userfile_write(t->copy, t->format, user) == DN_OK);
    if (t->most == 0) return DN_OK;
    MUST(t->left > 0);
    return --t->left == 0 ? DN_PENDING : DN_OK;
}

static int on_fault(void *context, const char *sentence, uint64_t line) {
    told *const t = context;

    MUST(line > t->line);
    t->line = line;
    for (const char *c = sentence; *c != '\0'; c++) MUST((uint8_t)*c >= 0x20 && *c != 0x7f);
    mix(t, sentence, strlen(sentence));
    return DN_OK;
}

static int on_copied_fault(void *context, const char *sentence, uint64_t line) {
    (void)context;
    fprintf(stderr, "%llu: %s\n", (unsigned long long)line, sentence);
    abort();
}

static void make_room(told *t, dn_userfile *file, int rc) {
    while (rc == DN_PENDING) {
        t->left = t->most;
        rc = dn_userfile_go_on(file);
    }
    MUST(rc == DN_OK);
}

static void read_all(told *t, dn_userfile_format format, const uint8_t *data, size_t len,
                     size_t piece, int (*fault)(void *, const char *, uint64_t)) {
    const dn_userfile_sink sink = {on_user, fault, t};
    dn_userfile           *file;

    MUST(dn_userfile_new(format, &sink, &file) == DN_OK);
    while (len > 0) {
        const size_t part = piece < len ? piece : len;

        make_room(t, file, dn_userfile_feed(file, (const char *)data, part));
        data += part;
        len -= part;
    }
    make_room(t, file, dn_userfile_end(file));
    dn_userfile_free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    told   whole = {0}, cut = {.most = 3, .left = 3}, copied = {0};
    char  *text = NULL;
    size_t len;

    if (size == 0) return 0;
    const dn_userfile_format format = (dn_userfile_format)(data[0] % 3);
    const size_t             piece = 1 + data[0] / 3;

    whole.format = data[0] & 0x80 ? DN_USERFILE_CSV : DN_USERFILE_NDJSON;
    whole.copy = open_memstream(&text, &len);
    MUST(whole.copy);
    MUST(dn_userfile_write_header(whole.copy, whole.format) == DN_OK);
    read_all(&whole, format, data + 1, size - 1, DN_USERFILE_PIECE, on_fault);
    MUST(fclose(whole.copy) == 0);
    read_all(&cut, format, data + 1, size - 1, piece, on_fault);
    MUST(cut.hash == whole.hash);
    MUST(cut.users == whole.users);
    read_all(&copied, whole.format, (const uint8_t *)text, len, DN_USERFILE_PIECE, on_copied_fault);
    MUST(copied.users == whole.users);
    free(text);
    return 0;
}
