// A message that was written is sent, once, whatever happens.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../src/api';
import type { Draft } from '../src/store/db';
import { Drafts } from '../src/store/drafts';
import { afterTry, Outbox } from '../src/store/outbox';
import { Chance, property } from './chance';
import { tenant } from './server';
import { Browser, me, quiet, texts, watch, World, type Tab } from './world';

const room = 'r:general';
const isSend = (method: string) => method === 'POST';

async function home(): Promise<{ world: World; browser: Browser }> {
  const world = new World();
  world.server.found(room, me, 'u:bo');
  world.server.say(room, 'u:bo', 'welcome');
  return { world, browser: new Browser(world) };
}

const arrived = (world: World) => world.server.rooms.get(room)!.messages.filter((m) => m.sender_id === me).map((m) => m.body.text);

test('what follows a try', () => {
  const answer = (status: number, retryAfter?: number) => new ApiError(status === 401 ? 'unauthorized' : 'internal', 'no', status, retryAfter);
  const offline = new ApiError('offline', 'no', 0);
  const fail = { do: 'fail', code: 'internal', message: 'no' };
  const rows: [problem: unknown, tries: number, want: object][] = [
    [offline, 0, { do: 'wait', ms: 1000, told: false }],
    [offline, 3, { do: 'wait', ms: 8000, told: false }],
    [offline, 99, { do: 'wait', ms: 30_000, told: false }],
    [answer(401), 0, { do: 'stop' }],
    [answer(429, 7), 0, { do: 'wait', ms: 7000, told: true }],
    [answer(503, 1), 4, { do: 'wait', ms: 16_000, told: true }],
    [answer(503), 0, { do: 'wait', ms: 1000, told: false }],
    [answer(502), 0, { do: 'wait', ms: 1000, told: false }],
    [answer(408), 0, { do: 'wait', ms: 1000, told: false }],
    [answer(500), 7, { do: 'wait', ms: 30_000, told: false }],
    [answer(500), 8, fail],
    [answer(400), 0, fail],
    [answer(403), 0, fail],
    [answer(413), 0, fail],
    [new TypeError('a bug'), 0, { do: 'fail', code: 'internal', message: 'something went wrong in the app' }],
  ];
  for (const [problem, tries, want] of rows) assert.deepEqual(afterTry(problem, tries, 1), want);
});

test('a message is shown at once, and becomes the real one without a moment of none or two', async () => {
  for (const slow of [false, true]) {
    const { world, browser } = await home();
    const tab = await browser.tab();
    await world.until('the room is there', () => tab.store.rooms.mine.value.length === 1);
    const window = tab.store.open(room);
    await world.until('the room is shown', () => texts(window).length === 1);
    if (slow) browser.fault = (method) => (isSend(method) && world.server.posted.length < 2 ? 'unheard' : null); // the stream is first
    const { seen, stop } = watch(() => window.items.value);
    void tab.store.send(room, 'hello');
    assert.deepEqual(texts(window), ['welcome', 'hello…']);
    const { key } = window.items.value[1]!;
    await world.until('it has arrived', () => tab.store.outbox.entries.value.length === 0);
    stop();
    assert.deepEqual(texts(window), ['welcome', 'hello']);
    for (const items of seen.slice(1)) assert.equal(items[1]?.key, key);
    assert.ok(seen.slice(1).every((items) => items.length === 2), 'a row too few or too many');
    assert.deepEqual(arrived(world), ['hello']);
  }
});

test('airplane mode and a reload: all is sent when the network is back, in order', async () => {
  const { world, browser } = await home();
  const tab = await browser.tab();
  await world.until('the room is there', () => tab.store.rooms.mine.value.length === 1);
  browser.cut();
  for (const text of ['one', 'two', 'three']) await tab.store.send(room, text);
  tab.crash();
  const after = await browser.tab();
  const window = after.store.open(room);
  await world.pass(60_000);
  assert.deepEqual(texts(window), ['one…', 'two…', 'three…']);
  assert.deepEqual(arrived(world), []);
  const before = world.time;
  browser.connect();
  await world.until('all is sent', () => after.store.outbox.entries.value.length === 0);
  assert.ok(world.time - before < 100, 'it waited though the network was back');
  await world.until('all is shown', () => texts(window).join() === 'welcome,one,two,three');
  assert.deepEqual(arrived(world), ['one', 'two', 'three']);
});

test('a reload while a message is being sent doubles nothing', async () => {
  const { world, browser } = await home();
  const tab = await browser.tab();
  await world.until('the room is there', () => tab.store.rooms.mine.value.length === 1);
  browser.fault = (method) => (isSend(method) ? 'unheard' : null);
  await tab.store.send(room, 'once');
  await world.until('the server has it', () => arrived(world).length === 1);
  tab.crash();
  browser.fault = () => null;
  const after = await browser.tab();
  await world.until('the answer has come', () => after.store.outbox.entries.value.length === 0);
  const window = after.store.open(room);
  await world.until('it is shown', () => texts(window).length > 1);
  assert.deepEqual(texts(window), ['welcome', 'once']);
  assert.deepEqual(arrived(world), ['once']);
});

