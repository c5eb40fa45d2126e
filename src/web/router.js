/* router.js - the address says what is looked at, so it can be kept and sent: #/users/ada, #/today/08:15. */

const decode = (text) => { try { return decodeURIComponent(text); } catch { return text; } };

export function routeOf(hash) {
    const [path, query = ''] = hash.replace(/^#\/?/, '').split('?');
    const parts = path.split('/').filter(Boolean).map(decode);
    return { name: parts[0] || 'today', args: parts.slice(1), query: new URLSearchParams(query) };
}

export function linkTo(name, args = [], params = {}) {
    const filled = Object.entries(params).filter(([, value]) => value);
    return '#/' + [name, ...args].map(encodeURIComponent).join('/') + (filled.length ? '?' + new URLSearchParams(filled) : '');
}

/* replace: a step nobody wants to go back through. */
export function goTo(link, { replace = false } = {}) {
    if (!replace) { location.hash = link; return; }
    history.replaceState(null, '', link);
    dispatchEvent(new HashChangeEvent('hashchange'));
}
