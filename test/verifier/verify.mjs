#!/usr/bin/env node
// Checks the export of a hash-chained ledger, or whether a commitment in it is to a content. It was written from DESIGN.md alone ("The ledger, for
// those who check it") and shares no code with what writes ledgers.
//
// Exit codes: 0 it holds, 1 it is refused, 65 it holds in part, 64 wrong arguments, 66 a file can't be read.

import { createHash } from 'node:crypto';
import { createReadStream, realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const USAGE = `usage: node verify.mjs FILE|- [--head h:…] [--earlier h:…]
       node verify.mjs --open MEMBER=b:… --act DID --record FILE|-
       node verify.mjs --open MEMBER=b:… [--salt HEX] --content FILE|-`;
const MAX_LINE = 1024 * 1024; // bytes, without the newline
const MAX_LEVELS = 1000;
const GENESIS = 'h:genesis';
const SHARD = '0';

// Refused is why an export doesn't hold. Without a number of its own it is about the line that is being read.
class Refused extends Error {
  constructor(why, line) {
    super(why);
    this.line = line;
  }
}

function must(holds, why) {
  if (!holds) throw new Refused(why);
}

// ---------- Canonical JSON (RFC 8785) ----------

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }); // "ignore" keeps a byte order mark, which JSON.parse then refuses

