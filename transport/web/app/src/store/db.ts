// db.ts is what this browser keeps: one IndexedDB database for each tenant and user.
// Where the browser lends no IndexedDB (or doesn't open it), a memory that ends with
// the tab takes its place, and the app works as long as it has a network.

import type { Former, Member, Message, RoomSummary } from '../types';
import type { Count } from './reading';

// RoomRow is a room of which one is a member, as far as it is known here. Messages
// below available_from are gone for good; 0 where that isn't known.
export interface RoomRow extends RoomSummary {
  member: boolean;
  last_seq: number;
  last_message: Message | null;
  messages?: number; // among the entries up to last_seq, absent where that isn't known
  available_from: number;
  keeps?: number; // for how many hours its messages are kept, 0 for ever; absent where that isn't known
  count?: Count; // absent where the server doesn't count
}

// Known is a member, or who was one: of those the server tells the name alone, and this
// device may have met them before.
export type Known = Former & Partial<Omit<Member, keyof Former>> & { left?: true };

// Act is something done to an entry. target is the message, or for "redaction" also one's
// reaction to it.
export type Act =
  | { type: 'edit'; target: string; text: string; mentions?: string[] }
  | { type: 'reaction'; target: string; key: string }
  | { type: 'redaction'; target: string }
  | { type: 'pin'; target: string; pinned: boolean };

// Outgoing is a message that isn't known to have arrived.
export interface Outgoing {
  id: string; // the client_request_id of every try
  room_id: string;
  text: string;
  reply_to: string | null;
  thread?: string; // the msg_id of the message that began it
  mentions?: string[];
  act?: Act; // instead of a message, what is done to one; text is empty then
  created_at: number; // in ms; rises with every message, and so gives their order
  // after_seq is the room's last_seq when it was written: wherever the message has
  // arrived, it stands behind that.
  after_seq: number;
  state: 'waiting' | 'failed';
  error: { code: string; message: string } | null;
  files?: SentFile[]; // which are uploaded before it is sent
}

// SentFile names a file of this device that a message carries: an Upload by its id.
export interface SentFile {
  id: string;
  name: string;
  bytes: number;
}

// Draft is what was written in a place: a room, or a thread.
export interface Draft {
  room_id: string; // of a thread its placeOf
  text: string;
  reply_to: string | null;
  mentions?: Named[]; // who was chosen, as the text names them
}

export type Named = [name: string, id: string];

// placeOf is where something is written: in a room, or in the thread of one of its messages.
export const placeOf = (roomId: string, thread?: string) => (thread ? `${roomId} ${thread}` : roomId);

// isIn tells that a place is a room, or a thread there.
export const isIn = (place: string, roomId: string) => place === roomId || place.startsWith(`${roomId} `);

// Upload is a file that is on its way into a room. It is kept with its content, until the
// message that carries it has arrived.
export interface Upload {
  id: string;
  room_id: string;
  thread?: string; // in which the message is written
  name: string;
  content: Blob;
  sent: number; // bytes that have arrived
  state: 'waiting' | 'up' | 'failed';
  upload_id?: string; // the server's, once it is begun
  begun_at?: number; // in ms
  place: number; // among those of a message, rising
  message?: string; // the id of the outgoing message that carries it; missing while it is written
  error?: { code: string; message: string };
}

// ReadMark says up to where one has read a room on this device.
export interface ReadMark {
  room_id: string;
  seq: number;
  messages?: number; // among the entries up to seq, absent where that isn't known
}

// Answer is what the server answered, at a time in ms.
export interface Answer {
  name: string;
  value: unknown;
  at: number;
}

// Unsaved is what one has written in a document, or in a new one, and not saved. known is
// the version that it was begun on, 0 for a new document.
export interface Unsaved {
  name: string;
  title: string;
  content: string;
  known: number;
}

// Meta is a value of its own: "cursor", "anchor".
export interface Meta {
  name: string;
  value: unknown;
}

interface Shapes {
  rooms: RoomRow;
  messages: Message;
  outbox: Outgoing;
  drafts: Draft;
  marks: ReadMark;
  people: Known;
  answers: Answer;
  unsaved: Unsaved;
  meta: Meta;
  uploads: Upload;
}

export type Kind = keyof Shapes;
type Key = string | [string, number];

// Change is one step of a write; a write is done whole or not at all. clear takes the
// keys from low to high, both included, and everything without them.
export type Change =
  | { [K in Kind]: { put: K; value: Shapes[K] } }[Kind]
  | { del: Kind; key: Key }
  | { clear: Kind; low?: Key; high?: Key };

