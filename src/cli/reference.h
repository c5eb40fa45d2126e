/* reference.h - all flags of a command, for help, completions and the manual. */
#ifndef DIURNAL_CLI_REFERENCE_H
#define DIURNAL_CLI_REFERENCE_H

#include "command.h"

typedef struct reference_flag {
    char        name[DN_SETTING_NAME]; /* with -- */
    const char *arg;                   /* "": takes no value; "a|b": one of these words */
    const char *help;
    char        more[96]; /* " (60000 ms)", its default; "" */
} reference_flag;

enum { REFERENCE_FLAGS_MAX = COMMAND_FLAGS_MAX + DN_SETTINGS };

/* Fills in the command's own flags, then its settings. Returns their number. */
size_t reference_flags(const command *c, reference_flag flags[REFERENCE_FLAGS_MAX]);

/* The length of "users" in "users set"; 0: the command is a single word. */
size_t reference_group(const command *c);
/* "set" of "users set". */
const char *reference_last_word(const command *c);

#endif
