// sync.ts puts the store together for one person in one browser: what is kept here is
// shown at once, the stream keeps it up to date, and what is written goes out.
//
// The way of an event: the leading tab's stream reads it, a batch with all that came
// since the last frame goes into the signals, into the database together with the
// cursor behind it, and to the other tabs. A tab that slept may not have heard them: when
// it wakes, or learns that another has taken the lead from it, it reads what was kept.
// Where an event is lost nonetheless, a room's last_seq tells, and whoever shows the room
// reads what is missing.

import { batch as together, effect, signal } from '@preact/signals';
import { at, query } from '../api';
import type { Entry, Message, RoomEvent, RoomSummary } from '../types';
import type { Batch, Commit } from './batch';
import { isFull, openDb, placeOf, type Act, type Change, type Db, type Draft, type RoomRow } from './db';
import { Drafts } from './drafts';
import { entryIn, keptIn, redactionIn, rowOf } from './entries';
import type { Env } from './env';
import { Expiry } from './expiry';
import { History, seqOf } from './history';
import { Leader, type News } from './leader';
import { Listing } from './listing';
import { RoomWindow } from './messages';
import { Outbox, type Also } from './outbox';
import { People } from './people';
import { Reading } from './reading';
import { Rooms } from './rooms';
import type { Follower, RoomState } from './rows';
import { membersOf, Shelf } from './shelf';
import { mayBe } from './sent';
import { Stream } from './stream';
import { Unsaved } from './unsaved';
import { Uploads } from './uploads';

// Who is whose store it is.
export interface Who {
  tenant_id: string;
  user_id: string;
}

// stale is the age in ms from which a cursor is not worth following: what was missed
// is read where somebody looks at it.
const stale = 3600_000;

// kept is how many messages of a room stay when the browser has no more space.
const kept = 200;

// Cursor is the place in the stream behind what is in the database.
interface Cursor {
  id: string;
  at: number; // in ms
}

// openStore opens the store and starts it. onGone is called when another tab has
// signed out and wiped it.
export async function openStore(env: Env, who: Who, onGone: () => void): Promise<Store> {
  const name = nameOf(who);
  const db = await openDb(env.indexedDB, name, onGone);
  const store = new Store(env, who, name, db);
  await store.start();
  return store;
}

// wipeStore leaves nothing of a store that isn't open here.
export async function wipeStore(env: Env, who: Who): Promise<void> {
  env.session?.removeItem(nameOf(who));
  await (await openDb(env.indexedDB, nameOf(who), () => undefined)).wipe();
}

const nameOf = (who: Who) => `ubl/${who.tenant_id}/${who.user_id}`;

export class Store {
  readonly rooms: Rooms;
  readonly outbox: Outbox;
  readonly people: People;
  readonly shelf: Shelf;
  // connection is how the stream of this browser is, whichever tab keeps it.
  readonly connection;
  readonly unsaved: Unsaved;
  readonly uploads: Uploads;
  // restored counts how often the server turned out not to be what it was, as after
  // a backup was restored. All that came from it was read anew then.
  readonly restored = signal(0);
  // full tells that the browser has no space to keep more.
  readonly full = signal(false);
  // lost are the names of rooms that one has just turned out to be in no longer.
  readonly lost = signal<readonly string[]>([]);
  // person counts how often what one wants to hear of has changed.
  readonly person = signal(0);
  // synced tells that the list of rooms is the server's, and not only what was kept.
  readonly synced;

  private readonly listing: Listing;
  private readonly drafts: Drafts;
  private readonly reading: Reading;
  private readonly history: History;
  private readonly stream: Stream;
  private readonly leader: Leader;
  private readonly windows = new Set<Follower>();
  private readonly expiry: Expiry;
  private readonly stops: (() => void)[] = [];
  private cursor: Cursor | null = null;
  private stopped = false;
  private clearing: Promise<void> = Promise.resolve(); // of what another server had

