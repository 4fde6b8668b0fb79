// entries.ts has the one row for everything in a timeline: messages as they are shown,
// and all other entries, which are kept so that a room's seqs have no holes. Of these only
// what acts tell is shown, as a line.

import type { Entry, Message, Role } from '../types';

const text = 'application/vnd.ubl.text+json';
const system = 'application/vnd.ubl.system+json';

// Kept is a row of type "entry": the whole entry.
interface Kept extends Message {
  entry?: Entry;
}

// entryIn is the entry that a row keeps, where it isn't a message.
export const entryIn = (row: Message): Entry | undefined => (row as Kept).entry;

// rowOf is the row of an entry. Salts stay with the server, which is asked for one where
// a receipt is checked.
export function rowOf(entry: Entry): Message {
  const { entry_id: msg_id, tenant_id, room_id, room_seq, author_id: sender_id, sent_at, receipt, reply_to = null, thread, body, imported_from } = entry;
  const row = { msg_id, tenant_id, room_id, room_seq, sender_id, sent_at, receipt, reply_to, attachments: [], ...(thread && { thread }), ...(imported_from && { imported_from }) };
  const said = body?.json?.text;
  const mentions = body?.json?.mentions as string[] | undefined;
  if (entry.type === 'message' && typeof said === 'string' && (body!.content_type === text || body!.content_type === system)) {
    return { ...row, type: body!.content_type === text ? 'text' : 'system', body: { text: said, ...(mentions && { mentions }) } };
  }
  const kept: Kept = { ...row, type: 'entry', body: { text: '' }, entry };
  return kept;
}

// MemberChange is one of the changes that a membership entry tells of.
export interface MemberChange {
  change: 'joined' | 'added' | 'left' | 'removed' | 'role';
  role?: Role;
  user_id: string;
}

// changesIn are those of a membership entry.
export const changesIn = (entry: Entry) => (entry.type === 'membership' ? ((entry.body?.json?.changes as MemberChange[] | undefined) ?? []) : []);

// isMessage tells messages, which count as unread, from all other entries.
export const isMessage = (row: Message) => (entryIn(row)?.type ?? 'message') === 'message';

// isNews tells messages that can be shown.
export const isNews = (row: Message) => row.type !== 'entry';

// isShown tells rows that people see from entries that are only kept. Who comes is told by
// a message of the system.
export function isShown(row: Message): boolean {
  const entry = entryIn(row);
  return !entry || entry.type === 'proposal' || changesIn(entry).some(({ change }) => change !== 'joined' && change !== 'added');
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
  const was: Entry = entryIn(row) ?? { kind: 'entry.v2', entry_id, tenant_id, room_id, room_seq, author_id, sent_at, type: 'message', ...(thread && { thread }), ...(imported_from && { imported_from }), body: null, receipt };
  const { salt: _, ...left } = was;
  if (left.imported_from) { // the server forgets that name, too
    const { author_name: _, ...rest } = left.imported_from;
    left.imported_from = rest;
  }
  return rowOf({ ...left, body: null, redacted: { at: redaction.sent_at, by: redaction.author_id, room_seq: redaction.room_seq } });
}
