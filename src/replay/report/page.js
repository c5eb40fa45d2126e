/* page.js - the page: the result in words, then the charts. */

/* ---- The verdict ---- */

function verdict() {
    if (run.user_days === 0) return { mood: 'calm', words: 'No user-day ended in this run' };
    if (run.failed === 0) return { mood: 'good', words: `All ${plural(run.user_days, 'user-day')} succeeded` };
    return { mood: run.missed > 0 ? 'bad' : 'warn', words: `${number(run.success)} of ${plural(run.user_days, 'user-day')} succeeded` };
}

function howDaysEnded() {
    if (run.user_days === 0) return run.users > 0 ? `${plural(run.users, 'user was', 'users were')} registered, but no cutoff was passed.` : 'No users were registered.';
    const reached = run.cutoff_reached > 0 ? `${number(run.cutoff_reached)} reached the cutoff (${share(run.cutoff_reached, run.user_days)})` : 'none reached the cutoff';
    const missed = run.missed > 0 ? `${number(run.missed)} ${run.missed === 1 ? 'was' : 'were'} missed (${share(run.missed, run.user_days)})` : 'none was missed';
    const words = `${reached}, ${missed}.`;
    const worst = worstMinutes(run.strips[0])[0];
    return words[0].toUpperCase() + words.slice(1) + (worst ? ` The worst due minute was ${dueName(worst.due)}: ${number(worst.failed)} of the ${number(worst.of)} due then did not succeed.` : '');
}

function howItRan() {
    if (run.starts === 0) return 'No job was started.';
    const at = indexOfMost(time.depth_max), full = run.max_concurrency > 0 && run.peak_in_flight >= run.max_concurrency;
    const busy = time.in_flight_avg.filter((n) => n >= run.max_concurrency * 0.999).length * time.width_ms;
    return `${plural(run.starts, 'attempt')} ${run.starts === 1 ? 'was' : 'were'} made. `
        + (run.peak_depth > 0 ? `At most ${plural(run.peak_depth, 'user')} waited at once (${several ? date(begins(at)) + ' ' : ''}${clock(begins(at))}). ` : '')
        + `At most ${plural(run.peak_in_flight, 'job')} ran at once${run.max_concurrency > 0 ? ` in ${plural(run.max_concurrency, 'slot')}` : ''}${full && busy > 0 ? `; all slots were in use for ${duration(busy)}` : ''}.`;
}

function whatWentWrong() {
    const count = run.marks_count, slos = [...new Set(marksOf('slo').map((mark) => mark.name))];
    const parts = [count.crash > 0 && plural(count.crash, 'crash', 'crashes'), count.clock > 0 && plural(count.clock, 'step of the clock', 'steps of the clock'),
        count.store > 0 && plural(count.store, 'full disk'), slos.length > 0 && `${plural(count.slo, 'breach', 'breaches')} of ${listed(slos)}`].filter(Boolean);
    return parts.length > 0 ? `There ${(count.crash || count.clock || count.store || count.slo) === 1 ? 'was' : 'were'} ${listed(parts)}.` : '';
}

function violations() {
    if (run.violations_count === 0) return null;
    const more = run.violations_count - run.violations.length;
    return el('section', { class: 'violations', id: 'violations', role: 'alert', 'aria-labelledby': 'violations-title' },
        el('h2', { id: 'violations-title' }, plural(run.violations_count, 'invariant violation')),
        el('ol', {}, run.violations.map((text) => el('li', {}, theirs(text)))), more > 0 && el('p', {}, `And ${number(more)} more.`));
}

function header() {
    const { mood, words } = verdict(), to = run.end_ms;
    const when = `${instant(run.start_ms)} to ${instant(to)} UTC`;
    return el('header', {},
        el('p', { class: 'over' }, 'diurnal replay', el('span', {}, theirs(run.trace)), el('span', {}, when), el('span', {}, duration(run.span_ms)), el('span', {}, 'seed ' + run.seed)),
        violations(),
        el('h1', { class: mood }, words.replace('user-day', 'user\u2011day')),
        el('p', { class: 'lead' }, howDaysEnded()),
        el('p', { class: 'lead' }, howItRan(), ' ', whatWentWrong(), run.violations_count === 0 ? ' No invariant was violated.' : ''));
}

function tiles() {
    const errors = Object.entries(run.error_classes).filter(([, n]) => n > 0).map(([name, n]) => `${number(n)} ${name}`);
    const tile = (name, value, aside) => el('div', {}, el('dt', {}, name), el('dd', {}, value, aside && el('span', {}, aside)));
    return el('dl', { class: 'tiles' },
        tile('User-days', number(run.user_days), `${plural(run.users, 'user')} at the end`),
        tile('Succeeded', share(run.success, run.user_days), run.late_success > 0 ? `${number(run.late_success)} more succeeded late` : `${number(run.failed)} did not`),
        tile('Attempts', number(run.starts), run.user_days > 0 ? `${number(run.starts / run.user_days)} per user-day` : null),
        tile('Failed attempts', number(run.error + run.timeout), [errors.join(', '), run.timeout > 0 && plural(run.timeout, 'timeout')].filter(Boolean).join(', ') || `of ${number(run.stops)} ended`),
        tile('Job duration, p95', run.stops > 0 ? duration(run.latency.p95) : '–', run.stops > 0 ? `p50 ${duration(run.latency.p50)}` : 'none ended'),
        tile('Peak waiting', number(run.peak_depth), `${number(run.peak_in_flight)}${run.max_concurrency > 0 ? ` of ${number(run.max_concurrency)}` : ''} running at once`));
}

/* ---- All of it ---- */

function show() {
    let chosen = run.strips.length === 2 ? run.strips[1] : run.strips[0], worst = worstTable(chosen);
    const strip = stripChart(() => chosen, dayPicker((picked) => {
        chosen = picked;
        strip.renew();
        const renewed = worstTable(chosen);
        worst.replaceWith(renewed);
        worst = renewed;
    }));
    const stepped = run.marks_count.clock > 0
        && 'Times are those of the trace, so steps of the clock do not move them. Where the clock showed another time, it stands beside them.';
    document.title = `${verdict().words} – ${run.trace}`;
    document.getElementById('page').append(header(), tiles(),
        el('section', { 'aria-labelledby': 'days-title-all' }, el('h2', { id: 'days-title-all' }, 'How the days ended'), strip, worst, run.days.day.length > 1 && daysChart()),
        el('section', { 'aria-labelledby': 'times-title' }, el('h2', { id: 'times-title' }, 'Over time'), stepped && el('p', { class: 'note' }, stepped), timeCharts()),
        el('section', { 'aria-labelledby': 'spread-title' }, el('h2', { id: 'spread-title' }, 'Durations'), el('div', { class: 'pair' }, spreadCharts())),
        el('div', { class: 'pair last' }, settingsTable(), countsTable()),
        el('footer', {}, el('p', {}, `Written by diurnal ${run.version}. All times are UTC. To read a chart, point at it or use the arrow keys, Page Up and Down, Home and End.`)));
    for (const figure of document.querySelectorAll('figure')) figure.draw?.();
}

show();
