// The store and the verifier against the real server.

import { IDBFactory } from 'fake-indexeddb';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import * as api from '../src/api';
import { canonical, fromGenesis, verifyAtoms, verifyEnd, verifyReceipt } from '../src/chain';
import { beyond, sentAs } from '../src/screens/room/proof';
import { rowOf } from '../src/store/entries';
import type { Env } from '../src/store/env';
import { openStore, type Store } from '../src/store/sync';
import { nameOf } from '../src/text';
import type { Action, Atom, Atoms, Entry, EntryAnswer, Message, ReceiptLookup, Whoami } from '../src/types';
import { binary, folder, RealServer, until } from './real';
import { texts } from './world';

const skip = binary === undefined && 'there is no Go here to build the server with, and no UBL_BIN';
const room = 'r:general';
const server = new RealServer(join(folder, 'data'));
let mine = '';
let theirs = '';
const stores: Store[] = [];

before(async () => {
  if (skip) return;
  await server.start();
  mine = server.token('owner@localhost');
  theirs = server.token('bo@localhost');
  globalThis.fetch = (input, init) => server.fetch(mine, String(input), init);
});

after(async () => {
  stores.forEach((store) => store.stop());
  await server.kill();
  rmSync(folder, { recursive: true });
});

function env(indexedDB: IDBFactory): Env {
  return {
    get: api.get,
    post: api.post,
    fetch: (...request) => fetch(...request),
    newKey: api.newKey,
    now: Date.now,
    random: Math.random,
    timer(ms, f) {
      const timer = setTimeout(f, ms);
      return () => clearTimeout(timer);
    },
    soon: (f) => void setImmediate(f),
    visible: () => true,
    onWake: () => () => undefined,
    onHide: () => () => undefined,
    indexedDB: indexedDB as never,
  };
}

async function open(disk: IDBFactory): Promise<Store> {
  const { identity, tenant_id } = await api.get<Whoami>('/api/whoami');
  const store = await openStore(env(disk), { tenant_id, user_id: identity.user_id }, () => undefined);
  stores.push(store);
  return store;
}

async function say(token: string, text: string): Promise<Message> {
  const body = JSON.stringify({ type: 'text', body: { text } });
  const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': api.newKey() };
  const send = () => server.fetch(token, `/api/rooms/${room}/messages`, { method: 'POST', body, headers });
  let response = await send();
  await until('the server has time for it', async () => response.status !== 503 || (response = await send()).status !== 503);
  assert.equal(response.status, 201);
  return ((await response.json()) as { message: Message }).message;
}

async function history(): Promise<Message[]> {
  return (await api.get<{ messages: Message[] }>(`/api/rooms/${room}/history?limit=200`)).messages;
}

async function ledger(step: number, read = (path: string) => api.get<Atoms>(path)): Promise<{ atoms: Atom[]; head: Atoms['head'] }> {
  const atoms: Atom[] = [];
  for (let from: number | null = 1; ; ) {
    const page: Atoms = await read(`/api/atoms?from=${from}&limit=${step}`);
    atoms.push(...page.atoms);
    from = page.next_cursor;
    if (from === null) return { atoms, head: page.head };
  }
}

test('the whole ledger holds, and each message its receipt', { skip }, async () => {
  for (const text of ['plain', '"quotes" \\ and / and\nlines\t\u0000\u001f\u007f', 'é e\u0301 ש 😀 \u2028\uffff', '{"text":1e20}', 'x'.repeat(8000)]) await say(mine, text);
  await api.post('/api/rooms', { name: 'Ünïcode "room" 😀' });
  const { atoms, head } = await ledger(3);
  const { at, bad } = await verifyAtoms(fromGenesis('t:localhost'), atoms);
  assert.equal(bad, null);
  assert.equal(verifyEnd(at, head), null);
  const messages = await history();
  assert.ok(messages.length >= 6);
  for (const message of messages) {
    const { atoms: pair } = await api.get<ReceiptLookup>(`/api/receipts/${message.receipt.seq}`);
    const { entry } = await api.get<EntryAnswer>(`/api/rooms/${room}/entries/${message.msg_id}`);
    assert.deepEqual((await verifyReceipt(message, pair, entry.salt)).checks.filter((c) => !c.ok), []);
    assert.equal((await verifyReceipt(message, pair)).ok, false); // nobody can check it without
  }
});

