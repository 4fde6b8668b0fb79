// The check of one message against the ledger: what a server can't get away with.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../src/chain';
import { aboutChain, checkChain, type Chain } from '../src/screens/room/proof';
import type { Atom, Message } from '../src/types';
import { Ledger } from './ledger';

const page = 500; // the most atoms that the server gives at once

// serve answers what proof.ts asks of a server whose ledger has these atoms.
function serve(ledger: { atoms: Json[]; seq: number; head: string }) {
  const head = { seq: ledger.seq, head_hash: ledger.head };
  globalThis.fetch = async (input) => {
    const url = new URL(String(input), 'http://localhost');
    if (url.pathname === '/api/ledger/head') return Response.json(head);
    const from = Number(url.searchParams.get('from'));
    const atoms = ledger.atoms.slice(from - 1, from - 1 + page);
    const next = from + atoms.length;
    return Response.json({ from, atoms, next_cursor: atoms.length > 0 && next <= ledger.seq ? next : null, head });
  };
}

async function ledgerOf(n: number): Promise<{ ledger: Ledger; messages: Message[] }> {
  const ledger = new Ledger();
  const messages: Message[] = [];
  for (let i = 1; i <= n; i++) messages.push(await ledger.say({ room_id: 'r:general', room_seq: i, sender_id: 'u:ana', text: `message ${i}` }));
  return { ledger, messages };
}

const check = (message: Message, atoms: Json[]): Promise<Chain> =>
  checkChain(message, atoms[message.receipt.seq - 1] as unknown as Atom, new AbortController().signal);

test('a short ledger is followed from its beginning to its newest atom', async () => {
  const { ledger, messages } = await ledgerOf(5);
  serve(ledger);
  const chain = await check(messages[2]!, ledger.atoms);
  assert.deepEqual(chain, { from: 1, to: 10, of: 10, bad: null });
  assert.equal(aboutChain(chain), 'The chain holds from 1 to 10, the newest');
});

test('a long ledger is followed from the message on', async () => {
  const { ledger, messages } = await ledgerOf(1300);
  serve(ledger);
  assert.deepEqual(await check(messages[1200]!, ledger.atoms), { from: 2401, to: 2600, of: 2600, bad: null });
  const old = await check(messages[2]!, ledger.atoms);
  assert.deepEqual(old, { from: 5, to: 2504, of: 2600, bad: null });
  assert.equal(aboutChain(old), 'The chain holds from 5 to 2,504 of 2,600');
});

test('a changed atom breaks the chain where it stands', async () => {
  const { ledger, messages } = await ledgerOf(5);
  serve({ ...ledger, seq: ledger.seq, atoms: ledger.atoms.with(6, { ...ledger.atoms[6]!, when: '2027-01-01T00:00:00.000Z' }) });
  const chain = await check(messages[1]!, ledger.atoms);
  assert.equal(chain.bad?.seq, 7);
  assert.match(aboutChain(chain), /^The chain breaks at 7: /);
});

test('a ledger written anew is whole, but has another act in the place of the message', async () => {
  const { ledger, messages } = await ledgerOf(5);
  const anew = new Ledger();
  for (let i = 1; i <= 5; i++) await anew.say({ room_id: 'r:general', room_seq: i, sender_id: 'u:ana', text: `other ${i}` });
  serve(anew);
  const chain = await check(messages[1]!, ledger.atoms);
  assert.deepEqual(chain.bad, { seq: 3, reason: 'another act stands there in the ledger' });
});

test('a ledger that ends before the message, or short of its head, is missing something', async () => {
  const { ledger, messages } = await ledgerOf(5);
  const cut = new Ledger();
  for (let i = 1; i <= 2; i++) await cut.say({ room_id: 'r:general', room_seq: i, sender_id: 'u:ana', text: `message ${i}` });
  serve(cut);
  assert.deepEqual((await check(messages[4]!, ledger.atoms)).bad, { seq: 9, reason: 'the ledger doesn’t go so far' });
  serve({ atoms: ledger.atoms.slice(0, 8), seq: 8, head: ledger.head });
  assert.deepEqual((await check(messages[1]!, ledger.atoms)).bad, { seq: 8, reason: 'the head is not the one that the server states' });
});
