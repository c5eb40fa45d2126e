/* tables.js - the worst due minutes, and the settings. */

const END_NAMES = { cutoff_reached: 'reached the cutoff', missed: 'missed' };
const WORST = 12;

/* The first user that failed in a due minute, over all days: an id for `diurnal why`. */
function exampleOf(due) {
    const example = run.examples.find((e) => e.due === due);
    return example ? [theirs(example.id), el('span', { class: 'aside' }, ` ${END_NAMES[example.end]} on ${dayName(example.day)}`)] : '–';
}

function worstTable(strip) {
    const minutes = worstMinutes(strip), heading = el('h3', { id: 'worst-title' }, 'The worst due minutes');
    if (minutes.length === 0)
        return el('section', { id: 'worst', class: 'chart' }, heading, el('p', { class: 'empty' },
            run.user_days > 0 ? `None: every user-day succeeded.` : 'None: no user-day ended.'));
    const head = [['Due (UTC)'], ['Failed', 'n'], ['of', 'n'], ['Share', 'n'], ['Reached the cutoff', 'n wide'], ['Missed', 'n wide'], ['Late successes', 'n wide'], ['Example', 'wide']];
    const row = ({ due, failed, of }) => el('tr', {}, el('th', { scope: 'row' }, dueName(due)),
        el('td', { class: 'n' }, number(failed)), el('td', { class: 'n' }, number(of)),
        el('td', { class: 'n' }, share(failed, of)),
        el('td', { class: 'n wide' }, number(strip.cutoff_reached[due])), el('td', { class: 'n wide' }, number(strip.missed[due])),
        el('td', { class: 'n wide' }, number(strip.late_success[due])), el('td', { class: 'wide example' }, exampleOf(due)));
    const rest = minutes.slice(WORST);
    return el('section', { id: 'worst', class: 'chart', 'aria-labelledby': 'worst-title' }, heading,
        el('p', { class: 'note' }, `${stripName(strip)}: ${plural(minutes.length, 'minute')} of 1,440 with failed user-days.`),
        el('div', { class: 'scroll whole', tabindex: 0, role: 'region', 'aria-labelledby': 'worst-title' },
            el('table', { class: 'worst' }, el('thead', {}, el('tr', {}, head.map(([text, name]) => el('th', { scope: 'col', class: name }, text)))),
                el('tbody', {}, minutes.slice(0, WORST).map(row)))),
        rest.length > 0 && el('p', { class: 'note' }, `The other ${plural(rest.length, 'minute')} have ${number(sum(rest.map((m) => m.failed)))} more; the table of the chart above lists all of them.`));
}

const pairs = (id, title, rows) => el('section', { id, class: 'chart', 'aria-labelledby': id + '-title' }, el('h2', { id: id + '-title' }, title),
    rows.length === 0 ? el('p', { class: 'empty' }, 'None.')
        : el('dl', { class: 'pairs' }, rows.map(([name, value]) => el('div', {}, el('dt', {}, theirs(name)), el('dd', {}, theirs(value))))));

const settingsTable = () => pairs('settings', 'Settings', run.settings);

const countsTable = () => pairs('counts', 'Counts', [['ticks', run.ticks], ['enqueued', run.enqueued], ['ignored (waiting, running or attempted too recently)', run.ignored],
    ['dropped (cutoff passed while waiting)', run.expired], ['attempts started', run.starts], ['attempts ok', run.ok],
    ...Object.entries(run.error_classes).map(([name, n]) => ['errors ' + name, n]), ['timeouts', run.timeout], ['late successes', run.late_success],
    ['failed commits (retried)', run.commits_failed]].map(([name, n]) => [name, number(n)]));

