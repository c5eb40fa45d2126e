/* main.js - who is there, then what they look at.
 * A ticket comes in the part of the address that is sent nowhere, and is taken out of it before anything else. */
import { ask, get, whenSessionEnds } from './api.js';
import { h, say } from './dom.js';
import { loginView } from './login.js';
import { newModel } from './model.js';
import { shell } from './shell.js';
import { restoreTheme } from './theme.js';

let present = null; /* of whoever is logged in: the model and the shell */
/* The script comes before the body: light or dark is to be settled before anything is drawn, and asking need not wait. */
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

function enter(session, model = newModel({ onEnded: ended })) {
    leave();
    present = { model, shell: shell({ model, session, onLogout: logout }) };
    place().replaceChildren(present.shell.node);
    present.shell.start();
    if (model.ended) ended();
}

function ended() {
    if (present) showLogin('Your session has ended, or the daemon was started again, which ends all of them. Log in once more: you come back to where you are.');
}

async function logout() {
    try { await ask('DELETE', '/session'); } catch (error) { if (error.status !== 401) { say(error.message); throw error; } }
    showLogin('You are logged out.');
}

/* The page's content is asked for before it is known who asks, so that both come at the same time. */
async function begin() {
    const ticket = takeTicket(), model = ticket ? undefined : newModel({ onEnded: ended });
    try {
        enter(await (ticket ? ask('POST', '/session', { token: ticket }) : get('/session')).finally(() => parsed), model);
    } catch (error) {
        model?.stop();
        if (ticket && error.status === 401) showLogin('This link was used already, or is older than a minute. Make another one, or log in with a token.');
        else if (error.status === 401) showLogin();
        else place().replaceChildren(h('main', { class: 'alone' }, h('h1', null, 'diurnal'), h('p', null, error.message),
            h('button', { type: 'button', class: 'primary', onclick: () => location.reload() }, 'Try again')));
    }
}

restoreTheme();
whenSessionEnds(ended);
/* A link with a ticket in a page that is open already. */
addEventListener('hashchange', () => { if (location.hash.startsWith('#ticket=')) begin(); });
begin();
