/* draw.js - elements, axes and ticks. Text goes in as text: nothing here takes HTML. */

function fill(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes || {}))
        if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value);
    for (const child of children.flat(Infinity))
        if (child !== null && child !== undefined && child !== false) node.append(child);
    return node;
}
const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) =>
    fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);

/* Text from outside. It may run right to left, so it is isolated from the text around it. */
const theirs = (text) => el('bdi', {}, text);

/* Ticks in steps of 1, 2 or 5; the last is the top of the axis. */
function niceTicks(max, wanted) {
    if (max <= 0) return [0, 1];
    const rough = max / wanted, size = 10 ** Math.floor(Math.log10(rough));
    let step = [1, 2, 5, 10].map((n) => n * size).find((n) => n >= rough * 0.999);
    if (max >= 1) step = Math.max(step, 1); /* counts are integers */
    const ticks = [];
    for (let i = 0; i === 0 || ticks[i - 1] < max * 0.999; i++) ticks.push(Number((i * step).toPrecision(12)));
    return ticks;
}

const TIME_STEPS = [100, 200, 500, 1000, 2000, 5000, 10000, 15000, 30000, MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE,
    15 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 14 * DAY];

function monthTicks(from, to, wanted) {
    const months = (to - from) / (30.4 * DAY);
    const step = [1, 2, 3, 6, 12, 24, 60, 120].find((n) => months / n <= wanted) || 600;
    const ticks = [], begin = new Date(from);
    for (let month = begin.getUTCFullYear() * 12 + begin.getUTCMonth(); ; month++) {
        const at = Date.UTC(Math.floor(month / 12), month % 12, 1);
        if (at > to) return ticks;
        if (at >= from && month % step === 0)
            ticks.push({ at, text: month % 12 === 0 ? String(Math.floor(month / 12)) : MONTHS[month % 12] });
    }
}

/* The ticks of the time axis and their labels: a date at the start of a day if the run has several. */
function timeTicks(from, to, wanted) {
    const step = TIME_STEPS.find((n) => (to - from) / n <= wanted);
    if (!step) return monthTicks(from, to, wanted);
    const ticks = [];
    for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
        const dated = step >= DAY || (at % DAY === 0 && to - from > DAY);
        ticks.push({ at, text: dated ? shortDate(at) : at === to && at % DAY === 0 && step >= MINUTE ? '24:00' : clock(at, step) });
    }
    return ticks;
}

/* Room around a plot, for its axes. */
const LEFT = 46, RIGHT = 10, TOP = 14, BOTTOM = 24;

function drawYAxis(root, width, height, ticks, y, format) {
    for (const tick of ticks) {
        root.append(svg('line', { class: tick === 0 ? 'axis' : 'grid', x1: LEFT, x2: width - RIGHT, y1: y(tick), y2: y(tick) }),
            svg('text', { class: 'tick', x: LEFT - 7, y: y(tick) + 4, 'text-anchor': 'end' }, format(tick)));
    }
}

/* A label at the edge is aligned to stay inside. */
function drawXLabel(root, width, x, y, text) {
    const half = text.length * 3.2;
    const anchor = x - half < LEFT - 20 ? 'start' : x + half > width ? 'end' : 'middle';
    root.append(svg('text', { class: 'tick', x: anchor === 'end' ? width - 1 : x, y, 'text-anchor': anchor }, text));
}

function drawTimeAxis(root, width, height, x, from, to) {
    const bottom = height - BOTTOM;
    for (const tick of timeTicks(from, to, Math.max(2, Math.floor((width - LEFT - RIGHT) / 74)))) {
        root.append(svg('line', { class: 'axis', x1: x(tick.at), x2: x(tick.at), y1: bottom, y2: bottom + 4 }));
        drawXLabel(root, width, x(tick.at), height - 6, tick.text);
    }
}

/* A dashed line with its name. A limit above the scale is drawn at the top and says so. */
function drawLimit(root, width, y, limit, top) {
    const above = limit.value > top, at = above ? TOP - 4 : y(limit.value);
    const under = at < 26;
    root.append(svg('line', { class: 'limit', x1: LEFT, x2: width - RIGHT, y1: at, y2: at }),
        svg('text', { class: 'limit-name', x: width - RIGHT - 4, y: under ? at + 13 : at - 5, 'text-anchor': 'end' },
            `${above ? '↑ ' : ''}${limit.name} ${limit.text}${above ? ', off the scale' : ''}`));
}

/* A hatch pattern, so that no state depends on colour alone. */
function hatch(id, className) {
    return svg('pattern', { id, width: 6, height: 6, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' },
        svg('rect', { class: className, width: 6, height: 6 }), svg('line', { class: 'hatch', y2: 6 }));
}

