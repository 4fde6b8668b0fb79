// messages.ts has the part of a room's messages that a screen shows: a run without
// holes, long enough to scroll in, short enough for 100,000 messages to cost nothing.

import { computed, signal } from '@preact/signals';
import type { Message } from '../types';
import { aboutIn, after, isMessage, isShown } from './entries';
import type { Env } from './env';
import { page, type History, type Part } from './history';
import { Rows, type Follower, type Item, type RoomState } from './rows';

// most is how many messages are held, and step how many are read at a time.
const most = 600;
const step = 60;

// grace is how long the stream has for filling a hole by itself, and calm how long a
// reading that failed is not tried again by scrolling, in ms.
const grace = 300;
const calm = 3000;

type Reading = 'older' | 'newer' | 'around' | 'end';

// Shown is what a screen needs to know of a window, and may ask of it.
export type Shown = Pick<RoomWindow, 'items' | 'loading' | 'problem' | 'atEnd' | 'ready' | 'loadOlder' | 'loadNewer' | 'loadAround' | 'toEnd' | 'looksAtEnd' | 'has' | 'close'>;

export class RoomWindow implements Follower {
  // items are the rows, oldest first. Messages on their way stand at the end, where the
  // window is there.
  readonly items = computed<readonly Item[]>(() => this.rows.of([...this.run.value, ...this.early.value].filter(isShown), this.atEnd.value));
  // loading tells what is being read.
  readonly loading = signal<Reading | null>(null);
  // problem is why the last reading failed, null when it didn't.
  readonly problem = signal<unknown>(null);
  // atStart tells that there is nothing older, and atEnd that new messages appear here
  // as they come.
  readonly atStart = computed(() => this.firstSeq() <= Math.max(1, this.room.floor()));
  readonly atEnd = signal(true);
  // ready tells that there is something to show, be it that there is nothing.
  readonly ready = signal(false);

  private readonly run = signal<readonly Message[]>([]);
  private readonly early = signal<readonly Message[]>([]); // new ones beyond a hole
  private readonly readings = new Map<Reading, Promise<void>>();
  private meanwhile: Message[] = []; // what came while something was read, which that may not know
  private work: Promise<void> = Promise.resolve();
  private stopGrace: (() => void) | null = null;
  private scrolledUp = false;
  private failedAt = -Infinity;
  private closed = false;
  private age = 0; // counts resets, so that no reading from before one comes through
  private readonly rows: Rows;

  constructor(
    private readonly env: Env,
    readonly roomId: string,
    private readonly history: History,
    private readonly room: RoomState,
    private readonly onClose: (w: Follower) => void,
  ) {
    this.rows = new Rows(room);
    void this.begin();
  }

  // loadOlder reads on at the start. Like all that reads, it may be called at any
  // time, and does nothing while there is nothing to do.
  loadOlder(): Promise<void> {
    return this.read('older', async () => {
      const low = this.run.value[0]?.room_seq;
      if (low === undefined) return this.jumpToEnd();
      if (this.atStart.value) return;
      const part = await this.span(Math.max(1, this.room.floor(), low - step), low - 1, 'high');
      return () => this.prepend(part);
    });
  }

  // loadNewer reads on at the end, where the window isn't there.
  loadNewer(): Promise<void> {
    return this.read('newer', async () => {
      const high = this.lastSeq();
      if (this.atEnd.value || high === 0) return;
      const last = Math.min(high + step, this.room.last());
      const part = last > high ? await this.span(high + 1, last, 'low') : null;
      return () => this.append(part?.messages ?? []);
    });
  }

  // loadAround moves the window to a message, with what is before and behind it.
  loadAround(seq: number): Promise<void> {
    return this.read('around', async () => {
      if (this.has(seq)) return;
      const low = Math.max(1, this.room.floor(), seq - step);
      const last = Math.max(seq, this.room.last()); // the stream may not have told of a message that a link leads to
      const part = await this.span(low, Math.max(low, Math.min(seq + step, last)), 'low');
      return () => this.replace(part.messages);
    });
  }

  // toEnd moves the window to the newest messages.
  toEnd(): Promise<void> {
    return this.read('end', () => this.jumpToEnd());
  }

