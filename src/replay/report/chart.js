/* chart.js - the frame of every chart: title, legend, a readout of the point selected by mouse, finger or keyboard, and the
 * same data as a table. */

/* Built when it is opened, because a year of rows takes long to lay out. */
function tableOf(name, table) {
    const details = el('details', { class: 'numbers' }, el('summary', {}, 'As a table', el('span', { class: 'unseen' }, ': ' + name)));
    function build() {
        details.querySelector('.scroll')?.remove();
        const rows = table.rows();
        details.append(el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': name },
            el('table', {}, el('caption', { class: 'unseen' }, name),
                el('thead', {}, el('tr', {}, table.head.map((text) => el('th', { scope: 'col' }, text)))),
                el('tbody', {}, rows.map((row) => el('tr', {},
                    row.map((cell, i) => (i === 0 ? el('th', { scope: 'row' }, cell) : el('td', {}, cell)))))))));
    }
    details.addEventListener('toggle', () => details.open && build());
    details.renew = () => details.open && build();
    return details;
}

const legendOf = (legend) => el('ul', { class: 'legend' }, legend.map(([swatch, name]) =>
    el('li', {}, el('span', { class: 'swatch ' + swatch, 'aria-hidden': 'true' }), name)));

/* o: id, title, note, empty (a sentence, if there is nothing to draw), legend [[class, name]…], len, start (the place it
 * speaks of at first), say(i), draw(root, width) -> { height, find(x, y) -> i, spot(i) -> { x, y, width, height } },
 * row() (places in a row, if there are several), table { head, rows() }, group (charts that move together), tools. */
function chart(o) {
    const heading = el('figcaption', {}, el('h3', { id: o.id + '-title' }, o.title), o.note && el('p', { class: 'note' }, o.note));
    if (o.empty) return el('figure', { class: 'chart', id: o.id }, heading, el('p', { class: 'empty' }, o.empty));

    const readout = el('p', { class: 'readout' });
    const root = svg('svg', { 'aria-hidden': 'true', focusable: 'false' });
    const plot = el('div', { class: 'plot', tabindex: 0, role: 'slider', 'aria-labelledby': o.id + '-title',
        'aria-valuemin': 0, 'aria-valuemax': o.len - 1 }, root);
    const numbers = tableOf(o.title, o.table);
    const cursor = svg('rect', { class: 'cursor' });
    let at = Math.min(o.start || 0, o.len - 1), view = null, drawnWidth = 0;

    function say() {
        const text = o.say(at);
        readout.textContent = text;
        plot.setAttribute('aria-valuenow', at);
        plot.setAttribute('aria-valuetext', text);
        if (!view) return;
        /* Wider than a narrow bar, so that the bar stays visible. */
        const spot = view.spot(at), more = spot.width < 6 ? 2 : 0;
        fill(cursor, { ...spot, x: spot.x - more, width: spot.width + 2 * more }, []);
    }
    function draw() {
        drawnWidth = plot.clientWidth;
        if (drawnWidth === 0) return;
        root.replaceChildren();
        view = o.draw(root, drawnWidth);
        fill(root, { width: drawnWidth, height: view.height, viewBox: `0 0 ${drawnWidth} ${view.height}` }, []);
        root.append(cursor);
        say();
    }
    function point(i) {
        at = Math.max(0, Math.min(o.len - 1, i));
        say();
    }
    const go = (i) => (o.group ? o.group.forEach((move) => move(i)) : point(i));
    if (o.group) o.group.push(point);

    const follow = (event) => {
        const box = root.getBoundingClientRect();
        if (view) go(view.find(event.clientX - box.left, event.clientY - box.top));
    };
    plot.addEventListener('pointermove', follow);
    plot.addEventListener('pointerdown', follow);
    plot.addEventListener('keydown', (event) => {
        if (event.altKey || event.ctrlKey || event.metaKey) return;
        const row = o.row ? o.row() : 0, page = Math.max(1, Math.round(o.len / 24));
        /* Stay in the first and the last row. */
        const above = at < row ? at : at - row, below = at + row < o.len ? at + row : at;
        const to = { ArrowLeft: at - 1, ArrowRight: at + 1, ArrowUp: row ? above : at + 1, ArrowDown: row ? below : at - 1,
            PageUp: at + page, PageDown: at - page, Home: 0, End: o.len - 1 }[event.key];
        if (to === undefined) return;
        event.preventDefault();
        go(to);
    });
    new ResizeObserver(() => requestAnimationFrame(() => plot.clientWidth !== drawnWidth && draw())).observe(plot);

    const figure = el('figure', { class: 'chart', id: o.id }, heading, o.tools, legendOf(o.legend), plot, readout, numbers);
    figure.draw = draw;
    figure.renew = () => {
        draw();
        numbers.renew();
    };
    return figure;
}

