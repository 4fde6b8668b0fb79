// history.ts reads messages from the database, and from the server what is missing
// there. A room's seqs have no holes, so a span is whole when the count is right.

import { ApiError, at, query } from '../api';
import type { Entry, Message } from '../types';
import type { Change, Db } from './db';
import { aboutIn, after, entryIn, redactionIn, rowOf, told } from './entries';
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

interface ThreadPage {
  root: Entry;
  entries: Entry[];
  next_cursor: number | null;
}

export class History {
  // old are, by room, the seqs up to which what is kept may have missed what became of it.
  private readonly old = new Map<string, number>();
  private work: Promise<unknown> = Promise.resolve(); // on what is kept, one after another

  constructor(
    private readonly env: Env,
    private readonly db: Db,
    // learned is told the floor of a room.
    private readonly learned: (roomId: string, floor: number) => void,
    // last is the newest entry of a room that is known.
    private readonly last: (roomId: string) => number,
  ) {}

  // newest are the last messages that are kept here, without holes, at most n.
  async newest(roomId: string, n: number): Promise<Message[]> {
    return runFrom(await this.kept(this.db.newest(roomId, n)), 'high');
  }

  // span reads the messages from low to high, at most a page. Where the server can't
  // be reached it answers what is kept here at the given end.
  async span(roomId: string, low: number, high: number, end: 'low' | 'high'): Promise<Part> {
    const kept = await this.kept(this.db.all('messages', [roomId, low], [roomId, high]));
    if (kept.length === high - low + 1 && low > (this.old.get(roomId) ?? 0)) return { messages: kept, floor: 0, problem: null };
    try {
      return await this.fetch(roomId, low, high);
    } catch (problem) {
      const run = runFrom(kept, end);
      const touches = end === 'low' ? run[0]?.room_seq === low : run.at(-1)?.room_seq === high;
      return { messages: touches ? run : [], floor: 0, problem };
    }
  }

  // thread reads a message with all the answers to it: what is kept here, where the server can't be
  // asked now.
  async thread(roomId: string, root: string): Promise<Part> {
    try {
      return { messages: await this.fetchThread(roomId, root), floor: 0, problem: null };
    } catch (problem) {
      const may = problem instanceof ApiError && problem.mayRetry;
      const kept = may ? await this.kept(this.db.all('messages', [roomId, seqOf(root)], [roomId, Infinity])) : [];
      return { messages: kept.filter((m) => m.msg_id === root || m.thread === root), floor: 0, problem };
    }
  }

  private async fetchThread(roomId: string, root: string): Promise<Message[]> {
    const upTo = this.last(roomId);
    const rows: Message[] = [];
    for (let cursor: number | null | undefined; cursor !== null; ) {
      const answer: ThreadPage = await this.env.get<ThreadPage>(at`/api/rooms/${roomId}/entries/${root}/thread` + query({ cursor, limit: page }));
      const entries = rows.length === 0 ? [answer.root, ...answer.entries] : answer.entries;
      rows.push(...entries.map((entry) => told(rowOf(entry), upTo)));
      cursor = answer.next_cursor;
    }
    return rows;
  }

  // distrust has what is kept of rooms read anew where that can be: the stream has begun anew, and
  // nobody told what became of older messages.
  distrust(rooms: readonly { room_id: string; last_seq: number }[]): [string, number][] {
    for (const { room_id, last_seq } of rooms) this.old.set(room_id, Math.max(last_seq, this.old.get(room_id) ?? 0));
    return [...this.old];
  }

  // fresh reads messages from the server, whatever is kept.
  async fresh(roomId: string, low: number, high: number): Promise<Message[]> {
    return (await this.fetch(roomId, low, high)).messages;
  }