// Everything that a person can ask a receipt of, made in a room of its own: how, and what it can't prove.
const asked: Record<string, { make: (room: string) => Promise<string>; beyond?: string[] }> = {
  'a text': { make: (room) => sent(room, { body: { text: 'hello' } }) },
  'a text that mentions everybody': { make: (room) => sent(room, { body: { text: 'hello', mentions: ['@room'] } }) },
  'an answer': { make: async (room) => sent(room, { body: { text: 'yes' }, reply_to: await sent(room, { body: { text: 'yes?' } }) }), beyond: ['proof.reply'] },
  'an answer in a thread': { make: async (room) => sent(room, { body: { text: 'yes' }, thread: await sent(room, { body: { text: 'yes?' } }) }) },
  files: { make: async (room) => sent(room, { body: { text: '' }, attachments: await uploaded(room) }), beyond: ['proof.files'] },
  'an edited text': { make: async (room) => edited(room, await sent(room, { body: { text: 'helo' } })), beyond: ['proof.edited'] },
  'an edited text of which files are gone': {
    make: async (room) => edited(room, await sent(room, { body: { text: 'maps' }, attachments: await uploaded(room) }), { attachments: [] }),
    beyond: ['proof.edited', 'proof.files'],
  },
  'a deleted text': { make: async (room) => deleted(room, await sent(room, { body: { text: 'gone' }, attachments: await uploaded(room) })), beyond: ['proof.deleted'] },
  'a poll': { make: (room) => polled(room, {}), beyond: ['proof.votes'] },
  'an anonymous poll that was voted in, and has ended': {
    make: async (room) => {
      const id = await polled(room, { anonymous: true, multiple: true, ends_at: new Date(Date.now() + 3_600_000).toISOString() });
      await api.post(api.at`/api/rooms/${room}/polls/${id}/votes`, { choices: [2] });
      await api.post(api.at`/api/rooms/${room}/polls/${id}/end`, {});
      return id;
    },
    beyond: ['proof.votes'],
  },
  'a deleted poll': { make: async (room) => deleted(room, await polled(room, {})), beyond: ['proof.deleted'] },
  'an imported text': { make: (room) => entered(room, { text: 'long ago' }, 'text') },
  'an imported poll': { make: (room) => entered(room, { question: 'When?', options: ['Now', 'Later'], result: { counts: [1, 0], voters: 1 } }, 'poll') },
};

const sent = async (room: string, message: object) => (await api.post<{ message: Message }>(api.at`/api/rooms/${room}/messages`, { type: 'text', ...message })).message.msg_id;
const uploaded = (room: string) => Promise.all(['map', 'tide'].map(async (name) => (await api.post<{ upload: { upload_id: string } }>(api.at`/api/rooms/${room}/uploads`, { name: `${name}.txt`, text: name })).upload.upload_id));
const edited = (room: string, id: string, more: object = {}) => api.post(api.at`/api/rooms/${room}/entries/${id}/edits`, { text: 'hello', ...more }).then(() => id);
const deleted = (room: string, id: string) => api.post(api.at`/api/rooms/${room}/entries/${id}/redaction`, {}).then(() => id);
const polled = async (room: string, more: object) => (await api.post<EntryAnswer>(api.at`/api/rooms/${room}/polls`, { question: 'Where?', options: ['Here', 'There'], ...more })).entry.entry_id;

async function entered(room: string, json: object, kind: 'text' | 'poll'): Promise<string> {
  const imported_from = { author_id: 'u:eve', author_name: 'Eve', at: '2026-01-31T12:00:00.000Z', cid: `c:${'0'.repeat(64)}`, seq: 7, tenant_id: 't:else.example' };
  return (await api.post<EntryAnswer>(api.at`/api/rooms/${room}/entries`, { body: { content_type: `application/vnd.ubl.${kind}+json`, json }, imported_from })).entry.entry_id;
}

test('each kind of message has the receipt that it shows, and no other content has', { skip }, async (t) => {
  const { room_id } = (await api.post<{ room: { room_id: string } }>('/api/rooms', { name: 'Harbour' })).room;
  for (const [name, { make, beyond: left = [] }] of Object.entries(asked)) {
    await t.test(name, async () => {
      const id = await make(room_id);
      const { entry } = await api.get<EntryAnswer>(api.at`/api/rooms/${room_id}/entries/${id}`);
      const { atoms } = await api.get<ReceiptLookup>(`/api/receipts/${entry.receipt.seq}`);
      const { entries } = await api.get<{ entries: Entry[] }>(api.at`/api/rooms/${room_id}/entries` + api.query({ cursor: entry.room_seq + 1, limit: 1 }));
      const shown = rowOf(entries[0]!);
      assert.deepEqual(beyond(shown), left);
      const message = sentAs(shown, entry);
      const failing = async (m: Message) => (await verifyReceipt(m, atoms, entry.salt)).checks.filter((c) => !c.ok).map((c) => c.what);
      assert.deepEqual(await failing(message), []);
      for (const [what, how, changed] of changes(message)) assert.deepEqual(await failing({ ...message, ...changed }), [what], how);
    });
  }
});