// canonical writes a value. RFC 8785 takes the forms of numbers and strings from ECMAScript, so these two are the language's own; and sort() without
// arguments compares UTF-16 code units. The line itself is the first level of nesting.
function canonical(value, level = 1) {
  if (typeof value === 'string') return canonicalString(value);
  if (typeof value === 'number') return canonicalNumber(value);
  if (value === null || typeof value !== 'object') return String(value);
  must(level <= MAX_LEVELS, `nested more than ${MAX_LEVELS} levels deep`);
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item, level + 1)).join(',')}]`;
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${canonicalString(name)}:${canonical(value[name], level + 1)}`).join(',')}}`;
}

function canonicalString(value) {
  must(value.isWellFormed(), 'a string has a lone surrogate');
  return JSON.stringify(value);
}

function canonicalNumber(value) {
  const written = String(value);
  must(!/^-?[0-9]+$/.test(written) || Number.isSafeInteger(value), 'an integer is beyond ±(2^53−1)');
  return written;
}

// parseLine reads an object in canonical JSON. It is canonical if writing its value anew gives the same text; of two members with one name
// JSON.parse keeps one, so that the texts differ. Valid UTF-8 has one text for one row of bytes, so comparing texts is comparing bytes.
function parseLine(bytes) {
  let text, value;
  try {
    text = utf8.decode(bytes);
    value = JSON.parse(text);
  } catch {
    throw new Refused(text === undefined ? 'invalid UTF-8' : 'not JSON');
  }
  must(canonical(value) === text, 'not canonical JSON, or a name stands twice in an object');
  must(isObject(value), 'not an object');
  return value;
}

function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

// show quotes what comes from the file, shortened and in ASCII, so that it can't pass for our own words or steer a terminal.
function show(value) {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value);
  const short = text.length > 100 ? text.slice(0, 100) + '...' : text;
  return short.replace(/[^\x20-\x7e]/g, (char) => '\\u' + char.charCodeAt(0).toString(16).padStart(4, '0'));
}

// ---------- Hashes ----------

function sha256(text) {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}

function isHash(prefix, value) {
  return typeof value === 'string' && value.startsWith(prefix) && /^[0-9a-f]{64}$/.test(value.slice(prefix.length));
}

function isHead(value) {
  return value === GENESIS || isHash('h:', value);
}

function cidOf({ cid, ...others }) {
  return 'c:' + sha256(canonical(others));
}

// opens tells whether a commitment is to a content, which comes in chunks. What was committed to without a salt has an empty one.
export async function opens(commitment, salt, chunks) {
  const hash = createHash('sha256').update(Buffer.from(salt, 'hex'));
  for await (const chunk of chunks) hash.update(chunk);
  return commitment === 'b:' + hash.digest('hex');
}

// ---------- What a hash is of ----------

const salted = (r) => r.salt;
const textOf = (name) => (r) => canonical({ [name]: r[name] });
const jsonOf = (name) => (r) => canonical(r[name]);
const pick = (r, names) => Object.fromEntries(names.filter((name) => r[name] !== undefined).map((name) => [name, r[name]]));
const without = (r, names) => Object.fromEntries(Object.entries(r).filter(([name]) => !names.includes(name)));

// HASHES are the rows of the two tables of DESIGN.md, those of a certain act first: the member, the acts that have it (all, where there are
// none), the content by the record as it is served, its salt, and what stands before the hash.
export const HASHES = [
  { member: 'body_hash', content: bodyOf },
  { member: 'attachments_hash', content: jsonOf('attachments') },
  { member: 'forwarded_hash', content: jsonOf('forwarded') },
  { member: 'imported_hash', content: jsonOf('imported_from') },
  { member: 'content_hash', acts: ['person.'], content: (r) => canonical(without(r, ['salt', 'request_id', 'server_time'])) },
  { member: 'content_hash', acts: ['webhook.'], content: (r) => canonical(without(r, ['salt', 'secret', 'request_id', 'server_time'])) },
  { member: 'content_hash', content: (r) => (r.file_id === undefined ? textOf('content')(r) : Buffer.from(r.sha256, 'hex')) },
  { member: 'title_hash', content: textOf('title') },
  { member: 'name_hash', content: textOf('name') },
  { member: 'published_hash', content: jsonOf('published') },
  { member: 'query_hash', content: (r) => canonical({ query: r.query.trim() }) },
  { member: 'prompt_hash', content: textOf('prompt') },
  { member: 'input_hash', acts: ['office.llm.complete'], content: completionAsked },
  { member: 'output_hash', acts: ['office.llm.complete'], content: textOf('completion') },
  { member: 'input_hash', content: jsonOf('arguments') },
  { member: 'output_hash', content: (r) => canonical(pick(r, ['content', 'is_error', 'structured_content'])) },
  { member: 'asked_hash', content: jsonOf('asked') },
  { member: 'mandate_hash', content: jsonOf('mandate') },
  { member: 'client_hash', content: (r) => r.client, salt: (r) => r.client_salt },
  { member: 'url_hash', content: textOf('url') },
  { member: 'terms_hash', acts: ['portal.server.'], content: termsOfServer },
  { member: 'terms_hash', acts: ['tool.access'], content: (r) => canonical(pick(r, ['allowed', 'confirm', 'groups', 'per_minute', 'tool', 'users'])), salt: null },
  { member: 'terms_hash', content: jsonOf('terms'), salt: null },
  { member: 'agreement_hash', content: agreementOf, salt: null, prefix: 'g:' },
  { member: 'definition_hash', content: jsonOf('definition'), salt: null },
  { member: 'files_hash', content: jsonOf('files'), salt: null },
  { member: 'kind_hash', content: (r) => canonical(without(r, ['own'])), salt: null },
  { member: 'value_hash', content: (r) => r.value, salt: null },
  { member: 'link_hash', content: (r) => r.link.split('/').at(-1), salt: null, prefix: '' },
];

// bodyOf is what an entry or a message.v1 says, or an answer to a form.
function bodyOf({ kind, body, values }) {
  if (values !== undefined) return canonical({ values });
  if (kind !== 'entry.v2') return canonical(pick(body, ['mentions', 'text']));
  return body.json === undefined ? Buffer.from(body.bytes, 'base64') : canonical(body.json);
}

function completionAsked(r) {
  const defaults = { cache: false, max_steps: 4, max_tokens: 1000, model: 'gpt-4', temperature: null, tools: [] };
  return canonical({ ...defaults, ...pick(r, [...Object.keys(defaults), 'prompt', 'workspace_id']) });
}

function termsOfServer(r) {
  const texts = ['auth', 'authorize_url', 'client_id', 'header', 'name', 'token_url', 'url'].map((name) => [name, r[name] ?? '']);
  const more = ['command', 'document_url', 'kind'].filter((name) => r[name]).map((name) => [name, r[name]]);
  return canonical({ disabled: r.disabled, scopes: r.scopes ?? [], server: r.server_id, ...Object.fromEntries([...texts, ...more]) });
}

function agreementOf(r) {
  const names = ['created_at', 'created_by', 'ended_at', 'heir', 'id', 'mandate', 'physics', 'salt', 'sealed_at', 'status', 'tenant_id', 'terms', 'type'];
  const members = r.members.map((m) => pick({ ...m, is_service: m.is_service || undefined }, ['is_service', 'role', 'since', 'user_id']));
  return canonical({ ...pick(r, names), members: members.sort((a, b) => (a.user_id < b.user_id ? -1 : 1)) });
}

export const rowOf = (member, act) => HASHES.find((one) => one.member === member && (one.acts ?? ['']).some((of) => act.startsWith(of)));

// opensRecord tells whether a hash that an act has is of a record as it is served, which has the salt, too.
export function opensRecord(member, act, hash, record) {
  const row = rowOf(member, act);
  must(row, `no act has a ${member} of a record`);
  const { content, salt = salted, prefix = 'b:' } = row;
  const sum = createHash('sha256').update(Buffer.from((salt && salt(record)) ?? '', 'hex'));
  return hash === prefix + sum.update(content(record)).digest('hex');
}

// ---------- The check ----------

function mustHaveExactly(object, names, what) {
  for (const name of names) must(Object.hasOwn(object, name), `${what} has no ${name}`);
  for (const name of Object.keys(object)) must(names.includes(name), `${what} has a member ${show(name)} that doesn't belong there`);
}

