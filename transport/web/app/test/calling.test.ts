// Tools of other servers, called from where one writes: what is asked for, what was written, and what
// the room is told of it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { destroys, filled, formOf, found, messageOf, plain, read, textOf } from '../src/screens/room/calling';
import type { Tool, ToolResult } from '../src/types';
import { utf8 } from '../src/text';
import { Page } from './page';

new Page();
Object.assign(globalThis, { matchMedia: () => ({ matches: false }), history: { pushState: () => undefined } });
Object.assign(location, { pathname: '/ui/', search: '' });
const { commandIn, unescaped } = await import('../src/screens/room/ComposerCommands');

const tool = (inputSchema: unknown, annotations?: Record<string, unknown>): Tool => ({
  tool: 'weather.forecast', server_id: 'weather', upstream: 'forecast', hash: 'b:0', access: null, definition: { name: 'forecast', inputSchema, ...(annotations && { annotations }) },
});

const form = formOf(
  tool({
    type: 'object',
    required: ['city', 'days'],
    properties: {
      city: { type: 'string' }, days: { type: 'integer', default: 3 }, unit: { enum: ['C', 'F', 7] }, wind: { type: 'boolean' },
      note: { anyOf: [{ type: 'string' }, { type: 'null' }], title: 'A note' }, where: { type: 'object' }, api_key: { type: 'string' },
    },
  }),
);

test('a schema becomes fields', () => {
  assert.deepEqual(
    form.fields.map(({ name, label, kind, required, secret, begins }) => [name, label, kind, required, secret, begins].join(' ')),
    ['city city text true false ', 'days days whole true false 3', 'unit unit choice false false ', 'wind wind choice false false ', 'note A note text false false ', 'where where json false false ', 'api_key api_key text false true '],
  );
  // What can't be a form is one field of JSON: no tool is out of reach.
  for (const schema of [{ type: 'object', required: ['x'] }, { oneOf: [{}] }]) assert.equal(formOf(tool(schema)).free, true, JSON.stringify(schema));
  for (const schema of [undefined, null, 'x', [], { properties: [] }, { properties: { a: null }, required: 'a' }]) assert.equal(formOf(tool(schema)).free, false, JSON.stringify(schema));
  assert.deepEqual(formOf(tool({ properties: { a: null } })).fields[0]!.kind, 'json');
});

test('what is written behind a name fills the form', () => {
  const rows: [written: string, args: unknown][] = [
    ['Lisbon', { city: 'Lisbon', days: 3 }],
    ['city="São Paulo" days=5 wind=true', { city: 'São Paulo', days: 5, wind: true }],
    ['Bonn wind=false', { city: 'Bonn', days: 3, wind: false }],
    ['New York days=2 unit=7', { city: 'New York', days: 2, unit: 7 }],
    ['city=Rome of a=b', { city: 'Rome', days: 3, note: 'of a=b' }],
    ['Oslo where={"lat":1}', { city: 'Oslo', days: 3, where: { lat: 1 } }],
  ];
  for (const [written, args] of rows) assert.deepEqual(read(form, filled(form, written)).args, args, written);
  const free = formOf(tool({ required: ['x'] }));
  assert.deepEqual(read(free, filled(free, ' {"x":1} ')).args, { x: 1 });
  const odd = formOf(tool(JSON.parse('{"properties":{"__proto__":{"type":"string"}}}')));
  assert.equal(JSON.stringify(read(odd, filled(odd, '__proto__=x')).args), '{"__proto__":"x"}');
});

// A switch has two states; a flag that may be missing has three.
test('a flag that must be there, or begins as something, is a switch', () => {
  const flags = formOf(tool({ required: ['sure'], properties: { sure: { type: 'boolean' }, loud: { type: 'boolean', default: true }, far: { type: ['boolean', 'null'] } } }));
  assert.deepEqual(flags.fields.map((f) => f.kind), ['yes', 'yes', 'choice']);
  const rows: [written: string, args: unknown][] = [
    ['', { sure: false, loud: true }],
    ['sure=true loud=false far=false', { sure: true, loud: false, far: false }],
    ['far=true', { sure: false, loud: true, far: true }],
  ];
  for (const [written, args] of rows) assert.deepEqual(read(flags, filled(flags, written)).args, args, written);
});

