/* shell.js - what surrounds every view: navigation, session, clock, the state of the connection, and the daemon in the footer. */
import { closeDialogs, h, logo, say, setAttr, setText, show } from './dom.js';
import { routeOf } from './router.js';
import { clock, duration, isElsewhere, localTime, number, plural, zone } from './words.js';
import { actorsView } from './actors.js';
import { daysView } from './days.js';
import { queueView } from './queue.js';
import { settingsView } from './settings.js';
import { slosView } from './slos.js';
import { chooseTheme, theme } from './theme.js';
import { todayView } from './today.js';
import { userView } from './user.js';
import { usersView } from './users.js';

const PLACES = [['today', 'Today', todayView], ['users', 'Users', usersView], ['queue', 'Queue', queueView], ['slos', 'SLOs', slosView],
    ['actors', 'Actors', actorsView], ['days', 'Days', daysView], ['settings', 'Settings', settingsView]];
const SCOPES = ['none', 'read', 'operate', 'admin'];

const viewOf = (route) => (route.name === 'users' && route.args.length ? userView : PLACES.find(([name]) => name === route.name)?.[2]);

/* ---- Light and dark ---- */

function themeSwitch() {
    const select = h('select', { id: 'theme', onchange: () => chooseTheme(select.value) }, [['', 'System'], ['light', 'Light'], ['dark', 'Dark']].map(([value, text]) => h('option', { value }, text)));
    select.value = theme();
    return h('span', { class: 'theme' }, h('label', { for: 'theme' }, 'Colours'), select);
}

/* ---- The connection ---- */

function banner(model) {
    const text = h('p'), button = h('button', { type: 'button', onclick: () => model.retry() }, 'Try now');
    const node = h('div', { class: 'banner', hidden: true }, text, button);
    let since = null, wasLost = false;
    return {
        node,
        update() {
            const { connected, retryIn, error } = model.connection;
            const isLost = !connected && error !== null;
            if (isLost && !wasLost) { since = model.now(); say('Connection to the daemon lost. The page reconnects by itself.'); }
            if (connected && wasLost) say('Connected again.');
            if (connected || isLost) wasLost = isLost;
            show(node, isLost || Boolean(model.failed));
            if (isLost) setText(text, `${error} This page shows the state at ${clock(since)} UTC. ${retryIn > 0 ? `Next try in ${retryIn} s.` : 'Trying again…'}`);
            else if (model.failed) setText(text, `${model.failed.message} Trying again…`);
            show(button, isLost);
        },
    };
}

/* ---- The footer: the daemon in one line ---- */

function foot(model) {
    const daemon = h('p'), doing = h('p'), store = h('p', { class: 'alarm', hidden: true });
    return {
        node: h('footer', null, store, doing, daemon),
        update() {
            const s = model.status;
            if (!s) return;
            setText(daemon, `diurnal ${s.daemon.version}, process ${s.daemon.pid}, up ${duration(Math.floor((model.now() - Date.parse(s.daemon.started_at)) / 1000) * 1000)}; data in ${s.daemon.data}, runner ${s.daemon.runner}`);
            setText(doing, !s.tick.loaded ? `Loading users: ${number(s.tick.users)} so far.`
                : `${plural(s.tick.users, 'user')}; one tick every ${duration(s.daemon.tick_ms)}; the last tick at ${s.tick.last_at ? clock(Date.parse(s.tick.last_at)) : '–'} UTC took ${duration(s.tick.took_us / 1000)}`);
            show(store, s.store.full);
            setText(store, `The disk is full. ${plural(s.store.waiting_writes, 'write waits', 'writes wait')} in memory and will be retried.`);
        },
    };
}

export function shell({ model, session, onLogout }) {
    const main = h('main', { id: 'main', tabindex: -1 });
    const live = h('span', { class: 'live' }), utc = h('span', { class: 'utc' }), here = h('span', { class: 'local' });
    const nav = h('nav', { 'aria-label': 'Views' }, h('ul', null, PLACES.map(([name, title]) => h('li', null, h('a', { href: '#/' + name, 'data-name': name }, title)))));
    const notice = banner(model), end = foot(model);
    const may = (scope) => SCOPES.indexOf(session.scope) >= SCOPES.indexOf(scope);
    const node = h('div', { class: 'shell' },
        h('a', { class: 'skip', href: '#main', onclick: (event) => { event.preventDefault(); main.focus(); } }, 'Skip to the content'),
        h('header', { class: 'top' },
            h('a', { class: 'mark', href: '#/today', 'aria-label': 'diurnal, today' }, logo(), h('span', { 'aria-hidden': 'true' }, 'diurnal')),
            h('div', { class: 'clock' }, live, utc, here),
            h('div', { class: 'session' }, themeSwitch(),
                h('span', { class: 'who' }, h('span', { class: 'unseen' }, 'Logged in as '), h('bdi', { class: 'name' }, session.name), h('span', { class: 'scope' }, session.scope)),
                h('button', { type: 'button', class: 'quiet', onclick: onLogout }, 'Log out')),
            nav),
        notice.node, main, end.node);
    let view = null, viewMaker = null;

    function arrive(first) {
        if (location.hash.startsWith('#ticket=')) return;
        const route = routeOf(location.hash), maker = viewOf(route);
        for (const link of nav.querySelectorAll('a')) setAttr(link, 'aria-current', link.dataset.name === route.name && 'page');
        if (view?.moved && maker === viewMaker) { view.moved(route); return; }
        view?.leave?.();
        closeDialogs();
        viewMaker = maker;
        view = maker ? maker({ model, route, may }) : { title: 'Page not found', node: h('section', null, h('h1', null, 'Page not found'), h('p', null, h('a', { href: '#/today' }, 'Go to Today'))) };
        main.replaceChildren(view.node);
        document.title = `${view.title} · diurnal`;
        scrollTo(0, 0);
        if (!first) {
            const title = main.querySelector('h1');
            title.tabIndex = -1;
            title.focus({ preventScroll: true });
        }
    }
    const onHash = () => arrive(false);

    function time() {
        const now = model.now();
        setText(utc, `${clock(now)} UTC`);
        setText(here, isElsewhere(now) ? `${localTime(now, true)} ${zone(now)}` : '');
        show(here, isElsewhere(now));
    }
    function around() {
        const { connected, error } = model.connection;
        setAttr(live, 'data-state', connected ? 'live' : error ? 'lost' : 'begins');
        setText(live, connected ? 'Live' : error ? 'Not live' : 'Connecting');
        time();
        notice.update();
        end.update();
    }
    const stopListening = model.subscribe((changed) => {
        around();
        view?.update?.(changed);
    });

    return {
        node,
        start() { around(); addEventListener('hashchange', onHash); arrive(true); },
        stop() { stopListening(); removeEventListener('hashchange', onHash); view?.leave?.(); closeDialogs(); },
    };
}