// changes are what a server could show of a message instead, with the check that finds it.
function changes(m: Message): [what: string, how: string, changed: Partial<Message>][] {
  if (m.type === 'entry') return [['message', 'another sender', { sender_id: 'u:eve' }]];
  const [file] = m.attachments;
  const of: [string, string, Partial<Message>][] = [['files', 'another file', { attachments: [...m.attachments, { file_id: 'f:x', name: 'x', bytes: 1, content_type: 'text/plain', sha256: `s:${'0'.repeat(64)}` }] }]];
  if (m.poll) {
    of.push(['text', 'another option', { poll: { ...m.poll, options: ['Here', 'Nowhere'] } }], ['text', 'another end', { poll: { ...m.poll, ends_at: '2030-01-01T00:00:00.000Z' } }]);
  } else {
    of.push(['text', 'another text', { body: { ...m.body, text: 'bye' } }], ['text', 'another mention', { body: { ...m.body, mentions: ['u:eve'] } }]);
  }
  if (file) {
    const rest = m.attachments.slice(1);
    of.push(['files', 'no file', { attachments: [] }], ['files', 'a file less', { attachments: rest }], ['files', 'another order', { attachments: [...rest, file] }]);
    of.push(['files', 'another name', { attachments: [{ ...file, name: 'x.txt' }, ...rest] }], ['files', 'another content', { attachments: [{ ...file, sha256: rest[0]!.sha256 }, ...rest] }]);
  }
  if (m.imported_from) of.push(['origin', 'another author', { imported_from: { ...m.imported_from, author_name: 'Ana' } }], ['origin', 'none', { imported_from: undefined }]);
  else of.push(['origin', 'one', { imported_from: { tenant_id: 't:x', author_id: 'u:eve', at: m.sent_at } }]);
  return of;
}

// Data that nodes left which were killed, of the version before salts and of one with atoms of version 2.
const kept: [name: string, archive: string, owner: string, room: string, kinds: string[]][] = [
  ['of version 1', 'e2e/testdata/killed', 'ana@load.example', 'r:plans', ['action.v1', 'action.v2', 'effect.v1', 'effect.v2']],
  ['of version 2', 'upgrade/testdata/atoms-v2', 'owner@localhost', 'r:general', ['action.v2', 'effect.v2']],
];

for (const [name, archive, owner, room, kinds] of kept) {
  test(`a ledger with atoms ${name} that a server began and this one goes on with holds`, { skip, timeout: 600_000 }, async () => {
    const data = join(folder, name);
    mkdirSync(data);
    execFileSync('tar', ['-xzf', join(process.env.TESTS_FOLDER ?? resolve('../../../test'), archive, 'data.tar.gz'), '-C', data]);
    const earlier = new RealServer(data);
    await earlier.start();
    try {
      const token = earlier.token(owner);
      const read = async <T>(path: string) => (await (await earlier.fetch(token, path)).json()) as T;
      const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': api.newKey() };
      const sent = await earlier.fetch(token, `/api/rooms/${room}/messages`, { method: 'POST', headers, body: JSON.stringify({ type: 'text', body: { text: 'of today' } }) });
      assert.equal(sent.status, 201);
      const { atoms, head } = await ledger(500, read);
      const { at, bad } = await verifyAtoms(fromGenesis(`t:${owner.split('@')[1]}`), atoms);
      assert.equal(bad, null);
      assert.equal(verifyEnd(at, head), null);
      assert.deepEqual([...new Set(atoms.map((atom) => atom.kind))].sort(), kinds);
      await receiptsHold(read, room);
    } finally {
      await earlier.kill();
    }
  });
}

// receiptsHold checks the receipts of a room's newest messages.
async function receiptsHold(read: <T>(path: string) => Promise<T>, room: string) {
  const { entries } = await read<{ entries: Entry[] }>(`/api/rooms/${room}/entries?limit=20`);
  const messages = entries.filter((entry) => entry.type === 'message');
  assert.ok(messages.length > 0);
  for (const entry of messages) {
    const { atoms } = await read<ReceiptLookup>(`/api/receipts/${entry.receipt.seq}`);
    const { checks } = await verifyReceipt(sentAs(rowOf(entry), entry), atoms, entry.salt);
    assert.deepEqual(checks.filter((c) => !c.ok), []);
  }
}

