// rooms.ts has the list of rooms: the last message of each, and how much of it is
// unread on this device.

import { computed, signal } from '@preact/signals';
import type { Message } from '../types';
import type { Batch } from './batch';
import { isIn, type Change, type Draft, type ReadMark, type RoomRow } from './db';
import { after, isActed, isMessage, isNews } from './entries';
import { counted } from './reading';

// RoomView is a room as a list shows it. The same object stays for as long as nothing
// about the room changes.
export interface RoomView extends RoomRow {
  read_seq: number; // up to where one has read
  unread: number; // messages, whatever else came
  mentions: number; // among them those for oneself
  draft: Draft | null;
}

export class Rooms {
  private readonly views = signal<ReadonlyMap<string, RoomView>>(new Map());
  private readonly rows = new Map<string, RoomRow>();
  private readonly marks = new Map<string, ReadMark>();
  private readonly drafts = new Map<string, Draft>();

  // mine are the rooms that one is in, the one with the latest message first.
  readonly mine = computed<readonly RoomView[]>(() => [...this.views.value.values()].filter((r) => r.member).sort(latestFirst));
  // others are rooms that one may join.
  readonly others = computed<readonly RoomView[]>(() => [...this.views.value.values()].filter((r) => !r.member && !r.status));
  // unread is the number of unread messages in all rooms.
  readonly unread = computed(() => this.mine.value.reduce((sum, room) => sum + room.unread, 0));

  constructor(private readonly me: string) {}

  // get is a room by its id. Read in a component, it follows the room's changes.
  get(id: string): RoomView | undefined {
    return this.views.value.get(id);
  }

  // row is a room as it is kept.
  row(id: string): RoomRow | undefined {
    return this.rows.get(id);
  }

  // draftOf is what was written in a place and not sent.
  draftOf(place: string): Draft | null {
    return this.drafts.get(place) ?? null;
  }

  // apply takes what a batch says of rooms, and answers what of that is to be kept.
  // After a reset, where one has read is as unknown as the messages are.
  apply(batch: Batch): Change[] {
    const changes: Change[] = [];
    const touched = new Set<string>();
    if (batch.reset) {
      this.rows.forEach((_, id) => touched.add(id));
      this.rows.clear();
      this.marks.clear();
      changes.push({ clear: 'rooms' }, { clear: 'marks' });
    }
    for (const id of batch.gone ?? []) {
      for (const of of [this.rows, this.marks]) of.delete(id);
      changes.push({ del: 'rooms', key: id }, { del: 'marks', key: id });
      for (const { room_id: place } of [...this.drafts.values()]) if (isIn(place, id)) this.draft({ room_id: place, text: '', reply_to: null }, changes, touched);
      touched.add(id);
    }
    for (const row of batch.rooms ?? []) this.put(row, changes, touched);
    const news = batch.messages ?? [];
    for (const id of new Set(news.map((m) => m.room_id))) this.take(id, news.filter((m) => m.room_id === id), changes, touched);
    for (const mark of batch.marks ?? []) this.mark(mark, changes, touched);
    for (const draft of batch.drafts ?? []) this.draft(draft, changes, touched);
    if (touched.size > 0) this.show(touched);
    return changes;
  }

  private put(row: RoomRow, changes: Change[], touched: Set<string>) {
    const old = this.rows.get(row.room_id);
    const next = newer(old, row);
    if (old && JSON.stringify(old) === JSON.stringify(next)) return;
    this.rows.set(row.room_id, next);
    changes.push({ put: 'rooms', value: next });
    touched.add(row.room_id);
  }

