// rows.ts makes the rows that a screen shows of messages that are there and of those on their way.

import type { Message } from '../types';
import { soon } from './acts';
import type { Outgoing } from './db';

// Item is a row: a message, or one on its way. The key stays when one becomes the
// other.
export type Item = { key: string; message: Message; outgoing: null } | { key: string; message: null; outgoing: Outgoing };

// RoomState is what a window needs to know of its room.
export interface RoomState {
  last(): number; // room_seq of the newest message, 0 for none
  floor(): number; // of the oldest that the server keeps, 0 where unknown
  pending(): readonly Outgoing[]; // messages on their way, in order
  name(msgId: string): string | undefined; // what a message was called on its way
  mayBe(entry: Outgoing, message: Message): boolean; // whether it looks like what the entry becomes
  me(): string;
}

// Follower is a window that the store feeds with all that comes, until it is closed.
export interface Follower {
  readonly roomId: string;
  messages(): readonly Message[]; // that it shows
  take(messages: readonly Message[]): void;
  amend(messages: readonly Message[], changed?: readonly Message[]): void;
  cut(): void;
  check(): void;
  reset(): void;
  close(): void;
}

export class Rows {
  private readonly known = new WeakMap<Message, Item>();

  // thread is the message that began the thread whose rows they are; a room has what is in none.
  constructor(
    private readonly room: RoomState,
    private readonly thread?: string,
  ) {}

  // of are the rows of messages, and behind them those on their way, where the end is shown.
  of(messages: readonly Message[], atEnd: boolean): Item[] {
    const pending = this.room.pending();
    const acts = pending.filter((entry) => entry.act);
    const rows = messages.map((m) => this.row(m, acts));
    if (!atEnd) return rows;
    const shown = new Set(rows.map((row) => row.key));
    const own = rows.filter(({ message }) => message && this.room.name(message.msg_id) === undefined);
    const out = pending.filter((entry) => {
      if (entry.act || entry.thread !== this.thread || shown.has(entry.id)) return false;
      // After a reload nobody knows what a message was called that has arrived unheard.
      const i = own.findIndex(({ message }) => this.room.mayBe(entry, message!));
      if (i >= 0) own.splice(i, 1);
      return i < 0 || entry.state === 'failed';
    });
    return [...rows, ...out.map((outgoing) => ({ key: outgoing.id, message: null, outgoing }))];
  }

  // row gives the same object for the same message, so that its row needn't be drawn
  // again. What is on its way to be done to it shows at once.
  private row(message: Message, acts: readonly Outgoing[]): Item {
    const key = this.room.name(message.msg_id) ?? message.msg_id;
    const own = acts.filter(({ act }) => act!.target === message.msg_id || message.reactions?.some(({ by }) => by.some((r) => r.entry_id === act!.target)));
    if (own.length > 0) return { key, message: own.reduce((row, entry) => soon(row, entry, this.room.me()), message), outgoing: null };
    const known = this.known.get(message);
    if (known?.key === key) return known;
    const row: Item = { key, message, outgoing: null };
    this.known.set(message, row);
    return row;
  }
}
