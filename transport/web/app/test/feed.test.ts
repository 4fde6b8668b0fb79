// The ledger as the explorer lists it: backwards from the head, and growing.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { Feed } from '../src/screens/ledger/feed';
import { serve, talk } from './browse';
import { Ledger } from './ledger';

// open lists a ledger without waiting for the clock: what would be looked for in two
// seconds is looked for by again().
async function open(t: TestContext): Promise<Feed> {
  Object.assign(globalThis, { document: { hidden: false, addEventListener() {}, removeEventListener() {} } });
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const feed = new Feed();
  t.after(() => feed.stop());
  await feed.again();
  return feed;
}

const seqs = (feed: Feed) => feed.atoms.value.map((p) => p.seq);
const down = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, i) => from - i);

test('the newest first, older ones when they are asked for, down to the first', async (t) => {
  const ledger = await talk(new Ledger(), 225);
  serve(t, ledger);
  const feed = await open(t);
  assert.deepEqual(seqs(feed), down(450, 251));
  await feed.older();
  assert.deepEqual(seqs(feed), down(450, 51));
  assert.equal(feed.atGenesis, false);
  await feed.older();
  assert.deepEqual(seqs(feed), down(450, 1));
  assert.equal(feed.atGenesis, true);
  assert.ok(feed.atoms.value.every((p, i) => p.atom.cid === ledger.atoms[449 - i]!.cid && p.action?.did === 'messenger.send'));
});

test('what is added comes on top, without a gap', async (t) => {
  const ledger = await talk(new Ledger(), 5);
  serve(t, ledger);
  const feed = await open(t);
  await talk(ledger, 150);
  await feed.again();
  assert.deepEqual(seqs(feed), down(310, 1));
  assert.equal(feed.head.value, 310);
});

test('an empty ledger, and its first atoms', async (t) => {
  const ledger = new Ledger();
  const asked = serve(t, ledger);
  const feed = await open(t);
  assert.equal(feed.ready.value, true);
  assert.equal(feed.atGenesis, true);
  await talk(ledger, 1);
  await feed.again();
  assert.deepEqual(seqs(feed), [2, 1]);
  await feed.again();
  assert.equal(asked.at(-1), '/api/ledger/head', 'nothing new costs one small question');
});

test('an effect at the old end finds its action on the next page', async (t) => {
  const ledger = await talk(new Ledger(), 150);
  await ledger.append({ kind: 'action.v1', did: 'room.create', status: 'denied', when: '', this: {}, who: {}, trace: {}, agreement_id: 'a:a' });
  serve(t, ledger);
  const feed = await open(t); // atoms 301 to 102: 102 is an effect
  assert.equal(feed.atoms.value.at(-1)?.action, null);
  await feed.older();
  assert.ok(feed.atoms.value.every((p) => p.action !== null));
});

test('it starts over where too much has come, and where the ledger is another', async (t) => {
  const ledger = await talk(new Ledger(), 10);
  serve(t, ledger);
  const feed = await open(t);
  await talk(ledger, 2600);
  await feed.again();
  assert.deepEqual(seqs(feed), down(5220, 5021));
  ledger.atoms.length = 8;
  await feed.again();
  assert.deepEqual(seqs(feed), down(8, 1));
});

test('a server that can’t be reached is told, and forgotten when it can', async (t) => {
  const ledger = await talk(new Ledger(), 2);
  serve(t, ledger);
  const works = globalThis.fetch;
  globalThis.fetch = () => Promise.reject(new TypeError('no network'));
  const feed = await open(t);
  assert.ok(feed.problem.value);
  assert.equal(feed.ready.value, false);
  globalThis.fetch = works;
  await feed.again();
  assert.equal(feed.problem.value, null);
  assert.deepEqual(seqs(feed), down(4, 1));
});

test('nothing is asked while nobody sees the page, and at once when somebody does', async (t) => {
  const ledger = await talk(new Ledger(), 2);
  const asked = serve(t, ledger);
  let changed = () => {};
  const feed = await open(t);
  const page = { hidden: false, addEventListener: (_: string, f: () => void) => (changed = f), removeEventListener() {} };
  Object.assign(globalThis, { document: page });
  feed.start();
  const rests = async () => {
    for (let i = 0; i < 20; i++) await new Promise(setImmediate);
  };
  await rests();
  const seen = asked.length;
  page.hidden = true;
  await talk(ledger, 1);
  for (let i = 0; i < 5; i++) {
    t.mock.timers.tick(10_000);
    await rests();
  }
  assert.equal(asked.length, seen);
  page.hidden = false;
  changed();
  await rests();
  assert.deepEqual(seqs(feed), down(6, 1));
});
