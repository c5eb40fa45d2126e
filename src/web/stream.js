/* stream.js - reads the daemon's event stream and reconnects when it breaks.
 * Not EventSource, because that reports neither the reason of a failure nor when it will try again. A reconnect sends the id
 * of the last event; the daemon then sends the events since, or `reset`. */
import { problemOf } from './api.js';

const SILENCE_MS = 40000; /* the daemon sends at least a heartbeat every 15 s */
const WAITS_S = [1, 2, 4, 8, 15];

/* Calls lines(text) with each line of a body as it comes. */
async function eachLine(body, line) {
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    for (;;) {
        const { value, done } = await reader.read();
        if (done) return;
        const lines = (rest + value).split('\n');
        rest = lines.pop();
        lines.forEach(line);
    }
}

/* onEvent(name, data); onState({connected}, {retryIn: seconds, error}, or {ended}). */
export function listen(onEvent, onState) {
    let last = null, tries = 0, timer = 0, stopped = false, attempt = null;

    async function connect() {
        clearTimeout(timer);
        const own = attempt = new AbortController();
        let silence = 0, opened = false;
        const heard = () => { clearTimeout(silence); silence = setTimeout(() => own.abort(), SILENCE_MS); };
        try {
            heard();
            const response = await fetch('/api/v1/events', {
                signal: own.signal, cache: 'no-store', credentials: 'same-origin',
                headers: { Accept: 'text/event-stream', ...(last && { 'Last-Event-ID': last }) },
            });
            if (response.status === 401) { stopped = true; onState({ ended: true }); return; }
            if (!response.ok) throw await problemOf(response);
            let name = 'message', data = [];
            await eachLine(response.body, (line) => {
                heard();
                if (!opened) { opened = true; tries = 0; onState({ connected: true }); }
                if (line === '') {
                    if (data.length) onEvent(name, JSON.parse(data.join('\n')));
                    name = 'message';
                    data = [];
                } else if (line.startsWith('id: ')) last = line.slice(4);
                else if (line.startsWith('event: ')) name = line.slice(7);
                else if (line.startsWith('data: ')) data.push(line.slice(6));
            });
            throw new Error('The daemon closed the connection.');
        } catch (error) {
            if (stopped || attempt !== own) return;
            lost(error.status ? error.message : 'The daemon cannot be reached.');
        } finally {
            clearTimeout(silence);
        }
    }

    function lost(error) {
        let left = WAITS_S[Math.min(tries++, WAITS_S.length - 1)];
        const count = () => {
            if (stopped) return;
            onState({ retryIn: left, error });
            if (left-- > 0) timer = setTimeout(count, 1000);
            else connect();
        };
        count();
    }

    connect();
    return {
        now: connect,
        stop() { stopped = true; clearTimeout(timer); attempt?.abort(); },
    };
}
