/* import.js - imports a file of users, one line each, and lists the rejected lines. */
import { upload } from './api.js';
import { dialog, h, say, setText, show } from './dom.js';
import { bytes, number, plural, share } from './words.js';

function errorTable(answer) {
    return h('div', null,
        h('div', { class: 'scroll errors', tabindex: 0, role: 'region', 'aria-label': 'Rejected lines' }, h('table', null,
            h('thead', null, h('tr', null, h('th', { scope: 'col', class: 'n' }, 'Line'), h('th', { scope: 'col' }, 'Error'))),
            h('tbody', null, answer.errors.map((error) => h('tr', null, h('td', { class: 'n' }, number(error.line)), h('td', null, h('bdi', null, error.detail))))))),
        answer.rejected > answer.errors.length && h('p', { class: 'hint' }, `Showing the first ${number(answer.errors.length)} of ${number(answer.rejected)} rejected lines.`));
}

export function openImport({ onDone }) {
    const input = h('input', { id: 'file', type: 'file', accept: '.ndjson,.jsonl,.json,.csv,.txt', 'aria-describedby': 'file-hint' });
    const bar = h('progress', { max: 1, value: 0, 'aria-label': 'Upload progress' }), far = h('span');
    const progress = h('div', { class: 'far', hidden: true }, bar, far), result = h('div', { class: 'result', hidden: true, tabindex: -1 });
    let running = null;

    const one = dialog({
        title: 'Import a file', action: 'Import', wide: true,
        body: [h('div', { class: 'field' }, h('label', { for: 'file' }, 'File'), input,
            h('p', { class: 'hint', id: 'file-hint' }, 'One JSON object per line, one line per user: ', h('code', null, '{"id":"ada","due":"08:00"}'), ', or CSV (', h('code', null, 'ada,08:00'), ') in a file whose name ends in .csv. A rejected line does not affect the others. Users that are already registered get the due time from the file.')),
        progress, result],
        async act() {
            const [file] = input.files;
            if (!file) { input.focus(); throw new Error('Choose a file.'); }
            show(result, false);
            show(progress, true);
            running = upload(file, (sent, all) => {
                bar.value = all ? sent / all : 0;
                setText(far, sent < all ? `${share(sent, all)} of ${bytes(all)} sent` : `${bytes(all)} sent; the daemon is writing the last lines`);
            });
            try {
                const answer = await running.done;
                const words = `${plural(answer.accepted, 'user')} imported${answer.rejected ? `, ${plural(answer.rejected, 'line')} rejected` : ''}.`;
                result.replaceChildren(h('p', { class: 'verdict' }, words), answer.rejected > 0 ? errorTable(answer) : '');
                show(result, true);
                say(words);
                onDone();
                one.cancel.textContent = 'Close';
            } finally {
                running = null;
                show(progress, false);
            }
            return false; /* stay open to show the result */
        },
    });
    one.node.addEventListener('close', () => running?.stop());
}
