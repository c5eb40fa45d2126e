/* day_minutes.h - how many users are due, done, missed or running in each minute of a day, and that as JSON. */
#ifndef DIURNAL_API_DAY_MINUTES_H
#define DIURNAL_API_DAY_MINUTES_H

#include "daily/daily_messages.h"
#include "daily/planner_index.h"

#include <jansson.h>

typedef struct day_minute {
    uint32_t users, success, cutoff_reached, missed, running;
} day_minute;

typedef struct day_minutes {
    day_minute at[DN_DAY_MINUTES]; /* by the minute of the due time */
} day_minutes;

/* Sets the users running for that day, from the executor's answer. */
void day_minutes_take_running(day_minutes *m, dn_day day, const dn_msg *reply);
/* Sets the other numbers of today or a day to come, from the planner's answer. */
void day_minutes_take_planned(day_minutes *m, const dn_msg *reply);

bool    day_minute_is_used(const day_minute *m); /* else it is left out of lists */
json_t *json_of_minute(uint32_t due, const day_minute *m);

#endif
