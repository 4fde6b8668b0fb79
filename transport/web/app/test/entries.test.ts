// Entries that aren't messages: they are kept, so that a room has no holes, and not shown
// but for what acts tell; none is unread; and what a redaction takes away is nowhere any more.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDb } from '../src/store/db';
import { wordsOfEntry } from '../src/screens/room/acted';
import { after, emptied, entryIn, rowOf } from '../src/store/entries';
import { entryOf } from './server';
import { Browser, me, quiet, texts, World } from './world';

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

test('what acts tell is a line of the room, and no news', async () => {
  const world = new World();
  world.server.found(room, me, 'u:bo');
  world.server.say(room, 'u:bo', 'one');
  const browser = new Browser(world);
  const tab = await browser.tab();
  await world.until('it is live', () => tab.store.connection.value === 'live' && tab.store.synced.value);
  const window = tab.store.open(room);
  const comes = { change: 'joined', user_id: 'u:cy', role: 'member' };
  world.server.act(room, 'u:cy', 'membership', { changes: [comes] }); // the greeting tells it
  world.server.say(room, 'u:cy', 'u:cy joined');
  const gone = world.server.act(room, me, 'membership', { changes: [{ change: 'removed', user_id: 'u:cy' }] });
  const terms = world.server.act(room, 'u:bo', 'proposal', { agreement_id: 'a:room:r:general', state: 'proposed', terms_hash: 'b:1' });
  await world.until('all has come', () => tab.store.rooms.get(room)!.last_seq === 5);
  await world.until('all is shown', () => window.items.value.length === 4);
  assert.deepEqual(window.items.value.map(({ key }) => key).slice(2), [gone.msg_id, terms.msg_id]);
  const name = (id: string) => ({ name: id, mine: id === me });
  assert.equal(wordsOfEntry(entryIn(gone)!, name), 'You removed u:cy');
  assert.equal(wordsOfEntry(entryIn(terms)!, name), 'u:bo proposed other terms for this room');
  assert.equal(tab.store.rooms.get(room)!.unread, 1);
  assert.equal(tab.store.rooms.get(room)!.last_message?.body.text, 'u:cy joined');
  await quiet();
  tab.crash();
  browser.cut();
  const offline = (await browser.tab()).store.open(room);
  await world.until('it is shown again without a network', () => offline.items.value.length === 4);
});

test('only messages are unread, live, after a while and after a long absence', async () => {
  const world = new World();
  const { server } = world;
  server.found(room, me, 'u:bo');
  const first = server.say(room, 'u:bo', 'one');
  const browser = new Browser(world);
  const tab = await browser.tab();
  await world.until('it is live', () => tab.store.connection.value === 'live' && tab.store.synced.value);
  const mixed = () => {
    server.say(room, 'u:bo', 'more');
    server.enter(room, 'u:bo', 'reaction', first);
    server.enter(room, 'u:bo', 'edit', first, 'two');
    server.say(room, 'u:bo', 'and more');
    server.act(room, 'u:bo', 'membership', { changes: [{ change: 'role', user_id: me, role: 'member' }] });
  };
  const unread = (t = tab) => t.store.rooms.get(room)!.unread;
  mixed();
  await world.until('all has come', () => tab.store.rooms.get(room)!.last_seq === 6);
  assert.equal(unread(), 2);
  const window = tab.store.open(room);
  await world.until('it is shown', () => texts(window).length >= 3);
  tab.store.markRead(room, 2); // and with it what isn't shown up to the next message
  assert.deepEqual([unread(), tab.store.rooms.get(room)!.read_seq], [1, 4]);
  await quiet();
  tab.crash();
  mixed();
  const soon = await browser.tab();
  await world.until('the stream has gone on', () => soon.store.rooms.get(room)!.last_seq === 11);
  assert.equal(unread(soon), 3);
  await quiet();
  soon.crash();
  mixed();
  await world.pass(2 * 3600_000); // the stream begins anew, and the list alone tells
  const late = await browser.tab();
  await world.until('it is listed', () => late.store.rooms.get(room)!.last_seq === 16);
  assert.equal(unread(late), 5);
  late.store.markRead(room, 16);
  assert.equal(unread(late), 0);
  mixed();
  await world.until('all has come', () => late.store.rooms.get(room)!.last_seq === 21);
  assert.equal(unread(late), 2);
});

test('where a server doesn’t count messages, every entry is unread', async () => {
  const world = new World();
  world.server.found(room, me, 'u:bo');
  const first = world.server.say(room, 'u:bo', 'one');
  world.server.counts = false;
  const browser = new Browser(world);
  const tab = await browser.tab();
  await world.until('it is live', () => tab.store.connection.value === 'live' && tab.store.synced.value);
  world.server.enter(room, 'u:bo', 'reaction', first);
  world.server.say(room, 'u:bo', 'two');
  await world.until('all has come', () => tab.store.rooms.get(room)!.last_seq === 3);
  assert.equal(tab.store.rooms.get(room)!.unread, 2);
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
  await world.until('it is gone from both tabs', () => windows.every((w) => texts(w).join() === ',hello')); // an empty place is left
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

test('what was imported is known after its redaction as the server knows it, without the name of who wrote it', () => {
  const world = new World();
  world.server.found(room, me);
  const imported_from = { tenant_id: 't:x', seq: 1, cid: 'c:', author_id: 'u:ana', author_name: 'Ana', at: '2026-01-01T08:00:00.000Z' };
  const said = { ...world.server.say(room, me, 'hello'), imported_from };
  const edit = rowOf({ ...entryIn(world.server.enter(room, me, 'edit', said))!, imported_from });
  const redaction = entryIn(world.server.enter(room, me, 'redaction', said))!;
  const { author_name: _, ...left } = imported_from;
  for (const row of [said, edit]) {
    assert.deepEqual(emptied(row, redaction).imported_from, left);
    assert.ok(!JSON.stringify(emptied(row, redaction)).includes('Ana'));
  }
});

test('the files of a message are those of its entry, less those that an edit leaves out, and none once it is deleted', () => {
  const world = new World();
  world.server.found(room, me);
  const said = world.server.say(room, me, 'two files');
  const file = (file_id: string) => ({ file_id, name: `${file_id}.png`, bytes: 1, content_type: 'image/png', sha256: '00' });
  const row = rowOf({ ...entryOf(said), attachments: [file('f:1'), file('f:2')] });
  assert.deepEqual(row.attachments.map((f) => f.file_id), ['f:1', 'f:2']);
  const edit = { ...entryIn(world.server.enter(room, me, 'edit', said))!, body: { content_type: 'application/vnd.ubl.text+json', json: { text: 'one file' } } };
  assert.equal(after(row, rowOf(edit)).attachments.length, 2);
  assert.deepEqual(after(row, rowOf({ ...edit, attachments: [file('f:2')] })).attachments.map((f) => f.file_id), ['f:2']);
  const redaction = entryIn(world.server.enter(room, me, 'redaction', said))!;
  assert.ok(!JSON.stringify(emptied(row, redaction)).includes('f:1'));
});
