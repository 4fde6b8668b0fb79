// A server in memory that answers and streams as the real one does, as far as the store
// asks it, with faults on request. test/real.test.ts holds the store against the real one.

import { ApiError } from '../src/api';
import { emptied, entryIn, isMessage, isNews, isTaken, rowOf } from '../src/store/entries';
import type { Entry, Former, Member, Message, RoomEntry, RoomEvent } from '../src/types';

export const tenant = 't:test';

interface Room {
  id: string;
  members: Set<string>;
  messages: Message[]; // messages[i].room_seq === i + 1
  floor: number; // room_seq of the oldest that is kept
  ended?: boolean;
}

// Posted is the body of a request.
interface Posted {
  client_request_id: string;
  body?: unknown;
  reply_to?: string | null;
  thread?: string;
  reaction?: string;
  pinned?: boolean;
}

interface Listener {
  user: string;
  send(text: string): void;
  end(): void;
}

// Fault is what happens to a request: "lost" before the server sees it, "unheard" when
// it has done it all but the answer doesn't arrive, or an answer.
export type Fault = 'lost' | 'unheard' | ApiError | null;

export class Server {
  rooms = new Map<string, Room>();
  atoms: { kind: 'action.v1'; cid: string; trace: { request_id: string } }[] = [];
  posted: { key: string; at: number }[] = []; // each send that came this far
  listeners = new Set<Listener>();
  requests: string[] = [];
  counts = true; // messages; nodes of an older release don't
  marks: Map<string, number> | null = null; // how far each has read each room, where the server says so
  names = new Map<string, string>(); // of members, those who have one
  former: Former[] = []; // who has left
  private events: { id: number; event: RoomEvent }[] = [];
  private keys = new Map<string, Message>();
  private life = 1; // differs after each restore, as random ids do

  constructor(private readonly now: () => number) {}

  found(id: string, ...members: string[]) {
    const room: Room = { id, members: new Set(members), messages: [], floor: 1 };
    this.rooms.set(id, room);
    const { room_id, name, mode, created_at } = this.entry(room, members[0]!);
    this.atoms.push({ kind: 'action.v1', cid: `c:${this.atoms.length}`, trace: { request_id: 'req:found' } });
    this.publish({ event: 'room.created', tenant_id: tenant, room_id: id, ts: this.time(), payload: { room_id, name, mode, created_at } });
  }

  say(roomId: string, user: string, text: string, key = '', replyTo: string | null = null, type = 'message', mentions?: string[], thread?: string): Message {
    const room = this.rooms.get(roomId)!;
    const room_seq = room.messages.length + 1;
    this.atoms.push({ kind: 'action.v1', cid: `c:${this.life}-${this.atoms.length}`, trace: { request_id: key } });
    const seq = this.atoms.length;
    this.atoms.push({ kind: 'action.v1', cid: `c:${this.life}-${this.atoms.length}`, trace: { request_id: key } });
    const hex = room_seq.toString(16).padStart(12, '0');
    const message: Message = {
      msg_id: `m:${hex.slice(0, 8)}-${hex.slice(8)}-8000-8000-${String(this.life).padStart(12, '0')}`,
      tenant_id: tenant, room_id: roomId, room_seq, sender_id: user, sent_at: this.time(), type: 'text',
      body: { text, ...(mentions && { mentions }) }, reply_to: replyTo, ...(thread && { thread }), attachments: [],
      receipt: { ledger_shard: '0', seq, cid: `c:${this.life}-${seq - 1}`, head_hash: `h:${seq}` },
    };
    room.messages.push(message);
    if (type === 'message') this.publish({ event: 'message.created', tenant_id: tenant, room_id: roomId, ts: this.time(), payload: { message } });
    return message;
  }

  // enter appends an entry that isn't a message of text. A redaction takes away what it is
  // about, with its edits.
  enter(roomId: string, user: string, type: string, target: Message, text = ''): Message {
    return this.append(roomId, user, type, text, { target: target.msg_id });
  }

  // act appends an entry that an act leaves.
  act(roomId: string, user: string, type: 'membership' | 'proposal', json: Record<string, unknown>): Message {
    return this.append(roomId, user, type, '', { body: { content_type: `application/vnd.ubl.${type}+json`, json } });
  }

