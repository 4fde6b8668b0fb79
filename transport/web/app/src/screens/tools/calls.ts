// calls.ts is the portal's log: pages of it, and each call as it begins and ends. Unlike
// rooms, which are kept here and so have one stream for all tabs, it has a stream of its
// own in each tab that shows it, while it does: nothing of it is kept, and nobody looks
// at it from many tabs at once.

import { signal } from '@preact/signals';
import { get, headersOf, query, unreachable } from '../../api';
import { person } from '../../session';
import { Parser } from '../../store/sse';
import type { Call, PortalEvent } from '../../types';

interface Page {
  calls: Call[];
  next_before: number | null;
}

const silence = 40_000; // ms after which a stream is dead: the server says something every 15 s
const wait = 3_000; // ms before the next try

export class Calls {
  // calls are the newest first.
  readonly calls = signal<readonly Call[]>([]);
  readonly before = signal<number | null>(null);
  readonly ready = signal(false);
  readonly live = signal(false);
  readonly problem = signal<unknown>(null);
  private readonly end = new AbortController();
  private readonly shown = () => document.hidden || this.wake();
  private wake = () => {};

  start() {
    document.addEventListener('visibilitychange', this.shown);
    void this.follow();
  }

  stop() {
    this.end.abort();
    this.wake();
    document.removeEventListener('visibilitychange', this.shown);
  }

  // older reads the page before the oldest call that is there.
  async older() {
    if (this.before.value !== null) this.put(await this.page(this.before.value), true);
  }

  again = () => this.wake();

  // follow keeps a stream open. It has no history, so what came before it is read
  // once it stands.
  private async follow() {
    while (!this.end.signal.aborted) {
      await this.stream().catch((problem) => this.end.signal.aborted || (this.problem.value = problem));
      this.live.value = false;
      if (!this.end.signal.aborted) await this.rest();
    }
  }

  private rest = () =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, wait);
      this.wake = () => (clearTimeout(timer), resolve());
    });

  private async stream() {
    const silent = new AbortController();
    this.end.signal.addEventListener('abort', () => silent.abort());
    let watch = setTimeout(() => silent.abort(), silence);
    try {
      const answer = await fetch('/api/portal/logs/live', { headers: { Accept: 'text/event-stream', ...headersOf(person.value) }, signal: silent.signal, cache: 'no-store' }).catch(() => {
        throw unreachable();
      });
      this.put(await this.page(), !this.ready.value); // also says why, where the stream was refused
      this.ready.value = true;
      this.problem.value = null;
      if (!answer.ok || !answer.body) return;
      this.live.value = true;
      const [reader, text, parser] = [answer.body.getReader(), new TextDecoder(), new Parser()];
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        clearTimeout(watch);
        watch = setTimeout(() => silent.abort(), silence);
        for (const { data } of parser.push(text.decode(value, { stream: true }))) if (data) this.merge([(JSON.parse(data) as PortalEvent).payload]);
      }
    } finally {
      clearTimeout(watch);
      silent.abort();
    }
  }

  private page = (before?: number) => get<Page>(`/api/portal/logs${query({ before, limit: 100 })}`, { signal: this.end.signal });

  private put({ calls, next_before }: Page, oldest: boolean) {
    this.merge(calls);
    if (oldest) this.before.value = next_before;
  }

  // merge takes the newer form of a call: one that ended has a status other than
  // "intended".
  private merge(news: Call[]) {
    const all = new Map(this.calls.value.map((c) => [c.n, c]));
    for (const c of news) if (c.status !== 'intended' || !all.has(c.n)) all.set(c.n, c);
    this.calls.value = [...all.values()].sort((a, b) => b.n - a.n);
  }
}
