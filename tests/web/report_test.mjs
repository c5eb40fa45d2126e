/* report_test.mjs - report.html as a browser shows it: node report_test.mjs DIR [sentence]; DIR has what report_sample
 * wrote. Without a sentence it lists them. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { apart, closeBrowser, coloursOf, contrast, rgb, withPage } from './browser.mjs';

const [dir, sentence] = process.argv.slice(2);
const fileOf = (name) => path.join(dir, name + '.html');
const CHARTS = ['strip', 'marks', 'attempts', 'depth', 'slots', 'latency', 'ticks'];
const SCHEMES = ['light', 'dark'], WIDTHS = [360, 1280];
const shots = path.join(dir, 'shots');

/* What the page was told, without the page's own way of reading it. */
const toldOf = (name) => JSON.parse(fs.readFileSync(fileOf(name), 'utf8').match(/id="run">([^]*?)<\/script/)[1]);
const sumOf = (runs) => { let sum = 0; for (let i = 0; i < runs.length; i += 2) sum += runs[i] * runs[i + 1]; return sum; };
const plain = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ',');

async function looked(name, scheme, width) {
    const told = toldOf(name);
    await withPage({ file: fileOf(name), scheme, width }, async (page) => {
        const heading = (await page.textContent('h1')).replace('\u2011', '-'), all = told.success + told.cutoff_reached + told.missed;
        assert.ok(heading.includes(plain(told.success)) && heading.includes(plain(all)), `${name}: the verdict is "${heading}"`);

        for (const id of CHARTS) {
            if (id === 'marks' && told.marks.length === 0) continue;
            const drawn = await page.$$eval(`#${id} svg .data`, (nodes) => nodes.map((node) => node.getBBox()).filter((box) => box.width > 0 && box.height > 0).length);
            assert.ok(drawn > 0, `${name}: nothing is drawn in ${id}`);
            const fills = await page.$$eval(`#${id} svg .data`, (nodes) => nodes.map((node) => getComputedStyle(node).fill));
            assert.ok(!fills.includes('rgb(0, 0, 0)'), `${name}: something in ${id} has no colour`);
            const box = await page.$eval(`#${id} svg`, (node) => [node.getBoundingClientRect().width, node.closest('.plot').clientWidth]);
            assert.ok(Math.abs(box[0] - box[1]) < 1.5, `${id} is ${box[0]} wide in ${box[1]}`);
            const { colours } = await coloursOf(await page.locator(`#${id} .plot`).screenshot());
            assert.ok(colours > 8, `${name}: ${id} is a picture of ${colours} colours`);
        }
        const png = await page.screenshot({ fullPage: true, path: path.join(shots, `${name}-${scheme}-${width}.png`) });
        const { colours, share } = await coloursOf(png);
        assert.ok(colours > 100 && share < 0.9, `${name}: blank: ${colours} colours, ${share} of it one`);
        const paper = rgb(await page.$eval('body', (node) => getComputedStyle(node).backgroundColor));
        assert.ok(scheme === 'dark' ? paper[0] < 60 : paper[0] > 200, `${scheme}, and the paper is ${paper}`);
    });
}

