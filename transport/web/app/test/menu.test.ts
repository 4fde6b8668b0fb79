// What "More" leads to is there.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

// all are the texts behind a name in a file of the app.
const all = (file: string, name: string) => [...readFileSync(file, 'utf8').matchAll(new RegExp(`${name}: '([^']*)'`, 'g'))].map((m) => m[1]!);

test('every entry of "More" is a screen', () => {
  const patterns = all('src/routes.tsx', 'pattern');
  const entries = all('src/menu.ts', 'to');
  assert.ok(entries.length > 5);
  assert.deepEqual(entries.filter((to) => !patterns.includes(to)), []);
});
