/* model.js - the page's copy of the daemon's state, kept current by its events.
 * The model reads everything once the stream is open, so that no change falls between the two; after that events bring the
 * changes. Views hear which parts changed at most once a frame, and not at all while the page is hidden. They hear at
 * once when the connection is lost or restored. */
import { get } from './api.js';
import { listen } from './stream.js';
import { dayOf, DAY_MINUTES, dueMinute } from './words.js';

const SAMPLES = 900; /* 15 minutes, one a second */

export function newModel({ onEnded }) {
    const model = {
        day: null, minutes: new Array(DAY_MINUTES).fill(null), totals: null,
        status: null, slo: null, sloHistory: new Map(),
        samples: [], /* {at, queued, inFlight}, of the last 15 minutes */
        connection: { connected: false, retryIn: null, error: null }, failed: null, ended: false,
        skew: 0, now: () => Date.now() + model.skew,
    };
    const listeners = new Set(), changed = new Set();
    let frame = 0, reading = null;

    function tell() {
        const told = new Set(changed);
        cancelAnimationFrame(frame);
        frame = 0;
        changed.clear();
        listeners.forEach((listener) => listener(told));
    }
    function mark(...parts) {
        parts.forEach((part) => changed.add(part));
        frame ||= requestAnimationFrame(tell);
    }

    /* ---- Incoming data ---- */

    const setNow = (instant) => { model.skew = Date.parse(instant) - Date.now(); };
    function count() {
        const sum = { users: 0, success: 0, cutoff_reached: 0, pending: 0, running: 0, most: 0 };
        for (const m of model.minutes) {
            if (!m) continue;
            for (const key of ['users', 'success', 'cutoff_reached', 'pending', 'running']) sum[key] += m[key];
            if (m.users > sum.most) sum.most = m.users;
        }
        model.totals = sum;
    }
    function takeSlo(items) {
        model.slo = items;
        for (const item of items || []) {
            const past = model.sloHistory.get(item.name) || [];
            past.push({ at: model.now(), value: item.value });
            model.sloHistory.set(item.name, past.slice(-SAMPLES));
        }
    }
    function sample() {
        const { queue, executor } = model.status;
        model.samples.push({ at: model.now(), queued: queue.queued, inFlight: executor.in_flight });
        if (model.samples.length > SAMPLES) model.samples.shift();
    }

    async function read() {
        reading?.abort();
        const own = reading = new AbortController();
        try {
            const [today, status] = await Promise.all([get('/daily/today', own.signal), get('/status', own.signal)]);
            setNow(today.now);
            model.day = today.day;
            model.minutes.fill(null);
            for (const item of today.items) model.minutes[dueMinute(item.due)] = item;
            count();
            model.status = status;
            takeSlo(status.slo);
            model.failed = null;
        } catch (error) {
            if (error.name === 'AbortError') return;
            model.failed = error;
        }
        mark('minutes', 'status', 'slo');
    }

    const onEvent = {
        hello(data) { setNow(data.now); if (model.failed || data.day !== model.day) read(); },
        reset: read,
        minutes(data) {
            if (data.day !== model.day) return;
            for (const item of data.items) model.minutes[dueMinute(item.due)] = item.users > 0 || item.running > 0 ? item : null;
            count();
            mark('minutes');
        },
        tick(data) { if (model.status) { model.status.tick = data; mark('status'); } },
        load(data) { if (model.status) { Object.assign(model.status, data); mark('status'); } },
        slo(data) { takeSlo(data.items); mark('slo'); },
    };

    const stream = listen((name, data) => onEvent[name]?.(data), (state) => {
        if (state.ended) { model.ended = true; onEnded(); return; }
        model.connection = { connected: Boolean(state.connected), retryIn: state.retryIn ?? null, error: state.error || null };
        changed.add('connection');
        queueMicrotask(tell); /* not at the next frame: a hidden page has none */
    });

    /* Once a second: the clock, a sample, and every third second another try at a read that failed. */
    let seconds = 0;
    const second = setInterval(() => {
        if (model.failed && ++seconds % 3 === 0) read();
        if (model.status && model.connection.connected) sample();
        if (model.day && model.connection.connected && dayOf(model.now()) !== model.day) read();
        mark('clock');
    }, 1000);

    return Object.assign(model, {
        subscribe(listener) { listeners.add(listener); return () => listeners.delete(listener); },
        retry() { stream.now(); },
        read,
        stop() { stream.stop(); clearInterval(second); cancelAnimationFrame(frame); reading?.abort(); },
    });
}
