/* polled.js - reads what no event reports, at an interval, while its view is shown. */
import { get } from './api.js';
import { failure } from './dom.js';

/* draw(answer). note: where a failure is shown. everyMs: null is once. */
export function polled(model, path, { note, draw, everyMs = null }) {
    let reading = null;
    async function read() {
        reading?.abort();
        const own = reading = new AbortController();
        try {
            const answer = await get(path, own.signal);
            note.replaceChildren();
            draw(answer);
        } catch (error) {
            if (error.name !== 'AbortError' && (error.status !== 0 || note.childNodes.length)) note.replaceChildren(failure(error, read));
        }
    }
    const every = everyMs && setInterval(() => { if (model.connection.connected && !document.hidden) read(); }, everyMs);
    read();
    return { read, leave() { clearInterval(every); reading?.abort(); } };
}