// Check reads the lines of one export, in order. It keeps the cids of all atoms: behind a hole any of them may be named again.
class Check {
  constructor({ head, earlier } = {}) {
    this.noted = { head, earlier }; // heads that the caller noted
    this.seen = new Set(); // those of them that the ledger came by
    this.line = 0; // the line that is being read
    this.header = null;
    this.nextSeq = 1;
    this.awaits = new Map(); // cid of each atom, or of an action in a hole → whether an effect may still answer it
    this.executed = new Map(); // cid of each executed action without an effect → its line, and the atoms missing before it
    this.missing = 0; // atoms in holes
    this.taken = 0; // those of them that must be actions, since effects answer them
    this.endsInHole = false;
    this.lost = false;
    this.authors = 0;
    this.arrive(GENESIS);
  }

  read({ bytes, hasNewline }) {
    this.line++;
    must(bytes.length <= MAX_LINE, 'the line is longer than 1 MiB');
    must(hasNewline, 'the line does not end with a newline');
    const value = parseLine(bytes);
    must(!Object.hasOwn(value, 'damaged'), 'the export met damage here');
    if (!this.header) return this.readHeader(value);
    must(!this.lost, 'something follows the line about a lost end');
    if (value.format === 'ubl.export.hole.v1') return this.readHole(value);
    if (value.format === 'ubl.export.lost.v1') return this.readLost(value);
    must(!Object.hasOwn(value, 'format'), `unknown format ${show(value.format)}`);
    this.readAtom(value);
  }

  readHeader(header) {
    const { format, tenant_id, ledger_shard, last_seq, head_hash } = header;
    must(format === 'ubl.export.v1' || format === 'ubl.export.v2', `unknown format ${show(format)}`);
    mustHaveExactly(header, ['format', 'tenant_id', 'ledger_shard', 'last_seq', 'head_hash'], 'the header');
    must(typeof tenant_id === 'string', `tenant_id is ${show(tenant_id)}`);
    must(ledger_shard === SHARD, `ledger_shard is ${show(ledger_shard)}`);
    must(Number.isSafeInteger(last_seq) && last_seq >= 0, `last_seq is ${show(last_seq)}`);
    must(isHead(head_hash), 'head_hash has not the form of a head');
    must((head_hash === GENESIS) === (last_seq === 0), 'last_seq and head_hash contradict each other');
    this.header = header;
  }

  // readHole takes a hole as it is. Behind the last one the head is the header's; behind any other, the next atom tells it.
  readHole(hole) {
    this.checkGap(hole, ['from_seq', 'to_seq']);
    const { from_seq: from, to_seq: to } = hole;
    must(from === this.nextSeq, `from_seq is ${show(from)}, and ${this.nextSeq} is next`);
    must(Number.isSafeInteger(to) && to >= from && to <= this.header.last_seq, `to_seq is ${show(to)}`);
    this.missing += to - from + 1;
    this.nextSeq = to + 1;
    this.endsInHole = this.atEnd();
    if (this.endsInHole) this.arrive(this.header.head_hash);
    else this.head = null;
  }

  readLost(lost) {
    this.checkGap(lost, ['after_seq']);
    must(this.atEnd(), `the lost end stands before last_seq, and ${this.nextSeq} is next`);
    must(lost.after_seq === this.header.last_seq, `after_seq is ${show(lost.after_seq)}`);
    this.lost = true;
  }

  checkGap(gap, seqs) {
    mustHaveExactly(gap, ['format', ...seqs, 'tenant_id', 'ledger_shard', 'reason'], 'the line');
    must(gap.tenant_id === this.header.tenant_id, `tenant_id is another, ${show(gap.tenant_id)}`);
    must(gap.ledger_shard === SHARD, `ledger_shard is ${show(gap.ledger_shard)}`);
  }

