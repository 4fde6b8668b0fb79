// The terms of an Agreement, as the form of a proposal has them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { actsFor, atMostsOf, limitsOf, maysOf, permitsOf, problemOf, whomFor } from '../src/screens/agreement/choices';
import { acts } from '../src/screens/agreement/said';
import type { Agreement, Terms } from '../src/types';

const terms: Terms = {
  form: 'terms.v1',
  permits: [{ did: '*', to: ['owners'] }, { did: 'messenger.*', to: ['entries', 'group:staff'] }],
  limits: [{ did: 'messenger.send', per_minute: 60, together: true, bytes: 1536 }],
  accept: 'proposer',
};

test('what is not changed stays as it is', () => {
  assert.deepEqual(permitsOf(maysOf(terms.permits)), terms.permits);
  assert.deepEqual(limitsOf(atMostsOf(terms.limits)), terms.limits);
  assert.equal(limitsOf(atMostsOf(undefined)), undefined);
});

test('lines about one act become one permit, each once', () => {
  const lines = [...maysOf(terms.permits), { did: '*', to: 'u:bob' }, { did: 'messenger.*', to: 'entries' }];
  assert.deepEqual(permitsOf(lines), [{ did: '*', to: ['owners', 'u:bob'] }, { did: 'messenger.*', to: ['entries', 'group:staff'] }]);
});

test('a limit is of each or of all together, often or large', () => {
  const of = (often: string, together: boolean, kib: string) => limitsOf([{ did: '*', often, together, kib }]);
  assert.deepEqual(of('5', false, ''), [{ did: '*', per_minute: 5 }]);
  assert.deepEqual(of('', true, '0.5'), [{ did: '*', bytes: 512 }]);
});

test('what has to be mended is said', () => {
  const mays = maysOf(terms.permits);
  const problem = (often: string, kib: string) => problemOf(mays, [{ did: '*', often, together: false, kib }]);
  assert.equal(problem('60', ''), null);
  assert.match(problem('', '') ?? '', /how often or how large/);
  for (const often of ['0', '-1', '1.5', 'x', '100001']) assert.match(problem(often, '') ?? '', /Times a minute/);
  for (const kib of ['0', 'x', '1048577']) assert.match(problem('', kib) ?? '', /KiB/);
  assert.match(problemOf(maysOf([{ did: 'messenger.*', to: ['owners'] }, { did: '*', to: ['u:bob'] }]), []) ?? '', /nobody ever can again/);
  assert.equal(problemOf(maysOf([{ did: 'agreement.*', to: ['entries'] }]), []), null);
});

test('one chooses from words, and keeps what the terms have already', () => {
  for (const type of ['room_governance', 'tenant_license', 'workspace_agreement']) {
    const dids = actsFor({ type, terms: { ...terms, permits: [{ did: 'room.trim', to: ['u:gone'] }] } });
    assert.ok(dids.includes('room.trim') && dids.includes('messenger.send'));
    const wordless = dids.filter((did) => did !== 'room.trim' && acts(did) === did);
    assert.deepEqual(wordless, [], type);
  }
  const people = (permeability: string) =>
    whomFor({ physics: { permeability }, terms, members: [{ user_id: 'u:ana' }] } as unknown as Agreement);
  assert.deepEqual(people('gated'), ['owners', 'entries', 'tenant', 'group:staff', 'u:ana']);
  assert.ok(people('public').includes('anyone'));
});
