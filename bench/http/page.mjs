/* page.mjs - what the dashboard of a daemon costs a browser: node page.mjs URL TOKEN SECONDS. JSON lines, as of the other
 * programs; n is the seconds it is watched. ../../tests/web/modules says what it wants. */
import assert from 'node:assert/strict';
import { closeBrowser, launched } from '../../tests/web/browser.mjs';

const [url, token, text] = process.argv.slice(2), seconds = Number(text);
const LOADS = 5, SETTLES_MS = 3000;

const figure = (metric, value, unit) => console.log(JSON.stringify({ bench: 'page', metric, n: seconds, value: Number(value.toFixed(4)), unit }));
const median = (all) => all.sort((a, b) => a - b)[Math.floor(all.length / 2)];

/* Since the navigation began, by the page's own clock. Usable: what stands around the view and the view itself are there, and
 * the daemon is heard. Drawn: what it says of today and of the present minute's users is there too. It is told as a message of
 * the console: to ask the page would put some 300 KB of playwright's own script into the midst of what is measured. */
const REACHED = 'reached ';
const watch = (said) => {
    const reached = {}, isSo = {
        usable: () => document.querySelector('.live[data-state=live]') && document.querySelector('main h1')?.checkVisibility(),
        drawn: () => reached.usable && ![...document.querySelectorAll('main .loading')].some((node) => node.checkVisibility()),
    };
    const reach = (what) => {
        if (reached[what]) return;
        reached[what] = performance.now();
        if (reached.drawn) console.debug(said + JSON.stringify(reached));
    };
    const look = () => Object.keys(isSo).forEach((what) => !reached[what] && isSo[what]() && requestAnimationFrame(() => reach(what)));
    new MutationObserver(look).observe(document, { subtree: true, childList: true, attributes: true });
};
async function reaches(page, act) {
    const said = page.waitForEvent('console', { predicate: (message) => message.text().startsWith(REACHED), timeout: 60000 });
    await act();
    return JSON.parse((await said).text().slice(REACHED.length));
}
const settles = () => new Promise((done) => setTimeout(done, SETTLES_MS));
const wire = (page) => page.evaluate(() => [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')].reduce((sum, entry) => sum + entry.transferSize, 0));

/* Of all processes of the browser, by what they do. */
async function cpuSeconds(session) {
    const { processInfo } = await session.send('SystemInfo.getProcessInfo');
    const of = (wanted) => processInfo.filter(({ type }) => wanted(type)).reduce((sum, { cpuTime }) => sum + cpuTime, 0);
    return { renderer: of((type) => type === 'renderer'), all: of(() => true) };
}

try {
    const browser = await launched(), session = await browser.newBrowserCDPSession();
    const first = await browser.newContext(), login = await first.newPage();
    await login.addInitScript(watch, REACHED);
    await login.goto(url);
    await login.fill('#token', token);
    await reaches(login, () => login.click('button[type=submit]'));
    await settles();
    const state = await first.storageState(), usableMs = [], drawnMs = [];
    await first.close();

    /* Each in a context of its own, which has a session and nothing in its cache. That is a new window, and the page behind its
     * address bar takes the browser some 100 ms of a core: that is over before ours is asked for. */
    let page, bytes;
    for (let i = 0; i < LOADS; i++) {
        const context = await browser.newContext({ storageState: state });
        page = await context.newPage();
        await page.addInitScript(watch, REACHED);
        await settles();
        const { usable, drawn } = await reaches(page, () => page.goto(url, { waitUntil: 'commit' }));
        usableMs.push(usable);
        drawnMs.push(drawn);
        bytes = await wire(page);
        if (i + 1 < LOADS) await context.close();
    }
    figure('load_kb', bytes / 1024, 'KiB');
    figure('usable_ms', median(usableMs), 'ms');
    figure('drawn_ms', median(drawnMs), 'ms');

    await settles();
    await page.evaluate(() => {
        window.changedIn = new Set();
        new MutationObserver(() => window.changedIn.add(Math.floor(performance.now() / 1000))).observe(document.querySelector('main'), { subtree: true, childList: true, characterData: true, attributes: true });
    });
    const before = await cpuSeconds(session);
    await new Promise((done) => setTimeout(done, seconds * 1000));
    const after = await cpuSeconds(session), changed = await page.evaluate(() => window.changedIn.size);
    assert.ok(changed >= seconds * 0.8, `what is seen changed in ${changed} of ${seconds} seconds`);
    figure('cpu_share', (after.renderer - before.renderer) / seconds, 'x');
    figure('browser_cpu_share', (after.all - before.all) / seconds, 'x');
} finally {
    await closeBrowser();
}
