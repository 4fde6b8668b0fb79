// history.ts reads messages from the database, and from the server what is missing
// there. A room's seqs have no holes, so a span is whole when the count is right.

import { at, query } from '../api';
import type { Entry, Message } from '../types';
import type { Db } from './db';
import { emptied, isTaken, redactionIn, rowOf } from './entries';
import type { Env } from './env';

// page is the most that one reading may ask for, as the server has it.
export const page = 200;

// Part is a run of messages without holes, oldest first. floor is the seq of the
// oldest message that the server keeps, 0 where the reading didn't tell. problem is
// why the run isn't what was asked for.
export interface Part {
  messages: Message[];
  floor: number;
  problem: unknown;
}

export class History {
  constructor(
    private readonly env: Env,
    private readonly db: Db,
    // learned is told the floor of a room.
    private readonly learned: (roomId: string, floor: number) => void,
  ) {}

  // newest are the last messages that are kept here, without holes, at most n.
  async newest(roomId: string, n: number): Promise<Message[]> {
    return runFrom(await this.kept(this.db.newest(roomId, n)), 'high');
  }

  // span reads the messages from low to high, at most a page. Where the server can't
  // be reached it answers what is kept here at the given end.
  async span(roomId: string, low: number, high: number, end: 'low' | 'high'): Promise<Part> {
    const kept = await this.kept(this.db.all('messages', [roomId, low], [roomId, high]));
    if (kept.length === high - low + 1) return { messages: kept, floor: 0, problem: null };
    try {
      return await this.fetch(roomId, low, high);
    } catch (problem) {
      const run = runFrom(kept, end);
      const touches = end === 'low' ? run[0]?.room_seq === low : run.at(-1)?.room_seq === high;
      return { messages: touches ? run : [], floor: 0, problem };
    }
  }

  private async fetch(roomId: string, low: number, high: number): Promise<Part> {
    const url = at`/api/rooms/${roomId}/entries` + query({ cursor: high + 1, limit: high - low + 1 });
    const { entries, next_cursor } = await this.env.get<{ entries: Entry[]; next_cursor: number | null }>(url);
    const messages = entries.map(rowOf);
    // What can't be kept can be read again.
    await this.db.write(messages.map((value) => ({ put: 'messages' as const, value }))).catch(() => undefined);
    for (const row of messages) await this.redact(row);
    const floor = next_cursor === null ? (messages[0]?.room_seq ?? high + 1) : 0;
    if (floor > 0) this.learned(roomId, floor);
    return { messages, floor, problem: null };
  }

  // redact leaves nothing kept here of what a redaction took away.
  async redact(row: Message): Promise<void> {
    const redaction = redactionIn(row);
    if (!redaction) return;
    const kept = await this.kept(this.db.all('messages', [row.room_id, seqOf(redaction.target!)], [row.room_id, row.room_seq]));
    const taken = kept.filter((m) => isTaken(m, redaction)).map((m) => ({ put: 'messages' as const, value: emptied(m, redaction) }));
    await this.db.write(taken).catch(() => undefined);
  }

  // one reads a single message; null where there is none.
  async one(roomId: string, seq: number): Promise<Message | null> {
    const { messages, problem } = await this.span(roomId, seq, seq, 'high');
    if (problem && messages.length === 0) throw problem;
    return messages.find((m) => m.room_seq === seq) ?? null;
  }

  // kept takes a database that can't be read for an empty one.
  private kept(messages: Promise<Message[]>): Promise<Message[]> {
    return messages.catch(() => []);
  }
}

// runFrom cuts messages in order down to those at one end that have no hole.
function runFrom(messages: Message[], end: 'low' | 'high'): Message[] {
  const holes = messages.flatMap((m, i) => (i > 0 && messages[i - 1]!.room_seq !== m.room_seq - 1 ? [i] : []));
  return end === 'high' ? messages.slice(holes.at(-1) ?? 0) : messages.slice(0, holes[0]);
}

// seqOf is the place in its room that a message's id bears, 0 where it bears none.
export function seqOf(msgId: string): number {
  const digits = /^m:([0-9a-f]{8})-([0-9a-f]{4})-8/.exec(msgId);
  return digits ? parseInt(digits[1]! + digits[2]!, 16) : 0;
}
