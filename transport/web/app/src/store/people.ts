// people.ts has the members of the tenant, since messages bear ids and people have
// names.

import { signal } from '@preact/signals';
import type { Member } from '../types';
import type { Batch, Commit } from './batch';
import type { Change } from './db';
import type { Env } from './env';

// rest is the least time between two questions after people who weren't known, in ms.
const rest = 10_000;

export class People {
  readonly byId = signal<ReadonlyMap<string, Member>>(new Map());
  private asked = -Infinity;
  private stopAsking: (() => void) | null = null;

  constructor(
    private readonly env: Env,
    private readonly commit: Commit,
  ) {}

  apply(batch: Batch): Change[] {
    const fresh = batch.people?.filter((p) => JSON.stringify(this.byId.value.get(p.user_id)) !== JSON.stringify(p)) ?? [];
    if (fresh.length === 0) return [];
    this.byId.value = new Map([...this.byId.value, ...fresh.map((p) => [p.user_id, p] as const)]);
    return fresh.map((value) => ({ put: 'people', value }));
  }

  // meet has the members read where one of these isn't known, though not too often.
  meet(userIds: Iterable<string>) {
    for (const id of userIds) {
      if (!this.byId.value.has(id)) return this.ask();
    }
  }

  private ask() {
    this.stopAsking ??= this.env.timer(Math.max(0, this.asked + rest - this.env.now()), () => {
      this.stopAsking = null;
      this.asked = this.env.now();
      void this.refresh();
    });
  }

  stop() {
    this.stopAsking?.();
  }

  // refresh reads the members. Those who left stay known, for what they have written.
  async refresh() {
    const { members } = await this.env.get<{ members: Member[] }>('/api/tenant/members').catch(() => ({ members: [] }));
    await this.commit({ people: members });
  }
}