  // looksAtEnd tells what the person sees. While that is older messages, the window
  // rather stops to take new ones than drops those in view.
  looksAtEnd(yes: boolean) {
    this.scrolledUp = !yes;
  }

  // has tells whether the message is in the window.
  has(seq: number): boolean {
    return this.run.value.length > 0 && seq >= this.firstSeq() && seq <= this.lastSeq();
  }

  // messages are those that it holds.
  messages(): readonly Message[] {
    return this.run.value;
  }

  // reach is up to where one has seen everything with the row of a seq: what isn't shown
  // behind it, too.
  reach(seq: number): number {
    for (const m of this.run.value) {
      if (m.room_seq <= seq) continue;
      if (m.room_seq !== seq + 1 || isShown(m)) break;
      seq = m.room_seq;
    }
    return seq;
  }

  // messagesIn counts the messages from low to high, undefined where not all are here.
  messagesIn(low: number, high: number): number | undefined {
    if (low <= high && !(this.has(low) && this.has(high))) return undefined;
    return this.run.value.filter((m) => m.room_seq >= low && m.room_seq <= high && isMessage(m)).length;
  }

  close() {
    this.closed = true;
    this.stopGrace?.();
    this.onClose(this);
  }

  // take adds messages as they come. Those beyond a hole are shown behind it, until
  // the hole is filled.
  take(messages: readonly Message[]) {
    if (!this.atEnd.value || !this.ready.value) return;
    const own = [...this.early.value, ...messages].filter((m) => m.room_id === this.roomId).sort((a, b) => a.room_seq - b.room_seq);
    const news = new Map(own.map((m) => [m.room_seq, own.reduce(after, m)]));
    const run: Message[] = [];
    const early: Message[] = [];
    let high = this.lastSeq();
    for (const m of news.values()) {
      if (m.room_seq <= high) continue;
      if (high > 0 && m.room_seq > high + 1) early.push(m);
      else high = run[run.push(m) - 1]!.room_seq;
    }
    if (early.length + this.early.value.length > 0) this.early.value = early.slice(-most);
    if (run.length > 0) this.grow(run);
    this.check();
  }

  // amend has the rows become what new ones make of them; changed take the place of the same.
  amend(messages: readonly Message[], changed: readonly Message[] = []) {
    const news = messages.filter((m) => m.room_id === this.roomId && aboutIn(m) !== undefined);
    const instead = new Map(changed.filter((m) => m.room_id === this.roomId).map((m) => [m.msg_id, m]));
    if (news.length + instead.size === 0) return;
    if (this.readings.size > 0 || !this.ready.value) this.meanwhile.push(...news);
    const all = instead.size > 0 ? [...this.run.value, ...this.early.value] : [];
    const fresh = (m: Message) => (instead.has(m.msg_id) ? all.reduce(after, instead.get(m.msg_id)!) : m); // it may have been read before the newest came
    const now = (m: Message) => news.reduce(after, fresh(m));
    this.run.value = this.run.value.map(now);
    this.early.value = this.early.value.map(now);
  }

  // check has what is missing at the end read, unless the stream brings it first, and a
  // first page where there is less.
  check() {
    const short = () => this.run.value.length < step && !this.atStart.value;
    if (this.closed || this.stopGrace || !this.atEnd.value || !this.ready.value) return;
    if (this.room.last() <= this.lastSeq() && !short()) return;
    this.stopGrace = this.env.timer(grace, () => {
      this.stopGrace = null;
      void this.read('end', () => this.catchUp()).then(() => {
        if (short()) void this.loadOlder();
      });
    });
  }

  // cut drops messages that the server no longer keeps.
  cut() {
    const floor = this.room.floor();
    if (this.run.value.length > 0 && this.firstSeq() < floor) this.run.value = this.run.value.filter((m) => m.room_seq >= floor);
  }

  // reset begins anew, after the server turned out not to be what it was.
  reset() {
    this.age++;
    this.readings.clear();
    this.run.value = [];
    this.early.value = [];
    this.atEnd.value = true;
    void this.read('end', () => this.catchUp());
  }

