// What the parts of the screen of a room or a thread share: the window on its messages, which of
// them is replied to, looked at, or on its way into view, and what one may do there.

import { computed, signal, type Signal } from '@preact/signals';
import { placeOf, type Draft, type Upload } from '../../store/db';
import type { Shown } from '../../store/messages';
import type { Also } from '../../store/outbox';
import type { Store } from '../../store/sync';
import type { Item } from '../../store/rows';
import { isNews } from '../../store/entries';
import type { RoomView } from '../../store/rooms';
import { go } from '../../router';
import type { Message } from '../../types';
import { ask } from '../../ui/Dialog';
import { t } from '../../words';
import { linked, linkTo } from '../rooms/jump';
import { factsOf } from './facts';
import { rightsOf } from './rights';
import type { Usable } from './usable';
import { whoIs } from './who';

// end is the target of a jump to the newest message.
export const end = Symbol('end');

// patience is how many unread messages one may be led back by when the room opens.
const patience = 200;

// glow is how long a message stays marked that one has jumped to, in ms.
const glow = 2000;

const roomOf = ({ room_id }: Message) => `/ui/rooms/${encodeURIComponent(room_id)}`;

export const threadOf = (message: Message) => `${roomOf(message)}/thread/${encodeURIComponent(message.msg_id)}`;

const firstNew = (room: RoomView) => Math.max(room.read_seq + 1, room.available_from);

// Written is a message as it would be sent now.
export interface Written {
  text: string;
  mentions: string[];
}

// Later is one that is sent later: done empties the field.
export interface Later extends Written {
  done: () => void;
}

// Calling is a tool that is to be called, and what was written behind its name.
export interface Calling {
  use: Usable;
  rest: string;
  done: () => void;
}

export class Talk {
  readonly window: Shown;
  // thread is the msg_id of the message that began the thread that this is, missing for a room.
  readonly thread?: string;
  readonly reply = signal<Message | null>(null);
  readonly details = signal<Message | null>(null);
  // picking and editing are the messages that one reacts to and edits, and versions the one whose texts
  // are shown.
  readonly picking = signal<Message | null>(null);
  readonly editing = signal<Message | null>(null);
  readonly versions = signal<Message | null>(null);
  // reminding is the message that one is to be reminded of, with what for where that was written.
  readonly reminding = signal<{ message: Message; note?: string } | null>(null);
  // forwarding is the message that goes to another room.
  readonly forwarding = signal<Message | null>(null);
  // reading is the message of which is shown who has read it.
  readonly reading = signal<Message | null>(null);
  // polling is the question that a new poll begins with, null where none is made.
  readonly polling = signal<string | null>(null);
  readonly planning = signal<Later | null>(null);
  readonly calling = signal<Calling | null>(null);
  // people are the ids of those in the room who aren't agents; none while that isn't known.
  readonly people = computed(() => factsOf(this.roomId)?.people ?? []);
  readonly rights = computed(() => rightsOf({ status: this.store.rooms.get(this.roomId)?.status, ...factsOf(this.roomId) }));
  // menu is open for a message, at a point of the screen.
  readonly menu = signal<{ message: Message; x: number; y: number } | null>(null);
  // divider is the room_seq from which on all is new, 0 for none.
  readonly divider = signal(0);
  // target is the key of a row to bring into view as soon as it is there.
  readonly target = signal<string | typeof end | null>(null);
  // lit is the key of the row that one has jumped to.
  readonly lit = signal('');

  private readonly quoted = new Map<string, Signal<Message | null | undefined>>();

  constructor(
    readonly store: Store,
    readonly roomId: string,
    // within is the thread that it is about, with its window; missing for the room itself.
    within?: { root: string; window: Shown },
  ) {
    this.thread = within?.root;
    this.window = within?.window ?? store.open(roomId);
    const room = store.rooms.get(roomId);
    if (within || !room || room.unread === 0) return;
    this.divider.value = firstNew(room);
    if (room.unread <= patience && linked() === 0) void this.goTo(firstNew(room), false);
  }

  // mayWrite tells whether one may write here.
  get mayWrite(): boolean {
    const { write, answer } = this.rights.value;
    return this.thread ? answer : write;
  }

  // draft is what was written here and not sent.
  draft(): Draft | null {
    return this.store.draft(placeOf(this.roomId, this.thread));
  }

  keepDraft(draft: Omit<Draft, 'room_id'>) {
    this.store.setDraft({ room_id: placeOf(this.roomId, this.thread), ...draft });
  }

