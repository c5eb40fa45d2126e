/* ini_fuzz.c - any bytes as a file of settings: it is read, or refused in one printable line. */
#define _GNU_SOURCE /* memfd_create */
#include "cli/settings.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MUST(cond)                                                                                 \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond);                             \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const int         fd = memfd_create("settings", MFD_CLOEXEC);
    char              flag[64], why[DN_SETTINGS_WHY] = "";
    char             *argv[] = {flag};
    dn_settings_input input = {.argc = 1, .argv = argv};
    dn_settings      *settings = NULL;

    MUST(fd >= 0);
    MUST(write(fd, data, size) == (ssize_t)size);
    (void)snprintf(flag, sizeof flag, "--config=/proc/self/fd/%d", fd);
    if (dn_settings_load(&input, &settings, why) == DN_OK) {
        (void)dn_settings_check(settings, why);
        dn_settings_free(settings);
    } else {
        MUST(!settings && *why != '\0' && strlen(why) < sizeof why - 1);
        for (const char *c = why; *c != '\0'; c++) MUST((uint8_t)*c >= 0x20 && *c != 0x7f);
    }
    MUST(close(fd) == 0);
    return 0;
}
