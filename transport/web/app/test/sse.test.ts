import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Parser, type Frame } from '../src/store/sse';
import { property } from './chance';

test('frames as the server writes them', () => {
  const text = 'retry: 2000\n\nid: l0-8\n\n:keepalive\n\nid: l0-9\nevent: message.created\ndata: {"a":1}\n\n';
  assert.deepEqual(new Parser().push(text), [{ retry: 2000 }, { id: 'l0-8' }, { id: 'l0-9', event: 'message.created', data: '{"a":1}' }]);
});

test('frames as others may write them', () => {
  const text = 'data\ndata: b\ndata:c\r\n\r\nid:1\rfoo: bar\r\rdata:  x\n\nretry: soon\n\n';
  assert.deepEqual(new Parser().push(text), [{ data: '\nb\nc' }, { id: '1' }, { data: ' x' }]);
});

test('a frame that isn’t ended is not given out', () => {
  assert.deepEqual(new Parser().push('data: {"a"'), []);
});

test('property: it does not matter where the text is cut', () =>
  property(300, (chance) => {
    const lines = ['data: {"text":"a: b"}', 'data: é😀', 'id: l0-4', 'event: x', ': note', '', '', 'retry: 10', 'unknown: 1'];
    const text = Array.from({ length: 30 }, () => chance.of(lines) + chance.of(['\n', '\r\n', '\r'])).join('');
    const whole = new Parser().push(`${text}\n\n`);
    const parser = new Parser();
    const parts: Frame[] = [];
    for (let rest = `${text}\n\n`; rest !== ''; ) {
      const n = 1 + chance.below(7);
      parts.push(...parser.push(rest.slice(0, n)));
      rest = rest.slice(n);
    }
    assert.deepEqual(parts, whole);
  }));
