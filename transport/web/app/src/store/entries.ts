// entries.ts has the one row for everything in a timeline: messages as they are shown,
// and all other entries, which are kept so that a room's seqs have no holes.

import type { Entry, Message } from '../types';

const text = 'application/vnd.ubl.text+json';
const system = 'application/vnd.ubl.system+json';

// Kept is a row of type "entry": the whole entry, for screens to come.
interface Kept extends Message {
  entry?: Entry;
}

// entryIn is the entry that a row keeps, where it isn't a message.
export const entryIn = (row: Message): Entry | undefined => (row as Kept).entry;

// rowOf is the row of an entry. Salts stay with the server, which is asked for one where
// a receipt is checked.
export function rowOf(entry: Entry): Message {
  const { entry_id: msg_id, tenant_id, room_id, room_seq, author_id: sender_id, sent_at, receipt, reply_to = null, body } = entry;
  const row = { msg_id, tenant_id, room_id, room_seq, sender_id, sent_at, receipt, reply_to, attachments: [] };
  const said = body?.json?.text;
  if (entry.type === 'message' && typeof said === 'string' && (body!.content_type === text || body!.content_type === system)) {
    return { ...row, type: body!.content_type === text ? 'text' : 'system', body: { text: said } };
  }
  const kept: Kept = { ...row, type: 'entry', body: { text: '' }, entry };
  return kept;
}

// isShown tells rows that people see from entries that are only kept.
export const isShown = (row: Message) => row.type !== 'entry';

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
  const { msg_id: entry_id, tenant_id, room_id, room_seq, sender_id: author_id, sent_at, receipt } = row;
  const was: Entry = entryIn(row) ?? { kind: 'entry.v2', entry_id, tenant_id, room_id, room_seq, author_id, sent_at, type: 'message', body: null, receipt };
  const { salt: _, ...left } = was;
  return rowOf({ ...left, body: null, redacted: { at: redaction.sent_at, by: redaction.author_id, room_seq: redaction.room_seq } });
}
