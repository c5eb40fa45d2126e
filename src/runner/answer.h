/* answer.h - what an answer means. Any thread. */
#ifndef DIURNAL_RUNNER_ANSWER_H
#define DIURNAL_RUNNER_ANSWER_H

#include "runner.h"

/* More of an answer than this is not read. */
enum { ANSWER_MAX = 64 * 1024 };

/* A whole answer, or the first ANSWER_MAX bytes of one. content_type may be NULL. Of a 2xx the body
 * does not matter, whatever it is or claims to be: the endpoint has said that it is done, and a
 * broken body must not make us do it again. *out_broken: it calls itself JSON, and is none; the class
 * is parse also where an answer names that itself. */
dn_run_result answer_of_http(uint32_t status, const char *content_type, const char *body,
                             size_t len, bool cut_short, bool *out_broken);

/* A process that ended; line is the last one on its standard output that is not empty, or the first
 * ANSWER_MAX bytes of it. Code is the exit status, or 128 + the signal, as a shell has it. */
dn_run_result answer_of_exit(int64_t exit_status, int term_signal, const char *line, size_t len,
                             bool cut_short);

#endif
