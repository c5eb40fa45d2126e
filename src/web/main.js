/* main.js - logs in, then shows the page.
 * A ticket is in the fragment of the address, which no browser sends; it is removed from the address first. */
import { ask, get, whenSessionEnds } from './api.js';
import { h, say } from './dom.js';
import { loginView } from './login.js';
import { newModel } from './model.js';
import { shell } from './shell.js';
import { tenantView } from './tenant.js';
import { restoreTheme } from './theme.js';

let present = null; /* while a session is shown: the model and the shell */
/* The script runs before the body is parsed, so that the theme is set before the first paint and requests start early. */
const place = () => document.getElementById('app');
const parsed = new Promise((done) => document.addEventListener('DOMContentLoaded', done));

function takeTicket() {
    const ticket = /^#ticket=(.+)$/.exec(location.hash)?.[1];
    if (ticket) history.replaceState(null, '', location.pathname);
    return ticket;
}

function leave() {
    present?.shell.stop();
    present?.model.stop();
    present = null;
}

function showLogin(why) {
    leave();
    const view = loginView({ why, onSession: enter });
    place().replaceChildren(view);
    document.title = 'Log in · diurnal';
    view.querySelector('input').focus();
}

/* A tenant's session has no model: everything the model reads belongs to the daily path, which has no tenant. */
function enter(session, model) {
    leave();
    if (session.tenant !== null) {
        model?.stop();
        place().replaceChildren(tenantView({ session, onLogout: logout }));
        document.title = 'diurnal';
        return;
    }
    model ||= newModel({ onEnded: ended });
    present = { model, shell: shell({ model, session, onLogout: logout }) };
    place().replaceChildren(present.shell.node);
    present.shell.start();
    if (model.ended) ended();
}

function ended() {
    if (present) showLogin('Your session has ended, or the daemon was restarted, which ends every session. Log in again to return to this view.');
}

async function logout() {
    try { await ask('DELETE', '/session'); } catch (error) { if (error.status !== 401) { say(error.message); throw error; } }
    showLogin('You are logged out.');
}

/* The content and the session are requested at the same time, so that neither waits for the other. */
async function begin() {
    const ticket = takeTicket(), model = ticket ? undefined : newModel({ onEnded: ended });
    try {
        enter(await (ticket ? ask('POST', '/session', { token: ticket }) : get('/session')).finally(() => parsed), model);
    } catch (error) {
        model?.stop();
        if (ticket && error.status === 401) showLogin('This link was already used, or is older than a minute. Make a new one with diurnal dashboard, or log in with a token.');
        else if (error.status === 401) showLogin();
        else place().replaceChildren(h('main', { class: 'alone' }, h('h1', null, 'diurnal'), h('p', null, error.message),
            h('button', { type: 'button', class: 'primary', onclick: () => location.reload() }, 'Try again')));
    }
}

restoreTheme();
whenSessionEnds(ended);
/* A link with a ticket, opened in a page that is already loaded. */
addEventListener('hashchange', () => { if (location.hash.startsWith('#ticket=')) begin(); });
begin();
