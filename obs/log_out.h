/* log_out.h - lines on their way out, none of which anybody waits for. Any thread. */
#ifndef DIURNAL_OBS_LOG_OUT_H
#define DIURNAL_OBS_LOG_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LOG_OUT_LINES = 256
}; /* kept while the output takes none; one more is dropped and counted */

/* Where lines go, a borrowed descriptor. Before any thread starts. */
void log_out_open(int fd);

/* What it leads to. */
bool log_out_is_terminal(void);
bool log_out_is_journal(void); /* as JOURNAL_STREAM says */

/* Whether the next line has no room, unless something is written first: it need not be put into words. */
bool log_out_is_full(void);

/* Keeps a copy of at most LOG_LINE_MAX bytes. lines: how many it stands for, itself or those it counts; so many are
 * dropped if it is lost. False: it is already, for there is no room. */
bool log_out_push(const char *line, size_t len, uint64_t lines);

/* Writes what there is, as far as the output takes it now. */
void log_out_write(void);

/* As long as it takes, up to wait_ms. */
void log_out_write_all(int wait_ms);

/* The lines dropped since the last time, which are the caller's to say, by a line that stands for them. */
uint64_t log_out_take_dropped(void);
void     log_out_give_dropped(uint64_t lines);

#endif
