// A thread: it is there whole, follows what comes, and is written in like a room.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeleted } from '../src/store/entries';
import { ThreadWindow } from '../src/store/thread';
import type { Message } from '../src/types';
import { Browser, me, quiet, texts, World, type Tab } from './world';

const room = 'r:general';

interface Home {
  world: World;
  browser: Browser;
  tab: Tab;
  root: Message;
  thread: ThreadWindow;
}

const open = (tab: Tab, root: Message) => tab.store.follow(room, (env, history, state, onClose) => new ThreadWindow(env, room, root.msg_id, history, state, onClose));

// home is a thread with n answers, and as many messages of the room between them.
async function home(n: number): Promise<Home> {
  const world = new World();
  world.server.found(room, me, 'u:bo');
  const root = world.server.say(room, 'u:bo', 'lunch?');
  for (let i = 1; i <= n; i++) {
    world.server.say(room, 'u:bo', `beside ${i}`);
    answer(world, root, `${i}`);
  }
  const browser = new Browser(world);
  const tab = await browser.tab();
  await world.until('it is live', () => tab.store.synced.value && tab.store.connection.value === 'live');
  const thread = open(tab, root);
  await world.until('the thread is shown', () => thread.ready.value);
  return { world, browser, tab, root, thread };
}

const answer = (world: World, root: Message, text: string, user = 'u:bo') => world.server.say(room, user, text, '', null, 'message', undefined, root.msg_id);

test('a thread is there whole, however long, in order and without what is beside it', async () => {
  const { thread } = await home(450);
  assert.deepEqual(texts(thread), ['lunch?', ...Array.from({ length: 450 }, (_, i) => `${i + 1}`)]);
  assert.ok(thread.has(1) && thread.has(3) && !thread.has(2));
});

test('what comes shows at once: answers, edits, reactions and deletions', async () => {
  const { world, thread, root } = await home(1);
  const two = answer(world, root, 'two');
  world.server.say(room, 'u:bo', 'not for the thread');
  await quiet();
  assert.deepEqual(texts(thread), ['lunch?', '1', 'two']);
  const row = () => thread.items.value.at(-1)!.message!;
  world.server.enter(room, 'u:bo', 'redaction', two);
  await quiet();
  assert.ok(isDeleted(row()));
  assert.equal(thread.items.value[0]!.message!.replies!.count, 2);
  assert.equal(world.server.requests.filter((url) => url.includes('/thread')).length, 1);
});

test('one’s own answer shows before it is out, under the same key after, and what is done to it likewise', async () => {
  const { world, browser, tab, thread, root } = await home(1);
  browser.cut();
  await tab.store.send(room, 'mine', null, { thread: root.msg_id });
  assert.deepEqual(texts(thread), ['lunch?', '1', 'mine…']);
  const { key } = thread.items.value.at(-1)!;
  browser.connect();
  await world.until('it has arrived', () => texts(thread).at(-1) === 'mine');
  const item = () => thread.items.value.at(-1)!;
  assert.equal(item().key, key);
  browser.cut();
  await tab.store.act(room, { type: 'reaction', target: item().message!.msg_id, key: '👍' });
  assert.equal(item().message!.reactions?.[0]?.key, '👍');
  browser.connect();
  await world.until('the reaction is out', () => tab.store.outbox.entries.value.length === 0);
  assert.equal(item().message!.reactions?.[0]?.count, 1);
});

test('what was missed is read again, and a thread without a network is what was kept', async () => {
  const { world, browser, tab, thread, root } = await home(1);
  world.server.mute(); // both sides take the stream for alive
  answer(world, root, 'unheard');
  await tab.store.refresh();
  await world.until('it is there', () => texts(thread).at(-1) === 'unheard');
  const window = tab.store.open(room);
  await world.until('the room was read', () => window.ready.value);
  browser.cut();
  const again = open(tab, root);
  await world.until('it is shown', () => again.ready.value);
  assert.deepEqual(texts(again), ['lunch?', '1', 'unheard']);
  assert.equal((again.problem.value as { code: string }).code, 'offline');
  browser.connect();
  await world.until('it was asked for again', () => again.problem.value === null);
});

test('a thread of a message that isn’t there says so', async () => {
  const { tab, root, world } = await home(0);
  const none = open(tab, { ...root, msg_id: 'm:00000000-0009-8000-8000-000000000001' });
  await world.until('it was asked for', () => none.ready.value);
  assert.equal((none.problem.value as { code: string }).code, 'not_found');
  assert.deepEqual(texts(none), []);
});

test('what is written in a thread is a draft of its own, and ends when it is sent', async () => {
  const { world, browser, tab, root } = await home(0);
  const place = `${room} ${root.msg_id}`;
  tab.store.setDraft({ room_id: room, text: 'to the room', reply_to: null });
  tab.store.setDraft({ room_id: place, text: 'to the thread', reply_to: null });
  await world.pass(1000);
  tab.crash();
  const after = await browser.tab();
  assert.equal(after.store.draft(place)?.text, 'to the thread');
  assert.equal(after.store.rooms.get(room)?.draft?.text, 'to the room');
  await after.store.send(room, 'to the thread', null, { thread: root.msg_id });
  assert.equal(after.store.draft(place), null);
  assert.equal(after.store.draft(room)?.text, 'to the room');
  after.store.setDraft({ room_id: place, text: 'more', reply_to: null });
  await world.pass(1000);
  world.server.leave(room, me);
  await world.until('the room is lost', () => after.store.rooms.get(room)?.member === false);
  assert.deepEqual([after.store.draft(place), after.store.draft(room)], [null, null]);
});

test('files that are taken up in a thread are its own', async () => {
  const { tab, root } = await home(0);
  await tab.store.uploads.add(room, [new File(['x'], 'x.txt')], root.msg_id);
  assert.deepEqual(tab.store.uploads.all.value.map(({ name, thread }) => [name, thread]), [['x.txt', root.msg_id]]);
});
