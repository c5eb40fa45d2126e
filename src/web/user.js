/* user.js - one user: what happened, what comes next, and the past days. */
import { ask, get, query, userPath } from './api.js';
import { chip, dialog, empty, failure, h, later, loading, say, setText, shape, show, STATE_WORDS, theirs } from './dom.js';
import { goTo, linkTo } from './router.js';
import { DAY, dayLong, dayOf, dayShort, dayStart, due, dueMinute, number, plural, when } from './words.js';

const DAYS = 35, WEEK = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
const weekday = (ms) => (new Date(ms).getUTCDay() + 6) % 7;

/* The last five weeks, or since the first day; weeks start on Monday. Each day is a cell, with a text for screen readers. */
function calendar(rows, today, startsOn) {
    const of = new Map(rows.map((row) => [row.day, row]));
    const last = dayStart(today), first = Math.max(last - (DAYS - 1) * DAY, Math.min(last, dayStart(startsOn))), cells = [];
    for (let at = first - weekday(first) * DAY; at <= last; at += DAY) {
        const day = dayOf(at), row = of.get(day), number = String(new Date(at).getUTCDate());
        if (at < first) { cells.push(h('li', { class: 'cell before', 'aria-hidden': 'true' })); continue; }
        const words = row ? `${STATE_WORDS[row.status]}${row.attempts ? `, ${plural(row.attempts, 'attempt')}` : ''}` : day === today ? 'not over yet' : 'no record';
        cells.push(h('li', { class: `cell ${row ? `is-${row.status}` : 'none'}${day === today ? ' today' : ''}`, title: `${dayLong(day)}: ${words}` },
            h('span', { class: 'date', 'aria-hidden': 'true' }, number), row && shape(row.status), h('span', { class: 'unseen' }, `${dayLong(day)}: ${words}`)));
    }
    return h('div', { class: 'calendar' }, h('div', { class: 'week', 'aria-hidden': 'true' }, WEEK.map((name) => h('span', null, name))), h('ul', null, cells));
}

function ledger(rows) {
    return h('details', { class: 'alternative', open: rows.length < 8 }, h('summary', null, 'As a table'), h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Days of the user' },
        h('table', null, h('thead', null, h('tr', null, ['Day', 'Outcome', 'Recorded at (UTC)', 'Attempts', 'Last error'].map((name) => h('th', { scope: 'col' }, name)))),
            h('tbody', null, rows.map((row) => h('tr', null, h('th', { scope: 'row', class: 'date' }, row.day), h('td', null, chip(row.status)), h('td', null, when(row.at, row.day)),
                h('td', { class: 'n' }, number(row.attempts)), h('td', null, row.error_class || h('span', { class: 'none' }, '–'))))))));
}

function openChange(user, onDone) {
    const time = h('input', { id: 'due', class: 'time', value: user.due, inputmode: 'numeric', maxlength: 5, autocomplete: 'off', required: true, 'aria-describedby': 'due-hint' });
    dialog({
        title: 'Change due time', action: 'Change',
        body: h('div', { class: 'field' }, h('label', { for: 'due' }, 'Due every day at (UTC)'), time, h('span', { class: 'hint', id: 'due-hint' }, 'A day that already has an outcome keeps it.')),
        async act() {
            const at = time.value.trim().replace(/^(\d):/, '0$1:');
            if (dueMinute(at) === null) { time.focus(); throw new Error('Invalid time; use HH:MM, for example 08:00.'); }
            await ask('PUT', userPath(user.id), { due: at });
            say(`${user.id} is now due at ${at} UTC.`);
            onDone();
        },
    });
    time.select();
}

function openRemove(user) {
    dialog({
        title: 'Remove this user?', action: 'Remove', danger: true,
        body: h('p', null, theirs(user.id), ' will have no more attempts, and the records of all past days will be deleted. This cannot be undone.'),
        async act() {
            await ask('DELETE', userPath(user.id));
            say(`Removed ${user.id}.`);
            goTo(linkTo('users'), { replace: true });
        },
    });
}

