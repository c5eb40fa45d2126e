/* tenant.js - the page for the session of a tenant's token. The daily path belongs to no tenant, so the page says only that. */
import { h, logo, theirs } from './dom.js';

export function tenantView({ session, onLogout }) {
    return h('main', { class: 'alone' },
        h('h1', { class: 'mark' }, logo(), 'diurnal'),
        h('section', { class: 'card' }, h('p', { class: 'tenant' }, 'This token belongs to tenant ', theirs(session.tenant), '. The daily path belongs to no tenant, so there is nothing to show yet.'),
        h('p', null, 'Logged in as ', theirs(session.name), ` with scope ${session.scope}.`),
        h('button', { type: 'button', onclick: onLogout }, 'Log out')));
}