  constructor(
    private readonly env: Env,
    readonly who: Who,
    name: string,
    private readonly db: Db,
  ) {
    this.rooms = new Rooms(who.user_id);
    this.people = new People(env, this.commit);
    const write = (changes: Change[]) => (this.stopped ? Promise.resolve() : this.keep(changes));
    this.shelf = new Shelf(env, db, write);
    this.unsaved = new Unsaved(db, write);
    this.uploads = new Uploads(env, name, db, write);
    this.outbox = new Outbox(env, who.user_id, this.commit, this.uploads);
    this.reading = new Reading(env);
    this.history = new History(env, db, (id, floor) => this.raise(id, floor), (id) => this.rooms.get(id)?.last_seq ?? 0);
    this.expiry = new Expiry(env, db, this.rooms, this.windows, (id, floor) => this.raise(id, floor));
    this.drafts = new Drafts(env, name, this.commit);
    this.listing = new Listing(env, this.rooms, { commit: this.commit, keep: (changes) => this.keep(changes), behind: (id, seq) => this.behind(id, seq), replaced: () => this.replaced() });
    this.synced = this.listing.synced;
    this.stream = new Stream(env, { opened: () => void this.opened(), take: (events, cursor) => this.take(events, cursor) });
    this.connection = this.stream.connection;
    this.leader = new Leader(env, name, db.shared, {
      lead: (until) => void this.lead(until),
      lost: () => void this.reload(),
      asked: () => this.outbox.flush(),
      hear: (news) => this.hear(news),
      awake: () => this.awake(),
    });
  }

  // start shows what is kept, and then goes after what is new.
  async start() {
    await this.load();
    this.expiry.start();
    void this.drafts.resume();
    void this.uploads.start();
    this.leader.start();
    this.stops.push(
      effect(() => {
        if (this.leader.leading.value) this.leader.tell(this.awake());
      }),
      this.env.onWake(() => this.wake()),
      this.env.onHide(() => {
        this.drafts.leave();
        this.reading.leave();
      }),
    );
  }

  // stop ends all work, and keeps what is kept.
  stop() {
    if (this.stopped) return;
    void this.drafts.keep();
    this.stopped = true;
    this.stops.forEach((stop) => stop());
    this.leader.stop();
    this.listing.stop();
    this.expiry.stop();
    this.people.stop();
    this.uploads.stop();
    this.reading.stop();
    for (const window of this.windows) window.close();
    this.db.close();
  }

  // wipe ends all work, and leaves nothing behind: for signing out.
  async wipe() {
    this.stop();
    this.drafts.forget();
    await this.db.wipe();
  }

  // open shows a room, until the window is closed.
  open(roomId: string): RoomWindow {
    return this.follow(roomId, (env, history, room, onClose) => new RoomWindow(env, roomId, history, room, onClose));
  }

  // follow has a window of a room know of all that comes there, until it is closed.
  follow<W extends Follower>(roomId: string, make: (env: Env, history: History, room: RoomState, onClose: (w: Follower) => void) => W): W {
    const room = () => this.rooms.get(roomId);
    const state: RoomState = {
      last: () => room()?.last_seq ?? 0,
      floor: () => room()?.available_from ?? 0,
      pending: () => this.outbox.entries.value.filter((e) => e.room_id === roomId),
      name: (msgId) => this.outbox.names.get(msgId),
      mayBe: (entry, message) => mayBe(entry, this.who.user_id, message),
      me: () => this.who.user_id,
    };
    const window = make(this.env, this.history, state, (closed) => this.windows.delete(closed));
    this.windows.add(window);
    return window;
  }

  // send has a message kept and sent, and shows it at once. The draft of its place ends.
  send(roomId: string, text: string, replyTo: string | null = null, also: Also = {}): Promise<void> {
    this.drafts.drop(placeOf(roomId, also.thread));
    const id = this.env.newKey();
    this.uploads.give(also.files ?? [], id);
    const sent = this.outbox.add(roomId, text, replyTo, this.rooms.get(roomId)?.last_seq ?? 0, also, id);
    return sent.then(() => this.leader.ask());
  }

  // act has something done to a message, and shows it at once.
  act(roomId: string, act: Act): Promise<void> {
    const waits = this.outbox.entries.value.find(({ id, act: of }) => of && act.type === 'redaction' && id === act.target);
    if (waits) return this.outbox.withdraw(waits.id);
    return this.outbox.act(roomId, act, this.rooms.get(roomId)?.last_seq ?? 0).then(() => this.leader.ask());
  }

