/* json_user.h - users and the ledger as JSON objects, with the keys of users.ndjson.
 * NULL: out of memory. The caller owns the result. Any thread. */
#ifndef DIURNAL_API_JSON_USER_H
#define DIURNAL_API_JSON_USER_H

#include "store/daily.h"

#include <jansson.h>

/* id, due, last_date, status, last_run_at, context_epoch, starts_on */
json_t *json_of_user(const dn_user *user);

/* day, status, at, attempts, error_class */
json_t *json_of_ledger_row(const dn_ledger_row *row);

/* day, success, cutoff_reached, missed */
json_t *json_of_totals(const dn_day_totals *totals);

/* Strings, or null for none. */
json_t *json_of_day(dn_day day);
json_t *json_of_instant(int64_t ms); /* INT64_MIN: none */
json_t *json_of_status(dn_daily_status status);
json_t *json_of_class(dn_error_class cls);

#endif
