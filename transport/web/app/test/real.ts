// The real server, for tests: built from this repository, or the binary in UBL_BIN.

import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

export const folder = mkdtempSync(join(tmpdir(), 'ubl-app-real-'));
const repository = resolve('../../..');

// binary is the server's, undefined where there is neither one nor Go.
export const binary = process.env.UBL_BIN ?? built();

function built(): string | undefined {
  const to = join(folder, 'ubl');
  const { error, status, stderr } = spawnSync('go', ['build', '-o', to, './cmd/ubl'], { cwd: repository, encoding: 'utf8' });
  if (error) return undefined;
  if (status !== 0) throw new Error(`couldn't build the server: ${stderr}`);
  return to;
}

export class RealServer {
  url = '';
  private process: ChildProcess | null = null;

  constructor(readonly data: string) {}

  async start() {
    const child = spawn(binary!, ['serve', '--listen', '127.0.0.1:0', '--data', this.data], { stdio: ['ignore', 'pipe', 'pipe'] });
    this.process = child;
    let said = '';
    this.url = await new Promise<string>((done, fail) => {
      child.stderr.on('data', (text) => (said += String(text)));
      child.stdout.on('data', (text) => {
        said += String(text);
        const found = /listening on (http:\S+)/.exec(said);
        if (found) done(found[1]!);
      });
      child.on('exit', () => fail(new Error(`the server ended: ${said}`)));
    });
    await until('the server is ready', async () => (await fetchAnything(new URL('/readyz', this.url))).ok);
  }

  // kill ends the server without a word.
  async kill() {
    const child = this.process;
    if (!child) return;
    this.process = null;
    const gone = new Promise((done) => child.on('exit', done));
    child.kill('SIGKILL');
    await gone;
  }

  token(email: string): string {
    const { stdout, stderr } = spawnSync(binary!, ['token', email, '--data', this.data], { encoding: 'utf8' });
    if (!stdout) throw new Error(`couldn't make a token: ${stderr}`);
    return stdout.trim();
  }

  // fetch asks the server, wherever it is now, as the holder of the token.
  fetch(token: string, path: string, init: RequestInit = {}): Promise<Response> {
    const { credentials: _, ...rest } = init;
    return fetchAnything(new URL(path, this.url), { ...rest, headers: { ...(init.headers as Record<string, string>), Authorization: `Bearer ${token}` } });
  }
}

const fetchAnything = globalThis.fetch;

// until waits for something to become so, for at most a minute.
export async function until(what: string, holds: () => boolean | Promise<boolean>) {
  for (const end = Date.now() + 60_000; Date.now() < end; ) {
    if (await holds()) return;
    await new Promise((done) => setTimeout(done, 10));
  }
  throw new Error(`it never happened: ${what}`);
}
