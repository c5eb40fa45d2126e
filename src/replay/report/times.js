/* times.js - attempts, queue and slots over time, and the unusual events on the same axis. */

const time = run.time;
const begins = (i) => run.start_ms + i * time.width_ms;
const ends = (i) => Math.min(begins(i) + time.width_ms, Math.max(run.end_ms, begins(i) + 1));
const several = run.span_ms > DAY;

/* "08:00–08:01", with a date if the run has several, and the time the clock showed if it had been set. */
function stretchName(i) {
    const from = begins(i), to = ends(i), finest = time.width_ms % MINUTE === 0 ? MINUTE : time.width_ms % 1000 === 0 ? 1000 : 1;
    const wall = wallAt(from - run.start_ms);
    let text;
    if (time.width_ms >= DAY) text = to - from > DAY ? `${date(from)} to ${date(to - 1)}` : date(from);
    else text = `${several ? date(from) + ', ' : ''}${clock(from, finest)}–${clock(to, finest)}`;
    return wall !== null && wall !== from ? `${text} (the clock showed ${clock(wall, finest)})` : text;
}

const SLO_CHARTS = { queue_pressure: 'depth', saturation: 'slots', job_latency: 'attempts', cutoff_miss_rate: 'attempts' };

/* Where the process was down, the disk full, an SLO of this chart breached or the clock set. */
function drawMarks(root, x, id, bottom) {
    for (const mark of run.marks) {
        if (mark.kind === 'slo' && SLO_CHARTS[mark.name] !== id) continue;
        const left = x(run.start_ms + mark.from_ms);
        const right = x(mark.to_ms === null ? run.end_ms : Math.min(run.end_ms, run.start_ms + mark.to_ms));
        root.append(svg('rect', { class: 'band band-' + mark.kind, x: left, y: TOP, width: Math.max(right - left, 1.5), height: bottom - TOP }));
    }
}

/* A step line: constant within each interval. */
function stepPath(values, x, y, last) {
    let path = '', before = null;
    values.forEach((value, i) => {
        if (value !== before) path += before === null ? `M${x(begins(i)).toFixed(1)} ${y(value).toFixed(1)}`
            : `H${x(begins(i)).toFixed(1)}V${y(value).toFixed(1)}`;
        before = value;
    });
    return path + `H${x(last).toFixed(1)}`;
}

/* The unusual events within an interval. */
function meanwhile(i) {
    const from = begins(i) - run.start_ms, to = ends(i) - run.start_ms;
    const marks = run.marks.filter((mark) => mark.from_ms < to && (mark.from_ms >= from || mark.from_ms + markLasts(mark) > from));
    const slos = [...new Set(marks.filter((mark) => mark.kind === 'slo').map((mark) => mark.name))];
    const words = [...new Set(marks.filter((mark) => mark.kind !== 'slo').map((mark) => MARKS_NOW[mark.kind]))];
    if (slos.length > 0) words.push(`${listed(slos)} ${slos.length === 1 ? 'was' : 'were'} breached`);
    return words.length > 0 ? '; ' + listed(words) : '';
}

const group = [];

