// Whatever people do to messages, in whichever order, with and without a network: in the end
// everybody's app shows what the server has, and each message once.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { entryIn, isDeleted, isNews, isShown, rowOf } from '../src/store/entries';
import type { RoomWindow, Shown } from '../src/store/messages';
import { ThreadWindow } from '../src/store/thread';
import type { Entry, Message } from '../src/types';
import { property, type Chance } from './chance';
import { Browser, me, quiet, World, type Tab } from './world';

const room = 'r:general';
const users = [me, 'u:bo', 'u:cy'];

interface Person {
  browser: Browser;
  session: Map<string, string>;
  tab: Tab;
  window: RoomWindow;
  threads: Map<string, ThreadWindow>; // that are open, by the message that began them
  said: number;
}

const messages = ({ window }: { window: Pick<Shown, 'items'> }) => window.items.value.flatMap(({ message }) => message ?? []);

// step is one thing that somebody does, or that happens to them.
async function step(chance: Chance, who: Person) {
  const { browser, tab } = who;
  const rows = messages(who).filter((m) => m.type === 'text');
  const own = rows.filter((m) => m.sender_id === browser.user);
  const any = rows.length > 0 ? chance.of(rows) : null;
  const mine = own.length > 0 ? chance.of(own) : null;
  const act = (of: Parameters<Tab['store']['act']>[1]) => void tab.store.act(room, of);
  switch (chance.below(11)) {
    case 0:
    case 1:
      return void tab.store.send(room, `${browser.user} says ${++who.said}`, any && chance.hit(0.3) ? any.msg_id : null);
    case 2:
      if (any && !who.threads.has(any.msg_id)) who.threads.set(any.msg_id, tab.store.follow(room, (...of) => threadOf(any.msg_id, ...of)));
      return any && void tab.store.send(room, `${browser.user} answers ${++who.said}`, null, { thread: any.msg_id });
    case 3:
      return mine && act({ type: 'edit', target: mine.msg_id, text: `${browser.user} rather says ${++who.said}` });
    case 4:
    case 5:
      return any && act({ type: 'reaction', target: any.msg_id, key: chance.of(['👍', '🎉']) });
    case 6: {
      const by = any?.reactions?.flatMap((r) => r.by).find(({ user_id }) => user_id === browser.user);
      return by && act({ type: 'redaction', target: by.entry_id });
    }
    case 7:
      return mine && act(chance.hit(0.5) ? { type: 'redaction', target: mine.msg_id } : { type: 'pin', target: mine.msg_id, pinned: chance.hit(0.7) });
    case 8:
      return browser.online ? browser.cut() : browser.connect();
    case 9:
      await quiet(); // what was written is kept
      tab.crash();
      who.tab = await browser.tab(who.session);
      who.window = who.tab.store.open(room);
      who.threads.clear();
      return;
    case 10:
      return browser.world.pass(chance.below(5000));
  }
}

const threadOf = (root: string, ...[env, history, state, onClose]: Parameters<Parameters<Tab['store']['follow']>[1]>) => new ThreadWindow(env, room, root, history, state, onClose);

// rowsOf are entries as one has them from the server.
const rowsOf = (entries: readonly Entry[]) => (JSON.parse(JSON.stringify(entries)) as Entry[]).map(rowOf);

// asServed are the rows that the server has, as one shows them.
function asServed(world: World): Message[] {
  const { entries } = world.server.get(me, `/api/rooms/${room}/entries?limit=200`) as { entries: Entry[] };
  return rowsOf(entries).filter(isShown);
}

function threadServed(world: World, root: string): Message[] {
  const of = world.server.get(me, `/api/rooms/${room}/entries/${root}/thread?limit=200`) as { root: Entry; entries: Entry[] };
  return rowsOf([of.root, ...of.entries]).filter((m) => isNews(m) || isDeleted(m));
}

test('random histories end with everybody seeing what the server has', () =>
  property(25, async (chance) => {
    const world = new World();
    world.server.found(room, ...users);
    world.server.say(room, 'u:bo', 'welcome');
    const people: Person[] = [];
    for (const user of users) {
      const browser = new Browser(world, user);
      const session = new Map<string, string>();
      const tab = await browser.tab(session);
      people.push({ browser, session, tab, window: tab.store.open(room), threads: new Map(), said: 0 });
      browser.fault = (method) => (method === 'POST' && chance.hit(0.15) ? (chance.hit(0.5) ? 'lost' : 'unheard') : null);
    }
    await world.until('all show the room', () => people.every((p) => messages(p).length === 1));
    for (let i = 0; i < 40; i++) {
      await step(chance, chance.of(people));
      if (chance.hit(0.6)) await quiet();
    }
    for (const { browser } of people) {
      browser.fault = () => null;
      browser.connect();
    }
    const waiting = ({ tab }: Person) => tab.store.outbox.entries.value.filter((e) => e.state === 'waiting');
    await world.until('all is out', () => people.every((p) => waiting(p).length === 0));
    await world.pass(60_000);
    const served = asServed(world);
    for (const who of people) {
      assert.deepEqual(plain(messages(who)), plain(served), `what ${who.browser.user} sees`);
      for (const [root, window] of who.threads) assert.deepEqual(plain(messages({ window })), plain(threadServed(world, root)), `what ${who.browser.user} sees in a thread`);
    }
    // Who comes with an empty disk sees the same, and so does who has only what was kept.
    for (const who of people) {
      who.tab.crash();
      who.browser.cut();
      who.tab = await who.browser.tab(who.session);
      who.window = who.tab.store.open(room);
      await quiet();
      assert.deepEqual(plain(messages(who)), plain(served), `what ${who.browser.user} sees without a network`);
    }
    const all = world.server.rooms.get(room)!.messages;
    const texts = all.filter((m) => m.type === 'text' && !isDeleted(m)).map((m) => m.body.text);
    assert.equal(new Set(texts).size, texts.length, 'a message was sent twice');
    const acts = all.flatMap((m) => entryIn(m) ?? []).filter((e) => e.type === 'edit' && e.body).map((e) => e.body!.json!.text);
    assert.equal(new Set(acts).size, acts.length, 'an edit was sent twice');
  }));

// plain is what of rows people see, with reactions in one order.
const plain = (rows: readonly Message[]) =>
  rows.map((m) => ({
    seq: m.room_seq,
    text: m.body.text,
    deleted: isDeleted(m),
    edited: m.edited?.versions,
    pinned: m.pinned ?? false,
    replies: m.replies,
    reactions: (m.reactions ?? []).map(({ key, count, by }) => `${key} ${count} ${by.map((b) => b.user_id).sort().join()}`).sort(),
  }));
