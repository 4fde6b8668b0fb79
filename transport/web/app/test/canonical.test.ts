// Canonical JSON and hashes are the Go side's, case by case: canonical_test.go has the
// same tables. server.test.ts compares the two over a real ledger.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canonical, cidOf, committed, genesis, nextHead } from '../src/chain';
import { Chance, property } from './chance';

test('the vectors of the design', async () => {
  assert.equal(await committed({ text: 'hello' }), 'b:cbbbdcd27692344de5dbab3abcaba413fb0f45307267de7081401576df1cb176');
  assert.equal(await committed({ text: 'hello', mentions: ['@room', 'u:bob'] }), 'b:aa3222026d27a2794c567cd27758076bb7e80ffc07c617ebfb6ae430cd6dc39e');
  const cid = await cidOf({ a: 1 });
  assert.equal(cid, 'c:015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862');
  assert.equal(await cidOf({ cid, a: 1 }), cid);
  assert.equal(await nextHead(genesis, cid), 'h:50e4b87d2858b825114eb6c1b4fe63ade2f1419dd5ceb2285ffa43dbfd13b171');
});

const forms: [name: string, json: string, want: string][] = [
  [
    'the sample of RFC 8785, 3.2.2',
    String.raw`{"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/", "literals": [null, true, false]}`,
    String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
  ],
  [
    'keys sort by UTF-16 units, RFC 8785, 3.2.3',
    String.raw`{"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"\ud83d\ude00":5,"\u0080":6,"\u00f6":7}`,
    '{"\\r":2,"1":4,"\u0080":6,"ö":7,"€":1,"😀":5,"\ufb33":3}',
  ],
  ['keys that are indexes sort as strings', '{"10":1,"9":2,"a":3}', '{"10":1,"9":2,"a":3}'],
  ['a key that objects have by themselves', '{"__proto__":{"b":1},"a":2}', '{"__proto__":{"b":1},"a":2}'],
  ['what needs no escape has none', String.raw`"\u2028\u2029\u007f<>&\/"`, '"\u2028\u2029\u007f<>&/"'],
  ['short escapes', String.raw`"\u0008\u0009\u000a\u000c\u000d\u0000\u001f"`, String.raw`"\b\t\n\f\r\u0000\u001f"`],
  ['no normalisation: e + combining acute stays two', String.raw`"e\u0301"`, '"e\u0301"'],
  ['minus zero', '-0', '0'],
  ['the largest safe integers', '[9007199254740991,-9007199254740991]', '[9007199254740991,-9007199254740991]'],
  ['a fraction that is an integer', '[1.0,1e2,-5.00]', '[1,100,-5]'],
  ['empty', '[{},[],""]', '[{},[],""]'],
  ['digits in a string are no number', '"90071992547409920000"', '"90071992547409920000"'],
];

test('canonical forms', () => {
  for (const [name, json, want] of forms) assert.equal(canonical(JSON.parse(json)), want, name);
});

test('the IEEE-754 samples of RFC 8785, appendix B', () => {
  const samples: [bits: string, want: string][] = [
    ['0000000000000000', '0'],
    ['8000000000000000', '0'],
    ['0000000000000001', '5e-324'],
    ['8000000000000001', '-5e-324'],
    ['7fefffffffffffff', '1.7976931348623157e+308'],
    ['ffefffffffffffff', '-1.7976931348623157e+308'],
    ['44b52d02c7e14af5', '9.999999999999997e+22'],
    ['44b52d02c7e14af6', '1e+23'],
    ['44b52d02c7e14af7', '1.0000000000000001e+23'],
    ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
    ['3eb0c6f7a0b5ed8d', '0.000001'],
    ['41b3de4355555553', '333333333.3333332'],
    ['41b3de4355555557', '333333333.33333343'],
    ['becbf647612f3696', '-0.0000033333333333333333'],
  ];
  for (const [bits, want] of samples) {
    const n = Buffer.from(bits, 'hex').readDoubleBE();
    assert.equal(canonical(n), want, bits);
  }
});

test('what has no canonical form is refused', () => {
  const refused: [name: string, value: unknown][] = [
    ['an integer beyond 2^53-1', JSON.parse('9007199254740992')],
    ['an integer below -(2^53-1)', JSON.parse('{"a":[-9007199254740993]}')],
    ['an integer in exponent form', JSON.parse('1e20')],
    ['a fraction that rounds above', JSON.parse('9007199254740991.9')],
    ['a lone high surrogate', JSON.parse(String.raw`"\ud800"`)],
    ['a lone low surrogate in a key', JSON.parse(String.raw`{"\udc00":1}`)],
    ['a pair in the wrong order', JSON.parse(String.raw`"\udc00\ud800"`)],
    ['a number beyond a double', JSON.parse('1e400')],
    ['not a number', NaN],
    ['nothing', undefined],
    ['a member without a value', { a: undefined }],
    ['a big integer', 1n],
  ];
  for (const [name, value] of refused) assert.throws(() => canonical(value), TypeError, name);
  assert.equal(canonical(1e21), '1e+21'); // not an integer by its form
});

test('property: the form says the same, sorts all members, and is its own form', () =>
  property(500, (chance) => {
    const value = JSON.parse(JSON.stringify(anything(chance, 4))) as unknown;
    const form = canonical(value);
    assert.deepEqual(JSON.parse(form), value);
    assert.equal(canonical(JSON.parse(form)), form);
    assert.equal(canonical(shuffled(chance, value)), form);
  }));

function anything(chance: Chance, depth: number): unknown {
  switch (chance.below(depth > 0 ? 6 : 4)) {
    case 0:
      return chance.of([null, true, false]);
    case 1:
      return chance.below(2 ** 31) * chance.of([1, -1, 0.1, 2 ** 21, 1e-20, 1e-300]);
    case 2:
    case 3:
      return text(chance);
    case 4:
      return Array.from({ length: chance.below(4) }, () => anything(chance, depth - 1));
  }
  return Object.fromEntries(Array.from({ length: chance.below(5) }, () => [text(chance), anything(chance, depth - 1)]));
}

const pieces = ['a', 'Z', '"', '\\', '/', '\n', '\0', '\x1f', '\x7f', 'é', 'e\u0301', '\u2028', '\uffff', '😀', 'ש', '1', '10'];

function text(chance: Chance): string {
  return Array.from({ length: chance.below(5) }, () => chance.of(pieces)).join('');
}

function shuffled(chance: Chance, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((v) => shuffled(chance, v));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([k, v]) => [k, shuffled(chance, v)] as const);
  return Object.fromEntries(members.sort(() => chance.next() - 0.5));
}
