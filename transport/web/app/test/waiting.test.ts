// What waits until somebody has signed in.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitingIn } from '../src/waiting';

const here = 'https://ubl.example';
const search = (next: string) => `?${new URLSearchParams({ next })}`;

test('the page on which people let agents in waits, with all that it was asked with', () => {
  const next = '/oauth/authorize?client_id=a.b&state=%2F%3F&resource=https%3A%2F%2Fubl.example%2Fmcp';
  assert.equal(waitingIn(search(next), here), next);
});

test('nothing else does', () => {
  const rows = [
    '',
    '/ui/',
    '/oauth/authorize',
    '/oauth/consent?form=x',
    '/oauth/authorize/../../api/tokens?x',
    'https://other.example/oauth/authorize?x',
    '//other.example/oauth/authorize?x',
    '\\\\other.example/oauth/authorize?x',
    '/\\other.example/oauth/authorize?x',
    'javascript:alert(1)//oauth/authorize?x',
    ' /oauth/authorize?x',
  ];
  for (const next of rows) assert.equal(waitingIn(search(next), here), null, next);
  assert.equal(waitingIn('', here), null);
});
