// Where the rows of a long list stand, and which of them are rendered.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Heights } from '../src/ui/heights';

// rows are numbered, and the first two are higher than thought.
function list(from: number, to: number): Heights {
  const h = new Heights(10);
  h.lay(keys(from, to));
  h.measure([
    ['1', 30],
    ['2', 50],
  ]);
  return h;
}

const keys = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => String(from + i));

test('rows stand below each other, and those between two heights are found', () => {
  const h = list(1, 11);
  assert.equal(h.total, 30 + 50 + 8 * 10);
  for (const [top, bottom, want] of [
    [0, 0, [0, 1]],
    [29, 30, [0, 2]],
    [30, 79, [1, 2]],
    [85, 95, [2, 4]],
    [-50, 1000, [0, 10]],
    [1000, 2000, [9, 10]],
  ] as const) {
    assert.deepEqual(h.between(top, bottom), want, `from ${top} to ${bottom}`);
  }
  assert.deepEqual(new Heights(10).between(0, 100), [0, 0]);
});

test('a range goes with its rows when others come and go before them', () => {
  const drawn = keys(3, 6); // rows 2 to 5 of ten
  for (const [what, from, to, want] of [
    ['nothing happened', 1, 11, [2, 5]],
    ['rows came before', -4, 11, [7, 10]],
    ['rows went before', 2, 11, [1, 4]],
    ['some of them went', 5, 11, [0, 1]],
    ['rows came behind', 1, 31, [2, 5]],
    ['all are others', 40, 60, [0, 0]],
    ['none is left', 0, 0, [0, 0]],
  ] as const) {
    assert.deepEqual(list(from, to).moved([2, 5], 2, drawn), want, what);
  }
  assert.deepEqual(list(-4, 11).moved([0, 8], 2, drawn), [5, 13], 'another range is to be rendered than was');
});
