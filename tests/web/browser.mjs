/* browser.mjs - a Chromium without a screen, and what tests ask of a page in it. */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import assert from 'node:assert/strict';

const { chromium } = createRequire(process.env.DIURNAL_WEB_MODULES + '/')('playwright-core');

/* It does nothing by itself: no first run, no update, no sync, no fetching of anything. Each launch has a new profile. */
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync'];

let browser = null, desk = null;
export const launched = async () => (browser ||= await chromium.launch({ executablePath: process.env.DIURNAL_CHROMIUM, args: FLAGS }));
export const closeBrowser = async () => browser?.close();

/* The page in a context of its own; and in the end, what it complained of or asked for meanwhile: nothing but what it is
 * to complain of. */
export async function withPage({ file, scheme = 'light', width = 1280, motion = 'no-preference', complains = [] }, look) {
    const page = await (await launched()).newPage({ viewport: { width, height: 900 }, colorScheme: scheme, reducedMotion: motion });
    try {
        const url = pathToFileURL(file).href, complaints = [];
        page.on('console', (m) => ['error', 'warning'].includes(m.type()) && complaints.push(`console: ${m.text()}`));
        page.on('pageerror', (e) => complaints.push(`uncaught: ${e}`));
        page.on('dialog', (d) => { complaints.push(`a dialog: ${d.message()}`); return d.dismiss(); });
        page.on('request', (r) => r.url().replace(/#.*/, '') !== url && !r.url().startsWith('data:') && complaints.push(`a request: ${r.url()}`));
        await page.goto(url);
        await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
        await look(page);
        assert.equal(complaints.length, complains.length, `${file}, ${scheme}, ${width} pixels: ${complaints}`);
        complains.forEach((what, i) => assert.match(complaints[i], what));
    } finally {
        await page.close();
    }
}

/* How many colours a picture has, and how much of it is the one there is most of. */
export async function coloursOf(png) {
    desk ||= await (await launched()).newPage();
    return desk.evaluate(async (data) => {
        const image = new Image();
        image.src = 'data:image/png;base64,' + data;
        await image.decode();
        const canvas = new OffscreenCanvas(image.width, image.height), context = canvas.getContext('2d');
        context.drawImage(image, 0, 0);
        const pixels = new Uint32Array(context.getImageData(0, 0, image.width, image.height).data.buffer), counts = new Map();
        for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) || 0) + 1);
        return { colours: counts.size, share: Math.max(...counts.values()) / pixels.length };
    }, png.toString('base64'));
}

/* Red, green and blue of a colour as the browser says it. */
export const rgb = (text) => text.match(/[\d.]+/g).slice(0, 3).map(Number);
const linear = (c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);

/* As WCAG 2 counts it: from 1 to 21. */
export function contrast(a, b) {
    const light = (c) => { const [red, green, blue] = c.map(linear); return 0.2126 * red + 0.7152 * green + 0.0722 * blue; };
    const [high, low] = [light(a), light(b)].sort((x, y) => y - x);
    return (high + 0.05) / (low + 0.05);
}

/* What is left of a colour without the long, the middle or the short cones (Machado, Oliveira, Fernandes 2009, severity 1). */
const CONES = {
    all: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    protan: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    deutan: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    tritan: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};

function lab(colour, cones) {
    const from = colour.map(linear), seen = CONES[cones].map((row) => Math.min(1, Math.max(0, row.reduce((sum, n, i) => sum + n * from[i], 0))));
    const xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]].map((row) => row.reduce((sum, n, i) => sum + n * seen[i], 0));
    const [x, y, z] = [xyz[0] / 0.95047, xyz[1], xyz[2] / 1.08883].map((t) => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116));
    return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

/* How far two colours are apart for the eye that can tell them worst (CIE 1976; 10 is plain at a glance). */
export function apart(a, b) {
    return Math.min(...Object.keys(CONES).map((cones) => Math.hypot(...lab(a, cones).map((n, i) => n - lab(b, cones)[i]))));
}
