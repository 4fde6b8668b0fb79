// What the browser's verifier believes, and what it finds.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cidOf, fromGenesis, fromHead, nextHead, verifyAtoms, verifyEnd, verifyReceipt, type Json, type Mark } from '../src/chain';
import { Chance, property } from './chance';
import { Ledger, tenant } from './ledger';

async function talk(n: number): Promise<Ledger> {
  const ledger = new Ledger();
  for (let i = 1; i <= n; i++) await ledger.say({ room_id: 'r:general', room_seq: i, sender_id: 'u:ana', text: `message ${i}` });
  return ledger;
}

test('a ledger holds, as a whole and page by page', async () => {
  const { atoms, seq, head } = await talk(10);
  const whole = await verifyAtoms(fromGenesis(tenant), atoms);
  assert.deepEqual(whole, { bad: null, at: { tenant_id: tenant, seq, head_hash: head, whole: true, open: [] } });
  let at: Mark = fromGenesis(tenant);
  for (let i = 0; i < atoms.length; i += 3) {
    const step = await verifyAtoms(JSON.parse(JSON.stringify(at)) as Mark, atoms.slice(i, i + 3));
    assert.equal(step.bad, null);
    at = step.at;
  }
  assert.deepEqual(at, whole.at);
  assert.equal(verifyEnd(at, { seq, head_hash: head }), null);
});

test('a check may begin behind a head that is trusted, even between an action and its effect', async () => {
  const { atoms, seq, head } = await talk(3);
  const { bad, at } = await verifyAtoms(fromHead(tenant, 3, String(atoms[3]!.prev_hash)), atoms.slice(3));
  assert.equal(bad, null);
  assert.equal(verifyEnd(at, { seq, head_hash: head }), null);
});

// Each row spoils the ledger of five messages at one place, sealed anew or not.
const lies: [name: string, seq: number, reason: RegExp, spoil: (atoms: Json[]) => void | Promise<void>][] = [
  ['a text was changed afterwards', 3, /cid is not the hash/, (atoms) => void ((atoms[2]!.this as Json).body_hash = 'b:00')],
  ['a member was added', 4, /cid is not the hash/, (atoms) => void (atoms[3]!.extra = null)],
  ['a changed atom was sealed again', 4, /prev_hash is not the head/, (atoms) => reseal(atoms[2]!, { when: 'later' })],
  ['an atom is missing', 5, /prev_hash is not the head/, (atoms) => void atoms.splice(4, 1)],
  ['two atoms changed places', 5, /prev_hash is not the head/, (atoms) => void atoms.splice(4, 2, atoms[5]!, atoms[4]!)],
  ['an atom comes twice', 6, /prev_hash is not the head/, (atoms) => void atoms.splice(5, 0, atoms[4]!)],
  ['an atom of another tenant', 2, /tenant_id/, (atoms) => reseal(atoms[1]!, { tenant_id: 't:other' })],
  ['an unknown kind', 1, /kind is none/, (atoms) => reseal(atoms[0]!, { kind: 'action.v3' })],
  ['a status of no meaning', 1, /status is not one/, (atoms) => reseal(atoms[0]!, { status: 'done' })],
  ['an outcome of no meaning', 2, /outcome is neither/, (atoms) => reseal(atoms[1]!, { outcome: 'fine' })],
  ['an effect of nothing', 2, /not an earlier action/, (atoms) => reseal(atoms[1]!, { ref_action_cid: 'c:00' })],
  ['an effect of what is no text', 2, /not an earlier action/, (atoms) => reseal(atoms[1]!, { ref_action_cid: [atoms[1]!.ref_action_cid] })],
  ['an effect of an effect', 4, /not an earlier action/, (atoms) => reseal(atoms[3]!, { ref_action_cid: atoms[1]!.cid })],
  ['an effect of what has one', 4, /not an earlier action/, (atoms) => reseal(atoms[3]!, { ref_action_cid: atoms[0]!.cid })],
  ['another shard', 2, /shard is not that/, (atoms) => reseal(atoms[1]!, { shard: '1' })],
  ['no shard', 1, /shard is not that/, (atoms) => reseal(atoms[0]!, { shard: undefined })],
  ['what is nested deeper than an export may be', 1, /no canonical form/, (atoms) => void (atoms[0]!.more = nested(999))],
  ['what has no canonical form', 2, /no canonical form/, (atoms) => void (atoms[1]!.n = 2 ** 60)],
];

for (const [name, seq, reason, spoil] of lies) {
  test(`found: ${name}`, async () => {
    const { atoms } = await talk(5);
    await spoil(atoms);
    const { bad, at } = await verifyAtoms(fromGenesis(tenant), atoms);
    assert.equal(bad?.seq, seq);
    assert.match(bad!.reason, reason);
    assert.equal(at.seq, seq - 1);
  });
}

// nested is an object in objects, so many levels deep.
const nested = (levels: number): Json => (levels === 0 ? {} : { a: nested(levels - 1) });