  // take takes new entries of a room. Who writes has read what stands before; and who has
  // read everything needn't read again for what is no message.
  private take(room_id: string, news: Message[], changes: Change[], touched: Set<string>) {
    const row = this.rows.get(room_id);
    const read = row !== undefined && (this.marks.get(room_id)?.seq ?? 0) >= row.last_seq;
    const next = { last_seq: row?.last_seq ?? 0, messages: row?.messages, last_message: row?.last_message ?? null, count: row?.count };
    let own: ReadMark | null = null;
    for (const m of [...news].sort((a, b) => a.room_seq - b.room_seq)) {
      const step = m.room_seq - next.last_seq; // more than 1 behind a hole, which may hold messages
      if (step > 0 && next.messages !== undefined) next.messages += step - (isMessage(m) ? 0 : 1);
      next.count &&= counted(next.count, m, this.me);
      next.last_seq = Math.max(next.last_seq, m.room_seq);
      if (next.last_message) next.last_message = after(next.last_message, m);
      if (isNews(m) && !m.thread && m.room_seq >= (next.last_message?.room_seq ?? 0)) next.last_message = m;
      if (m.sender_id === this.me && !isActed(m)) own = { room_id, seq: m.room_seq, messages: step > 0 ? next.messages : undefined };
    }
    if (row) this.put({ ...row, ...next }, changes, touched);
    if (own) this.mark(own, changes, touched);
    if (read && !news.some(isNews)) this.mark({ room_id, seq: next.last_seq }, changes, touched);
  }

  // mark moves a mark on. At the end of a room the room knows how many messages it stands for.
  private mark({ room_id, seq, messages }: ReadMark, changes: Change[], touched: Set<string>) {
    if (seq <= (this.marks.get(room_id)?.seq ?? 0)) return;
    const row = this.rows.get(room_id);
    const value = { room_id, seq, messages: row && seq >= row.last_seq ? row.messages : messages };
    this.marks.set(room_id, value);
    changes.push({ put: 'marks', value });
    touched.add(room_id);
    if (row?.count && seq >= row.last_seq) this.put({ ...row, count: { read_seq: seq, unread: 0, mentions: 0, upTo: row.last_seq } }, changes, touched);
  }

  private draft(draft: Draft, changes: Change[], touched: Set<string>) {
    const { room_id: id, text, reply_to } = draft;
    const none = text === '' && reply_to === null;
    if (none ? !this.drafts.delete(id) : JSON.stringify(this.drafts.get(id)) === JSON.stringify(draft)) return;
    if (!none) this.drafts.set(id, draft);
    changes.push(none ? { del: 'drafts', key: id } : { put: 'drafts', value: draft });
    if (this.rows.has(id)) touched.add(id);
  }

  private show(touched: Set<string>) {
    const views = new Map(this.views.value);
    for (const id of touched) {
      const row = this.rows.get(id);
      if (row) views.set(id, view(row, this.marks.get(id) ?? { room_id: id, seq: 0, messages: 0 }, this.drafts.get(id) ?? null));
      else views.delete(id);
    }
    this.views.value = views;
  }
}

// newer is what is known of a room from two answers, of which the first may be later.
function newer(old: RoomRow | undefined, row: RoomRow): RoomRow {
  if (!old) return row;
  const last = row.last_seq >= old.last_seq ? row : old;
  return {
    ...row,
    last_seq: last.last_seq,
    last_message: last.last_message,
    messages: last.messages,
    count: last === row || !old.count ? row.count : old.count,
    available_from: Math.max(old.available_from, row.available_from),
    ...((row.keeps ?? old.keeps) !== undefined && { keeps: row.keeps ?? old.keeps }), // the list doesn't say
  };
}

// view has what is unread as the server counts it. Where one has read on since, or it doesn't
// count, the numbers of messages tell, and where one isn't known every entry counts; never
// what the server no longer keeps.
function view(row: RoomRow, mark: ReadMark, draft: Draft | null): RoomView {
  const { count } = row;
  const entries = row.last_seq - Math.max(mark.seq, row.available_from - 1);
  const known = row.messages !== undefined && mark.messages !== undefined;
  const here = Math.max(0, known ? Math.min(entries, row.messages! - mark.messages!) : entries);
  const unread = !count ? here : mark.seq <= count.read_seq ? count.unread : Math.min(count.unread, here);
  const mentions = !count ? 0 : mark.seq <= count.read_seq ? count.mentions : Math.min(count.mentions, unread);
  return { ...row, read_seq: mark.seq, unread, mentions, draft };
}

function latestFirst(a: RoomView, b: RoomView): number {
  const [x, y] = [a.last_message?.sent_at ?? a.created_at, b.last_message?.sent_at ?? b.created_at];
  return x < y ? 1 : x > y ? -1 : a.name.localeCompare(b.name);
}
