// uploads.ts brings files into rooms: each is kept here with its content before anything is
// sent, goes up in pieces, and goes on after a lost line or a reload where the server has it.
// A message names the files that it carries; the outbox waits for them (ready), and ends
// them once it has arrived or was given up (forget).
//
// One tab brings a file, under a lock that bears its id. Another one that needs it waits for
// the lock and then finds in the database how far it is.

import { signal } from '@preact/signals';
import { ApiError, at } from '../api';
import type { Change, Db, SentFile, Upload } from './db';
import type { Env } from './env';
import { afterTry } from './outbox';

export class Uploads {
  // all are the files of every room that haven't arrived in a message.
  readonly all = signal<readonly Upload[]>([]);

  private readonly runs = new Map<string, { done: Promise<string>; stop: AbortController }>();
  private readonly pauses = new Set<() => void>();
  private readonly ended = new AbortController();

  constructor(
    private readonly env: Env,
    private readonly name: string,
    private readonly db: Db,
    private readonly write: (changes: Change[]) => Promise<void>,
  ) {}

  // start goes on with what is kept. What a message carried that is long gone goes too.
  async start() {
    const kept = await this.db.all('uploads').catch(() => []);
    const old = kept.filter((u) => u.message && this.env.now() - (u.begun_at ?? 0) > 14 * 24 * 3600_000);
    this.forget(old.map((u) => u.id));
    this.all.value = [...kept.filter((u) => !old.includes(u)).sort((a, b) => a.place - b.place), ...this.all.value];
    for (const { id, state } of this.all.value) if (state === 'waiting') this.run(id);
  }

  stop() {
    this.ended.abort();
    this.wake();
  }

  // add takes files up for a message that is being written in a room, or in a thread there.
  async add(roomId: string, files: readonly File[], thread?: string): Promise<void> {
    const place = 1 + Math.max(-1, ...this.all.value.map((u) => u.place));
    const added = files.map((file, i): Upload => ({
      id: this.env.newKey(), room_id: roomId, ...(thread && { thread }), name: file.name || 'file', content: file, sent: 0, state: 'waiting', begun_at: this.env.now(), place: place + i,
    }));
    this.all.value = [...this.all.value, ...added];
    await this.write(added.map((value) => ({ put: 'uploads', value })));
    for (const { id } of added) this.run(id);
  }

  // give hands files over to the outgoing message with that id.
  give(files: readonly SentFile[], message: string) {
    for (const { id } of files) void this.change(id, { message });
  }

  // remove ends a file that no message carries yet, here and on the server.
  remove(id: string) {
    const { upload_id } = this.find(id) ?? {};
    this.forget([id]);
    if (upload_id) void this.env.fetch(at`/api/uploads/${upload_id}`, { method: 'DELETE', headers: {} }).catch(() => undefined); // else it expires
  }

  // retry brings a file that failed once more.
  retry(id: string) {
    void this.change(id, { state: 'waiting', error: undefined }).then(() => this.run(id));
  }

  async ready(ids: readonly string[], until: AbortSignal): Promise<string[]> {
    for (const id of ids) if (this.find(id)?.state === 'failed') await this.change(id, { state: 'waiting', error: undefined });
    const gone = new Promise<never>((_, reject) => until.addEventListener('abort', () => reject(until.reason)));
    return Promise.race([gone, Promise.all(ids.map((id) => this.run(id)))]);
  }

  forget(ids: readonly string[]) {
    if (ids.length === 0) return;
    for (const id of ids) this.runs.get(id)?.stop.abort();
    this.all.value = this.all.value.filter((u) => !ids.includes(u.id));
    void this.write(ids.map((key) => ({ del: 'uploads', key })));
  }

  // wake tries at once what waits for the network.
  wake() {
    this.pauses.forEach((end) => end());
  }

  private find(id: string): Upload | undefined {
    return this.all.value.find((u) => u.id === id);
  }

  // change changes a file that is still there.
  private async change(id: string, now: Partial<Upload>, keep = true): Promise<void> {
    const before = this.find(id);
    if (!before) return;
    const value = { ...before, ...now };
    this.all.value = this.all.value.map((u) => (u.id === id ? value : u));
    if (keep) await this.write([{ put: 'uploads', value }]);
  }

  // run brings a file up, once at a time, and answers its upload_id.
  private run(id: string): Promise<string> {
    const known = this.runs.get(id);
    if (known) return known.done;
    const stop = new AbortController();
    this.ended.signal.addEventListener('abort', () => stop.abort());
    const alone = (work: () => Promise<string>): Promise<string> =>
      this.env.locks && this.db.shared ? (this.env.locks.request(`${this.name}/file/${id}`, { signal: stop.signal }, work) as Promise<string>) : work();
    const done = alone(() => this.bring(id, stop.signal)).finally(() => this.runs.delete(id));
    done.catch(() => undefined); // it is told in the file's state
    this.runs.set(id, { done, stop });
    return done;
  }

  private async bring(id: string, until: AbortSignal): Promise<string> {
    await this.refresh(id);
    for (let tries = 0; ; ) {
      const before = this.find(id)?.sent ?? 0;
      try {
        const upload = this.find(id);
        if (!upload) throw new ApiError('not_found', 'The file isn’t kept here any more', 404);
        const { carry } = await import('./carry').catch(() => {
          throw new ApiError('offline', 'The line was lost', 0);
        });
        return await carry(this.env, upload, (now, keep) => this.change(id, now, keep), until);
      } catch (problem) {
        if (until.aborted) throw problem;
        if ((this.find(id)?.sent ?? 0) > before) tries = 0;
        // The server has more, or less, or has lost all: its node may have died between two pieces.
        const behind = problem instanceof ApiError && (problem.code === 'conflict' || problem.code === 'not_found') && !!this.find(id)?.upload_id && tries < 3;
        const step = behind ? { do: 'wait' as const, ms: 100 } : afterTry(problem, tries++, this.env.random());
        if (behind) tries++;
        if (step.do === 'fail') {
          await this.change(id, { state: 'failed', error: { code: step.code, message: step.message } });
          throw problem;
        }
        await this.pause(step.do === 'wait' ? step.ms : 60_000, until);
      }
    }
  }

  // refresh takes over what another tab has kept of a file.
  private async refresh(id: string) {
    const kept = await this.db.get('uploads', id).catch(() => undefined);
    if (!kept) return;
    if (this.find(id)) await this.change(id, kept, false);
    else this.all.value = [...this.all.value, kept];
  }

  private pause(ms: number, until: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = () => {
        stop();
        this.pauses.delete(end);
        until.removeEventListener('abort', end);
        if (until.aborted) reject(until.reason);
        else resolve();
      };
      const stop = this.env.timer(ms, end);
      this.pauses.add(end);
      until.addEventListener('abort', end);
    });
  }
}
