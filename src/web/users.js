/* users.js - the registered users: search, register one, import a file. */
import { ask, page, userPath } from './api.js';
import { chip, dialog, empty, failure, h, later, loading, rowsIn, say, setText, show, theirs } from './dom.js';
import { openImport } from './import.js';
import { goTo, linkTo } from './router.js';
import { due, dueMinute, number, plural, when } from './words.js';

const PAGE = 50;
const TIME = { class: 'time', inputmode: 'numeric', maxlength: 5, placeholder: 'HH:MM', autocomplete: 'off', spellcheck: 'false' };
const field = (id, label, input, hint) => h('div', { class: 'field' }, h('label', { for: id }, label), input, hint && h('span', { class: 'hint', id: id + '-hint' }, hint));

/* People write 8:00 for 08:00. */
const asDue = (text) => text.trim().replace(/^(\d):/, '0$1:');

export function openRegister({ model, onDone }) {
    const id = h('input', { id: 'new-id', autocomplete: 'off', spellcheck: 'false', autocapitalize: 'off', required: true, 'aria-describedby': 'new-id-hint' });
    const time = h('input', { id: 'new-due', required: true, 'aria-describedby': 'new-due-hint', ...TIME });
    const from = h('select', { id: 'new-from' }, h('option', { value: '' }, 'at the next cutoff'), h('option', { value: 'today' }, 'today, even if the cutoff has passed'));
    const one = dialog({
        title: 'Register a user', action: 'Register',
        body: [field('new-id', 'Id', id, 'The id your application uses for the user; 1 to 128 bytes.'),
            field('new-due', 'Due every day at (UTC)', time, `The cutoff. It is now ${new Date(model.now()).toISOString().slice(11, 16)} UTC.`),
            field('new-from', 'First day', from)],
        async act() {
            const at = asDue(time.value);
            if (!id.value) { id.focus(); throw new Error('Enter an id.'); }
            if (dueMinute(at) === null) { time.focus(); throw new Error('Invalid time; use HH:MM, for example 08:00.'); }
            const user = await ask('PUT', userPath(id.value), { due: at, ...(from.value && { starts_on: from.value }) });
            say(`Registered ${user.id}, due at ${user.due} UTC.`);
            onDone(user);
        },
    });
    return one;
}

