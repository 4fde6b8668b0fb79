// outbox.ts has the messages that aren't known to have arrived. They are kept before
// they are sent, and sent until the server answers, always under the same key, so that
// no message is lost or doubled, whatever is closed, cut off or killed when. One tab
// sends: the one that leads. In a room they go one after another.

import { signal } from '@preact/signals';
import { ApiError, at, unreachable } from '../api';
import type { EntryAnswer, Message } from '../types';
import { requestOf } from './acts';
import type { Batch, Commit } from './batch';
import { placeOf, type Act, type Change, type Outgoing } from './db';
import { rowOf } from './entries';
import type { Env } from './env';
import { findSent, mayBe } from './sent';

// keyLife is how long we rely on the server to remember a key, in ms: it does for 24 h.
const keyLife = 23 * 3600_000;

// tryTime is how long one try may take, in ms.
const tryTime = 20_000;

// Step is what to do after a try. told is a wait that the server asked for, which no
// network that returns cuts short.
export type Step =
  | { do: 'settle'; message: Message }
  | { do: 'fail'; code: string; message: string }
  | { do: 'wait'; ms: number; told: boolean }
  | { do: 'stop' };

// afterTry decides what follows a problem in the try that many tries after the last
// success. chance is from 0 up to 1.
export function afterTry(problem: unknown, tries: number, chance: number): Step {
  if (!(problem instanceof ApiError)) return { do: 'fail', code: 'internal', message: 'something went wrong in the app' };
  const { code, message, status, retryAfter } = problem;
  const backoff = Math.min(30_000, 1000 * 2 ** tries) * (0.5 + chance / 2);
  if (status === 401) return { do: 'stop' }; // nobody is signed in; it goes on when somebody is
  if (status === 429 || status === 503) {
    return { do: 'wait', ms: Math.max(backoff, (retryAfter ?? 0) * 1000), told: retryAfter !== undefined };
  }
  const hopeless = status === 500 && tries >= 8; // one message must not hold up the room for ever
  const refused = status >= 400 && status < 500 && status !== 408 && status !== 425;
  if (refused || hopeless) return { do: 'fail', code, message };
  return { do: 'wait', ms: backoff, told: false };
}

// Carried are the files of messages, as the outbox needs them: ready answers their
// upload_ids once all have arrived, forget ends them.
export interface Carried {
  ready(ids: readonly string[], until: AbortSignal): Promise<string[]>;
  forget(ids: readonly string[]): void;
}

// Also is what a message has besides its text.
export type Also = Pick<Outgoing, 'mentions' | 'files' | 'thread'>;

export class Outbox {
  // entries are in the order of writing, of all rooms.
  readonly entries = signal<readonly Outgoing[]>([]);
  // names are the entries that messages were before, msg_id → id, so that a row can
  // stay the same one, and isn't shown twice.
  readonly names = new Map<string, string>();

  private readonly done = new Set<string>(); // settled entries
  private lanes = new Set<string>(); // rooms being sent to
  private pauses = new Map<string, { end: () => void; told: boolean }>(); // of lanes
  private until: AbortSignal | null = null; // of leading

  constructor(
    private readonly env: Env,
    private readonly me: string,
    private readonly commit: Commit,
    private readonly carried?: Carried,
  ) {}

  // add keeps a message and has it sent. after is the room's last_seq.
  add(roomId: string, text: string, replyTo: string | null, after: number, also: Also = {}, id = this.env.newKey()): Promise<void> {
    const entry = { ...this.entry(roomId, after), ...also, id, text: whole(text), reply_to: replyTo };
    const drafts = [{ room_id: placeOf(roomId, also.thread), text: '', reply_to: null }];
    return this.commit({ outgoing: [entry], drafts }, true);
  }

  // act keeps something that is done to a message, and has it sent.
  act(roomId: string, act: Act, after: number): Promise<void> {
    const said = act.type === 'edit' ? { ...act, text: whole(act.text) } : act;
    return this.commit({ outgoing: [{ ...this.entry(roomId, after), act: said }] }, true);
  }

