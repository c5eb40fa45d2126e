/* words.js - formats numbers, times and durations. All times are UTC. */

const MINUTE = 60000, HOUR = 60 * MINUTE, DAY = 24 * HOUR;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

const two = (n) => String(n).padStart(2, '0');

/* 1,234,567; a fraction has three significant digits. */
function number(n) {
    if (!Number.isFinite(n)) return '–';
    const text = Number.isInteger(n) || Math.abs(n) >= 1000 ? String(Math.round(n)) : String(Number(n.toPrecision(3)));
    return text.replace(/^(-?\d+)/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ','));
}

/* 1.5k, 20M: for an axis. */
function short(n) {
    for (const [size, unit] of [[1e9, 'G'], [1e6, 'M'], [1e3, 'k']])
        if (n >= size) return number(Number((n / size).toPrecision(3))) + unit;
    return number(n);
}

/* 100 % only if all, and 0 % only if none. */
function share(part, whole) {
    if (whole === 0) return '–';
    const percent = 100 * part / whole;
    if (part === 0) return '0\u00a0%';
    if (part === whole) return '100\u00a0%';
    if (percent < 0.1) return '<\u00a00.1\u00a0%';
    if (percent > 99.9) return '>\u00a099.9\u00a0%';
    return percent.toFixed(percent < 10 || percent > 90 ? 1 : 0) + '\u00a0%';
}

function plural(n, one, many = one + 's') {
    return number(n) + '\u00a0' + (n === 1 ? one : many);
}

/* 250 µs, 1.5 s, 2 min, 1 h 30 min, 3 days. */
function duration(ms) {
    const sign = ms < 0 ? '−' : '', size = Math.abs(ms);
    const whole = (unit, name, rest, part) => {
        const n = Math.floor(size / unit), left = Math.round((size - n * unit) / rest);
        return left === unit / rest ? `${n + 1} ${name}` : left > 0 ? `${n} ${name} ${left} ${part}` : `${n} ${name}`;
    };
    let text;
    if (size === 0) text = '0 ms';
    else if (size < 1) text = number(size * 1000) + ' µs';
    else if (size < 1000) text = number(size) + ' ms';
    else if (size < MINUTE) text = number(Math.round(size / 10) / 100) + ' s';
    else if (size < HOUR) text = whole(MINUTE, 'min', 1000, 's');
    else if (size < DAY) text = whole(HOUR, 'h', MINUTE, 'min');
    else text = whole(DAY, size < 2 * DAY ? 'day' : 'days', HOUR, 'h');
    return sign + text.replace(/ /g, '\u00a0');
}

/* "08:00", with seconds or milliseconds if `finest` needs them. */
function clock(ms, finest = MINUTE) {
    const at = new Date(ms);
    let text = two(at.getUTCHours()) + ':' + two(at.getUTCMinutes());
    if (finest < MINUTE) text += ':' + two(at.getUTCSeconds());
    if (finest < 1000) text += '.' + String(at.getUTCMilliseconds()).padStart(3, '0');
    return text;
}

const date = (ms) => new Date(ms).toISOString().slice(0, 10);
const dayName = (day) => date(day * DAY);
const shortDate = (ms) => `${new Date(ms).getUTCDate()} ${MONTHS[new Date(ms).getUTCMonth()]}`;
const dueName = (due) => two(Math.floor(due / 60)) + ':' + two(due % 60);

/* With seconds or milliseconds only if they are not zero. */
function instant(ms) {
    const finest = ms % 1000 !== 0 ? 1 : ms % MINUTE !== 0 ? 1000 : MINUTE;
    return date(ms) + ' ' + clock(ms, finest);
}

function listed(parts) {
    if (parts.length < 2) return parts.join('');
    return parts.slice(0, -1).join(', ') + ' and ' + parts[parts.length - 1];
}

