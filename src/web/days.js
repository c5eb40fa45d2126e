/* days.js - the outcomes of past days. */
import { chip, empty, h, loading, setText, show } from './dom.js';
import { polled } from './polled.js';
import { dayShort, number, plural, share } from './words.js';

const STATES = ['success', 'cutoff_reached', 'missed'];

function bar(row) {
    const all = STATES.reduce((sum, state) => sum + row[state], 0);
    const node = h('div', { class: 'stack', 'aria-hidden': 'true' }, STATES.map((state) => row[state] > 0 && h('span', { class: `is-${state}` })));
    let at = 0;
    for (const state of STATES) if (row[state] > 0) node.children[at++].style.flexGrow = String(Math.max(row[state] / all, 0.004));
    return node;
}

export function daysView({ model }) {
    const note = h('div', null, loading()), body = h('tbody'), lead = h('p', { class: 'lead' });
    const card = h('section', { class: 'card', hidden: true }, h('p', { class: 'legend' }, STATES.map((state) => chip(state))), h('div', { class: 'scroll whole', tabindex: 0, role: 'region', 'aria-label': 'Days' }, h('table', { class: 'numbers days' },
        h('thead', null, h('tr', null, h('th', { scope: 'col' }, 'Day (UTC)'), h('td', null), ['Users', 'Success', 'Cutoff', 'Missed', 'Success rate'].map((name) => h('th', { scope: 'col' }, name)))), body)));
    let known = '', last = null;
    function draw(answer) {
        last = answer;
        const rows = [...answer.items].sort((a, b) => (a.day < b.day ? 1 : -1)), key = JSON.stringify(rows) + model.day;
        if (key === known) return;
        known = key;
        show(card, rows.length > 0);
        if (rows.length === 0) { note.replaceChildren(empty('No outcomes yet.', 'The first one is recorded when a user’s job succeeds or their cutoff is reached.')); return; }
        const over = rows.filter((row) => row.day !== model.day), missed = rows.reduce((sum, row) => sum + row.missed, 0);
        setText(lead, `${over.length ? `${plural(over.length, 'past day', 'past days')}.` : 'The first day is not over yet.'}${missed ? ` ${plural(missed, 'user-day')} missed because the daemon was not running at the cutoff.` : ''}`);
        body.replaceChildren(...rows.map((row) => {
            const all = row.success + row.cutoff_reached + row.missed;
            return h('tr', null, h('th', { scope: 'row' }, row.day === model.day ? h('a', { href: '#/today' }, 'Today, so far') : `${dayShort(row.day)}`, h('span', { class: 'date' }, row.day)), h('td', { class: 'picture' }, bar(row)),
                h('td', null, number(all)), STATES.map((state) => h('td', { class: row[state] > 0 && state !== 'success' ? 'notable' : null }, number(row[state]))), h('td', null, share(row.success, all)));
        }));
    }
    const poll = polled(model, '/daily/days', { note, draw, everyMs: 15000 });
    return { title: 'Days', node: h('section', null, h('div', { class: 'head' }, h('div', null, h('h1', null, 'Days'), lead)), note, card),
        update() { if (last && !known.endsWith(model.day)) draw(last); }, leave: poll.leave };
}
