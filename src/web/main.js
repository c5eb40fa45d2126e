/* main.js - who is there, then what they look at.
 * A ticket comes in the part of the address that is sent nowhere, and is taken out of it before anything else. */
import { ask, get, whenSessionEnds } from './api.js';
import { h, say } from './dom.js';
import { loginView } from './login.js';
import { newModel } from './model.js';
import { shell } from './shell.js';

const app = document.getElementById('app');
let present = null; /* of whoever is logged in: the model and the shell */

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
    app.replaceChildren(loginView({ why, onSession: enter }));
    document.title = 'Log in · diurnal';
    app.querySelector('input').focus();
}

function enter(session) {
    leave();
    const model = newModel({ onEnded: ended });
    present = { model, shell: shell({ model, session, onLogout: logout }) };
    app.replaceChildren(present.shell.node);
    present.shell.start();
}

function ended() {
    if (present) showLogin('Your session has ended, or the daemon was started again, which ends all of them. Log in once more: you come back to where you are.');
}

async function logout() {
    try { await ask('DELETE', '/session'); } catch (error) { if (error.status !== 401) { say(error.message); throw error; } }
    showLogin('You are logged out.');
}

async function begin() {
    const ticket = takeTicket();
    try {
        enter(ticket ? await ask('POST', '/session', { token: ticket }) : await get('/session'));
    } catch (error) {
        if (ticket && error.status === 401) showLogin('This link was used already, or is older than a minute. Make another one, or log in with a token.');
        else if (error.status === 401) showLogin();
        else app.replaceChildren(h('main', { class: 'alone' }, h('h1', null, 'diurnal'), h('p', null, error.message),
            h('button', { type: 'button', class: 'primary', onclick: () => location.reload() }, 'Try again')));
    }
}

whenSessionEnds(ended);
/* A link with a ticket in a page that is open already. */
addEventListener('hashchange', () => { if (location.hash.startsWith('#ticket=')) begin(); });
begin();