test('canonical JSON here is that of the Go side, byte by byte', { skip }, async () => {
  const response = await server.fetch(mine, '/api/export');
  const lines = (await response.text()).trimEnd().split('\n');
  assert.ok(lines.length > 10);
  for (const line of lines) assert.equal(canonical(JSON.parse(line)), line);
});

test('two people talk', { skip }, async () => {
  const store = await open(new IDBFactory());
  await until('the store is live', () => store.connection.value === 'live' && store.synced.value);
  const window = store.open(room);
  const text = await say(theirs, 'hello from Bo');
  await until('it is there', () => texts(window).at(-1) === 'hello from Bo');
  await until('Bo has a name', () => store.people.byId.value.get(text.sender_id)?.email === 'bo@localhost');
  const { length } = texts(window);
  await store.send(room, 'hello Bo', text.msg_id);
  await until('it has arrived', () => store.outbox.entries.value.length === 0);
  await until('it is shown once', () => texts(window).length === length + 1 && texts(window).at(-1) === 'hello Bo');
  assert.equal((await history()).at(-1)!.reply_to, text.msg_id);
  assert.equal((await store.message(room, text.msg_id))?.body.text, 'hello from Bo');
  const renamed = await server.fetch(theirs, api.at`/api/tenant/members/${text.sender_id}`, { method: 'PATCH', body: JSON.stringify({ name: 'Bo Lindqvist' }), headers: { 'Content-Type': 'application/json' } });
  assert.equal(renamed.status, 200);
  await store.people.refresh();
  assert.equal(nameOf(store.people.byId.value.get(text.sender_id)!), 'Bo Lindqvist');
  store.stop();
});

test('the receipt of a message names the key under which it was sent, and half a character is sent as none', { skip }, async () => {
  const store = await open(new IDBFactory());
  await until('the store is live', () => store.synced.value);
  const sending = store.send(room, 'named \ud83d');
  const { id } = store.outbox.entries.value[0]!;
  await sending;
  await until('it has arrived', () => store.outbox.entries.value.length === 0);
  const message = (await history()).at(-1)!;
  assert.equal(message.body.text, 'named \ufffd');
  const { atoms } = await api.get<ReceiptLookup>(`/api/receipts/${message.receipt.seq}`);
  assert.deepEqual((atoms[0] as Action).trace, { request_id: id });
  store.stop();
});

test('the server is killed again and again: everything arrives once, in order', { skip, timeout: 600_000 }, async () => {
  const disk = new IDBFactory();
  let store = await open(disk);
  await until('the store is live', () => store.synced.value);
  const want: string[] = [];
  for (let round = 1; round <= 4; round++) {
    for (let i = 1; i <= 10; i++) {
      want.push(`round ${round} message ${i}`);
      void store.send(room, want.at(-1)!);
    }
    // Now some have arrived, one is on its way, and the rest waits.
    await until('some have arrived', () => store.outbox.entries.value.length < 8);
    await server.kill();
    await say(theirs, 'lost').then(() => assert.fail('the server is still there'), () => undefined);
    if (round % 2 === 0) store.stop();
    await server.start();
    if (round % 2 === 0) store = await open(disk);
    await until('all have arrived', () => store.outbox.entries.value.length === 0);
  }
  const arrived = (await history()).map((m) => m.body.text).filter((text) => text.startsWith('round'));
  assert.deepEqual(arrived, want);
  const window = store.open(room);
  await until('all is shown', () => texts(window).slice(-want.length).join() === want.join());
  store.stop();
});

test('the server is restored from a copy: the store shows what it has now', { skip, timeout: 600_000 }, async () => {
  await server.kill();
  cpSync(server.data, join(folder, 'copy'), { recursive: true });
  await server.start();
  const disk = new IDBFactory();
  const store = await open(disk);
  await until('the store is live', () => store.synced.value && store.connection.value === 'live');
  const window = store.open(room);
  for (let i = 0; i < 5; i++) await say(theirs, `before ${i}`);
  await until('it is there', () => texts(window).at(-1) === 'before 4');
  await server.kill();
  rmSync(server.data, { recursive: true });
  cpSync(join(folder, 'copy'), server.data, { recursive: true });
  await server.start();
  for (let i = 0; i < 8; i++) await say(theirs, `after ${i}`);
  await until('it was noticed', () => store.restored.value === 1);
  const now = (await history()).map((m) => m.body.text);
  await until('it shows what the server has', () => texts(window).slice(-20).join() === now.slice(-20).join());
  assert.ok(!texts(window).includes('before 0'));
  store.stop();
});
