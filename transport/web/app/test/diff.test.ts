// The way from one text to another: joined, its parts give both texts back, and it
// is as short as can be.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { diff, lines, words, type Change } from '../src/diff';

const side = (changes: Change[], not: Change['kind']) => changes.filter((c) => c.kind !== not).flatMap((c) => c.parts);
const cost = (changes: Change[]) => changes.filter((c) => c.kind !== 'same').reduce((n, c) => n + c.parts.length, 0);

// shortest is the least number of differences, by the table that everybody knows.
function shortest(a: readonly string[], b: readonly string[]): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) next.push(a[i - 1] === b[j - 1] ? row[j - 1]! : 1 + Math.min(row[j]!, next[j - 1]!));
    row = next;
  }
  return row[b.length]!;
}

test('known ways', () => {
  const table: [string, string, string][] = [
    ['', '', ''],
    ['a', 'a', '=a'],
    ['', 'ab', '+ab'],
    ['ab', '', '-ab'],
    ['abc', 'abxc', '=ab +x =c'],
    ['abc', 'ac', '=a -b =c'],
    ['abc', 'axc', '=a -b +x =c'],
    ['abcd', 'xy', '-abcd +xy'],
  ];
  const sign = { same: '=', old: '-', new: '+' };
  for (const [a, b, want] of table) {
    const got = diff([...a], [...b]).map((c) => sign[c.kind] + c.parts.join('')).join(' ');
    assert.equal(got, want, `${a} → ${b}`);
  }
});

test('every way gives both texts back and is shortest', () => {
  let seed = 7;
  const below = (n: number) => (seed = (seed * 48271) % 2147483647) % n;
  for (let round = 0; round < 500; round++) {
    const text = () => Array.from({ length: below(14) }, () => 'abc'[below(3)]!);
    const [a, b] = [text(), text()];
    const changes = diff(a, b);
    assert.deepEqual(side(changes, 'new'), a);
    assert.deepEqual(side(changes, 'old'), b);
    assert.equal(cost(changes), shortest(a, b), `${a.join('')} → ${b.join('')}`);
  }
});

test('texts with little in common stand one after the other, quickly', () => {
  const text = (letter: string) => Array.from({ length: 20_000 }, (_, i) => letter + i);
  const changes = diff(text('a'), text('b'));
  assert.deepEqual(changes.map((c) => [c.kind, c.parts.length]), [['old', 20_000], ['new', 20_000]]);
});

test('lines and words', () => {
  assert.deepEqual(lines(''), []);
  assert.deepEqual(lines('a\r\nb\n'), ['a', 'b', '']);
  assert.deepEqual(words('Naïve, über-café!'), ['Naïve', ',', ' ', 'über', '-', 'café', '!']);
  assert.equal(words('x = "ünï" — 語').join(''), 'x = "ünï" — 語');
});
