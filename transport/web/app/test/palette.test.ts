// What the palette finds, and which keys are which.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { best, score } from '../src/screens/palette/fuzzy';
import { Page } from './page';

new Page();
Object.assign(globalThis, { matchMedia: () => ({ matches: false }), history: { pushState: () => undefined } });
Object.assign(location, { pathname: '/ui/', search: '' });
const { commands, pressed } = await import('../src/commands');
const { firstWith } = await import('../src/screens/rooms/roving');
const { inOrder, parts } = await import('../src/order');

const names = ['general', 'Launch plans', 'launch crew', 'Zoë Álvarez', 'planning', 'Harbour master', 'a general plan'];
const found = (word: string) => best(names, word, (name) => name, 3);

test('the best comes first: a beginning, then a word’s beginning, then letters in their order', () => {
  const rows: [word: string, names: string[]][] = [
    ['gen', ['general', 'a general plan']],
    ['plan', ['planning', 'Launch plans', 'a general plan']],
    ['lp', ['Launch plans', 'a general plan']],
    ['hm', ['Harbour master']],
    ['zoe', ['Zoë Álvarez']],
    ['alv', ['Zoë Álvarez']],
    ['LAUNCH C', ['launch crew']],
    ['xyz', []],
  ];
  for (const [word, want] of rows) assert.deepEqual(found(word), want, word);
  assert.equal(score('anything', ''), 1);
});

test('nothing is found whose letters come in another order', () => {
  assert.equal(score('general', 'lg'), 0);
  assert.equal(score('', 'a'), 0);
});

const key = (key: string, with_: Partial<Record<'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey', boolean>> = {}) => ({ key, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, ...with_ });

test('each key means one command', () => {
  const rows: [event: ReturnType<typeof key>, label: string | undefined][] = [
    [key('k', { ctrlKey: true }), 'keys.palette'],
    [key('K', { metaKey: true }), 'keys.palette'],
    [key('k'), undefined],
    [key('F', { ctrlKey: true, shiftKey: true }), 'command.search'],
    [key('f', { ctrlKey: true }), undefined], // which is the browser's own
    [key('?', { shiftKey: true }), 'keys.help'],
    [key('?'), 'keys.help'], // where it needs no Shift
    [key('ArrowUp', { altKey: true }), 'keys.previous'],
    [key('ArrowDown', { altKey: true, shiftKey: true }), 'keys.next.unread'],
    [key('ArrowDown'), undefined],
    [key('Escape'), 'keys.escape'],
  ];
  for (const [event, label] of rows) assert.deepEqual(commands.filter(({ chord }) => chord && pressed(chord, event)).map((c) => c.label as string | undefined), label ? [label] : []);
});

test('letters lead to the next name that begins with them, round the end', () => {
  const all = ['crew', 'general', 'Crane', 'docks'];
  assert.equal(firstWith(all, 'c', 1), 2);
  assert.equal(firstWith(all, 'c', 3), 0);
  assert.equal(firstWith(all, 'cre', 2), 0);
  assert.equal(firstWith(all, 'x', 0), undefined);
});

test('keys go through rooms as the list has them: direct messages, rooms, and none that one isn’t in', () => {
  const room = (room_id: string) => ({ room_id }) as never;
  const [direct, general, other] = [room('r:dm-0123456789abcdef0123456789abcdef01234567'), room('r:general'), room('r:dmitri')];
  assert.deepEqual(parts([general, direct], [other]).map(({ id, rooms }) => [id, rooms.length]), [['direct', 1], ['rooms', 1], ['joinable', 1]]);
  assert.deepEqual(inOrder([general, direct, other]), [direct, general, other]);
  assert.deepEqual(parts([general, direct], [], (id) => id === 'r:general').map(({ id }) => id), ['favourites', 'direct']);
  assert.deepEqual(parts([], []), []);
});

test('archived rooms stand in a part of their own, whatever else they are, and behind all others', () => {
  const room = (room_id: string, status?: 'ended') => ({ room_id, status }) as never;
  const [general, plans, old] = [room('r:general'), room('r:plans'), room('r:old', 'ended')];
  const of = parts([old, general, plans], [room('r:other')], (id) => id !== 'r:general');
  assert.deepEqual(of.map(({ id, rooms }) => [id, rooms]), [['favourites', [plans]], ['rooms', [general]], ['archived', [old]], ['joinable', [room('r:other')]]]);
});
