// How messages follow one another: days, groups and the line above what is new.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Item } from '../src/store/rows';
import { placeOf } from '../src/screens/room/group';
import type { ImportedFrom, Message } from '../src/types';

// at is local time, as day separators are.
const at = (day: number, hour: number, minute = 0) => new Date(2026, 0, day, hour, minute).toISOString();

let seq = 0;
function said(sender_id: string, sent_at: string, type: Message['type'] = 'text'): Item {
  const message = { msg_id: `m:${++seq}`, room_seq: seq, sender_id, sent_at, type } as Message;
  return { key: message.msg_id, message, outgoing: null };
}

// shape draws rows: "|" a day, "(" the first and ")" the last of a group.
const shape = (items: Item[], divider = 0) =>
  items
    .map((_, i) => placeOf(items, i, divider))
    .map((p) => (p.day ? '|' : '') + (p.first ? '(' : '') + 'm' + (p.last ? ')' : ''))
    .join(' ');

test('messages of one person within five minutes are a group', () => {
  const rows = [said('u:ana', at(1, 9)), said('u:ana', at(1, 9, 4)), said('u:bo', at(1, 9, 5)), said('u:bo', at(1, 9, 10)), said('u:ana', at(1, 9, 11))];
  assert.equal(shape(rows), '|(m m) (m) (m) (m)');
});

test('what was imported is a group where all that its heading says of it is the same', () => {
  const was = (of: Partial<ImportedFrom> = {}) => {
    const row = said('u:zoe', at(1, 9));
    row.message!.imported_from = { tenant_id: 't:x', seq: 1, cid: 'c:', author_id: 'u:ana', author_name: 'Ana', at: at(1, 8), ...of };
    return row;
  };
  assert.equal(shape([was(), was({ seq: 3, at: at(1, 8, 4) }), said('u:zoe', at(1, 9))]), '|(m m) (m)');
  for (const other of [{ author_id: 'u:bo' }, { author_name: 'Anna' }, { tenant_id: 't:y' }, { at: at(1, 8, 5) }, { at: at(1, 7) }, { at: new Date(2025, 0, 1, 8).toISOString() }]) {
    assert.equal(shape([was(), was(other)]), '|(m) (m)', JSON.stringify(other));
  }
});

test('a new day begins a group, however close the messages are', () => {
  assert.equal(shape([said('u:ana', at(1, 23, 59)), said('u:ana', at(2, 0, 1))]), '|(m) |(m)');
});

test('what the platform writes is in no group', () => {
  assert.equal(shape([said('u:ana', at(1, 9)), said('u:ana', at(1, 9), 'system'), said('u:ana', at(1, 9))]), '|(m) (m) (m)');
});

test('the message that began a thread is in no group with the answers to it', () => {
  const [root, answer, next] = [said('u:ana', at(1, 9)), said('u:ana', at(1, 9)), said('u:ana', at(1, 9))];
  answer.message!.thread = next.message!.thread = root.message!.msg_id;
  assert.equal(shape([root, answer, next]), '|(m) (m m)');
});

test('the line above what is new parts a group', () => {
  const rows = [said('u:ana', at(1, 9)), said('u:ana', at(1, 9)), said('u:ana', at(1, 9))];
  assert.equal(shape(rows), '|(m m m)');
  assert.equal(shape(rows, rows[1]!.message!.room_seq), '|(m) (m m)');
});