  private append(roomId: string, user: string, type: string, text: string, as: Partial<Entry>): Message {
    const room = this.rooms.get(roomId)!;
    const row = this.say(roomId, user, text, '', null, type);
    const entry = { ...entryOf(row), type, ...as };
    const made = rowOf(entry);
    room.messages[row.room_seq - 1] = made;
    if (type === 'redaction') room.messages = room.messages.map((m) => (isTaken(m, entry) || m.msg_id === entry.target ? emptied(m, entry) : m));
    this.publish({ event: 'entry.created', tenant_id: tenant, room_id: roomId, ts: this.time(), payload: { entry } });
    return made;
  }

  // post does what a client asks for with a key, once.
  post(user: string, url: string, body: Posted): unknown {
    const [, , , roomId, , id, what] = url.split('/').map(decodeURIComponent);
    const key = `${user} ${body.client_request_id}`;
    this.posted.push({ key: body.client_request_id, at: this.now() });
    const room = this.rooms.get(roomId!);
    if (!room) throw new ApiError('not_found', 'there is no such room', 404);
    if (!room.members.has(user)) throw new ApiError('not_a_member', 'not a member', 403);
    const known = this.keys.get(key);
    if (id) {
      const made = known ?? this.change(room, user, id, what!, body);
      this.keys.set(key, made);
      return { entry: entryOf(made) };
    }
    const { text, mentions } = body.body as { text: string; mentions?: string[] };
    if (known && known.body.text !== text) throw new ApiError('idempotency_conflict', 'used with another content', 409);
    const message = known ?? this.say(roomId!, user, text, body.client_request_id, body.reply_to ?? null, 'message', mentions, body.thread);
    this.keys.set(key, message);
    return { message };
  }

  // read takes how far a user has read, as POST /api/rooms/{id}/read does, and tells their devices.
  read(user: string, roomId: string, read_seq: number): { read: RoomEntry['read'] } {
    this.requests.push(`${user} has read ${roomId} up to ${read_seq}`);
    this.marks?.set(`${user} ${roomId}`, read_seq);
    const event: RoomEvent = { event: 'room.read', tenant_id: tenant, room_id: roomId, ts: this.time(), payload: { user_id: user, read_seq } };
    for (const listener of this.listeners) if (this.marks && listener.user === user) listener.send(`event: room.read\ndata: ${JSON.stringify(event)}\n\n`);
    return { read: this.readOf(this.rooms.get(roomId)!, user) };
  }

  private readOf(room: Room, user: string): RoomEntry['read'] {
    const read_seq = this.marks?.get(`${user} ${room.id}`) ?? 0;
    const behind = room.messages.filter((m) => m.room_seq > read_seq && m.sender_id !== user && m.type === 'text' && !m.thread);
    return { read_seq, unread: behind.length, mentions: behind.filter((m) => m.body.mentions?.includes(user)).length };
  }

  // change does something to an entry.
  private change(room: Room, user: string, id: string, what: string, body: Posted): Message {
    const target = room.messages.find((m) => m.msg_id === id);
    if (!target) throw new ApiError('not_found', 'there is no such entry', 404);
    if (entryIn(target)?.redacted) throw new ApiError('conflict', 'the target was redacted', 409);
    const of = (content_type: string, json: Record<string, unknown>) => ({ target: id, body: { content_type, json } });
    switch (what) {
      case 'edits':
        return this.append(room.id, user, 'edit', '', { target: id, body: body.body as Entry['body'] });
      case 'reactions':
        return this.append(room.id, user, 'reaction', '', of('application/vnd.ubl.reaction+json', { key: body.reaction }));
      case 'pin':
        return this.append(room.id, user, 'pin', '', of('application/vnd.ubl.pin+json', { pinned: body.pinned }));
      default:
        return this.append(room.id, user, 'redaction', '', of('application/vnd.ubl.redaction+json', {}));
    }
  }