  // keeps notes for how many hours a room keeps its messages, 0 for ever.
  keeps(roomId: string, hours: number) {
    const row = this.rooms.row(roomId);
    if (!row || (row.keeps ?? 0) === hours) return;
    void this.commit({ rooms: [{ ...row, keeps: hours }] });
    this.expiry.start();
  }

  // versions are what a message said, oldest first, and what it says now last.
  async versions(message: Message): Promise<Message[]> {
    const seqs = [message.room_seq, ...(message.edited?.versions ?? [])];
    const rows = await Promise.all(seqs.map((seq) => this.env.get<{ entries: Entry[] }>(at`/api/rooms/${message.room_id}/entries` + query({ cursor: seq + 1, limit: 1 }))));
    return rows.flatMap(({ entries: [entry] }) => (entry ? [rowOf({ ...entry, type: 'message', edited: undefined })] : []));
  }

  // retry sends a message once more that has failed; discard gives it up.
  retry(id: string): Promise<void> {
    return this.outbox.retry(id).then(() => this.leader.ask());
  }

  discard(id: string): Promise<void> {
    return this.outbox.discard(id);
  }

  // message finds a message by its id; null where the room has none such.
  async message(roomId: string, msgId: string): Promise<Message | null> {
    const found = await this.messageAt(roomId, seqOf(msgId));
    return found?.msg_id === msgId ? found : null;
  }

  // messageAt finds what has a place in a room; null where nothing has.
  async messageAt(roomId: string, seq: number): Promise<Message | null> {
    return seq > 0 ? await this.history.one(roomId, seq) : null;
  }

  // keptOf are the messages of a room that are kept here, for searching without a network.
  keptOf(roomId: string): Promise<Message[]> {
    return this.db.all('messages', [roomId, 0], [roomId, Infinity]).catch(() => []);
  }

  // markRead notes that everything up to a message was read, and what isn't shown behind it.
  markRead(roomId: string, seq: number) {
    const room = this.rooms.get(roomId);
    const window = [...this.windows].find((w): w is RoomWindow => w instanceof RoomWindow && w.roomId === roomId);
    const end = window?.reach(seq) ?? seq;
    if (!room || end <= room.read_seq) return;
    const left = window?.messagesIn(end + 1, room.last_seq);
    const messages = room.messages === undefined || left === undefined ? undefined : room.messages - left;
    void this.commit({ marks: [{ room_id: roomId, seq: end, messages }] });
    this.reading.note(roomId, end);
  }

  // behind has the server told what it doesn't know of how far one has read here.
  private behind(roomId: string, seq: number) {
    const room = this.rooms.get(roomId);
    if (room && room.read_seq > seq) this.reading.note(roomId, room.read_seq);
  }

  // draft is what was written in a place and not sent; null where there is nothing.
  draft(place: string): Draft | null {
    return this.drafts.of(place) ?? this.rooms.draftOf(place);
  }

  // setDraft keeps what was written and not sent.
  setDraft(draft: Draft) {
    this.drafts.set(draft);
  }

  // listen tells who is writing in a room, until the signal ends it. The stream of all rooms
  // doesn't say so.
  listen(roomId: string, take: (event: RoomEvent) => void, until: AbortSignal) {
    const sink = { opened: () => undefined, take: async (events: RoomEvent[]) => events.forEach(take) };
    void new Stream(this.env, sink, at`/api/events/rooms/${roomId}` + '?only=typing', true).run(null, until);
  }

  // refresh reads the list of rooms now, as after one was left or joined.
  async refresh(): Promise<void> {
    await this.listing.refresh();
  }

  // load shows what is kept. A database that can't be read is as good as an empty one.
  private async load() {
    const { db } = this;
    const kept = await Promise.all([db.all('rooms'), db.all('marks'), db.all('drafts'), db.all('outbox'), db.all('people')]).catch(() => null);
    if (!kept) return;
    const [rooms, marks, drafts, outgoing, people] = kept;
    this.apply({ rooms, marks, drafts, outgoing, people });
  }

  private async lead(until: AbortSignal) {
    await this.reload();
    if (until.aborted) return;
    const fresh = this.cursor !== null && this.env.now() - this.cursor.at < stale;
    await this.distrust(fresh);
    if (until.aborted) return;
    void this.stream.run(fresh ? this.cursor!.id : null, until);
    this.outbox.lead(until);
  }

