// What one is told of the length of a document while one writes it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leftOf } from '../src/screens/documents/left';

test('how much is left is told near the limit alone', () => {
  const rows: [length: number, left: number | null][] = [[0, null], [900_000, null], [900_001, 99_999], [1_000_000, 0]];
  for (const [length, left] of rows) assert.equal(leftOf('x'.repeat(length)), left, `${length}`);
});
