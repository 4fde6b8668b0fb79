// What a search marks in the text that it found.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { marks } from '../src/screens/documents/marks';

const shown = (text: string, query: string) => marks(text, query).map((p) => (p.hit ? `[${p.text}]` : p.text)).join('');

test('marks', () => {
  const table: [text: string, query: string, want: string][] = [
    ['We launch on Monday.', 'launch', 'We [launch] on Monday.'],
    ['We launch on Monday.', 'LAUNCH monday', 'We [launch] on [Monday].'],
    ['launches launch', 'launch', 'launches [launch]'],
    ['launches launch', 'launch*', '[launches] [launch]'],
    ['the big plan', '"big plan"', 'the [big] [plan]'],
    ['big* is no beginning in quotes: bigger', '"big*"', '[big]* is no beginning in quotes: bigger'],
    ['Café CAFE', 'cafe', '[Café] [CAFE]'],
    ['nothing', '', 'nothing'],
    ['', 'nothing', ''],
    ['<b>bold</b>', 'b', '<[b]>bold</[b]>'],
    ['well-known', 'well-known', '[well]-[known]'],
  ];
  for (const [text, query, want] of table) assert.equal(shown(text, query), want, query);
});
