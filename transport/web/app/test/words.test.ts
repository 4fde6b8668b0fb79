// What the ledger's screen says of an act.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dids, inWords, saidOf } from '../src/screens/ledger/words';

const by = { user_id: 'u:ana' };

test('words come from what an act changed, where its record tells', () => {
  const rows: [did: string, what: Record<string, unknown>, words: string][] = [
    ['tenant.member.update', { name: 'Ana', role: 'owner', user_id: 'u:ana' }, 'changed their name'],
    ['tenant.member.update', { name: '', role: 'member', user_id: 'u:bo' }, 'set a member’s name'],
    ['tenant.member.update', { role: 'owner', user_id: 'u:bo' }, 'set a member’s role'],
    ['tenant.member.update', { role: 'member', user_id: 'u:ana' }, 'changed their role'],
    ['portal.server.connect', { connected: true }, 'signed in to a server'],
    ['portal.server.connect', { connected: false }, 'signed out of a server'],
    ['messenger.send', {}, 'sent a message'],
    ['acme.new', {}, 'acme.new'],
  ];
  for (const [did, what, words] of rows) assert.equal(saidOf({ did, this: what, who: by }), words);
});

test('every act has words of its own', () => {
  const all = dids.map(inWords);
  assert.equal(new Set(all).size, all.length);
});
