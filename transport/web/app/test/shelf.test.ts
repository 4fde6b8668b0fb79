// What was read can be read again without a network.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../src/api';
import { membersOf } from '../src/store/shelf';
import type { Store } from '../src/store/sync';
import { Browser, me, quiet, World } from './world';

const room = 'r:general';
const offline = () => Promise.reject(new ApiError('offline', 'no', 0));

async function home(): Promise<{ world: World; browser: Browser; store: Store }> {
  const world = new World();
  world.server.found(room, me, 'u:bo');
  world.server.say(room, 'u:bo', 'welcome');
  const browser = new Browser(world);
  const { store } = await browser.tab();
  await world.until('the room is there', () => store.rooms.mine.value.length === 1);
  return { world, browser, store };
}

test('an answer is there without a network, in the next page too, with its time', async () => {
  const { world, browser, store } = await home();
  const when = world.time;
  assert.deepEqual(await store.shelf.read('plan', async () => 'on Tuesday'), { value: 'on Tuesday', at: null });
  await quiet();
  world.time += 5000;
  browser.cut();
  for (const { shelf } of [store, (await browser.tab()).store]) {
    assert.deepEqual(await shelf.read('plan', offline), { value: 'on Tuesday', at: when });
    await assert.rejects(shelf.read('another', offline), { code: 'offline' });
  }
});

test('a database from before there were answers is taken over', async () => {
  const { world, browser, store } = await home();
  store.setDraft({ room_id: room, text: 'half a thought', reply_to: null });
  await world.pass(1000);
  store.stop();
  await quiet();
  const old = new Browser(world);
  await copyAsFirst(browser.indexedDB!, old.indexedDB!);
  const after = (await old.tab()).store;
  await world.until('the room is there', () => after.rooms.mine.value.length === 1);
  assert.equal(after.draft(room)?.text, 'half a thought');
  await after.shelf.read('plan', async () => 'on Tuesday');
  await quiet();
  assert.equal((await after.shelf.read('plan', offline)).value, 'on Tuesday');
});

// copyAsFirst makes the database as version 1 had it, with the drafts of another.
async function copyAsFirst(from: IDBFactory, to: IDBFactory) {
  const name = (await from.databases())[0]!.name!;
  const now = await done(from.open(name));
  const drafts = (await done(now.transaction('drafts').objectStore('drafts').getAll())) as unknown[];
  const paths = { rooms: 'room_id', messages: ['room_id', 'room_seq'], outbox: 'id', drafts: 'room_id', marks: 'room_id', people: 'user_id', meta: 'name' };
  const opening = to.open(name, 1);
  opening.onupgradeneeded = () => Object.entries(paths).forEach(([kind, keyPath]) => opening.result.createObjectStore(kind, { keyPath }));
  const first = await done(opening);
  const tx = first.transaction('drafts', 'readwrite');
  await Promise.all(drafts.map((draft) => done(tx.objectStore('drafts').put(draft))));
  for (const db of [now, first]) db.close();
}

const done = <T>(request: IDBRequest<T>) =>
  new Promise<T>((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error as Error);
  });

test('an answer that one may not have any more goes; the end of a session takes nothing', async () => {
  const { store } = await home();
  const refused = (status: number) => () => Promise.reject(new ApiError('forbidden', 'no', status));
  for (const [status, stays] of [[401, true], [403, false], [404, false], [503, true]] as const) {
    await store.shelf.read('plan', async () => 'on Tuesday');
    await quiet();
    const answer = store.shelf.read('plan', refused(status));
    await (status === 503 ? answer : assert.rejects(answer, { status }));
    await quiet();
    const again = store.shelf.read('plan', offline);
    await (stays ? again : assert.rejects(again, { code: 'offline' }));
  }
});

test('as many answers are kept as there is room for, those read last', async () => {
  const { world, browser, store } = await home();
  for (let n = 0; n < 100; n++, world.time++) await store.shelf.read(`d${n}`, async () => n);
  await store.shelf.read('d45', async () => 'read again');
  await quiet();
  const { shelf } = (await browser.tab()).store;
  await shelf.read('one more', async () => 'more');
  await quiet();
  const kept: unknown[] = [];
  for (let n = 0; n < 100; n++) await shelf.read(`d${n}`, offline).then(({ value }) => kept.push(value), () => undefined);
  assert.deepEqual(kept, [41, 42, 43, 44, 'read again', ...Array.from({ length: 54 }, (_, n) => 46 + n)]);
});

test('who was in a room is forgotten with it, and nothing else', async () => {
  const { world, store } = await home();
  for (const name of [membersOf(room), 'plan']) await store.shelf.read(name, async () => name);
  await quiet();
  world.server.leave(room, me);
  await world.until('the room is gone', () => store.rooms.mine.value.length === 0);
  await quiet();
  await assert.rejects(store.shelf.read(membersOf(room), offline));
  assert.equal((await store.shelf.read('plan', offline)).value, 'plan');
});
