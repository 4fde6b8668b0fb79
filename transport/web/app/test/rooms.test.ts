// The list of rooms, and what becomes of it when the server changes under it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDb, type Change, type Db } from '../src/store/db';
import { Store } from '../src/store/sync';
import { tenant } from './server';
import { Browser, me, quiet, texts, watch, World, type Tab } from './world';

const room = 'r:general';

async function home(): Promise<{ world: World; browser: Browser; tab: Tab }> {
  const world = new World();
  world.server.found(room, me, 'u:bo');
  world.server.say(room, 'u:bo', 'welcome');
  const browser = new Browser(world);
  const tab = await browser.tab();
  await world.until('it is live', () => tab.store.synced.value && tab.store.connection.value === 'live');
  return { world, browser, tab };
}

const list = (tab: Tab) => tab.store.rooms.mine.value.map((r) => `${r.name} ${r.unread}`);

test('unread messages are counted from the first start on, and until they are read', async () => {
  const { world, browser, tab } = await home();
  assert.deepEqual(list(tab), ['general 0']);
  world.server.say(room, 'u:bo', 'one');
  world.server.say(room, 'u:bo', 'two');
  await quiet();
  assert.deepEqual(list(tab), ['general 2']);
  tab.store.markRead(room, 2);
  tab.store.markRead(room, 1);
  assert.deepEqual(list(tab), ['general 1']);
  await quiet();
  tab.crash();
  const after = await browser.tab();
  assert.deepEqual(list(after), ['general 1']);
  world.server.say(room, me, 'three'); // from another device: who answers has read
  await world.until('it is there', () => after.store.rooms.get(room)!.last_seq === 4);
  assert.deepEqual(list(after), ['general 0']);
});

test('rooms come as they are founded or joined, the latest first, and go as they are left', async () => {
  const { world, browser, tab } = await home();
  await world.pass(1000);
  world.server.found('r:new', me);
  world.server.found('r:other', 'u:bo');
  world.server.say('r:other', 'u:bo', 'among us');
  await world.until('the new room is there', () => list(tab).length === 2);
  await world.pass(1000);
  world.server.join('r:other', me);
  const invited = world.time;
  await world.until('the joined room is there', () => list(tab).length === 3);
  assert.equal(world.time, invited);
  assert.deepEqual(list(tab)[0], 'other 2');
  const window = tab.store.open('r:other');
  await world.until('what was before is there too', () => texts(window).join() === `among us,${me} joined`);
  world.server.rooms.get('r:other')!.members.delete(me);
  await tab.store.refresh();
  assert.deepEqual(list(tab).toSorted(), ['general 0', 'new 0']);
  assert.deepEqual(tab.store.rooms.others.value.map((r) => r.name), ['other']);
  await quiet();
  tab.crash();
  browser.cut();
  const after = await browser.tab();
  const lost = after.store.open('r:other');
  await quiet();
  assert.deepEqual(texts(lost), []);
});

test('who is taken out of a room is told at once, in every tab, and has it back when let in again', async () => {
  const { world, browser, tab } = await home();
  const other = await browser.tab();
  await quiet();
  const told: string[] = [];
  const { stop } = watch(() => void told.push(...other.store.lost.value));
  world.server.leave(room, me);
  const now = world.time;
  await world.until('the room is gone', () => list(tab).length === 0 && list(other).length === 0);
  assert.deepEqual(tab.store.lost.value, ['general']);
  assert.deepEqual(told, ['general']);
  await world.until('it may be joined', () => tab.store.rooms.others.value.length === 1);
  world.server.join(room, me);
  await world.until('it is back', () => list(tab).length === 1 && list(other).length === 1);
  assert.equal(world.time, now);
  world.server.leave(room, me); // and before the next frame:
  world.server.join(room, me);
  world.server.say(room, 'u:bo', 'welcome back');
  await world.until('it is back again', () => tab.store.rooms.get(room)?.last_seq === 4 && tab.store.rooms.get(room)!.member);
  const window = tab.store.open(room);
  await world.until('all is there', () => texts(window).join() === `welcome,${me} joined,${me} joined,welcome back`);
  stop();
});

test('a list of rooms from before one was taken out of a room doesn’t bring it back', async () => {
  const { world, browser, tab } = await home();
  const held = browser.hold((url) => url.startsWith('/api/rooms?'));
  const early = tab.store.refresh();
  await quiet();
  world.server.leave(room, me);
  await quiet();
  held();
  await early;
  await world.until('the room is gone', () => list(tab).length === 0);
  await quiet();
  assert.deepEqual(list(tab), []);
});

