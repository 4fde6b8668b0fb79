// listing.ts reads the list of rooms from the server. It tells what the stream doesn't:
// rooms that one has lost while it was closed, and that the server isn't what it was.

import { signal } from '@preact/signals';
import { ApiError, at, query } from '../api';
import type { Message, ReceiptLookup, RoomEntry } from '../types';
import type { Batch, Commit } from './batch';
import type { Change, Db, RoomRow } from './db';
import type { Env } from './env';
import type { Rooms } from './rooms';
import { countOf } from './reading';
import { bare } from '../text';

// again is after how long a list is asked for once more that didn't come, in ms.
const again = 3000;

// Anchor is an act that the server's ledger had when we saw that it is the one that our
// messages are in. If it has another act there, it isn't that ledger any more, as after
// a backup was restored.
interface Anchor {
  seq: number;
  cid: string;
}

export interface Reader {
  commit: Commit;
  keep(changes: Change[]): Promise<void>;
  // behind tells how far the server knows that one has read.
  behind(roomId: string, seq: number): void;
  // replaced is called when the server isn't what it was.
  replaced(): Promise<void>;
}

export class Listing {
  // synced tells that the list of rooms is the server's, and not only what was kept.
  readonly synced = signal(false);
  private anchor: Anchor | null = null;
  private checked = false; // the stream comes from the ledger of the anchor
  private first = true; // no list was seen before
  private reading: Promise<unknown> = Promise.resolve();
  private next: Promise<boolean> | null = null; // reading that begins when the other has ended
  private stopAgain = () => {};
  private stopped = false;

  constructor(
    private readonly env: Env,
    private readonly rooms: Rooms,
    private readonly reader: Reader,
  ) {}

  // load takes up the anchor that was kept.
  async load(db: Db) {
    const kept = await db.get('meta', 'anchor');
    this.anchor = (kept?.value as Anchor | undefined) ?? this.anchor;
  }

  stop() {
    this.stopped = true;
    this.stopAgain();
  }

  // opened reads the list for a stream that begins, until it has it.
  async opened() {
    this.checked = false;
    this.stopAgain();
    if (!(await this.refresh()) && !this.stopped) this.stopAgain = this.env.timer(again, () => void this.opened());
  }

  // refresh reads the list as it is from now on: what is being read may be older. It
  // answers false where that may succeed later.
  refresh(): Promise<boolean> {
    this.next ??= this.reading.then(() => {
      this.next = null;
      const now = this.read();
      this.reading = now.catch(() => undefined);
      return now;
    });
    return this.next;
  }

  // apply takes a batch before anything else does.
  apply(batch: Batch) {
    if (batch.reset) this.anchor = null;
    this.first = batch.reset || (this.first && !batch.rooms?.length);
  }

  // follow moves the anchor along with what the stream brings.
  follow(messages: Message[]): Change[] {
    return this.checked ? this.drop(messages) : [];
  }

  private async read(): Promise<boolean> {
    const before = this.rooms.mine.value.map((r) => r.room_id);
    try {
      const entries = await this.entries();
      if (this.stopped) return true;
      if (await this.isAnother(entries)) {
        await this.reader.replaced();
        return true;
      }
      this.checked = true;
      await this.reader.keep(this.drop(entries.flatMap((e) => e.last_message ?? [])));
      await this.take(entries, before);
    } catch (problem) {
      return !(problem instanceof ApiError && problem.mayRetry);
    }
    this.synced.value = true;
    return true;
  }

  private async entries(): Promise<RoomEntry[]> {
    const all: RoomEntry[] = [];
    for (let cursor: string | null = null; ; ) {
      const answer: { rooms: RoomEntry[]; next_cursor: string | null } = await this.env.get('/api/rooms' + query({ details: true, cursor }));
      all.push(...answer.rooms);
      cursor = answer.next_cursor;
      if (!cursor) return all;
    }
  }

  // take finds the rooms that are gone among those known before the list was asked for:
  // others have come since. Where the server doesn't say how far one has read, what was
  // written before this device was used first counts as read.
  private take(entries: RoomEntry[], before: string[]): Promise<void> {
    const rooms = entries.map((e): RoomRow => ({
      room_id: e.room_id, name: e.alike ? `${e.name} (${bare(e.room_id)})` : e.name, mode: e.mode, created_at: e.created_at, member: e.member, status: e.status, topic: e.topic, direct: e.direct,
      last_seq: e.last_seq ?? 0, last_message: e.last_message ?? null, messages: e.messages, available_from: 0, count: countOf(e),
    }));
    const listed = new Set(rooms.filter((r) => r.member).map((r) => r.room_id));
    const gone = before.filter((id) => !listed.has(id));
    const marks = entries.flatMap(({ room_id, read, last_seq = 0 }) => (read ? [{ room_id, seq: read.read_seq }] : this.first ? [{ room_id, seq: last_seq }] : []));
    for (const { room_id, read, member } of entries) if (member && read) this.reader.behind(room_id, read.read_seq);
    return this.reader.commit({ rooms, gone, marks });
  }

  // drop moves the anchor to the newest of these messages.
  private drop(messages: Message[]): Change[] {
    const { anchor } = this;
    for (const { receipt } of messages) {
      if (receipt.seq > (this.anchor?.seq ?? 0)) this.anchor = { seq: receipt.seq, cid: receipt.cid };
    }
    return this.anchor === anchor ? [] : [{ put: 'meta', value: { name: 'anchor', value: this.anchor } }];
  }

  // isAnother tells that the server's ledger isn't the one of the anchor. Who may not
  // read receipts goes by the lengths of rooms.
  private async isAnother(entries: RoomEntry[]): Promise<boolean> {
    if (!this.anchor) return false;
    const { seq, cid } = this.anchor;
    try {
      const { atoms } = await this.env.get<ReceiptLookup>(at`/api/receipts/${seq}`);
      return atoms[0]?.cid !== cid;
    } catch (problem) {
      if (problem instanceof ApiError && problem.status === 404) return true;
      if (!(problem instanceof ApiError && problem.status === 403)) throw problem;
      return entries.some((e) => e.last_seq !== undefined && e.last_seq < (this.rooms.row(e.room_id)?.last_seq ?? 0));
    }
  }
}
