/* daily_answer.h - which error class the answer of a daily run has (CONTRACT §3). Any thread. */
#ifndef DIURNAL_DAILY_DAILY_ANSWER_H
#define DIURNAL_DAILY_DAILY_ANSWER_H

#include "domain/daily_rule.h"
#include "runner/runner.h"

/* DN_CLASS_NONE for a success and a timeout. Else:
 * - the class that the answer's JSON names in "error_class"; `unknown` if it names another one,
 * - `parse` if the answer says it is JSON, and is not,
 * - `req` for an HTTP answer that names none, and where there was no complete answer,
 * - `unknown` for everything else.
 * The JSON of a process is its last line. A text of more than 64 KiB, or one that is cut, names nothing. */
dn_error_class dn_daily_classify(dn_run_result result, const dn_run_answer *answer);

/* The body of an answer that names that class, with one reference; NULL: no memory. */
DN_MUST_USE dn_blob *dn_daily_error_new(dn_error_class error_class);

#endif