/* series: [{ class, name, values, kind: 'area', 'peak' or 'bar' }]; bars stand on each other, an area before its peaks. */
function timeChart(o) {
    const bars = o.series.filter((s) => s.kind === 'bar');
    const tops = o.series[0].values.map((_, i) => Math.max(sum(bars.map((s) => s.values[i])), ...o.series.map((s) => s.values[i])));
    const highest = most(tops), last = ends(time.len - 1);
    const top = () => {
        const near = o.limit && o.limit.value <= highest * 5 ? o.limit.value * 1.04 : 0;
        return Math.max(highest, near, 1);
    };

    function draw(root, width) {
        const height = 190, bottom = height - BOTTOM, ticks = niceTicks(top(), 3), max = ticks[ticks.length - 1];
        const x = (ms) => LEFT + (width - LEFT - RIGHT) * (ms - run.start_ms) / Math.max(last - run.start_ms, 1);
        const y = (value) => bottom - (bottom - TOP) * value / max;
        drawMarks(root, x, o.id, bottom);
        drawYAxis(root, width, height, ticks, y, short);
        const floor = new Array(time.len).fill(0);
        for (const s of o.series) {
            if (s.kind === 'bar') {
                const low = floor.slice();
                /* One timeout among a million stays visible. */
                s.values.forEach((value, i) => { floor[i] += value > 0 ? Math.max(value, 1.5 * max / (bottom - TOP)) : 0; });
                let path = '';
                s.values.forEach((value, i) => {
                    if (value > 0) path += `M${x(begins(i)).toFixed(1)} ${y(low[i]).toFixed(1)}V${y(floor[i]).toFixed(1)}H${Math.max(x(ends(i)), x(begins(i)) + 1.2).toFixed(1)}V${y(low[i]).toFixed(1)}Z`;
                });
                root.append(svg('path', { class: 'data fill-' + s.class, d: path || 'M0 0' }));
            } else {
                root.append(svg('path', { class: `data ${s.kind}-${s.class}`, d: stepPath(s.values, x, y, last) + `V${y(0)}H${x(run.start_ms)}Z` }));
            }
        }
        if (o.limit) drawLimit(root, width, y, o.limit, max);
        drawTimeAxis(root, width, height, x, run.start_ms, last);
        return {
            height,
            find: (px) => Math.floor((px - LEFT) / (width - LEFT - RIGHT) * (last - run.start_ms) / time.width_ms),
            spot: (i) => ({ x: x(begins(i)), y: TOP, width: Math.max(x(ends(i)) - x(begins(i)), 1.5), height: bottom - TOP }),
        };
    }
    return chart({ ...o, len: time.len, group, draw, empty: highest === 0 ? o.empty : null,
        start: indexOfMost(tops), say: (i) => `${stretchName(i)}: ${o.words(i)}${meanwhile(i)}`,
        legend: o.series.map((s) => ['swatch-' + s.class + ' ' + s.kind, s.name]),
        table: { head: ['From (UTC)', ...o.series.map((s) => s.name)],
            rows: () => tops.flatMap((value, i) => (value > 0 ? [[instant(begins(i)), ...o.series.map((s) => number(s.values[i]))]] : [])) } });
}

/* ---- Unusual events ---- */

const MARK_NAMES = { crash: 'Process down', clock: 'Clock set', store: 'Disk full' };
const SLO_UNITS = { tick_budget: 'ms', job_latency: 'ms', saturation: '%', cutoff_miss_rate: '%', queue_pressure: 'waiting' };

function sloValue(name, value) {
    if (!Number.isFinite(value)) return '–';
    if (SLO_UNITS[name] === '%') return number(100 * value) + '\u00a0%';
    return SLO_UNITS[name] === 'ms' ? duration(value) : number(value) + (SLO_UNITS[name] ? '\u00a0' + SLO_UNITS[name] : '');
}

const markLasts = (mark) => (mark.to_ms === null ? run.span_ms : Math.min(mark.to_ms, run.span_ms)) - mark.from_ms;

function markWords(mark) {
    const lasts = duration(markLasts(mark)), open = mark.to_ms === null ? ', to the end of the run' : '';
    if (mark.kind === 'crash') return `the process died and was down for ${lasts}${open}`;
    if (mark.kind === 'clock') return `the clock was set ${mark.step_ms < 0 ? 'back' : 'forward'} by ${duration(Math.abs(mark.step_ms))}`;
    if (mark.kind === 'store') return `every commit failed for ${lasts}`;
    return `${mark.name} breached for ${lasts}${open} (${sloValue(mark.name, mark.value)}, threshold ${sloValue(mark.name, mark.threshold)})`;
}

const MARKS_NOW = { crash: 'the process was down', clock: 'the clock was set', store: 'the disk was full' };
const markBrief = (mark) => (mark.kind === 'clock' ? (mark.step_ms > 0 ? '+' : '') + duration(mark.step_ms) : duration(markLasts(mark)));
const laneOf = (mark) => (mark.kind === 'slo' ? 'SLO ' + mark.name : MARK_NAMES[mark.kind]);

