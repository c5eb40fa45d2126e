/* spark.js - a line chart of the values since the page was opened. */
import { h, setAttr, setText, svg } from './dom.js';

const WIDTH = 600, HEIGHT = 64;

/* limit: a horizontal line, if there is one. name: what a screen reader says. */
export function spark(state, name) {
    const area = svg('path', { class: 'area' }), line = svg('path', { class: 'line' }), across = svg('path', { class: 'limit', hidden: true });
    const top = h('span', { class: 'top-of' });
    const picture = svg('svg', { class: `is-${state}`, viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': name }, area, line, across);
    return {
        node: h('div', { class: 'spark' }, picture, top),
        /* points: {at, value}, oldest first. The chart covers `span` up to `now`. */
        update(points, now, span, { limit = null, format = String } = {}) {
            const highest = Math.max(limit ?? 0, ...points.map((p) => p.value)), most = highest || 1, seen = points.filter((p) => p.value !== null && p.at >= now - span);
            const x = (at) => ((at - now + span) / span * WIDTH).toFixed(1), y = (value) => (HEIGHT - 1 - value / most * (HEIGHT - 4)).toFixed(1);
            const path = seen.map((p, i) => `${i ? 'L' : 'M'}${x(p.at)} ${y(p.value)}`).join('');
            setAttr(line, 'd', path || null);
            setAttr(area, 'd', seen.length > 1 ? `${path}L${x(seen.at(-1).at)} ${HEIGHT}L${x(seen[0].at)} ${HEIGHT}z` : null);
            setAttr(across, 'hidden', limit === null);
            if (limit !== null) setAttr(across, 'd', `M0 ${y(limit)}H${WIDTH}`);
            setText(top, seen.length ? format(highest) : '');
        },
    };
}
