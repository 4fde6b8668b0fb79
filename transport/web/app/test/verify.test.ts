// A whole ledger, checked page by page as the screen does it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromGenesis, type Json } from '../src/chain';
import { foundIn, shown, titles, verify } from '../src/screens/ledger/verify';
import { serve, talk } from './browse';
import { Ledger, tenant } from './ledger';

const never = new AbortController().signal;
const check = (from = fromGenesis(tenant), noted = '') => verify(from, noted, () => {}, never);

test('a ledger of several pages is whole', async (t) => {
  const ledger = await talk(new Ledger(), 601);
  const asked = serve(t, ledger);
  const goals: number[] = [];
  const verdict = await verify(fromGenesis(tenant), '', (p) => goals.push(p.at.seq), never);
  assert.equal(verdict.bad, null);
  assert.equal(verdict.at.seq, 1202);
  assert.equal(verdict.head, ledger.head);
  assert.equal('noted' in verdict, false);
  assert.deepEqual(goals, [0, 500, 1000]);
  assert.equal(asked.length, 4);
});

test('the heading claims what was checked, and no more', async (t) => {
  const ledger = await talk(new Ledger(), 3);
  serve(t, ledger);
  const start = fromGenesis(tenant);
  const whole = await check();
  assert.equal(foundIn(whole), 'alone');
  assert.doesNotMatch(titles.alone, /whole|unchanged/i); // nothing noted before says that
  assert.match(shown.alone, /doesn’t show that the ledger ends here, or that it wasn’t written anew/);
  assert.equal(foundIn(await check(start, start.head_hash)), 'alone'); // anything can come behind nothing
  assert.equal(foundIn(await check(start, ledger.head)), 'unchanged');
  assert.match(shown.unchanged, /doesn’t show that the ledger ends here/);
  assert.equal(foundIn(await check((await check()).at)), 'unchanged'); // this device has noted a head itself
  const another = await check(start, 'h:of-another-chain');
  assert.equal(another.bad, null);
  assert.equal(foundIn(another), 'another');
  assert.equal(foundIn({ ...another, bad: { seq: 2, reason: 'it was changed' } }), 'broken');
  assert.equal(new Set(Object.values(titles)).size, 4);
});

test('a ledger that was written anew holds, and a head that was noted before tells', async (t) => {
  const before = await talk(new Ledger(), 3);
  const anew = new Ledger();
  for (let i = 1; i <= 3; i++) await anew.say({ room_id: 'r:a', room_seq: i, sender_id: 'u:ana', text: `other ${i}` });
  serve(t, anew);
  assert.equal(foundIn(await check()), 'alone');
  assert.equal(foundIn(await check(fromGenesis(tenant), before.head)), 'another');
});

test('a ledger that was cut off holds, and a head that was noted before tells', async (t) => {
  const before = await talk(new Ledger(), 3);
  serve(t, await talk(new Ledger(), 2));
  assert.equal(foundIn(await check()), 'alone');
  assert.equal(foundIn(await check(fromGenesis(tenant), before.head)), 'another');
});

test('an empty ledger is whole', async (t) => {
  serve(t, new Ledger());
  const verdict = await check();
  assert.equal(verdict.bad, null);
  assert.equal(verdict.at.seq, 0);
});

test('the check goes on from where it was', async (t) => {
  const ledger = await talk(new Ledger(), 10);
  serve(t, ledger);
  const { at } = await check();
  await talk(ledger, 5);
  const verdict = await check(at);
  assert.equal(verdict.bad, null);
  assert.equal(verdict.at.seq, 30);
});

test('a head that was noted is found wherever it stood, and no other is', async (t) => {
  const ledger = new Ledger();
  const heads = [ledger.head];
  for (let i = 0; i < 260; i++) {
    await talk(ledger, 1);
    heads.push(String(ledger.atoms.at(-1)!.prev_hash), ledger.head);
  }
  serve(t, ledger);
  for (const seq of [0, 1, 2, 499, 500, 501, 519, 520]) {
    assert.equal((await check(fromGenesis(tenant), heads[seq])).noted, seq, `head ${seq}`);
  }
  assert.equal((await check(fromGenesis(tenant), `h:${'0'.repeat(64)}`)).noted, null);
});

test('what was changed is told with its place', async (t) => {
  const whole = await talk(new Ledger(), 300);
  for (const seq of [1, 2, 500, 501, 600]) {
    const ledger = new Ledger();
    ledger.head = whole.head;
    ledger.atoms.push(...whole.atoms.map((atom, i): Json => (i === seq - 1 ? { ...atom, when: '2020-01-01T00:00:00.000Z' } : atom)));
    await t.test(`atom ${seq}`, async (t) => {
      serve(t, ledger);
      const verdict = await check();
      assert.equal(verdict.bad?.seq, seq);
      assert.equal(verdict.at.seq, seq - 1);
    });
  }
});

test('a ledger that is said to be longer than it is', async (t) => {
  const ledger = await talk(new Ledger(), 3);
  const { atoms } = ledger;
  serve(t, Object.assign(Object.create(Ledger.prototype) as Ledger, { atoms, head: ledger.head }));
  const pretend = globalThis.fetch;
  globalThis.fetch = async (...of) => (String(of[0]).includes('head') ? Response.json({ seq: 9, head_hash: ledger.head }) : pretend(...of));
  assert.match((await check()).bad?.reason ?? '', /missing/);
});
