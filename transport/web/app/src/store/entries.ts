// entries.ts has the one row for everything in a timeline: messages as they are shown,
// and all other entries, which are kept so that a room's seqs have no holes. Of these only
// what acts tell is shown, as a line, and where a message was.
//
// A row is as the server has it now: with its newest text, its reactions, its pin and the
// number of its answers. after() is what another entry makes of it. The same entry may come
// twice, late, or after the server has told what it led to: it is taken once.

import type { Entry, Form, Message, Poll, Reactions, Role } from '../types';

const text = 'application/vnd.ubl.text+json';
const system = 'application/vnd.ubl.system+json';
const poll = 'application/vnd.ubl.poll+json';
const form = 'application/vnd.ubl.form+json';

// Kept is a row as this browser has it. entry is the whole entry where that is no message;
// what entries up to upTo made of the row is in it already.
interface Kept extends Message {
  entry?: Entry;
  upTo?: number;
  answers?: number[]; // those since then: one's own may come before others'
  pinAt?: number; // the newest pin since then
}

// told is a row that the server has told with all that became of it up to an entry, or later
// where that shows.
export const told = (row: Message, upTo: number): Message =>
  ({ ...row, upTo: Math.max(upTo, row.replies?.room_seq ?? 0, row.edited?.room_seq ?? 0) }) as Kept;

// entryIn is the entry that a row keeps, where it isn't a message.
export const entryIn = (row: Message): Entry | undefined => (row as Kept).entry;

// rowOf is the row of an entry. Salts stay with the server, which is asked for one where
// a receipt is checked.
export function rowOf(entry: Entry): Message {
  const { entry_id: msg_id, tenant_id, room_id, room_seq, author_id: sender_id, sent_at, receipt, reply_to = null, thread, body, imported_from, forwarded } = entry;
  const { edited, pinned, reactions, replies, attachments = [] } = entry;
  const became = { ...(pinned && { pinned }), ...(reactions && { reactions }), ...(replies && { replies }) };
  const row = { msg_id, tenant_id, room_id, room_seq, sender_id, sent_at, receipt, reply_to, attachments, ...(thread && { thread }), ...(imported_from && { imported_from }), ...(forwarded && { forwarded }) };
  const now = edited?.body?.content_type === text ? saidIn(edited.body.json) : null;
  const said = body && (body.content_type === text || body.content_type === system) ? saidIn(body.json) : null;
  if (entry.type === 'message' && said) {
    const { body: _, ...marks } = edited ?? {};
    return { ...row, ...became, ...(edited && { edited: marks as Message['edited'] }), type: body!.content_type === text ? 'text' : 'system', body: now ?? said };
  }
  const asked = entry.type === 'message' && pollIn(body);
  if (asked) return { ...row, ...became, type: 'text', body: { text: [asked.question, ...asked.options].join('\n') }, poll: asked, ...(entry.poll && { polled: entry.poll }) };
  const filled = entry.type === 'message' && formIn(body);
  if (filled) return { ...row, ...became, type: 'text', body: { text: filled.text, ...(filled.answerers && { mentions: filled.answerers }) }, form: filled, ...(entry.form && { answered: entry.form }) };
  const kept: Kept = { ...row, ...(replies && { replies }), type: 'entry', body: { text: '' }, entry };
  return kept;
}

// saidIn is the body of a text, null where it is none.
function saidIn(json: Record<string, unknown> | undefined): Message['body'] | null {
  if (typeof json?.text !== 'string') return null;
  const mentions = json.mentions as string[] | undefined;
  return { text: json.text, ...(mentions && { mentions }) };
}

// pollIn is what a poll asks, null where a body is none.
const pollIn = (body: Entry['body']): Poll | null => (body?.content_type === poll && Array.isArray(body.json?.options) ? (body.json as unknown as Poll) : null);

// formIn is what a form asks, null where a body is none.
const formIn = (body: Entry['body']): Form | null => (body?.content_type === form && Array.isArray(body.json?.fields) ? (body.json as unknown as Form) : null);

