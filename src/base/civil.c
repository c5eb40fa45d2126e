/* civil.c - days, minutes and instants of UTC, and how they are written.
 * The C library could do this, but its time functions look at the environment for a time zone, take locks
 * and read files, and strptime takes " 8:0" for a time. The calendar is the proleptic Gregorian one, counted
 * in eras of 400 years, each of which has the same number of days. Years begin in March here: so the leap
 * day is the last of its year, and the months before it are all in their place. */
#include "civil.h"

#include "digits.h"

#include <assert.h>
#include <string.h>

enum { ERA_DAYS = 146097, ERA_YEARS = 400, YEAR_DAYS = 365, EPOCH_ERA_DAYS = 719468 };

/* Where written dates end: 0000-01-01 and 9999-12-31. */
enum { DAY_WRITTEN_MIN = -719528, DAY_WRITTEN_MAX = 2932896 };
#define MS_WRITTEN_MIN (DAY_WRITTEN_MIN * DN_DAY_MS)
#define MS_WRITTEN_MAX (DAY_WRITTEN_MAX * DN_DAY_MS + DN_DAY_MS - 1)

/* Some million years off: so far out that a day more or less is still a dn_day. */
enum { DAY_MIN = INT32_MIN + 4, DAY_MAX = INT32_MAX - 4 };

typedef struct date {
    int32_t  year;
    uint32_t month, day; /* from 1 */
} date;

static date     date_of(dn_day day);
static dn_day   date_day(const date *d);
static uint32_t month_days(int32_t year, uint32_t month);
static bool     digits_read(const char *text, size_t len, uint32_t *out_number);
static bool     offset_read(const char *text, size_t len, int64_t *out_ms);
static int64_t  clamp(int64_t value, int64_t min, int64_t max);

dn_day dn_day_of_ms(int64_t ms) {
    const int64_t day = ms / DN_DAY_MS - (ms % DN_DAY_MS < 0);

    return (dn_day)clamp(day, DAY_MIN, DAY_MAX);
}

int64_t dn_day_start_ms(dn_day day) { return day * DN_DAY_MS; }

void dn_day_write(dn_day day, char text[DN_DAY_TEXT]) {
    assert(day != DN_DAY_NONE); /* what to write for none is the caller's to know */
    const date d = date_of((dn_day)clamp(day, DAY_WRITTEN_MIN, DAY_WRITTEN_MAX));

    memcpy(text, "0000-00-00", DN_DAY_TEXT);
    dn_digits_pad(text, (uint32_t)d.year, 4);
    dn_digits_pad(text + 5, d.month, 2);
    dn_digits_pad(text + 8, d.day, 2);
}

void dn_due_write(uint32_t due, char text[DN_DUE_TEXT]) {
    assert(due < DN_DAY_MINUTES);
    memcpy(text, "00:00", DN_DUE_TEXT);
    dn_digits_pad(text, due / 60, 2);
    dn_digits_pad(text + 3, due % 60, 2);
}

void dn_instant_write(int64_t ms, char text[DN_INSTANT_TEXT]) {
    ms = clamp(ms, MS_WRITTEN_MIN, MS_WRITTEN_MAX);
    const dn_day   day = dn_day_of_ms(ms);
    const uint32_t of_day = (uint32_t)(ms - dn_day_start_ms(day));
    const uint32_t second = of_day / 1000;

    dn_day_write(day, text);
    memcpy(text + 10, "T00:00:00.000Z", 15);
    dn_due_write(second / 60, text + 11);
    text[16] = ':';
    dn_digits_pad(text + 17, second % 60, 2);
    dn_digits_pad(text + 20, of_day % 1000, 3);
}

int dn_day_read(const char *text, size_t len, dn_day *out_day) {
    uint32_t year;
    date     d;

    if (len != DN_DAY_TEXT - 1 || text[4] != '-' || text[7] != '-') return DN_EINVAL;
    if (!digits_read(text, 4, &year) || !digits_read(text + 5, 2, &d.month) ||
        !digits_read(text + 8, 2, &d.day))
        return DN_EINVAL;
    d.year = (int32_t)year;
    if (d.month < 1 || d.month > 12) return DN_EINVAL;
    if (d.day < 1 || d.day > month_days(d.year, d.month)) return DN_EINVAL;
    *out_day = date_day(&d);
    return DN_OK;
}

int dn_due_read(const char *text, size_t len, uint32_t *out_due) {
    uint32_t hour, minute;

    if (len != DN_DUE_TEXT - 1 || text[2] != ':') return DN_EINVAL;
    if (!digits_read(text, 2, &hour) || !digits_read(text + 3, 2, &minute)) return DN_EINVAL;
    if (hour > 23 || minute > 59) return DN_EINVAL;
    *out_due = hour * 60 + minute;
    return DN_OK;
}