test('a message whose key the server has forgotten is found by its receipt', async () => {
  const { world, browser } = await home();
  const tab = await browser.tab();
  await world.until('the room is there', () => tab.store.rooms.mine.value.length === 1);
  browser.fault = (method) => (isSend(method) ? 'unheard' : null);
  await tab.store.send(room, 'yes'); // arrives, unheard
  await world.until('the server has it', () => arrived(world).length === 1);
  browser.cut();
  await tab.store.send(room, 'no'); // never arrives
  tab.crash();
  world.server.forget();
  world.server.say(room, me, 'yes'); // the same words from another device
  await world.pass(3 * 24 * 3600_000);
  browser.fault = () => null;
  browser.connect();
  const after = await browser.tab();
  await world.until('all is settled', () => after.store.outbox.entries.value.length === 0);
  assert.deepEqual(arrived(world), ['yes', 'yes', 'no']);
});

test('a message that is refused waits for the person, and holds up no other', async () => {
  const { world, browser } = await home();
  const tab = await browser.tab();
  await world.until('the room is there', () => tab.store.rooms.mine.value.length === 1);
  const window = tab.store.open(room);
  browser.fault = (method) => (isSend(method) && world.server.posted.length === 0 ? new ApiError('too_large', 'too long', 413) : null);
  await tab.store.send(room, 'long');
  await world.until('it has failed', () => tab.store.outbox.entries.value[0]?.state === 'failed');
  assert.equal(tab.store.outbox.entries.value[0]!.error?.code, 'too_large');
  browser.fault = () => null;
  await tab.store.send(room, 'short');
  await world.until('the other is there', () => texts(window).join() === 'welcome,short,long!');
  await tab.store.retry(tab.store.outbox.entries.value[0]!.id);
  await world.until('it is there too', () => texts(window).join() === 'welcome,short,long');
  browser.fault = (method) => (isSend(method) ? new ApiError('forbidden', 'no', 403) : null);
  await tab.store.send(room, 'never');
  await world.until('it has failed', () => tab.store.outbox.entries.value[0]?.state === 'failed');
  await tab.store.discard(tab.store.outbox.entries.value[0]!.id);
  tab.crash();
  const after = await browser.tab();
  assert.deepEqual(after.store.outbox.entries.value, []);
});

test('who is told to wait waits, though the network comes and goes', async () => {
  const { world, browser } = await home();
  const tab = await browser.tab();
  await world.until('the room is there', () => tab.store.rooms.mine.value.length === 1);
  browser.fault = (method) => (isSend(method) && world.server.posted.length === 0 ? new ApiError('rate_limited', 'slow', 429, 20) : null);
  const began = world.time;
  await tab.store.send(room, 'patience');
  await quiet();
  browser.fault = () => null;
  browser.connect();
  await world.until('it has arrived', () => arrived(world).length === 1);
  assert.ok(world.time - began >= 20_000, `only ${world.time - began} ms`);
});

test('a session that has ended keeps what is written for the next', async () => {
  const { world, browser } = await home();
  const tab = await browser.tab();
  await world.until('the room is there', () => tab.store.rooms.mine.value.length === 1);
  browser.fault = () => new ApiError('unauthorized', 'no', 401);
  await tab.store.send(room, 'later');
  await world.pass(100_000);
  tab.store.stop();
  browser.fault = () => null;
  const after = await browser.tab();
  await world.until('it has arrived', () => after.store.outbox.entries.value.length === 0);
  assert.deepEqual(arrived(world), ['later']);
});

test('news of a message that has arrived since are no news', async () => {
  const { browser } = await home();
  const outbox = new Outbox((await browser.tab()).env, me, async (batch) => void outbox.apply(batch));
  await outbox.add(room, 'hello', null, 1);
  const outgoing = [...outbox.entries.value];
  outbox.apply({ settled: [{ id: outgoing[0]!.id, message: null }] });
  outbox.apply({ outgoing });
  assert.deepEqual(outbox.entries.value, []);
});

test('the draft ends when its message is kept, and not before', async () => {
  const { world, browser } = await home();
  const tab = await browser.tab();
  await world.until('the room is there', () => tab.store.rooms.mine.value.length === 1);
  browser.cut();
  tab.store.setDraft({ room_id: room, text: 'half a thou', reply_to: null });
  tab.hide();
  await quiet();
  tab.crash();
  const second = await browser.tab();
  assert.equal(second.store.rooms.get(room)!.draft?.text, 'half a thou');
  second.store.setDraft({ room_id: room, text: 'half a thought', reply_to: null });
  await second.store.send(room, 'half a thought');
  second.crash();
  const third = await browser.tab();
  assert.equal(third.store.rooms.get(room)!.draft, null);
  assert.deepEqual(third.store.outbox.entries.value.map((e) => e.text), ['half a thought']);
});

