/* strip.js - the day as 1,440 due minutes with the outcomes of each; and a chart of the days. */

const stripName = (strip) => (strip.day === null ? 'All days' : dayName(strip.day));
const stripFailed = (strip) => sum(strip.cutoff_reached) + sum(strip.missed);

/* As many minutes in a row as can be told apart. */
const minutesInRow = (width) => (width >= 1000 ? 360 : width >= 640 ? 180 : width >= 480 ? 120 : 60);

/* chosen() is the strip of the selected day. */
function stripChart(chosen, tools) {
    let inRow = 360;
    const due = (i) => chosen().success[i] + chosen().cutoff_reached[i] + chosen().missed[i];
    const dueOfAll = () => Array.from({ length: 1440 }, (_, i) => due(i));

    function words(i) {
        const strip = chosen(), late = strip.late_success[i];
        if (due(i) === 0) return 'no users due';
        return `${plural(due(i), 'user-day')} due: ${number(strip.success[i])} succeeded, ${number(strip.cutoff_reached[i])} reached the cutoff, `
            + `${number(strip.missed[i])} missed${late > 0 ? `; ${plural(late, 'success', 'successes')} came too late` : ''}`;
    }

    /* The heights of a minute's three parts. A failure is always high enough to be visible. */
    function parts(i, full, tallest) {
        const strip = chosen(), all = due(i);
        if (all === 0) return [0, 0, 0];
        const height = full * (0.25 + 0.75 * Math.sqrt(all / tallest));
        const least = Math.min(3.5, height / 3);
        const tall = (n) => (n === 0 ? 0 : Math.max(height * n / all, least));
        const cut = tall(strip.cutoff_reached[i]), miss = tall(strip.missed[i]);
        const good = strip.success[i] === 0 ? 0 : Math.max(height - cut - miss, least), over = height / (good + cut + miss);
        return [good * over, cut * over, miss * over];
    }

    function draw(root, width) {
        inRow = minutesInRow(width);
        const left = inRow === 60 ? 26 : 40, rows = 1440 / inRow, bar = inRow === 60 ? 17 : 44, gap = inRow === 60 ? 4 : 22;
        const cell = (width - left - 2) / inRow, tallest = Math.max(most(dueOfAll()), 1);
        const x = (i) => left + (i % inRow) * cell, y = (i) => Math.floor(i / inRow) * (bar + gap) + bar;
        const paths = ['', '', ''];
        const names = ['good', 'cut', 'miss'];

        root.append(svg('defs', {}, hatch('hatch-miss', 'fill-miss')));
        for (let row = 0; row < rows; row++) {
            const base = y(row * inRow), hour = row * inRow / 60;
            root.append(svg('rect', { class: 'track', x: left, y: base - bar, width: cell * inRow, height: bar }),
                svg('text', { class: 'tick', x: left - 6, y: base - bar / 2 + 4, 'text-anchor': 'end' }, inRow === 60 ? two(hour) : dueName(row * inRow)));
            if (inRow > 60) for (let minute = 60; minute < inRow; minute += 60) {
                root.append(svg('line', { class: 'axis', x1: x(row * inRow + minute), x2: x(row * inRow + minute), y1: base, y2: base + 4 }));
                root.append(svg('text', { class: 'tick', x: x(row * inRow + minute), y: base + 15, 'text-anchor': 'middle' }, dueName(row * inRow + minute)));
            }
        }
        /* Adjacent minutes of equal heights are drawn as one bar. */
        for (let i = 0, end; i < 1440; i = end) {
            const heights = parts(i, bar, tallest), key = heights.join();
            for (end = i + 1; end < 1440 && end % inRow !== 0 && parts(end, bar, tallest).join() === key;) end++;
            let floor = y(i);
            heights.forEach((height, kind) => {
                if (height === 0) return;
                paths[kind] += `M${x(i).toFixed(2)} ${floor.toFixed(2)}v${(-height).toFixed(2)}h${((end - i) * cell).toFixed(2)}v${height.toFixed(2)}Z`;
                floor -= height;
            });
        }
        paths.forEach((path, kind) => path && root.append(svg('path', { class: 'data fill-' + names[kind] + (kind === 2 ? ' hatched' : ''), d: path })));
        return {
            height: rows * (bar + gap),
            find: (px, py) => Math.min(rows - 1, Math.max(0, Math.floor(py / (bar + gap)))) * inRow + Math.min(inRow - 1, Math.max(0, Math.floor((px - left) / cell))),
            spot: (i) => ({ x: x(i) - 1, y: y(i) - bar - 1, width: cell + 2, height: bar + 2 }),
        };
    }

    const failing = worstMinutes(chosen());
    return chart({ id: 'strip', title: 'The day, minute by minute', tools,
        note: 'Each bar is a due minute (UTC), coloured by the outcomes of its user-days; a taller bar has more of them.',
        empty: run.user_days === 0 ? 'No user-day ended in this run.' : null,
        legend: [['swatch-good bar', 'succeeded'], ['swatch-cut bar', 'reached the cutoff'], ['swatch-miss bar hatched', 'missed'], ['track', 'no users due']],
        len: 1440, start: failing.length > 0 ? failing[0].due : indexOfMost(dueOfAll()), draw, row: () => inRow,
        say: (i) => `${dueName(i)}: ${words(i)}`,
        table: { head: ['Due (UTC)', 'User-days', 'Succeeded', 'Reached the cutoff', 'Missed', 'Late successes'],
            rows: () => dueOfAll().flatMap((n, i) => (n === 0 ? [] : [[dueName(i), number(n), number(chosen().success[i]), number(chosen().cutoff_reached[i]),
                number(chosen().missed[i]), number(chosen().late_success[i])]])) } });
}