  // files are those of the message that is being written here.
  files(): Upload[] {
    return this.store.uploads.all.value.filter((u) => u.room_id === this.roomId && u.thread === this.thread && !u.message);
  }

  // quote is the message with that id: undefined while it is looked for, null where
  // there is none any more.
  quote(msgId: string): Signal<Message | null | undefined> {
    const known = this.quoted.get(msgId);
    if (known) return known;
    const found = signal<Message | null | undefined>(undefined);
    this.quoted.set(msgId, found);
    this.store.message(this.roomId, msgId).then(
      (message) => (found.value = message),
      () => this.quoted.delete(msgId), // it is looked for again when it is shown again
    );
    return found;
  }

  // goTo brings a message into view, and marks it; without a mark also the next that is shown.
  async goTo(seq: number, mark = true): Promise<void> {
    await this.window.loadAround(seq);
    const row = this.window.items.value.find(({ message }) => message && (mark ? message.room_seq === seq : message.room_seq >= seq));
    if (!row) return mark ? this.lead(seq) : undefined;
    this.target.value = row.key;
    if (!mark) return;
    this.lit.value = row.key;
    setTimeout(() => this.lit.value === row.key && (this.lit.value = ''), glow);
  }

  // lead goes to a message that isn't shown here: an answer in its thread, or what one answers.
  private async lead(seq: number): Promise<void> {
    const message = await this.store.messageAt(this.roomId, seq).catch(() => null);
    if (message && isNews(message) && message.thread !== this.thread) go(linkTo(message), { replace: linked(this.thread) === seq });
  }

  // toFresh brings the first new message into view.
  toFresh(): Promise<void> {
    return this.goTo(this.divider.value, false);
  }

  async toEnd(): Promise<void> {
    await this.window.toEnd();
    this.target.value = end;
  }

  send(text: string, also?: Also) {
    void this.store.send(this.roomId, text, this.reply.value?.msg_id ?? null, { ...also, ...(this.thread && { thread: this.thread }) });
    this.reply.value = null;
    this.divider.value = 0;
    void this.toEnd();
  }

  // mine is one's own reaction by a key.
  mine(message: Message, key: string): string | undefined {
    return message.reactions?.find((r) => r.key === key)?.by.find(({ user_id }) => user_id === this.store.who.user_id)?.entry_id;
  }

  // react adds one's reaction, or takes it back.
  react(message: Message, key: string) {
    const mine = this.mine(message, key);
    void this.store.act(this.roomId, mine ? { type: 'redaction', target: mine } : { type: 'reaction', target: message.msg_id, key });
  }

  edit(message: Message, text: string, mentions: string[]): Promise<void> {
    return this.store.act(this.roomId, { type: 'edit', target: message.msg_id, text, ...(mentions.length > 0 && { mentions }) });
  }

  // editLast opens one's newest message in view for editing, and tells whether there is one.
  editLast(): boolean {
    const last = this.window.items.value.findLast(({ message }) => message?.type === 'text' && !message.poll && !message.form && !message.forwarded && message.sender_id === this.store.who.user_id);
    if (last?.message) this.editing.value = last.message;
    return last !== undefined;
  }

  pin(message: Message, pinned: boolean) {
    void this.store.act(this.roomId, { type: 'pin', target: message.msg_id, pinned });
  }

  // remove deletes a message for good, once the person has agreed.
  async remove(message: Message): Promise<void> {
    const { mine, name } = whoIs(message.sender_id);
    const question = mine ? { title: t('talk.delete.title'), text: t('talk.delete.text') } : { title: t('talk.delete.other.title', { name }), text: t('talk.delete.other.text') };
    const yes = await ask({ ...question, action: t('talk.delete'), danger: true });
    if (yes) await this.store.act(this.roomId, { type: 'redaction', target: message.msg_id });
  }

  openThread(message: Message) {
    go(threadOf(message));
  }

  // read notes how far one has read, as far as the row. A thread says nothing of what is outside it.
  read(item: Item | undefined) {
    if (item?.message && !this.thread) this.store.markRead(this.roomId, item.message.room_seq);
  }

  // returned draws the line anew for what came while nobody looked.
  returned() {
    const room = this.store.rooms.get(this.roomId);
    if (room && room.unread > 0 && !this.thread) this.divider.value = firstNew(room);
  }

  // fresh is the room_seq of the first row that is new, 0 where that isn't in the window.
  fresh(): number {
    const first = this.divider.value;
    if (first === 0 || !this.window.has(first)) return 0;
    return this.window.items.value.find(({ message }) => message && message.room_seq >= first)?.message?.room_seq ?? 0;
  }

  close() {
    this.window.close();
  }
}
