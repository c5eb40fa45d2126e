/* dom.js - elements, and changing only what has changed. Text goes in as text: nothing here takes HTML. */

const SVG = 'http://www.w3.org/2000/svg';

function fill(node, props, children) {
    for (const [name, value] of Object.entries(props || {})) {
        if (value === null || value === undefined || value === false) continue;
        if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
        else if (name === 'value' || name === 'checked' || name === 'disabled') node[name] = value;
        else node.setAttribute(name, value === true ? '' : value);
    }
    node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
    return node;
}
export const h = (tag, props, ...children) => fill(document.createElement(tag), props, children);
export const svg = (tag, props, ...children) => fill(document.createElementNS(SVG, tag), props, children);

/* Text from outside. It may run right to left, so it is isolated from the text around it. */
export const theirs = (text) => h('bdi', null, text);

/* Write only what differs, so that an unchanged element is not laid out again. */
export function setText(node, text) {
    text = String(text);
    if (node.textContent !== text) node.textContent = text;
}
export function setAttr(node, name, value) {
    if (value === null || value === undefined || value === false) node.removeAttribute(name);
    else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}
export const show = (node, shown) => { if (node.hidden === shown) node.hidden = !shown; };

/* A list's rows by their key: those that stay are changed in their place, so that focus and selection stay too. make(item)
 * gives {node, update(item)}. */
export function rowsIn(parent) {
    const rows = new Map();
    return (items, keyOf, make) => {
        const keys = new Set(items.map(keyOf));
        for (const [key, row] of rows)
            if (!keys.has(key)) { row.node.remove(); rows.delete(key); }
        let at = parent.firstElementChild;
        for (const item of items) {
            const key = keyOf(item);
            let row = rows.get(key);
            if (!row) rows.set(key, row = make(item));
            if (row.node === at) at = at.nextElementSibling;
            else parent.insertBefore(row.node, at);
            row.update(item);
        }
    };
}

/* Announces a text to screen readers. A repeated text is announced again. */
export function say(text) {
    const place = document.getElementById('said');
    place.textContent = place.textContent === text ? text + '\u00a0' : text;
}

/* Debounce: calls what() once no call came for ms. */
export function later(ms, what) {
    let timer = 0;
    const call = (...args) => { clearTimeout(timer); timer = setTimeout(() => what(...args), ms); };
    call.cancel = () => clearTimeout(timer);
    return call;
}

/* Each state has a shape besides its colour, for people who cannot tell the colours apart. */
const SHAPES = {
    success: () => svg('circle', { cx: 6, cy: 6, r: 5 }),
    cutoff_reached: () => svg('path', { d: 'M.5 1.5h11L6 11.5z' }),
    running: () => [svg('circle', { class: 'ring', cx: 6, cy: 6, r: 4.2 }), svg('path', { d: 'M6 1.8a4.2 4.2 0 0 1 0 8.4z' })],
    pending: () => svg('circle', { class: 'ring', cx: 6, cy: 6, r: 4.2 }),
    missed: () => svg('path', { class: 'ring', d: 'M2 2l8 8M10 2l-8 8' }),
};
export const STATE_WORDS = { success: 'success', cutoff_reached: 'cutoff reached', running: 'running', pending: 'pending', missed: 'missed' };
export const shape = (state) => svg('svg', { class: `shape is-${state}`, viewBox: '0 0 12 12', width: 12, height: 12, 'aria-hidden': 'true' }, SHAPES[state]());
export const chip = (state, words = STATE_WORDS[state]) => h('span', { class: `chip is-${state}` }, shape(state), words);

/* The sun, half a day. */
export const logo = () => svg('svg', { class: 'logo', viewBox: '0 0 32 32', width: 28, height: 28, 'aria-hidden': 'true' },
    svg('path', { class: 'sun', d: 'M6 20a10 10 0 0 1 20 0z' }), svg('path', { class: 'line', d: 'M2 20.6h28' }), svg('path', { class: 'now', d: 'M12.5 24h7L16 29.5z' }));

/* An empty state: a title, and what to do about it. */
export const empty = (title, ...more) => h('div', { class: 'empty' }, h('p', { class: 'empty-title' }, title), more.map((text) => (typeof text === 'string' ? h('p', null, text) : text)));
export const failure = (error, again) => h('div', { class: 'failure', role: 'alert' }, h('p', null, error.message),
    again && h('button', { type: 'button', onclick: again }, 'Try again'));
export const loading = () => h('p', { class: 'loading', role: 'status' }, 'Loading…');

/* A number with its name, and a smaller text below. */
export function figure(name, state) {
    const value = h('dd'), more = h('dd', { class: 'more' });
    return {
        node: h('div', { class: 'figure' }, h('dt', null, state && shape(state), name), value, more),
        set(text, aside = '') { setText(value, text); setText(more, aside); },
    };
}

/* A modal dialog. If act() throws, the dialog shows the error and stays open. */
export function dialog({ title, body, action, danger, act, wide }) {
    const before = document.activeElement, problem = h('p', { class: 'problem', role: 'alert', hidden: true });
    const submit = action && h('button', { type: 'submit', class: danger ? 'danger' : 'primary' }, action);
    const cancel = h('button', { type: 'button', onclick: () => node.close() }, action ? 'Cancel' : 'Close');
    const node = h('dialog', { class: wide ? 'wide' : null, 'aria-labelledby': 'dialog-title' },
        h('form', { novalidate: true, onsubmit: async (event) => {
            event.preventDefault();
            if (submit.disabled) return;
            submit.disabled = true;
            problem.hidden = true;
            try {
                if (await act() !== false) node.close();
            } catch (error) {
                problem.textContent = error.message;
                problem.hidden = false;
            }
            submit.disabled = false;
        } }, h('h2', { id: 'dialog-title' }, title), body, problem, h('div', { class: 'actions' }, submit, cancel)));
    node.addEventListener('close', () => { node.remove(); if (before?.isConnected) before.focus(); });
    document.body.append(node);
    node.showModal();
    return { node, submit, cancel, close: () => node.close() };
}

/* A dialog belongs to its view and closes with it. */
export const closeDialogs = () => document.querySelectorAll('dialog[open]').forEach((node) => node.close());
