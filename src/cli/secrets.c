/* secrets.c - the file of webhook secrets.
 * Secrets have their own file because everything else is visible: flags in the list of processes, the environment in /proc,
 * settings on the dashboard. */
#include "secrets.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli_text.h"

enum { FILE_MAX = 4096 };

static int lines_join(const char *path, const char *text, size_t len, char *out, char *why);

int dn_secrets_read(const char *path, char **out_secrets, char *why) {
    char        text[FILE_MAX + 2];
    size_t      len;
    FILE       *file;
    const char *fault;
    char       *secrets;
    int         rc = text_open(path, &file, &fault);

    if (rc < 0)
        return rc == DN_EINVAL ? dn_refuse(DN_EINVAL, why, DN_SECRETS_WHY, "%s: %s", path, fault)
                               : rc;
    setbuf(file, NULL); /* no buffer, because nothing would wipe it */
    len = fread(text, 1, FILE_MAX + 1, file);
    if (ferror(file)) rc = dn_refuse(DN_EINVAL, why, DN_SECRETS_WHY, "%s: it cannot be read", path);
    else if (len > FILE_MAX)
        rc = dn_refuse(DN_EINVAL, why, DN_SECRETS_WHY, "%s: it is longer than %d bytes", path,
                       FILE_MAX);
    (void)fclose(file);
    secrets = rc == DN_OK ? malloc(len + 2) : NULL;
    if (rc == DN_OK && !secrets) rc = DN_ENOMEM;
    if (rc == DN_OK) rc = lines_join(path, text, len, secrets, why);
    explicit_bzero(text, sizeof text);
    if (rc < 0) dn_secrets_free(secrets);
    else *out_secrets = secrets;
    return rc;
}

void dn_secrets_free(char *secrets) {
    if (!secrets) return;
    explicit_bzero(secrets, strlen(secrets));
    free(secrets);
}

/* Room in out: for text, a line end and a NUL. */
static int lines_join(const char *path, const char *text, size_t len, char *out, char *why) {
    char *to = out;
    int   line = 1;

    *out = '\0';
    for (const char *at = text, *const end = text + len; at < end; line++) {
        const char *const line_end = memchr(at, '\n', (size_t)(end - at));
        const size_t      whole = (size_t)((line_end ? line_end : end) - at);
        const size_t      own = whole - (whole > 0 && at[whole - 1] == '\r');

        if (own > 0 && *at != '#') {
            if (own < 6 || memcmp(at, "whsec_", 6) != 0)
                return dn_refuse(DN_EINVAL, why, DN_SECRETS_WHY,
                                 "%s:%d: it does not begin with whsec_", path, line);
            for (size_t i = 0; i < own; i++)
                if (at[i] <= ' ' || at[i] > '~')
                    return dn_refuse(
                        DN_EINVAL, why, DN_SECRETS_WHY,
                        "%s:%d: a secret is one word of letters, digits, + / and =", path, line);
            if (to > out) *to++ = ' ';
            memcpy(to, at, own);
            to += own;
            *to = '\0';
        }
        at += whole + 1;
    }
    if (to == out)
        return dn_refuse(DN_EINVAL, why, DN_SECRETS_WHY,
                         "%s: the file has no secret; write one a line, whsec_...", path);
    assert((size_t)(to - out) <= len);
    return DN_OK;
}
