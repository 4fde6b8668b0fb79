// The tabs of a browser share one stream, and one of them sends.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../src/api';
import type { RoomWindow } from '../src/store/messages';
import { Browser, me, quiet, texts, World, type Tab } from './world';

const room = 'r:general';

async function home(): Promise<{ world: World; browser: Browser }> {
  const world = new World();
  world.server.found(room, me, 'u:bo');
  world.server.say(room, 'u:bo', 'welcome');
  return { world, browser: new Browser(world) };
}

const streams = (world: World) => world.server.listeners.size;
const live = (tab: Tab) => tab.store.connection.value === 'live' && tab.store.rooms.mine.value.length === 1;

test('one stream serves all tabs, and what one reads or writes the others show', async () => {
  const { world, browser } = await home();
  const tabs = [await browser.tab(), await browser.tab(), await browser.tab()];
  await world.until('all are live', () => tabs.every(live));
  const windows = tabs.map((tab) => tab.store.open(room));
  await world.until('all show the room', () => windows.every((w) => texts(w).length === 1));
  world.server.say(room, 'u:bo', 'news');
  await quiet();
  for (const window of windows) assert.deepEqual(texts(window), ['welcome', 'news']);
  assert.ok(tabs.every((tab) => tab.store.synced.value));
  assert.deepEqual(tabs.map((tab) => tab.store.rooms.unread.value), [1, 1, 1]);
  tabs[2]!.store.markRead(room, 2);
  void tabs[1]!.store.send(room, 'from a tab that doesn’t lead');
  await world.until('it is everywhere', () => windows.every((w) => texts(w).at(-1) === 'from a tab that doesn’t lead'));
  assert.deepEqual(tabs.map((tab) => tab.store.rooms.unread.value), [0, 0, 0]);
  assert.deepEqual(tabs.map((tab) => tab.store.outbox.entries.value), [[], [], []]);
  assert.equal(streams(world), 1);
  assert.equal(world.server.posted.length, 1);
});

test('when the leading tab is closed or gone, another one leads and misses nothing', async () => {
  const { world, browser } = await home();
  const [first, second, third] = [await browser.tab(), await browser.tab(), await browser.tab()];
  await world.until('all are live', () => [first, second, third].every(live));
  const window = third.store.open(room);
  first.store.stop();
  first.crash();
  world.server.say(room, 'u:bo', 'one');
  await world.until('the second leads', () => texts(window).join() === 'welcome,one');
  second.crash();
  world.server.say(room, 'u:bo', 'two');
  await world.until('the third leads', () => texts(window).join() === 'welcome,one,two');
  await world.until('its stream alone is left', () => streams(world) === 1);
});

test('a tab that is awake takes over from one that is frozen, which notices when it thaws', async () => {
  const { world, browser } = await home();
  const [first, second] = [await browser.tab(), await browser.tab()];
  await world.until('both are live', () => [first, second].every(live));
  first.freeze();
  const began = world.time;
  void second.store.send(room, 'is anybody there?');
  await world.until('it is sent', () => world.server.posted.length === 1);
  assert.ok(world.time - began <= 2100, `it took ${world.time - began} ms`);
  world.server.say(room, 'u:bo', 'yes');
  const window = second.store.open(room);
  await world.until('the answer is there', () => texts(window).at(-1) === 'yes');
  first.thaw();
  await world.until('only one stream is left', () => streams(world) === 1);
  const other = first.store.open(room);
  await world.until('both show the same', () => texts(other).join() === texts(window).join());
  await world.pass(120_000);
  assert.equal(streams(world), 1);
  assert.ok(live(first) && live(second));
});

test('a tab that heard nothing in its sleep catches up when it notices that the lead was taken from it', async () => {
  const { world, browser } = await home();
  const [leads, other] = [await browser.tab(), await browser.tab()];
  const window = await sleeps(world, leads, other);
  leads.goOn();
  await world.until('it is shown', () => texts(window).at(-1) === 'asleep?');
});

test('a tab that heard nothing in its sleep catches up when it is looked at again', async () => {
  const { world, browser } = await home();
  const [leads, other] = [await browser.tab(), await browser.tab()];
  const window = await sleeps(world, other, leads);
  const woken = world.time;
  other.thaw();
  await world.until('it is shown', () => texts(window).at(-1) === 'asleep?');
  assert.ok(world.time - woken < 1000, `it took ${world.time - woken} ms`);
});

// sleeps has a tab, which shows the room, hear nothing while another one sends.
async function sleeps(world: World, tab: Tab, other: Tab): Promise<RoomWindow> {
  await world.until('both are live', () => [tab, other].every(live));
  const window = tab.store.open(room);
  await world.until('the room is shown', () => texts(window).length === 1);
  tab.deaf = true;
  tab.freeze();
  await other.store.send(room, 'asleep?');
  await world.until('it is sent', () => other.store.rooms.get(room)!.last_seq === 2);
  await quiet();
  return window;
}

test('a tab that is seen notices by itself that the leader is frozen', async () => {
  const { world, browser } = await home();
  const [first, second] = [await browser.tab(), await browser.tab()];
  await world.until('both are live', () => [first, second].every(live));
  await world.pass(60_000);
  first.freeze();
  world.server.say(room, 'u:bo', 'hello');
  const began = world.time;
  await world.until('it is there', () => second.store.rooms.get(room)!.last_seq === 2);
  assert.ok(world.time - began <= 17_500, `it took ${world.time - began} ms`);
});

