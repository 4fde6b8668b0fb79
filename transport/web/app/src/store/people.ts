// people.ts has the members of the tenant, since messages bear ids and people have
// names.

import { signal } from '@preact/signals';
import { query } from '../api';
import type { Former, Member } from '../types';
import type { Batch, Commit } from './batch';
import type { Change, Known } from './db';
import type { Env } from './env';

// rest is the least time between two questions after people who weren't known, and later
// how long nobody asks again after those whom the list lacked, in ms. The platform itself
// writes, and is in no list.
const rest = 1000;
const later = 60_000;

export class People {
  readonly byId = signal<ReadonlyMap<string, Known>>(new Map());
  // lacking are those whom the list lacked, and when.
  readonly lacking = signal<ReadonlyMap<string, number>>(new Map());
  private asked = -Infinity;
  private readonly wanted = new Set<string>(); // who is to be known by the next list
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

  // meet has the members read where one of these isn't known to be among them, though not
  // too often.
  meet(userIds: Iterable<string>) {
    for (const id of userIds) {
      const lately = this.env.now() - (this.lacking.peek().get(id) ?? -Infinity) < later;
      if (!lately && !this.has(id)) this.wanted.add(id);
    }
    if (this.wanted.size === 0) return;
    this.stopAsking ??= this.env.timer(Math.max(0, this.asked + rest - this.env.now()), () => {
      this.stopAsking = null;
      this.asked = this.env.now();
      void this.refresh();
    });
  }

  // has tells that somebody is a member, as far as this device knows.
  private has(id: string): boolean {
    const known = this.byId.value.get(id);
    return known !== undefined && !known.left;
  }

  stop() {
    this.stopAsking?.();
  }

  // refresh reads the members. Those who left are known, too, for what they have written.
  async refresh() {
    const wanted = [...this.wanted];
    this.wanted.clear();
    const answer = await this.env.get<{ members: Member[]; former: Former[] }>('/api/tenant/members' + query({ former: true })).catch(() => null);
    if (!answer) return; // they are asked after when they write again, or are shown again
    const now = new Set(answer.members.map((m) => m.user_id));
    const left = new Map([...this.byId.value].filter(([id]) => !now.has(id)).map(([id, p]): [string, Known] => [id, { ...p, left: true }]));
    for (const { user_id, name, alike } of answer.former) left.set(user_id, { ...left.get(user_id), user_id, name, alike, left: true });
    await this.commit({ people: [...answer.members, ...left.values()] });
    const lacked = wanted.filter((id) => !this.has(id)).map((id) => [id, this.env.now()] as const);
    if (lacked.length > 0) this.lacking.value = new Map([...this.lacking.peek(), ...lacked]);
  }
}