const tests = {
    async report_draws_a_calm_day_without_errors_or_requests() {
        for (const scheme of SCHEMES) for (const width of WIDTHS) await looked('calm', scheme, width);
    },
    async report_draws_a_herd_without_errors_or_requests() {
        for (const scheme of SCHEMES) for (const width of WIDTHS) await looked('herd', scheme, width);
    },
    async report_draws_an_outage_without_errors_or_requests() {
        for (const scheme of SCHEMES) for (const width of WIDTHS) await looked('outage', scheme, width);
    },

    async charts_draw_limits_as_lines_and_name_unusual_events() {
        await withPage({ file: fileOf('outage') }, async (page) => {
            for (const [id, name] of [['depth', 'depth_avg_max 5,000'], ['slots', 'max_concurrency 96'], ['latency', 'job_p95_max_ms 30\u00a0s'], ['ticks', 'tick_budget_ms 300\u00a0ms']]) {
                assert.equal(await page.locator(`#${id} line.limit`).count(), 1, id);
                assert.equal(await page.textContent(`#${id} .limit-name`), name);
            }
            const lanes = await page.$$eval('#marks .lane', (nodes) => nodes.map((node) => node.textContent));
            assert.deepEqual(lanes, ['Process down', 'Clock set', 'Disk full', 'SLO job_latency', 'SLO cutoff_miss_rate']);
            const names = await page.$$eval('#marks .mark-name', (nodes) => nodes.map((node) => node.textContent.replace(/\u00a0/g, ' ')));
            for (const name of ['21 min', '−1 h', '9 min', '1 h 40 min']) assert.ok(names.includes(name), `${name} is not in ${names}`);
            for (const id of ['attempts', 'depth', 'slots']) {
                const mark = await page.$eval('#marks .mark-crash.data', (node) => node.getBoundingClientRect().x);
                const band = await page.$eval(`#${id} .band-crash`, (node) => node.getBoundingClientRect().x);
                assert.ok(Math.abs(mark - band) < 1.5, `a crash at ${mark}, and in ${id} at ${band}`);
            }
        });
    },

    async report_fits_a_phone_with_every_table_open() {
        for (const name of ['calm', 'outage', 'year', 'empty', 'hostile'])
            await withPage({ file: fileOf(name), width: 360 }, async (page) => {
                await page.$$eval('details', (nodes) => nodes.forEach((node) => { node.open = true; }));
                await page.waitForFunction(() => [...document.querySelectorAll('details')].every((node) => node.querySelector('table')));
                assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360, name);
            });
    },

    async charts_are_read_by_keyboard() {
        await withPage({ file: fileOf('outage') }, async (page) => {
            const reached = new Set();
            for (let i = 0; i < 60; i++) {
                await page.keyboard.press('Tab');
                const id = await page.evaluate(() => {
                    const node = document.activeElement;
                    return node.classList.contains('plot') && getComputedStyle(node).outlineStyle === 'solid' ? node.closest('.chart').id : null;
                });
                if (id === null || reached.has(id)) continue;
                reached.add(id);
                const at = () => page.evaluate(() => ({ now: document.activeElement.getAttribute('aria-valuenow'), text: document.activeElement.getAttribute('aria-valuetext'),
                    said: document.activeElement.parentElement.querySelector('.readout').textContent, max: document.activeElement.getAttribute('aria-valuemax'),
                    role: document.activeElement.getAttribute('role'), name: document.getElementById(document.activeElement.getAttribute('aria-labelledby')).textContent }));
                await page.keyboard.press('Home');
                const first = await at();
                assert.equal(first.now, '0', id);
                assert.equal(first.role, 'slider');
                assert.ok(first.name.length > 5 && first.text === first.said && first.text.length > 10, JSON.stringify(first));
                await page.keyboard.press('ArrowRight');
                assert.equal((await at()).now, '1', id);
                assert.notEqual((await at()).text, first.text, id);
                await page.keyboard.press('End');
                assert.equal((await at()).now, first.max, id);
                await page.keyboard.press('ArrowRight');
                assert.equal((await at()).now, first.max, `${id}: beyond the end`);
            }
            assert.deepEqual([...reached], CHARTS);
            await page.focus('#strip .plot');
            await page.keyboard.press('Home');
            await page.keyboard.press('ArrowDown');
            assert.match(await page.textContent('#strip .readout'), /^06:00: /);
            await page.keyboard.press('ArrowUp');
            await page.keyboard.press('ArrowUp');
            assert.match(await page.textContent('#strip .readout'), /^00:00: /);
        });
    },

    async charts_of_a_group_follow_the_pointer_together() {
        await withPage({ file: fileOf('outage') }, async (page) => {
            await page.locator('#depth .plot').scrollIntoViewIfNeeded();
            const box = await page.locator('#depth .plot').boundingBox();
            await page.mouse.move(box.x + box.width / 2, box.y + 60);
            const said = await page.textContent('#depth .readout');
            assert.match(said, /^1[12]:\d\d–/);
            assert.equal((await page.textContent('#slots .readout')).slice(0, 11), said.slice(0, 11));
            await page.focus('#attempts .plot');
            await page.keyboard.press('Home');
            for (let i = 0; i < 15; i++) await page.keyboard.press('PageUp');
            for (let i = 0; i < 5; i++) await page.keyboard.press('ArrowRight');
            assert.match(await page.textContent('#attempts .readout'), /^15:05–15:06 \(the clock showed 14:05\): /);
            for (let i = 0; i < 2; i++) await page.keyboard.press('PageDown');
            assert.match(await page.textContent('#attempts .readout'), /^13:05–13:06: .*; the process was down$/);
        });
    },

    async charts_have_tables_whose_numbers_add_up() {
        const told = toldOf('outage');
        await withPage({ file: fileOf('outage') }, async (page) => {
            const column = async (id, at) => {
                await page.locator(`#${id} details summary`).focus();
                await page.keyboard.press('Enter');
                await page.waitForSelector(`#${id} details tbody tr`);
                const cells = await page.$$eval(`#${id} tbody tr`, (rows, i) => rows.map((row) => Number(row.children[i].textContent.replaceAll(',', ''))), at);
                await page.keyboard.press('Enter');
                return cells.reduce((sum, n) => sum + n, 0);
            };
            assert.equal(await column('attempts', 1), told.ok);
            assert.equal(await column('attempts', 3), told.timeout);
            assert.equal(await column('strip', 2), told.success);
            assert.equal(await column('strip', 3), told.cutoff_reached);
            assert.equal(await column('latency', 1), told.ok);
            assert.equal(await column('ticks', 1), told.ticks);
            assert.equal(sumOf(told.time.ok), told.ok);
        });
    },

    async worst_minutes_come_first_with_an_example_user() {
        const told = toldOf('outage');
        await withPage({ file: fileOf('outage') }, async (page) => {
            const rows = await page.$$eval('#worst tbody tr', (nodes) => nodes.map((row) => [...row.children].map((cell) => cell.textContent)));
            const failed = rows.map((row) => Number(row[1].replaceAll(',', '')));
            assert.ok(rows.length > 3);
            assert.deepEqual(failed, [...failed].sort((a, b) => b - a));
            assert.equal(failed.reduce((sum, n) => sum + n, 0), told.cutoff_reached);
            for (const row of rows) {
                const [hour, minute] = row[0].split(':').map(Number), example = told.examples.find((e) => e.due === hour * 60 + minute);
                assert.ok(row.at(-1).startsWith(example.id + ' reached the cutoff on 2026-03-01'), row.at(-1));
            }
            assert.match(await page.textContent('.lead'), new RegExp(`The worst due minute was ${rows[0][0]}: ${rows[0][1]} of the ${rows[0][2]} `));
        });
    },

    async strip_shows_the_selected_day_of_a_year() {
        await withPage({ file: fileOf('year') }, async (page) => {
            assert.ok(await page.locator('#days svg .data').count() > 0);
            const before = await page.textContent('#worst');
            const worst = await page.$eval('#day optgroup[label="Most failures"] option', (node) => [node.value, node.textContent]);
            await page.selectOption('#day', worst[0]);
            const after = await page.textContent('#worst');
            assert.notEqual(after, before);
            assert.ok(after.includes(worst[1].slice(0, 10)), after);
            assert.ok(await page.locator('#strip svg .data').count() > 0);
        });
    },

    async report_shows_foreign_text_as_text() {
        await withPage({ file: fileOf('hostile') }, async (page) => {
            const evil = toldOf('hostile').trace;
            assert.match(evil, /<\/script><script>/);
            assert.ok((await page.title()).includes(evil), await page.title());
            assert.equal(await page.locator('img').count(), 0);
            assert.equal(await page.locator('h1').count(), 1);
            assert.equal(await page.locator('script').count(), 2);
            for (const place of ['.over', '#worst', '#settings', 'footer']) assert.ok((await page.textContent(place)).includes(evil), place);
        });
    },

    /* Should a text get out of its place after all. */
    async policy_blocks_foreign_scripts() {
        await withPage({ file: fileOf('calm'), complains: [/Content Security Policy/] }, async (page) => {
            await page.evaluate(() => {
                const script = document.createElement('script');
                script.textContent = 'document.title = "broken out"';
                document.body.append(script);
            });
            assert.notEqual(await page.title(), 'broken out');
        });
    },

    async violations_are_shown_above_the_result_in_red() {
        await withPage({ file: fileOf('hostile') }, async (page) => {
            const alarm = page.locator('#violations');
            assert.match(await alarm.textContent(), /^12\u00a0invariant violations.*I1: two successes for user <\/script>.*I3: 65 jobs ran at once.*And 10 more\.$/s);
            const [red, green, blue] = rgb(await alarm.evaluate((node) => getComputedStyle(node).borderLeftColor));
            assert.ok(red > 150 && green < 80 && blue < 80, `${red} ${green} ${blue}`);
            assert.ok((await alarm.boundingBox()).y < (await page.locator('h1').boundingBox()).y);
        });
        await withPage({ file: fileOf('calm') }, async (page) => assert.equal(await page.locator('#violations').count(), 0));
    },

    async report_of_an_empty_run_says_so() {
        await withPage({ file: fileOf('empty') }, async (page) => {
            assert.equal(await page.locator('.plot').count(), 0);
            assert.equal(await page.textContent('h1'), 'No user\u2011day ended in this run');
            for (const id of CHARTS) assert.ok((await page.textContent(`#${id} .empty`)).length > 10, id);
        });
    },

    async colours_have_enough_contrast_and_are_distinguishable() {
        for (const scheme of SCHEMES)
            await withPage({ file: fileOf('outage'), scheme }, async (page) => {
                const tokens = await page.evaluate(() => {
                    const probe = document.body.appendChild(document.createElement('i'));
                    return Object.fromEntries(['paper', 'card', 'ink', 'soft', 'good', 'cut', 'miss', 'depth', 'limit', 'alarm-paper', 'alarm-ink'].map((name) => {
                        probe.style.color = `var(--${name})`;
                        return [name, getComputedStyle(probe).color];
                    }));
                });
                const of = (name) => rgb(tokens[name]);
                for (const [text, under] of [['ink', 'paper'], ['soft', 'paper'], ['soft', 'card'], ['limit', 'card'], ['alarm-ink', 'alarm-paper']])
                    assert.ok(contrast(of(text), of(under)) >= 4.5, `${scheme}: ${text} on ${under}: ${contrast(of(text), of(under))}`);
                for (const [a, b] of [['good', 'cut'], ['good', 'miss'], ['cut', 'miss'], ['good', 'card'], ['cut', 'card'], ['miss', 'card'], ['depth', 'card'], ['limit', 'good'], ['limit', 'depth']])
                    assert.ok(apart(of(a), of(b)) > 15, `${scheme}: ${a} and ${b} are ${apart(of(a), of(b))} apart`);
            });
    },

    async report_has_no_motion_if_the_system_asks_for_none() {
        const moves = (page) => page.evaluate(() => [...document.querySelectorAll('*')].filter((node) => {
            const style = getComputedStyle(node);
            return style.animationName !== 'none' || parseFloat(style.transitionDuration) > 0 || style.scrollBehavior === 'smooth';
        }).length);
        await withPage({ file: fileOf('calm'), motion: 'reduce' }, async (page) => assert.equal(await moves(page), 0));
    },

    async charts_are_redrawn_in_a_narrower_window() {
        await withPage({ file: fileOf('herd') }, async (page) => {
            await page.setViewportSize({ width: 360, height: 900 });
            await page.waitForFunction(() => [...document.querySelectorAll('.plot')].every((plot) => plot.querySelector('svg').getBoundingClientRect().width <= plot.clientWidth + 1
                && plot.querySelector('svg').getAttribute('width') === String(plot.clientWidth)));
            assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360);
        });
    },
};

if (!sentence) {
    console.log(Object.keys(tests).join('\n'));
} else {
    assert.ok(tests[sentence], `no test ${sentence}`);
    fs.mkdirSync(shots, { recursive: true });
    try {
        await tests[sentence]();
        console.log('ok ' + sentence);
    } finally {
        await closeBrowser();
    }
}
