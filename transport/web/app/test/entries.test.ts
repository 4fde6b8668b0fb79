// Entries that aren't messages: they are kept, so that a room has no holes, and not shown;
// and what a redaction takes away is nowhere any more.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDb } from '../src/store/db';
import { emptied, entryIn, rowOf } from '../src/store/entries';
import { entryOf } from './server';
import { Browser, me, texts, World } from './world';

const room = 'r:general';

test('other entries are no rows and no news, and the room goes on without a hole', async () => {
  const world = new World();
  world.server.found(room, me, 'u:bo');
  const first = world.server.say(room, 'u:bo', 'one');
  const tab = await new Browser(world).tab();
  await world.until('it is live', () => tab.store.connection.value === 'live' && tab.store.synced.value);
  const window = tab.store.open(room);
  await world.until('the room is shown', () => texts(window).length === 1);
  tab.store.markRead(room, 1);
  world.server.enter(room, 'u:bo', 'reaction', first);
  await world.until('the reaction has come', () => tab.store.rooms.get(room)!.last_seq === 2);
  assert.equal(tab.store.rooms.get(room)!.unread, 0);
  assert.equal(tab.store.rooms.get(room)!.last_message?.body.text, 'one');
  world.server.say(room, 'u:bo', 'two');
  await world.until('the next message is shown', () => texts(window).length === 2);
  assert.deepEqual(texts(window), ['one', 'two']);
  assert.equal(tab.store.rooms.get(room)!.unread, 1);
});

test('a redaction takes a message and its edits from the screen and from the disk', async () => {
  const world = new World();
  world.server.found(room, me, 'u:bo');
  const secret = world.server.say(room, 'u:bo', 'a secret word');
  world.server.say(room, 'u:bo', 'hello');
  const browser = new Browser(world);
  const tab = await browser.tab();
  const other = await browser.tab();
  await world.until('it is live', () => tab.store.connection.value === 'live' && tab.store.synced.value);
  const windows = [tab.store.open(room), other.store.open(room)];
  world.server.enter(room, 'u:bo', 'edit', secret, 'another secret word');
  await world.until('all is shown', () => windows.every((w) => texts(w).length === 2));
  world.server.enter(room, 'u:bo', 'redaction', secret);
  await world.until('it is gone from both tabs', () => windows.every((w) => texts(w).join() === 'hello'));
  const db = await openDb(browser.indexedDB as never, `ubl/t:test/${me}`, () => undefined);
  await world.until('it is gone from the disk', async () => {
    const rows = await db.all('messages', [room, 0], [room, Infinity]);
    return rows.length === 4 && !JSON.stringify(rows).includes('secret');
  });
  assert.ok(!JSON.stringify(await db.all('rooms')).includes('secret'));
  db.close();
});

test('a row is its entry, and nothing is left of one that was redacted', () => {
  const world = new World();
  world.server.found(room, me);
  const said = world.server.say(room, me, 'hello');
  assert.deepEqual(rowOf(entryOf(said)), said);
  const redaction = entryIn(world.server.enter(room, me, 'redaction', said))!;
  const left = emptied(said, redaction);
  assert.equal(left.type, 'entry');
  assert.equal(left.room_seq, said.room_seq);
  assert.ok(!JSON.stringify(left).includes('hello'));
});
