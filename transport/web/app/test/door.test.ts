// Links that somebody pastes to come in.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { doorOf } from '../src/door';

const here = 'https://ubl.example';

test('a sign-in link and an invitation of this server lead in', () => {
  const rows: [pasted: string, path: string][] = [
    ['https://ubl.example/signin/0a1b', '/signin/0a1b'],
    ['  https://ubl.example/invite/t:harbour.0a1b\n', '/invite/t:harbour.0a1b'],
    ['HTTPS://UBL.EXAMPLE/signin/0a1b', '/signin/0a1b'],
    ['ubl.example/signin/0a1b', '/signin/0a1b'],
    ['/invite/t:harbour.0a1b', '/invite/t:harbour.0a1b'],
    ['https://ubl.example/signin/0a1b?utm=mail#top', '/signin/0a1b'],
  ];
  for (const [pasted, path] of rows) assert.equal(doorOf(pasted, here), path);
  // A server that doesn't know its address prints localhost, whatever the browser calls it.
  for (const host of ['http://localhost:8080', 'http://127.0.0.1:18080', 'https://[::1]']) assert.equal(doorOf(`${host}/signin/0a1b`, 'http://192.168.1.5:8080'), '/signin/0a1b');
  assert.equal(doorOf('localhost:8080/signin/0a1b', 'http://localhost:8080'), '/signin/0a1b');
});

test('nothing else leads anywhere, and is told why', () => {
  const rows: [pasted: string, problem: RegExp][] = [
    ['', /isn’t a link/],
    ['hello there', /isn’t a link/],
    ['javascript:alert(1)', /isn’t a link/],
    ['https://other.example/signin/0a1b', /another address/],
    ['http://ubl.example/signin/0a1b', /another address/],
    ['//other.example/signin/0a1b', /another address/],
    ['https://ubl.example@other.example/signin/0a1b', /another address/],
    ['https://localhost.other.example/signin/0a1b', /another address/],
    ['https://127.0.0.1.other.example/signin/0a1b', /another address/],
    ['javascript://localhost/signin/0a1b', /another address/],
    ['http://localhost/api/tokens', /neither/],
    ['javascript://ubl.example/signin/0a1b', /another address/],
    ['https://ubl.example/', /neither/],
    ['https://ubl.example/signin/', /neither/],
    ['https://ubl.example/signin/../api/tokens', /neither/],
    ['https://ubl.example/auth/signout', /neither/],
    ['garbage', /neither/],
    ['https://elsewhere.example/about', /neither/],
  ];
  for (const [pasted, problem] of rows) assert.throws(() => doorOf(pasted, here), problem);
});