  private entry(room_id: string, after_seq: number): Outgoing {
    return { id: this.env.newKey(), room_id, text: '', reply_to: null, after_seq, created_at: this.next(), state: 'waiting', error: null };
  }

  // withdraw gives up an act that waits, as a reaction that one takes back before it is out.
  withdraw(id: string): Promise<void> {
    return this.commit({ settled: [{ id, message: null }] }, true);
  }

  // next is now, but later than all that was written before.
  private next(): number {
    return Math.max((this.entries.value.at(-1)?.created_at ?? 0) + 1, this.env.now());
  }

  // retry sends a message that failed once more, as if it was written now. A key that
  // stands for another text will never do, so then it gets a new one.
  retry(id: string): Promise<void> {
    const entry = this.entries.value.find((e) => e.id === id && e.state === 'failed');
    if (!entry) return Promise.resolve();
    const anew = entry.error?.code === 'idempotency_conflict';
    const next: Outgoing = { ...entry, id: anew ? this.env.newKey() : id, created_at: this.next(), state: 'waiting', error: null };
    return this.commit({ outgoing: [next], settled: anew ? [{ id, message: null }] : [] }, true);
  }

  // discard gives a message up that has failed.
  discard(id: string): Promise<void> {
    const entry = this.entries.value.find((e) => e.id === id && e.state === 'failed');
    if (!entry) return Promise.resolve();
    this.letGo(entry);
    return this.commit({ settled: [{ id, message: null }] }, true);
  }

  // apply takes what a batch says of outgoing messages, and answers what of that is to
  // be kept.
  apply(batch: Batch): Change[] {
    const changes: Change[] = [];
    const entries = new Map(this.entries.value.map((e) => [e.id, e]));
    for (const entry of batch.outgoing ?? []) {
      if (this.done.has(entry.id)) continue; // news of another tab that was overtaken
      entries.set(entry.id, entry);
      changes.push({ put: 'outbox', value: entry });
    }
    for (const { id, message } of batch.settled ?? []) {
      entries.delete(id);
      this.done.add(id);
      changes.push({ del: 'outbox', key: id });
      if (message) this.name(message.msg_id, id);
    }
    if (changes.length > 0) this.entries.value = [...entries.values()].sort((a, b) => a.created_at - b.created_at);
    this.guess(batch);
    return changes;
  }

  // lead sends what waits until the signal ends it.
  lead(until: AbortSignal) {
    this.until = until;
    this.lanes = new Set();
    this.pauses = new Map();
    until.addEventListener('abort', () => this.pauses.forEach((pause) => pause.end()));
    this.flush();
  }

  // flush sends what waits, where this tab leads.
  flush() {
    const { until } = this;
    if (!until || until.aborted) return;
    for (const { room_id, state } of this.entries.value) {
      if (state !== 'waiting' || this.lanes.has(room_id)) continue;
      this.lanes.add(room_id);
      void this.lane(room_id, until);
    }
  }

  // wake tries at once what waits for the network.
  wake() {
    this.pauses.forEach((pause) => pause.told || pause.end());
    this.flush();
  }

  // lane sends the waiting messages of a room, one after another.
  private async lane(roomId: string, until: AbortSignal) {
    const lanes = this.lanes;
    let tries = 0;
    for (;;) {
      const entry = this.entries.value.find((e) => e.room_id === roomId && e.state === 'waiting');
      if (!entry || until.aborted) break;
      const step = await this.attempt(entry, tries, until);
      if (until.aborted || step.do === 'stop') break;
      tries = step.do === 'wait' ? tries + 1 : 0;
      await this.follow(entry, step);
    }
    lanes.delete(roomId);
  }

