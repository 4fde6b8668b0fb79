// Requests that the server does only once the person has confirmed that it is them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError, onConfirmation, post } from '../src/api';
import { confirmationOf } from '../src/door';

const asked: { url: string; key: string | null; body: string }[] = [];
let fresh = false;

globalThis.fetch = (async (url: string, o: RequestInit) => {
  asked.push({ url, key: new Headers(o.headers).get('Idempotency-Key'), body: String(o.body) });
  const error = { error: { code: 'confirmation_required', message: 'confirm that it is you' } };
  return fresh ? Response.json({ done: true }) : Response.json(error, { status: 403 });
}) as typeof fetch;

const invite = () => post<{ done: boolean }>('/api/invitations', { email: 'eve@else.org' }, { key: 'k1' });

test('what was refused is sent again unchanged once the person has confirmed', async () => {
  onConfirmation(async () => (fresh = true));
  assert.equal((await invite()).done, true);
  assert.equal(asked.length, 2);
  assert.deepEqual(asked[0], asked[1]);
});

test('who doesn’t confirm is told what the server said, and nothing is sent again', async () => {
  asked.length = 0;
  fresh = false;
  onConfirmation(async () => false);
  await assert.rejects(invite, (problem: ApiError) => problem.code === 'confirmation_required' && problem.status === 403);
  assert.equal(asked.length, 1);
});

test('a confirmation that doesn’t count is asked for once', async () => {
  asked.length = 0;
  let times = 0;
  onConfirmation(async () => ++times > 0);
  await assert.rejects(invite, ApiError);
  assert.equal(times, 1);
  assert.equal(asked.length, 2);
});

test('only a link that the server has printed confirms', () => {
  const here = 'https://ubl.example';
  assert.equal(confirmationOf(' ubl.example/auth/confirm/link/0a1b\n', here), '/auth/confirm/link/0a1b');
  for (const other of ['https://evil.example/auth/confirm/link/0a1b', '/signin/0a1b', '/auth/confirm/link/../../x', 'link', '']) {
    assert.throws(() => confirmationOf(other, here), Error, other);
  }
});