/* YYYY-MM-DDTHH:MM:SS[.digits](Z|+HH:MM|-HH:MM) */
int dn_instant_read(const char *text, size_t len, int64_t *out_ms) {
    uint32_t due, second, fraction_ms = 0;
    dn_day   day;
    int64_t  offset_ms;
    size_t   at = 19;

    if (len < at + 1 || (text[10] != 'T' && text[10] != 't') || text[16] != ':') return DN_EINVAL;
    if (dn_day_read(text, 10, &day) < 0 || dn_due_read(text + 11, 5, &due) < 0 ||
        !digits_read(text + 17, 2, &second) || second > 60)
        return DN_EINVAL;
    if (text[at] == '.') {
        const size_t first = ++at;

        for (uint32_t unit_ms = 100; at < len && text[at] >= '0' && text[at] <= '9'; at++) {
            fraction_ms += (uint32_t)(text[at] - '0') * unit_ms;
            unit_ms /= 10;
        }
        if (at == first) return DN_EINVAL;
    }
    if (!offset_read(text + at, len - at, &offset_ms)) return DN_EINVAL;

    const int64_t minute_ms = dn_day_start_ms(day) + due * DN_MINUTE_MS - offset_ms;
    if (second == 60) {
        /* There are some only where a month of UTC ends; anywhere else it is a mistake. */
        const int64_t next_ms = minute_ms + DN_MINUTE_MS;
        if (next_ms % DN_DAY_MS != 0 || date_of(dn_day_of_ms(next_ms)).day != 1) return DN_EINVAL;
        second = 59;
    }
    const int64_t ms = minute_ms + second * INT64_C(1000) + fraction_ms;
    /* An offset can lead out of the years that can be written. */
    if (ms < MS_WRITTEN_MIN || ms > MS_WRITTEN_MAX) return DN_EINVAL;
    *out_ms = ms;
    return DN_OK;
}

static bool offset_read(const char *text, size_t len, int64_t *out_ms) {
    uint32_t minutes;

    if (len == 1 && (*text == 'Z' || *text == 'z')) {
        *out_ms = 0;
        return true;
    }
    if (len != 6 || (*text != '+' && *text != '-')) return false;
    if (dn_due_read(text + 1, 5, &minutes) < 0) return false;
    *out_ms = (*text == '-' ? -1 : 1) * (int64_t)minutes * DN_MINUTE_MS;
    return true;
}

static date date_of(dn_day day) {
    const int64_t  since = (int64_t)day + EPOCH_ERA_DAYS; /* 0000-03-01 */
    const int64_t  era = (since >= 0 ? since : since - (ERA_DAYS - 1)) / ERA_DAYS;
    const uint32_t of_era = (uint32_t)(since - era * ERA_DAYS);
    /* Every 4 years one day more, every 100 one less, every 400 again one more. */
    const uint32_t year =
        (of_era - of_era / 1460 + of_era / 36524 - of_era / (ERA_DAYS - 1)) / YEAR_DAYS;
    const uint32_t of_year = of_era - (YEAR_DAYS * year + year / 4 - year / 100);
    const uint32_t month = (5 * of_year + 2) / 153; /* from March; 153 days are five months */
    const uint32_t of_month = of_year - (153 * month + 2) / 5;

    return (date){
        .year = (int32_t)(era * ERA_YEARS + year + (month >= 10)),
        .month = month < 10 ? month + 3 : month - 9,
        .day = of_month + 1,
    };
}

static dn_day date_day(const date *d) {
    const int64_t  year = d->month > 2 ? d->year : d->year - 1;
    const int64_t  era = (year >= 0 ? year : year - (ERA_YEARS - 1)) / ERA_YEARS;
    const uint32_t of_era = (uint32_t)(year - era * ERA_YEARS);
    const uint32_t month = d->month > 2 ? d->month - 3 : d->month + 9;
    const uint32_t of_year = (153 * month + 2) / 5 + d->day - 1;

    return (dn_day)(era * ERA_DAYS + of_era * YEAR_DAYS + of_era / 4 - of_era / 100 + of_year -
                    EPOCH_ERA_DAYS);
}

static uint32_t month_days(int32_t year, uint32_t month) {
    static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool           leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

    return days[month - 1] + (uint32_t)(month == 2 && leap);
}

static bool digits_read(const char *text, size_t len, uint32_t *out_number) {
    uint32_t number = 0;

    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9') return false;
        number = number * 10 + (uint32_t)(text[i] - '0');
    }
    *out_number = number;
    return true;
}

static int64_t clamp(int64_t value, int64_t min, int64_t max) {
    return value < min ? min : value > max ? max : value;
}
