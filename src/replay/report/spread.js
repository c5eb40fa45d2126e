/* spread.js - distributions of durations, on a logarithmic axis. */

const IN_TEN = 10; /* bars from 1 to 10 */

/* Round durations, from many to few; above a second they are those of a clock. */
const SMALL = [0.001, 0.01, 0.1, 1, 10, 100, 1000, 10000];
const ROUND = [
    [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 30000, MINUTE,
        2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, DAY],
    [...SMALL, MINUTE, 10 * MINUTE, HOUR, 6 * HOUR, DAY],
    [...SMALL, MINUTE, HOUR, DAY],
    [0.001, 0.1, 10, 1000, MINUTE, HOUR],
    [0.001, 1, 1000, HOUR],
];

function spreadChart(o) {
    const total = sum(o.series.flatMap((s) => s.buckets.map((b) => b[2])));
    if (total === 0) return chart({ id: o.id, title: o.title, note: o.note, empty: o.empty });

    /* A logarithm has no zero, so a duration below the least counts as the least. */
    const least = o.least, place = (ms) => Math.log10(Math.max(ms, least));
    const slot = (ms) => Math.floor(place(ms) * IN_TEN + 1e-9);
    const lowest = Math.min(...o.series.flatMap((s) => s.buckets.map((b) => slot(b[0]))));
    const highest = Math.max(...o.series.flatMap((s) => s.buckets.map((b) => slot(b[0]))), o.limit ? slot(o.limit.value) : -Infinity);
    const first = Math.floor((lowest - 2) / 5) * 5, len = Math.max(Math.ceil((highest + 3) / 5) * 5 - first, 2 * IN_TEN);
    const counts = o.series.map((s) => {
        const bars = new Array(len).fill(0);
        for (const [low, , n] of s.buckets) bars[slot(low) - first] += n;
        return bars;
    });
    const all = counts[0].map((_, i) => sum(counts.map((bars) => bars[i])));
    const from = (i) => 10 ** ((first + i) / IN_TEN), name = (i) => `${duration(Number(from(i).toPrecision(2)))} to ${duration(Number(from(i + 1).toPrecision(2)))}`;

    function draw(root, width) {
        const height = 220, bottom = height - BOTTOM, head = 44, ticks = niceTicks(most(all), 3), max = ticks[ticks.length - 1];
        const cell = (width - LEFT - RIGHT) / len, x = (ms) => LEFT + (place(ms) * IN_TEN - first) * cell;
        const y = (value) => bottom - (bottom - head) * value / max, smallest = 2 * max / (bottom - head);
        drawYAxis(root, width, height, ticks, y, short);
        const floor = all.map(() => 0);
        o.series.forEach((s, kind) => {
            let path = '';
            counts[kind].forEach((n, i) => {
                if (n === 0) return;
                const tall = Math.max(n, smallest);
                path += `M${(LEFT + i * cell + 0.5).toFixed(1)} ${y(floor[i]).toFixed(1)}V${y(floor[i] + tall).toFixed(1)}h${(cell - 1).toFixed(1)}V${y(floor[i]).toFixed(1)}Z`;
                floor[i] += tall;
            });
            if (path) root.append(svg('path', { class: 'data fill-' + s.class, d: path }));
        });
        /* The finest set of round durations whose labels fit. */
        const shown = (set) => set.map((ms) => ({ ms, at: x(ms) })).filter(({ at }) => at >= LEFT - 1 && at <= width - RIGHT + 1);
        const roomy = (set) => shown(set).every(({ at }, i, all) => i === 0 || at - all[i - 1].at > 52);
        for (const { ms, at } of shown(ROUND.find(roomy) || [])) {
            root.append(svg('line', { class: 'axis', x1: at, x2: at, y1: bottom, y2: bottom + 4 }));
            drawXLabel(root, width, at, height - 6, duration(ms));
        }
        /* Quantiles close to each other share a line and a label. */
        const lines = [];
        for (const [text, ms] of [['p50', o.p50], ['p95', o.p95], ['p99', o.p99]]) {
            const before = lines[lines.length - 1];
            if (before && x(ms) - before.at < 26) before.text += ' ' + text;
            else lines.push({ text, at: x(ms) });
        }
        for (const line of lines) {
            root.append(svg('line', { class: 'quantile', x1: line.at, x2: line.at, y1: head - 6, y2: bottom }));
            drawXLabel(root, width, line.at, head - 10, line.text);
        }
        if (o.limit) {
            const at = x(o.limit.value), end = at > width * 0.55;
            root.append(svg('line', { class: 'limit', x1: at, x2: at, y1: 6, y2: bottom }),
                svg('text', { class: 'limit-name', x: end ? at - 5 : at + 5, y: 14, 'text-anchor': end ? 'end' : 'start' }, `${o.limit.name} ${o.limit.text}`));
        }
        return { height, find: (px) => Math.floor((px - LEFT) / cell),
            spot: (i) => ({ x: LEFT + i * cell, y: head, width: cell, height: bottom - head }) };
    }
    const words = (i) => (o.series.length === 1 ? plural(all[i], o.one) :
        `${plural(all[i], o.one)} (${o.series.map((s, kind) => `${number(counts[kind][i])} ${s.name}`).join(', ')})`);
    return chart({ id: o.id, title: o.title, note: o.note, len, draw, start: indexOfMost(all),
        legend: o.series.filter((s) => s.buckets.length > 0).map((s) => [`swatch-${s.class} bar`, s.name]),
        tools: el('p', { class: 'figures' }, [['p50', o.p50], ['p95', o.p95], ['p99', o.p99], ['longest', o.max]].map(([text, ms]) =>
            el('span', {}, el('b', {}, text), ' ', duration(ms)))),
        say: (i) => `${name(i)}: ${words(i)}, ${share(all[i], total)} of all`,
        table: { head: ['Duration', ...o.series.map((s) => s.name), 'Share'],
            rows: () => all.flatMap((n, i) => (n === 0 ? [] : [[name(i), ...counts.map((bars) => number(bars[i])), share(n, total)]])) } });
}

function spreadCharts() {
    const l = run.latency, t = run.tick_wall;
    return [
        spreadChart({ ...l, id: 'latency', title: 'Job durations', note: 'Attempts by duration, on a logarithmic scale.', one: 'job', least: 1,
            empty: 'No jobs ended in this run.',
            series: [{ class: 'good', name: 'ok', buckets: l.ok }, { class: 'cut', name: 'error', buckets: l.error }, { class: 'miss', name: 'timeout', buckets: l.timeout }],
            limit: run.job_p95_max_ms > 0 ? { name: 'job_p95_max_ms', value: run.job_p95_max_ms, text: duration(run.job_p95_max_ms) } : null }),
        spreadChart({ ...t, id: 'ticks', title: 'Tick durations', note: 'Measured by the clock of the replaying machine, so these numbers differ from run to run.', one: 'tick', least: 0.001,
            empty: 'No ticks in this run.',
            series: [{ class: 'depth', name: 'ticks', buckets: t.all }],
            limit: run.tick_budget_ms > 0 ? { name: 'tick_budget_ms', value: run.tick_budget_ms, text: duration(run.tick_budget_ms) } : null }),
    ];
}