export function userView({ model, route, may }) {
    const place = h('div', null, loading()), title = h('h1'), buttons = h('div', { class: 'actions', hidden: true });
    const node = h('section', null, h('p', { class: 'over' }, h('a', { href: '#/users' }, 'Users')), h('div', { class: 'head' }, title, buttons), place);
    let id = null, user = null, reading = null, shown = '', minute = null, known = '';

    /* Unchanged nodes stay in place, so that a screen reader keeps its position. */
    const why = h('ul', { class: 'why' }), facts = h('dl', { class: 'facts' }), past = h('div');
    const whyCard = h('section', { class: 'card' }, h('h2', null, 'What happened and what comes next'), why), pastCard = h('section', { class: 'card' }, h('h2', null, 'Days'), past);

    async function read() {
        reading?.abort();
        const own = reading = new AbortController();
        known = JSON.stringify(model.minutes[minute]); /* set before the read: a change during it causes another */
        try {
            const [told, days] = await Promise.all([get(userPath(id) + '/why', own.signal), get(userPath(id) + '/days' + query({ limit: DAYS }), own.signal)]);
            draw(told.user, told.sentences, days.items);
        } catch (error) {
            if (error.name === 'AbortError') return;
            shown = '';
            show(buttons, false);
            place.replaceChildren(error.status === 404 ? empty('No user has this id.', 'The user was removed, or the id is spelled differently.') : failure(error, read));
        }
    }
    function draw(now, sentences, days) {
        user = now;
        show(buttons, true);
        if (!place.contains(whyCard)) place.replaceChildren(h('div', { class: 'pair' }, h('div', null, whyCard, h('section', { class: 'card' }, h('h2', { class: 'unseen' }, 'Facts'), facts)), pastCard));
        if (minute !== dueMinute(user.due)) { minute = dueMinute(user.due); known = ''; }
        sentences.forEach((sentence, i) => { if (why.children[i]) setText(why.children[i], sentence); else why.append(h('li', null, h('bdi', null, sentence))); });
        while (why.children.length > sentences.length) why.lastElementChild.remove();
        const today = model.day || dayOf(model.now()), key = JSON.stringify([user, days, today]);
        if (key === shown) return;
        shown = key;
        facts.replaceChildren(...[['Due (UTC)', due(user.due, today)], ['First day', user.starts_on], ['Last outcome', user.status ? h('span', null, chip(user.status), ' ', user.last_date) : '–'],
            ['Last success (UTC)', when(user.last_run_at, today)], ['Cutoffs reached (context epoch)', number(user.context_epoch)]].map(([name, value]) => h('div', null, h('dt', null, name), h('dd', null, value))));
        past.replaceChildren(calendar(days, today, user.starts_on), days.length ? ledger(days) : empty(`No outcome yet. The first day is ${dayShort(user.starts_on)}.`));
    }
    const soon = later(100, read);
    if (may('operate')) buttons.append(h('button', { type: 'button', onclick: () => openChange(user, read) }, 'Change due time'), h('button', { type: 'button', onclick: () => openRemove(user) }, 'Remove'));

    function take(where) {
        id = where.args[0];
        title.replaceChildren(theirs(id));
        document.title = `${id} · diurnal`;
        why.replaceChildren();
        read();
    }
    take(route);
    const goesOn = setInterval(() => { if (shown && model.connection.connected && !document.hidden) soon(); }, 10000); /* keeps sentences such as "in 9 min" current */
    return {
        title: id,
        node,
        update(changed) {
            if (shown && changed.has('minutes') && JSON.stringify(model.minutes[minute]) !== known) soon();
        },
        moved: take,
        leave() { clearInterval(goesOn); soon.cancel(); reading?.abort(); },
    };
}