/* ---- Which day ---- */

/* The days kept minute by minute, those with the most failures first. */
function dayPicker(pick) {
    const kept = run.strips.map((strip, i) => ({ i, strip, failed: stripFailed(strip) })).slice(1);
    if (kept.length < 2) return null;
    const option = ({ i, strip, failed }) => el('option', { value: i }, stripName(strip) + (failed > 0 ? ` (${number(failed)} failed)` : ''));
    const bad = kept.filter((k) => k.failed > 0).sort((a, b) => b.failed - a.failed || a.i - b.i);
    const select = el('select', { id: 'day' },
        el('option', { value: 0 }, `All ${number(run.days.day.length)} days together`),
        bad.length > 0 && el('optgroup', { label: 'Most failures' }, bad.slice(0, 10).map(option)),
        el('optgroup', { label: kept.length < run.days.day.length ? 'First, last and most failures' : 'All days' }, kept.map(option)));
    select.addEventListener('change', () => pick(run.strips[Number(select.value)]));
    return el('p', { class: 'picker' }, el('label', { for: 'day' }, 'Day'), select);
}

/* ---- Days beside each other ---- */

function daysChart() {
    const d = run.days, len = d.day.length;
    const all = d.day.map((_, i) => d.success[i] + d.cutoff_reached[i] + d.missed[i]);
    const first = d.day[0], span = d.day[len - 1] - first + 1;

    function draw(root, width) {
        const height = 170, bottom = height - BOTTOM, ticks = niceTicks(most(all), 3), max = ticks[ticks.length - 1];
        const cell = (width - LEFT - RIGHT) / span, x = (i) => LEFT + (d.day[i] - first) * cell;
        const y = (value) => bottom - (bottom - TOP) * value / max, wide = Math.max(cell * (cell > 4 ? 0.86 : 1), 0.8);
        root.append(svg('defs', {}, hatch('hatch-days', 'fill-miss')));
        drawYAxis(root, width, height, ticks, y, short);
        const floor = all.map(() => 0), least = 2 * max / (bottom - TOP);
        for (const [name, values] of [['good', d.success], ['cut', d.cutoff_reached], ['miss', d.missed]]) {
            let path = '';
            values.forEach((value, i) => {
                if (value === 0) return;
                const tall = Math.max(value, least);
                path += `M${x(i).toFixed(2)} ${y(floor[i]).toFixed(2)}V${y(floor[i] + tall).toFixed(2)}h${wide.toFixed(2)}V${y(floor[i]).toFixed(2)}Z`;
                floor[i] += tall;
            });
            if (path) root.append(svg('path', { class: `data fill-${name}${name === 'miss' ? ' hatched' : ''}`, d: path }));
        }
        for (const tick of timeTicks(first * DAY, (first + span) * DAY - 1, Math.max(2, Math.floor((width - LEFT) / 74))))
            if (tick.at % DAY === 0) drawXLabel(root, width, LEFT + (tick.at / DAY - first + 0.5) * cell, height - 6, tick.text.includes(':') ? shortDate(tick.at) : tick.text);
        return { height, find: (px) => { /* the row whose day is nearest */
            const day = first + Math.floor((px - LEFT) / cell);
            return d.day.reduce((best, n, i) => (Math.abs(n - day) < Math.abs(d.day[best] - day) ? i : best), 0);
        }, spot: (i) => ({ x: x(i) - 1, y: TOP, width: wide + 2, height: bottom - TOP }) };
    }
    const failed = d.day.map((_, i) => d.cutoff_reached[i] + d.missed[i]);
    return chart({ id: 'days', title: 'Day by day', len, draw, start: most(failed) > 0 ? indexOfMost(failed) : 0,
        note: 'User-days by the date of their cutoff and their outcome.' + (d.left_out > 0 ? ' The run has more days than this page can show; the rest are left out.' : ''),
        legend: [['swatch-good bar', 'succeeded'], ['swatch-cut bar', 'reached the cutoff'], ['swatch-miss bar hatched', 'missed']],
        say: (i) => `${dayName(d.day[i])}: ${number(d.success[i])} of ${plural(all[i], 'user-day')} succeeded, ${number(d.cutoff_reached[i])} reached the cutoff, ${number(d.missed[i])} missed; ${plural(d.starts[i], 'attempt')}`,
        table: { head: ['Day', 'Succeeded', 'Reached the cutoff', 'Missed', 'Late successes', 'Attempts'],
            rows: () => d.day.map((day, i) => [dayName(day), ...[d.success, d.cutoff_reached, d.missed, d.late_success, d.starts].map((c) => number(c[i]))]) } });
}

