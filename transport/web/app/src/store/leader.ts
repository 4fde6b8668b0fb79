// leader.ts lets the tabs of a browser agree on one of them, which keeps the stream
// and sends what is in the outbox. The Web Lock decides who; the channel tells the
// others what changed, and asks whether the leader is still awake: iOS freezes tabs
// with what they hold, so a tab that is awake takes the lock from one that isn't.

import { signal } from '@preact/signals';
import type { Batch } from './batch';
import type { Env } from './env';

// News is what tabs tell each other.
export type News =
  | { kind: 'ask' } // is the leader awake? It answers, and looks after the outbox.
  | { kind: 'awake'; connection: Connection; synced: boolean }
  | { kind: 'batch'; batch: Batch };

// Connection is how the browser's one stream is.
export type Connection = 'connecting' | 'live' | 'offline';

// patience is how long a leader may take to answer, pulse how often a tab that is seen
// asks, and pause how long one waits before it queues again, all in ms.
const patience = 2000;
const pulse = 15_000;
const pause = 1000;

export interface Work {
  // lead is called when this tab begins to lead, with a signal that ends it.
  lead(until: AbortSignal): void;
  // lost is called when another tab took the lead from this one, which then slept, and
  // may not have heard all that was told meanwhile.
  lost(): void;
  // asked is called on the leader when another tab asks for it.
  asked(): void;
  // hear takes news of another tab.
  hear(news: News): void;
  // awake is what the leader answers who asks for it.
  awake(): News;
}

export class Leader {
  readonly leading = signal(false);
  private readonly ended = new AbortController();
  private readonly channel?: Pick<BroadcastChannel, 'postMessage' | 'close' | 'onmessage'>;
  private readonly locks?: Pick<LockManager, 'request'>;
  private term: AbortController | null = null; // of this tab's leadership
  private queued: AbortController | null = null; // of waiting for it
  private stopAsking: (() => void) | null = null;
  private stopPulse = () => {};

  // shared tells whether there is a database that other tabs see too.
  constructor(
    private readonly env: Env,
    private readonly name: string,
    shared: boolean,
    private readonly work: Work,
  ) {
    if (!shared || !env.locks || !env.channel) return; // every tab for itself
    this.locks = env.locks;
    this.channel = env.channel(name);
    this.channel.onmessage = ({ data }: MessageEvent<News>) => this.hear(data);
  }

  start() {
    if (!this.locks) return this.begin();
    void this.queue();
    this.ask();
    this.beat();
  }

  stop() {
    this.ended.abort();
    this.stopPulse();
    this.stopAsking?.();
    this.queued?.abort();
    this.end();
    this.channel?.close();
  }

  // tell tells the other tabs.
  tell(news: News) {
    if (!this.ended.signal.aborted) this.channel?.postMessage(news);
  }

  // ask makes sure that somebody leads. Call it when there is work, and on waking.
  ask() {
    if (this.leading.value) return this.work.asked();
    if (!this.locks || this.stopAsking || this.ended.signal.aborted) return;
    this.tell({ kind: 'ask' });
    this.stopAsking = this.env.timer(patience, () => {
      this.stopAsking = null;
      if (!this.leading.value) this.steal();
    });
  }

  private beat() {
    this.stopPulse = this.env.timer(pulse, () => {
      if (!this.leading.value && this.env.visible()) this.ask();
      this.beat();
    });
  }

  private hear(news: News) {
    if (news.kind !== 'ask') this.work.hear(news);
    if (news.kind === 'awake') {
      this.stopAsking?.();
      this.stopAsking = null;
    } else if (news.kind === 'ask' && this.leading.value) {
      this.tell(this.work.awake());
      this.work.asked();
    }
  }

  // queue waits for the lock and holds it; when it is taken away, waits again.
  private async queue() {
    while (!this.ended.signal.aborted) {
      this.queued = new AbortController();
      const stolen = this.queued;
      try {
        await this.locks!.request(this.name, { signal: stolen.signal }, () => this.hold());
      } catch {
        if (stolen.signal.aborted && !this.ended.signal.aborted) return; // steal goes on from here
      }
      this.lose();
      // WebKit refuses at once while a page is being left: asking again without a pause would hang it.
      await new Promise<void>((done) => this.env.timer(pause, done));
    }
  }

  private steal() {
    this.queued?.abort();
    const held = this.locks!.request(this.name, { steal: true }, () => this.hold());
    void held.catch(() => undefined).then(() => {
      this.lose();
      return this.queue();
    });
  }

  // hold is done when this tab's store stops.
  private hold(): Promise<void> {
    if (this.ended.signal.aborted) return Promise.resolve();
    this.begin();
    return new Promise((resolve) => this.ended.signal.addEventListener('abort', () => resolve()));
  }

  private begin() {
    this.stopAsking?.();
    this.stopAsking = null;
    this.term = new AbortController();
    this.leading.value = true;
    this.work.lead(this.term.signal);
  }

  private lose() {
    const led = this.leading.value;
    this.end();
    if (led && !this.ended.signal.aborted) this.work.lost();
  }

  private end() {
    this.term?.abort();
    this.term = null;
    this.leading.value = false;
  }
}