export interface Db {
  // shared tells whether other tabs see the same data.
  readonly shared: boolean;
  get<K extends Kind>(kind: K, key: Key): Promise<Shapes[K] | undefined>;
  // all is everything in the order of keys, or what lies from low to high.
  all<K extends Kind>(kind: K, low?: Key, high?: Key): Promise<Shapes[K][]>;
  // newest are a room's last messages, at most n, in order.
  newest(roomId: string, n: number): Promise<Message[]>;
  // write resolves when the change is kept. strict waits for the disk itself.
  write(changes: Change[], strict?: boolean): Promise<void>;
  close(): void;
  // wipe deletes the database. Nothing can be written after it, from any tab.
  wipe(): Promise<void>;
}

const keyPaths: Record<Kind, string | string[]> = {
  rooms: 'room_id',
  messages: ['room_id', 'room_seq'],
  outbox: 'id',
  drafts: 'room_id',
  marks: 'room_id',
  people: 'user_id',
  answers: 'name',
  unsaved: 'name',
  meta: 'name',
  uploads: 'id',
};

const kinds = Object.keys(keyPaths) as Kind[];

// version 2 has answers, 3 what is unsaved. From 4 on there are uploads, and messages tell what
// became of them: those kept before are read again.
const version = 4;

// opening is how long a database may take to open, in ms: one that hangs, as Safari's
// may after a crash, would hold up the whole app.
const opening = 4000;

// openDb opens the database of that name. onGone is called when another tab wiped it.
export async function openDb(factory: IDBFactory | undefined, name: string, onGone: () => void): Promise<Db> {
  if (!factory) return new MemoryDb();
  const disk = new DiskDb(factory, name, onGone);
  try {
    await disk.connect();
    return disk;
  } catch {
    return new MemoryDb();
  }
}

class DiskDb implements Db {
  readonly shared = true;
  private connection: Promise<IDBDatabase> | null = null;
  private ended = false;

  constructor(
    private readonly factory: IDBFactory,
    private readonly name: string,
    private readonly onGone: () => void,
  ) {}

  connect(): Promise<IDBDatabase> {
    if (this.ended) return Promise.reject(new Error('the database is closed'));
    this.connection ??= this.open().catch((err: unknown) => {
      this.connection = null;
      throw err;
    });
    return this.connection;
  }

  private open(): Promise<IDBDatabase> {
    return new Promise<IDBDatabase>((resolve, reject) => {
      let late = false;
      const timer = setTimeout(() => {
        late = true;
        reject(new Error("couldn't open the database in time"));
      }, opening);
      const request = this.factory.open(this.name, version);
      request.onupgradeneeded = ({ oldVersion }) => {
        const { result: db } = request;
        if (oldVersion > 0 && oldVersion < 4) request.transaction!.objectStore('messages').clear();
        for (const kind of kinds) if (!db.objectStoreNames.contains(kind)) db.createObjectStore(kind, { keyPath: keyPaths[kind] });
      };
      request.onerror = () => reject(request.error ?? new Error("couldn't open the database"));
      request.onsuccess = () => {
        clearTimeout(timer);
        if (late) return request.result.close();
        this.watch(request.result);
        resolve(request.result);
      };
    });
  }

  // watch gives the connection up where the browser or another tab wants it.
  private watch(db: IDBDatabase) {
    db.onclose = () => (this.connection = null);
    db.onversionchange = (event) => {
      db.close();
      this.connection = null;
      if (event.newVersion !== null || this.ended) return;
      this.ended = true;
      this.onGone();
    };
  }

  async get<K extends Kind>(kind: K, key: Key): Promise<Shapes[K] | undefined> {
    return this.run([kind], 'readonly', (tx) => tx.objectStore(kind).get(key));
  }

  async all<K extends Kind>(kind: K, low?: Key, high?: Key): Promise<Shapes[K][]> {
    return this.run([kind], 'readonly', (tx) => tx.objectStore(kind).getAll(range(low, high)));
  }

  async newest(roomId: string, n: number): Promise<Message[]> {
    const found: Message[] = [];
    await this.run(['messages'], 'readonly', (tx) => {
      const request = tx.objectStore('messages').openCursor(range([roomId, 0], [roomId, Infinity]), 'prev');
      request.onsuccess = () => {
        if (!request.result) return;
        found.push(request.result.value as Message);
        if (found.length < n) request.result.continue();
      };
    });
    return found.reverse();
  }

