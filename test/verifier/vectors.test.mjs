// Hand-made chains for verify.mjs: some that hold, and many that were tampered with, each with the line that must be named.
// The chains are built here by a few lines of their own, not by the verifier's; and one chain and one commitment were made in a shell, with sha256sum.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { opens, verify } from './verify.mjs';

const COMMAND = fileURLToPath(new URL('./verify.mjs', import.meta.url));
const A_HASH = 'a'.repeat(64);
const MIB = 1024 * 1024;

// ---------- Building ----------

const sha = (text) => createHash('sha256').update(text).digest('hex');

function write(value) {
  if (Array.isArray(value)) return `[${value.map(write)}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  return `{${Object.keys(value).sort().map((name) => `${JSON.stringify(name)}:${write(value[name])}`)}}`;
}

// Chain makes atoms and the lines around them. Every method that adds an atom returns its cid.
class Chain {
  constructor() {
    this.head = 'h:genesis';
    this.heads = [this.head];
    this.lines = [];
    this.seq = 0;
  }

  add(atom) {
    const whole = { tenant_id: 'tenant', prev_hash: this.head, ...atom };
    whole.cid ??= 'c:' + sha(write(whole));
    this.head = 'h:' + sha(`${this.head}:${whole.cid}`);
    this.heads.push(this.head);
    this.lines.push({ atom: whole, head_hash: this.head, seq: ++this.seq });
    return whole.cid;
  }

  action(status, more = {}) {
    return this.add({ kind: 'action.v2', shard: '0', status, ...more });
  }

  effect(ref_action_cid, more = {}) {
    return this.add({ kind: 'effect.v2', shard: '0', outcome: 'ok', ref_action_cid, ...more });
  }

  oldAction(status, more = {}) {
    return this.add({ kind: 'action.v1', status, ...more });
  }

  oldEffect(ref_action_cid, more = {}) {
    return this.add({ kind: 'effect.v1', outcome: 'ok', ref_action_cid, ...more });
  }

  header(more = {}) {
    return { format: 'ubl.export.v2', head_hash: this.head, last_seq: this.seq, ledger_shard: '0', tenant_id: 'tenant', ...more };
  }

  objects(more) {
    return [this.header(more), ...this.lines];
  }

  texts(more) {
    return this.objects(more).map(write);
  }
}

// sample is a ledger of seven atoms, of both versions. Its lines: 1 header, 2 executed, 3 its effect, 4 intended, 5 denied, 6 executed (v1), 7 its effect
// (v1), 8 the effect of the intended one.
function sample() {
  const chain = new Chain();
  chain.effect(chain.action('executed', { body_hash: 'b:' + A_HASH, agreement_hash: 'g:' + A_HASH, session: 's', text: 'é "q" \\ \n \u2028 😀' }));
  const intended = chain.action('intended', { number: 1.5e-7, large: 1e21, list: [1, -2, null, true, {}] });
  chain.action('denied');
  chain.oldEffect(chain.oldAction('executed'));
  chain.effect(intended, { outcome: 'error' });
  return chain;
}

const bytesOf = (texts) => Buffer.from(texts.map((text) => text + '\n').join(''));
const GAP = { tenant_id: 'tenant', ledger_shard: '0', reason: 'a bad block' };
const hole = (from_seq, to_seq, more = {}) => ({ format: 'ubl.export.hole.v1', from_seq, to_seq, ...GAP, ...more });
const lost = (after_seq, more = {}) => ({ format: 'ubl.export.lost.v1', after_seq, ...GAP, ...more });

// chunksOf cuts bytes at any place.
function* chunksOf(bytes, size = 1000) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

function check(bytes, options) {
  return verify(chunksOf(bytes), options);
}

async function mustHold(bytes, options) {
  const result = await check(bytes, options);
  assert.equal(result.code, 0, result.text);
  return result;
}

async function mustName(line, bytes, options, why) {
  const result = await check(bytes, options);
  assert.equal(result.code, 1, result.text);
  assert.equal(result.line, line, result.text);
  if (why) assert.match(result.text, why);
}

async function mustHoldInPart(bytes, options, why) {
  const result = await check(bytes, options);
  assert.equal(result.code, 65, result.text);
  if (why) assert.match(result.text, why);
}

// ---------- What holds ----------

const SHELL_MADE = [
  '{"format":"ubl.export.v2","head_hash":"h:18b12551b58f1e71460add238cad7ab6d1b99b0f99587d1e9a789bcae9ddb169","last_seq":2,"ledger_shard":"0","tenant_id":"t"}',
  '{"atom":{"cid":"c:e00645ce73c0bf6ca408a98e40e43e3df68eb777d738c144af7bad5c34a77fc5","kind":"action.v1","prev_hash":"h:genesis","status":"executed","tenant_id":"t"},"head_hash":"h:7a11df331fabb7f44e2384925151fd5898944fde783b918086d2eb2347856bcf","seq":1}',
  '{"atom":{"cid":"c:c302b32d83e6edf269bfed20e3dcbd2b520fd71fe7d923fc3028ee174693fa41","kind":"effect.v2","outcome":"ok","prev_hash":"h:7a11df331fabb7f44e2384925151fd5898944fde783b918086d2eb2347856bcf","ref_action_cid":"c:e00645ce73c0bf6ca408a98e40e43e3df68eb777d738c144af7bad5c34a77fc5","shard":"0","tenant_id":"t"},"head_hash":"h:18b12551b58f1e71460add238cad7ab6d1b99b0f99587d1e9a789bcae9ddb169","seq":2}',
];

test('a chain made with sha256sum holds', async () => {
  const { text } = await mustHold(bytesOf(SHELL_MADE));
  assert.equal(text, 'ok: tenant "t", 2 of 2 atoms, head h:18b12551b58f1e71460add238cad7ab6d1b99b0f99587d1e9a789bcae9ddb169');
});

test('the sample holds, with each of its heads as an earlier one', async () => {
  const chain = sample();
  for (const earlier of chain.heads) await mustHold(bytesOf(chain.texts()), { head: chain.head, earlier });
});

test('an empty ledger holds, and says that its tenant is only claimed', async () => {
  const { text } = await mustHold(bytesOf(new Chain().texts()), { head: 'h:genesis', earlier: 'h:genesis' });
  assert.match(text, /tenant is only claimed/);
});

test('an intended action may stay open', async () => {
  const chain = new Chain();
  chain.action('intended');
  await mustHold(bytesOf(chain.texts()));
});

test('a denied action may have an effect', async () => {
  const chain = new Chain();
  chain.effect(chain.action('denied'), { outcome: 'error' });
  chain.action('denied');
  await mustHold(bytesOf(chain.texts()));
});

test('an effect may answer an action of the other version', async () => {
  const chain = new Chain();
  chain.effect(chain.oldAction('executed'));
  chain.oldEffect(chain.action('executed'));
  chain.effect(chain.oldAction('intended'));
  chain.oldEffect(chain.action('denied'), { outcome: 'error' });
  await mustHold(bytesOf(chain.texts()));
});

test('the effect of an executed action may come later', async () => {
  const chain = new Chain();
  const action = chain.action('executed');
  chain.action('denied');
  chain.effect(action);
  await mustHold(bytesOf(chain.texts()));
});

test('what an atom says besides is not looked at', async () => {
  const chain = new Chain();
  chain.action('denied', { body_hash: 5, effects: [{ terms_hash: A_HASH }], policy: [], when: 'never' });
  chain.effect(chain.oldAction('executed', { agreement_hash: 'nothing' }));
  await mustHold(bytesOf(chain.texts()));
});

test('the signature of an author is not vouched for', async () => {
  const chain = new Chain();
  chain.action('denied', { author: {} });
  const { text } = await mustHold(bytesOf(chain.texts()));
  assert.match(text, /signatures of 1 authors were not checked/);
});

test('1,000 levels of nesting hold', () => mustHold(bytesOf(nested(1000))));

// nested makes a chain of one atom whose line has that many levels of nesting: two are the line and the atom.
function nested(levels) {
  const chain = new Chain();
  chain.action('denied', { deep: JSON.parse('['.repeat(levels - 2) + ']'.repeat(levels - 2)) });
  return chain.texts();
}

test('an export of version 1 holds', async () => {
  const chain = new Chain();
  chain.oldEffect(chain.oldAction('executed'));
  await mustHold(bytesOf(chain.texts({ format: 'ubl.export.v1' })));
});

test('members that nobody knows are hashed with the others', async () => {
  const chain = new Chain();
  chain.action('denied', { new_member: { '\u{1F600}': 1, '\uFB33': 2, '': 3 }, __proto: 1, ['__proto__']: 2 });
  await mustHold(bytesOf(chain.texts()));
});

test('a line of exactly 1 MiB holds', async () => {
  await mustHold(bytesOf(lineOfSize(MIB)));
});

// lineOfSize makes a chain of one atom whose line has that many bytes, without the newline.
function lineOfSize(size) {
  const make = (padding) => {
    const chain = new Chain();
    chain.action('denied', { padding: 'x'.repeat(padding) });
    return chain.texts();
  };
  return make(size - make(0)[1].length);
}

// ---------- What was tampered with ----------

// Each case: what it is, the line to be named, a function that makes the lines (as texts, or as bytes), and options.
const tampered = [];
const tamper = (name, line, make, options) => tampered.push({ name, line, make, options });

// change edits one object of the sample and leaves all hashes as they were.
const change = (line, edit) => () => {
  const objects = sample().objects();
  edit(objects[line - 1]);
  return objects.map(write);
};

// rewrite edits the text of one line of the sample.
const rewrite = (line, from, to) => () => {
  const texts = sample().texts();
  assert.ok(texts[line - 1].includes(from), 'the case has nothing to replace');
  texts[line - 1] = texts[line - 1].replace(from, to);
  return texts;
};

// chained builds a chain of its own, with hashes that fit.
const chained = (build, header) => () => {
  const chain = new Chain();
  build(chain);
  return chain.texts(header);
};

// Content and hashes
tamper('a member of an atom is changed', 4, change(4, ({ atom }) => (atom.number = 2)));
tamper('a member that nobody knows is changed', 2, change(2, ({ atom }) => (atom.text = 'other')));
tamper('a member is added to an atom', 5, change(5, ({ atom }) => (atom.more = 1)));
tamper('a member is taken from an atom', 2, change(2, ({ atom }) => delete atom.session));
tamper('a cid is changed', 6, change(6, ({ atom }) => (atom.cid = 'c:' + A_HASH)));
tamper('a cid is missing', 6, change(6, ({ atom }) => delete atom.cid));
tamper('a cid is in upper case', 3, change(3, ({ atom }) => (atom.cid = 'c:' + atom.cid.slice(2).toUpperCase())));
tamper('a cid has another prefix', 3, change(3, ({ atom }) => (atom.cid = atom.cid.replace('c:', 'h:'))));
tamper('a cid was hashed with itself in it', 2, chained((chain) => {
  const atom = { kind: 'action.v2', shard: '0', status: 'denied', tenant_id: 'tenant', prev_hash: 'h:genesis', cid: '' };
  chain.add({ ...atom, cid: 'c:' + sha(write(atom)) });
}));
tamper('a head after an atom is changed', 5, change(5, (line) => (line.head_hash = 'h:' + A_HASH)));
tamper('a head was hashed without prefixes', 2, () => {
  const objects = sample().objects();
  objects[1].head_hash = 'h:' + sha(`genesis:${objects[1].atom.cid.slice(2)}`);
  return objects.map(write);
});
tamper('a prev_hash is another, its cid fits', 3, () => {
  const objects = sample().objects();
  const { cid, ...rest } = objects[2].atom;
  rest.prev_hash = 'h:' + A_HASH;
  objects[2].atom = { ...rest, cid: 'c:' + sha(write(rest)) };
  return objects.map(write);
});
tamper('the first prev_hash is not h:genesis', 2, chained((chain) => chain.action('denied', { prev_hash: 'h:' + A_HASH })));
tamper('an atom is changed and its own hashes fit', 6, () => {
  const objects = sample().objects();
  const { cid, ...rest } = objects[4].atom;
  rest.reason = 'forged';
  objects[4].atom = { ...rest, cid: 'c:' + sha(write(rest)) };
  objects[4].head_hash = 'h:' + sha(`${rest.prev_hash}:${objects[4].atom.cid}`);
  return objects.map(write);
});
tamper('an atom is null', 4, change(4, (line) => (line.atom = null)));
tamper('an atom is no object', 4, change(4, (line) => (line.atom = [])));

// Order and number
tamper('a line is taken out', 5, () => sample().texts().toSpliced(4, 1));
tamper('a line is taken out and the seqs fit', 5, () => {
  const objects = sample().objects({ last_seq: 6 }).toSpliced(4, 1);
  objects.slice(1).forEach((line, i) => (line.seq = i + 1));
  return objects.map(write);
});
tamper('two lines change places', 4, () => {
  const texts = sample().texts();
  return texts.toSpliced(3, 2, texts[4], texts[3]);
});
tamper('a line stands twice', 5, () => {
  const texts = sample().texts();
  return texts.toSpliced(3, 0, texts[3]);
});
tamper('a seq is a text', 3, change(3, (line) => (line.seq = '2')));
tamper('a seq is missing', 3, change(3, (line) => delete line.seq));
tamper('a line has one member more', 3, change(3, (line) => (line.note = 1)));
tamper('the last line is cut off', 8, () => sample().texts().slice(0, -1));
tamper('all but the header is cut off', 2, () => sample().texts().slice(0, 1));
tamper('an atom follows last_seq', 8, () => sample().texts({ last_seq: 6, head_hash: sample().heads[6] }));
tamper('an empty line follows', 9, () => [...sample().texts(), '']);
tamper('a second header follows', 9, () => [...sample().texts(), write(sample().header())]);
tamper('the head in the header is another', 8, () => sample().texts({ head_hash: 'h:' + A_HASH }));

// Header
tamper('there is nothing', 1, () => []);
tamper('there is no header', 1, () => sample().texts().slice(1));
tamper('the format is unknown', 1, () => sample().texts({ format: 'ubl.export.v3' }));
tamper('the header has one member more', 1, () => sample().texts({ note: 1 }));
tamper('the header has no tenant', 1, change(1, (header) => delete header.tenant_id));
tamper('the header is of another shard', 1, () => sample().texts({ ledger_shard: '1' }));
tamper('the shard is a number', 1, () => sample().texts({ ledger_shard: 0 }));
tamper('last_seq is negative', 1, () => sample().texts({ last_seq: -1 }));
tamper('last_seq is no integer', 1, () => sample().texts({ last_seq: 7.5 }));
tamper('the tenant is no text', 1, () => sample().texts({ tenant_id: 7 }));
tamper('h:genesis is the head after atoms', 1, () => sample().texts({ head_hash: 'h:genesis' }));
tamper('the head in the header has another prefix', 1, () => sample().texts({ head_hash: 'c:' + A_HASH }));
tamper('an empty ledger has a head', 1, () => new Chain().texts({ head_hash: 'h:' + A_HASH }));
tamper('the header is of another tenant', 2, () => sample().texts({ tenant_id: 'other' }));
tamper('an atom of version 2 is in an export of version 1', 2, () => sample().texts({ format: 'ubl.export.v1' }));

// Atoms whose hashes fit, and which say what can't be
tamper('an atom is of another tenant', 3, chained((chain) => {
  chain.action('denied');
  chain.action('denied', { tenant_id: 'other' });
}));
tamper('an atom of version 2 has no shard', 2, chained((chain) => chain.add({ kind: 'action.v2', status: 'denied' })));
tamper('an atom is of another shard', 2, chained((chain) => chain.action('denied', { shard: '1' })));
tamper('a kind is unknown', 2, chained((chain) => chain.action('denied', { kind: 'action.v3' })));
tamper('a kind is missing', 2, chained((chain) => chain.add({ status: 'denied' })));
tamper('a status is unknown', 2, chained((chain) => chain.action('done')));
tamper('an outcome is unknown', 3, chained((chain) => chain.effect(chain.action('executed'), { outcome: 'maybe' })));
tamper('the hash of an Agreement has the prefix of content', 2, chained((chain) => chain.action('denied', { agreement_hash: 'b:' + A_HASH })));

// Actions and effects
tamper('an effect answers nothing', 2, chained((chain) => chain.effect('c:' + A_HASH)));
tamper('an effect names no action', 3, chained((chain) => {
  chain.action('intended');
  chain.add({ kind: 'effect.v2', shard: '0', outcome: 'ok' });
}));
tamper('an effect answers an effect', 4, chained((chain) => chain.effect(chain.effect(chain.action('executed')))));
tamper('an executed action has two effects', 4, chained((chain) => {
  const action = chain.action('executed');
  chain.effect(action);
  chain.effect(action);
}));
tamper('an intended action has two effects', 5, chained((chain) => {
  const action = chain.action('intended');
  chain.effect(action);
  chain.action('denied');
  chain.effect(action, { outcome: 'error' });
}));
tamper('a denied action has two effects', 4, chained((chain) => {
  const action = chain.action('denied');
  chain.effect(action);
  chain.effect(action);
}));
tamper('an action has an effect of each version', 4, chained((chain) => {
  const action = chain.action('executed');
  chain.effect(action);
  chain.oldEffect(action);
}));
tamper('an executed action has no effect', 3, chained((chain) => {
  chain.action('denied');
  chain.action('executed');
  chain.action('denied');
}));

// Canonical JSON. What is only written in another way keeps its hashes: the bytes of the line tell.
tamper('a blank', 3, rewrite(3, '"seq":', '"seq": '));
tamper('a carriage return before the newline', 3, () => sample().texts().with(2, sample().texts()[2] + '\r'));
tamper('members in another order', 3, rewrite(3, /^\{(.*),("seq":2)\}$/.exec(sample().texts()[2])[0], `{"seq":2,${/^\{(.*),"seq":2\}$/.exec(sample().texts()[2])[1]}}`));
tamper('members in the order of code points', 2, () => {
  // In UTF-16 😀 begins with D83D and stands before U+FB33; by code points it is the other way round.
  const texts = chained((chain) => chain.action('denied', { names: { '\u{1F600}': 1, '\uFB33': 2 } }))();
  return texts.with(1, texts[1].replace('"\u{1F600}":1,"\uFB33":2', '"\uFB33":2,"\u{1F600}":1'));
});
tamper('a duplicate name', 4, rewrite(4, '"seq":3', '"seq":3,"seq":3'));
tamper('a duplicate name, written in another way', 4, rewrite(4, '"seq":3', '"seq":3,"s\\u0065q":3'));
tamper('an escape that is not needed', 2, rewrite(2, 'é', '\\u00e9'));
tamper('an escaped slash', 2, rewrite(2, '"session":"s"', '"session":"\\/"'));
tamper('a long escape for a newline', 2, rewrite(2, '\\n', '\\u000a'));
tamper('a control character as it is', 2, rewrite(2, '\\n', '\t'));
tamper('an escaped lone surrogate', 2, rewrite(2, '"session":"s"', '"session":"\\ud800"'));
tamper('a number in another form', 4, rewrite(4, '1.5e-7', '0.00000015'));
tamper('an integer with an exponent that it needs not', 4, rewrite(4, '"seq":3', '"seq":3e0'));
tamper('an integer with a point', 4, rewrite(4, '"seq":3', '"seq":3.0'));
tamper('a minus before nought', 4, rewrite(4, '[1,-2', '[-0,-2'));
tamper('a number beyond all', 4, rewrite(4, '1e+21', '1e+999'));
tamper('an integer of 2^53, its hashes fit', 2, chained((chain) => chain.action('denied', { n: 2 ** 53 })));
tamper('an integer of −2^53, its hashes fit', 2, chained((chain) => chain.action('denied', { n: -(2 ** 53) })));
tamper('an integer of 10^20, its hashes fit', 2, chained((chain) => chain.action('denied', { n: 1e20 })));
tamper('no JSON', 5, rewrite(5, '"seq"', 'seq'));
tamper('two values in a line', 5, () => sample().texts().with(4, sample().texts()[4] + '{}'));
tamper('null for a line', 5, () => sample().texts().with(4, 'null'));
tamper('a list for a line', 5, () => sample().texts().with(4, '[]'));
tamper('1,001 levels of nesting', 2, () => nested(1001));
tamper('a million levels of nesting', 5, () => sample().texts().with(4, '['.repeat(MIB / 2) + ']'.repeat(MIB / 2)));
tamper('a line that is nested without end', 5, () => sample().texts().with(4, '['.repeat(500000)));
tamper('a line above 1 MiB', 2, () => lineOfSize(MIB + 1));
tamper('a byte order mark', 1, () => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytesOf(sample().texts())]));
tamper('no newline at the end', 8, () => bytesOf(sample().texts()).subarray(0, -1));
tamper('no newline after the header', 1, () => bytesOf(new Chain().texts()).subarray(0, -1));
tamper('invalid UTF-8', 2, () => replaceBytes('é', [0xc3, 0x28]));
tamper('an overlong form in UTF-8', 2, () => replaceBytes('é', [0xc1, 0xa9]));
tamper('a surrogate in UTF-8', 2, () => replaceBytes('é', [0xed, 0xa0, 0x80]));

function replaceBytes(text, bytes) {
  const all = bytesOf(sample().texts());
  const at = all.indexOf(text);
  return Buffer.concat([all.subarray(0, at), Buffer.from(bytes), all.subarray(at + Buffer.byteLength(text))]);
}

// Heads that were noted
tamper('the end was cut off and the header fits', 6, () => cut(5), { head: sample().head });
tamper('the end was cut off, and an earlier head was noted', 6, () => cut(5), { earlier: sample().heads[6] });
tamper('another history', 8, () => otherHistory(), { earlier: sample().heads[3] });
tamper('the head is one that the ledger only comes by', 8, () => sample().texts(), { head: sample().heads[3] });

// cut keeps the first atoms of the sample, as an operator would who has something to hide. (What it keeps leaves no executed action open.)
function cut(atoms) {
  const chain = new Chain();
  chain.effect(chain.action('executed'));
  while (chain.seq < atoms) chain.action('denied');
  return chain.texts();
}

function otherHistory() {
  const chain = new Chain();
  while (chain.seq < 7) chain.action('denied');
  return chain.texts();
}

// What is missing. punch puts a hole in the place of atoms.
function punch(chain, from, to, header) {
  const objects = chain.objects(header);
  return objects.toSpliced(from, to - from + 1, hole(from, to)).map(write);
}

// punchWith puts a hole in the place of the second atom, with other members; those that are undefined are left out.
function punchWith(more) {
  return () => sample().objects().toSpliced(2, 1, JSON.parse(JSON.stringify(hole(2, 2, more)))).map(write);
}

tamper('a line with damaged', 4, () => [...sample().texts().slice(0, 3), write({ damaged: 'a reason' })]);
tamper('a line with damaged behind the last atom', 9, () => [...sample().texts(), write({ damaged: true })]);
tamper('a hole that is too small', 4, () => sample().objects().toSpliced(2, 2, hole(2, 2)).map(write));
tamper('a hole that begins late', 3, () => sample().objects().toSpliced(2, 1, hole(3, 3)).map(write));
tamper('a hole that ends before it begins', 3, () => sample().objects().toSpliced(2, 0, hole(2, 1)).map(write));
tamper('a hole beyond last_seq', 9, () => [...sample().texts(), write(hole(8, 8))]);
tamper('a hole across last_seq', 8, () => punch(sample(), 7, 7).with(7, write(hole(7, 8))));
for (const name of ['from_seq', 'to_seq', 'tenant_id', 'ledger_shard', 'reason']) {
  tamper(`a hole without ${name}`, 3, punchWith({ [name]: undefined }));
}
tamper('a hole with one member more', 3, punchWith({ note: 1 }));
tamper('a hole with an atom', 3, punchWith({ atom: {} }));
tamper('a hole of another tenant', 3, punchWith({ tenant_id: 'other' }));
tamper('a hole of another shard', 3, punchWith({ ledger_shard: '1' }));
tamper('a line of an unknown format', 3, punchWith({ format: 'ubl.export.hole.v2' }));
tamper('a hole in an empty ledger', 2, () => [...new Chain().texts(), write(hole(1, 1))]);
tamper('a change behind a hole', 5, () => {
  const objects = sample().objects().toSpliced(2, 1, hole(2, 2));
  objects[4].atom.more = 1;
  return objects.map(write);
});
tamper('a chain that breaks behind the atom that follows a hole', 5, () => {
  const objects = sample().objects();
  const other = sample();
  other.action('denied');
  return [...objects.slice(0, 2), hole(2, 2), objects[3], { ...other.lines[7], seq: 4 }, ...objects.slice(5)].map(write);
});
tamper('behind a hole the chain begins anew', 4, () => {
  const objects = sample().objects();
  return [objects[0], objects[1], hole(2, 2), { ...objects[1], seq: 3 }].map(write);
});
tamper('the head behind a hole is h:genesis', 3, () => {
  const chain = new Chain();
  chain.action('denied');
  return [chain.header({ last_seq: 2 }), hole(1, 1), { ...chain.lines[0], seq: 2 }].map(write);
});
tamper('an effect behind a hole names what is no cid', 4, () => {
  const chain = new Chain();
  chain.action('denied');
  chain.action('denied');
  chain.effect('an action');
  return punch(chain, 1, 1);
});
tamper('an effect stands again behind a hole', 5, () => {
  const objects = sample().objects();
  return [...objects.slice(0, 3), hole(3, 3), { ...objects[2], seq: 4 }, ...objects.slice(5)].map(write);
});
tamper('an action stands again behind a hole', 6, () => {
  const objects = sample().objects();
  return [...objects.slice(0, 4), hole(4, 4), { ...objects[3], seq: 5 }, ...objects.slice(6)].map(write);
});
tamper('a hole hides no second effect of an action that is there', 5, () => {
  const chain = new Chain();
  const action = chain.action('executed');
  chain.effect(action);
  chain.action('denied');
  chain.effect(action);
  return punch(chain, 3, 3);
});
tamper('an effect behind a hole stands before its action', 5, () => {
  // An effect has its action's hash in it. So they can only change places where each stands behind a hole of its own.
  const chain = new Chain();
  chain.action('denied');
  const action = chain.action('intended');
  chain.action('denied');
  chain.effect(action);
  const [, second, , fourth] = chain.lines;
  const header = chain.header({ last_seq: 4, head_hash: second.head_hash });
  return [header, hole(1, 1), { ...fourth, seq: 2 }, hole(3, 3), { ...second, seq: 4 }].map(write);
});
tamper('an effect behind a hole answers an effect before it', 5, () => {
  const chain = new Chain();
  const effect = chain.effect(chain.action('executed'));
  chain.action('denied');
  chain.effect(effect);
  return punch(chain, 3, 3);
});
tamper('a hole behind an effect has not its action', 2, () => {
  const chain = new Chain();
  chain.effect('c:' + A_HASH);
  chain.action('denied');
  return punch(chain, 2, 2);
});
tamper('one missing atom is an action and an effect', 2, () => {
  const chain = new Chain();
  chain.action('executed');
  chain.action('denied');
  chain.effect('c:' + A_HASH);
  return punch(chain, 2, 2);
});
tamper('two effects answer one action in a hole', 5, () => {
  const chain = new Chain();
  const action = chain.action('intended');
  chain.action('denied');
  chain.effect(action);
  chain.action('denied');
  chain.effect(action);
  return punch(chain, 1, 2);
});
tamper('more effects than a hole has actions', 4, () => {
  const chain = new Chain();
  chain.action('denied');
  chain.effect('c:' + A_HASH);
  chain.effect('c:' + A_HASH.replace('a', 'b'));
  return punch(chain, 1, 1);
});
tamper('an executed action behind a hole has no effect', 3, () => {
  const chain = new Chain();
  chain.action('denied');
  chain.action('executed');
  return punch(chain, 1, 1);
});
tamper('more executed actions than a hole has effects', 2, () => {
  const chain = new Chain();
  chain.action('executed');
  chain.action('executed');
  chain.action('denied');
  return punch(chain, 3, 3);
});
const withLost = (...ends) => () => [...sample().texts(), ...ends.map(write)];

for (const name of ['after_seq', 'tenant_id', 'ledger_shard', 'reason']) {
  tamper(`a lost end without ${name}`, 9, withLost(JSON.parse(JSON.stringify(lost(7, { [name]: undefined })))));
}
tamper('a lost end with one member more', 9, withLost(lost(7, { note: 1 })));
tamper('a lost end of another tenant', 9, withLost(lost(7, { tenant_id: 'other' })));
tamper('a lost end of another shard', 9, withLost(lost(7, { ledger_shard: '1' })));
tamper('a lost end after another seq', 9, withLost(lost(6)));
tamper('a second lost end follows', 10, withLost(lost(7), lost(7)));
tamper('an atom follows the lost end', 10, withLost(lost(7), sample().lines[6]));
tamper('a hole follows the lost end', 10, withLost(lost(7), hole(8, 8)));
tamper('a lost end before last_seq', 8, () => [...sample().texts().slice(0, -1), write(lost(6))]);
tamper('a lost end is no header', 1, () => [write(lost(0))]);
tamper('a lost end, and the head is one from before', 9, withLost(lost(7)), { head: sample().heads[3] });
tamper('a lost end hides no action before its effect', 2, () => {
  const chain = new Chain();
  chain.effect('c:' + A_HASH);
  return [...chain.texts(), write(lost(1))];
});

for (const { name, line, make, options } of tampered) {
  test(`line ${line}: ${name}`, () => {
    const made = make();
    return mustName(line, Buffer.isBuffer(made) ? made : bytesOf(made), options);
  });
}

// These must be refused for their own reason, not because a hash is off.
test('a lone surrogate is called so', () => mustName(2, bytesOf(chained((chain) => chain.action('denied', { text: '\ud800' }))()), {}, /lone surrogate/));
test('a lone surrogate in a name is called so', () => mustName(2, bytesOf(chained((chain) => chain.action('denied', { '\udc00': 1 }))()), {}, /lone surrogate/));
test('too many levels are called so', () => mustName(2, bytesOf(nested(1001)), {}, /1000 levels/));
test('a large integer is called so', () => mustName(2, bytesOf(chained((chain) => chain.action('denied', { n: 2 ** 53 }))()), {}, /2\^53/));

// ---------- What holds in part ----------

test('a hole at any place but what it tears apart', async () => {
  const chain = sample();
  for (const [from, to] of [[1, 1], [1, 2], [2, 2], [3, 3], [4, 4], [3, 5], [2, 6], [6, 6], [7, 7], [1, 7]]) {
    await mustHoldInPart(bytesOf(punch(chain, from, to)), { head: chain.head, earlier: chain.head }, new RegExp(`${6 - to + from} of 7 atoms`));
  }
});

test('two holes, one behind the other', async () => {
  const objects = sample().objects();
  await mustHoldInPart(bytesOf(objects.toSpliced(3, 2, hole(3, 3), hole(4, 4)).map(write)));
});

test('a hole in an export of version 1', async () => {
  const chain = new Chain();
  chain.oldEffect(chain.oldAction('executed'));
  await mustHoldInPart(bytesOf(punch(chain, 1, 1, { format: 'ubl.export.v1' })));
});

test('the head behind a hole at the end is not checked', async () => {
  await mustHoldInPart(bytesOf(punch(sample(), 7, 7, { head_hash: sample().heads[6] })), {}, /head is only claimed/);
  await mustHoldInPart(bytesOf(punch(sample(), 6, 7, { head_hash: 'h:' + A_HASH })), { head: 'h:' + A_HASH }, /head is only claimed/);
});

test('what is before a hole is not bound to what is behind it', async () => {
  const other = new Chain();
  other.action('denied', { reason: 'another history' });
  for (let i = 0; i < 3; i++) other.action('denied');
  await mustHoldInPart(bytesOf([other.header(), sample().lines[0], hole(2, 2), ...other.lines.slice(2)].map(write)));
});

test('behind a hole the head can be the one before it', async () => {
  const chain = new Chain();
  chain.effect(chain.action('executed'));
  const [action, effect] = chain.lines;
  await mustHoldInPart(bytesOf([chain.header({ last_seq: 3 }), action, hole(2, 2), { ...effect, seq: 3 }].map(write)));
});

test('an effect behind a hole may answer a denied action before it', async () => {
  const chain = new Chain();
  const action = chain.action('denied');
  chain.action('denied');
  chain.effect(action);
  await mustHoldInPart(bytesOf(punch(chain, 2, 2)));
});

test('each missing atom is one action or one effect', async () => {
  const chain = new Chain();
  chain.action('executed');
  chain.action('denied');
  chain.action('denied');
  chain.effect('c:' + A_HASH);
  await mustHoldInPart(bytesOf(punch(chain, 2, 3)));
});

test('a lost end', () => mustHoldInPart(bytesOf(withLost(lost(7))()), { head: sample().head }, /more may be missing/));

test('a lost end of an empty ledger', () => mustHoldInPart(bytesOf([...new Chain().texts(), write(lost(0))])));

test('a lost end behind a hole at the end', () => mustHoldInPart(bytesOf([...punch(sample(), 6, 7), write(lost(7))])));

test('a lost end can have the effect of an executed action', async () => {
  const chain = new Chain();
  chain.action('executed');
  await mustHoldInPart(bytesOf([...chain.texts(), write(lost(1))]));
});

test('a noted head that may be missing is neither there nor refuted', async () => {
  const noted = 'h:' + A_HASH;
  await mustHoldInPart(bytesOf(withLost(lost(7))()), { head: noted }, /was not found/);
  await mustHoldInPart(bytesOf(withLost(lost(7))()), { earlier: noted }, /was not found/);
  await mustHoldInPart(bytesOf(punch(sample(), 3, 4)), { earlier: noted }, /was not found/);
});

test('the head behind a hole is one that the ledger comes by', async () => {
  const chain = sample();
  const { code, text } = await check(bytesOf(punch(chain, 3, 4)), { earlier: chain.heads[4] });
  assert.equal(code, 65);
  assert.doesNotMatch(text, /was not found/);
});

// ---------- Commitments ----------

const SALT = '000102030405060708090a0b0c0d0e0f';
const CONTENT = '{"text":"hello"}';
const SALTED = 'b:8cc1e4bed3cc3376f5ab6fac16ad56c804da34b90b72ff44bd25535a3abe45b4';
const BARE = 'b:cbbbdcd27692344de5dbab3abcaba413fb0f45307267de7081401576df1cb176';

test('commitments made with sha256sum', async () => {
  const isTo = (commitment, salt, content) => opens(commitment, salt, chunksOf(Buffer.from(content), 5));
  assert.equal(await isTo(SALTED, SALT, CONTENT), true);
  assert.equal(await isTo(BARE, '', CONTENT), true);
  assert.equal(await isTo(BARE, SALT, CONTENT), false);
  assert.equal(await isTo(SALTED, '', CONTENT), false);
  assert.equal(await isTo(SALTED, SALT.replace('0f', '0e'), CONTENT), false);
  assert.equal(await isTo(SALTED, SALT, CONTENT + '\n'), false);
});

// ---------- The command ----------

function run(args, input = '') {
  const { status, stdout } = spawnSync(process.execPath, [COMMAND, ...args], { input, encoding: 'utf8' });
  return { status, stdout };
}

// inFolder gives a folder that is taken away afterwards.
function inFolder(work) {
  const folder = mkdtempSync(join(tmpdir(), 'verify-'));
  try {
    work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('the command checks an export', () => inFolder((folder) => {
  const chain = sample();
  const good = join(folder, 'good');
  writeFileSync(good, bytesOf(chain.texts()));
  const holds = { status: 0, stdout: `ok: tenant "tenant", 7 of 7 atoms, head ${chain.head}\n` };
  assert.deepEqual(run([good, '--head', chain.head, '--earlier', chain.heads[2]]), holds);
  assert.deepEqual(run(['-'], bytesOf(chain.texts())), holds);
  const bad = run(['-'], bytesOf(chain.texts().toSpliced(4, 1)));
  assert.equal(bad.status, 1);
  assert.match(bad.stdout, /^line 5: .+\n$/);
  assert.equal(run(['-'], bytesOf(punch(chain, 2, 2))).status, 65);
  assert.equal(run([join(folder, 'absent')]).status, 66);
  assert.equal(run([folder]).status, 66);
  for (const wrong of [[], [good, good], [good, '--head', 'nonsense'], [good, '--earlier', ''], [good, '--salt', SALT], [good, '--other']]) {
    assert.equal(run(wrong).status, 64, wrong.join(' '));
  }
}));

test('the command opens a commitment', () => inFolder((folder) => {
  const content = join(folder, 'content');
  writeFileSync(content, CONTENT);
  const open = ['--open', `body_hash=${SALTED}`];
  assert.equal(run([...open, '--salt', SALT, '--content', content]).status, 0);
  assert.equal(run([...open, '--salt', SALT, '--content', '-'], CONTENT).status, 0);
  assert.equal(run([...open, '--salt', SALT, '--content', '-'], CONTENT + '\n').status, 1);
  assert.equal(run([...open, '--content', content]).status, 1);
  assert.equal(run(['--open', `body_hash=${BARE}`, '--content', content]).status, 0);
  assert.equal(run([...open, '--salt', SALT, '--content', join(folder, 'absent')]).status, 66);
  const wrong = [
    open,
    [...open, '--salt', SALT],
    [...open, '--salt', SALT.toUpperCase(), '--content', content],
    [...open, '--salt', SALT.slice(2), '--content', content],
    [...open, '--salt', '', '--content', content],
    [...open, '--salt', SALT, '--content', content, content],
    ['--open', SALTED, '--salt', SALT, '--content', content],
    ['--open', `body_hash=${SALTED.replace('b:', 'c:')}`, '--salt', SALT, '--content', content],
  ];
  for (const args of wrong) assert.equal(run(args).status, 64, args.join(' '));
}));