  readAtom(line) {
    mustHaveExactly(line, ['atom', 'head_hash', 'seq'], 'the line');
    must(!this.atEnd(), 'something follows last_seq');
    must(line.seq === this.nextSeq, `seq is ${show(line.seq)}, and ${this.nextSeq} is next`);
    must(isObject(line.atom), 'atom is no object');
    this.chain(line.atom, line.head_hash);
    this.checkMembers(line.atom);
    if (line.atom.kind.startsWith('action.')) this.checkAction(line.atom);
    else this.checkEffect(line.atom);
    this.nextSeq++;
    must(!this.atEnd() || this.head === this.header.head_hash, 'the head after the last atom is not the one in the header');
  }

  chain(atom, headHash) {
    must(atom.cid === cidOf(atom), "cid is not the atom's hash");
    if (this.head === null) {
      must(isHash('h:', atom.prev_hash), 'prev_hash behind a hole has not the form of a head after an atom');
      this.arrive(atom.prev_hash);
    }
    must(atom.prev_hash === this.head, 'prev_hash is not the head before the atom');
    this.arrive('h:' + sha256(`${this.head}:${atom.cid}`));
    must(headHash === this.head, 'head_hash is not the head after the atom');
  }

  arrive(head) {
    this.head = head;
    if (head === this.noted.head || head === this.noted.earlier) this.seen.add(head);
  }

  checkMembers(atom) {
    must(['action.v1', 'action.v2', 'effect.v1', 'effect.v2'].includes(atom.kind), `unknown kind ${show(atom.kind)}`);
    must(atom.tenant_id === this.header.tenant_id, `the atom is of another tenant, ${show(atom.tenant_id)}`);
    if (Object.hasOwn(atom, 'author')) this.authors++;
    if (atom.kind.endsWith('.v1')) return;
    must(this.header.format !== 'ubl.export.v1', 'an atom of version 2 in an export of version 1');
    must(atom.shard === SHARD, `shard is ${show(atom.shard)}`);
  }

  checkAction(action) {
    const { kind, cid, status, agreement_hash } = action;
    must(['executed', 'intended', 'denied'].includes(status), `unknown status ${show(status)}`);
    const hasAgreement = kind === 'action.v2' && Object.hasOwn(action, 'agreement_hash');
    must(!hasAgreement || isHash('g:', agreement_hash), "agreement_hash has not the form of an Agreement's hash");
    this.note(cid, true);
    if (status === 'executed') this.executed.set(cid, { line: this.line, missingBefore: this.missing });
  }

  checkEffect({ cid, outcome, ref_action_cid: ref }) {
    must(outcome === 'ok' || outcome === 'error', `unknown outcome ${show(outcome)}`);
    must(isHash('c:', ref), 'ref_action_cid has not the form of a cid');
    if (this.awaits.has(ref)) must(this.awaits.get(ref), 'ref_action_cid names an effect, or an action that has its effect');
    else must(this.taken++ < this.missing, 'ref_action_cid names no action before the effect, nor one that can be in a hole');
    this.awaits.set(ref, false);
    this.executed.delete(ref);
    this.note(cid, false);
  }

  // note remembers an atom. Without holes none can come again; with holes it could, or come behind the effect that answers it.
  note(cid, awaits) {
    must(!this.awaits.has(cid), 'the atom was there before, or the effect that answers it');
    this.awaits.set(cid, awaits);
  }

  atEnd() {
    return this.nextSeq > this.header.last_seq;
  }

  // finish checks what only the end of the file tells. What isn't there is said of the line that should have followed.
  finish() {
    this.line++;
    must(this.header !== null, 'there is no header');
    must(this.atEnd(), `the atoms ${this.nextSeq} to ${this.header.last_seq} are not there`);
    this.line--;
    if (!this.lost) this.checkExecuted();
    this.checkNoted();
  }

  // checkExecuted refuses executed actions without an effect, but for those whose effects can be in holes. For each and all such actions behind
  // it there must be missing atoms behind it; and for all of them, atoms that aren't taken for actions.
  checkExecuted() {
    const open = [...this.executed.values()];
    open.forEach(({ line, missingBefore }, i) => {
      const needed = open.length - i;
      const most = Math.min(this.missing - missingBefore, this.missing - this.taken);
      if (needed > most) throw new Refused('an executed action has no effect', line);
    });
  }

  // checkNoted looks for the heads that the caller noted. A head that isn't found is refused, unless it can be in what is missing.
  checkNoted() {
    const { head, earlier } = this.noted;
    if (head && head !== this.header.head_hash) must(this.lost && !this.seen.has(head), `the ledger doesn't end with the head ${head}`);
    if (earlier && !this.seen.has(earlier)) must(this.inPart(), `the ledger doesn't come by the head ${earlier}`);
  }

  inPart() {
    return this.missing > 0 || this.lost;
  }

