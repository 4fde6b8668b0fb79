// Times as people read them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clock, end } from '../src/time';

const at = (day: number, hour: number) => new Date(2026, 2, day, hour, 41).toISOString();

test('an end is said as near as it is', () => {
  const now = new Date(2026, 2, 30, 9, 0);
  assert.equal(end(at(30, 21), now), clock(at(30, 21)));
  assert.equal(end(at(31, 4), now), `tomorrow, ${clock(at(31, 4))}`);
  assert.match(end(at(32, 4), now), /Apr 1, 2026/);
  assert.match(end(at(29, 4), now), /Mar 29, 2026/);
});

test('an hour has no zero before it where people write none', () => {
  assert.match(clock(at(1, 4)), /^4:41\sAM$/);
});
