/* login.js - the login form. It sends the token once; from then on the browser has a cookie that no script can read. */
import { ask } from './api.js';
import { h, logo, setText, show } from './dom.js';

export function loginView({ why, onSession }) {
    const problem = h('p', { class: 'problem', role: 'alert', hidden: true });
    const input = h('input', { id: 'token', name: 'token', type: 'password', autocomplete: 'current-password', spellcheck: 'false', autocapitalize: 'off', required: true, 'aria-describedby': 'token-help' });
    const button = h('button', { type: 'submit', class: 'primary' }, 'Log in');

    async function login(event) {
        event.preventDefault();
        const token = input.value.trim();
        if (!token) { input.focus(); return; }
        button.disabled = true;
        show(problem, false);
        try {
            await onSession(await ask('POST', '/session', { token }));
        } catch (error) {
            setText(problem, error.status === 401 ? 'This token is invalid.' : error.message);
            show(problem, true);
            input.select();
        }
        button.disabled = false;
    }

    return h('main', { class: 'alone' },
        h('h1', { class: 'mark' }, logo(), 'diurnal'),
        why && h('p', { class: 'why-here' }, why),
        h('form', { onsubmit: login, novalidate: true },
            h('label', { for: 'token' }, 'Token'), input, problem, button),
        h('div', { id: 'token-help', class: 'help' },
            h('p', null, 'The daemon writes its first token to ', h('code', null, 'admin.token'), ' in its data directory. Or run ',
                h('code', null, 'diurnal dashboard'), ', which prints a link that logs you in.'),
            h('p', null, 'The browser sends the token to this daemon once and does not store it. A session ends after 12 hours, or after 2 hours without use.')));
}
