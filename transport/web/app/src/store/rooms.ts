// rooms.ts has the list of rooms: the last message of each, and how much of it is
// unread on this device.

import { computed, signal } from '@preact/signals';
import type { Message } from '../types';
import type { Batch } from './batch';
import type { Change, Draft, RoomRow } from './db';
import { isShown } from './entries';

// RoomView is a room as a list shows it. The same object stays for as long as nothing
// about the room changes.
export interface RoomView extends RoomRow {
  read_seq: number; // up to where one has read
  unread: number;
  draft: Draft | null;
}

export class Rooms {
  private readonly views = signal<ReadonlyMap<string, RoomView>>(new Map());
  private readonly rows = new Map<string, RoomRow>();
  private readonly marks = new Map<string, number>();
  private readonly drafts = new Map<string, Draft>();

  // mine are the rooms that one is in, the one with the latest message first.
  readonly mine = computed<readonly RoomView[]>(() => [...this.views.value.values()].filter((r) => r.member).sort(latestFirst));
  // others are rooms that one may join.
  readonly others = computed<readonly RoomView[]>(() => [...this.views.value.values()].filter((r) => !r.member));
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
      for (const of of [this.rows, this.marks, this.drafts]) of.delete(id);
      changes.push({ del: 'rooms', key: id }, { del: 'marks', key: id }, { del: 'drafts', key: id });
      touched.add(id);
    }
    for (const row of batch.rooms ?? []) this.put(row, changes, touched);
    for (const [id, { seq, last, own, quiet }] of lastOf(batch.messages ?? [], this.me)) {
      const row = this.rows.get(id);
      const read = row !== undefined && (this.marks.get(id) ?? 0) >= row.last_seq;
      if (row) this.put({ ...row, last_seq: seq, last_message: last ?? row.last_message }, changes, touched);
      this.mark(id, quiet && read ? seq : own, changes, touched);
    }
    for (const { room_id, seq } of batch.marks ?? []) this.mark(room_id, seq, changes, touched);
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

  private mark(room_id: string, seq: number, changes: Change[], touched: Set<string>) {
    if (seq <= (this.marks.get(room_id) ?? 0)) return;
    this.marks.set(room_id, seq);
    changes.push({ put: 'marks', value: { room_id, seq } });
    touched.add(room_id);
  }

  private draft(draft: Draft, changes: Change[], touched: Set<string>) {
    const { room_id: id, text, reply_to } = draft;
    const none = text === '' && reply_to === null;
    if (none ? !this.drafts.delete(id) : JSON.stringify(this.drafts.get(id)) === JSON.stringify(draft)) return;
    if (!none) this.drafts.set(id, draft);
    changes.push(none ? { del: 'drafts', key: id } : { put: 'drafts', value: draft });
    touched.add(id);
  }

  private show(touched: Set<string>) {
    const views = new Map(this.views.value);
    for (const id of touched) {
      const row = this.rows.get(id);
      if (row) views.set(id, view(row, this.marks.get(id) ?? 0, this.drafts.get(id) ?? null));
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
    available_from: Math.max(old.available_from, row.available_from),
  };
}

function view(row: RoomRow, mark: number, draft: Draft | null): RoomView {
  const unread = Math.max(0, row.last_seq - Math.max(mark, row.available_from - 1));
  return { ...row, read_seq: mark, unread, draft };
}

// Last is the newest row of a room, and what is to be known of it.
interface Last {
  seq: number;
  last: Message | null; // the newest that is shown
  own: number; // the newest of one's own: who writes has read what stands before
  quiet: boolean; // none is shown, so none of them is news
}

function lastOf(messages: Message[], me: string): Map<string, Last> {
  const found = new Map<string, Last>();
  for (const m of messages) {
    const at = found.get(m.room_id) ?? { seq: 0, last: null, own: 0, quiet: true };
    at.seq = Math.max(at.seq, m.room_seq);
    if (isShown(m)) {
      at.quiet = false;
      if (m.room_seq > (at.last?.room_seq ?? 0)) at.last = m;
    }
    if (m.sender_id === me) at.own = Math.max(at.own, m.room_seq);
    found.set(m.room_id, at);
  }
  return found;
}

function latestFirst(a: RoomView, b: RoomView): number {
  const [x, y] = [a.last_message?.sent_at ?? a.created_at, b.last_message?.sent_at ?? b.created_at];
  return x < y ? 1 : x > y ? -1 : a.name.localeCompare(b.name);
}