// keyIn is what a reaction says.
export const keyIn = (entry: Entry) => (entry.type === 'reaction' ? ((entry.body?.json?.key as string | undefined) ?? '') : '');

// aboutIn is the msg_id of the message that an entry changes: what it is about, or the one
// that began the thread that it is in.
export const aboutIn = (row: Message): string | undefined => entryIn(row)?.target ?? row.thread;

// after is what a row is once another has come: the same object where that changes nothing.
export function after(row: Message, by: Message): Message {
  if (row.room_id !== by.room_id || by.room_seq <= ((row as Kept).upTo ?? row.room_seq)) return row;
  const entry = entryIn(by);
  if (by.thread === row.msg_id && (!entry || entry.type === 'message')) return answered(row, by.room_seq);
  if (entry?.type === 'redaction') return isTaken(row, entry) ? emptied(row, entry) : without(row, entry.target!);
  if (!entry?.body || entry.target !== row.msg_id || row.type === 'entry') return row;
  switch (entry.type) {
    case 'edit':
      return edit(row, entry);
    case 'reaction':
      return reacted(row, keyIn(entry), { user_id: entry.author_id, entry_id: entry.entry_id });
    case 'vote':
    case 'poll_end':
      return { ...row, pollAt: Math.max(entry.room_seq, row.pollAt ?? 0) };
    case 'answer':
      return { ...row, answeredAt: Math.max(entry.room_seq, row.answeredAt ?? 0) };
    case 'pin':
      return entry.room_seq > ((row as Kept).pinAt ?? 0) ? ({ ...pinned(row, entry.body.json?.pinned === true), pinAt: entry.room_seq } as Kept) : row;
  }
  return row;
}

function answered(row: Message, room_seq: number): Message {
  const { count = 0, room_seq: newest = 0 } = row.replies ?? {};
  const { answers = [] } = row as Kept;
  if (answers.includes(room_seq)) return row;
  const now: Kept = { ...row, replies: { count: count + 1, room_seq: Math.max(newest, room_seq) }, answers: [...answers, room_seq] };
  return now;
}

function edit(row: Message, entry: Entry): Message {
  const { at = '', room_seq = 0, versions = [] } = row.edited ?? {};
  if (versions.includes(entry.room_seq)) return row;
  const all = [...versions, entry.room_seq].sort((a, b) => a - b);
  if (entry.room_seq < room_seq) return { ...row, edited: { at, room_seq, versions: all } };
  const now = entry.body!.content_type === text ? saidIn(entry.body!.json) : null;
  const kept = entry.attachments && row.attachments.filter(({ file_id }) => entry.attachments!.some((file) => file.file_id === file_id));
  return { ...row, ...(now && { body: now }), ...(kept && { attachments: kept }), edited: { at: entry.sent_at, room_seq: entry.room_seq, versions: all } };
}

// reacted adds a reaction, by each person once.
export function reacted(row: Message, key: string, by: Reactions['by'][number]): Message {
  const all = row.reactions ?? [];
  const same = all.find((r) => r.key === key);
  if (same?.by.some(({ user_id }) => user_id === by.user_id)) return row;
  if (!same) return { ...row, reactions: [...all, { key, count: 1, by: [by] }] };
  return { ...row, reactions: all.map((r) => (r === same ? { ...r, count: r.count + 1, by: [...r.by, by] } : r)) };
}

export function pinned(row: Message, yes: boolean): Message {
  if (yes === (row.pinned ?? false)) return row;
  const { pinned: _, ...rest } = row;
  return yes ? { ...rest, pinned: true } : rest;
}

// without takes a reaction back.
export function without(row: Message, entryId: string): Message {
  if (!row.reactions?.some(({ by }) => by.some(({ entry_id }) => entry_id === entryId))) return row;
  const left = row.reactions.flatMap((r) => {
    const by = r.by.filter(({ entry_id }) => entry_id !== entryId);
    return by.length === r.by.length ? [r] : r.count > 1 ? [{ ...r, count: r.count - 1, by }] : [];
  });
  const { reactions: _, ...rest } = row;
  return left.length > 0 ? { ...rest, reactions: left } : rest;
}