test('what the tool wouldn’t take is said at its field, and nothing is called', () => {
  const rows: [written: string, wrong: string][] = [
    ['', 'city missing'],
    ['Rome days=x', 'days number'],
    ['Rome days=1.5', 'days number'],
    ['Rome where={', 'where json'],
    ['Rome unit=K', 'unit choice'],
    ['Rome wind=maybe', 'wind choice'],
  ];
  for (const [written, wrong] of rows) {
    const got = read(form, filled(form, written));
    assert.equal(got.args, undefined, written);
    assert.deepEqual([...got.wrong].map((pair) => pair.join(' ')), [wrong], written);
  }
  const free = formOf(tool({ required: ['x'] }));
  for (const written of ['[1]', '1', '{']) assert.deepEqual([...read(free, filled(free, written)).wrong], [['', 'json']], written);
});

test('a tool may destroy something unless it says otherwise', () => {
  const rows: [annotations: Record<string, unknown> | undefined, destroys: boolean][] = [
    [undefined, true], [{}, true], [{ readOnlyHint: true }, false], [{ destructiveHint: false }, false], [{ destructiveHint: true }, true], [{ readOnlyHint: 'yes' }, true],
  ];
  for (const [annotations, is] of rows) assert.equal(destroys(tool({}, annotations)), is, JSON.stringify(annotations));
});

test('tools are found by the parts of their names', () => {
  const all = ['acme.create_ticket', 'tickets.list', 'weather.forecast'].map((name) => ({ tool: { ...tool({}), tool: name } }));
  const names = (query: string) => found(all, query).map((one) => one.tool.tool);
  assert.deepEqual(names('tick'), ['tickets.list', 'acme.create_ticket']);
  assert.deepEqual(names('Weather.f'), ['weather.forecast']);
  assert.deepEqual(names('ast'), []);
  assert.equal(names('').length, 3);
});

const result = (content: ToolResult['content'], structured_content?: unknown) => ({ content, structured_content, is_error: false }) as ToolResult;

test('the room is told what was asked and answered, in a block that nothing leaves, within its limit', () => {
  assert.deepEqual(textOf(result([{ type: 'text', text: 'rain' }, { type: 'image' }], { n: 1 })), { text: 'rain', others: 1 });
  assert.deepEqual(textOf(result([], { n: 1 })), { text: '{\n  "n": 1\n}', others: 0 });
  assert.deepEqual(textOf(result(null)), { text: '', others: 0 });
  const told = (answer: string, args: Record<string, unknown> = { city: 'Rome' }, limit = 8000) => messageOf({ head: '**W: forecast**', args, form, answer, receipt: '[R](x)' }, limit);
  assert.equal(told('rain'), '**W: forecast** · ` city=Rome ` · [R](x)\n\n```\nrain\n```');
  assert.equal(told('', {}), '**W: forecast** · [R](x)');
  assert.match(told('```\n[click](https://evil.example)'), /\n````\n```\n.*\n````$/s);
  assert.doesNotMatch(told('x', { api_key: 'hunter22' }), /hunter22/);
  // However many backticks an answer has, and in how many rows, the message stays whole and within its limit.
  for (const answer of ['`'.repeat(5000), '` '.repeat(400_000)]) {
    const message = told(answer, {}, 1000);
    assert.ok(utf8(message) <= 1000 && message.startsWith('**W: forecast** · [R](x)'), message.slice(0, 100));
  }
  const inside = messageOf({ head: 'h', args: { config: { password: 'hunter22' } }, form, answer: '', receipt: 'r' }, 8000);
  assert.equal(inside, 'h · ` config=… ` · r');
  for (const limit of [300, 301, 302, 303]) assert.ok(utf8(told('日本'.repeat(500), { city: 'Rome' }, limit)) <= limit);
  assert.equal(plain('x'.repeat(500)).length, 100);
  assert.equal(plain('a*b\u202e\nc [d](e): f'), 'a\\*b c \\[d\\](e)\\: f');
});

test('a command is told from a message', () => {
  const rows: [text: string, name: string | undefined][] = [
    ['/poll Where?', 'poll'], ['/weather.forecast city=Rome', 'weather.forecast'], ['/nothing', 'nothing'], ['/مساعدة', 'مساعدة'], ['/Poll', 'Poll'],
    ['//poll', undefined], ['/etc/hosts', undefined], ['/', undefined], ['/ x', undefined], ['and/or', undefined], [' /poll', undefined],
  ];
  for (const [text, name] of rows) assert.equal(commandIn(text)?.name, name, text);
  assert.equal(unescaped('//poll'), '/poll');
});
