// chain.ts checks the ledger in the browser, with code of its own: it believes
// hashes, not the server. The rules for atoms are those of `ubl verify`; those for the lines
// and the header of an export have no place here, where atoms come parsed. It knows nothing of
// the network; callers hand it atoms as GET /api/atoms and GET /api/receipts/{seq}
// gave them, and a start that they trust.

import type { Message } from './types';

// shard is the one part that a ledger has.
const shard = '0';

// maxLevels bounds how deep an atom is nested: a line of an export is one level around it.
const maxLevels = 999;

// maxOpen bounds how many actions may wait for their effect.
const maxOpen = 1 << 17;

// genesis is the head of an empty ledger.
export const genesis = 'h:genesis';

// isHead tells whether a text can be the head of a ledger.
export const isHead = (text: string) => text === genesis || /^h:[0-9a-f]{64}$/.test(text);

// Json is a parsed atom: its cid covers all its members, known to us or not.
export type Json = Record<string, unknown>;

// canonical writes a parsed JSON value in the one form that is hashed, RFC 8785.
// It throws on what has no such form: lone surrogates, integers beyond ±(2^53−1),
// and whatever isn't JSON.
export function canonical(value: unknown, levels = Infinity): string {
  switch (typeof value) {
    case 'string':
      return canonicalString(value);
    case 'number':
      return canonicalNumber(value);
    case 'boolean':
      return String(value);
    case 'object':
      if (value === null) return 'null';
      if (levels === 0) throw new TypeError('it is nested too deep');
      if (Array.isArray(value)) return `[${value.map((one) => canonical(one, levels - 1)).join(',')}]`;
      return canonicalObject(value as Json, levels - 1);
  }
  throw new TypeError(`a ${typeof value} has no canonical form`);
}

// canonicalObject sorts members by UTF-16 units, as sort does by itself.
function canonicalObject(value: Json, levels: number): string {
  const members = Object.keys(value).sort();
  return `{${members.map((name) => `${canonicalString(name)}:${canonical(value[name], levels)}`).join(',')}}`;
}

// canonicalString: JSON.stringify escapes exactly what RFC 8785 wants escaped.
function canonicalString(s: string): string {
  if (/\p{Surrogate}/u.test(s)) throw new TypeError('a lone surrogate has no canonical form');
  return JSON.stringify(s);
}

// canonicalNumber refuses integers that share their digits with others. From 1e21 on
// a number is written with an exponent, and is no integer by its form.
function canonicalNumber(n: number): string {
  const large = Math.abs(n);
  if (!Number.isFinite(n) || (Number.isInteger(n) && large > Number.MAX_SAFE_INTEGER && large < 1e21)) {
    throw new TypeError('the number has no canonical form');
  }
  return JSON.stringify(n);
}

// canVerify is false where the browser lends no SHA-256: on plain http to another
// host than this one.
export function canVerify(): boolean {
  return globalThis.crypto?.subtle !== undefined;
}

async function hash(prefix: 'b:' | 'c:' | 'h:', text: string, salt = ''): Promise<string> {
  const content = new TextEncoder().encode(text);
  const bytes = new Uint8Array(salt.length / 2 + content.length);
  for (let i = 0; i < salt.length / 2; i++) bytes[i] = parseInt(salt.slice(2 * i, 2 * i + 2), 16);
  bytes.set(content, salt.length / 2);
  const sum = await crypto.subtle.digest('SHA-256', bytes);
  let hex: string = prefix;
  for (const byte of new Uint8Array(sum)) hex += byte.toString(16).padStart(2, '0');
  return hex;
}

// committed is what an action says of a content: a commitment, made with a salt of 16 bytes in hex,
// or from before salts the bare hash.
export function committed(content: unknown, salt = ''): Promise<string> {
  return hash('b:', canonical(content), salt);
}

// cidOf is the hash of an atom without the cid that it bears.
export function cidOf(atom: Json): Promise<string> {
  const { cid: _, ...rest } = atom;
  return hash('c:', canonical(rest, maxLevels));
}

// nextHead is the ledger's head after the atom with that cid.
export function nextHead(head: string, cid: string): Promise<string> {
  return hash('h:', `${head}:${cid}`);
}

// Mark is a place in a ledger whose past was checked: the seq of the last atom, the
// head after it, and the actions that still wait for their effect (cid → status).
// whole is false where the check began in the middle, so that an effect may answer
// an action from before. It is plain data, to be kept and gone on from.
export interface Mark {
  tenant_id: string;
  seq: number;
  head_hash: string;
  whole: boolean;
  open: [cid: string, status: string][];
}