  private async follow(entry: Outgoing, step: Exclude<Step, { do: 'stop' }>) {
    switch (step.do) {
      case 'settle':
        this.letGo(entry);
        return this.commit({ messages: [step.message], settled: [{ id: entry.id, message: entry.act ? null : step.message }] });
      case 'fail':
        return this.commit({ outgoing: [{ ...entry, state: 'failed', error: { code: step.code, message: step.message } }] });
      case 'wait':
        return this.pause(entry.room_id, step.ms, step.told);
    }
  }

  private letGo({ files = [] }: Outgoing) {
    if (files.length > 0) this.carried?.forget(files.map((file) => file.id));
  }

  private async attempt(entry: Outgoing, tries: number, until: AbortSignal): Promise<Step> {
    try {
      return { do: 'settle', message: await this.deliver(entry, until) };
    } catch (problem) {
      if (until.aborted) return { do: 'stop' };
      return afterTry(problem, tries, this.env.random());
    }
  }

  private async deliver(entry: Outgoing, signal: AbortSignal): Promise<Message> {
    if (entry.act) return this.perform(entry, signal);
    if (Math.abs(this.env.now() - entry.created_at) > keyLife) {
      const found = await findSent(this.env, this.me, entry, signal);
      if (found) return found;
      if (found === undefined) throw new ApiError('conflict', 'it may have been sent before; look, and send it again where it was not', 409);
    }
    const { mentions, thread, files = [] } = entry;
    const attachments = files.length > 0 ? await this.carried?.ready(files.map((file) => file.id), signal) : undefined;
    const said = { text: entry.text, ...(mentions?.length && { mentions }) };
    const body = { type: 'text', body: said, reply_to: entry.reply_to, attachments, client_request_id: entry.id, ...(thread && { thread }) };
    const answer = await this.env.post<{ message: Message }>(at`/api/rooms/${entry.room_id}/messages`, body, { key: entry.id, timeout: tryTime, signal });
    // A network that asks for a sign-in answers anything with a page of its own.
    if (!answer?.message?.msg_id) throw new ApiError('offline', 'The server can’t be reached', 0);
    return answer.message;
  }

  // perform asks for an act. A key that the server has forgotten does no harm: it takes a reaction
  // once for each person, and has no more to take away where something is deleted already.
  private async perform(entry: Outgoing, signal: AbortSignal): Promise<Message> {
    const { url, body } = requestOf(entry);
    const answer = await this.env.post<EntryAnswer>(url, body, { key: entry.id, timeout: tryTime, signal });
    if (!answer?.entry?.entry_id) throw unreachable();
    return rowOf(answer.entry);
  }

  private pause(roomId: string, ms: number, told: boolean): Promise<void> {
    return new Promise((resolve) => {
      const stop = this.env.timer(ms, () => end());
      const end = () => {
        stop();
        this.pauses.delete(roomId);
        resolve();
      };
      this.pauses.set(roomId, { end, told });
    });
  }

  // guess names messages that came over the stream before the answer to the try did, by
  // what they say. The entry goes on until the server has answered; when it is refused,
  // the message was another's.
  private guess(batch: Batch) {
    for (const entry of batch.outgoing ?? []) if (entry.state === 'failed') this.unname(entry.id);
    const waiting = this.entries.value.filter((e) => e.state === 'waiting' && !e.act);
    if (waiting.length === 0) return;
    const named = new Set(this.names.values());
    for (const message of batch.messages ?? []) {
      if (this.names.has(message.msg_id)) continue;
      const entry = waiting.find((e) => !named.has(e.id) && mayBe(e, this.me, message));
      if (!entry) continue;
      named.add(entry.id);
      this.name(message.msg_id, entry.id);
    }
  }

  // name remembers the newest few hundred.
  private name(msgId: string, id: string) {
    this.unname(id);
    this.names.set(msgId, id);
    if (this.names.size > 300) this.names.delete(this.names.keys().next().value!);
  }

  private unname(id: string) {
    for (const [msgId, of] of this.names) if (of === id) this.names.delete(msgId);
  }
}

// whole is a text without halves of characters, which can't be sent.
const whole = (text: string) => text.replace(/\p{Surrogate}/gu, '\ufffd');