  // distrust notes that nobody tells what became of what is kept, where the stream begins anew.
  private async distrust(fresh: boolean) {
    const known = (await this.db.get('meta', 'old').catch(() => undefined))?.value as [string, number][] | undefined;
    const rows = (known ?? []).map(([room_id, last_seq]) => ({ room_id, last_seq }));
    const old = this.history.distrust(fresh ? rows : [...rows, ...this.rooms.mine.value]);
    if (!fresh) await this.keep([{ put: 'meta', value: { name: 'old', value: old } }]);
  }

  // reload takes up what other tabs have kept, which a tab that slept may not have heard.
  // Windows then read what they miss.
  private async reload() {
    const { db } = this;
    try {
      await this.clearing; // what goes is not to come back
      const { value } = this.restored;
      const cursor = await db.get('meta', 'cursor');
      if (this.restored.value !== value) return;
      this.cursor = (cursor?.value as Cursor | undefined) ?? this.cursor;
      await this.listing.load(db);
      const [rooms, marks, outgoing] = await Promise.all([db.all('rooms'), db.all('marks'), db.all('outbox')]);
      if (this.restored.value !== value) return;
      this.apply({ rooms, marks, outgoing });
    } catch {
      // What this tab knows has to do.
    }
  }

  private async opened() {
    if (!this.synced.value) void this.people.refresh();
    await this.listing.opened();
  }

  private wake() {
    this.stream.wake();
    this.outbox.wake();
    this.uploads.wake();
    this.leader.ask();
    void this.reload().then(() => this.outbox.flush());
    for (const window of this.windows) window.check();
  }

  // awake is what the leader says of itself.
  private awake(): News {
    return { kind: 'awake', connection: this.connection.value, synced: this.synced.value };
  }

  private hear(news: News) {
    if (news.kind === 'batch') this.apply(news.batch);
    else if (news.kind === 'awake' && !this.leader.leading.value) {
      this.connection.value = news.connection;
      if (news.synced) this.synced.value = true;
    }
  }

  // commit takes a batch into the signals, to the other tabs and into the database.
  private readonly commit: Commit = (batch, strict) => this.change(batch, [], strict);

  private change(batch: Batch, also: Change[], strict = false): Promise<void> {
    if (this.stopped) return Promise.resolve();
    const changes = this.apply(batch);
    this.leader.tell({ kind: 'batch', batch });
    return this.history.take(batch.messages ?? [], batch.changed ?? [], [...changes, ...also], (all) => this.keep(all, strict));
  }

  // apply takes a batch into the signals, and answers what of it is to be kept.
  private apply(batch: Batch): Change[] {
    const lost = (batch.gone ?? []).flatMap((id) => this.rooms.row(id) ?? []).filter((row) => row.member);
    const changes: Change[] = batch.reset ? [{ clear: 'messages' }, { clear: 'meta' }, { clear: 'answers' }] : [];
    if (batch.reset) this.cursor = null;
    this.listing.apply(batch);
    together(() => {
      changes.push(...this.rooms.apply(batch), ...this.outbox.apply(batch), ...this.people.apply(batch));
      for (const id of batch.gone ?? []) changes.push({ clear: 'messages', low: [id, 0], high: [id, Infinity] }, { del: 'answers', key: membersOf(id) });
      for (const window of this.windows) {
        if (batch.reset) window.reset();
        if (batch.rooms) window.cut();
        window.amend(batch.messages ?? [], batch.changed);
        window.take(batch.messages ?? []);
      }
      if (lost.length > 0) this.lost.value = lost.map((row) => row.name);
    });
    return changes;
  }

  // keep writes to the database. Without space it makes some, and else the app goes on
  // in memory: everything but what is on its way can be read again.
  private async keep(changes: Change[], strict = false): Promise<void> {
    try {
      await this.db.write(changes, strict);
      this.full.value = false;
    } catch (err) {
      if (!isFull(err)) return;
      await this.db.write(this.oldMessages()).then(() => this.db.write(changes, strict)).catch(() => (this.full.value = true));
    }
  }