test('what was seen can be read without a network', async () => {
  const { world, browser, tab } = await home();
  for (let i = 1; i <= 100; i++) world.server.say(room, 'u:bo', `${i}`);
  const window = tab.store.open(room);
  await world.until('it is shown', () => texts(window).at(-1) === '100');
  await window.loadOlder();
  await quiet();
  tab.crash();
  browser.cut();
  const after = await browser.tab();
  const offline = after.store.open(room);
  await world.until('it is shown again', () => offline.ready.value);
  await offline.loadOlder();
  assert.deepEqual(texts(offline), ['welcome', ...Array.from({ length: 100 }, (_, i) => `${i + 1}`)]);
  assert.deepEqual(list(after), ['general 100']);
});

test('a cursor is kept behind what it stands for: after a crash at any moment nothing is missing', async () => {
  const { world, browser, tab } = await home();
  let last = tab;
  for (let n = 2; n <= 40; n++) {
    world.server.say(room, 'u:bo', `${n}`);
    for (let i = 0; i < n % 7; i++) await new Promise(setImmediate);
    if (n % 3 !== 0) continue;
    last.crash();
    last = await browser.tab();
  }
  const resumed = world.server.requests.filter((r) => /^\/api\/events after l/.test(r)).length;
  assert.ok(resumed > 5, 'no stream was resumed');
  const window = last.store.open(room);
  await world.until('all is shown', () => texts(window).length === 40);
  await world.until('it is live', () => last.store.connection.value === 'live');
  const asked = world.server.requests.filter((r) => r.includes('/entries')).length;
  browser.cut();
  const kept = (await browser.tab()).store.open(room);
  await world.until('it is shown again', () => kept.ready.value);
  assert.deepEqual(texts(kept), texts(window));
  assert.equal(world.server.requests.filter((r) => r.includes('/entries')).length, asked);
});

test('after a long absence nothing is replayed: rooms are read where they are looked at', async () => {
  const { world, browser, tab } = await home();
  tab.crash();
  for (let i = 1; i <= 500; i++) world.server.say(room, 'u:bo', `${i}`);
  await world.pass(2 * 3600_000);
  const after = await browser.tab();
  await world.until('it is live', () => after.store.synced.value);
  assert.ok(world.server.requests.at(-1)!.startsWith('/api/') && world.server.requests.includes('/api/events after null'));
  assert.deepEqual(list(after), ['general 500']);
  const window = after.store.open(room);
  await world.until('the newest are there', () => texts(window).at(-1) === '500');
  assert.equal(texts(window).length, 60);
});

test('a server restored from a backup: what it no longer has goes, what was written stays', async () => {
  const { world, browser, tab } = await home();
  for (let i = 2; i <= 9; i++) world.server.say(room, 'u:bo', `old ${i}`);
  const window = tab.store.open(room);
  await world.until('it is shown', () => texts(window).at(-1) === 'old 9');
  tab.store.setDraft({ room_id: room, text: 'draft', reply_to: null });
  await world.pass(1000);
  browser.cut();
  await tab.store.send(room, 'unsent');
  world.server.restore(room, 4);
  for (let i = 5; i <= 12; i++) world.server.say(room, 'u:bo', `new ${i}`);
  browser.connect();
  const want = ['welcome', 'old 2', 'old 3', 'old 4', ...[5, 6, 7, 8, 9, 10, 11, 12].map((i) => `new ${i}`), 'unsent'];
  await world.until('all is as the server has it', () => texts(window).join() === want.join());
  assert.equal(tab.store.restored.value, 1);
  assert.equal(tab.store.rooms.get(room)!.unread, 0);
  await quiet();
  browser.cut();
  tab.crash();
  const after = (await browser.tab()).store.open(room);
  await world.until('it is shown again', () => after.ready.value);
  assert.deepEqual(texts(after), want);
});

test('a cursor beyond the head of a restored server is found out too', async () => {
  const { world, tab } = await home();
  for (let i = 2; i <= 9; i++) world.server.say(room, 'u:bo', `old ${i}`);
  const window = tab.store.open(room);
  await world.until('it is shown', () => texts(window).length === 9);
  world.server.restore(room, 4);
  await world.until('all is as the server has it', () => texts(window).length === 4);
  world.server.say(room, 'u:bo', 'goes on');
  await world.until('it goes on', () => texts(window).join() === 'welcome,old 2,old 3,old 4,goes on');
});

