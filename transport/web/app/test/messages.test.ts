// The window on a room's messages: dense, bounded, and in the right place.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message } from '../src/types';
import { openDb } from '../src/store/db';
import { History, seqOf } from '../src/store/history';
import type { RoomWindow } from '../src/store/messages';
import { property } from './chance';
import { Browser, me, quiet, texts, watch, World, type Tab } from './world';

const room = 'r:general';

async function home(n: number): Promise<{ world: World; browser: Browser; tab: Tab; window: RoomWindow }> {
  const world = new World();
  world.server.found(room, me, 'u:bo');
  for (let i = 1; i <= n; i++) world.server.say(room, 'u:bo', `${i}`);
  const browser = new Browser(world);
  const tab = await browser.tab();
  await world.until('it is live', () => tab.store.synced.value && tab.store.connection.value === 'live');
  const window = tab.store.open(room);
  await world.until('the room is shown', () => window.ready.value);
  return { world, browser, tab, window };
}

const span = (w: RoomWindow) => `${texts(w)[0]}–${texts(w).at(-1)}`;

test('a room of 100,000 messages is scrolled through with at most 600 in hand', async () => {
  const { world, tab, window } = await home(100_000);
  assert.equal(span(window), '99941–100000');
  for (let i = 0; i < 12; i++) await window.loadOlder();
  assert.equal(span(window), '99221–99820');
  assert.equal(window.atEnd.value, false);
  world.server.say(room, 'u:bo', '100001');
  await world.until('the list knows', () => tab.store.rooms.get(room)!.unread === 1);
  assert.equal(span(window), '99221–99820');
  await window.loadNewer();
  assert.equal(span(window), '99281–99880');
  await window.loadAround(50_000);
  assert.equal(span(window), '49940–50060');
  await window.loadAround(1);
  assert.equal(span(window), '1–61');
  assert.ok(window.atStart.value);
  await window.toEnd();
  assert.equal(span(window), '99942–100001');
  assert.ok(window.atEnd.value && !window.atStart.value);
});

test('the end is reached by scrolling too, and then follows what comes', async () => {
  const { world, window } = await home(300);
  await window.loadAround(200);
  for (let i = 0; i < 3 && !window.atEnd.value; i++) await window.loadNewer();
  assert.ok(window.atEnd.value);
  world.server.say(room, 'u:bo', '301');
  await world.until('it is there', () => texts(window).at(-1) === '301');
});

test('a link leads to a message of which no stream has told yet', async () => {
  const { world, window } = await home(300);
  world.server.say(room, 'u:bo', '301');
  await window.loadAround(301);
  assert.equal(texts(window).at(-1), '301');
  assert.ok(window.atEnd.value);
  world.server.say(room, 'u:bo', '302');
  await world.until('it follows what comes', () => texts(window).at(-1) === '302');
  dense(window);
});

test('what is in view is not taken away by what comes', async () => {
  const { world, window } = await home(700);
  for (let i = 0; i < 9; i++) await window.loadOlder();
  assert.equal(span(window), '101–700');
  window.looksAtEnd(false);
  world.server.say(room, 'u:bo', '701');
  await quiet();
  assert.equal(span(window), '101–700');
  assert.equal(window.atEnd.value, false);
  await window.toEnd();
  window.looksAtEnd(true);
  assert.equal(texts(window).at(-1), '701');
});

test('reading that fails says why, leaves what is shown, and heals when the network is back', async () => {
  const { world, browser, window } = await home(300);
  browser.cut();
  await window.loadOlder();
  assert.equal((window.problem.value as { code: string }).code, 'offline');
  assert.equal(span(window), '241–300');
  await window.loadAround(10);
  assert.equal(span(window), '241–300');
  for (let i = 301; i <= 320; i++) world.server.say(room, 'u:bo', `${i}`);
  browser.connect();
  await world.until('it has caught up', () => span(window) === '241–320');
  await world.pass(5000);
  await window.loadOlder();
  assert.equal(window.problem.value, null);
  assert.equal(span(window), '181–320');
});

test('a room that is opened without a network fills when it is back', async () => {
  const { world, browser, tab, window } = await home(300);
  window.close();
  browser.cut();
  world.server.found('r:quiet', me);
  for (let i = 1; i <= 5; i++) world.server.say('r:quiet', me, `${i}`);
  const other = tab.store.open('r:quiet');
  await world.until('it is empty', () => other.ready.value);
  assert.deepEqual(texts(other), []);
  browser.connect();
  await world.until('it is full', () => texts(other).length === 5);
});

test('what is read while the window moves is not shown in the wrong place', async () => {
  const { world, window } = await home(700);
  for (let i = 0; i < 9; i++) await window.loadOlder();
  assert.equal(span(window), '101–700');
  const reading = window.loadOlder();
  for (let i = 701; i <= 720; i++) world.server.say(room, 'u:bo', `${i}`); // cuts the start off
  await quiet();
  await reading;
  dense(window);
  void window.loadAround(30);
  await Promise.resolve();
  assert.equal(window.loading.value, 'around');
  window.reset();
  await world.until('it is at the end', () => texts(window).at(-1) === '720');
  await window.loadAround(30);
  void window.toEnd();
  await Promise.resolve();
  assert.equal(window.loading.value, 'end');
  window.reset();
  await world.until('it is at the end again', () => texts(window).at(-1) === '720');
  assert.ok(window.atEnd.value);
});

