// reading.ts tells the server how far one has read, so that all devices agree: soon after one
// has, once for all that was read meanwhile. What couldn't be told stays here as a mark, and
// is told when the list of rooms shows that the server knows less.

import { ApiError, at } from '../api';
import type { Message, RoomEntry } from '../types';
import type { Env } from './env';

// pause is how long one mark waits for others, and again how long after a failure the rest
// waits, in ms.
const pause = 1000;
const again = 30_000;

// Count is what the server says of a room: how much of it is unread up to the entry upTo.
// What comes later is counted here, until the server says again.
export interface Count {
  read_seq: number;
  unread: number;
  mentions: number;
  upTo: number;
}

// countOf is the server's count in its list of rooms; undefined where it says none.
export const countOf = ({ read, last_seq }: RoomEntry): Count | undefined => read && { ...read, upTo: last_seq ?? 0 };

// counted is a count with an entry that has come. Answers in threads count for nobody's
// unread, nor do one's own messages and what the system says.
export function counted(count: Count, m: Message, me: string): Count {
  if (m.room_seq <= count.upTo) return count;
  const news = m.type === 'text' && m.sender_id !== me;
  const mine = news && (m.body.mentions ?? []).some((who) => who === me || who === '@room');
  return { ...count, upTo: m.room_seq, unread: count.unread + (news && !m.thread ? 1 : 0), mentions: count.mentions + (mine ? 1 : 0) };
}

export class Reading {
  private readonly marks = new Map<string, number>(); // by room, that the server doesn't know yet
  private stopTimer: (() => void) | null = null;
  private telling = false;
  private stopped = false;

  constructor(private readonly env: Env) {}

  // note has the server told that a room was read up to there.
  note(roomId: string, seq: number) {
    if (seq <= (this.marks.get(roomId) ?? 0)) return;
    this.marks.set(roomId, seq);
    if (!this.telling) this.stopTimer ??= this.env.timer(pause, () => void this.tell());
  }

  // leave tells at once: the page may be gone in a moment.
  leave() {
    if (this.marks.size > 0 && !this.telling) void this.tell();
  }

  stop() {
    this.stopped = true;
    this.stopTimer?.();
  }

  // tell says one after another: an app that was without a network may have many rooms to
  // tell of. What is refused for good, as in a room that one has left, is dropped.
  private async tell() {
    this.stopTimer?.();
    this.stopTimer = null;
    this.telling = true;
    let failed = false;
    while (this.marks.size > 0 && !failed && !this.stopped) {
      const [roomId, seq] = this.marks.entries().next().value!;
      failed = await this.env.post(at`/api/rooms/${roomId}/read`, { read_seq: seq }).then(() => false, mayRetry);
      if (!failed && this.marks.get(roomId) === seq) this.marks.delete(roomId);
    }
    this.telling = false;
    if (failed && !this.stopped) this.stopTimer = this.env.timer(again, () => void this.tell());
  }
}

const mayRetry = (problem: unknown) => problem instanceof ApiError && problem.mayRetry;