test('a draft is what was written last, though it is kept only after a pause', async () => {
  const { world, browser } = await home();
  const tab = await browser.tab();
  await world.until('the room is there', () => tab.store.rooms.mine.value.length === 1);
  assert.equal(tab.store.draft(room), null);
  tab.store.setDraft({ room_id: room, text: 'older', reply_to: null });
  await world.pass(1000);
  tab.store.setDraft({ room_id: room, text: 'newer', reply_to: null });
  assert.equal(tab.store.rooms.get(room)!.draft?.text, 'older');
  assert.equal(tab.store.draft(room)?.text, 'newer');
  await world.pass(1000);
  assert.equal(tab.store.draft(room)?.text, 'newer');
  await tab.store.send(room, 'newer');
  assert.equal(tab.store.draft(room), null);
});

test('a draft outlives a page whose last write comes to nothing', async () => {
  for (const waited of [0, 1000]) {
    const { world, browser } = await home();
    const { env } = await browser.tab();
    const kept: Draft[] = [];
    const draft = { room_id: room, text: 'half a thought', reply_to: null };
    let writes = 0; // the first hangs; one that has nothing to add is done at once
    const leaving = new Drafts(env, 'mine', () => (writes++ === 0 ? new Promise(() => undefined) : Promise.resolve()));
    leaving.set(draft);
    await world.pass(waited);
    leaving.leave();
    await quiet();
    for (const [name, want] of [['somebody else’s', []], ['mine', [draft]], ['mine', []]] as const) {
      await new Drafts(env, name, async (batch) => void kept.push(...batch.drafts!)).resume();
      assert.deepEqual(kept.splice(0), want, `after ${waited} ms`);
    }
    await world.pass(1000);
  }
});

test('what a page leaves is in the room of the next one, and gone once it is kept', async () => {
  const { world, browser } = await home();
  const tab = await browser.tab();
  await world.until('the room is there', () => tab.store.rooms.mine.value.length === 1);
  tab.store.setDraft({ room_id: room, text: 'half a thought', reply_to: null });
  tab.hide();
  assert.equal(tab.session.size, 1);
  await quiet();
  assert.equal(tab.session.size, 0);
  tab.session.set(`ubl/${tenant}/${me}`, JSON.stringify([{ room_id: room, text: 'a whole thought', reply_to: null }]));
  const after = await browser.tab(tab.session);
  assert.equal(after.store.draft(room)?.text, 'a whole thought');
  await after.store.wipe();
  assert.equal(tab.session.size, 0);
});

// The world at its worst: two tabs, faults of every kind, crashes, frozen tabs and
// restarts of the server, in any order. In the end every message is there once, and
// those of one tab are in order.
test('property: exactly once and in order', { timeout: 600_000 }, () =>
  property(40, async (chance) => {
    const { world, browser } = await home();
    if (chance.hit(0.2)) browser.locks = undefined;
    let n = 0;
    const written: string[] = [];
    for (let step = 0; step < 40; step++) {
      const tab = chance.of(browser.tabs) as Tab | undefined;
      browser.fault = faulty(chance, chance.of([0, 0.3, 0.9]));
      switch (chance.below(9)) {
        case 0:
          if (browser.tabs.length < 2) await browser.tab();
          break;
        case 1:
          if (chance.hit(0.3)) tab?.crash();
          break;
        case 2:
          if (chance.hit(0.5)) browser.cut();
          else browser.connect();
          break;
        case 3:
          world.server.hangUp();
          break;
        case 4:
          if (chance.hit(0.5)) tab?.freeze();
          else tab?.thaw();
          break;
        case 5:
          await world.pass(chance.below(5000));
          break;
        default:
          if (!tab || !tab.store.rooms.get(room)) break;
          written.push(`${++n}`);
          await Promise.race([tab.store.send(room, `${n}`), quiet()]);
      }
    }
    browser.fault = () => null;
    browser.tabs.forEach((tab) => tab.thaw());
    browser.connect();
    const last = browser.tabs[0] ?? (await browser.tab());
    await world.until('all is settled', () => last.store.outbox.entries.value.length === 0);
    assert.deepEqual(arrived(world).toSorted(), written.toSorted());
    const window = last.store.open(room);
    await world.until('all is shown', () => texts(window).length === 1 + n);
    assert.deepEqual(texts(window).slice(1), arrived(world));
  }));

function faulty(chance: Chance, share: number) {
  return () => {
    if (!chance.hit(share)) return null;
    return chance.of(['lost' as const, 'unheard' as const, new ApiError('overloaded', 'busy', 503, 1), new ApiError('internal', 'oh', 500)]);
  };
}
