// entries.ts has the one row for everything in a timeline: messages as they are shown,
// and all other entries, which are kept so that a room's seqs have no holes.

import type { Entry, Message } from '../types';

const text = 'application/vnd.ubl.text+json';
const system = 'application/vnd.ubl.system+json';

// rowOf is the row of an entry. Salts stay with the server, which is asked for one where
// a receipt is checked.
export function rowOf(entry: Entry): Message {
  const { entry_id: msg_id, tenant_id, room_id, room_seq, author_id: sender_id, sent_at, receipt, reply_to = null, body } = entry;
  const row = { msg_id, tenant_id, room_id, room_seq, sender_id, sent_at, receipt, reply_to, attachments: [] };
  const said = body?.json?.text;
  if (entry.type === 'message' && typeof said === 'string' && (body!.content_type === text || body!.content_type === system)) {
    return { ...row, type: body!.content_type === text ? 'text' : 'system', body: { text: said } };
  }
  return { ...row, type: 'entry', body: { text: '' }, entry };
}

// isShown tells rows that people see from entries that are only kept.
export const isShown = (row: Message) => row.type !== 'entry';

// redactionIn is the entry where a row takes the content of others away.
export function redactionIn(row: Message): Entry | null {
  return row.entry?.type === 'redaction' && row.entry.target ? row.entry : null;
}

// isTaken tells whether a redaction takes a row's content away: its target's, and that of
// the target's edits.
export function isTaken(row: Message, redaction: Entry): boolean {
  return row.msg_id === redaction.target || (row.entry?.type === 'edit' && row.entry.target === redaction.target);
}

// emptied is what a redaction leaves of a row.
export function emptied(row: Message, redaction: Entry): Message {
  const { msg_id: entry_id, tenant_id, room_id, room_seq, sender_id: author_id, sent_at, receipt } = row;
  const was: Entry = row.entry ?? { kind: 'entry.v2', entry_id, tenant_id, room_id, room_seq, author_id, sent_at, type: 'message', body: null, receipt };
  const { salt: _, ...left } = was;
  return rowOf({ ...left, body: null, redacted: { at: redaction.sent_at, by: redaction.author_id, room_seq: redaction.room_seq } });
}
