/* settings.js - each setting of the daemon, and where its value comes from. */
import { h, loading, setText, show } from './dom.js';
import { polled } from './polled.js';
import { plural } from './words.js';

const FROM = { flag: 'flag', environment: 'environment', file: 'file', default: 'default' };
const shown = (value) => (value === '' ? h('span', { class: 'none' }, 'empty') : value === null ? h('span', { class: 'none' }, '–') : h('bdi', null, String(value)));

export function settingsView({ model }) {
    const note = h('div', null, loading()), body = h('tbody'), lead = h('p', { class: 'lead' });
    const only = h('input', { type: 'checkbox', id: 'only' }), card = h('section', { class: 'card', hidden: true },
        h('p', { class: 'only' }, only, h('label', { for: 'only' }, 'Hide defaults')),
        h('div', { class: 'scroll whole', tabindex: 0, role: 'region', 'aria-label': 'Settings' }, h('table', { class: 'settings' }, h('thead', null, h('tr', null, ['Setting', 'Value', 'From'].map((name) => h('th', { scope: 'col' }, name)))), body)));
    let items = [];
    function rows() {
        body.replaceChildren(...items.filter((item) => !only.checked || item.source !== 'default').map((item) => h('tr', { class: item.source === 'default' ? 'default' : null },
            h('th', { scope: 'row' }, h('code', null, item.key.split(/(?<=_)/).flatMap((part) => [part, h('wbr')]))), h('td', null, shown(item.value)), h('td', null, h('span', { class: 'source' }, FROM[item.source] || item.source), item.at && h('bdi', { class: 'at' }, item.at)))));
    }
    only.addEventListener('change', rows);
    const poll = polled(model, '/config', { note, draw(answer) {
        items = answer.items;
        const set = items.filter((item) => item.source !== 'default').length;
        setText(lead, `${set} of ${plural(items.length, 'setting')} ${set === 1 ? 'is' : 'are'} set; the others have their defaults. Set one by flag, environment variable or file; SIGHUP reloads the file.`);
        rows();
        show(card, true);
    } });
    return { title: 'Settings', node: h('section', null, h('div', { class: 'head' }, h('div', null, h('h1', null, 'Settings'), lead)), note, card), leave: poll.leave };
}