async function reseal(atom: Json, changed: Json) {
  Object.assign(atom, changed);
  for (const name of Object.keys(changed)) if (changed[name] === undefined) delete atom[name];
  atom.cid = await cidOf(atom);
}

test('atoms of version 1 name no shard that counts, and are as deep as an export lets them be', async () => {
  const { atoms } = await talk(1);
  const cid = atoms[0]!.cid;
  await reseal(atoms[0]!, { kind: 'action.v1', shard: '7', more: nested(997) });
  await reseal(atoms[1]!, { kind: 'effect.v1', shard: undefined, prev_hash: await nextHead(String(atoms[0]!.prev_hash), String(atoms[0]!.cid)), ref_action_cid: atoms[0]!.cid });
  assert.notEqual(atoms[0]!.cid, cid);
  assert.equal((await verifyAtoms(fromGenesis(tenant), atoms)).bad, null);
});

test('no more actions wait for their effect than fit', async () => {
  const { atoms } = await talk(1);
  const open = Array.from({ length: 1 << 17 }, (_, i): [string, string] => [`c:${i}`, 'intended']);
  const full = { ...fromGenesis(tenant), open };
  assert.match((await verifyAtoms(full, atoms)).bad!.reason, /more than 131072 actions/);
  assert.equal((await verifyAtoms({ ...full, open: open.slice(1) }, atoms)).bad, null);
});

test('the end: what is missing behind the last atom', async () => {
  const { atoms, seq, head } = await talk(2);
  const { at } = await verifyAtoms(fromGenesis(tenant), atoms);
  assert.match(verifyEnd(at, { seq: seq + 2, head_hash: head })!.reason, /missing/);
  assert.match(verifyEnd(at, { seq, head_hash: 'h:00' })!.reason, /head is not the one/);
  const cut = await verifyAtoms(fromGenesis(tenant), atoms.slice(0, 3));
  assert.match(verifyEnd(cut.at, cut.at)!.reason, /executed action has no effect/);
});

test('property: a ledger that was changed anywhere is found there', () =>
  property(60, async (chance) => {
    const { atoms } = await talk(4);
    const at = chance.below(atoms.length);
    const changed = JSON.parse(JSON.stringify(atoms)) as Json[];
    change(chance, changed[at]!);
    if (JSON.stringify(changed) === JSON.stringify(atoms)) return;
    const { bad } = await verifyAtoms(fromGenesis(tenant), changed);
    assert.equal(bad?.seq, at + 1);
  }));

function change(chance: Chance, value: Json) {
  const name = chance.of(Object.keys(value));
  const inner = value[name];
  if (typeof inner === 'object' && inner !== null && Object.keys(inner).length > 0) change(chance, inner as Json);
  else if (chance.hit(0.3)) delete value[name];
  else value[name] = chance.of(['', 'x', 0, null, true, [], {}]);
}

test('a receipt belongs to its message', async () => {
  const ledger = await talk(2);
  const message = await ledger.say({ room_id: 'r:general', room_seq: 3, sender_id: 'u:bo', text: 'É\u0301 "quoted" 😀\n' });
  const { ok, checks } = await verifyReceipt(message, ledger.atoms.slice(4));
  assert.ok(ok);
  assert.deepEqual(checks.map((c) => c.what), ['text', 'action', 'head', 'message', 'effect']);
});

test('a receipt of something else is found out, and where', async () => {
  const ledger = await talk(1);
  const message = await ledger.say({ room_id: 'r:general', room_seq: 2, sender_id: 'u:bo', text: 'yes' });
  const pair = ledger.atoms.slice(2);
  const receipt = message.receipt;
  const wrong: [what: string, failing: string[], message: typeof message, atoms: Json[]][] = [
    ['another text', ['text'], { ...message, body: { text: 'no' } }, pair],
    ['a text that was never hashed', ['text'], { ...message, body: { text: '\ud800' } }, pair],
    ['another sender', ['message'], { ...message, sender_id: 'u:ana' }, pair],
    ['another time', ['message'], { ...message, sent_at: '2026-01-01T00:00:00.000Z' }, pair],
    ['another place', ['message', 'effect'], { ...message, room_seq: 7 }, pair],
    ['another head', ['head', 'effect'], { ...message, receipt: { ...receipt, head_hash: 'h:00' } }, pair],
    ['another act', ['text', 'action', 'head', 'message', 'effect'], message, ledger.atoms.slice(0, 2)],
    ['a changed action', ['text', 'action', 'head'], message, [{ ...pair[0]!, this: { ...(pair[0]!.this as Json), body_hash: 'b:00' } }, pair[1]!]],
    ['no effect', ['effect'], message, pair.slice(0, 1)],
    ['nothing', ['text', 'action', 'head', 'message', 'effect'], message, []],
  ];
  for (const [what, failing, m, atoms] of wrong) {
    const { ok, checks } = await verifyReceipt(m, atoms);
    assert.equal(ok, false, what);
    assert.deepEqual(checks.filter((c) => !c.ok).map((c) => c.what), failing, what);
  }
  assert.equal(await nextHead(String(pair[0]!.prev_hash), receipt.cid), receipt.head_hash);
});
