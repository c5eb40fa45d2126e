/* check_rule.c - see check_rule.h. The calendar: years counted from March on, so that a leap day is the last of
 * its year. */
#include "check_rule.h"

#include <stdio.h>

static void civil_of(dn_day day, int *out_year, int *out_month, int *out_day) {
    /* Days since 0000-03-01; 146097 of them are four hundred years. */
    const int64_t since = (int64_t)day + 719468;
    const int64_t era = check_floor(since, 146097);
    const int64_t in_era = since - era * 146097;
    int64_t       year = in_era / 365;

    /* The first day of that year, should it be too late a year for the day. */
    while (year * 365 + year / 4 - year / 100 + (year == 400) > in_era) year--;
    const int64_t in_year = in_era - (year * 365 + year / 4 - year / 100);
    const int64_t month = (in_year * 5 + 2) / 153; /* 0: March */
    *out_day = (int)(in_year - (month * 153 + 2) / 5) + 1;
    *out_month = (int)(month < 10 ? month + 3 : month - 9);
    *out_year = (int)(era * 400 + year) + (*out_month <= 2);
}

const char *check_day_text(dn_day day, char text[CHECK_DAY_TEXT]) {
    int y, m, d;

    if (day == DN_DAY_NONE) {
        snprintf(text, CHECK_DAY_TEXT, "none");
        return text;
    }
    civil_of(day, &y, &m, &d);
    snprintf(text, CHECK_DAY_TEXT, "%04d-%02d-%02d", y, m, d);
    return text;
}

const char *check_instant_text(int64_t wall_ms, char text[CHECK_INSTANT_TEXT]) {
    const dn_day day = check_date(wall_ms);
    const int    ms = (int)(wall_ms - (int64_t)day * CHECK_DAY);
    char         date[CHECK_DAY_TEXT];

    snprintf(text, CHECK_INSTANT_TEXT, "%sT%02d:%02d:%02d.%03dZ", check_day_text(day, date),
             ms / 3600000, ms / 60000 % 60, ms / 1000 % 60, ms % 1000);
    return text;
}