// MemberChange is one of the changes that a membership entry tells of.
export interface MemberChange {
  change: 'joined' | 'added' | 'left' | 'removed' | 'role';
  role?: Role;
  user_id: string;
}

// changesIn are those of a membership entry.
export const changesIn = (entry: Entry) => (entry.type === 'membership' ? ((entry.body?.json?.changes as MemberChange[] | undefined) ?? []) : []);

// partsOf are the comment of who forwards a message, and the words that it repeats; of any other
// message there is no comment.
export function partsOf({ body: { text }, forwarded }: Message): [comment: string, words: string] {
  const letters = [...text];
  const n = forwarded?.comment ?? 0;
  return [letters.slice(0, n).join(''), letters.slice(n).join('').replace(/^\n\n/, n > 0 ? '' : '$&')];
}

// keptIn is for how many hours a room keeps its messages from an entry on, 0 for ever; undefined
// where the entry doesn't say.
export function keptIn(entry: Entry | undefined): number | undefined {
  const kept = entry?.type === 'room' ? (entry.body?.json?.retention as { days: number; hours: number } | undefined) : undefined;
  return kept && kept.days * 24 + kept.hours;
}

// isMessage tells messages, which count as unread, from all other entries.
export const isMessage = (row: Message) => (entryIn(row)?.type ?? 'message') === 'message';

// isNews tells messages that can be shown.
export const isNews = (row: Message) => row.type !== 'entry';

// isDeleted tells the place of a message that was taken away.
export const isDeleted = (row: Message) => entryIn(row)?.type === 'message' && entryIn(row)!.redacted !== undefined;

// isShown tells rows that people see from entries that are only kept. Who comes is told by
// a message of the system. Answers in threads stand in their threads.
export function isShown(row: Message): boolean {
  const entry = entryIn(row);
  if (row.thread) return false;
  return !entry || isDeleted(row) || entry.type === 'proposal' || entry.type === 'call' || keptIn(entry) !== undefined || changesIn(entry).some(({ change }) => change !== 'joined' && change !== 'added');
}

// isActed tells entries that an act left, somewhere else than where one reads the room.
export const isActed = (row: Message) => ['membership', 'proposal', 'call'].includes(entryIn(row)?.type ?? '');

// redactionIn is the entry where a row takes the content of others away.
export function redactionIn(row: Message): Entry | null {
  const entry = entryIn(row);
  return entry?.type === 'redaction' && entry.target ? entry : null;
}

// isTaken tells whether a redaction takes a row's content away: its target's, and that of
// the target's edits.
export function isTaken(row: Message, redaction: Entry): boolean {
  const entry = entryIn(row);
  return row.msg_id === redaction.target || (entry?.type === 'edit' && entry.target === redaction.target);
}

// emptied is what a redaction leaves of a row.
export function emptied(row: Message, redaction: Entry): Message {
  const { msg_id: entry_id, tenant_id, room_id, room_seq, sender_id: author_id, sent_at, thread, imported_from, receipt } = row;
  const was: Entry = entryIn(row) ?? { kind: 'entry.v2', entry_id, tenant_id, room_id, room_seq, author_id, sent_at, type: 'message', ...(thread && { thread }), ...(row.replies && { replies: row.replies }), ...(imported_from && { imported_from }), body: null, receipt };
  const { salt: _, edited: _e, pinned: _p, reactions: _r, attachments: _a, forwarded: _f, ...left } = was;
  if (left.imported_from) { // the server forgets that name, too
    const { author_name: _, ...rest } = left.imported_from;
    left.imported_from = rest;
  }
  const { upTo, answers, pinAt } = row as Kept;
  const known = { ...(upTo && { upTo }), ...(answers && { answers }), ...(pinAt && { pinAt }) };
  const of = rowOf({ ...left, body: null, redacted: { at: redaction.sent_at, by: redaction.author_id, room_seq: redaction.room_seq } });
  return { ...of, ...known };
}
