/* hour.js - an hour as 60 buttons. One of them is in the tab order; the arrow keys move it. */
import { h, setAttr } from './dom.js';
import { heightsOf, minuteWords } from './strip.js';
import { dueText } from './words.js';

const PARTS = ['pending', 'running', 'success', 'cutoff_reached'], UP = 44, DOWN = 20;

export function hour({ onPick }) {
    let first = null, shown = {};
    const cells = Array.from({ length: 60 }, (_, i) => {
        const bars = Object.fromEntries(PARTS.map((part) => [part, h('span', { class: `bar is-${part}` })]));
        const node = h('button', { type: 'button', class: 'minute', tabindex: -1, onclick: () => onPick(first + i) },
            h('span', { class: 'up' }, bars.pending, bars.running, bars.success), h('span', { class: 'down' }, bars.cutoff_reached),
            h('span', { class: 'label', 'aria-hidden': 'true' }, i % 5 === 0 ? String(i).padStart(2, '0') : ''));
        return { node, bars, key: '' };
    });
    const node = h('div', { class: 'hour', role: 'group' }, cells.map((cell) => cell.node));

    node.addEventListener('keydown', (event) => {
        const at = cells.findIndex((cell) => cell.node === document.activeElement);
        const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: 59 }[event.key];
        if (at < 0 || to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        if (to < 0 || to > 59) return;
        onPick(first + to);
        cells[to].node.focus();
    });

    function draw(cell, minute) {
        const m = shown.minutes[minute], words = minuteWords(minute, m, shown.day), past = shown.now !== null && minute <= shown.now;
        const key = `${words}${shown.most}${past}`;
        if (cell.key === key) return;
        cell.key = key;
        setAttr(cell.node, 'aria-label', words);
        setAttr(cell.node, 'title', words);
        cell.node.classList.toggle('past', past);
        const heights = m ? heightsOf(m, shown.most, UP, DOWN) : {};
        for (const part of PARTS) cell.bars[part].style.height = `${heights[part] || 0}px`;
    }

    return {
        node,
        update(next) {
            shown = next;
            first = Math.floor(next.minute / 60) * 60;
            setAttr(node, 'aria-label', `The hour from ${dueText(first)} UTC, by minutes`);
            cells.forEach((cell, i) => {
                draw(cell, first + i);
                const isChosen = first + i === next.minute;
                setAttr(cell.node, 'aria-pressed', isChosen ? 'true' : 'false');
                cell.node.tabIndex = isChosen ? 0 : -1;
            });
        },
    };
}
