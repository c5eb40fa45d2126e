/* strip.js - the day as 1,440 minutes, folded into as many lines as the width needs.
 * Users that are done, running or pending are drawn above the line; users whose cutoff was reached hang below it. So a failure
 * shows by its place, not by colour alone, and a single one is visible. Each line has one path per state, written only when
 * it changes. */
import { h, setAttr, setText, svg } from './dom.js';
import { DAY_MINUTES, dueText, dueWords, number, plural } from './words.js';

const LABELS = 17, TOP = 5;
const SIZES = [{ up: 54, down: 20 }, { up: 32, down: 13 }]; /* of a line, for few lines and for many */
const FOLDS = [1440, 720, 480, 360, 240]; /* minutes a line */
const LEAST_WIDTH = 1.25; /* of a minute, in pixels */
const PARTS = ['success', 'running', 'pending', 'cutoff_reached'];

export const waiting = (m) => Math.max(0, m.pending - m.running);

/* A minute as text, also for screen readers. */
export function minuteWords(minute, m, day) {
    const time = dueWords(dueText(minute), day);
    if (!m) return `${time}: no users due`;
    const parts = [[m.success, 'success'], [m.cutoff_reached, 'cutoff reached'], [m.running, 'running'], [waiting(m), 'pending']].filter(([n]) => n > 0).map(([n, word]) => `${number(n)} ${word}`);
    return `${time}: ${plural(m.users, 'user')}, ${parts.join(', ')}`;
}

/* The heights of a minute's parts: by square root, so that one user is visible beside a million, and no part is hidden. */
export function heightsOf(m, most, up, down) {
    const of = (n, room) => (n > 0 ? Math.max(3, Math.sqrt(n / most) * room) : 0);
    const full = of(m.users, up), part = (n) => (n > 0 ? Math.max(1.5, n / m.users * full) : 0);
    return { success: part(m.success), running: part(m.running), pending: part(waiting(m)), cutoff_reached: of(m.cutoff_reached, down) };
}

function row(first, minutes, width, { up, down }) {
    const base = TOP + up, bottom = base + down, height = bottom + LABELS;
    const x = (minute) => Math.round((minute - first) / minutes * width * devicePixelRatio) / devicePixelRatio;
    const paths = Object.fromEntries(PARTS.map((part) => [part, svg('path', { class: `bars is-${part}` })]));
    const now = svg('path', { class: 'now', hidden: true }), open = svg('rect', { class: 'open-window', y: TOP, height: up, hidden: true });
    const chosen = svg('rect', { class: 'chosen', y: 1, height: bottom - 1, hidden: true });
    const node = svg('svg', { width, height, viewBox: `0 0 ${width} ${height}`, 'aria-hidden': 'true' });
    const step = [60, 120, 180].find((n) => n / minutes * width >= 34) || 240;
    node.append(open);
    for (let at = first; at <= first + minutes; at += 60) {
        const labelled = at % step === 0, edge = at === first ? 'start' : at === first + minutes ? 'end' : 'middle';
        node.append(svg('path', { class: 'tick', d: `M${Math.min(width - 0.5, x(at) + 0.5)} ${labelled ? TOP : base}V${bottom}` }));
        if (labelled && at < first + minutes) node.append(svg('text', { x: x(at), y: height - 3, 'text-anchor': edge }, dueText(at)));
    }
    node.append(...Object.values(paths), svg('path', { class: 'base', d: `M0 ${base + 0.5}H${width}` }), chosen, now);

    return {
        node, first, last: first + minutes,
        draw(all, most) {
            const text = Object.fromEntries(PARTS.map((part) => [part, '']));
            for (let minute = first; minute < first + minutes; minute++) {
                const m = all[minute];
                if (!m) continue;
                const left = x(minute), wide = x(minute + 1) - left, w = wide >= 4 ? wide - 1 : wide;
                const heights = heightsOf(m, most, up, down - 2);
                const bar = (part, top, high) => { text[part] += `M${left} ${top.toFixed(1)}h${w}v${high.toFixed(1)}h-${w}z`; };
                let top = base;
                for (const part of ['success', 'running', 'pending'])
                    if (heights[part] > 0) { top -= heights[part]; bar(part, top, heights[part]); }
                if (heights.cutoff_reached > 0) bar('cutoff_reached', base + 1, heights.cutoff_reached);
            }
            for (const part of PARTS) setAttr(paths[part], 'd', text[part] || null);
        },
        mark(minute, nowMinute, windowMinutes) {
            const has = minute !== null && minute >= first && minute < first + minutes;
            setAttr(chosen, 'hidden', !has);
            if (has) { setAttr(chosen, 'x', x(minute) - 1.5); setAttr(chosen, 'width', x(minute + 1) - x(minute) + 3); }
            const isNow = nowMinute >= first && nowMinute < first + minutes;
            setAttr(now, 'hidden', !isNow);
            if (isNow) { const at = x(nowMinute); setAttr(now, 'd', `M${at} ${TOP}V${bottom}M${at - 4} 0h8l-4 5z`); }
            const from = Math.max(first, nowMinute ?? -1), to = Math.min(first + minutes, (nowMinute ?? -1) + windowMinutes);
            setAttr(open, 'hidden', nowMinute === null || to <= from);
            if (nowMinute !== null && to > from) { setAttr(open, 'x', x(from)); setAttr(open, 'width', x(to) - x(from)); }
        },
        minuteAt: (px) => Math.min(first + minutes - 1, Math.max(first, first + Math.floor(px / width * minutes))),
    };
}

