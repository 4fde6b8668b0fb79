// What keys do to a text that is being written, and whom it names. "|" is the caret, or
// "[" and "]" the ends of what is selected.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { apply, continued, matching, mentioned, prefixed, wanted, wrapped, type Edit } from '../src/screens/room/ComposerText';
import { kindOf } from '../src/screens/room/files/words';

const read = (marked: string): [text: string, start: number, end: number] => {
  const start = marked.search(/[|«]/);
  const text = marked.replace(/[|«]/, '');
  const end = text.indexOf('»');
  return [text.replace('»', ''), start, end < 0 ? start : end];
};

const show = (text: string, edit: Edit | null) => {
  if (!edit) return null;
  const now = apply(text, edit);
  const { start, end } = edit;
  return start === end ? `${now.slice(0, start)}|${now.slice(start)}` : `${now.slice(0, start)}«${now.slice(start, end)}»${now.slice(end)}`;
};

test('marks go around what is selected, and off again', () => {
  const rows: [before: string, mark: string, after: string][] = [
    ['say «this» now', '**', 'say **«this»** now'],
    ['say **«this»** now', '**', 'say «this» now'],
    ['say **«this»** now', '*', 'say ***«this»*** now'],
    ['say *«this»* now', '*', 'say «this» now'],
    ['|', '**', '**|**'],
    ['**|**', '**', '|'],
  ];
  for (const [before, mark, after] of rows) {
    const [text, start, end] = read(before);
    assert.equal(show(text, wrapped(text, start, end, mark)), after, before);
  }
});

test('lines become a list, and no list', () => {
  const rows: [before: string, after: string][] = [
    ['one|', '- one|'],
    ['«one\ntwo»', '«- one\n- two»'],
    ['«- one\n- two»', '«one\ntwo»'],
    ['above\non|e\nbelow', 'above\n- one|\nbelow'],
  ];
  for (const [before, after] of rows) {
    const [text, start, end] = read(before);
    assert.equal(show(text, prefixed(text, start, end, '- ')), after, before);
  }
});

test('a list and a quote go on in the next line', () => {
  const rows: [before: string, after: string | null][] = [
    ['- one|', '- one\n- |'],
    ['9. one|', '9. one\n10. |'],
    ['  * one|', '  * one\n  * |'],
    ['- [x] one|', '- [x] one\n- [ ] |'],
    ['> one|', '> one\n> |'],
    ['- one\n- |', '- one\n|'],
    ['- on|e', '- on\n- |e'],
    ['one|', null],
    ['-one|', null],
  ];
  for (const [before, after] of rows) {
    const [text, start] = read(before);
    assert.equal(show(text, continued(text, start)), after, before);
  }
});

test('names and commands are completed where one may stand', () => {
  const rows: [text: string, want: string | null][] = [
    ['@', 'name:'], ['hi @an', 'name:an'], ['(@Ana B', 'name:Ana B'], ['a@b', null], ['@ ', null], ['@one two three four', null],
    ['/to', 'command:to'], ['/', 'command:'], ['/weather.fore', 'command:weather.fore'], ['/etc/h', null], ['x /to', null], ['/topic now', null], ['//x', null], ['plain', null],
  ];
  for (const [text, want] of rows) {
    const found = wanted(text, text.length);
    assert.equal(found && `${found.kind}:${found.query}`, want, text);
  }
  const all = ['Ana', 'Anabel', 'José Ana', 'Bo'].map((name) => ({ id: name, name, agent: false }));
  assert.deepEqual(matching(all, 'an').map((c) => c.name), ['Ana', 'Anabel', 'José Ana']);
  assert.deepEqual(matching(all, 'jose').map((c) => c.name), ['José Ana']);
});

test('who is mentioned is named in the text by a word of its own', () => {
  const chosen: [string, string][] = [['Ana', 'u:1'], ['Bo B.', 'u:2']];
  const rows: [text: string, ids: string[]][] = [
    ['@Ana, look', ['u:1']], ['@Anabel', []], ['x@Ana', []], ['@Bo B. and @Ana', ['u:1', 'u:2']], ['@room: lunch', ['@room']],
    ['@roommate', []], ['nobody', []], ['@Anabel and @Ana', ['u:1']], ['@مرحبا', []],
  ];
  for (const [text, ids] of rows) assert.deepEqual(mentioned(text, chosen), ids, text);
});

test('a file is called by its ending', () => {
  assert.equal(kindOf('application/zip', 'a.tar.gz'), 'GZ');
  assert.equal(kindOf('application/pdf', 'noending'), 'PDF');
});
