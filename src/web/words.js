/* words.js - formats numbers, times and durations. Times are UTC; if the local time differs, it stands beside them. */
import { h } from './dom.js';

export const MINUTE = 60000, HOUR = 60 * MINUTE, DAY = 24 * HOUR, DAY_MINUTES = 1440;
const two = (n) => String(n).padStart(2, '0');

/* 1,234,567; a fraction has three significant digits. */
export function number(n) {
    if (!Number.isFinite(n)) return '–';
    const text = Number.isInteger(n) || Math.abs(n) >= 1000 ? String(Math.round(n)) : String(Number(n.toPrecision(3)));
    return text.replace(/^(-?\d+)/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ','));
}
export const plural = (n, one, many = one + 's') => `${number(n)}\u00a0${n === 1 ? one : many}`;

/* 100 % only if all, and 0 % only if none. */
export function share(part, whole) {
    if (!whole) return '–';
    const percent = 100 * part / whole;
    if (part === 0) return '0\u00a0%';
    if (part === whole) return '100\u00a0%';
    if (percent < 0.1) return '<\u00a00.1\u00a0%';
    if (percent > 99.9) return '>\u00a099.9\u00a0%';
    return percent.toFixed(percent < 10 || percent > 90 ? 1 : 0) + '\u00a0%';
}

export function bytes(n) {
    for (const [size, unit] of [[2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [2 ** 10, 'KiB']])
        if (n >= size) return `${number(Number((n / size).toPrecision(3)))}\u00a0${unit}`;
    return `${number(n)}\u00a0B`;
}

/* 250 µs, 1.5 s, 2 min 5 s, 1 h 30 min, 3 days. */
export function duration(ms) {
    const size = Math.max(0, ms);
    const parts = (unit, name, rest, part) => {
        const n = Math.floor(size / unit), left = Math.floor((size - n * unit) / rest);
        return left > 0 ? `${n} ${name} ${left} ${part}` : `${n} ${name}`;
    };
    let text;
    if (size === 0) text = '0 ms';
    else if (size < 1) text = number(size * 1000) + ' µs';
    else if (size < 1000) text = number(size) + ' ms';
    else if (size < MINUTE) text = number(Math.round(size / 100) / 10) + ' s';
    else if (size < HOUR) text = parts(MINUTE, 'min', 1000, 's');
    else if (size < DAY) text = parts(HOUR, 'h', MINUTE, 'min');
    else text = parts(DAY, size < 2 * DAY ? 'day' : 'days', HOUR, 'h');
    return text.replace(/ /g, '\u00a0');
}

/* ---- Minutes of a day ---- */

export const dueText = (minute) => `${two(Math.floor(minute / 60))}:${two(minute % 60)}`;
export function dueMinute(text) {
    const match = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(text || '');
    return match ? Number(match[1]) * 60 + Number(match[2]) : null;
}
export const minuteOf = (ms) => Math.floor(ms / MINUTE) % DAY_MINUTES;
export const dayOf = (ms) => new Date(ms).toISOString().slice(0, 10);
export const dayStart = (day) => Date.parse(day + 'T00:00:00Z');

/* Not Intl: making one of its formats takes some 10 ms before the first paint. */
const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MONTHS = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'];
export function dayLong(day) {
    const at = new Date(dayStart(day));
    return `${WEEKDAYS[at.getUTCDay()]} ${at.getUTCDate()} ${MONTHS[at.getUTCMonth()]} ${at.getUTCFullYear()}`;
}
export function dayShort(day) {
    const at = new Date(dayStart(day));
    return `${WEEKDAYS[at.getUTCDay()].slice(0, 3)} ${at.getUTCDate()} ${MONTHS[at.getUTCMonth()].slice(0, 3)}`;
}

/* ---- Times ---- */

export const clock = (ms) => new Date(ms).toISOString().slice(11, 19);

/* True if the local time differs from UTC. */
export const isElsewhere = (ms) => new Date(ms).getTimezoneOffset() !== 0;
export function zone(ms) {
    const part = new Intl.DateTimeFormat('en-GB', { timeZoneName: 'short' }).formatToParts(ms).find((p) => p.type === 'timeZoneName');
    return part ? part.value : 'here';
}
/* Local HH:MM, with +1 d or −1 d if the date differs. */
export function localTime(ms, seconds = false) {
    const at = new Date(ms);
    const days = Math.round((Date.UTC(at.getFullYear(), at.getMonth(), at.getDate()) - Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate())) / DAY);
    return `${two(at.getHours())}:${two(at.getMinutes())}${seconds ? ':' + two(at.getSeconds()) : ''}${days > 0 ? ' +1\u00a0d' : days < 0 ? ' −1\u00a0d' : ''}`;
}

const aside = (ms, text) => isElsewhere(ms) && h('span', { class: 'local', title: `${text} ${zone(ms)}` }, h('span', { class: 'unseen' }, ', here '), text);

/* An instant of the API, with its date unless that is `today`. */
export function when(instant, today) {
    if (!instant) return h('span', { class: 'none' }, '–');
    const ms = Date.parse(instant), day = dayOf(ms);
    return h('time', { datetime: instant, class: 'when' }, day === today ? '' : `${day} `, clock(ms), aside(ms, localTime(ms, true)));
}
/* A due time, HH:MM. */
export function due(text, day) {
    const ms = dayStart(day) + dueMinute(text) * MINUTE;
    return h('span', { class: 'when' }, text, aside(ms, localTime(ms)));
}
export const dueWords = (text, day) => {
    const ms = dayStart(day) + dueMinute(text) * MINUTE;
    return isElsewhere(ms) ? `${text} UTC (${localTime(ms)} ${zone(ms)})` : `${text} UTC`;
};