/* onPick(minute) */
export function strip({ onPick }) {
    const place = h('div', { class: 'plot', tabindex: 0, role: 'slider', 'aria-label': 'Minute of the day', 'aria-describedby': 'strip-help', 'aria-valuemin': 0, 'aria-valuemax': DAY_MINUTES - 1, 'aria-orientation': 'horizontal' });
    const readout = h('p', { class: 'readout', 'aria-hidden': 'true' });
    const help = h('p', { id: 'strip-help', class: 'unseen' }, 'Arrow keys move by minutes, Page Up and Page Down by hours. The users of the selected minute are listed below. A table has the totals by hour.');
    const ruler = h('div'); /* as wide as the plot and empty: an observer must not change what it observes */
    let rows = [], width = 0, shown = { minutes: [], most: 1, minute: 0, follows: true, now: null, window: 0, day: '2000-01-01' }, hovered = null;

    function lay() {
        const wide = Math.floor(ruler.clientWidth);
        if (wide === width || wide === 0) return;
        width = wide;
        const fold = FOLDS.find((minutes) => width / minutes >= LEAST_WIDTH) || FOLDS.at(-1);
        rows = [];
        for (let first = 0; first < DAY_MINUTES; first += fold) rows.push(row(first, fold, width, SIZES[fold < 720 ? 1 : 0]));
        place.replaceChildren(...rows.map((one) => one.node));
        draw();
    }
    function draw() {
        for (const one of rows) { one.draw(shown.minutes, shown.most); one.mark(shown.follows ? null : shown.minute, shown.now, shown.window); }
        tell();
    }
    function tell() {
        const words = (minute) => minuteWords(minute, shown.minutes[minute], shown.day);
        setAttr(place, 'aria-valuenow', shown.minute);
        setAttr(place, 'aria-valuetext', words(shown.minute));
        setText(readout, words(hovered ?? shown.minute));
    }

    const minuteOf = (event) => {
        const one = rows.find(({ node }) => { const box = node.getBoundingClientRect(); return event.clientY >= box.top && event.clientY < box.bottom; });
        return one ? one.minuteAt(event.clientX - one.node.getBoundingClientRect().left) : null;
    };
    place.addEventListener('pointermove', (event) => { hovered = minuteOf(event); tell(); });
    place.addEventListener('pointerleave', () => { hovered = null; tell(); });
    place.addEventListener('click', (event) => { const minute = minuteOf(event); if (minute !== null) onPick(minute); });
    place.addEventListener('keydown', (event) => {
        const by = { ArrowLeft: -1, ArrowRight: 1, ArrowDown: -10, ArrowUp: 10, PageDown: -60, PageUp: 60 }[event.key];
        const to = by ? shown.minute + by : event.key === 'Home' ? 0 : event.key === 'End' ? DAY_MINUTES - 1 : null;
        if (to === null || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        onPick(Math.min(DAY_MINUTES - 1, Math.max(0, to)));
    });
    const observer = new ResizeObserver(lay);
    observer.observe(ruler);

    return {
        node: h('div', { class: 'strip' }, help, ruler, place, readout),
        update(next) { shown = { ...shown, ...next }; draw(); },
        /* Moves the line of the current minute. */
        mark(now) { if (now !== shown.now) { shown.now = now; rows.forEach((one) => one.mark(shown.minute, now, shown.window)); } },
        leave() { observer.disconnect(); },
    };
}
