/* slo_table.h - the SLOs of a program: a table of rows, evaluated together. Belongs to one actor.
 * A restart begins with empty windows. */
#ifndef DIURNAL_OBS_SLO_TABLE_H
#define DIURNAL_OBS_SLO_TABLE_H

#include "slo_judge.h"

enum { DN_SLO_ROWS_MAX = 16, DN_SLO_SENTENCE = 160 };

typedef struct dn_slo_table dn_slo_table;

/* Borrows the rows for its life. DN_EINVAL: a row is unsound, or there are more than DN_SLO_ROWS_MAX. DN_ENOMEM. */
DN_MUST_USE int dn_slo_table_new(const dn_slo_row *rows, size_t len, int64_t mono_ns,
                                 dn_slo_table **out_table);
void            dn_slo_table_free(dn_slo_table *t); /* accepts NULL */

/* Counts the events of all rows from now on; once. As dn_slo_history_listen. */
DN_MUST_USE int dn_slo_table_listen(dn_slo_table *t);

/* Once a minute or more often, so that each minute has what belongs to it. */
void dn_slo_table_roll(dn_slo_table *t, int64_t mono_ns);

/* Rolls, and judges. out_changed: the rows that warned or recovered; returns how many. */
size_t dn_slo_table_evaluate(dn_slo_table *t, int64_t mono_ns, size_t out_changed[DN_SLO_ROWS_MAX]);

/* Borrowed for the table's life. The history of a row that is off is NULL. */
const dn_slo_status *dn_slo_table_status_borrow(const dn_slo_table *t, size_t row);
dn_slo_history      *dn_slo_table_history_borrow(const dn_slo_table *t, size_t row);

/* "p95 301 ms over the last minute, limit 100 ms" */
void dn_slo_sentence(const dn_slo_status *s, char out[DN_SLO_SENTENCE]);

#endif
