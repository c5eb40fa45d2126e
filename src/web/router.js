/* router.js - the address names the view, so that it can be bookmarked and shared: #/users/ada, #/today/08:15. */

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

/* replace: adds no step to the browser's history. */
export function goTo(link, { replace = false } = {}) {
    if (!replace) { location.hash = link; return; }
    history.replaceState(null, '', link);
    dispatchEvent(new HashChangeEvent('hashchange'));
}