test('a tab in the background leaves a frozen one alone, until it is looked at', async () => {
  const { world, browser } = await home();
  const [first, second] = [await browser.tab(), await browser.tab()];
  await world.until('both are live', () => [first, second].every(live));
  second.visible = false;
  first.freeze();
  await world.pass(60_000);
  world.server.say(room, 'u:bo', 'hello');
  await world.pass(60_000);
  assert.equal(second.store.rooms.get(room)!.last_seq, 1);
  second.visible = true;
  second.wake();
  await world.until('it has caught up', () => second.store.rooms.get(room)!.last_seq === 2);
});

test('without locks each tab has a stream, and nothing is doubled', async () => {
  const { world, browser } = await home();
  browser.locks = undefined;
  const tabs = [await browser.tab(), await browser.tab()];
  await world.until('both are live', () => tabs.every(live));
  assert.equal(streams(world), 2);
  const windows = tabs.map((tab) => tab.store.open(room));
  await tabs[0]!.store.send(room, 'one');
  await tabs[1]!.store.send(room, 'two');
  await world.until('both show both', () => windows.every((w) => texts(w).length === 3));
  assert.equal(world.server.rooms.get(room)!.messages.length, 3);
});

test('without a database the app works from memory', async () => {
  const { world, browser } = await home();
  browser.indexedDB = undefined;
  for (let i = 0; i < 300; i++) world.server.say(room, 'u:bo', `${i}`);
  const tab = await browser.tab();
  await world.until('it is live', () => live(tab));
  const window = tab.store.open(room);
  await world.until('the room is shown', () => texts(window).length >= 60);
  await window.loadOlder();
  assert.equal(texts(window).length, 120);
  await tab.store.send(room, 'here');
  await world.until('it has arrived', () => texts(window).at(-1) === 'here');
  tab.store.setDraft({ room_id: room, text: 'draft', reply_to: null });
  tab.hide();
  assert.equal(tab.store.rooms.get(room)!.draft?.text, 'draft');
  await tab.store.wipe();
});

test('signing out leaves nothing behind, in any tab', async () => {
  const { world, browser } = await home();
  const [first, second] = [await browser.tab(), await browser.tab()];
  await world.until('both are live', () => [first, second].every(live));
  await first.store.send(room, 'secret');
  await world.until('it has arrived', () => second.store.rooms.get(room)!.last_seq === 2);
  await first.store.wipe();
  await quiet();
  assert.ok(second.gone);
  void second.store.send(room, 'too late');
  await quiet();
  assert.deepEqual(await browser.indexedDB!.databases(), []);
});

test('a database that another version of the app wants is given up, and taken up again', async () => {
  const { world, browser } = await home();
  const tab = await browser.tab();
  await world.until('it is live', () => live(tab));
  const { name } = (await browser.indexedDB!.databases())[0]!;
  const blocked = await new Promise<boolean>((resolve) => {
    const request = browser.indexedDB!.open(name!, 99);
    request.onblocked = () => resolve(true);
    request.onsuccess = () => {
      request.result.close();
      resolve(false);
    };
  });
  assert.equal(blocked, false);
  assert.equal(tab.gone, false);
  await tab.store.send(room, 'still here'); // it can't be kept, and is sent all the same
  await world.until('it has arrived', () => world.server.rooms.get(room)!.messages.length === 2);
});

test('on a phone that wakes up the stream is opened anew at once, and was resumed', async () => {
  const { world, browser } = await home();
  const tab = await browser.tab();
  await world.until('it is live', () => live(tab));
  tab.freeze();
  world.server.mute(); // what the phone's connection was is gone, and nobody told it
  world.server.say(room, 'u:bo', 'while you slept');
  world.time += 30_000;
  const window = tab.store.open(room);
  const woken = world.time;
  tab.thaw();
  await world.until('it is there', () => texts(window).at(-1) === 'while you slept');
  assert.ok(world.time - woken < 50, `it took ${world.time - woken} ms`);
  assert.match(world.server.requests.filter((r) => r.startsWith('/api/events')).at(-1)!, /after l0-\d+$/);
});

test('a stream that falls silent, is refused or breaks off is opened again, with patience', async () => {
  const { world, browser } = await home();
  const tab = await browser.tab();
  await world.until('it is live', () => live(tab));
  const opened = () => world.server.requests.filter((r) => r.startsWith('/api/events')).length;
  const before = opened();
  await world.pass(60_000); // this server sends no keepalives
  assert.ok(opened() > before, 'a silent stream was believed');
  let refused = 0;
  browser.fault = (_, url) => {
    if (url !== '/api/events' || refused > 0) return null;
    refused = world.time;
    return new ApiError('overloaded', 'busy', 503, 100);
  };
  world.server.hangUp();
  await world.until('it is refused', () => refused > 0);
  assert.equal(tab.store.connection.value, 'offline');
  await world.until('it is live again', () => live(tab));
  assert.ok(world.time - refused >= 100_000, 'it didn’t wait as it was told');
  browser.fault = (_, url) => (url === '/api/events' ? new ApiError('unauthorized', 'no', 401) : null);
  world.server.hangUp();
  await world.until('the app is told', () => world.server.requests.includes('/api/whoami'));
});
