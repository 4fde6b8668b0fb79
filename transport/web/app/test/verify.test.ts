// A whole ledger, checked page by page as the screen does it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromGenesis, type Json } from '../src/chain';
import { titles, verify, worstOf } from '../src/screens/ledger/verify';
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

test('the heading tells the worst finding', async (t) => {
  const ledger = await talk(new Ledger(), 3);
  serve(t, ledger);
  const start = fromGenesis(tenant);
  assert.equal(worstOf(await check()), 'whole');
  assert.equal(worstOf(await check(start, start.head_hash)), 'whole');
  const another = await check(start, 'h:of-another-chain');
  assert.equal(another.bad, null);
  assert.equal(worstOf(another), 'another');
  assert.notEqual(titles[worstOf(another)], titles.whole);
  assert.equal(worstOf({ ...another, bad: { seq: 2, reason: 'it was changed' } }), 'broken');
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