  // entryNow is a page’s entry with what became of it, worked out from those about another.
  entryNow(row: Message, others: readonly Entry[]): Entry {
    const entry = entryOf(row);
    const replies = others.filter((e) => e.thread === row.msg_id);
    if (replies.length > 0) entry.replies = { count: replies.length, room_seq: replies.at(-1)!.room_seq };
    if (entry.type !== 'message' || entry.redacted) return entry;
    for (const by of others) {
      if (by.target !== row.msg_id || !by.body) continue;
      if (by.type === 'edit') entry.edited = { at: by.sent_at, room_seq: by.room_seq, versions: [...(entry.edited?.versions ?? []), by.room_seq], body: by.body };
      if (by.type === 'pin') entry.pinned = by.body.json!.pinned ? true : undefined;
      if (by.type !== 'reaction') continue;
      const key = by.body.json!.key as string;
      entry.reactions ??= [];
      let of = entry.reactions.find((r) => r.key === key);
      if (!of) entry.reactions.push((of = { key, count: 0, by: [] }));
      if (of.by.some((r) => r.user_id === by.author_id)) continue;
      of.count++;
      of.by.push({ user_id: by.author_id, entry_id: by.entry_id });
    }
    return entry;
  }

  // get answers what the store reads.
  get(user: string, url: string): unknown {
    this.requests.push(url);
    const { pathname, searchParams } = new URL(url, 'http://server');
    const [, kind, id, part, of, what] = pathname.split('/').slice(1);
    if (kind === 'whoami') return {};
    if (kind === 'tenant') return { members: [...new Set([user, ...this.names.keys()])].map((id) => this.member(id)), former: this.former };
    if (kind === 'receipts') return { atoms: [this.atoms[Number(id) - 1] ?? refuse('not_found', 404)] };
    if (kind === 'rooms' && !id) return { rooms: [...this.rooms.values()].map((r) => this.entry(r, user)), next_cursor: null };
    const room = this.rooms.get(decodeURIComponent(id!));
    if (!room || (part !== 'entries' && part !== 'history')) return refuse('not_found', 404);
    if (!room.members.has(user)) return refuse('not_a_member', 403);
    const others = room.messages.filter((m) => m.thread || entryIn(m)?.target).map(entryOf);
    if (what === 'thread') return this.thread(room, decodeURIComponent(of!), Number(searchParams.get('cursor') ?? 0), Number(searchParams.get('limit')), others);
    const { rows, next_cursor } = pageOf(room, Number(searchParams.get('cursor') ?? Infinity), Number(searchParams.get('limit') ?? 50));
    return part === 'entries' ? { entries: rows.map((row) => this.entryNow(row, others)), next_cursor } : { messages: rows.filter(isNews), next_cursor };
  }

  // thread is a page of the answers to a message, which come after a cursor.
  private thread(room: Room, root: string, after: number, limit: number, others: readonly Entry[]): unknown {
    const first = room.messages.find((m) => m.msg_id === root) ?? refuse('not_found', 404);
    const answers = room.messages.filter((m) => m.thread === root && m.room_seq > after);
    const page = answers.slice(0, limit);
    return {
      root: this.entryNow(first, others), entries: page.map((m) => this.entryNow(m, others)),
      next_cursor: page.length < answers.length ? page.at(-1)!.room_seq : null,
    };
  }

  // archive ends a room, as its owner does.
  archive(roomId: string, user: string) {
    this.rooms.get(roomId)!.ended = true;
    this.act(roomId, user, 'proposal', { agreement_id: `a:room:${roomId}`, state: 'ended' });
  }

  private member(user_id: string): Member {
    return { user_id, name: this.names.get(user_id), role: 'owner', since: this.time() };
  }

  // listen streams as GET /api/events does.
  listen(user: string, after: string | null, gone: AbortSignal): Response {
    this.requests.push(`/api/events after ${after}`);
    let listener: Listener;
    const body = new ReadableStream<Uint8Array>({
      start: (to) => {
        const text = new TextEncoder();
        listener = { user, send: (s) => to.enqueue(text.encode(s)), end: () => to.close() };
        this.listeners.add(listener);
        gone.addEventListener('abort', () => this.listeners.delete(listener));
        listener.send('retry: 2000\n\n');
        const from = after === null ? Infinity : Number(after.slice(3));
        if (from > this.atoms.length) listener.send(`id: l0-${this.atoms.length}\n\n`);
        for (const { id, event } of this.events) if (id > from) this.tell(listener, id, event);
      },
    });
    return new Response(body, { headers: { 'Content-Type': 'text/event-stream' } });
  }

