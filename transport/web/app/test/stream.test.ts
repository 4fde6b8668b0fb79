// What the stream does with the database and the browser against it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDb } from '../src/store/db';
import { Stream } from '../src/store/stream';
import { Browser, quiet, World } from './world';

test('a stream that is faster than the disk is not read ahead of it', async () => {
  const browser = new Browser(new World());
  const { env } = await browser.tab();
  const event = `event: message.created\ndata: {"event":"message.created"}\n\n`;
  let sent = 0;
  const endless = new ReadableStream<Uint8Array>({ pull: (to) => to.enqueue(new TextEncoder().encode(`id: l0-${++sent}\n${event}`)) });
  const taken: number[] = [];
  let release = () => {};
  const stream = new Stream({ ...env, fetch: () => Promise.resolve(new Response(endless)) }, {
    opened: () => undefined,
    take: (events) => {
      taken.push(events.length);
      return new Promise((done) => (release = done));
    },
  });
  const end = new AbortController();
  void stream.run(null, end.signal);
  for (let i = 0; i < 10; i++) await quiet();
  assert.equal(taken.length, 1);
  assert.ok(sent < 1100, `${sent} events were read`); // those taken, and the next
  release();
  await quiet();
  assert.equal(taken.length, 2);
  assert.ok(taken[1]! <= 500);
  end.abort();
});

test('a database whose connection the browser has ended is opened again', async () => {
  const db = await openDb(new Browser(new World()).indexedDB as never, 'lost', () => undefined);
  await db.write([{ put: 'meta', value: { name: 'a', value: 1 } }]);
  (await (db as unknown as { connection: Promise<IDBDatabase> }).connection).close();
  await db.write([{ put: 'meta', value: { name: 'b', value: 2 } }]);
  assert.deepEqual(await db.all('meta'), [{ name: 'a', value: 1 }, { name: 'b', value: 2 }]);
  await assert.rejects(db.write([{ put: 'meta', value: { name: 'c', value: () => 1 } }]), { name: 'DataCloneError' });
  assert.equal((await db.all('meta')).length, 2);
});
