/* api.js - sends requests to the daemon. A request that fails throws a Problem with the daemon's own sentence. */

export class Problem extends Error {
    constructor(status, detail) {
        super(detail);
        this.status = status;
    }
}

/* Called when any request finds that the session has ended. */
let onEnded = () => {};
export const whenSessionEnds = (what) => { onEnded = what; };

const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? '' : '.');

export async function problemOf(response) {
    let detail = response.statusText;
    try { detail = (await response.json()).detail || detail; } catch { /* no problem document: the status text is all there is */ }
    return new Problem(response.status, sentence(detail || `status ${response.status}`));
}

export const unreachable = () => new Problem(0, 'The daemon cannot be reached.');

export async function ask(method, path, body, signal) {
    let response;
    try {
        response = await fetch('/api/v1' + path, {
            method, signal, cache: 'no-store', credentials: 'same-origin',
            headers: { 'X-Diurnal-Request': '1', ...(body && { 'Content-Type': 'application/json' }) },
            body: body && JSON.stringify(body),
        });
    } catch (error) {
        if (error.name === 'AbortError') throw error;
        throw unreachable();
    }
    if (response.status === 401 && path !== '/session') onEnded();
    if (!response.ok) throw await problemOf(response);
    return response.status === 204 ? null : response.json();
}
export const get = (path, signal) => ask('GET', path, undefined, signal);
/* . and .. are valid ids, but a browser removes them from an address. */
export function userPath(id) {
    if (id === '.' || id === '..') throw new Problem(400, `A browser cannot request the id “${id}”. Use diurnal why, set or rm instead.`);
    return '/daily/users/' + encodeURIComponent(id);
}

/* The parameters that have a value, as a query. */
export function query(params) {
    const text = new URLSearchParams(Object.entries(params).filter(([, value]) => value !== '' && value !== null && value !== undefined)).toString();
    return text && '?' + text;
}

/* One page of a list, params.limit long unless the list ends before. The daemon scans a bounded number of rows for one answer, so an
 * answer may be short or empty and still have a cursor for the next. */
export async function page(path, params, signal) {
    const items = [];
    let cursor = params.cursor;
    do {
        const some = await get(path + query({ ...params, limit: params.limit - items.length, cursor }), signal);
        items.push(...some.items);
        cursor = some.next_cursor;
    } while (cursor && items.length < params.limit);
    return { items, next_cursor: cursor };
}

/* Sends a file as it is. XMLHttpRequest, because fetch reports no upload progress. */
export function upload(file, onProgress) {
    const request = new XMLHttpRequest();
    const done = new Promise((resolve, reject) => {
        request.upload.onprogress = (event) => onProgress(event.loaded, event.total);
        request.onload = () => {
            let answer = null;
            try { answer = JSON.parse(request.responseText); } catch { /* judged by its status */ }
            if (request.status === 401) onEnded();
            if (request.status === 200 && answer) resolve(answer);
            else reject(new Problem(request.status, sentence(answer?.detail || `status ${request.status}`)));
        };
        request.onerror = () => reject(new Problem(0, 'The connection broke. Send the whole file again; users that are already registered do not change.'));
        request.onabort = () => reject(new Problem(0, 'Stopped. Lines sent before that may have been imported.'));
    });
    request.open('POST', '/api/v1/daily/users:import');
    request.setRequestHeader('X-Diurnal-Request', '1');
    request.setRequestHeader('Content-Type', /\.csv$/i.test(file.name) ? 'text/csv' : 'application/x-ndjson');
    request.send(file);
    return { done, stop: () => request.abort() };
}