test('a message that comes beyond a hole is shown, and the hole is filled', async () => {
  const { world, browser, window } = await home(10);
  browser.cut();
  for (let i = 11; i <= 15; i++) world.server.say(room, 'u:bo', `${i}`);
  window.take(world.server.rooms.get(room)!.messages.slice(13));
  assert.deepEqual(texts(window).slice(-3), ['10', '14', '15']);
  window.take(world.server.rooms.get(room)!.messages.slice(9, 11));
  assert.deepEqual(texts(window).slice(-4), ['10', '11', '14', '15']);
  browser.connect();
  await world.until('it is filled', () => texts(window).length === 15);
  whole(window);
});

test('without a network only what joins on is read', async () => {
  const { world, browser } = await home(100);
  const { messages } = world.server.rooms.get(room)!;
  const db = await openDb(browser.indexedDB as never, 'history', () => undefined);
  const kept = [...messages.slice(29, 40), ...messages.slice(44, 60)];
  await db.write(kept.map((value) => ({ put: 'messages', value })));
  browser.cut();
  const history = new History((await browser.tab()).env, db, () => undefined, () => 0);
  const read = async (low: number, high: number, end: 'low' | 'high') => (await history.span(room, low, high, end)).messages.map((m) => m.room_seq);
  assert.deepEqual(await read(20, 60, 'low'), []);
  assert.deepEqual(await read(35, 60, 'low'), [35, 36, 37, 38, 39, 40]);
  assert.deepEqual(await read(35, 47, 'high'), [45, 46, 47]);
  assert.deepEqual(await read(35, 61, 'high'), []);
  assert.deepEqual(await read(50, 52, 'high'), [50, 51, 52]);
  assert.deepEqual((await history.newest(room, 50)).map((m) => m.room_seq), Array.from({ length: 16 }, (_, i) => 45 + i));
});

test('a message that is replied to is found by its id alone', async () => {
  const { world, tab } = await home(500);
  const first = world.server.rooms.get(room)!.messages[6]!;
  assert.equal(seqOf(first.msg_id), 7);
  assert.equal((await tab.store.message(room, first.msg_id))?.body.text, '7');
  assert.equal(await tab.store.message(room, first.msg_id.replace(/.$/, 'f')), null);
  assert.equal(await tab.store.message(room, 'm:none'), null);
});

// Whatever is read, in whichever order messages come, twice or not at all.
test('property: a window has no holes, no doubles and its bound, and ends where the room does', { timeout: 600_000 }, () =>
  property(40, async (chance) => {
    const { world, browser, tab, window } = await home(chance.of([0, 1, 50, 900]));
    const { messages } = world.server.rooms.get(room)!;
    for (let i = 0; i < 30; i++) {
      void chance.of([
        () => window.loadOlder(),
        () => window.loadNewer(),
        () => window.toEnd(),
        () => window.loadAround(1 + chance.below(messages.length + 5)),
        () => window.looksAtEnd(chance.hit(0.5)),
        () => window.take(some(messages, chance.below(messages.length), chance.below(5))),
        () => world.server.say(room, 'u:bo', `${messages.length + 1}`),
        () => (chance.hit(0.5) ? browser.cut() : browser.connect()),
        () => world.server.hangUp(),
        () => world.pass(chance.below(3000)),
      ])();
      if (chance.hit(0.5)) await quiet();
      dense(window);
    }
    browser.connect();
    await world.pass(60_000);
    await window.toEnd();
    await world.until('it is at the end', () => tab.store.rooms.get(room)!.last_seq === messages.length && (texts(window).at(-1) ?? '') === (messages.at(-1)?.body.text ?? ''));
    whole(window);
  }));

function some(messages: Message[], from: number, n: number): Message[] {
  return messages.slice(from, from + n).reverse();
}

// whole: nothing is missing between the first and the last.
function whole(window: RoomWindow) {
  const seqs = window.items.value.map((item) => item.message!.room_seq);
  assert.deepEqual(seqs, seqs.map((_, i) => seqs[0]! + i));
}

// dense: only what came beyond a hole at the end may stand apart, until it is filled.
function dense(window: RoomWindow) {
  const seqs = window.items.value.map((item) => item.message!.room_seq);
  const sorted = [...new Set(seqs)].sort((a, b) => a - b);
  assert.deepEqual(seqs, sorted, 'out of order or doubled');
  const holes = seqs.filter((seq, i) => i > 0 && seqs[i - 1] !== seq - 1);
  assert.ok(holes.length === 0 || window.atEnd.value, 'a hole in the middle');
  assert.ok(seqs.length <= 1200);
}

test('what came while a room was read doesn’t draw it over and over, though a list asks for more each time', async () => {
  const { world } = await home(3);
  const [root] = world.server.rooms.get(room)!.messages;
  const browser = new Browser(world); // which has kept nothing
  const tab = await browser.tab();
  await world.until('it is live', () => tab.store.synced.value && tab.store.connection.value === 'live');
  const go = browser.hold((url) => url.includes('/entries'));
  const window = tab.store.open(room);
  await quiet();
  world.server.say(room, 'u:bo', 'an answer', '', null, 'message', undefined, root!.msg_id);
  await quiet();
  let drawn = 0;
  const { stop } = watch(() => {
    void window.items.value;
    if (++drawn < 500) queueMicrotask(() => void Promise.all([window.loadOlder(), window.loadNewer()]));
  });
  go();
  await world.until('the answer counts', () => window.items.value.some(({ message }) => message?.replies?.count === 1));
  await quiet();
  stop();
  assert.ok(drawn < 20, `drawn ${drawn} times`);
});
