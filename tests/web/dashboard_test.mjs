/* dashboard_test.mjs - drives the dashboard of a real daemon in a browser: node dashboard_test.mjs DIURNAL [TEST].
 * Without a test it lists them. Nothing sleeps: each test waits for a condition, because a machine may be slow. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { apart, closeBrowser, contrast, launched, rgb } from './browser.mjs';
import { dueIn, farFromMidnight, newDaemon, newWay, until } from './daemon.mjs';
import { hostile } from './hostile.mjs';

const [program, sentence] = process.argv.slice(2);
const VIEWS = ['today', 'users', 'users/ok-1', 'queue', 'slos', 'actors', 'days', 'settings'];
const REFUSED = /status of 401/; /* the page first asks for an existing session */
const PATIENCE = 60000;

/* The page of a daemon in a browser of its own; in the end, what it complained of, did or asked for meanwhile: nothing but
 * what is tolerated. */
async function withPage({ url, scheme = 'light', width = 1280, motion = 'no-preference', zone = 'UTC', tolerates = [] }, look) {
    const context = await (await launched()).newContext({ viewport: { width, height: 900 }, colorScheme: scheme, reducedMotion: motion, timezoneId: zone });
    const page = await context.newPage(), complaints = [], requests = [];
    page.setDefaultTimeout(PATIENCE);
    page.on('console', (m) => ['error', 'warning'].includes(m.type()) && complaints.push(`console: ${m.text()}`));
    page.on('pageerror', (e) => complaints.push(`uncaught: ${e.stack}`));
    page.on('dialog', (d) => { complaints.push(`a dialog: ${d.message()}`); return d.dismiss(); });
    page.on('popup', () => complaints.push('a window was opened'));
    page.on('request', (r) => { requests.push(r); if (new URL(r.url()).origin !== url) complaints.push(`a request: ${r.url()}`); });
    await page.addInitScript(() => {
        window.violations = [];
        document.addEventListener('securitypolicyviolation', (event) => window.violations.push(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`));
    });
    try {
        await look(page, requests);
        assert.deepEqual(await page.evaluate(() => [window.violations, window.hurt ?? null]), [[], null]);
        const left = complaints.filter((text) => ![REFUSED, ...tolerates].some((pattern) => pattern.test(text)));
        assert.deepEqual(left, []);
    } catch (error) {
        error.stack += `\ncomplaints: ${complaints.join('\n')}\nthe page: ${await page.evaluate(() => document.body.innerText.slice(0, 3000)).catch(String)}`;
        throw error;
    } finally {
        await context.close();
    }
}

const live = (page) => page.waitForSelector('.live[data-state=live]');
async function logIn(page, url, token, hash = '') {
    await page.goto(url + '/' + hash);
    await page.fill('#token', token);
    await page.click('button[type=submit]');
    await live(page);
}
async function withDaemon(look, args = []) {
    await farFromMidnight();
    const daemon = await newDaemon(program, args);
    try {
        await look(daemon);
    } finally {
        await daemon.end();
    }
}
/* Logged in with scope admin. */
const used = (options, look, args) => withDaemon((daemon) => withPage({ url: daemon.url, ...options }, async (page, requests) => {
    await logIn(page, daemon.url, daemon.token);
    await look(page, daemon, requests);
}), args);

const textOf = async (page, selector) => (await page.textContent(selector)).replace(/\u00a0/g, ' ').trim();
const sees = (page, selector, words) => page.waitForFunction(([selector, words]) => [...document.querySelectorAll(selector)].some((node) => node.checkVisibility() && node.textContent.replace(/\u00a0/g, ' ').includes(words)), [selector, words]);
const goes = async (page, hash) => { await page.evaluate((to) => { location.hash = to; }, '#/' + hash); };
/* Users of each outcome, and one whose job runs. */
async function populate(daemon) {
    for (let i = 1; i <= 12; i++) await daemon.put(`ok-${i}`, dueIn(10 + i));
    await daemon.put('bad-1', dueIn(20));
    await daemon.put('slow-1', dueIn(30));
    await daemon.put('cut-1', dueIn(-1), 'today');
    await until('outcomes', async () => {
        const { items } = await daemon.ask('GET', '/daily/users?limit=100');
        return items.filter((user) => user.status === 'success').length === 12 && items.some((user) => user.status === 'cutoff_reached') && (await daemon.ask('GET', '/daily/running')).running === 1;
    });
}

const AXE = fs.readFileSync(path.join(process.env.DIURNAL_WEB_MODULES || '.', 'node_modules/axe-core/axe.min.js'), 'utf8');
async function passesAxe(page, what) {
    if (!(await page.evaluate(() => Boolean(window.axe)))) await page.evaluate(AXE);
    const { violations } = await page.evaluate(() => window.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }));
    assert.deepEqual(violations.map((v) => `${v.id}: ${v.nodes.map((node) => `${node.target} ${node.failureSummary}`).join(' | ')}`), [], what);
}

async function viewsPassAxe(scheme, width) {
    await withDaemon(async (daemon) => {
        await populate(daemon);
        await withPage({ url: daemon.url, scheme, width, zone: 'Europe/Berlin' }, async (page) => {
            await page.goto(daemon.url);
            await page.waitForSelector('#token');
            await passesAxe(page, 'login');
            await logIn(page, daemon.url, daemon.token);
            for (const view of VIEWS) {
                await goes(page, view);
                await page.waitForFunction(() => document.querySelector('main h1')?.textContent && !document.querySelector('main .loading')?.checkVisibility());
                await page.$$eval('main details', (all) => all.forEach((one) => { one.open = true; }));
                await passesAxe(page, view);
                assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= width, view);
            }
            for (const dialog of ['register', 'import']) {
                await goes(page, 'today');
                await sees(page, 'h1', 'done');
                await goes(page, `users?${dialog}=1`);
                await page.waitForSelector('dialog[open]');
                await passesAxe(page, dialog);
                await page.keyboard.press('Escape');
            }
        });
    });
}

const tests = {
    /* ---- Sessions ---- */

    async login_accepts_a_valid_token_only() {
        await withDaemon((daemon) => withPage({ url: daemon.url }, async (page) => {
            await page.goto(daemon.url);
            await page.waitForSelector('#token:focus');
            for (const wrong of ['diurnal_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA', 'x', '<b>']) {
                await page.fill('#token', wrong);
                await page.press('#token', 'Enter');
                await sees(page, '[role=alert]', 'This token is invalid.');
                assert.equal(await page.locator('nav').count(), 0);
            }
            await page.fill('#token', ` ${daemon.token}\n`);
            await page.click('button[type=submit]');
            await live(page);
            assert.equal(await textOf(page, '.who .name'), 'admin');
            assert.equal(await textOf(page, '.who .scope'), 'admin');
            /* The session is in a cookie that no script can read, and nowhere else. */
            assert.deepEqual(await page.evaluate(() => [document.cookie, Object.values(localStorage).join(), Object.values(sessionStorage).join(), location.href.includes('diurnal_')]), ['', '', '', false]);
            await page.reload();
            await live(page);
            await page.click('text=Log out');
            await sees(page, '.why-here', 'You are logged out.');
            await page.reload();
            await page.waitForSelector('#token');
        }));
    },

    async login_link_works_once_and_its_ticket_leaves_the_address() {
        await withDaemon(async (daemon) => {
            const { ticket } = await daemon.ask('POST', '/tickets');
            await withPage({ url: daemon.url }, async (page) => {
                await page.goto(`${daemon.url}/#ticket=${ticket}`);
                await live(page);
                assert.equal(page.url(), `${daemon.url}/`);
                assert.equal(await page.evaluate(() => history.length), 2); /* about:blank and this page: no entry of the history has the ticket */
            });
            await withPage({ url: daemon.url }, async (page) => {
                await page.goto(`${daemon.url}/#ticket=${ticket}`);
                await sees(page, '.why-here', 'This link was already used, or is older than a minute.');
                assert.equal(page.url(), `${daemon.url}/`);
            });
        });
    },

    async session_offers_only_what_its_scope_allows() {
        await withDaemon(async (daemon) => {
            await populate(daemon);
            const buttons = {};
            for (const scope of ['read', 'operate']) {
                const { token } = await daemon.ask('POST', '/tokens', { name: `${scope}er`, scope });
                await withPage({ url: daemon.url }, async (page) => {
                    await logIn(page, daemon.url, token, '#/users');
                    assert.equal(await textOf(page, '.who .scope'), scope);
                    await sees(page, 'tbody', 'ok-1');
                    buttons[scope] = [await page.locator('main .actions button').allTextContents()];
                    await goes(page, 'users/ok-1');
                    await sees(page, '.why', 'ok-1 is due at');
                    buttons[scope].push(await page.locator('main .actions button').allTextContents());
                });
            }
            assert.deepEqual(buttons, { read: [[], []], operate: [['Register a user', 'Import a file'], ['Change due time', 'Remove']] });
        });
    },

    async session_of_a_tenant_shows_one_sentence_and_no_error() {
        await withDaemon(async (daemon) => {
            const { token } = await daemon.ask('POST', '/tokens', { name: 'acme ops', scope: 'admin', tenant: 'acme' });
            /* After a reload the page asks for the day before it knows the session: that one request is refused. */
            await withPage({ url: daemon.url, tolerates: [/status of 403/] }, async (page) => {
                const showsTheSentence = async () => {
                    await sees(page, '.tenant', 'This token belongs to tenant acme. The daily path belongs to no tenant, so there is nothing to show yet.');
                    await sees(page, 'main', 'Logged in as acme ops with scope admin.');
                    assert.equal(await page.locator('[role=alert], .banner, nav').count(), 0);
                };
                await page.goto(daemon.url);
                await page.fill('#token', token);
                await page.click('button[type=submit]');
                await showsTheSentence();
                await passesAxe(page, 'tenant');
                await page.reload();
                await showsTheSentence();
                await page.click('text=Log out');
                await sees(page, '.why-here', 'You are logged out.');
            });
        });
    },

    async login_rejects_a_token_with_a_user_and_says_why() {
        await withDaemon(async (daemon) => {
            const { token } = await daemon.ask('POST', '/tokens', { name: 'ada', scope: 'read', tenant: 'acme', user: 'ada' });
            await withPage({ url: daemon.url, tolerates: [/status of 403/] }, async (page) => {
                await page.goto(daemon.url);
                await page.fill('#token', token);
                await page.press('#token', 'Enter');
                await sees(page, '[role=alert]', 'A token with a user cannot log in to the dashboard.');
                await page.reload();
                await page.waitForSelector('#token');
            });
        });
    },

    async session_ends_when_its_token_is_revoked() {
        await withDaemon(async (daemon) => {
            const { id, token } = await daemon.ask('POST', '/tokens', { name: 'short', scope: 'read' });
            await withPage({ url: daemon.url, tolerates: [/INCOMPLETE_CHUNKED/, /CONNECTION_RESET/] }, async (page) => {
                await logIn(page, daemon.url, token);
                await daemon.ask('DELETE', `/tokens/${id}`);
                await sees(page, '.why-here', 'Your session has ended');
            });
        });
    },

    /* ---- Loading ---- */

    async page_requests_the_day_before_the_session_is_known() {
        await used({}, async (page, daemon) => {
            await daemon.put('ok-1', dueIn(30));
            let known;
            const isKnown = new Promise((done) => { known = done; });
            await page.route('**/api/v1/session', async (route) => { await isKnown; await route.continue(); });
            const today = page.waitForResponse('**/api/v1/daily/today');
            await page.reload({ waitUntil: 'commit' });
            assert.equal((await today).status(), 200);
            assert.equal(await page.locator('header').count(), 0);
            known();
            await sees(page, 'h1', '1 user done today');
            await live(page);
        });
    },

    async page_does_not_move_when_its_data_arrives() {
        await used({}, async (page, daemon) => {
            await daemon.put('ok-1', dueIn(30));
            await sees(page, 'h1', '1 user done today');
            let come;
            const comes = new Promise((done) => { come = done; });
            await page.route('**/api/v1/{events,daily/today,status}', async (route) => { await comes; await route.continue(); });
            await page.reload();
            await sees(page, 'h1', 'Today');
            const places = () => page.evaluate(() => ['.utc', 'nav', 'main .over', 'main h1'].map((of) => { const { left, top } = document.querySelector(of).getBoundingClientRect(); return [left, top]; }));
            const before = await places();
            await sees(page, '.live', 'Connecting');
            come();
            await sees(page, 'h1', '1 user done today');
            await sees(page, '.live', 'Live');
            assert.deepEqual(await places(), before);
        });
    },

    async page_shows_the_login_if_the_session_ends_while_it_loads() {
        await used({}, async (page) => {
            await page.route('**/api/v1/events', (route) => route.fulfill({ status: 401, contentType: 'application/problem+json', body: '{"detail":"who is there?"}' }));
            await page.reload();
            await sees(page, '.why-here', 'Your session has ended');
        });
    },

    async theme_is_set_before_the_first_paint() {
        await used({ scheme: 'light' }, async (page) => {
            await page.selectOption('#theme', 'dark');
            /* Without a body nothing has been painted yet. */
            await page.addInitScript(() => new MutationObserver((_, observer) => { if (document.body) { window.themeFirst = document.documentElement.dataset.theme; observer.disconnect(); } }).observe(document, { subtree: true, childList: true }));
            await page.reload();
            await live(page);
            assert.equal(await page.evaluate(() => window.themeFirst), 'dark');
        });
    },

    async figures_keep_large_numbers_on_one_line_on_a_phone() {
        await used({ width: 360 }, async (page, daemon) => {
            await daemon.put('ok-1', dueIn(30));
            await sees(page, 'h1', '1 user done today');
            await page.route('**/api/v1/daily/today', async (route) => {
                const response = await route.fetch(), day = await response.json();
                Object.assign(day.items[0], { users: 1001000, success: 18025, pending: 982975, running: 0 });
                await route.fulfill({ response, json: day });
            });
            await page.reload();
            await sees(page, '.figure', 'Pending982,97598.2 %');
            const heights = await page.$$eval('.figure dd', (all) => all.map((node) => node.getClientRects().length && node.getBoundingClientRect().height / parseFloat(getComputedStyle(node).lineHeight)));
            assert.ok(heights.every((lines) => lines < 1.5), `lines: ${heights}`);
        });
    },

    /* ---- The day ---- */

    async today_tells_no_users_due_from_no_users_registered() {
        await used({}, async (page, daemon) => {
            await sees(page, 'h1', 'No users registered yet');
            await sees(page, '.welcome', 'Register a user');
            await daemon.put('later', '00:01', '2999-01-01');
            await sees(page, 'h1', 'No users are due today');
            await page.waitForSelector('.welcome', { state: 'hidden' });
            await page.reload();
            await sees(page, 'h1', 'No users are due today');
        });
    },

    async today_follows_a_new_user_to_success_without_a_reload() {
        await used({}, async (page, daemon) => {
            await page.evaluate(() => { window.stayed = true; });
            await sees(page, 'h1', 'No users registered yet');
            await page.click('text=Register a user');
            const due = dueIn(40);
            await page.fill('#new-id', 'slow ada');
            await page.fill('#new-due', due);
            await page.click('dialog button[type=submit]');
            await sees(page, '.why li', 'The 1st attempt is running now.');
            await goes(page, `today/${due}`);
            await sees(page, '.figure', 'Running1');
            await sees(page, '.minute-users tbody', 'running');
            await page.waitForFunction(() => document.querySelector('.bars.is-running[d]'));
            assert.match(await page.getAttribute('[role=slider]', 'aria-valuetext'), new RegExp(`^${due} UTC: 1.user, 1 running$`));
            daemon.open();
            await sees(page, 'h1', '1 user done today');
            await sees(page, '.minute-users tbody', 'success');
            await page.waitForFunction(() => document.querySelector('.bars.is-success[d]') && !document.querySelector('.bars.is-running[d]'));
            await page.click('.minute-users tbody a');
            await sees(page, '.why li', 'on the 1st attempt');
            await sees(page, '.calendar .today', 'success, 1 attempt');
            assert.equal(await page.evaluate(() => window.stayed), true);
        });
    },

    async today_shows_a_reached_cutoff_and_leads_to_its_reason() {
        await used({}, async (page, daemon) => {
            await daemon.put('ok-1', dueIn(30));
            await goes(page, 'users?register=1');
            await page.fill('#new-id', 'too late');
            await page.fill('#new-due', dueIn(-1));
            await page.selectOption('#new-from', 'today');
            await page.press('#new-due', 'Enter');
            await sees(page, '.why li', 'the cutoff was reached');
            await page.click('nav >> text=Today');
            await sees(page, 'h1', '1 of 2 users missed their cutoff');
            await sees(page, '.figure', 'Cutoff reached1');
            await page.waitForFunction(() => ['success', 'cutoff_reached'].every((state) => document.querySelector(`.bars.is-${state}[d]`)));
            /* The bar hangs below the line, so its place shows the state without colour. */
            const [down, up] = await page.evaluate(() => ['.bars.is-cutoff_reached[d]', '.bars.is-success[d]'].map((of) => { const { y, height } = document.querySelector(of).getBBox(); return { y, height }; }));
            assert.ok(down.y >= up.y + up.height, `${down.y} is above ${up.y + up.height}`);
            await page.click('.alternative summary');
            await sees(page, '.alternative tbody', '1');
            await page.focus('[role=slider]');
            const at = Number(await page.getAttribute('[role=slider]', 'aria-valuenow'));
            const [hours, minutes] = dueIn(-1).split(':').map(Number);
            for (let n = at; n > hours * 60 + minutes; n--) await page.keyboard.press('ArrowLeft');
            await sees(page, '.minute-users h2', dueIn(-1).slice(0, 2));
            await page.click('.minute-users tbody a:has-text("too late")');
            await sees(page, '.why li', 'before any attempt started');
        });
    },

    async minute_does_not_list_a_user_of_a_later_first_day_as_pending() {
        await used({}, async (page, daemon) => {
            const due = dueIn(90);
            await daemon.put('to come', due);
            await daemon.put('next year', due, '2999-01-01');
            await goes(page, `today/${due}`);
            const states = async () => Object.fromEntries(await page.$$eval('.minute-users tbody tr', (rows) => rows.map((row) => [...row.children].slice(0, 2).map((cell) => cell.textContent))));
            await until('both are there', async () => Object.keys(await states()).length === 2);
            assert.deepEqual(await states(), { 'next year': 'starts 2999-01-01', 'to come': 'pending' });
            await sees(page, '.figure', 'Pending1');
            await daemon.put('next year', due, '2998-12-31');
            await daemon.put('to come', due, '2999-01-01');
            await until('the other days', async () => { const now = await states(); return now['next year'] === 'starts 2998-12-31' && now['to come'] === 'starts 2999-01-01'; });
        }, ['--window-minutes', '1']);
    },

    async minute_is_read_less_often_the_longer_a_read_takes() {
        await used({}, async (page, daemon) => {
            const due = dueIn(120), slow = 300, isOf = (url) => url.includes('/daily/users?due_from=' + encodeURIComponent(due));
            await page.route((url) => isOf(url.href), async (route) => {
                await new Promise((done) => setTimeout(done, slow));
                await route.continue();
            });
            /* By the page's own clock, because events reach this process later. */
            const read = () => page.evaluate((due) => performance.getEntriesByType('resource').filter((entry) => entry.name.includes('/daily/users?due_from=' + due) && entry.responseEnd > 0)
                .map((entry) => ({ asked: entry.startTime, answered: entry.responseEnd })), encodeURIComponent(due));
            let reads = [];
            await daemon.put('first', due, '2999-01-01');
            await goes(page, `today/${due}`);
            for (let n = 0; (reads = await read()).length < 3; n++) {
                await daemon.put(`ok-${n}`, due);
                await page.waitForTimeout(50);
            }
            for (let i = 1; i < 3; i++) assert.ok(reads[i].asked - reads[i - 1].answered > 5 * slow, JSON.stringify(reads));
            await sees(page, '.minute-users tbody', 'ok-0');
        });
    },

    async user_shows_failed_attempts_and_their_error_class() {
        await used({}, async (page, daemon) => {
            await daemon.put('bad bob', dueIn(30));
            await goes(page, 'users/bad%20bob');
            await sees(page, '.why li', '1 attempt so far; the last failure was llm.');
            await goes(page, 'queue');
            await sees(page, '.figure', 'Failed1');
        });
    },

    async times_are_utc_with_the_local_time_beside_them() {
        await used({ zone: 'Asia/Kolkata' }, async (page, daemon) => {
            await daemon.put('ok-1', '23:00');
            assert.match(await textOf(page, '.clock .utc'), /^\d\d:\d\d:\d\d UTC$/);
            assert.match(await textOf(page, '.clock .local'), /^\d\d:\d\d:\d\d( \+1 d)? GMT\+5:30$/);
            await goes(page, 'users');
            await sees(page, 'tbody', '23:00, here 04:30 +1 d');
        });
        await used({}, async (page, daemon) => {
            await daemon.put('ok-1', '23:00');
            await goes(page, 'users');
            await sees(page, 'tbody', '23:00');
            assert.equal(await page.locator('.local:visible').count(), 0);
        });
    },

    /* ---- Users ---- */

    async users_are_filtered_by_id_outcome_and_due_time() {
        await used({}, async (page, daemon) => {
            await populate(daemon);
            for (let i = 0; i < 100; i++) await daemon.put(`many-${String(i).padStart(3, '0')}`, '00:00');
            const ids = () => page.locator('table.users tbody th').allTextContents();
            const shows = (what, isSo) => until(what, async () => isSo(await ids()));
            await goes(page, 'users');
            await shows('a page', (all) => all.length === 50);
            await page.click('text=Next');
            await shows('the next', (all) => all.length === 50 && all[0] === 'many-048');
            await page.click('text=Next');
            await shows('the last', (all) => all.length === 15 && all.at(-1) === 'slow-1');
            await page.click('text=Back');
            await shows('the one before', (all) => all[0] === 'many-048');
            await page.fill('#q', 'ok-1');
            await shows('by id', (all) => all.join() === 'ok-1,ok-10,ok-11,ok-12');
            assert.match(page.url(), /#\/users\?q=ok-1$/);
            await page.fill('#q', '');
            await page.selectOption('#status', 'cutoff_reached');
            await shows('by outcome', (all) => all.join() === 'cut-1');
            await page.selectOption('#status', '');
            await page.fill('#due_from', '0:00');
            await page.fill('#due_to', '00:00');
            await shows('by due', (all) => all.length === 50 && all.every((id) => id.startsWith('many')));
            assert.match(page.url(), /due_from=00%3A00&due_to=00%3A00/);
            await page.fill('#due_to', '25:00');
            await page.waitForSelector('#due_to[aria-invalid=true]');
            await page.click('text=Clear');
            await shows('all', (all) => all[0] === 'bad-1');
            await page.goto(`${daemon.url}/#/users?q=nobody`);
            await sees(page, '.empty', 'No users match.');
        });
    },

    /* More users than the daemon scans for one response. */
    async users_are_found_behind_twenty_thousand_others_unless_the_view_is_left() {
        await used({}, async (page, daemon) => {
            /* An hour whose windows do not open during the test. */
            const now = new Date().getUTCHours(), hour = now > 0 && now < 22 ? '00' : '11';
            const others = Array.from({ length: 41000 }, (_, i) => `{"id":"a-${i}","due":"${hour}:00"}`);
            const fifty = Array.from({ length: 50 }, (_, i) => `{"id":"m-${i}","due":"${hour}:01","starts_on":"today"}`);
            await daemon.ask('POST', '/daily/users:import', [...others, ...fifty, `{"id":"z-last","due":"${hour}:02"}`].join('\n'));
            const ids = (where) => page.locator(`${where} tbody th`).allTextContents();
            const shows = (where, what, isSo) => until(what, async () => isSo(await ids(where)));
            await goes(page, `users?due_from=${hour}:02`);
            await shows('table.users', 'by due', (all) => all.join() === 'z-last');
            assert.ok(!(await page.locator('text=Next').isVisible()));
            await goes(page, `users?due_from=${hour}:01&due_to=${hour}:01`);
            await shows('table.users', 'a whole page', (all) => all.length === 50);
            await page.click('text=Next');
            await sees(page, '.empty', 'No more users.');
            await page.click('text=Back');
            await shows('table.users', 'the page before', (all) => all.length === 50);
            await goes(page, 'users?status=success');
            await sees(page, '.empty', 'No users match.');
            await goes(page, `today/${hour}:01`);
            await shows('.minute-users', 'of a minute', (all) => all.length === 50);
            await goes(page, `today/${hour}:03`);
            await sees(page, '.minute-users .empty', 'No user is due in this minute.');

            await page.route('**/api/v1/daily/users?*cursor=*', () => {}); /* never answered */
            for (const view of [`users?due_from=${hour}:02`, `today/${hour}:02`]) {
                const begun = page.waitForRequest(/daily.users.*cursor=/), given = page.waitForEvent('requestfailed', (request) => /cursor=/.test(request.url()));
                await goes(page, view);
                await begun;
                await goes(page, 'queue');
                await given;
            }
        });
    },

    async import_reports_the_rejected_lines_of_a_file() {
        await used({}, async (page, daemon) => {
            const file = (name, text) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
            await goes(page, 'users?import=1');
            await page.setInputFiles('#file', file('users.ndjson', '{"id":"ada","due":"08:00"}\n{"id":"bob","due":"25:00"}\nnot json <b>\n{"id":"cy","due":"09:00"}\n'));
            await page.click('dialog button[type=submit]');
            await sees(page, '.verdict', '2 users imported, 2 lines rejected.');
            const lines = await page.locator('.errors tbody tr').allTextContents();
            assert.equal(lines.length, 2);
            assert.match(lines[0], /^2invalid due time "25:00"; use HH:MM/);
            assert.match(lines[1], /^3/);
            await sees(page, 'table.users tbody', 'ada');
            await page.setInputFiles('#file', file('more.CSV', 'id,due\ndee,10:00\n'));
            await page.click('dialog button[type=submit]');
            await sees(page, '.verdict', '1 user imported.');
            await page.keyboard.press('Escape');
            await page.waitForSelector('dialog', { state: 'detached' });
            await sees(page, 'table.users tbody', 'dee');
            assert.equal((await daemon.ask('GET', '/daily/users/dee')).due, '10:00');
        });
    },

    async import_shows_the_progress_of_a_large_file() {
        await used({}, async (page) => {
            await goes(page, 'users?import=1');
            const lines = Array.from({ length: 60000 }, (_, i) => `{"id":"user ${i} ${'x'.repeat(60)}","due":"08:00"}`).join('\n');
            await page.setInputFiles('#file', { name: 'users.ndjson', mimeType: 'text/plain', buffer: Buffer.from(lines) });
            await page.evaluate(() => { window.far = []; new MutationObserver(() => window.far.push(document.querySelector('.far span').textContent)).observe(document.querySelector('.far'), { subtree: true, childList: true, characterData: true }); });
            await page.click('dialog button[type=submit]');
            await sees(page, '.verdict', '60,000 users imported.');
            assert.ok((await page.evaluate(() => window.far)).some((text) => /MiB/.test(text)));
        });
    },

    async user_is_changed_and_removed_after_confirmation() {
        await used({}, async (page, daemon) => {
            await daemon.put('ok ada/b?c#d', dueIn(120));
            await goes(page, 'users');
            await page.click('table.users tbody a');
            await sees(page, 'h1', 'ok ada/b?c#d');
            await page.click('text=Change due time');
            await page.fill('#due', '26:00');
            await page.click('dialog button[type=submit]');
            await sees(page, 'dialog [role=alert]', 'Invalid time; use HH:MM');
            await page.fill('#due', '23:58');
            await page.click('dialog button[type=submit]');
            await sees(page, '.why li', 'is due at 23:58 UTC every day');
            await page.click('main >> text=Remove');
            await page.click('dialog >> text=Cancel');
            assert.equal((await daemon.ask('GET', '/daily/users')).items.length, 1);
            await page.click('main >> text=Remove');
            await page.click('dialog button.danger');
            await sees(page, '.empty', 'No users registered yet.');
            assert.equal((await daemon.ask('GET', '/daily/users')).items.length, 0);
            await page.goBack();
            await sees(page, 'main', 'Users');
        });
    },

    /* ---- The daemon ---- */

    async views_show_the_state_of_the_daemon() {
        await used({}, async (page, daemon) => {
            await populate(daemon);
            await goes(page, 'queue');
            await sees(page, 'tbody th', 'slow-1');
            await sees(page, '.figure', 'Running1of 64');
            await page.waitForFunction(() => document.querySelectorAll('.spark .line[d]').length === 2);
            await goes(page, 'slos');
            await sees(page, '.level', 'Users done by their cutoff');
            await until('all SLOs', async () => (await page.locator('.level').count()) === (await daemon.ask('GET', '/slo')).items.length);
            await sees(page, '.level', 'cutoff_miss_rate');
            await goes(page, 'actors');
            for (const name of ['top', 'core', 'queue', 'executor', 'kv', 'web', 'execution × 1']) await sees(page, '.actors tbody th', name);
            const depth = (name) => page.locator(`.actors tbody th:has(.name:text-is("${name}"))`).evaluate((node) => parseFloat(node.style.paddingLeft) || 0);
            assert.deepEqual([await depth('top') < await depth('core'), await depth('core') < await depth('executions'), await depth('executions') < await depth('execution × 1')], [true, true, true]);
            await sees(page, '.empty', 'No actor has crashed.');
            await goes(page, 'days');
            await sees(page, '.days tbody tr', 'Today, so far');
            assert.match(await textOf(page, '.days tbody tr'), /13121092\.3 %$/);
            await goes(page, 'settings');
            await sees(page, '.settings tbody tr', 'tick_ms100flag--tick-ms');
            await page.check('#only');
            await page.waitForFunction(() => [...document.querySelectorAll('.settings .source')].every((node) => node.textContent !== 'default'));
            await goes(page, 'nothing');
            await sees(page, 'h1', 'Page not found');
        });
    },

    async queue_drops_the_date_of_a_job_once_the_day_is_known() {
        await used({}, async (page, daemon) => {
            await daemon.put('slow-1', dueIn(30));
            await until('slow-1 runs', async () => (await daemon.ask('GET', '/daily/running')).running === 1);
            await goes(page, 'queue');
            let come;
            const comes = new Promise((done) => { come = done; });
            await page.route('**/api/v1/{daily/today,status}', async (route) => { await comes; await route.continue(); });
            await page.reload();
            await sees(page, '.jobs tbody td', new Date().toISOString().slice(0, 10));
            come();
            await until('the time alone', async () => /^\d\d:\d\d:\d\d$/.test(await textOf(page, '.jobs tbody td:nth-child(3)')));
        });
    },

    async views_show_a_failed_request_and_retry_on_demand() {
        await used({ tolerates: [/status of 503/] }, async (page, daemon) => {
            await daemon.put('ok-1', dueIn(30));
            let broken = true;
            await page.route('**/api/v1/{config,daily/users,daily/users?*}', (route) => (broken ? route.fulfill({ status: 503, contentType: 'application/problem+json', body: '{"detail":"the daemon is starting"}' }) : route.continue()));
            for (const [hash, then] of [['settings', '.settings tbody'], ['users', 'table.users tbody']]) {
                broken = true;
                await goes(page, hash);
                await sees(page, '.failure', 'The daemon is starting.');
                broken = false;
                await page.click('text=Try again');
                await sees(page, then, hash === 'users' ? 'ok-1' : 'tick_ms');
            }
        });
    },

    async page_reports_a_lost_connection_and_catches_up_after_it() {
        await withDaemon(async (daemon) => {
            const way = await newWay(daemon.port);
            try {
                await withPage({ url: way.url, tolerates: [/ERR_/] }, async (page, requests) => {
                    await daemon.put('ok-1', dueIn(30));
                    await logIn(page, way.url, daemon.token);
                    await sees(page, 'h1', '1 user done today');
                    way.cut();
                    await sees(page, '.banner', 'The daemon cannot be reached. This page shows the state at');
                    await page.waitForSelector('.live[data-state=lost]');
                    await page.waitForFunction(() => /Next try in \d+ s\./.test(document.querySelector('.banner').textContent));
                    assert.match(await textOf(page, '#said'), /^Connection to the daemon lost\./);
                    await sees(page, 'h1', '1 user done today');
                    await daemon.put('ok-2', dueIn(30));
                    await until('ok-2', async () => (await daemon.ask('GET', '/daily/users/ok-2')).status);
                    way.mend();
                    await live(page);
                    await sees(page, 'h1', 'All 2 users done today');
                    assert.equal(await page.locator('.banner:visible').count(), 0);
                    assert.equal(await textOf(page, '#said'), 'Connected again.');
                    /* The page continued its stream and did not read everything again. */
                    const events = requests.filter((r) => r.url().endsWith('/api/v1/events')), last = await events.at(-1).allHeaders();
                    assert.match(last['last-event-id'], /^[0-9a-f]+-\d+$/);
                    assert.equal(requests.filter((r) => r.url().endsWith('/api/v1/daily/today')).length, 1);
                });
            } finally {
                way.end();
            }
        });
    },

    async page_returns_to_its_view_after_a_restart_and_login() {
        await used({ tolerates: [/ERR_/] }, async (page, daemon) => {
            await daemon.put('ok-1', dueIn(30));
            await goes(page, 'users/ok-1');
            await sees(page, '.why li', 'success');
            await daemon.kill();
            await page.waitForFunction(() => /Next try in \d+ s\./.test(document.querySelector('.banner')?.textContent));
            await daemon.start();
            await page.evaluate(() => [...document.querySelectorAll('.banner button')].forEach((button) => button.click()));
            await sees(page, '.why-here', 'the daemon was restarted');
            await page.fill('#token', daemon.token);
            await page.click('button[type=submit]');
            await live(page);
            await sees(page, '.why li', 'success');
        });
    },

    /* ---- Accessibility ---- */

    async views_pass_axe_in_light_on_a_desktop() { await viewsPassAxe('light', 1280); },
    async views_pass_axe_in_dark_on_a_desktop() { await viewsPassAxe('dark', 1280); },
    async views_pass_axe_in_light_and_fit_a_phone() { await viewsPassAxe('light', 360); },
    async views_pass_axe_in_dark_and_fit_a_phone() { await viewsPassAxe('dark', 360); },

    async page_works_by_keyboard_alone() {
        await used({}, async (page, daemon) => {
            await populate(daemon);
            await sees(page, 'h1', 'done');
            const focused = () => page.evaluate(() => { const node = document.activeElement, style = getComputedStyle(node); return { text: (node.getAttribute('aria-label') || node.textContent || node.id || node.tagName).trim(), role: node.getAttribute('role'), outline: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2 }; });
            await page.evaluate(() => document.activeElement.blur());
            await page.keyboard.press('Tab');
            assert.equal((await focused()).text, 'Skip to the content');
            await page.keyboard.press('Enter');
            assert.equal(await page.evaluate(() => document.activeElement.id), 'main');
            /* The strip is one tab stop; arrows, page keys, home and end move through its minutes. */
            await page.keyboard.press('Tab');
            assert.deepEqual(await focused(), { text: 'Minute of the day', role: 'slider', outline: true });
            const minute = async () => Number(await page.getAttribute('[role=slider]', 'aria-valuenow'));
            for (const [key, at] of [['Home', 0], ['ArrowRight', 1], ['PageUp', 61], ['ArrowUp', 71], ['ArrowLeft', 70], ['End', 1439]]) {
                await page.keyboard.press(key);
                await until(key, async () => (await minute()) === at);
            }
            assert.match(page.url(), /#\/today\/23%3A59$/);
            /* Next are the table, the button back to now, and one minute of the hour; arrows reach the other minutes. */
            for (const words of ['Table by hour', 'Back to now', '23:59 UTC: ']) {
                await page.keyboard.press('Tab');
                const now = await focused();
                assert.ok(now.text.startsWith(words) && now.outline, JSON.stringify(now));
            }
            await page.keyboard.press('ArrowLeft');
            await until('the minute before', async () => (await focused()).text.startsWith('23:58'));
            await page.keyboard.press('Home');
            await until('the first of the hour', async () => (await focused()).text.startsWith('23:00'));
            await page.keyboard.press('Tab');
            assert.equal((await focused()).text, 'Show in Users');
            await page.keyboard.press('Enter');
            /* A new view focuses its title. */
            await until('users', async () => (await focused()).text === 'Users');
            await page.keyboard.press('Tab');
            assert.equal((await focused()).text, 'Register a user');
            await page.keyboard.press('Enter');
            await until('the dialog', async () => (await page.evaluate(() => document.activeElement.id)) === 'new-id');
            await page.keyboard.type('ok-new');
            await page.keyboard.press('Tab');
            await page.keyboard.type(dueIn(45));
            await page.keyboard.press('Enter');
            await sees(page, '.why li', 'success');
            await page.keyboard.press('Tab');
            await page.keyboard.press('Tab');
            assert.equal((await focused()).text, 'Remove');
            await page.keyboard.press('Enter');
            await page.waitForSelector('dialog[open]');
            await page.keyboard.press('Escape');
            await until('back', async () => (await focused()).text === 'Remove');
        });
    },

    async colours_have_enough_contrast_and_are_distinguishable() {
        for (const scheme of ['light', 'dark'])
            await withDaemon((daemon) => withPage({ url: daemon.url, scheme }, async (page) => {
                await page.goto(daemon.url);
                await page.waitForSelector('#token');
                const told = await page.evaluate(() => {
                    const probe = document.body.appendChild(document.createElement('i'));
                    return Object.fromEntries(['paper', 'card', 'ink', 'soft', 'success', 'cutoff', 'cutoff-ink', 'missed', 'running', 'pending', 'accent', 'good', 'alarm-paper', 'alarm-ink', 'warn-paper', 'warn-ink', 'focus'].map((name) => {
                        probe.style.color = `var(--${name})`;
                        return [name, getComputedStyle(probe).color];
                    }));
                });
                const of = (name) => rgb(told[name]);
                for (const [text, under] of [['ink', 'paper'], ['soft', 'paper'], ['soft', 'card'], ['accent', 'card'], ['accent', 'paper'], ['cutoff-ink', 'card'], ['good', 'card'], ['alarm-ink', 'alarm-paper'], ['warn-ink', 'warn-paper']])
                    assert.ok(contrast(of(text), of(under)) >= 4.5, `${scheme}: ${text} on ${under}: ${contrast(of(text), of(under))}`);
                assert.ok(contrast(of('focus'), of('card')) >= 3);
                for (const [a, b] of [['success', 'cutoff'], ['success', 'missed'], ['success', 'pending'], ['success', 'running'], ['cutoff', 'missed'], ['cutoff', 'pending'], ['running', 'pending'], ['success', 'card'], ['cutoff', 'card'], ['pending', 'card']])
                    assert.ok(apart(of(a), of(b)) > 12, `${scheme}: ${a} and ${b} are ${apart(of(a), of(b))} apart`);
            }));
    },

    async theme_choice_survives_a_reload() {
        await used({ scheme: 'light' }, async (page) => {
            const paper = async () => rgb(await page.$eval('body', (node) => getComputedStyle(node).backgroundColor))[0];
            assert.ok(await paper() > 200);
            await page.selectOption('#theme', 'dark');
            assert.ok(await paper() < 60);
            await page.reload();
            await live(page);
            assert.ok(await paper() < 60);
            assert.equal(await page.inputValue('#theme'), 'dark');
            await page.selectOption('#theme', '');
            assert.ok(await paper() > 200);
        });
    },

    async page_has_no_motion_if_the_system_asks_for_none() {
        await used({ motion: 'reduce' }, async (page) => {
            await sees(page, 'h1', 'No users');
            assert.equal(await page.evaluate(() => [...document.querySelectorAll('*')].filter((node) => { const style = getComputedStyle(node); return style.animationName !== 'none' || parseFloat(style.transitionDuration) > 0 || style.scrollBehavior === 'smooth'; }).length), 0);
        });
    },

    /* ---- Hostile text ---- */

    async page_shows_two_hundred_hostile_ids_as_text() {
        await withDaemon(async (daemon) => {
            assert.ok(hostile.length >= 200, `${hostile.length}`);
            const due = dueIn(30);
            const taken = await daemon.ask('POST', '/daily/users:import', hostile.map((id) => JSON.stringify({ id, due })).join('\n'));
            assert.deepEqual(taken.errors, []);
            const evil = '<img src=x onerror=hurt=1>';
            const { token } = await daemon.ask('POST', '/tokens', { name: evil, scope: 'operate' });
            await withPage({ url: daemon.url }, async (page) => {
                await logIn(page, daemon.url, token, '#/users');
                assert.equal(await textOf(page, '.who .name'), evil);
                const seen = new Set();
                for (;;) {
                    const before = seen.size;
                    await until('a page of them', async () => { (await page.locator('table.users tbody th bdi').evaluateAll((all) => all.map((node) => node.textContent))).forEach((id) => seen.add(id)); return seen.size > before; });
                    if (!(await page.locator('button:text-is("Next"):visible').count())) break;
                    await page.click('button:text-is("Next")');
                }
                assert.deepEqual([...seen].sort(), [...hostile].sort());
                await goes(page, `today/${due}`);
                await page.waitForFunction(() => document.querySelectorAll('.minute-users tbody tr').length === 50);
                await page.click('.minute-users >> text=More');
                await page.waitForFunction((n) => document.querySelectorAll('.minute-users tbody tr').length === n, hostile.length);
                for (const id of hostile.filter((text) => text !== '.' && text !== '..')) {
                    await page.evaluate((to) => { location.hash = '#/users/' + encodeURIComponent(to); }, id);
                    await page.waitForFunction((is) => document.querySelector('h1')?.textContent === is && document.querySelector('.why li')?.textContent.startsWith(is), id);
                }
                /* Also by the links of the list and in dialogs. */
                for (const id of ['#ticket=x', '%2e%2e%2f', 'a/b/c', '<svg onload=hurt=1>']) {
                    await page.evaluate((to) => { location.hash = '#/users?' + new URLSearchParams({ q: to }); }, id);
                    await page.locator('table.users tbody a').filter({ hasText: id }).first().click();
                    await page.waitForFunction((is) => document.querySelector('h1')?.textContent === is, id);
                    await page.click('main >> text=Remove');
                    await page.waitForSelector('dialog[open]');
                    await page.keyboard.press('Escape');
                }
                await goes(page, 'users/..');
                await sees(page, '.failure', 'A browser cannot request the id “..”');
                assert.equal(await page.locator('main img, main script, main iframe, main style').count(), 0);
            });
        });
    },

    async policy_blocks_foreign_scripts_and_markup() {
        await withDaemon((daemon) => withPage({ url: daemon.url, tolerates: [/Content Security Policy/, /Trusted(HTML|Script)/] }, async (page) => {
            await page.goto(daemon.url);
            await page.waitForSelector('#token');
            const tried = await page.evaluate(() => {
                const script = document.createElement('script');
                let markup = 'taken';
                try { script.textContent = 'window.hurt = 1'; document.body.append(script); } catch { /* blocked as well */ }
                try { document.body.insertAdjacentHTML('beforeend', '<b id=made></b>'); } catch { markup = 'refused'; }
                return [window.hurt ?? null, markup, document.getElementById('made')];
            });
            assert.deepEqual(tried, [null, 'refused', null]);
            await page.evaluate(() => { window.violations = []; });
        }));
    },

    /* ---- Cost ---- */

    async page_loads_little_at_first_and_revalidates_afterwards() {
        await withDaemon((daemon) => withPage({ url: daemon.url }, async (page) => {
            const loaded = async () => page.evaluate(() => [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')].map((entry) => ({ name: entry.name, wire: entry.transferSize, status: entry.responseStatus })));
            await page.goto(daemon.url);
            await page.waitForSelector('#token');
            const first = await loaded(), bytes = first.reduce((sum, entry) => sum + entry.wire, 0);
            assert.ok(first.length >= 4 && bytes > 10000 && bytes <= 150 * 1024, `${bytes} bytes in ${first.length}`);
            console.log(`first load: ${bytes} bytes on the wire in ${first.length} requests`);
            await page.goto(daemon.url);
            await page.waitForSelector('#token');
            const again = (await loaded()).filter((entry) => !entry.name.includes('/api/')).reduce((sum, entry) => sum + entry.wire, 0);
            assert.ok(again < 4096, `${again} bytes the second time`);
        }));
    },
};

if (!sentence) {
    console.log(Object.keys(tests).join('\n'));
} else {
    assert.ok(tests[sentence], `no test ${sentence}`);
    try {
        await tests[sentence]();
        console.log('ok ' + sentence);
    } finally {
        await closeBrowser();
    }
}
