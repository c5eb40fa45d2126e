/* today.js - how many users are done today: the day at a glance, by the hour, and down to the users of a minute. */
import { figure, h, loading, setText, show } from './dom.js';
import { hour } from './hour.js';
import { minuteUsers } from './minute.js';
import { goTo, linkTo } from './router.js';
import { strip, waiting } from './strip.js';
import { dayLong, dayOf, dueMinute, dueText, minuteOf, number, plural, share } from './words.js';

/* The day in one sentence. anybody: users are registered, if only for a later day. */
function verdict(t, anybody) {
    if (t.users === 0) return anybody ? 'No users are due today' : 'No users registered yet';
    const open = t.pending, users = plural(t.users, 'user');
    if (t.cutoff_reached === 0 && open === 0) return t.users === 1 ? `${users} done today` : `All ${users} done today`;
    if (open === 0) return `${number(t.cutoff_reached)} of ${users} missed their cutoff`;
    if (t.cutoff_reached === 0) return `${number(t.success)} of ${users} done, no cutoff missed`;
    return `${number(t.success)} of ${users} done, ${number(t.cutoff_reached)} missed their cutoff`;
}

/* The strip as a table. Drawn only while it is open. */
function table() {
    const body = h('tbody');
    const node = h('details', { class: 'alternative' }, h('summary', null, 'Table by hour'),
        h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'The day by the hour' }, h('table', { class: 'numbers' },
            h('thead', null, h('tr', null, ['Hour (UTC)', 'Users', 'Success', 'Cutoff', 'Running', 'Pending'].map((name) => h('th', { scope: 'col' }, name)))), body)));
    const cells = Array.from({ length: 24 }, (_, i) => {
        const values = Array.from({ length: 5 }, () => h('td'));
        body.append(h('tr', null, h('th', { scope: 'row' }, h('a', { href: linkTo('today', [dueText(i * 60)]) }, `${dueText(i * 60)}–${dueText(i * 60 + 59)}`)), values));
        return values;
    });
    let minutes = [];
    function draw() {
        if (!node.open) return;
        cells.forEach((values, i) => {
            const sums = [0, 0, 0, 0, 0];
            for (const m of minutes.slice(i * 60, i * 60 + 60))
                if (m) [m.users, m.success, m.cutoff_reached, m.running, waiting(m)].forEach((n, at) => { sums[at] += n; });
            sums.forEach((n, at) => setText(values[at], n === 0 ? '·' : number(n)));
        });
    }
    node.addEventListener('toggle', draw);
    return { node, update(now) { minutes = now; draw(); } };
}

function welcome(may) {
    return h('section', { class: 'card welcome' },
        h('h2', null, 'Register the first user'),
        h('p', null, 'diurnal runs one job a day for each user, before the user’s cutoff. It starts attempts when the window before the cutoff opens, and records the outcome.'),
        may('operate') ? h('p', null, h('a', { class: 'button primary', href: linkTo('users', [], { register: '1' }) }, 'Register a user'), ' ', h('a', { class: 'button', href: linkTo('users', [], { import: '1' }) }, 'Import a file'))
            : h('p', null, 'This session is read-only. Registering users needs a token with scope operate.'));
}

/* Everything below the title. */
function sheet({ model, may }) {
    const figures = { success: figure('Success', 'success'), running: figure('Running', 'running'), pending: figure('Pending', 'pending'), cutoff_reached: figure('Cutoff reached', 'cutoff_reached') };
    const pick = (minute) => goTo(linkTo('today', [dueText(minute)]), { replace: true });
    const day = strip({ onPick: pick }), zoom = hour({ onPick: pick }), users = minuteUsers(), numbers = table();
    const zoomTitle = h('h2'), follow = h('button', { type: 'button', class: 'quiet', onclick: () => goTo(linkTo('today'), { replace: true }) }, 'Back to now');
    const first = welcome(may), minutes = h('div', null,
        h('section', { class: 'card day' }, h('h2', { class: 'unseen' }, 'The day, minute by minute'), day.node, numbers.node),
        h('div', { class: 'drill' }, h('section', { class: 'card' }, h('div', { class: 'card-head' }, zoomTitle, follow), zoom.node), users.node));

    return {
        node: h('div', null, h('dl', { class: 'figures' }, Object.values(figures).map((one) => one.node)), first, minutes),
        draw(t, anybody) {
            figures.success.set(number(t.success), share(t.success, t.users));
            figures.cutoff_reached.set(number(t.cutoff_reached), share(t.cutoff_reached, t.users));
            figures.running.set(number(t.running), model.status ? `of ${plural(model.status.executor.max_concurrency, 'slot')}` : '');
            figures.pending.set(number(t.pending - t.running), share(t.pending - t.running, t.users));
            show(first, !anybody);
            show(minutes, anybody);
            numbers.update(model.minutes);
        },
        choose(at, now, follows) {
            const hourAt = Math.floor(at / 60) * 60;
            const shown = { minutes: model.minutes, most: model.totals.most || 1, day: model.day, minute: at, follows, now, window: model.status?.daemon.window_minutes || 0 };
            day.update(shown);
            zoom.update(shown);
            users.update(at, model.minutes[at], model.day);
            setText(zoomTitle, `${dueText(hourAt)} to ${dueText(hourAt + 59)}`);
            show(follow, !follows);
        },
        mark: day.mark,
        leave() { day.leave(); users.leave(); },
    };
}

export function todayView({ model, route, may }) {
    const title = h('h1', null, 'Today'), date = h('p', { class: 'over' }), content = h('div', null, loading());
    let below = null, chosen = null, lastMinute = null; /* below: made when there is something to show, so that the title paints sooner */

    const read = (where) => { chosen = dueMinute(where.args[0]); };
    const nowMinute = () => (model.day ? minuteOf(model.now()) : null);
    const minute = () => chosen ?? nowMinute() ?? 0;
    const choose = () => below.choose(minute(), nowMinute(), chosen === null);

    function draw() {
        setText(date, `${dayLong(model.day ?? dayOf(model.now()))} (UTC)`);
        if (!model.totals) return;
        if (!below) content.replaceChildren((below = sheet({ model, may })).node);
        const anybody = model.totals.users > 0 || model.status?.store.users > 0;
        setText(title, verdict(model.totals, anybody));
        below.draw(model.totals, anybody);
        choose();
    }
    read(route);
    draw();

    return {
        title: 'Today',
        node: h('section', { class: 'today' }, date, title, content),
        update(changed) {
            if (changed.has('minutes') || (changed.has('status') && model.totals?.users === 0)) draw();
            else if (below && changed.has('clock')) {
                below.mark(nowMinute());
                if (chosen === null && minute() !== lastMinute) choose();
            }
            lastMinute = minute();
        },
        moved(next) { read(next); if (below) choose(); },
        leave() { below?.leave(); },
    };
}