  // summary is what is said of an export in which nothing was refused.
  summary() {
    const { tenant_id, last_seq, head_hash } = this.header;
    const there = last_seq - this.missing;
    const parts = [`${this.inPart() ? 'in part' : 'ok'}: tenant ${show(tenant_id)}, ${there} of ${last_seq} atoms, head ${head_hash}`];
    if (this.lost) parts.push('more may be missing at the end');
    if (this.endsInHole) parts.push('the head is only claimed');
    if (there === 0) parts.push('the tenant is only claimed');
    if (this.authors > 0) parts.push(`the signatures of ${this.authors} authors were not checked`);
    const absent = new Set(Object.values(this.noted).filter((head) => head && !this.seen.has(head)));
    for (const head of absent) parts.push(`the head ${head} was not found`);
    return parts.join('; ');
  }
}

// ---------- Reading ----------

// linesOf cuts a stream into lines, and never holds much more than one line and one chunk.
async function* linesOf(chunks) {
  let rest = Buffer.alloc(0);
  for await (const chunk of chunks) {
    rest = Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf(0x0a); end !== -1; end = rest.indexOf(0x0a)) {
      yield { bytes: rest.subarray(0, end), hasNewline: true };
      rest = rest.subarray(end + 1);
    }
    if (rest.length > MAX_LINE) break;
  }
  if (rest.length > 0) yield { bytes: rest, hasNewline: false };
}

// verify checks an export, which comes in chunks of bytes. It gives the exit code, what to print, and the line that is refused.
export async function verify(chunks, noted) {
  const check = new Check(noted);
  try {
    for await (const line of linesOf(chunks)) check.read(line);
    check.finish();
    return { code: check.inPart() ? 65 : 0, text: check.summary() };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const line = error.line ?? check.line;
    return { code: 1, line, text: `line ${line}: ${error.message}` };
  }
}

// ---------- The command ----------

const OPTIONS = Object.fromEntries(['head', 'earlier', 'open', 'act', 'record', 'salt', 'content'].map((name) => [name, { type: 'string' }]));

function readArguments() {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: OPTIONS });
  const { head, earlier, open, ...opening } = values;
  if (open !== undefined) return readOpen(values, positionals);
  must(positionals.length === 1, 'one FILE is needed, or -');
  must(Object.keys(opening).length === 0, '--act, --record, --salt and --content go with --open');
  must(isHead(head ?? GENESIS) && isHead(earlier ?? GENESIS), '--head or --earlier is no head');
  return { file: positionals[0], noted: { head, earlier } };
}

function readOpen({ head, earlier, open, act, record, salt, content }, positionals) {
  must(positionals.length === 0 && head === undefined && earlier === undefined, '--open goes with --act and --record, or --salt and --content only');
  const [, member, hash] = /^([a-z_]+)=((?:[bg]:)?[0-9a-f]{64})$/.exec(open) ?? [];
  must(member, '--open is not of the form MEMBER=b:… with 64 lower-case hex digits');
  if (record !== undefined) {
    must(act !== undefined && salt === undefined && content === undefined, '--record goes with --act, and has the salt itself');
    return { file: record, member, hash, act };
  }
  must(act === undefined && hash.startsWith('b:'), '--act goes with --record, which everything but b: needs');
  must(salt === undefined || /^[0-9a-f]{32}$/.test(salt), '--salt is not 32 lower-case hex digits');
  must(content !== undefined, '--content or --record is needed');
  return { file: content, member, hash, salt: salt ?? '' };
}

async function run({ file, noted, member, hash, act, salt }) {
  const chunks = file === '-' ? process.stdin : createReadStream(file);
  if (!member) return verify(chunks, noted);
  const is = act === undefined ? await opens(hash, salt, chunks) : await opensFile(member, act, hash, chunks);
  if (is) return { code: 0, text: `ok: ${member} is a commitment to this content` };
  return { code: 1, text: `refused: ${member} is no commitment to this content` };
}

// opensFile reads a record. One that lacks what its hash is of opens nothing.
async function opensFile(member, act, hash, chunks) {
  const read = [];
  try {
    for await (const chunk of chunks) read.push(chunk);
    return opensRecord(member, act, hash, JSON.parse(Buffer.concat(read).toString()));
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof TypeError || error instanceof Refused)) throw error;
    return false;
  }
}

async function main() {
  let args;
  try {
    args = readArguments();
  } catch (error) {
    console.error(`${error.message}\n${USAGE}`);
    return 64;
  }
  try {
    const { code, text } = await run(args);
    console.log(text);
    return code;
  } catch (error) {
    if (!error.syscall) throw error;
    console.error(error.message);
    return 66;
  }
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) process.exitCode = await main();