  private firstSeq(): number {
    return this.run.value[0]?.room_seq ?? this.room.last() + 1;
  }

  private lastSeq(): number {
    return this.run.value.at(-1)?.room_seq ?? 0;
  }

  // begin shows at once what is kept here, then what the server has.
  private async begin() {
    const kept = await this.history.newest(this.roomId, step);
    if (kept.length > 0) {
      this.run.value = kept.map((m) => this.meanwhile.reduce(after, m));
      this.ready.value = true;
    }
    await this.read('end', () => this.catchUp());
    this.ready.value = true;
    this.check();
  }

  // catchUp reads what is missing at the end, or begins there anew where that is much.
  private async catchUp(): Promise<(() => void) | undefined> {
    const high = this.lastSeq();
    const last = this.room.last();
    if (last <= high || !this.atEnd.value) return;
    if (high === 0 || last - high > page) return this.jumpToEnd();
    const part = await this.span(high + 1, last, 'low');
    return () => {
      this.amend(part.messages); // no stream told of them
      this.take(part.messages);
    };
  }

  private async jumpToEnd(): Promise<(() => void) | undefined> {
    const last = this.room.last();
    if (last === 0 || (this.atEnd.value && this.lastSeq() >= last)) return;
    const part = await this.span(Math.max(1, this.room.floor(), last - step + 1), last, 'high');
    return () => {
      this.replace(part.messages);
      if (part.messages.length > 0) this.reachEnd();
    };
  }

  private async span(low: number, high: number, end: 'low' | 'high'): Promise<Part> {
    const part = await this.history.span(this.roomId, low, high, end);
    this.problem.value = part.problem;
    if (part.problem) this.failedAt = this.env.now();
    return part;
  }

  // read does one reading after another, and each kind but once at a time. The reading
  // answers how to show what it found, which is left out where the window has become
  // another in the meantime.
  private read(kind: Reading, reading: () => Promise<(() => void) | undefined>): Promise<void> {
    const scrolling = kind === 'older' || kind === 'newer';
    if (scrolling && this.problem.value !== null && this.env.now() - this.failedAt < calm) return Promise.resolve();
    const same = this.readings.get(kind);
    if (same && kind !== 'around') return same;
    this.work = this.work.then(async () => {
      const { age } = this;
      this.loading.value = this.closed ? null : kind;
      const show = this.closed ? undefined : await reading();
      this.loading.value = null;
      if (age !== this.age) return;
      this.readings.delete(kind);
      if (show && !this.closed) this.showNow(show);
      if (this.readings.size === 0) this.meanwhile = [];
    });
    this.readings.set(kind, this.work);
    return this.work;
  }

  // showNow takes what came meanwhile into what a reading found. One that found nothing changes no row: a list
  // that asks for more with each change would never come to rest.
  private showNow(show: () => void) {
    show();
    if (this.meanwhile.length > 0) this.run.value = this.run.value.map((m) => this.meanwhile.reduce(after, m));
  }

  // prepend leaves out what no longer fits to the run, which may have been cut.
  private prepend({ messages }: Part) {
    if (messages.length === 0 || messages.at(-1)!.room_seq + 1 !== this.firstSeq()) return;
    const run = [...messages, ...this.run.value];
    this.run.value = run.slice(0, most);
    if (run.length <= most) return;
    this.atEnd.value = false;
    this.early.value = [];
  }

  private append(messages: Message[]) {
    this.run.value = [...this.run.value, ...messages].slice(-most);
    if (this.lastSeq() >= this.room.last()) this.reachEnd();
  }

  private replace(messages: Message[]) {
    if (messages.length === 0) return;
    this.run.value = messages;
    this.atEnd.value = false;
    this.early.value = [];
    if (this.lastSeq() >= this.room.last()) this.reachEnd();
  }

  private reachEnd() {
    this.atEnd.value = true;
    this.check();
  }

  // grow adds new messages at the end.
  private grow(messages: Message[]) {
    const run = [...this.run.value, ...messages];
    if (run.length > most && this.scrolledUp && this.run.value.length > 0) {
      this.atEnd.value = false;
      this.early.value = [];
    } else {
      this.run.value = run.slice(-most);
    }
  }
}
