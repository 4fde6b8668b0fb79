// A file that was taken up arrives whole, whatever is cut off or closed when.

import { IDBFactory, IDBKeyRange } from 'fake-indexeddb';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../src/api';
import { openDb } from '../src/store/db';
import type { Env } from '../src/store/env';
import { Uploads } from '../src/store/uploads';
import { quiet } from './world';

Object.assign(globalThis, { IDBKeyRange });

const room = 'r:general';
const content = (length: number) => Uint8Array.from({ length }, (_, i) => (i * 7 + (i >> 9)) & 255);
const file = (length: number, name = 'a.bin') => new File([content(length)], name);

// Staging is a server that takes uploads in.
class Staging {
  readonly held = new Map<string, { size: number; bytes: number[] }>();
  asked = 0;
  begun = 0;
  // fault decides what becomes of the n-th request: it isn't heard, or its answer isn't.
  fault: (n: number) => 'lost' | 'unheard' | ApiError | null = () => null;

  async ask<T>(answer: () => T): Promise<T> {
    await new Promise(setImmediate);
    const fault = this.fault(this.asked++);
    if (fault === 'lost') throw new ApiError('offline', 'lost', 0);
    if (fault instanceof ApiError) throw fault;
    const said = answer();
    if (fault === 'unheard') throw new ApiError('offline', 'unheard', 0);
    return said;
  }

  of(url: string) {
    const found = this.held.get(url.split('/')[3]!);
    if (!found) throw new ApiError('not_found', 'no such upload', 404);
    return found;
  }

  begin(size: number) {
    const upload_id = `up:${++this.begun}`;
    this.held.set(upload_id, { size, bytes: [] });
    return { upload: { upload_id, offset: 0 } };
  }
}

class Device {
  readonly disk = new IDBFactory();
  readonly server = new Staging();
  now = Date.UTC(2026, 0, 2);
  keys = 0;
  private chains = new Map<string, Promise<unknown>>();

  env(): Env {
    const { server } = this;
    const some: Partial<Env> = {
      get: (url) => server.ask(() => ({ upload: { upload_id: url.split('/')[3]!, offset: server.of(url).bytes.length } })) as never,
      post: (_, body) => server.ask(() => server.begin((body as { bytes: number }).bytes)) as never,
      fetch: async (url, { method, headers, body }) => {
        const piece = method === 'PATCH' ? [...new Uint8Array(await (body as Blob).arrayBuffer())] : [];
        return server.ask(() => {
          if (method === 'DELETE') return new Response(String(server.held.delete(url.split('/')[3]!)));
          const { bytes } = server.held.get(url.split('/')[3]!) ?? {};
          if (!bytes) return Response.json({ error: { code: 'not_found', message: 'no such upload' } }, { status: 404 });
          if (Number(headers['Upload-Offset']) !== bytes.length) return Response.json({ error: { code: 'conflict', message: 'elsewhere' } }, { status: 409 });
          for (const b of piece) bytes.push(b);
          return new Response(null, { status: 204 });
        });
      },
      newKey: () => `key-${++this.keys}`,
      now: () => this.now,
      random: () => 0.5,
      timer: (ms, f) => {
        if (ms > 100_000) return () => {}; // no piece takes that long here
        let off = false;
        setImmediate(() => off || f());
        return () => void (off = true);
      },
      indexedDB: this.disk as never,
      locks: {
        request: ((name: string, _: unknown, work: () => Promise<unknown>) => {
          const next = (this.chains.get(name) ?? Promise.resolve()).then(work, work);
          this.chains.set(name, next.catch(() => undefined));
          return next;
        }) as never,
      },
    };
    return some as Env;
  }

  // tab opens what is kept here.
  async tab(): Promise<Uploads> {
    const env = this.env();
    const db = await openDb(env.indexedDB, 'ubl/test', () => undefined);
    const uploads = new Uploads(env, 'ubl/test', db, (changes) => db.write(changes));
    await uploads.start();
    return uploads;
  }
}

