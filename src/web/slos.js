/* slos.js - the service levels: what is measured against what was promised. */
import { empty, h, loading, rowsIn, setAttr, setText, show } from './dom.js';
import { linkTo } from './router.js';
import { spark } from './spark.js';
import { duration, MINUTE, number, plural } from './words.js';

const percent = (n) => `${number(Number((100 * n).toPrecision(3)))}\u00a0%`;
const LEVELS = {
    tick_budget: ['Ticks are short', 'how long a tick takes, at the 95th percentile', duration],
    saturation: ['There is room for another job', 'the part of the time with no slot free', percent],
    queue_pressure: ['The queue is short', 'how many wait, on average', number],
    job_latency: ['Jobs are fast', 'how long a job takes, at the 95th percentile', duration],
    cutoff_miss_rate: ['Everybody gets theirs', 'the part of the outcomes that are cutoffs', percent],
};
const STATES = { ok: 'kept', over: 'over, no breach yet', breached: 'breached', no_data: 'nothing measured yet' };
const isOver = (item) => item.value !== null && item.value > item.threshold;
/* One bad look, or one that is in doubt, is no breach; but it is not as it should be. */
const stateOf = (item) => (item.state === 'ok' && isOver(item) ? 'over' : item.state);

function level(item) {
    const [title, measured, format] = LEVELS[item.name] || [item.name, '', number];
    const state = h('span', { class: 'state' }), value = h('span', { class: 'value' }), limit = h('span', { class: 'against' }), note = h('p', { class: 'note' });
    const bar = h('span', { class: 'bar' }), line = h('span', { class: 'threshold' }), gauge = h('div', { class: 'gauge', 'aria-hidden': 'true' }, bar, line), past = spark('running', `${title}: as it was measured while this page was open`);
    return {
        node: h('li', { class: 'card level' }, h('div', { class: 'card-head' }, h('h2', null, title), state), h('p', null, value, limit), gauge, past.node, note, h('p', { class: 'over' }, h('code', null, item.name), ' ', measured)),
        update(now, history, at) {
            setText(state, STATES[stateOf(now)]);
            setAttr(state, 'data-state', stateOf(now));
            setText(value, now.value === null ? '–' : format(now.value));
            setText(limit, `against at most ${format(now.threshold)}, over ${plural(now.window_minutes, 'minute')}`);
            const most = Math.max(now.threshold, now.value || 0) * 1.25 || 1;
            bar.style.width = `${100 * (now.value || 0) / most}%`;
            line.style.left = `${100 * now.threshold / most}%`;
            setAttr(bar, 'class', isOver(now) ? 'bar over-limit' : 'bar');
            past.update(history, at, Math.max(now.window_minutes * MINUTE, 15 * MINUTE), { limit: now.threshold, format });
            show(past.node, history.filter((p) => p.value !== null).length > 4);
            note.replaceChildren(...(now.streak > 0 ? [`${plural(now.streak, 'look')} in a row found it over. `] : []), ...(now.worst_due ? ['The worst minute is ', h('a', { href: linkTo('today', [now.worst_due]) }, now.worst_due), '.'] : []));
            show(note, note.childNodes.length > 0);
        },
    };
}

export function slosView({ model }) {
    const list = h('ul', { class: 'levels' }), rows = rowsIn(list), note = h('div', null, loading()), lead = h('p', { class: 'lead' });
    function draw() {
        const items = model.slo;
        if (!model.status) return;
        note.replaceChildren(items === null ? empty('The watcher of the service levels is being started again.', 'That takes a moment.') : items.length ? '' : empty('No service level is on.'));
        const over = (items || []).filter((item) => item.state === 'breached').length;
        setText(lead, items?.length ? over ? `${plural(over, 'service level is', 'service levels are')} breached.` : 'None is breached. It takes several looks in a row for a breach, so that one bad minute warns nobody.' : '');
        const at = model.now();
        rows(items || [], (item) => item.name, (item) => { const one = level(item); return { node: one.node, update: (now) => one.update(now, model.sloHistory.get(now.name) || [], at) }; });
    }
    draw();
    return { title: 'Service levels', node: h('section', null, h('div', { class: 'head' }, h('div', null, h('h1', null, 'Service levels'), lead)), note, list), update: (changed) => { if (changed.has('slo') || changed.has('status')) draw(); } };
}
