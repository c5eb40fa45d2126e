/* daemon.mjs - a real daemon in a directory of its own, whose jobs do as the ids of their users say. */
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';

/* ok… succeeds, bad… fails, slow… runs until the file `gate` is there, or nothing is: then its daemon was killed. */
const RUNNER = `#!/bin/sh
read -r job
case $job in
*'"user_id":"bad'*) echo '{"error_class":"llm"}'; exit 1 ;;
*'"user_id":"slow'*) while [ -e "$0" ] && [ ! -e "$(dirname "$0")/gate" ]; do sleep 0.05; done ;;
esac
`;

const wait = (ms) => new Promise((done) => setTimeout(done, ms));
const children = new Set();
process.on('exit', () => children.forEach((child) => child.kill('SIGKILL')));

/* Looks until it is so. A machine may be slow. */
export async function until(what, isSo, ms = 60000) {
    for (const end = Date.now() + ms; ; await wait(50)) {
        const is = await isSo();
        if (is) return is;
        if (Date.now() > end) throw new Error(`not within ${ms} ms: ${what}`);
    }
}

/* Due times lie around now, and the day is to be the same for a whole test. */
export async function farFromMidnight() {
    await until('midnight is over', () => Date.now() % 86400000 < 86400000 - 180000, 200000);
}
export const dueIn = (minutes) => {
    const now = Math.floor(Date.now() / 60000) % 1440, at = Math.min(1439, Math.max(0, now + minutes));
    return `${String(Math.floor(at / 60)).padStart(2, '0')}:${String(at % 60).padStart(2, '0')}`;
};

export async function newDaemon(program, args = []) {
    const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'diurnal-dashboard-')), data = path.join(dir, 'data'), runner = path.join(dir, 'runner');
    fs.writeFileSync(runner, RUNNER, { mode: 0o755 });
    const daemon = { dir, port: 0, token: '', child: null, said: '' };

    daemon.start = async () => {
        daemon.said = '';
        const child = spawn(program, ['serve', '--data', data, '--listen', `127.0.0.1:${daemon.port}`, '--runner', `exec:${runner}`, '--tick-ms', '100', '--slo-eval-ms', '200', ...args], { stdio: ['ignore', 'pipe', 'pipe'], env: { PATH: process.env.PATH } });
        daemon.child = child;
        children.add(child);
        for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => { daemon.said += bytes; });
        daemon.ended = new Promise((done) => child.on('exit', () => { children.delete(child); done(); }));
        await until(`the daemon is ready: ${daemon.said}`, () => { if (child.exitCode !== null) throw new Error(daemon.said); return /http:\/\/127\.0\.0\.1:\d+\/metrics/.test(daemon.said); });
        daemon.port = Number(/http:\/\/127\.0\.0\.1:(\d+)\/metrics/.exec(daemon.said)[1]);
        daemon.url = `http://127.0.0.1:${daemon.port}`;
        daemon.token = fs.readFileSync(path.join(data, 'admin.token'), 'utf8').trim();
    };
    daemon.kill = async () => { daemon.child.kill('SIGKILL'); await daemon.ended; };
    daemon.open = () => fs.writeFileSync(path.join(dir, 'gate'), '');
    daemon.ask = async (method, where, body) => {
        const response = await fetch(daemon.url + '/api/v1' + where, { method, body: typeof body === 'string' ? body : body && JSON.stringify(body), headers: { Authorization: `Bearer ${daemon.token}` } });
        if (!response.ok) throw new Error(`${method} ${where}: ${response.status} ${await response.text()}`);
        return response.status === 204 ? null : response.json();
    };
    daemon.put = (id, due, starts_on) => daemon.ask('PUT', '/daily/users/' + encodeURIComponent(id), { due, ...(starts_on && { starts_on }) });
    daemon.end = async () => {
        await daemon.kill();
        fs.rmSync(dir, { recursive: true, force: true });
    };
    await daemon.start();
    return daemon;
}

/* Between a browser and a daemon: a way that can break without either noticing first. */
export async function newWay(port) {
    const sockets = new Set(), way = { open: true };
    const server = net.createServer((near) => {
        if (!way.open) { near.destroy(); return; }
        const far = net.connect(port, '127.0.0.1');
        for (const [socket, other] of [[near, far], [far, near]]) {
            sockets.add(socket);
            socket.on('error', () => {});
            socket.on('close', () => { sockets.delete(socket); other.destroy(); });
        }
        near.pipe(far).pipe(near);
    });
    await new Promise((done) => server.listen(0, '127.0.0.1', done));
    way.url = `http://127.0.0.1:${server.address().port}`;
    way.cut = () => { way.open = false; sockets.forEach((socket) => socket.destroy()); };
    way.mend = () => { way.open = true; };
    way.end = () => { sockets.forEach((socket) => socket.destroy()); server.close(); };
    return way;
}
