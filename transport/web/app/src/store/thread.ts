// thread.ts has a thread: the message that began it, and the answers to it.
//
// It is read whole, and follows from then on what comes, as the window of a room does. Where the room
// turns out to have gone on unheard, it is read again.

import { computed, signal } from '@preact/signals';
import type { Message } from '../types';
import { after, isDeleted, isNews } from './entries';
import type { Env } from './env';
import type { History } from './history';
import type { Shown } from './messages';
import { Rows, type Follower, type Item, type RoomState } from './rows';

// grace is how long the stream has for filling a hole by itself, in ms.
const grace = 300;

export class ThreadWindow implements Shown, Follower {
  readonly items = computed<readonly Item[]>(() => this.rows.of(this.run.value.filter((m) => isNews(m) || isDeleted(m)), true));
  readonly loading = signal<'end' | null>(null);
  readonly problem = signal<unknown>(null);
  readonly atEnd = signal(true);
  readonly ready = signal(false);

  private readonly rows: Rows;
  private readonly run = signal<readonly Message[]>([]);
  private meanwhile: Message[] = []; // what came while it was read, which that may not know
  private reading: Promise<void> | null = null;
  private upTo = 0; // the entry of the room up to which all is known
  private stopGrace: (() => void) | null = null;
  private closed = false;
  private age = 0; // counts resets, so that no reading from before one comes through

  constructor(
    private readonly env: Env,
    readonly roomId: string,
    private readonly root: string,
    private readonly history: History,
    private readonly room: RoomState,
    private readonly onClose: (w: Follower) => void,
  ) {
    this.rows = new Rows(room, root);
    void this.toEnd();
  }

  messages() {
    return this.run.peek();
  }

  // toEnd reads the thread where that hasn't succeeded yet, as all that reads does.
  toEnd(): Promise<void> {
    if (this.ready.value && this.problem.value === null) return this.reading ?? Promise.resolve();
    return this.read();
  }

  loadAround(): Promise<void> {
    return this.toEnd();
  }

  // Everything is there: there is nothing older, and nothing newer.
  loadOlder(): Promise<void> {
    return Promise.resolve();
  }

  loadNewer(): Promise<void> {
    return Promise.resolve();
  }

  looksAtEnd() {
    // whatever comes is taken
  }

  has(seq: number): boolean {
    return this.run.value.some((m) => m.room_seq === seq);
  }

  take(messages: readonly Message[]) {
    const own = messages.filter((m) => m.room_id === this.roomId);
    if (this.reading) this.meanwhile.push(...own);
    this.hear(own);
    this.add(own.filter((m) => m.thread === this.root).map((m) => own.reduce(after, m)));
    this.check();
  }

  amend(messages: readonly Message[], changed: readonly Message[] = []) {
    const news = messages.filter((m) => m.room_id === this.roomId);
    const instead = new Map(changed.map((m) => [m.msg_id, m]));
    const next = this.run.value.map((m) => news.reduce(after, instead.get(m.msg_id) ?? m));
    if (next.some((m, i) => m !== this.run.value[i])) this.run.value = next;
  }

  check() {
    if (this.closed || this.stopGrace || !this.ready.value || !this.behind()) return;
    this.stopGrace = this.env.timer(grace, () => {
      this.stopGrace = null;
      if (this.behind()) void this.read();
    });
  }

  cut() {
    const floor = this.room.floor();
    if (this.run.value.some((m) => m.room_seq < floor)) this.run.value = this.run.value.filter((m) => m.room_seq >= floor);
  }

  reset() {
    this.age++;
    this.reading = null;
    this.meanwhile = [];
    this.run.value = [];
    this.upTo = 0;
    void this.read();
  }

  close() {
    this.closed = true;
    this.stopGrace?.();
    this.onClose(this);
  }

  private behind(): boolean {
    return this.problem.value !== null || this.room.last() > this.upTo;
  }

  // hear goes on with what is known of the room, as far as nothing is missing in between.
  private hear(own: readonly Message[]) {
    for (const { room_seq } of [...own].sort(bySeq)) if (room_seq === this.upTo + 1) this.upTo = room_seq;
  }

  private add(answers: readonly Message[]) {
    const known = new Set(this.run.value.map((m) => m.msg_id));
    const news = answers.filter((m) => !known.has(m.msg_id));
    if (news.length > 0 && known.size > 0) this.run.value = [...this.run.value, ...news].sort(bySeq);
  }

  private read(): Promise<void> {
    return (this.reading ??= this.readNow(this.age));
  }

  // readNow keeps what was shown where the server can't be asked.
  private async readNow(age: number) {
    const last = this.room.last();
    this.loading.value = 'end';
    const { messages, problem } = await this.history.thread(this.roomId, this.root);
    if (age !== this.age || this.closed) return;
    const { meanwhile } = this;
    [this.reading, this.meanwhile, this.loading.value, this.problem.value] = [null, [], null, problem];
    if (!problem || this.run.value.length === 0) {
      this.run.value = messages.map((m) => meanwhile.reduce(after, m));
      this.add(meanwhile.filter((m) => m.thread === this.root).map((m) => meanwhile.reduce(after, m)));
    }
    if (!problem) this.upTo = Math.max(this.upTo, last);
    this.hear(meanwhile);
    this.ready.value = true;
    if (!problem) this.check();
  }
}

const bySeq = (a: Message, b: Message) => a.room_seq - b.room_seq;