  private oldMessages(): Change[] {
    return this.rooms.mine.value.flatMap(({ room_id, last_seq }): Change[] =>
      last_seq > kept ? [{ clear: 'messages', low: [room_id, 0], high: [room_id, last_seq - kept] }] : []);
  }

  // take has what the stream brought kept, and behind it the cursor.
  private take(events: RoomEvent[], id: string | null): Promise<void> {
    const batch: Batch = { messages: [], rooms: [], gone: [] };
    const also: Change[] = [];
    const joined: RoomEvent[] = [];
    let read = false; // on another device, and not all
    let other = false; // the list has more of a room than the stream tells
    for (const event of events) {
      if (event.event === 'message.created') batch.messages!.push(event.payload.message);
      else if (event.event === 'entry.created') {
        batch.messages!.push(rowOf(event.payload.entry));
        other ||= ['room', 'proposal'].includes(event.payload.entry.type); // what it is called and about, and whether it has ended
      }
      else if (event.event === 'room.created') {
        batch.rooms!.push(this.founded(event.payload));
        other ||= event.payload.direct !== undefined; // the list names them after who is in them
      }
      else if (event.event === 'room.gap') this.raise(event.room_id, event.payload.available_from);
      else if (event.event === 'room.member_joined') joined.push(event);
      else if (event.event === 'person.changed') this.person.value++;
      else if (event.event === 'room.left') batch.gone!.push(event.room_id);
      else if (event.event === 'room.read') read = this.heard(batch, event.room_id, event.payload.read_seq) || read;
    }
    if (id !== null && id !== this.cursor?.id) {
      this.cursor = { id, at: this.env.now() };
      also.push({ put: 'meta', value: { name: 'cursor', value: this.cursor } });
    }
    const known = (id: string) => (this.rooms.row(id)?.member && !batch.gone!.includes(id)) || batch.rooms!.some((r) => r.room_id === id);
    const strange = [...batch.messages!, ...joined].some((of) => !known(of.room_id));
    if (strange || read || other || batch.gone!.length > 0) void this.refresh(); // a room that was left may be one to join
    this.people.meet(batch.messages!.map((m) => m.sender_id));
    also.push(...this.listing.follow(batch.messages!));
    const taken = this.change(batch, also);
    for (const m of batch.messages!) {
      const hours = keptIn(entryIn(m));
      if (hours !== undefined) this.keeps(m.room_id, hours);
    }
    return taken.then(() => void this.redact(batch.messages!));
  }

  // heard takes a mark of another device, and tells whether only the server knows the count then.
  private heard(batch: Batch, room_id: string, seq: number): boolean {
    const row = this.rooms.row(room_id);
    const known = this.rooms.get(room_id)?.read_seq ?? 0;
    if (seq > known) (batch.marks ??= []).push({ room_id, seq });
    return row?.count !== undefined && seq > known && seq < row.last_seq;
  }

  // redact reads what is left where something was taken away: a room's last message may be it,
  // and behind an edit or a reaction of it an earlier one may show again.
  private async redact(messages: Message[]) {
    const taken = messages.map(redactionIn).filter((entry) => entry !== null);
    if (taken.length === 0) return;
    void this.refresh();
    for (const { room_id, target } of taken) {
      const row = await this.message(room_id, target!).catch(() => null);
      const about = row && entryIn(row)?.target;
      if (!about) continue;
      const seq = seqOf(about);
      const changed = await this.history.fresh(room_id, seq, seq).catch(() => []);
      await this.commit({ changed });
    }
  }

  private founded(room: RoomSummary): RoomRow {
    return { ...room, member: true, last_seq: 0, last_message: null, messages: 0, available_from: 0 };
  }

  // raise notes that the server keeps nothing of a room below floor.
  private raise(roomId: string, floor: number) {
    const row = this.rooms.row(roomId);
    if (!row || floor <= row.available_from) return;
    const last_message = row.last_message && row.last_message.room_seq < floor ? null : row.last_message;
    void this.change({ rooms: [{ ...row, last_message, available_from: floor }] }, [{ clear: 'messages', low: [roomId, 0], high: [roomId, floor - 1] }]);
  }

  // replaced forgets what came from the server and reads it anew. What was written stays.
  private async replaced() {
    this.restored.value++;
    await (this.clearing = this.commit({ reset: true }));
    this.stream.restart();
  }
}
