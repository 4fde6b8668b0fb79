// One of each row of DESIGN.md's tables of hashes: the act and the member, what a ledger of ../upgrade/testdata/atoms-v2 has there, and the record by
// which it was served.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { HASHES, opensRecord, rowOf } from './verify.mjs';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const openings = JSON.parse(readFileSync(at('testdata/openings.json')));
const ledger = readFileSync(at('../upgrade/testdata/atoms-v2/ledger.ndjson'), 'utf8');
const elsewhere = ['asked_hash', 'forwarded_hash', 'link_hash', 'published_hash'];

for (const { act, member, commitment, record } of openings) {
  test(`${member} of ${act} is opened, and by nothing else`, () => {
    assert.ok(opensRecord(member, act, commitment, record));
    assert.ok(elsewhere.includes(member) || ledger.includes(`"${member}":"${commitment}"`), 'the ledger has it');
    assert.ok(!opensRecord(member, act, commitment.replace(/.$/, (digit) => (digit === '0' ? '1' : '0')), record));
    if (rowOf(member, act).salt === undefined) {
      assert.ok(!opensRecord(member, act, commitment, { ...record, salt: '00'.repeat(16) }), 'another salt');
      assert.ok(!opensRecord(member, act, commitment, { ...record, salt: undefined }), 'no salt');
    }
    const others = openings.filter((other) => other.member === member && other.commitment !== commitment);
    for (const other of others) assert.ok(!opensRecord(member, act, other.commitment, record));
  });
}

test('what an answer to a form says is opened with its salt', () => {
  const record = { author_id: 'u:ana', entry_id: 'm:1', salt: '0123456789abcdef0123456789abcdef', values: { ok: true } };
  const commitment = 'b:c053bcc7d7cdcd3bc67e4c4b178429a3ad62bb4816d0e9ca313d05aae3f30255';
  assert.ok(opensRecord('body_hash', 'messenger.form.answer', commitment, record));
  assert.ok(!opensRecord('body_hash', 'messenger.form.answer', commitment, { ...record, values: { ok: false } }));
});

test('each row is among them', () => {
  const opened = new Set(openings.map(({ member, act }) => rowOf(member, act)));
  assert.deepEqual(HASHES.filter((row) => !opened.has(row)), []);
});

test('what is opened is what the record says', () => {
  const changed = (member, act, change) => {
    const one = openings.find((o) => o.member === member && o.act === act);
    const record = structuredClone(one.record);
    change(record);
    return opensRecord(member, act, one.commitment, record);
  };
  assert.ok(!changed('attachments_hash', 'messenger.send', (r) => (r.attachments[0].name = 'other.txt')));
  assert.ok(!changed('attachments_hash', 'messenger.send', (r) => r.attachments.pop()));
  assert.ok(!changed('body_hash', 'messenger.poll.create', (r) => r.body.json.options.reverse()));
  assert.ok(!changed('agreement_hash', 'messenger.send', (r) => (r.members[0].role = 'guest')));
  assert.ok(changed('agreement_hash', 'messenger.send', (r) => (r.members[0].name = 'another name, which is for reading only')));
  assert.ok(changed('kind_hash', 'kind.set', (r) => delete r.own));
});

test('the command opens a record', () => {
  const run = (args, input) => spawnSync(process.execPath, [at('verify.mjs'), ...args], { input, encoding: 'utf8' });
  for (const member of ['attachments_hash', 'agreement_hash', 'link_hash']) {
    const { act, commitment, record } = openings.find((one) => one.member === member);
    const open = ['--open', `${member}=${commitment}`];
    assert.equal(run([...open, '--act', act, '--record', '-'], JSON.stringify(record)).status, 0);
    assert.equal(run([...open, '--act', act, '--record', '-'], '{}').status, 1);
    assert.equal(run([...open, '--act', act, '--record', '-'], 'no JSON').status, 1);
    assert.equal(run([...open, '--act', act, '--record', at('testdata/absent')]).status, 66);
    for (const wrong of [open, [...open, '--act', act], [...open, '--record', '-'], [...open, '--act', act, '--record', '-', '--salt', '00'.repeat(16)]]) {
      assert.equal(run(wrong, '').status, 64, wrong.join(' '));
    }
  }
  assert.equal(run(['--open', `other_hash=b:${'0'.repeat(64)}`, '--act', 'messenger.send', '--record', '-'], '{}').status, 1);
});