export function usersView({ model, route, may }) {
    const filters = { q: '', status: '', due_from: '', due_to: '' };
    const q = h('input', { id: 'q', type: 'search', placeholder: 'starts with…', autocomplete: 'off', spellcheck: 'false' });
    const status = h('select', { id: 'status' }, [['', 'any'], ['success', 'success'], ['cutoff_reached', 'cutoff reached']].map(([value, text]) => h('option', { value }, text)));
    const from = h('input', { id: 'due_from', 'aria-label': 'Due from', ...TIME }), to = h('input', { id: 'due_to', 'aria-label': 'Due to', ...TIME });
    const total = h('p', { class: 'lead' }), note = h('div'), place = h('p', { class: 'place' });
    const body = h('tbody'), rows = rowsIn(body);
    const table = h('div', { class: 'scroll whole', tabindex: 0, role: 'region', 'aria-label': 'Users' }, h('table', { class: 'users' }, h('thead', null, h('tr', null,
        ['User', 'Due (UTC)', 'Last day', 'Outcome', 'Last success (UTC)'].map((name) => h('th', { scope: 'col' }, name)))), body));
    const back = h('button', { type: 'button', onclick: () => { cursors.pop(); read(); } }, 'Back'), next = h('button', { type: 'button', onclick: () => { cursors.push(following); read(); } }, 'Next');
    const clear = h('button', { type: 'button', class: 'quiet', onclick: () => { goTo(linkTo('users'), { replace: true }); q.focus(); } }, 'Clear');
    let cursors = [null], following = null, reading = null, seen = 0;

    async function read() {
        reading?.abort();
        const own = reading = new AbortController();
        try {
            const list = await page('/daily/users', { ...filters, limit: PAGE, cursor: cursors.at(-1) }, own.signal);
            following = list.next_cursor;
            seen = list.items.length;
            rows(list.items, (user) => user.id, row);
            const first = (cursors.length - 1) * PAGE, any = Object.values(filters).some(Boolean);
            show(table, seen > 0);
            show(back, cursors.length > 1);
            show(next, Boolean(following));
            setText(place, seen > 0 ? `${number(first + 1)} to ${number(first + seen)}` : '');
            note.replaceChildren(seen > 0 ? '' : cursors.length > 1 ? empty('No more users.') : any ? empty('No users match.', 'The search matches the start of the id. Times are UTC.') : empty('No users registered yet.'));
        } catch (error) {
            if (error.name === 'AbortError') return;
            show(table, false);
            note.replaceChildren(failure(error, read));
        }
    }
    function row(user) {
        const time = h('td'), last = h('td'), state = h('td'), run = h('td');
        let key = '';
        return {
            node: h('tr', null, h('th', { scope: 'row' }, h('a', { href: linkTo('users', [user.id]) }, theirs(user.id))), time, last, state, run),
            update(now) {
                const fresh = JSON.stringify(now);
                if (fresh === key) return;
                key = fresh;
                time.replaceChildren(due(now.due, model.day || '2000-01-01'));
                setText(last, now.last_date || '–');
                state.replaceChildren(now.status ? chip(now.status) : h('span', { class: 'none' }, now.starts_on > (model.day || now.starts_on) ? `starts ${now.starts_on}` : 'no outcome yet'));
                run.replaceChildren(when(now.last_run_at));
            },
        };
    }

    /* The filters and the address always agree. */
    const changed = later(250, () => {
        for (const input of [from, to]) {
            const at = asDue(input.value), good = input.value === '' || dueMinute(at) !== null;
            input.setAttribute('aria-invalid', good ? 'false' : 'true');
            if (!good) return;
            input.value = input.value && at;
        }
        goTo(linkTo('users', [], { q: q.value, status: status.value, due_from: from.value, due_to: to.value }), { replace: true });
    });
    const form = h('form', { class: 'filters', role: 'search', 'aria-label': 'Users', onsubmit: (event) => event.preventDefault(), oninput: changed },
        h('label', null, h('span', null, 'Id'), q), h('label', null, h('span', null, 'Last outcome'), status),
        h('span', { class: 'range' }, h('span', null, 'Due'), from, h('span', { 'aria-hidden': 'true' }, 'to'), to), clear);

    function take(where) {
        for (const key of Object.keys(filters)) filters[key] = where.query.get(key) || '';
        for (const [input, key] of [[q, 'q'], [status, 'status'], [from, 'due_from'], [to, 'due_to']])
            if (document.activeElement !== input || !input.value) input.value = filters[key];
        show(clear, Object.values(filters).some(Boolean));
        cursors = [null];
        note.replaceChildren(loading());
        read();
    }
    const register = () => openRegister({ model, onDone: (user) => goTo(linkTo('users', [user.id])) });
    const bring = () => openImport({ onDone: () => { if (table.isConnected) read(); } });
    const buttons = may('operate') && h('div', { class: 'actions' }, h('button', { type: 'button', class: 'primary', onclick: register }, 'Register a user'), h('button', { type: 'button', onclick: bring }, 'Import a file'));
    const tell = () => setText(total, model.status ? `${plural(model.status.store.users, 'registered user')}` : '\u00a0');

    show(table, false);
    take(route);
    tell();
    if (may('operate') && route.query.get('register')) queueMicrotask(register);
    if (may('operate') && route.query.get('import')) queueMicrotask(bring);
    return {
        title: 'Users',
        node: h('section', null, h('div', { class: 'head' }, h('div', null, h('h1', null, 'Users'), total), buttons),
            h('div', { class: 'card' }, form, note, table, h('div', { class: 'pages' }, back, place, next))),
        update: (told) => { if (told.has('status')) tell(); },
        moved: take,
        leave() { changed.cancel(); reading?.abort(); },
    };
}