function lanesChart() {
    const lanes = [...new Set(['crash', 'clock', 'store', 'slo'].flatMap((kind) => marksOf(kind).map(laneOf)))];
    const end = run.end_ms;

    function draw(root, width) {
        const lane = 34, height = TOP + lanes.length * lane + BOTTOM;
        const x = (ms) => LEFT + (width - LEFT - RIGHT) * (ms - run.start_ms) / Math.max(end - run.start_ms, 1);
        const y = (mark) => TOP + lanes.indexOf(laneOf(mark)) * lane;
        const spot = (mark) => {
            const left = x(run.start_ms + mark.from_ms);
            return { x: left - 1, y: y(mark) + 13, width: Math.max(x(run.start_ms + mark.from_ms + markLasts(mark)) - left, 3) + 2, height: 14 };
        };
        root.append(svg('defs', {}, hatch('hatch-crash', 'fill-crash'), hatch('hatch-store', 'fill-store')));
        lanes.forEach((name, i) => {
            const bottom = TOP + i * lane + 31;
            root.append(svg('line', { class: 'grid', x1: LEFT, x2: width - RIGHT, y1: bottom, y2: bottom }),
                svg('text', { class: 'lane', x: LEFT, y: TOP + i * lane + 8 }, name));
        });
        const free = lanes.map(() => LEFT);
        run.marks.forEach((mark) => {
            const box = spot(mark), at = lanes.indexOf(laneOf(mark));
            root.append(svg('rect', { class: 'data mark-' + mark.kind, x: box.x + 1, y: box.y + 1, width: box.width - 2, height: 12, rx: 1.5 }));
            const text = markBrief(mark), room = text.length * 6.2 + 6, left = box.x + box.width + 3;
            if (left > free[at] && left + room < width - RIGHT) {
                root.append(svg('text', { class: 'mark-name', x: left, y: box.y + 11 }, text));
                free[at] = left + room;
            } else free[at] = left;
        });
        drawTimeAxis(root, width, height, x, run.start_ms, end);
        const distance = (mark, px, py) => {
            const box = spot(mark), middle = box.y + box.height / 2;
            return Math.max(box.x - px, px - box.x - box.width, 0) + 3 * Math.abs(py - middle);
        };
        return { height, spot: (i) => spot(run.marks[i]),
            find: (px, py) => run.marks.reduce((best, mark, i) => (distance(mark, px, py) < distance(run.marks[best], px, py) ? i : best), 0) };
    }
    const left = sum(Object.values(run.marks_count)) - run.marks.length;
    return chart({ id: 'marks', title: 'Unusual events', len: run.marks.length, draw,
        note: left > 0 ? `${number(left)} more are not shown; the report keeps the first 256 of each kind.` : null,
        empty: run.marks.length === 0 ? 'None: no crash, no step of the clock, no full disk, no breached SLO.' : null,
        legend: [['mark-crash', 'process down'], ['mark-clock', 'clock set'], ['mark-store', 'disk full'], ['mark-slo', 'SLO breached']]
            .filter(([name]) => marksOf(name.slice(5)).length > 0),
        say: (i) => `${instant(run.start_ms + run.marks[i].from_ms)}: ${markWords(run.marks[i])}`,
        table: { head: ['When (UTC)', 'What'],
            rows: () => run.marks.map((mark) => [instant(run.start_ms + mark.from_ms), markWords(mark)]) } });
}

/* ---- The charts ---- */

const WIDTHS = new Map([[1000, 'second'], [MINUTE, 'minute'], [HOUR, 'hour'], [DAY, 'day']]);
const each = () => WIDTHS.get(time.width_ms) || 'interval of ' + duration(time.width_ms);

function timeCharts() {
    const none = 'No jobs ran in this run.';
    return [
        lanesChart(),
        timeChart({ id: 'attempts', title: 'Attempts', note: `Attempts that ended in each ${each()}, by result.`, empty: none,
            series: [{ class: 'good', name: 'ok', values: time.ok, kind: 'bar' }, { class: 'cut', name: 'error', values: time.error, kind: 'bar' },
                { class: 'miss', name: 'timeout', values: time.timeout, kind: 'bar' }],
            words: (i) => `${number(time.ok[i])} ok, ${plural(time.error[i], 'error')}, ${plural(time.timeout[i], 'timeout')}` }),
        timeChart({ id: 'depth', title: 'Waiting in the queue', note: `Users waiting for a slot in each ${each()}.`,
            empty: 'No user had to wait.',
            limit: run.depth_avg_max > 0 ? { name: 'depth_avg_max', value: run.depth_avg_max, text: number(run.depth_avg_max) } : null,
            series: [{ class: 'depth', name: 'peak', values: time.depth_max, kind: 'peak' }, { class: 'depth', name: 'mean', values: time.depth_avg, kind: 'area' }],
            words: (i) => `peak ${number(time.depth_max[i])} waiting, mean ${number(time.depth_avg[i])}` }),
        timeChart({ id: 'slots', title: 'Running jobs', note: `Slots in use, in each ${each()}.`, empty: none,
            limit: run.max_concurrency > 0 ? { name: 'max_concurrency', value: run.max_concurrency, text: number(run.max_concurrency) } : null,
            series: [{ class: 'good', name: 'peak', values: time.in_flight_max, kind: 'peak' }, { class: 'good', name: 'mean', values: time.in_flight_avg, kind: 'area' }],
            words: (i) => `peak ${number(time.in_flight_max[i])} running, mean ${number(time.in_flight_avg[i])}` }),
    ];
}