// Bad is the first thing wrong: at which seq, and why, for people to read.
export interface Bad {
  seq: number;
  reason: string;
}

// fromGenesis is where a check of the whole ledger begins.
export function fromGenesis(tenant: string): Mark {
  return { tenant_id: tenant, seq: 0, head_hash: genesis, whole: true, open: [] };
}

// fromHead begins behind an atom whose head is trusted: from a receipt, or noted.
export function fromHead(tenant: string, seq: number, head: string): Mark {
  return { tenant_id: tenant, seq, head_hash: head, whole: false, open: [] };
}

// verifyAtoms checks the atoms that follow a mark, in order, and answers the mark
// behind the last good one with what is wrong with the next, if anything is.
export async function verifyAtoms(from: Mark, atoms: readonly object[]): Promise<{ at: Mark; bad: Bad | null }> {
  const all = atoms as readonly Json[];
  // The hashes don't wait for one another: each atom names the head before it.
  const hashes = await Promise.all(all.map(hashesOf));
  const open = new Map(from.open);
  let { seq, head_hash } = from;
  const at = (): Mark => ({ ...from, seq, head_hash, open: [...open] });
  for (const [i, atom] of all.entries()) {
    const own = hashes[i];
    const reason = wrongInChain(atom, own, from.tenant_id, head_hash) ?? wrongInPair(atom, open, from.whole);
    if (reason !== null || !own) return { at: at(), bad: { seq: seq + 1, reason: reason ?? '' } };
    seq++;
    head_hash = own.head;
  }
  return { at: at(), bad: null };
}

// verifyEnd checks a mark against the head that the server states: that nothing is
// missing before it, and that no executed action is without its effect.
export function verifyEnd(at: Mark, head: { seq: number; head_hash: string }): Bad | null {
  if (at.seq !== head.seq) return { seq: at.seq + 1, reason: `missing: the ledger is said to go on to seq ${head.seq}` };
  if (at.head_hash !== head.head_hash) return { seq: at.seq, reason: 'the head is not the one that the server states' };
  if (at.open.some(([, status]) => status === 'executed')) {
    return { seq: at.seq + 1, reason: 'missing: an executed action has no effect' };
  }
  return null;
}

// hashesOf is undefined for what can't be hashed.
async function hashesOf(atom: Json): Promise<{ cid: string; head: string } | undefined> {
  try {
    const cid = await cidOf(atom);
    return { cid, head: await nextHead(String(atom.prev_hash), cid) };
  } catch (err) {
    if (err instanceof TypeError || err instanceof RangeError) return undefined; // RangeError: nested too deeply
    throw err;
  }
}

function wrongInChain(atom: Json, own: { cid: string } | undefined, tenant: string, head: string): string | null {
  if (!own) return 'the atom has no canonical form';
  if (atom.tenant_id !== tenant) return "the atom's tenant_id is not that of the ledger";
  if (atom.prev_hash !== head) return "the atom's prev_hash is not the head before it";
  if (atom.cid !== own.cid) return "the atom's cid is not the hash of its content";
  if (String(atom.kind).endsWith('.v2') && atom.shard !== shard) return "the atom's shard is not that of the ledger";
  return null;
}

// wrongInPair holds actions and effects against one another, and notes in open what
// the atom begins or ends.
const isAction = (kind: unknown) => kind === 'action.v1' || kind === 'action.v2';
const isEffect = (kind: unknown) => kind === 'effect.v1' || kind === 'effect.v2';

function wrongInPair(atom: Json, open: Map<string, string>, whole: boolean): string | null {
  const { kind, cid, status, outcome, ref_action_cid: ref } = atom;
  if (!isAction(kind) && !isEffect(kind)) return "the atom's kind is none that this page knows";
  if (isAction(kind)) {
    if (status !== 'executed' && status !== 'intended' && status !== 'denied') {
      return "the action's status is not one of the three";
    }
    if (open.size === maxOpen) return `more than ${maxOpen} actions wait for their effect`;
    open.set(String(cid), status);
    return null;
  }
  if (outcome !== 'ok' && outcome !== 'error') return "the effect's outcome is neither ok nor error";
  if (typeof ref !== 'string' || (!open.delete(ref) && whole)) {
    return "the effect's ref_action_cid is not an earlier action without an effect";
  }
  return null;
}

