/* queue.js - the queue and the running jobs, with the age of each job. */
import { get, query } from './api.js';
import { empty, failure, figure, h, rowsIn, setText, show, theirs } from './dom.js';
import { linkTo } from './router.js';
import { spark } from './spark.js';
import { due, duration, MINUTE, number, share, when } from './words.js';

const EVERY_MS = 2000, LIMIT = 200, SPAN = 10 * MINUTE;

export function queueView({ model }) {
    const figures = { queued: figure('Waiting', 'pending'), running: figure('Running', 'running'), started: figure('Started'), failed: figure('Failed'), late: figure('Late successes') };
    const depth = spark('pending', 'Users waiting, last 10 minutes'), flight = spark('running', 'Jobs running, last 10 minutes');
    const counts = h('dl', { class: 'facts' }), body = h('tbody'), rows = rowsIn(body), note = h('div'), jobsTitle = h('h2', null, 'Running jobs');
    const table = h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Running jobs' }, h('table', null, h('thead', null, h('tr', null,
        h('th', { scope: 'col' }, 'User'), h('th', { scope: 'col', class: 'n' }, 'Running for'), h('th', { scope: 'col' }, 'Started (UTC)'), h('th', { scope: 'col', class: 'n' }, 'Attempt'), h('th', { scope: 'col' }, 'Due (UTC)'))), body));
    const facts = Object.fromEntries(['Peak waiting', 'Peak running', 'Ignored: already waiting or running', 'Ignored: attempted too recently', 'Dropped: cutoff passed while waiting'].map((name) => [name, h('dd')]));
    counts.append(...Object.entries(facts).map(([name, value]) => h('div', null, h('dt', null, name), value)));
    let reading = null, jobs = [];

    function draw() {
        const s = model.status;
        if (!s) return;
        const { queue, executor } = s, stopped = executor.ok + executor.error + executor.timeout;
        figures.queued.set(number(queue.queued));
        figures.running.set(number(executor.in_flight), `of ${number(executor.max_concurrency)}`);
        figures.started.set(number(executor.started), 'since start');
        figures.failed.set(number(executor.error + executor.timeout), stopped ? `${share(executor.error + executor.timeout, stopped)}; ${number(executor.timeout)} timed out` : '');
        figures.late.set(number(queue.late_success));
        const values = [queue.queued_peak, executor.in_flight_peak, queue.deduped, queue.throttled, queue.expired];
        Object.values(facts).forEach((node, i) => setText(node, number(values[i])));
    }
    function drawSparks() {
        const now = model.now();
        depth.update(model.samples.map((s) => ({ at: s.at, value: s.queued })), now, SPAN, { format: number });
        flight.update(model.samples.map((s) => ({ at: s.at, value: s.inFlight })), now, SPAN, { limit: model.status?.executor.max_concurrency ?? null, format: number });
    }
    function row(job) {
        const age = h('td', { class: 'n' }), since = h('td');
        let day;
        return {
            node: h('tr', null, h('th', { scope: 'row' }, h('a', { href: linkTo('users', [job.id]) }, theirs(job.id))), age, since, h('td', { class: 'n' }, number(job.attempt)), h('td', null, due(job.due, model.day || job.day))),
            update(now) {
                if (day !== model.day) since.replaceChildren(when(job.since, day = model.day)); /* the jobs may arrive before the day */
                setText(age, duration(Math.max(0, Math.floor((model.now() - Date.parse(now.since)) / 1000)) * 1000 || 1).replace(/^1\u00a0ms$/, '<\u00a01\u00a0s'));
            },
        };
    }
    const drawJobs = () => rows(jobs, (job) => `${job.id} ${job.since}`, row);
    async function read() {
        reading?.abort();
        const own = reading = new AbortController();
        try {
            const list = await get('/daily/running' + query({ limit: LIMIT }), own.signal);
            jobs = list.items;
            drawJobs();
            show(table, jobs.length > 0);
            setText(jobsTitle, list.running > jobs.length ? `Running jobs: the ${number(jobs.length)} longest of ${number(list.running)}` : 'Running jobs');
            note.replaceChildren(jobs.length ? '' : empty('No job is running.', model.status?.tick.next_at ? h('p', null, 'The next tick is at ', when(model.status.tick.next_at, model.day), '.') : ''));
        } catch (error) {
            if (error.name === 'AbortError' || error.status === 0) return;
            show(table, false);
            note.replaceChildren(failure(error, read));
        }
    }
    const every = setInterval(() => { if (model.connection.connected && !document.hidden) read(); }, EVERY_MS);
    show(table, false);
    draw();
    drawSparks();
    read();

    return {
        title: 'Queue and executor',
        node: h('section', null, h('h1', null, 'Queue and executor'),
            h('dl', { class: 'figures' }, Object.values(figures).map((one) => one.node)),
            h('div', { class: 'pair' },
                h('section', { class: 'card' }, h('h2', null, 'Waiting, last 10 minutes'), depth.node),
                h('section', { class: 'card' }, h('h2', null, 'Running, last 10 minutes'), flight.node)),
            h('div', { class: 'pair jobs' }, h('section', { class: 'card' }, jobsTitle, note, table), h('section', { class: 'card' }, h('h2', null, 'Since the daemon started'), counts))),
        update(changed) {
            if (changed.has('status')) draw();
            if (changed.has('clock')) { drawSparks(); drawJobs(); }
        },
        leave() { clearInterval(every); reading?.abort(); },
    };
}
