/* ini.h - a file of lines `key = value`, read strictly.
 *
 *     # a comment
 *     key = value with spaces      # blanks around it go; a # after a blank begins a comment
 *     key = "value # with \" all"  # in quotes \" is a quote and \\ a backslash
 *
 * UTF-8. A byte order mark, CR LF at the ends of lines and a last line without an end are accepted and change no
 * value. Everything else is a fault. */
#ifndef DIURNAL_CLI_INI_H
#define DIURNAL_CLI_INI_H

#include <stdio.h>

#include "diurnal/base.h"

enum { INI_WHY = 320, INI_LINE_MAX = 8192, INI_LINES_MAX = 10000 };

/* One line. key and value end with a NUL and are borrowed for the call. DN_OK: continue; else why (INI_WHY bytes) has the
 * fault. */
typedef int ini_fn(void *context, const char *key, const char *value, size_t value_len,
                   uint32_t line, char *why);

/* DN_OK, or the error of fn, or DN_EINVAL, DN_EIO: *out_line (0: none) and why have the place and the fault. */
DN_MUST_USE int ini_read(FILE *file, ini_fn *fn, void *context, uint32_t *out_line, char *why);

#endif
