// What a search's screen asks for, and what it finds without a network.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { matches, wordsOf } from '../src/screens/search/kept';
import { addressOf, askedOf, isEmpty, partsOf, read, type Wanted } from '../src/screens/search/query';
import { monday, mondayIsTomorrow, tomorrow } from '../src/screens/settings/times';
import type { Message } from '../src/types';

const none: Wanted = { words: '', from: '', in: '', has: '', after: '', before: '', sort: 'relevance' };

test('what is looked for is in the address, and comes back from it; what can’t be meant is left out', () => {
  const wanted: Wanted = { words: 'high water', from: 'u:bo', in: 'r:general', has: 'file', after: '2026-01-01', before: '', sort: 'newest' };
  const address = addressOf(wanted);
  assert.deepEqual(read(new URLSearchParams(address.slice(address.indexOf('?')))), wanted);
  assert.deepEqual(read(new URLSearchParams('has=all&after=today&sort=up')), none);
  assert.equal(addressOf(none), '/ui/search');
  assert.ok(isEmpty({ ...none, words: '  ', sort: 'oldest' }) && !isEmpty({ ...none, has: 'link' }));
});

test('the server is asked for days and kinds as words of the query, for people and rooms by id', () => {
  const q = new URLSearchParams(askedOf({ ...none, words: ' tide ', from: 'u:bo', has: 'link', before: '2026-02-01' }, 'next').split('?')[1]);
  assert.deepEqual([...q], [['query', 'tide has:link before:2026-02-01'], ['from', 'u:bo'], ['sort', 'relevance'], ['cursor', 'next']]);
});

test('highlights count characters, overlap and reach beyond the end', () => {
  const rows: [snippet: string, at: [number, number][], parts: string][] = [
    ['the tide', [[4, 8]], 'the [tide]'],
    ['🌊 tide', [[2, 6]], '🌊 [tide]'],
    ['tide tide', [[5, 9], [0, 4]], '[tide] [tide]'],
    ['tide', [[0, 3], [2, 9]], '[tid][e]'],
    ['tide', [], 'tide'],
  ];
  for (const [snippet, at, want] of rows) {
    assert.equal(partsOf(snippet, at.map(([start, end]) => ({ start, end }))).map((p) => (p.hit ? `[${p.text}]` : p.text)).join(''), want);
  }
});

test('without a network all words must be there, and who and when as well', () => {
  const m = { type: 'text', sender_id: 'u:bo', sent_at: '2026-01-31T12:00:00.000Z', body: { text: '🌊 High WATER at six' } } as Message;
  const rows: [wanted: Partial<Wanted>, found: boolean][] = [
    [{ words: 'water high' }, true],
    [{ words: 'water low' }, false],
    [{ words: 'water', from: 'u:bo' }, true],
    [{ words: 'water', from: 'u:ana' }, false],
    [{ after: '2026-01-30', before: '2026-02-01' }, true],
    [{ after: '2026-01-31' }, false],
    [{ before: '2026-01-31' }, false],
  ];
  for (const [change, found] of rows) {
    const wanted = { ...none, ...change };
    assert.equal(matches(m, wanted, wordsOf(wanted.words)) !== null, found, JSON.stringify(change));
  }
  assert.deepEqual(matches(m, none, ['water']), [{ start: 7, end: 12 }]);
  assert.equal(matches({ ...m, type: 'system' }, none, []), null);
});

test('tomorrow and Monday are mornings to come', () => {
  const saturday = new Date(2026, 0, 31, 22, 0);
  assert.deepEqual([tomorrow(saturday), monday(saturday)], [new Date(2026, 1, 1, 9), new Date(2026, 1, 2, 9)]);
  assert.deepEqual(monday(new Date(2026, 1, 2, 8)), new Date(2026, 1, 9, 9));
  assert.deepEqual([1, 2, 8].map((day) => mondayIsTomorrow(new Date(2026, 1, day, 23))), [true, false, true]);
});
