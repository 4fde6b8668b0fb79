// The browser's checker against what is done to exports, in the list by which test/verifier holds two
// others: what shows in an atom, or in how many there are, it finds too. Atoms come to it parsed, so the
// form of lines and of the header is not its business.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { cidOf, fromGenesis, genesis, nextHead, verifyAtoms, verifyEnd, type Bad, type Json } from '../src/chain';

interface Tampering {
  name: string;
  replace?: [old: string, by: string];
  lines?: { cut?: [number, number]; copy?: [number, number] }[];
  forge?: { seq: number; set?: Json; drop?: string; remove?: true; again?: true; answers?: number };
  file_only?: true;
}

const tests = process.env.TESTS_FOLDER ?? resolve('../../../test');
const whole = readFileSync(join(tests, 'upgrade/testdata/atoms-v2/ledger.ndjson'), 'utf8').trimEnd().split('\n');
const all = JSON.parse(readFileSync(join(tests, 'verifier/testdata/tampered.json'), 'utf8')) as Tampering[];

// check reads lines as a page would whom a server hands them as atoms, with the head that it states.
async function check(lines: string[]): Promise<Bad | null> {
  const [header, ...rest] = lines.map((line) => JSON.parse(line) as Json);
  const { at, bad } = await verifyAtoms(fromGenesis(String(header!.tenant_id)), rest.map((line) => line.atom as Json));
  return bad ?? verifyEnd(at, { seq: Number(header!.last_seq), head_hash: String(header!.head_hash) });
}

test('a ledger of this version holds', async () => {
  assert.equal(await check(whole), null);
  assert.ok(whole.slice(1).every((line) => line.includes('.v2"')));
});

for (const { name, replace, lines = [], forge, file_only } of all) {
  test(`found: ${name}`, { skip: file_only && 'it shows in a file alone' }, async () => {
    let tampered = [...whole];
    if (replace) tampered = tampered.join('\n').replace(replace[0], () => replace[1]).split('\n');
    for (const { cut, copy } of lines) {
      if (cut) tampered.splice(cut[0], cut[1] - cut[0]);
      if (copy) tampered.splice(copy[1], 0, tampered[copy[0]]!);
    }
    if (forge) tampered = await forged(forge);
    assert.notDeepEqual(tampered, whole);
    assert.ok(await check(tampered));
  });
}

test('most of the list shows in atoms', () => assert.ok(all.filter((f) => !f.file_only).length >= 26));

// forged is the ledger with hashes that fit what was done to an atom.
async function forged({ seq, set, drop, remove, again, answers }: NonNullable<Tampering['forge']>): Promise<string[]> {
  const atoms = whole.slice(1).map((line) => (JSON.parse(line) as { atom: Json }).atom);
  const atom = atoms[seq - 1]!;
  Object.assign(atom, set, answers && { ref_action_cid: atoms[answers - 1]!.cid });
  if (drop) delete atom[drop];
  if (remove) atoms.splice(seq - 1, 1);
  if (again) atoms.splice(seq, 0, { ...atom });
  const cids = new Map<unknown, string>();
  let head = genesis;
  for (const one of atoms) {
    const was = one.cid;
    Object.assign(one, { prev_hash: head }, cids.has(one.ref_action_cid) && { ref_action_cid: cids.get(one.ref_action_cid) });
    cids.set(was, (one.cid = await cidOf(one)) as string);
    head = await nextHead(head, String(one.cid));
  }
  const header = { ...(JSON.parse(whole[0]!) as Json), last_seq: atoms.length, head_hash: head };
  return [header, ...atoms.map((one) => ({ atom: one }))].map((line) => JSON.stringify(line));
}