  // hangUp ends all streams, as a restart does.
  hangUp() {
    for (const listener of this.listeners) listener.end();
    this.listeners.clear();
  }

  // mute loses all streams without a word to either side.
  mute() {
    this.listeners.clear();
  }

  // trim keeps the messages of a room from floor on.
  trim(roomId: string, floor: number) {
    this.rooms.get(roomId)!.floor = floor;
  }

  // gap tells that a message was asked for that is no longer kept.
  gap(roomId: string, from_seq: number) {
    const payload = { from_seq, available_from: this.rooms.get(roomId)!.floor };
    this.publish({ event: 'room.gap', tenant_id: tenant, room_id: roomId, ts: this.time(), payload });
  }

  // join lets a user into a room, as an invitation by its owner does.
  join(roomId: string, user: string) {
    const { members } = this.rooms.get(roomId)!;
    const [owner] = members;
    members.add(user);
    this.say(roomId, owner!, `${user} joined`);
  }

  // leave takes a user out of a room, as its owner does.
  leave(roomId: string, user: string) {
    this.rooms.get(roomId)!.members.delete(user);
    const event: RoomEvent = { event: 'room.left', tenant_id: tenant, room_id: roomId, ts: this.time(), payload: { user_id: user } };
    for (const listener of this.listeners) if (listener.user === user) listener.send(`event: room.left\ndata: ${JSON.stringify(event)}\n\n`);
  }

  // restore brings back how everything was when the room had n messages.
  restore(roomId: string, n: number) {
    const { messages } = this.rooms.get(roomId)!;
    const seq = messages[n]!.receipt.seq - 1;
    this.life++;
    this.atoms.length = seq;
    for (const room of this.rooms.values()) room.messages = room.messages.filter((m) => m.receipt.seq <= seq);
    this.events = this.events.filter((e) => e.id <= seq);
    this.keys.clear();
    this.hangUp();
  }

  // forget is what a day does to keys.
  forget() {
    this.keys.clear();
  }

  private time(): string {
    return new Date(this.now()).toISOString();
  }

  private publish(event: RoomEvent) {
    const id = this.atoms.length;
    this.events.push({ id, event });
    for (const listener of this.listeners) this.tell(listener, id, event);
  }

  private tell(listener: Listener, id: number, event: RoomEvent) {
    if (!this.rooms.get(event.room_id)?.members.has(listener.user)) return;
    listener.send(`id: l0-${id}\nevent: ${event.event}\ndata: ${JSON.stringify(event)}\n\n`);
  }

  private entry(room: Room, user: string): RoomEntry {
    const entry: RoomEntry = { room_id: room.id, name: room.id.slice(2), mode: 'internal', created_at: new Date(0).toISOString(), member: room.members.has(user), ...(room.ended && { status: 'ended' as const }) };
    const { messages } = room;
    const counts = { last_seq: messages.length, ...(this.counts && { messages: messages.filter(isMessage).length }), ...(this.marks && { read: this.readOf(room, user) }) };
    return entry.member ? { ...entry, ...counts, last_message: messages.findLast(isNews) ?? null } : entry;
  }
}

function pageOf(room: Room, cursor: number, limit: number) {
  const kept = room.messages.filter((m) => m.room_seq < cursor && m.room_seq >= room.floor);
  const rows = kept.slice(-limit);
  return { rows, next_cursor: rows.length < kept.length ? rows[0]!.room_seq : null };
}

// entryOf is a row as the server has it.
export function entryOf(row: Message): Entry {
  const { msg_id: entry_id, tenant_id, room_id, room_seq, sender_id: author_id, sent_at, receipt } = row;
  const body = { content_type: `application/vnd.ubl.${row.type}+json`, json: row.body };
  return entryIn(row) ?? {
    kind: 'entry.v2', entry_id, tenant_id, room_id, room_seq, author_id, sent_at, type: 'message', body, receipt,
    ...(row.reply_to && { reply_to: row.reply_to }),
    ...(row.thread && { thread: row.thread }),
  };
}

function refuse(code: 'not_found' | 'not_a_member', status: number): never {
  throw new ApiError(code, code, status);
}
