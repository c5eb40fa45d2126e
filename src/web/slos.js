/* slos.js - the SLOs: each measured value beside its limit. */
import { empty, h, loading, rowsIn, setAttr, setText, show } from './dom.js';
import { linkTo } from './router.js';
import { spark } from './spark.js';
import { duration, MINUTE, number, plural } from './words.js';

const percent = (n) => `${number(Number((100 * n).toPrecision(3)))}\u00a0%`;
const TITLES = {
    tick_budget: 'Tick duration',
    saturation: 'Free slots',
    queue_pressure: 'Queue depth',
    job_latency: 'Job duration',
    cutoff_miss_rate: 'Users done by their cutoff',
    cutoff_burn_fast: 'Cutoff budget, last hour',
    cutoff_burn_slow: 'Cutoff budget, last 3 days',
};
const UNITS = { ms: duration, share: percent, count: number, times: (n) => `${number(Number(n.toPrecision(3)))}\u00d7` };
const STATES = { ok: 'within its limit', over: 'above its limit, not yet breached', breached: 'breached', no_data: 'no data yet' };
const isOver = (item) => item.value !== null && item.value > item.threshold;
/* A value above its limit that is not a breach yet has a state of its own on the page. */
const stateOf = (item) => (item.state === 'ok' && isOver(item) ? 'over' : item.state);

function level(item) {
    const title = TITLES[item.name] || item.name, format = UNITS[item.unit] || number;
    const state = h('span', { class: 'state' }), value = h('span', { class: 'value' }), limit = h('span', { class: 'against' }), note = h('p', { class: 'note' });
    const bar = h('span', { class: 'bar' }), line = h('span', { class: 'threshold' }), gauge = h('div', { class: 'gauge', 'aria-hidden': 'true' }, bar, line), past = spark('running', `${title}: values since this page was opened`);
    return {
        node: h('li', { class: 'card level' }, h('div', { class: 'card-head' }, h('h2', null, title), state), h('p', null, value, limit), gauge, past.node, note, h('p', { class: 'over' }, h('code', null, item.name), ' ', item.description)),
        update(now, history, at) {
            setText(state, STATES[stateOf(now)]);
            setAttr(state, 'data-state', stateOf(now));
            setText(value, now.value === null ? '–' : format(now.value));
            setText(limit, `limit ${format(now.threshold)}, over the last ${now.window_minutes === 1 ? 'minute' : plural(now.window_minutes, 'minute')}`);
            const most = Math.max(now.threshold, now.value || 0) * 1.25 || 1;
            bar.style.width = `${100 * (now.value || 0) / most}%`;
            line.style.left = `${100 * now.threshold / most}%`;
            setAttr(bar, 'class', isOver(now) ? 'bar over-limit' : 'bar');
            past.update(history, at, Math.max(now.window_minutes * MINUTE, 15 * MINUTE), { limit: now.threshold, format });
            show(past.node, history.filter((p) => p.value !== null).length > 4);
            note.replaceChildren(...(now.streak > 0 ? [now.streak === 1 ? 'Above the limit in the last check. ' : `Above the limit in the last ${now.streak} checks. `] : []), ...(now.worst_due ? ['Most missed due time: ', h('a', { href: linkTo('today', [now.worst_due]) }, now.worst_due), '.'] : []));
            show(note, note.childNodes.length > 0);
        },
    };
}

export function slosView({ model }) {
    const list = h('ul', { class: 'levels' }), rows = rowsIn(list), note = h('div', null, loading()), lead = h('p', { class: 'lead' });
    function draw() {
        const items = model.slo;
        if (!model.status) return;
        note.replaceChildren(items === null ? empty('The SLO watcher is restarting.', 'This takes a moment.') : items.length ? '' : empty('No SLO is on.'));
        const over = (items || []).filter((item) => item.state === 'breached').length;
        setText(lead, items?.length ? over ? `${plural(over, 'SLO is', 'SLOs are')} breached.` : 'No SLO is breached. A breach takes several checks in a row, so that one bad minute causes no warning.' : '');
        const at = model.now();
        rows(items || [], (item) => item.name, (item) => { const one = level(item); return { node: one.node, update: (now) => one.update(now, model.sloHistory.get(now.name) || [], at) }; });
    }
    draw();
    return { title: 'SLOs', node: h('section', null, h('div', { class: 'head' }, h('div', null, h('h1', null, 'SLOs'), lead)), note, list), update: (changed) => { if (changed.has('slo') || changed.has('status')) draw(); } };
}
