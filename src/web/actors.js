/* actors.js - the supervision tree: how busy each actor is, and which ones crashed lately. */
import { empty, h, loading, rowsIn, setAttr, setText, show } from './dom.js';
import { polled } from './polled.js';
import { bytes, duration, number, plural, when } from './words.js';

const COLUMNS = [['Mailbox', (a) => number(a.mailbox)], ['Mailbox peak', (a) => number(a.mailbox_peak)], ['Messages', (a) => number(a.handled)], ['Busy', (a) => duration(Number(a.busy_ms.toPrecision(2)))],
    ['Longest turn', (a) => duration(Number(a.longest_ms.toPrecision(2)))], ['Heap', (a) => bytes(a.heap_bytes)], ['Restarts', (a) => number(a.restarts)]];

/* Executions come and go by the hundred, so they share one line. An actor whose supervisor is not listed stands at the top. */
function tree(items) {
    const runs = items.filter((a) => a.class === 'execution'), named = items.filter((a) => a.class !== 'execution');
    if (runs.length) named.push({ ...runs[0], name: `execution × ${runs.length}`, key: 'executions', ...Object.fromEntries(['mailbox', 'mailbox_peak', 'handled', 'busy_ms', 'heap_bytes'].map((k) => [k, runs.reduce((sum, run) => sum + run[k], 0)])), longest_ms: Math.max(...runs.map((run) => run.longest_ms)) });
    const names = new Set(named.map((a) => a.name)), lines = [];
    const walk = (parent, depth) => { for (const a of named) if ((names.has(a.supervisor) && a.supervisor !== a.name ? a.supervisor : null) === parent) { lines.push({ ...a, depth }); if (a.name !== null) walk(a.name, depth + 1); } };
    walk(null, 0);
    return lines;
}

function row() {
    const name = h('span', { class: 'name' }), cls = h('span', { class: 'class' }), loop = h('td'), cells = COLUMNS.map(() => h('td')), head = h('th', { scope: 'row' }, name, cls);
    return {
        node: h('tr', null, head, loop, cells),
        update(a) {
            head.style.paddingLeft = `${a.depth * 1.4}em`;
            setAttr(head, 'class', a.depth ? 'child' : null);
            setText(name, a.name);
            setText(cls, a.class !== a.name ? a.class : '');
            setText(loop, a.loop);
            COLUMNS.forEach(([, of], i) => setText(cells[i], of(a)));
            setAttr(cells[6], 'class', a.restarts > 0 ? 'notable' : null);
        },
    };
}

export function actorsView({ model }) {
    const body = h('tbody'), rows = rowsIn(body), note = h('div', null, loading()), loops = h('dl', { class: 'figures' }), crashes = h('div'), tables = h('div', { hidden: true });
    tables.append(loops, h('section', { class: 'card' }, h('h2', null, 'Supervision tree'), h('div', { class: 'scroll whole', tabindex: 0, role: 'region', 'aria-label': 'Actors' }, h('table', { class: 'numbers actors' },
        h('thead', null, h('tr', null, h('th', { scope: 'col' }, 'Actor'), h('th', { scope: 'col' }, 'Loop'), COLUMNS.map(([title]) => h('th', { scope: 'col' }, title)))), body))),
        h('section', { class: 'card' }, h('h2', null, 'Recent crashes'), crashes));
    function draw(answer) {
        show(tables, true);
        rows(tree(answer.items), (a) => a.key || `${a.loop} ${a.name}`, row);
        loops.replaceChildren(...answer.loops.map((l) => h('div', { class: 'figure' }, h('dt', null, `Loop ${l.name}`), h('dd', null, number(l.handled)), h('dd', { class: 'more' }, `messages; ${plural(l.actors, 'actor')}, ${bytes(l.memory_bytes)}${l.crashed ? `, ${plural(l.crashed, 'crash', 'crashes')}` : ''}${l.dead_letters ? `, ${plural(l.dead_letters, 'dead letter')}` : ''}`))));
        const key = JSON.stringify(answer.crashes);
        if (crashes.dataset.key === key) return;
        crashes.dataset.key = key;
        crashes.replaceChildren(answer.crashes.length === 0 ? empty('No actor has crashed.') : h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Recent crashes' }, h('table', null,
            h('thead', null, h('tr', null, ['Time (UTC)', 'Actor', 'Reason', 'Detail'].map((name) => h('th', { scope: 'col' }, name)))),
            h('tbody', null, [...answer.crashes].sort((a, b) => (a.at < b.at ? 1 : -1)).map((c) => h('tr', null, h('td', null, when(c.at, model.day)), h('th', { scope: 'row' }, c.name), h('td', null, c.reason), h('td', null, h('bdi', null, c.why))))))));
    }
    const poll = polled(model, '/actors', { note, draw, everyMs: 2000 });
    return { title: 'Actors', node: h('section', null, h('h1', null, 'Actors'), note, tables), leave: poll.leave };
}