const never = new AbortController().signal;

async function settles(uploads: Uploads) {
  for (let i = 0; i < 100 && uploads.all.value.some((u) => u.state === 'waiting'); i++) await quiet();
}

test('whichever request is lost, or its answer, the file arrives whole', async () => {
  const size = 700_000; // a begin, and three pieces
  for (const how of ['lost', 'unheard'] as const) {
    for (let n = 0; n < 6; n++) {
      const device = new Device();
      device.server.fault = (i) => (i === n ? how : null);
      const uploads = await device.tab();
      await uploads.add(room, [file(size)]);
      const [id] = await uploads.ready([uploads.all.value[0]!.id], never);
      assert.deepEqual(new Uint8Array(device.server.held.get(id!)!.bytes), content(size), `${how} ${n}`);
      assert.equal(uploads.all.value[0]!.state, 'up');
    }
  }
});

test('a page that comes after another goes on where the server is', async () => {
  const device = new Device();
  device.server.fault = (n) => (n >= 2 ? 'lost' : null); // begun, and one piece
  const first = await device.tab();
  await first.add(room, [file(700_000), file(3, 'b.txt')]);
  for (let i = 0; i < 5; i++) await quiet();
  first.stop();
  device.server.fault = () => null;
  const second = await device.tab();
  await settles(second);
  assert.deepEqual(second.all.value.map((u) => [u.name, u.state, u.sent]), [['a.bin', 'up', 700_000], ['b.txt', 'up', 3]]);
  assert.equal(device.server.begun, 2);
});

test('two tabs bring a file once', async () => {
  const device = new Device();
  const [one, other] = [await device.tab(), await device.tab()];
  await one.add(room, [file(700_000)]);
  const { id } = one.all.value[0]!;
  const ids = await Promise.all([one.ready([id], never), other.ready([id], never)]);
  assert.deepEqual(ids[0], ids[1]);
  assert.equal(device.server.held.get(ids[0]![0]!)!.bytes.length, 700_000);
  assert.equal(device.server.begun, 1);
});

test('what the server has no more is begun once more', async () => {
  const device = new Device();
  const first = await device.tab();
  await first.add(room, [file(10)]);
  await settles(first);
  first.stop();
  device.server.held.clear();
  const second = await device.tab();
  const [id] = await second.ready([second.all.value[0]!.id], never);
  assert.equal(device.server.held.get(id!)!.bytes.length, 10);
});

test('a node that dies between any two requests, with all that it had, costs no more than beginning again', async () => {
  for (let n = 1; n < 6; n++) {
    const device = new Device();
    device.server.fault = (i) => {
      if (i === n) device.server.held.clear();
      return null;
    };
    const uploads = await device.tab();
    await uploads.add(room, [file(700_000)]);
    await settles(uploads);
    const [id] = await uploads.ready([uploads.all.value[0]!.id], never);
    assert.deepEqual(new Uint8Array(device.server.held.get(id!)!.bytes), content(700_000), `at ${n}`);
  }
});

test('a file that is refused says why, and can be tried again or taken away', async () => {
  const device = new Device();
  device.server.fault = () => new ApiError('quota_exceeded', 'no space', 422);
  const uploads = await device.tab();
  await uploads.add(room, [file(10)]);
  await settles(uploads);
  const { id, state, error } = uploads.all.value[0]!;
  assert.deepEqual([state, error?.code], ['failed', 'quota_exceeded']);
  await assert.rejects(uploads.ready([id], never), /no space/);
  device.server.fault = () => null;
  uploads.retry(id);
  await uploads.ready([id], never);
  uploads.remove(id);
  await quiet();
  assert.deepEqual([uploads.all.value, device.server.held.size], [[], 0]);
  assert.deepEqual((await device.tab()).all.value, []);
});

test('a file whose content is gone is refused, and holds up nothing', async () => {
  const uploads = await new Device().tab();
  await assert.rejects(uploads.ready(['key-9'], never), (problem: ApiError) => problem.code === 'not_found');
});