  private async fetch(roomId: string, low: number, high: number): Promise<Part> {
    const [newest] = await this.newest(roomId, 1);
    const upTo = Math.max(high, this.last(roomId));
    const url = at`/api/rooms/${roomId}/entries` + query({ cursor: high + 1, limit: high - low + 1 });
    const { entries, next_cursor } = await this.env.get<{ entries: Entry[]; next_cursor: number | null }>(url);
    const read = entries.map((entry) => told(rowOf(entry), upTo));
    // What can't be kept can be read again.
    const messages = await this.alone(async () => {
      const since = await this.kept(this.db.all('messages', [roomId, Math.max(high, newest?.room_seq ?? 0) + 1], [roomId, Infinity]));
      const now = read.map((row) => since.reduce(after, row)); // since then the stream may have told more
      await this.db.write(now.map((value) => ({ put: 'messages' as const, value }))).catch(() => undefined);
      return now;
    });
    await this.amend(messages);
    const floor = next_cursor === null ? (messages[0]?.room_seq ?? high + 1) : 0;
    if (floor > 0) this.learned(roomId, floor);
    return { messages, floor, problem: null };
  }

  // take keeps new rows, with what they make of older ones, and other changes with them: all of it or
  // nothing, so that a tab that ends in between has missed nothing. A row that is kept already stays as it is,
  // unless it was read anew.
  take(rows: readonly Message[], anew: readonly Message[], also: Change[], write: (changes: Change[]) => Promise<void>): Promise<void> {
    if (rows.length + anew.length === 0 && !also.some((change) => 'clear' in change)) return write(also);
    return this.alone(async () => {
      const now = new Map<string, Message>();
      const of = (m: Message) => now.get(`${m.room_id} ${m.room_seq}`) ?? m;
      const set = (m: Message) => now.set(`${m.room_id} ${m.room_seq}`, m);
      for (const row of anew) set((await this.kept(this.db.all('messages', [row.room_id, row.room_seq], [row.room_id, Infinity]))).reduce(after, row));
      for (const roomId of new Set(rows.map((m) => m.room_id))) {
        const own = rows.filter((m) => m.room_id === roomId).sort((a, b) => a.room_seq - b.room_seq);
        const since = await this.kept(this.db.all('messages', [roomId, own[0]!.room_seq], [roomId, Infinity]));
        for (const row of own) set(since.find((m) => m.msg_id === row.msg_id) ?? since.reduce(after, row));
        for (const row of own) for (const m of await this.changedBy(row, own)) set(after(of(m), row));
      }
      await write([...also, ...[...now.values()].map((value) => ({ put: 'messages' as const, value }))]);
    });
  }

  // amend has what is kept become what rows make of it that came otherwise than over the stream.
  private amend(rows: readonly Message[]): Promise<void> {
    return this.alone(async () => {
      for (const row of rows) {
        const changed = (await this.changedBy(row)).flatMap((m) => (after(m, row) === m ? [] : [{ put: 'messages' as const, value: after(m, row) }]));
        await this.db.write(changed).catch(() => undefined);
      }
    });
  }

  // changedBy are the rows that another may change, of those that are kept and of some more.
  private async changedBy(row: Message, more: readonly Message[] = []): Promise<Message[]> {
    const about = aboutIn(row);
    if (!about || entryIn(row)?.body === null) return [];
    const first = seqOf(about);
    // A redaction takes edits with their message, and stands for a reaction to an earlier one.
    const last = redactionIn(row) ? row.room_seq : first;
    const kept = await this.kept(this.db.all('messages', [row.room_id, redactionIn(row) ? 0 : first], [row.room_id, last]));
    const known = new Set(kept.map((m) => m.msg_id));
    return [...kept, ...more.filter((m) => m.room_seq <= last && !known.has(m.msg_id))];
  }

  // alone does some work on what is kept once all before it is done: it reads what it writes.
  private alone<T>(work: () => Promise<T>): Promise<T> {
    const done = this.work.then(work);
    this.work = done.catch(() => undefined);
    return done;
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
