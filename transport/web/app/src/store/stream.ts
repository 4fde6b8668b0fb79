// stream.ts keeps GET /api/events open, the one stream that carries all rooms, and
// opens it again, after the cursor, whenever it ends or falls silent. It does so for other
// streams, too.

import { signal } from '@preact/signals';
import type { RoomEvent } from '../types';
import type { Env } from './env';
import type { Connection } from './leader';
import { Parser, type Frame } from './sse';

// The server says something every 15 s. A stream that was silent for longer than
// silence is dead; on waking we believe it for as long as doubt. In ms.
const silence = 40_000;
const doubt = 17_000;

// What lies between two tries, in ms: from first, twice as long each time, up to most.
const first = 500;
const most = 30_000;

// full is how many events may wait to be kept before no more are read.
const full = 500;

export interface Sink {
  // opened is called when a stream begins.
  opened(): void;
  // take keeps events, and after them the cursor.
  take(events: RoomEvent[], cursor: string | null): Promise<void>;
}

export class Stream {
  readonly connection = signal<Connection>('connecting');
  private cursor: string | null = null;
  private heard = 0; // when the stream last said something
  private tries = 0;
  private hurry = false; // the stream was ended to open it again at once
  private again: (() => void) | null = null; // ends the wait for the next try
  private open: AbortController | null = null;
  private waiting: RoomEvent[] = [];
  private taking: Promise<void> | null = null; // of what waits
  private kept: Promise<void> = Promise.resolve(); // what was taken last

  constructor(
    private readonly env: Env,
    private readonly sink: Sink,
    private readonly url = '/api/events',
    private readonly quiet = false, // leaves it to others to tell that the session is over
  ) {}

  // run streams until the signal ends it. Without a cursor only what is new comes.
  async run(cursor: string | null, until: AbortSignal) {
    this.cursor = cursor;
    until.addEventListener('abort', () => this.again?.());
    until.addEventListener('abort', () => this.open?.abort());
    while (!until.aborted) {
      const wait = await this.once(until);
      if (until.aborted) break;
      this.connection.value = 'offline';
      await this.pause(wait);
    }
    this.connection.value = 'connecting';
  }

  // wake tries at once where a try is due, or where the stream may have died unseen.
  wake() {
    if (this.again) {
      this.tries = 0;
      this.again();
    } else if (this.env.now() - this.heard > doubt) {
      this.abort();
    }
  }

  // restart begins anew with what comes from now on.
  restart() {
    this.cursor = null;
    this.waiting = [];
    this.abort();
  }

  private abort() {
    this.hurry = true;
    this.open?.abort();
  }

  private pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const stop = this.env.timer(ms, () => this.again?.());
      this.again = () => {
        this.again = null;
        stop();
        resolve();
      };
    });
  }

  // once opens one stream and reads it to its end, and answers how long to wait then.
  private async once(until: AbortSignal): Promise<number> {
    this.open = new AbortController();
    this.hurry = false;
    this.heard = this.env.now();
    const stopWatch = this.watch(this.open);
    try {
      const response = await this.request(this.open.signal);
      if (!response.ok || !response.body) return this.refused(response);
      this.heard = this.env.now();
      this.connection.value = 'live';
      this.sink.opened();
      await this.read(response.body);
      return this.env.random() * 4 * first; // it ended in peace, with those of others
    } catch {
      return until.aborted || this.hurry ? 0 : this.backoff();
    } finally {
      stopWatch();
      this.open.abort();
    }
  }

  private request(signal: AbortSignal): Promise<Response> {
    const headers: Record<string, string> = { Accept: 'text/event-stream' };
    if (this.cursor !== null) headers['Last-Event-ID'] = this.cursor;
    return this.env.fetch(this.url, { headers, signal, credentials: 'same-origin', redirect: 'error', cache: 'no-store' });
  }

  // refused answers how long to wait after an answer that is no stream.
  private refused(response: Response): number {
    if (response.status === 400 && this.cursor !== null) {
      this.cursor = null;
      return 0;
    }
    // A request that api.ts makes tells the whole app that the session is over.
    if (response.status === 401 && !this.quiet) void this.env.get('/api/whoami').catch(() => undefined);
    if (response.status < 500 && response.status !== 429) return most;
    const told = Number(response.headers.get('Retry-After')) * 1000;
    return Math.max(told || 0, this.backoff());
  }

  private backoff(): number {
    const longest = Math.min(most, first * 2 ** this.tries++);
    return longest * (0.5 + this.env.random() / 2);
  }

  // watch ends a stream that has fallen silent.
  private watch(open: AbortController): () => void {
    let stop = () => {};
    const look = () => {
      if (this.env.now() - this.heard > silence) open.abort();
      else stop = this.env.timer(silence / 4, look);
    };
    look();
    return () => stop();
  }

  private async read(body: ReadableStream<Uint8Array>) {
    const parser = new Parser();
    const text = new TextDecoder();
    const reader = body.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      this.heard = this.env.now();
      this.tries = 0;
      for (const frame of parser.push(text.decode(value, { stream: true }))) this.frame(frame);
      if (this.waiting.length >= full) await this.taking;
    }
  }

  private frame(frame: Frame) {
    if (frame.id !== undefined) this.cursor = frame.id;
    if (frame.data !== undefined) this.waiting.push(JSON.parse(frame.data) as RoomEvent);
    if (frame.id !== undefined || frame.data !== undefined) this.taking ??= this.next();
  }

  // next hands over all that has come until the next frame is drawn, and until what was
  // taken before is kept.
  private async next() {
    await new Promise<void>((resolve) => this.env.soon(resolve));
    await this.kept;
    const events = this.waiting;
    this.waiting = [];
    this.taking = null;
    this.kept = this.sink.take(events, this.cursor);
  }
}
