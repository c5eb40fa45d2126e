/* tables.js - the worst due minutes, and the settings. */

const END_NAMES = { cutoff_reached: 'reached the cutoff', missed: 'missed' };
const WORST = 12;

/* The first who was not served, over all days: a name to ask `diurnal why` for. */
function exampleOf(due) {
    const example = run.examples.find((e) => e.due === due);
    return example ? [theirs(example.id), el('span', { class: 'aside' }, ` ${END_NAMES[example.end]} on ${dayName(example.day)}`)] : '–';
}

function worstTable(strip) {
    const minutes = worstMinutes(strip), heading = el('h3', { id: 'worst-title' }, 'The worst due minutes');
    if (minutes.length === 0)
        return el('section', { id: 'worst', class: 'chart' }, heading, el('p', { class: 'empty' },
            run.user_days > 0 ? `None: in ${strip.day === null ? 'every' : 'every'} minute everybody who was due succeeded.` : 'None: no day ended for anybody.'));
    const head = [['Due (UTC)'], ['Not succeeded', 'n'], ['of', 'n'], ['Share', 'n'], ['Reached the cutoff', 'n wide'], ['Missed', 'n wide'], ['Came late', 'n wide'], ['For example', 'wide']];
    const row = ({ due, failed, of }) => el('tr', {}, el('th', { scope: 'row' }, dueName(due)),
        el('td', { class: 'n' }, number(failed)), el('td', { class: 'n' }, number(of)),
        el('td', { class: 'n' }, share(failed, of)),
        el('td', { class: 'n wide' }, number(strip.cutoff_reached[due])), el('td', { class: 'n wide' }, number(strip.missed[due])),
        el('td', { class: 'n wide' }, number(strip.late_success[due])), el('td', { class: 'wide example' }, exampleOf(due)));
    const rest = minutes.slice(WORST);
    return el('section', { id: 'worst', class: 'chart', 'aria-labelledby': 'worst-title' }, heading,
        el('p', { class: 'note' }, `${stripName(strip)}: ${plural(minutes.length, 'minute')} of 1,440 in which not everybody succeeded.`),
        el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-labelledby': 'worst-title' },
            el('table', { class: 'worst' }, el('thead', {}, el('tr', {}, head.map(([text, name]) => el('th', { scope: 'col', class: name }, text)))),
                el('tbody', {}, minutes.slice(0, WORST).map(row)))),
        rest.length > 0 && el('p', { class: 'note' }, `In the ${plural(rest.length, 'other minute')}: ${number(sum(rest.map((m) => m.failed)))} more. All of them are in the table of the chart above.`));
}

function settingsTable() {
    return el('section', { id: 'settings', class: 'chart', 'aria-labelledby': 'settings-title' }, el('h2', { id: 'settings-title' }, 'Settings'),
        run.settings.length === 0 ? el('p', { class: 'empty' }, 'None were told.')
            : el('dl', { class: 'settings' }, run.settings.map(([name, value]) => el('div', {}, el('dt', {}, theirs(name)), el('dd', {}, theirs(value))))));
}

