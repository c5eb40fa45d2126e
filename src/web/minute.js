/* minute.js - the users due in one minute, and the state of each today. */
import { get, page, query } from './api.js';
import { chip, empty, failure, h, loading, rowsIn, show, theirs } from './dom.js';
import { linkTo } from './router.js';
import { due, dueText, number, when } from './words.js';

const PAGE = 50, RUNNING = 500;
const QUIET = 150, SHARE = 9; /* ms to wait before reading; then SHARE times as long as the last read took */

/* last_date on or after `day` means that the day has its outcome. A user whose first day is later is not pending. */
function stateOf(user, day, running) {
    if (user.last_date && user.last_date >= day) return user.status;
    if (running.has(user.id)) return 'running';
    return user.starts_on > day ? 'later' : 'pending';
}

export function minuteUsers() {
    const title = h('h2'), link = h('a', { class: 'all' }, 'Show in Users'), body = h('tbody'), rows = rowsIn(body);
    const table = h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Users of the minute' }, h('table', null,
        h('thead', null, h('tr', null, h('th', { scope: 'col' }, 'User'), h('th', { scope: 'col' }, 'Today'), h('th', { scope: 'col' }, 'Last success'))), body));
    const more = h('button', { type: 'button', hidden: true }, 'More'), note = h('div');
    let minute = null, day = null, known = '', limit = PAGE, reading = null, again = false, running = new Set(), timer = 0, took = 0;

    async function read() {
        reading?.abort();
        const own = reading = new AbortController(), at = dueText(minute), began = performance.now();
        try {
            const list = await page('/daily/users', { due_from: at, due_to: at, limit }, own.signal);
            const runs = known && JSON.parse(known)?.running > 0 ? await get('/daily/running' + query({ limit: RUNNING }), own.signal) : { items: [] };
            running = new Set(runs.items.map((item) => item.id));
            rows(list.items, (user) => user.id, makeRow);
            show(table, list.items.length > 0);
            show(more, Boolean(list.next_cursor) && limit < 500);
            note.replaceChildren(list.items.length === 0 ? empty('No user is due in this minute.') : '');
        } catch (error) {
            if (error.name === 'AbortError') return;
            show(table, false);
            note.replaceChildren(failure(error, read));
        } finally {
            if (reading === own) ended(performance.now() - began);
        }
    }
    function ended(ms) {
        reading = null;
        took = ms;
        if (again) soon();
        again = false;
    }
    const makeRow = (user) => {
        const state = h('td'), last = h('td'), name = h('a', { href: linkTo('users', [user.id]) }, theirs(user.id));
        let key = '';
        return {
            node: h('tr', null, h('th', { scope: 'row' }, name), state, last),
            update(now) {
                const is = stateOf(now, day, running), fresh = is + now.last_run_at + now.starts_on;
                if (fresh === key) return;
                key = fresh;
                state.replaceChildren(is === 'later' ? h('span', { class: 'none' }, `starts ${now.starts_on}`) : chip(is));
                last.replaceChildren(when(now.last_run_at, day));
            },
        };
    };
    /* A change during a read waits for its end, then causes one more. The daemon may scan millions of users for one read, so
     * the pause after a read grows with the time it took. */
    function soon() {
        timer ||= setTimeout(() => { timer = 0; if (reading) again = true; else read(); }, Math.max(QUIET, SHARE * took));
    }
    function stop() {
        clearTimeout(timer);
        timer = took = 0;
        reading?.abort();
        reading = null;
        again = false;
    }
    more.addEventListener('click', () => { limit = 500; read(); });

    return {
        node: h('section', { class: 'card minute-users' }, h('div', { class: 'card-head' }, title, link), note, table, more),
        /* item: the minute's counts. When they change, its users are read again. */
        update(nextMinute, item, nextDay) {
            const key = JSON.stringify(item ?? null);
            if (nextMinute === minute && key === known && nextDay === day) return;
            if (nextMinute !== minute) {
                stop();
                limit = PAGE;
                title.replaceChildren('Due at ', due(dueText(nextMinute), nextDay), item ? ` · ${number(item.users)}` : '');
                link.href = linkTo('users', [], { due_from: dueText(nextMinute), due_to: dueText(nextMinute) });
                note.replaceChildren(loading());
                show(table, false);
                show(more, false);
            }
            const isFirst = minute === null;
            minute = nextMinute;
            day = nextDay;
            known = key;
            if (isFirst) read();
            else soon(); /* a minute that is only passed over is not read */
        },
        leave: stop,
    };
}