test('what retention took from the server is taken here', async () => {
  const { world, browser, tab } = await home();
  for (let i = 2; i <= 9; i++) world.server.say(room, 'u:bo', `${i}`);
  const window = tab.store.open(room);
  await world.until('it is shown', () => texts(window).length === 9);
  world.server.trim(room, 6);
  world.server.gap(room, 3);
  await world.until('it is gone', () => texts(window).join() === '6,7,8,9');
  assert.ok(window.atStart.value);
  await quiet();
  browser.cut();
  tab.crash();
  const after = (await browser.tab()).store.open(room);
  await quiet();
  assert.deepEqual(texts(after), ['6', '7', '8', '9']);
});

test('messages go when their room keeps them no longer, without a network and after a reload too', async () => {
  const { world, browser, tab } = await home();
  const window = tab.store.open(room);
  tab.store.keeps(room, 1);
  await world.pass(30 * 60_000);
  world.server.say(room, 'u:bo', 'later');
  await world.until('both are shown', () => texts(window).join() === 'welcome,later');
  browser.cut();
  await world.pass(31 * 60_000);
  assert.deepEqual(texts(window), ['later']);
  await world.pass(30 * 60_000);
  assert.deepEqual(texts(window), []);
  assert.equal(tab.store.rooms.get(room)!.last_message, null);
  tab.crash();
  const after = await browser.tab();
  assert.deepEqual(await after.store.keptOf(room), []);
});

test('a thousand messages at once are a few batches, and few transactions', async () => {
  const { world, tab } = await home();
  const window = tab.store.open(room);
  await world.until('it is shown', () => texts(window).length === 1);
  const { seen, stop } = watch(() => window.items.value.length);
  for (let i = 1; i <= 1000; i++) world.server.say(room, 'u:bo', `${i}`);
  await world.until('all have come', () => tab.store.rooms.get(room)!.last_seq === 1001);
  stop();
  assert.ok(seen.length <= 60, `shown ${seen.length} times`);
  assert.equal(texts(window).length, 600);
  assert.equal(texts(window).at(-1), '1000');
});

// Full is a database without space, but for small changes after something was cleared.
class Full implements Db {
  readonly shared = false;
  space = 0;
  cleared: Change[] = [];
  readonly get: Db['get'];
  readonly all: Db['all'];
  readonly newest: Db['newest'];

  constructor(private readonly db: Db) {
    this.get = db.get.bind(db);
    this.all = db.all.bind(db);
    this.newest = db.newest.bind(db);
  }

  close() {
    this.db.close();
  }

  wipe() {
    return this.db.wipe();
  }

  async write(changes: Change[]) {
    const clears = changes.filter((c) => 'clear' in c);
    this.cleared.push(...clears);
    if (changes.length > clears.length && this.space-- <= 0) throw new DOMException('no space', 'QuotaExceededError');
    await this.db.write(changes);
  }
}

test('without space the app goes on, makes room by dropping old messages, and tells', async () => {
  const world = new World();
  world.server.found(room, me, 'u:bo');
  for (let i = 1; i <= 300; i++) world.server.say(room, 'u:bo', `${i}`);
  const full = new Full(await openDb(new Browser(world).indexedDB as never, 'full', () => undefined));
  const { env } = await new Browser(world).tab();
  const store = new Store(env, { tenant_id: tenant, user_id: me }, 'full', full);
  await store.start();
  await world.until('it is live', () => store.synced.value);
  const window = store.open(room);
  await world.until('it is shown', () => texts(window).at(-1) === '300');
  assert.ok(store.full.value);
  assert.deepEqual(full.cleared.find((c) => 'clear' in c && c.clear === 'messages'), { clear: 'messages', low: [room, 0], high: [room, 100] });
  void store.send(room, 'from memory');
  await world.until('it has arrived', () => texts(window).at(-1) === 'from memory' && store.outbox.entries.value.length === 0);
  full.space = 1000;
  world.server.say(room, 'u:bo', 'there is space again');
  await world.until('it is kept', () => !store.full.value);
});

test('a room that is archived is shown as such at once, in every tab, and so it is without a network', async () => {
  const { world, browser, tab } = await home();
  const other = await browser.tab();
  world.server.found('r:open', 'u:bo');
  await tab.store.refresh();
  const status = ({ store }: Tab) => store.rooms.get(room)?.status;
  assert.equal(status(tab), undefined);
  assert.deepEqual(tab.store.rooms.others.value.map((r) => r.name), ['open']);
  world.server.archive(room, 'u:bo');
  world.server.archive('r:open', 'u:bo'); // nobody may join it any more
  await world.until('both tabs know', () => status(tab) === 'ended' && status(other) === 'ended');
  assert.deepEqual(tab.store.rooms.others.value, []);
  await quiet();
  tab.crash();
  other.crash();
  browser.cut();
  assert.equal(status(await browser.tab()), 'ended');
});