// Check is one thing that a receipt claims, and whether it holds.
//
//	text     the action quotes the hash of what is said here: a text, a poll or a form
//	files    it quotes that of the list of files, with their names, sizes and hashes
//	origin   it quotes that of where the message was imported from
//	action   its cid is the hash of its content, and the one in the receipt
//	head     the receipt's head follows from it
//	message  it is about this message: id, room, place, sender, time, thread
//	effect   its effect stands right behind it and put this message there
//
// There is one about files, or an origin, where the message or its action has any.
export interface Check {
  what: 'text' | 'files' | 'origin' | 'words' | 'action' | 'head' | 'message' | 'effect';
  ok: boolean;
}

// verifyReceipt checks that a message's receipt belongs to it, as it was sent, given the atoms that
// GET /api/receipts/{receipt.seq} answered, and the salt that its entry has. What nobody can check
// any more, since a redaction took it away, has no check. That the atoms are in the ledger is for
// verifyAtoms.
export async function verifyReceipt(message: Message, atoms: readonly object[], salt = ''): Promise<{ ok: boolean; checks: Check[] }> {
  const [action = {}, effect = {}] = atoms as readonly Json[];
  const own = await hashesOf(action);
  const done = await hashesOf(effect);
  const { receipt } = message;
  const checks: Check[] = [
    ...(await contentChecks(message, part(action, 'this'), salt)),
    { what: 'action', ok: own?.cid === receipt.cid && action.cid === receipt.cid },
    { what: 'head', ok: own?.head === receipt.head_hash },
    { what: 'message', ok: isAbout(action, message) },
    {
      what: 'effect',
      ok: done?.cid === effect.cid && effect.prev_hash === receipt.head_hash && effect.ref_action_cid === receipt.cid && appends(effect, message),
    },
  ];
  return { ok: checks.every((check) => check.ok), checks };
}

// contentChecks hold all that an action commits to against what the message has.
async function contentChecks(m: Message, about: Json, salt: string): Promise<Check[]> {
  if (isTaken(m)) return [];
  const checks: Check[] = [];
  const files = m.attachments?.length ? m.attachments : undefined;
  for (const [what, content, quoted] of [
    ['text', m.poll ?? m.form ?? said(m), about.body_hash],
    ['files', files, about.attachments_hash],
    ['origin', m.imported_from, about.imported_hash],
    ['words', m.forwarded, about.forwarded_hash],
  ] as const) {
    if (content || quoted !== undefined) checks.push({ what, ok: await opens(quoted, content, salt) });
  }
  return checks;
}

// said is what a text is hashed as, with whom it mentions.
const said = ({ body: { text, mentions } }: Message) => (mentions ? { mentions, text } : { text });

// isTaken tells the place of a message whose content a redaction took away, with its salt.
const isTaken = (m: Message) => m.type === 'entry';

async function opens(quoted: unknown, content: unknown, salt: string): Promise<boolean> {
  try {
    return (await committed(content, salt)) === quoted;
  } catch (err) {
    if (err instanceof TypeError) return false; // nothing, or a lone surrogate, which was never hashed
    throw err;
  }
}

function isAbout(action: Json, m: Message): boolean {
  const about = part(action, 'this');
  return (
    isAction(action.kind) && isSaying(action.did, about.content_type, m) && action.status === 'executed' &&
    action.tenant_id === m.tenant_id && action.when === m.sent_at && part(action, 'who').user_id === m.sender_id &&
    about.msg_id === m.msg_id && about.room_id === m.room_id && about.room_seq === m.room_seq && about.thread === m.thread
  );
}

// isSaying tells whether an act is the one by which such a message comes.
function isSaying(did: unknown, content: unknown, m: Message): boolean {
  const sent = did === 'messenger.send' && content === undefined;
  const asked = did === 'messenger.poll.create' && content === 'application/vnd.ubl.poll+json';
  const filled = did === 'messenger.form.create' && content === 'application/vnd.ubl.form+json';
  return isTaken(m) ? sent || asked || filled : m.poll ? asked : m.form ? filled : sent;
}

function appends(effect: Json, m: Message): boolean {
  const [first] = Array.isArray(effect.effects) ? (effect.effects as Json[]) : [];
  return (
    isEffect(effect.kind) && effect.outcome === 'ok' && effect.tenant_id === m.tenant_id &&
    part(effect, 'pointers').msg_id === m.msg_id &&
    first?.op === 'room.append' && first.room_id === m.room_id && first.room_seq === m.room_seq
  );
}

function part(of: Json, name: string): Json {
  const value = of[name];
  return typeof value === 'object' && value !== null ? (value as Json) : {};
}