  async write(changes: Change[], strict = false): Promise<void> {
    if (changes.length === 0) return;
    const named = [...new Set(changes.map(kindOf))];
    await this.run(named, 'readwrite', (tx) => changes.forEach((change) => apply(tx, change)), strict);
  }

  // run does a transaction, and once more where its connection was lost: iOS ends
  // connections of pages that it suspends.
  private async run<T>(of: Kind[], mode: IDBTransactionMode, work: (tx: IDBTransaction) => IDBRequest<T> | void, strict = false): Promise<T> {
    for (let again = false; ; again = true) {
      const db = await this.connect();
      try {
        return await transact(db, of, mode, work, strict);
      } catch (err) {
        if (again || !lost(err)) throw err;
        db.close();
        this.connection = null;
      }
    }
  }

  close() {
    this.ended = true;
    void this.connection?.then((db) => db.close(), () => undefined);
  }

  async wipe() {
    this.ended = false;
    // A frozen tab can hold up the deletion for long, so first take what is in it.
    await this.write(kinds.map((kind) => ({ clear: kind })), true).catch(() => undefined);
    this.close();
    await new Promise<void>((resolve) => {
      const request = this.factory.deleteDatabase(this.name);
      request.onsuccess = request.onerror = request.onblocked = () => resolve();
    });
  }
}

function transact<T>(db: IDBDatabase, of: Kind[], mode: IDBTransactionMode, work: (tx: IDBTransaction) => IDBRequest<T> | void, strict: boolean): Promise<T> {
  return new Promise((resolve, reject) => {
    const tx = db.transaction(of, mode, { durability: strict ? 'strict' : 'relaxed' });
    let request: IDBRequest<T> | void;
    tx.oncomplete = () => resolve(request?.result as T);
    tx.onabort = () => reject(tx.error ?? new DOMException('the transaction was aborted', 'AbortError'));
    try {
      request = work(tx);
      if (mode === 'readwrite') tx.commit?.(); // else a page that is left takes it back
    } catch (err) {
      tx.abort();
      reject(err);
    }
  });
}

function apply(tx: IDBTransaction, change: Change) {
  const store = tx.objectStore(kindOf(change));
  if ('put' in change) store.put(change.value);
  else if ('del' in change) store.delete(change.key);
  else if (change.low === undefined && change.high === undefined) store.clear();
  else store.delete(range(change.low, change.high)!);
}

function kindOf(change: Change): Kind {
  return 'put' in change ? change.put : 'del' in change ? change.del : change.clear;
}

function range(low?: Key, high?: Key): IDBKeyRange | undefined {
  if (low !== undefined && high !== undefined) return IDBKeyRange.bound(low, high);
  if (low !== undefined) return IDBKeyRange.lowerBound(low);
  return high === undefined ? undefined : IDBKeyRange.upperBound(high);
}

// lost tells that a connection is gone, and not that the transaction was wrong.
function lost(err: unknown): boolean {
  return err instanceof DOMException && ['InvalidStateError', 'UnknownError', 'AbortError'].includes(err.name);
}

// isFull tells that the browser has no space left for us.
export function isFull(err: unknown): boolean {
  return err instanceof DOMException && err.name === 'QuotaExceededError';
}

// MemoryDb keeps all but messages, of which the server has as many as one likes to
// read and memory has not.
class MemoryDb implements Db {
  readonly shared = false;
  private readonly kept = new Map<Kind, Map<string, unknown>>(kinds.map((kind) => [kind, new Map()]));

  async get<K extends Kind>(kind: K, key: Key): Promise<Shapes[K] | undefined> {
    return this.kept.get(kind)!.get(String(key)) as Shapes[K] | undefined;
  }

  async all<K extends Kind>(kind: K): Promise<Shapes[K][]> {
    return [...this.kept.get(kind)!.values()] as Shapes[K][];
  }

  async newest(): Promise<Message[]> {
    return [];
  }

  async write(changes: Change[]): Promise<void> {
    for (const change of changes) {
      const of = this.kept.get(kindOf(change))!;
      if ('del' in change) of.delete(String(change.key));
      else if ('clear' in change) of.clear();
      else if (change.put !== 'messages') of.set(keyOf(change), change.value);
    }
  }

  close() {}

  async wipe() {
    for (const of of this.kept.values()) of.clear();
  }
}

function keyOf({ put, value }: Extract<Change, { put: Kind }>): string {
  const path = keyPaths[put];
  return String((value as unknown as Record<string, unknown>)[String(path)]);
}
