// shelf.ts keeps the newest answers behind some screens, so that what was read can be
// read again without a network: documents, their lists, and who is in a room.

import { ApiError } from '../api';
import type { Change, Db } from './db';
import type { Env } from './env';

// most is how many answers are kept; the oldest go. One is at most a document, which
// may have a million characters.
const most = 60;

// Kept is an answer, and when it came where it isn't new, in ms.
export interface Kept<T> {
  value: T;
  at: number | null;
}

// membersOf names the answer about a room and who is in it.
export const membersOf = (roomId: string) => `room ${roomId}`;

export class Shelf {
  private ages: Promise<Map<string, number>> | null = null;

  constructor(
    private readonly env: Env,
    private readonly db: Db,
    private readonly write: (changes: Change[]) => Promise<void>,
  ) {}

  // read asks, and keeps the answer under a name. Where the server can't be asked now the
  // answer is the one before; where one may not or can't have it any more, that goes.
  async read<T>(name: string, ask: () => Promise<T>): Promise<Kept<T>> {
    try {
      return await this.put(name, await ask());
    } catch (problem) {
      if (!(problem instanceof ApiError)) throw problem;
      if (problem.status === 403 || problem.status === 404) void this.write([{ del: 'answers', key: name }]);
      if (!problem.mayRetry) throw problem;
      const kept = await this.db.get('answers', name).catch(() => undefined);
      if (!kept) throw problem;
      return { value: kept.value as T, at: kept.at };
    }
  }

  // kept is the answer before, which may be shown until a newer one is there.
  async kept<T>(name: string): Promise<T | undefined> {
    const kept = await this.db.get('answers', name).catch(() => undefined);
    return kept?.value as T | undefined;
  }

  // put keeps an answer that is new.
  async put<T>(name: string, value: T): Promise<Kept<T>> {
    const ages = await (this.ages ??= this.load());
    ages.delete(name); // it becomes the last
    ages.set(name, this.env.now());
    const old = [...ages.keys()].slice(0, -most);
    for (const key of old) ages.delete(key);
    void this.write([{ put: 'answers', value: { name, value, at: this.env.now() } }, ...old.map((key): Change => ({ del: 'answers', key }))]);
    return { value, at: null };
  }

  // load finds what is kept, the oldest first.
  private async load(): Promise<Map<string, number>> {
    const all = await this.db.all('answers').catch(() => []);
    return new Map(all.sort((a, b) => a.at - b.at).map(({ name, at }) => [name, at]));
  }
}
