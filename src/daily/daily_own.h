/* daily_own.h - what the daily part keeps in kv, shared by daily_writes.c and daily_reads.c. */
#ifndef DIURNAL_DAILY_DAILY_OWN_H
#define DIURNAL_DAILY_DAILY_OWN_H

#include "base/map.h"
#include "daily_messages.h"
#include "daily_path.h"

enum {
    DAILY_PAGE_USERS = 1024, /* in one answer */
    DAILY_SCAN_MAX = 20000,  /* rows read for one answer: some milliseconds */
};

/* The state of the part. */
typedef struct daily_part {
    const dn_daily_config *config;
    dn_map                 attempts; /* attempts_key -> attempts_of, until the day is finalized */
    dn_map                 pending;  /* registration -> day of a cutoff in the line */
    dn_map                 pending_missed; /* registration -> last day of a `missed` in the line */
    dn_pipe                to_tick, to_queue;

    uint64_t        commit;   /* the last one whose changes were sent */
    uint64_t        new_from; /* registrations from here on are of the present commit; 0: none is */
    dn_user_change *changes;  /* one transaction's */
    size_t          changes_max;

    dn_timer_id forget_timer; /* for the present date */
    dn_day      today;
    dn_day      day_of_text; /* most of what is finalized is of one day: its text is kept */
    char        day_text[DN_DAY_TEXT];
    dn_user    *users; /* one page */
    uint64_t    users_len;
} daily_part;

/* A user as a commit left it, without the bytes of its id. */
dn_change daily_change_of(const dn_user *user, uint64_t commit, uint8_t id_len);

/* ---- daily_reads.c ---- */
extern const dn_kv_handler daily_reads[];
extern const size_t        daily_reads_len;

#endif
