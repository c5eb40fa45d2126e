/* data.js - the run, read from the JSON in this page. */

const run = JSON.parse(document.getElementById('run').textContent);

/* [value, times, value, times, …] as one number each. */
function spelled(runs) {
    const all = [];
    for (let i = 0; i < runs.length; i += 2)
        for (let times = runs[i + 1]; times > 0; times--) all.push(runs[i]);
    return all;
}

for (const column of ['depth_max', 'depth_avg', 'in_flight_max', 'in_flight_avg', 'ok', 'error', 'timeout'])
    run.time[column] = spelled(run.time[column]);
for (const column of ['day', 'success', 'cutoff_reached', 'missed', 'late_success', 'starts'])
    run.days[column] = spelled(run.days[column]);
for (const strip of run.strips)
    for (const column of ['success', 'cutoff_reached', 'missed', 'late_success']) strip[column] = spelled(strip[column]);

run.end_ms = run.start_ms + run.span_ms;
run.user_days = run.success + run.cutoff_reached + run.missed;
run.failed = run.cutoff_reached + run.missed;
run.stops = run.ok + run.error + run.timeout;
run.marks.sort((a, b) => a.from_ms - b.from_ms);

const sum = (list) => list.reduce((all, n) => all + n, 0);
const most = (list) => list.reduce((max, n) => Math.max(max, n), 0);
const indexOfMost = (list) => list.reduce((best, n, i) => (n > list[best] ? i : best), 0);
const marksOf = (kind) => run.marks.filter((mark) => mark.kind === kind);

/* The due minutes with failures, most failures first; of equals the earliest. */
function worstMinutes(strip) {
    const minutes = [];
    for (let due = 0; due < 1440; due++) {
        const failed = strip.cutoff_reached[due] + strip.missed[due];
        if (failed > 0) minutes.push({ due, failed, of: failed + strip.success[due] });
    }
    return minutes.sort((a, b) => b.failed - a.failed || a.due - b.due);
}

/* The wall clock at steady_ms after the start; null if the report lacks some of its steps. */
function wallAt(steady_ms) {
    const steps = marksOf('clock');
    if (run.marks_count.clock > steps.length) return null;
    return run.start_ms + steady_ms + sum(steps.filter((s) => s.from_ms <= steady_ms).map((s) => s.step_ms));
}

