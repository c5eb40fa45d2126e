/* reference.h - what can stand behind a command, for those who write about all of them: help, completions, the manual. */
#ifndef DIURNAL_CLI_REFERENCE_H
#define DIURNAL_CLI_REFERENCE_H

#include "command.h"

typedef struct reference_flag {
    char        name[DN_SETTING_NAME]; /* with -- */
    const char *arg;                   /* "": it takes none; "a|b": one of these words */
    const char *help;
    char        more[96]; /* " (60000 ms)", its default; "" */
} reference_flag;

enum { REFERENCE_FLAGS_MAX = COMMAND_FLAGS_MAX + DN_SETTINGS };

/* Its own, then what it has of the settings. How many. */
size_t reference_flags(const command *c, reference_flag flags[REFERENCE_FLAGS_MAX]);

/* "users" of "users set", and how long that is; 0: it is a word by itself. */
size_t reference_group(const command *c);
/* "set" of "users set". */
const char *reference_last_word(const command *c);

#endif
